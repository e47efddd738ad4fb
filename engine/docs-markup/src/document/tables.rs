//! Tables, in pipe notation and in HTML.

use std::collections::BTreeMap;

use docs_model::{
    Block, BlockKind, CardSize, CellAlign, CellAnchor, CellMerge, CellSpan, CellValue, Fragment,
    SelectOption, TableColumn, TableColumnKind, TableData, TableRecord, TableView,
};

use super::{
    attributes::{optional, read_word},
    cells::value,
    escape::{self, InlineContext},
    figures::rich_blocks,
    html::{self, Element, Html},
    lines::Line,
    pipes, print,
    reader::BlockReader,
    simple_blocks::paragraph,
    spelling, texts,
};

pub(super) fn column_id(index: usize) -> String {
    format!("c{index:03}")
}

/// Returns the id of a row, which is also its sort key.
pub(super) fn row_id(index: usize) -> String {
    format!("r{index:06}")
}

/// Returns the name of the fragment with the text of a cell.
pub(super) fn cell_name(row: usize, column: usize) -> String {
    format!("{}-{}", row_id(row), column_id(column))
}

/// Maximum number of columns in a table.
pub(super) const MAX_COLUMNS: usize = 200;

/// Parses a pipe table. Returns `None` if a row has more cells than there are columns.
pub(super) fn pipes(reader: &mut BlockReader<'_>, lines: &[Line<'_>]) -> Option<Block> {
    let [head, rule, rows @ ..] = lines else { return None };
    let alignments = pipes::alignments(&rule.text)?;
    if alignments.len() > MAX_COLUMNS {
        return None;
    }
    let mut definition = BTreeMap::new();
    for (index, (title, align)) in pipes::cells(&head.text).iter().zip(&alignments).enumerate() {
        let kind = TableColumnKind::Text { text_alignment: *align, vertical_alignment: None };
        // A title is plain text with its footnote references. The reading view resolves them.
        let notes = std::mem::take(&mut reader.notes);
        let nodes = reader.text(title, InlineContext::Line);
        reader.notes = notes;
        let nodes = nodes?;
        let plain = texts::inline_text(&nodes);
        let usual = print::title(&plain, InlineContext::Line);
        let spelling = (usual.as_deref() != Some(title.as_str())).then(|| title.clone());
        definition
            .insert(column_id(index), TableColumn { id: column_id(index), title: plain, kind, spelling });
    }
    let mut table = TableContent::default();
    for (row, line) in rows.iter().enumerate() {
        let cells = pipes::cells(&line.text);
        if cells.len() > alignments.len() {
            return None;
        }
        reader.left = reader.left.saturating_sub(cells.len());
        let mut values = BTreeMap::new();
        for (column, cell) in cells.iter().enumerate() {
            let nodes = reader.text(cell, InlineContext::Line)?;
            let blocks = if nodes.is_empty() { Vec::new() } else { vec![paragraph(nodes)] };
            values.insert(column_id(column), table.text(row, column, blocks));
        }
        table
            .records
            .insert(row_id(row), TableRecord { order_index: row_id(row), values, spelling: BTreeMap::new() });
    }
    let view = TableView::Grid {
        columns: definition.keys().cloned().collect(),
        column_widths: None,
        hide_header: false,
        use_new_sizing: None,
        sticky_header: None,
        sticky_first_column: None,
    };
    let TableContent { records, fragments, merges: cell_merges } = table;
    let data = TableData { view, records, definition, full_width: None, cell_merges, search: None };
    let mut block = Block::with_fragments(BlockKind::Table(Box::new(data)), fragments);
    let rule = pipes::short(&rule.text);
    let usual = print::rule(&alignments);
    block.spelling = (rule != usual).then_some(rule);
    Some(block)
}

#[derive(Default)]
struct TableContent {
    records: BTreeMap<String, TableRecord>,
    fragments: Vec<Fragment>,
    merges: Vec<CellMerge>,
}

impl TableContent {
    fn text(&mut self, row: usize, column: usize, blocks: Vec<Block>) -> CellValue {
        let name = cell_name(row, column);
        self.fragments.push(Fragment::new(&name, blocks));
        CellValue::Text(name)
    }
}

/// The content of the table header.
#[derive(Default)]
struct TableHead {
    columns: Vec<TableColumn>,
    hidden: Vec<bool>,
    widths: BTreeMap<String, f64>,
    target: Option<String>,
    cover: Option<String>,
    cover_dark: Option<String>,
}

