//! Rendering of tables.

use super::{
    Renderer,
    blocks::{BlockKind, Blocks},
    inline::{InlineContext, LineWriter, Marks, code_span},
};
use crate::{dom::Id, text::is_full};

/// Maximum number of columns. A wider table is treated as page layout.
const MAX_COLUMNS: usize = 40;

/// The rows of a table in the tree.
struct TableRows {
    cells: Vec<Id>,
    /// The end index of each row in `cells`.
    ends: Vec<u32>,
    columns: usize,
    has_head: bool,
}

impl TableRows {
    fn rows(&self) -> impl Iterator<Item = &[Id]> {
        self.ends.iter().scan(0, |start, end| {
            let end = usize::try_from(*end).unwrap_or(usize::MAX);
            Some(self.cells.get(std::mem::replace(start, end)..end).unwrap_or_default())
        })
    }
}

impl Renderer<'_, '_> {
    pub(super) fn table(&mut self, id: Id, out: &mut Blocks) {
        let table = self.rows(id);
        if self.is_layout(&table) {
            return table.cells.iter().for_each(|cell| self.children(*cell, out));
        }
        let dom = self.content.dom;
        if let Some(caption) = dom.children(id).find(|child| dom.name(*child) == "caption") {
            self.paragraph(caption, out);
        }
        out.push_block(BlockKind::Other, |out| self.rows_of(&table, out));
    }

    fn rows_of(&mut self, table: &TableRows, out: &mut String) {
        let mut taken = vec![0_usize; table.columns];
        let line = |out: &mut String, cell: &str| {
            out.push('|');
            (0..table.columns).for_each(|_| out.push_str(cell));
        };
        if !table.has_head {
            line(out, "   |");
            out.push('\n');
            line(out, " --- |");
        }
        for (at, row) in table.rows().enumerate() {
            if is_full(out) {
                break;
            }
            if at > 0 || !table.has_head {
                out.push('\n');
            }
            self.row(row, &mut taken, out);
            if at == 0 && table.has_head {
                out.push('\n');
                line(out, " --- |");
            }
        }
    }

    /// Renders one row. Columns covered by cells of rows above are empty.
    fn row(&mut self, cells: &[Id], taken: &mut [usize], line: &mut String) {
        let dom = self.content.dom;
        let span = |id: Id, name: &str| {
            let told = dom.attribute(id, name).and_then(|value| value.trim().parse::<usize>().ok());
            told.unwrap_or(1).clamp(1, 1_000)
        };
        line.push('|');
        let mut cells = cells.iter().copied();
        let mut column = 0;
        while column < taken.len() {
            if taken[column] > 0 {
                taken[column] -= 1;
                column += 1;
                line.push_str("   |");
                continue;
            }
            let Some(cell) = cells.next() else {
                column += 1;
                line.push_str("   |");
                continue;
            };
            let start = line.len();
            line.push(' ');
            self.cell(cell, line);
            line.push_str(if line.len() == start + 1 { "  |" } else { " |" });
            let (width, height) = (span(cell, "colspan"), span(cell, "rowspan"));
            for (at, taken) in taken.iter_mut().skip(column).take(width).enumerate() {
                *taken = height - 1;
                if at > 0 {
                    line.push_str("   |");
                }
            }
            column += width;
        }
    }

    /// Renders a cell as one line, with `<br>` between paragraphs and items.
    fn cell(&mut self, cell: Id, out: &mut String) {
        let mut parts = Blocks::default();
        self.cell_parts(cell, &mut parts);
        for (at, (text, _)) in parts.iter().enumerate() {
            out.push_str(if at > 0 { "<br>" } else { "" });
            out.push_str(text);
        }
    }

    fn cell_parts(&mut self, id: Id, parts: &mut Blocks) {
        let dom = self.content.dom;
        let mut line = LineWriter::new(InlineContext::Cell);
        for child in dom.children(id) {
            if self.content.is_dropped(child) {
                continue;
            }
            if !dom.is_block(child) && !dom.has_block(child) {
                self.runs(child, Marks::default(), &mut line);
                continue;
            }
            parts.push_block(BlockKind::Other, |text| line.finish(text));
            if dom.name(child) == "pre" {
                self.code_lines(child, parts);
                continue;
            }
            if dom.name(child) != "li" {
                self.cell_parts(child, parts);
                continue;
            }
            let mut own = Blocks::default();
            self.cell_parts(child, &mut own);
            for (at, (text, kind)) in own.iter().enumerate() {
                parts.push_block(kind, |out| {
                    out.push_str(if at == 0 { "• " } else { "" });
                    out.push_str(text);
                });
            }
        }
        parts.push_block(BlockKind::Other, |text| line.finish(text));
    }

    /// Renders code in a cell: each line on its own, with its indentation.
    fn code_lines(&self, id: Id, parts: &mut Blocks) {
        let mut code = String::new();
        self.raw(id, &mut code);
        for line in code.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            let text = line.trim_start();
            let indent = "\u{a0}".repeat(line.chars().count() - text.chars().count());
            parts.push(&code_span(&format!("{indent}{text}"), InlineContext::Cell), BlockKind::Other);
        }
    }

    /// Returns the rows of a table, without those of nested tables.
    fn rows(&self, id: Id) -> TableRows {
        let dom = self.content.dom;
        let mut table = TableRows { cells: Vec::new(), ends: Vec::new(), columns: 0, has_head: false };
        for group in dom.children(id).filter(|child| !self.content.is_dropped(*child)) {
            let own = Some(group).filter(|group| dom.name(*group) == "tr");
            let inside = dom.children(group).filter(|_| own.is_none());
            for row in own.into_iter().chain(inside).filter(|row| dom.name(*row) == "tr") {
                let is_cell =
                    |cell: &Id| matches!(dom.name(*cell), "td" | "th") && !self.content.is_dropped(*cell);
                let start = table.cells.len();
                table.cells.extend(dom.children(row).filter(is_cell));
                let cells = &table.cells[start..];
                if cells.is_empty() {
                    continue;
                }
                if table.ends.is_empty() {
                    table.has_head =
                        dom.name(group) == "thead" || cells.iter().all(|cell| dom.name(*cell) == "th");
                }
                let spans =
                    cells.iter().map(|cell| dom.attribute(*cell, "colspan").and_then(|n| n.parse().ok()));
                let width = spans.map(|span| span.unwrap_or(1_usize).clamp(1, MAX_COLUMNS + 1)).sum();
                table.columns = table.columns.max(width);
                table.ends.push(u32::try_from(table.cells.len()).unwrap_or(u32::MAX));
            }
        }
        table
    }

    /// Returns `true` if a table is used for page layout.
    fn is_layout(&self, table: &TableRows) -> bool {
        let dom = self.content.dom;
        if table.columns > MAX_COLUMNS || table.ends.is_empty() {
            return true;
        }
        // A table with a head has data, whatever its cells contain.
        if table.has_head {
            return false;
        }
        let has = |cell: &Id, wanted: &[&str]| {
            dom.descendants(*cell, |_| false).any(|id| wanted.contains(&dom.name(id)))
        };
        let is_large = |cell: &Id| has(cell, &["table", "h1", "h2", "h3", "h4", "h5", "h6"]);
        // Line numbers next to code are a single row, or code in the first column.
        let names_code = |row: &[Id]| {
            let is_code = |cell: &Id| has(cell, &["pre"]);
            row.iter().any(is_code) && (table.ends.len() == 1 || row.first().is_some_and(is_code))
        };
        table.columns == 1 || table.cells.iter().any(is_large) || table.rows().any(names_code)
    }
}
