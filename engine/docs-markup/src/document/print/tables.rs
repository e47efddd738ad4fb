//! Printing of tables.

use std::collections::HashMap;

use docs_model::{
    Block, BlockKind, CardSize, CellAlign, CellAnchor, CellMerge, CellSpan, CellValue, ContentRef, Fragment,
    SelectOption, TableColumn, TableColumnKind, TableData, TableRecord, TableView,
};

use super::{
    super::{
        attributes::word,
        cells,
        escape::InlineContext,
        html,
        inlines::{self as markdown, Rules},
        invalid::Invalid,
        notes::Notes,
        opening::Opening,
        pipes, rich, targets, texts,
    },
    inlines::title,
    printer::Printer,
};

/// The fragments of a table by name.
type Fragments<'b> = HashMap<&'b str, &'b Fragment>;

/// Returns the fragments of a table by name. The first of several fragments with the same name takes precedence.
fn fragments(block: &Block) -> Fragments<'_> {
    let named = block.fragments().iter().rev();
    named.filter_map(|fragment| Some((fragment.fragment.as_deref()?, fragment))).collect()
}

impl Printer {
    pub(super) fn table(&mut self, block: &Block, data: &TableData) -> Result<String, Invalid> {
        let columns = self.columns(data)?;
        let fragments = fragments(block);
        if columns.is_empty() {
            return Err(self.invalid("must have at least one column"));
        }
        for (id, record) in &data.records {
            for column in &columns {
                let value = record.values.get(&column.id).unwrap_or(&CellValue::Empty(()));
                if !is_fit(value, &column.kind) {
                    return Err(
                        self.invalid(format!("records.{id}.values.{} does not match its column", column.id))
                    );
                }
            }
        }
        let is_html = block.spelling.as_deref().is_some_and(|spelling| spelling.starts_with("<table"));
        if !is_html && self.is_pipe_table(block, data, &columns) {
            return self.pipes(block, data, &columns);
        }
        let merges = self.merges(data)?;
        let mut out = self.table_tag(block, data);
        out.push_str("<thead><tr>");
        for column in &columns {
            out.push_str(&self.head(data, column));
        }
        out.push_str("</tr></thead><tbody>");
        for (id, record) in data.rows() {
            self.path.push(format!("records.{id}"));
            out.push_str("<tr>");
            let is_merged = |column: &TableColumn| merges.contains_key(&(id.as_str(), column.id.as_str()));
            let is_shown = |column: &TableColumn| record.values.contains_key(&column.id) || is_merged(column);
            for column in row(&columns, is_shown) {
                let tag = merged(
                    aligned(Opening::html("td"), column),
                    merges.get(&(id.as_str(), column.id.as_str())),
                )
                .end();
                out.push_str(&format!("{tag}{}</td>", self.cell(&fragments, record, column)?));
            }
            out.push_str("</tr>");
            self.path.pop();
        }
        Ok(out + "</tbody></table>")
    }