/// Parses an HTML table. Returns `None` for unknown HTML.
pub(super) fn html(reader: &mut BlockReader<'_>, element: &Element<'_>) -> Option<Block> {
    let open = &element.open;
    let parts = element.elements()?;
    let (head, body) = match parts.as_slice() {
        [head, body] if head.name() == "thead" && body.name() == "tbody" => (head, Some(body)),
        [head] if head.name() == "thead" => (head, None),
        _ => return None,
    };
    let [row] = head.elements()?.try_into().ok()?;
    let mut columns = TableHead::default();
    for cell in row.elements()? {
        columns.add(reader, cell)?;
    }
    if columns.columns.len() > MAX_COLUMNS || columns.columns.is_empty() {
        return None;
    }
    let mut table = TableContent::default();
    let rows = body.map_or(Some(Vec::new()), |body| body.elements())?;
    for (index, row) in rows.into_iter().enumerate() {
        let record = cells(reader, &columns, index, row, &mut table)?;
        table.records.insert(row_id(index), record);
    }
    let view = view(open, &columns)?;
    let (full_width, search) = (switch(open, "data-full-width")?, switch(open, "data-search")?);
    let definition = columns.columns.into_iter().map(|column| (column.id.clone(), column)).collect();
    let TableContent { records, fragments, merges: cell_merges } = table;
    let data = TableData { view, records, definition, full_width, cell_merges, search };
    let block = Block::with_fragments(BlockKind::Table(Box::new(data)), fragments);
    Some(respell(block, element))
}

/// Reads an attribute that is `true` or `false`. Returns `None` for another value.
fn switch(open: &html::OpeningTag<'_>, name: &str) -> Option<Option<bool>> {
    open.get(name).map(str::parse).transpose().ok()
}

/// Reads the range of merged cells that begins at a cell. Returns `None` for an invalid range.
fn merge(cell: &Element<'_>, anchor: CellAnchor) -> Option<Option<CellMerge>> {
    let span = |name: &str| match cell.open.get(name) {
        Some(number) => CellSpan::new(number.parse().ok()?),
        None => Some(CellSpan::ONE),
    };
    let (row_span, col_span) = (span("data-rowspan")?, span("data-colspan")?);
    let is_merged = cell.open.has("data-rowspan") || cell.open.has("data-colspan");
    Some(is_merged.then_some(CellMerge { anchor, row_span, col_span }))
}

/// Preserves the tag of a table if it is not canonical, and preserves other spellings where needed.
fn respell(block: Block, element: &Element<'_>) -> Block {
    let bare = spelling::bare_block(&block);
    let own = Some(element.open.source.to_owned());
    let source = element.source();
    let is_same =
        |block: &Block| print::block_alone(block).is_some_and(|written| escape::is_alike(&written, &source));
    if is_same(&bare) {
        return bare;
    }
    let tagged = Block { spelling: own.clone(), ..bare };
    if is_same(&tagged) {
        return tagged;
    }
    Block { spelling: own, ..block }
}

fn view(open: &html::OpeningTag<'_>, head: &TableHead) -> Option<TableView> {
    let shown = head.columns.iter().zip(&head.hidden).filter(|(_, hidden)| !**hidden);
    let columns = shown.map(|(column, _)| column.id.clone()).collect();
    match open.get("data-view") {
        None => Some(TableView::Grid {
            columns,
            column_widths: (!head.widths.is_empty()).then(|| head.widths.clone()),
            hide_header: open.has("data-header-hidden"),
            use_new_sizing: None,
            sticky_header: switch(open, "data-sticky-header")?,
            sticky_first_column: switch(open, "data-sticky-first-column")?,
        }),
        Some("cards") => Some(TableView::Cards {
            card_size: if open.get("data-card-size") == Some("large") {
                CardSize::Large
            } else {
                CardSize::Medium
            },
            columns,
            target_definition: head.target.clone(),
            cover_definition: head.cover.clone(),
            cover_definition_dark: head.cover_dark.clone(),
            hide_column_title: open.has("data-column-title-hidden").then_some(true),
            wrap: switch(open, "data-wrap")?,
        }),
        Some(_) => None,
    }
}

