//! Tables.

use super::{Block, Renderer, inline::InlineContext};
use crate::dom::Id;

/// Most columns of a table; a wider one is a layout of the page.
const MAX_COLUMNS: usize = 40;

/// A table as it is in the tree.
struct Rows {
    rows: Vec<Vec<Id>>,
    columns: usize,
    has_head: bool,
}

impl Renderer<'_, '_> {
    pub(super) fn table(&mut self, id: Id, out: &mut Vec<Block>) {
        let table = self.rows(id);
        if self.is_layout(&table) {
            return table.rows.iter().flatten().for_each(|cell| self.children(*cell, out));
        }
        let dom = self.content.dom;
        let caption = dom.children(id).iter().copied().find(|child| dom.name(*child) == "caption");
        if let Some(caption) = caption {
            self.paragraph(&[caption], out);
        }
        let mut lines = Vec::with_capacity(table.rows.len() + 2);
        let mut taken = vec![0_usize; table.columns];
        let divider = format!("|{}", " --- |".repeat(table.columns));
        if !table.has_head {
            lines.push(format!("|{}", "   |".repeat(table.columns)));
            lines.push(divider.clone());
        }
        for (at, row) in table.rows.iter().enumerate() {
            lines.push(self.row(row, &mut taken));
            if at == 0 && table.has_head {
                lines.push(divider.clone());
            }
        }
        out.push(Block::other(lines.join("\n")));
    }

    /// One row. Cells of rows above that reach into it are empty here.
    fn row(&mut self, cells: &[Id], taken: &mut [usize]) -> String {
        let dom = self.content.dom;
        let span = |id: Id, name: &str| {
            let told = dom.attribute(id, name).and_then(|value| value.trim().parse::<usize>().ok());
            told.unwrap_or(1).clamp(1, 1_000)
        };
        let mut line = "|".to_owned();
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
            let text = self.cell(cell);
            line.push_str(&if text.is_empty() { "   |".to_owned() } else { format!(" {text} |") });
            let (width, height) = (span(cell, "colspan"), span(cell, "rowspan"));
            for (at, taken) in taken.iter_mut().skip(column).take(width).enumerate() {
                *taken = height - 1;
                if at > 0 {
                    line.push_str("   |");
                }
            }
            column += width;
        }
        line
    }

    /// A cell as one line: paragraphs and items with breaks between them.
    fn cell(&mut self, cell: Id) -> String {
        let mut parts: Vec<String> = Vec::new();
        self.cell_parts(cell, &mut parts);
        parts.join("<br>")
    }

    fn cell_parts(&mut self, id: Id, parts: &mut Vec<String>) {
        let dom = self.content.dom;
        let mut line: Vec<Id> = Vec::new();
        for child in dom.children(id).iter().copied() {
            if self.content.dropped.contains(&child) {
                continue;
            }
            if !dom.is_block(child) && !dom.has_block(child) {
                line.push(child);
                continue;
            }
            self.cell_line(&std::mem::take(&mut line), parts);
            let start = parts.len();
            self.cell_parts(child, parts);
            if dom.name(child) == "li"
                && let Some(first) = parts.get_mut(start)
            {
                first.insert_str(0, "• ");
            }
        }
        self.cell_line(&line, parts);
    }

    fn cell_line(&mut self, line: &[Id], parts: &mut Vec<String>) {
        let text = self.line(line, InlineContext::Cell);
        if !text.is_empty() {
            parts.push(text);
        }
    }

    /// The rows of a table, not those of a table within it.
    fn rows(&self, id: Id) -> Rows {
        let dom = self.content.dom;
        let mut rows = Vec::new();
        let mut has_head = false;
        let groups = dom.children(id).iter().copied().filter(|child| !self.content.dropped.contains(child));
        for group in groups {
            let own = [group];
            let in_group = if dom.name(group) == "tr" { &own[..] } else { dom.children(group) };
            for row in in_group.iter().copied().filter(|row| dom.name(*row) == "tr") {
                let cells = dom.children(row).iter().copied();
                let cells: Vec<Id> = cells
                    .filter(|cell| {
                        matches!(dom.name(*cell), "td" | "th") && !self.content.dropped.contains(cell)
                    })
                    .collect();
                if rows.is_empty() && !cells.is_empty() {
                    has_head = dom.name(group) == "thead" || cells.iter().all(|cell| dom.name(*cell) == "th");
                }
                if !cells.is_empty() {
                    rows.push(cells);
                }
            }
        }
        let width = |row: &Vec<Id>| {
            let spans = row.iter().map(|cell| dom.attribute(*cell, "colspan").and_then(|n| n.parse().ok()));
            spans.map(|span| span.unwrap_or(1_usize).clamp(1, MAX_COLUMNS + 1)).sum::<usize>()
        };
        let columns = rows.iter().map(width).max().unwrap_or_default();
        Rows { rows, columns, has_head }
    }

    /// Tells whether a table only places parts of a page beside each other.
    fn is_layout(&self, table: &Rows) -> bool {
        let dom = self.content.dom;
        if table.columns > MAX_COLUMNS || table.rows.is_empty() {
            return true;
        }
        let is_large = |cell: &Id| {
            let below = dom.below(*cell, |_| false);
            let mut names = below.map(|id| dom.name(id));
            names.any(|name| matches!(name, "table" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre"))
        };
        let is_single = table.columns == 1 && !table.has_head;
        is_single || table.rows.iter().flatten().any(is_large)
    }
}