    /// Returns the ranges of merged cells, by the row and the column of their anchors.
    fn merges<'d>(&self, data: &'d TableData) -> Result<HashMap<(&'d str, &'d str), &'d CellMerge>, Invalid> {
        let mut merges = HashMap::new();
        for (at, merge) in data.cell_merges.iter().enumerate() {
            let CellAnchor { record, column } = &merge.anchor;
            if !data.records.contains_key(record) || !data.definition.contains_key(column) {
                return Err(self.invalid(format!("cellMerges[{at}].anchor: the table has no such cell")));
            }
            if merges.insert((record.as_str(), column.as_str()), merge).is_some() {
                return Err(self.invalid(format!("cellMerges[{at}].anchor: must not be repeated")));
            }
        }
        Ok(merges)
    }

    /// Returns the columns in printing order: sorted by id, unless the view defines another order.
    fn columns<'d>(&self, data: &'d TableData) -> Result<Vec<&'d TableColumn>, Invalid> {
        let shown = data.view.columns();
        for id in shown {
            if data.definition.get(id).is_none_or(|column| column.id != *id) {
                return Err(self.invalid(format!("view.columns: the column `{id}` does not exist")));
            }
        }
        let natural: Vec<&TableColumn> = data.definition.values().collect();
        let is_natural =
            natural.iter().filter(|column| shown.contains(&column.id)).map(|column| &column.id).eq(shown);
        if is_natural {
            return Ok(natural);
        }
        let hidden = natural.into_iter().filter(|column| !shown.contains(&column.id));
        let mut columns: Vec<&TableColumn> = shown.iter().filter_map(|id| data.definition.get(id)).collect();
        columns.extend(hidden);
        if columns.len() == data.definition.len() {
            Ok(columns)
        } else {
            Err(self.invalid("view.columns: must not contain a column twice"))
        }
    }

    fn is_pipe_table(&self, block: &Block, data: &TableData, columns: &[&TableColumn]) -> bool {
        let is_grid = matches!(&data.view, TableView::Grid {
                columns: shown,
                column_widths,
                hide_header: false,
                use_new_sizing: _,
                sticky_header: None,
                sticky_first_column: None,
            } if shown.len() == columns.len() && column_widths.as_ref().is_none_or(std::collections::BTreeMap::is_empty));
        let is_text = |column: &&TableColumn| {
            matches!(column.kind, TableColumnKind::Text { vertical_alignment: None, .. })
        };
        let is_line = |fragment: &Fragment| match fragment.nodes.as_slice() {
            [] => true,
            [block] => matches!(block.kind, BlockKind::Paragraph { align: None }) && block.spelling.is_none(),
            _ => false,
        };
        is_grid
            && (data.full_width, data.search) == (None, None)
            && data.cell_merges.is_empty()
            && columns.iter().all(is_text)
            && block.fragments().iter().all(is_line)
    }

    fn pipes(
        &mut self,
        block: &Block,
        data: &TableData,
        columns: &[&TableColumn],
    ) -> Result<String, Invalid> {
        let fragments = fragments(block);
        let mut lines = Vec::new();
        let mut head = String::from("|");
        let mut alignments = Vec::new();
        for column in columns {
            head.push_str(&format!(" {} |", pipes::escape_pipes(&self.title(column, InlineContext::Line))));
            alignments.push(match &column.kind {
                TableColumnKind::Text { text_alignment, .. } => *text_alignment,
                _ => CellAlign::Left,
            });
        }
        lines.push(head);
        lines.push(rule(&alignments));
        for (id, record) in data.rows() {
            self.path.push(format!("records.{id}"));
            let mut line = String::from("|");
            for column in row(columns, |column| record.values.contains_key(&column.id)) {
                let text = match self
                    .fragment(&fragments, record, column)?
                    .and_then(|fragment| fragment.nodes.first())
                {
                    Some(paragraph) => self.text(&paragraph.nodes, InlineContext::Line)?,
                    None => String::new(),
                };
                line.push_str(&format!(" {} |", pipes::escape_pipes(&text)));
            }
            lines.push(line);
            self.path.pop();
        }
        if let Some(rule) =
            block.spelling.as_deref().filter(|rule| pipes::alignments(rule) == Some(alignments.clone()))
        {
            lines[1] = rule.to_owned();
            if !rule.starts_with('|') && columns.len() > 1 {
                return Ok(strip_outer_pipes(&lines));
            }
        }
        Ok(lines.join("\n"))
    }

    /// Prints the title of a column, with its spelling if the result is equal.
    fn title(&self, column: &TableColumn, context: InlineContext) -> String {
        if let Some(written) = &column.spelling {
            let mut notes = Notes::default();
            let mut rules = Rules { definitions: &self.labels.definitions, notes: &mut notes };
            let nodes = match context {
                InlineContext::Html => html::tree(written).and_then(|tree| rich::inlines(&tree, &mut rules)),
                _ => markdown::read(written, &mut rules),
            };
            if !written.contains('\n')
                && nodes.is_some_and(|nodes| texts::inline_text(&nodes) == column.title)
            {
                return written.clone();
            }
        }
        title(&column.title, context).unwrap_or_default()
    }

    fn table_tag(&self, block: &Block, data: &TableData) -> String {
        let tag = Opening::html("table");
        let tag = match &data.view {
            TableView::Grid { hide_header, sticky_header, sticky_first_column, .. } => tag
                .set("data-header-hidden", *hide_header)
                .flag("data-sticky-header", *sticky_header)
                .flag("data-sticky-first-column", *sticky_first_column),
            TableView::Cards { card_size, hide_column_title, wrap, .. } => tag
                .set("data-column-title-hidden", *hide_column_title == Some(true))
                .optional("data-card-size", (*card_size == CardSize::Large).then_some("large"))
                .value("data-view", "cards")
                .flag("data-wrap", *wrap),
        };
        let out = tag.flag("data-full-width", data.full_width).flag("data-search", data.search).end();
        // The tag may contain additional unknown attributes, but the known ones must be equal.
        let same = |own: &str| cells::tag(own).is_some_and(|own| cells::tag(&out) == Some(own));
        block.spelling.as_deref().filter(|own| same(own)).map_or(out.clone(), str::to_owned)
    }

    fn head(&self, data: &TableData, column: &TableColumn) -> String {
        let width = match &data.view {
            TableView::Grid { column_widths: Some(widths), .. } => widths.get(&column.id).map(f64::to_string),
            _ => None,
        };
        let mut tag = aligned(Opening::html("th").optional("width", width), column);
        tag = tag.set("data-hidden", !data.view.columns().contains(&column.id));
        if let TableView::Cards { target_definition, cover_definition, cover_definition_dark, .. } =
            &data.view
        {
            let roles = [
                ("data-card-target", target_definition),
                ("data-card-cover", cover_definition),
                ("data-card-cover-dark", cover_definition_dark),
            ];
            for (name, role) in roles {
                tag = tag.set(name, role.as_ref() == Some(&column.id));
            }
        }
        let mut select = String::new();
        tag = match &column.kind {
            TableColumnKind::Text { .. } => tag,
            TableColumnKind::Number => tag.value("data-type", "number"),
            TableColumnKind::Checkbox => tag.value("data-type", "checkbox"),
            TableColumnKind::Files => tag.value("data-type", "files"),
            TableColumnKind::Users { multiple } => {
                tag.value("data-type", "users").set("data-multiple", *multiple)
            }
            TableColumnKind::Rating { max } => {
                tag.value("data-type", "rating").value("data-max", max.to_string())
            }
            TableColumnKind::Select { multiple, options } => {
                select = Opening::html("select").set("multiple", *multiple).end();
                for SelectOption { value, label, color } in options {
                    let option = Opening::html("option").value("value", value).value("label", label);
                    select.extend([&option.value("color", color).end(), "</option>"]);
                }
                select.push_str("</select>");
                tag
            }
            TableColumnKind::ContentRef => tag.value("data-type", "content-ref"),
            TableColumnKind::Image => tag.value("data-type", "image"),
        };
        format!("{}{}{select}</th>", tag.end(), self.title(column, InlineContext::Html))
    }

    fn fragment<'b>(
        &self,
        fragments: &Fragments<'b>,
        record: &TableRecord,
        column: &TableColumn,
    ) -> Result<Option<&'b Fragment>, Invalid> {
        match record.values.get(&column.id) {
            Some(CellValue::Text(name)) => match fragments.get(name.as_str()) {
                Some(fragment) => Ok(Some(fragment)),
                None => Err(self.invalid(format!("the fragment `{name}` does not exist"))),
            },
            _ => Ok(None),
        }
    }

    fn cell(
        &mut self,
        fragments: &Fragments<'_>,
        record: &TableRecord,
        column: &TableColumn,
    ) -> Result<String, Invalid> {
        if let TableColumnKind::Text { .. } = column.kind {
            return match self.fragment(fragments, record, column)?.cloned() {
                Some(fragment) => self.rich_blocks(&fragment),
                None => Ok(String::new()),
            };
        }
        let value = record.values.get(&column.id).unwrap_or(&CellValue::Empty(()));
        if let Some(written) = record.spelling.get(&column.id)
            && cells::read_cell(&column.kind, written).as_ref() == Some(value)
        {
            return Ok(written.clone());
        }
        let written = cell(value, &column.kind);
        written.ok_or_else(|| self.invalid(format!("values.{} does not match its column", column.id)))
    }
}