impl TableHead {
    fn add(&mut self, reader: &mut BlockReader<'_>, cell: &Element<'_>) -> Option<()> {
        let open = &cell.open;
        let known = [
            "width",
            "align",
            "valign",
            "data-hidden",
            "data-type",
            "data-card-target",
            "data-card-cover",
            "data-card-cover-dark",
            "data-max",
            "data-multiple",
        ];
        if cell.name() != "th" || !open.has_only(&known) {
            return None;
        }
        let id = column_id(self.columns.len());
        let (select, title): (Vec<&Html<'_>>, Vec<&Html<'_>>) = cell
            .children
            .iter()
            .partition(|child| matches!(child, Html::Element(element) if element.name() == "select"));
        let title: Vec<Html<'_>> = title.into_iter().cloned().collect();
        let nodes = super::rich::inlines(&title, &mut reader.rules())?;
        let plain = texts::inline_text(&nodes);
        let usual = print::title(&plain, InlineContext::Html);
        let source: String = title.iter().map(Html::source).collect();
        let kind = kind(cell, select.first().copied())?;
        let spelling = (usual.as_deref() != Some(source.as_str())).then_some(source);
        if let Some(width) = open.get("width") {
            let number: f64 = width.parse().ok()?;
            self.widths.insert(id.clone(), Some(number).filter(|number| number.to_string() == width)?);
        }
        let roles = [
            ("data-card-target", &mut self.target),
            ("data-card-cover", &mut self.cover),
            ("data-card-cover-dark", &mut self.cover_dark),
        ];
        for (name, role) in roles {
            if open.has(name) && role.replace(id.clone()).is_some() {
                return None;
            }
        }
        self.hidden.push(open.has("data-hidden"));
        self.columns.push(TableColumn { id, title: plain, kind, spelling });
        Some(())
    }
}

fn kind(cell: &Element<'_>, select: Option<&Html<'_>>) -> Option<TableColumnKind> {
    let open = &cell.open;
    if let Some(Html::Element(select)) = select {
        let mut options = Vec::new();
        for option in select.elements()? {
            // `option` is self-closing, so its content is ignored.
            options.push(SelectOption {
                value: option.open.get("value")?.to_owned(),
                label: option.open.get("label").unwrap_or_default().to_owned(),
                color: option.open.get("color").unwrap_or_default().to_owned(),
            });
        }
        return Some(TableColumnKind::Select { multiple: select.open.has("multiple"), options });
    }
    let alignment = || {
        Some(TableColumnKind::Text {
            text_alignment: optional(open.get("align"), read_word)?.unwrap_or(CellAlign::Left),
            vertical_alignment: optional(open.get("valign"), read_word)?,
        })
    };
    Some(match open.get("data-type") {
        None | Some("text") => alignment()?,
        Some("number") => TableColumnKind::Number,
        Some("checkbox") => TableColumnKind::Checkbox,
        Some("files") => TableColumnKind::Files,
        Some("users") => TableColumnKind::Users { multiple: open.has("data-multiple") },
        Some("rating") => {
            TableColumnKind::Rating { max: open.get("data-max").map_or(Some(5.0), |max| max.parse().ok())? }
        }
        Some("select") => {
            TableColumnKind::Select { multiple: open.has("data-multiple"), options: Vec::new() }
        }
        Some("content-ref") => TableColumnKind::ContentRef,
        Some("image") => TableColumnKind::Image,
        Some(_) => return None,
    })
}

fn cells(
    reader: &mut BlockReader<'_>,
    head: &TableHead,
    row: usize,
    element: &Element<'_>,
    table: &mut TableContent,
) -> Option<TableRecord> {
    let cells = element.elements()?;
    if element.name() != "tr" || !element.open.has_only(&[]) || cells.len() > head.columns.len() {
        return None;
    }
    let (mut values, mut spelling) = (BTreeMap::new(), BTreeMap::new());
    for (index, (cell, column)) in cells.into_iter().zip(&head.columns).enumerate() {
        reader.left = reader.left.saturating_sub(1);
        let known = ["align", "valign", "data-rowspan", "data-colspan"];
        if cell.name() != "td" || !cell.open.has_only(&known) {
            return None;
        }
        let anchor = CellAnchor { record: row_id(row), column: column.id.clone() };
        table.merges.extend(merge(cell, anchor)?);
        let value = match &column.kind {
            TableColumnKind::Text { .. } => {
                let blocks = rich_blocks(reader, &cell.children)?;
                table.text(row, index, blocks)
            }
            kind => {
                let value = value(kind, cell)?;
                let source: String = cell.children.iter().map(Html::source).collect();
                if print::cell(&value, kind).as_deref() != Some(source.as_str()) {
                    spelling.insert(column.id.clone(), source);
                }
                value
            }
        };
        values.insert(column.id.clone(), value);
    }
    Some(TableRecord { order_index: row_id(row), values, spelling })
}