/// Prints the delimiter row of a pipe table in canonical form.
pub(in super::super) fn rule(alignments: &[CellAlign]) -> String {
    let cells = alignments.iter().map(|align| match align {
        CellAlign::Center => " :---: |",
        CellAlign::Right => " ---: |",
        CellAlign::Left => " --- |",
    });
    std::iter::once("|").chain(cells).collect()
}

/// Removes the outer pipes of rows if they remain rows without them.
fn strip_outer_pipes(lines: &[String]) -> String {
    let bare =
        |line: &String| line.trim_start_matches('|').strip_suffix('|').unwrap_or(line).trim().to_owned();
    let short: Vec<String> = lines.iter().map(bare).collect();
    let is_same = |(a, b): (&String, &String)| {
        !a.starts_with(['|', '-', ':']) && a.contains('|') && pipes::cells(a) == pipes::cells(b)
    };
    let is_rule = |line: &String| pipes::alignments(line).is_some();
    let fits = short
        .iter()
        .zip(lines)
        .enumerate()
        .all(|(index, pair)| if index == 1 { is_rule(pair.0) } else { is_same(pair) });
    if fits { short.join("\n") } else { lines.join("\n") }
}

/// Returns the columns up to the last cell in a row.
fn row<'c>(columns: &'c [&'c TableColumn], has_cell: impl Fn(&TableColumn) -> bool) -> &'c [&'c TableColumn] {
    let count = columns.iter().rposition(|column| has_cell(column)).map_or(1, |last| last + 1);
    &columns[..count.min(columns.len())]
}

/// Adds the size of the range of merged cells that begins at a cell.
fn merged(tag: Opening, merge: Option<&&CellMerge>) -> Opening {
    let Some(CellMerge { anchor: _, row_span, col_span }) = merge else { return tag };
    let rows = (*row_span != CellSpan::ONE || *col_span == CellSpan::ONE).then(|| row_span.get().to_string());
    let columns = (*col_span != CellSpan::ONE).then(|| col_span.get().to_string());
    tag.optional("data-rowspan", rows).optional("data-colspan", columns)
}

fn aligned(tag: Opening, column: &TableColumn) -> Opening {
    let TableColumnKind::Text { text_alignment, vertical_alignment } = &column.kind else { return tag };
    let align = Some(text_alignment).filter(|align| **align != CellAlign::Left);
    tag.optional("align", align.map(word)).optional("valign", vertical_alignment.map(word))
}

/// Returns `true` if a value is valid in a column.
fn is_fit(value: &CellValue, kind: &TableColumnKind) -> bool {
    match (value, kind) {
        (CellValue::Empty(()), _) | (CellValue::Text(_), TableColumnKind::Text { .. }) => true,
        (value, kind) => cell(value, kind).is_some(),
    }
}

/// Prints a non-text cell in canonical form.
pub(in super::super) fn cell(value: &CellValue, kind: &TableColumnKind) -> Option<String> {
    let name = |url: &str| html::text(url.trim_end_matches('/').rsplit('/').next().unwrap_or(url));
    let image = |url: &str, fit: Option<&String>, alt: Option<&String>| {
        let tag = Opening::html("a").value("href", url).optional("data-object-fit", fit);
        format!("{}{}</a>", tag.optional("data-alt", alt).end(), name(url))
    };
    let link = |url: &str| image(url, None, None);
    Some(match (value, kind) {
        (CellValue::Empty(()), _) => String::new(),
        (CellValue::Number(number), TableColumnKind::Number | TableColumnKind::Rating { .. }) => {
            number.to_string()
        }
        (CellValue::Checked(checked), TableColumnKind::Checkbox) => checked.to_string(),
        (CellValue::Ids(ids), TableColumnKind::Files) => ids.iter().map(|id| link(&file(id))).collect(),
        (CellValue::Ids(ids), TableColumnKind::Users { .. }) => {
            ids.iter().map(|id| link(&format!("/users/{id}"))).collect()
        }
        (CellValue::Ids(ids), TableColumnKind::Select { options, .. }) => {
            let one = |id: &String| {
                let label =
                    options.iter().find(|option| option.value == *id).map_or(id, |option| &option.label);
                let tag = Opening::html("span").value("data-option", id).end();
                format!("{tag}{}</span>", html::text(label))
            };
            ids.iter().map(one).collect()
        }
        (CellValue::Reference(target), TableColumnKind::ContentRef | TableColumnKind::Image) => {
            link(&targets::write(target))
        }
        (CellValue::Image { target, object_fit, alt }, TableColumnKind::Image) => {
            image(&targets::write(target), object_fit.as_ref(), alt.as_ref())
        }
        _ => return None,
    })
}

fn file(id: &str) -> String {
    id.parse().map_or_else(|_| id.to_owned(), |file| targets::write(&ContentRef::File { file }))
}
