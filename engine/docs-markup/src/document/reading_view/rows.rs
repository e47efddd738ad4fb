//! Builds tables from rows of cells.

use std::collections::BTreeMap;

use docs_model::{
    Block, BlockKind, CellAlign, CellValue, Document, Fragment, TableColumn, TableColumnKind, TableData,
    TableRecord, TableView,
};

use super::{
    super::{
        tables::{MAX_COLUMNS, cell_name, column_id, row_id},
        texts,
    },
    state::View,
};

/// Estimated memory of an added empty cell in bytes.
const EMPTY_CELL_BYTES: usize = 800;

/// A row of a table.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    /// `true` for a row of `thead`.
    pub(super) is_head: bool,
}

/// A cell of a table.
#[derive(Debug, Default)]
pub(super) struct Cell {
    pub(super) blocks: Vec<Block>,
    /// `true` for a header cell.
    pub(super) is_title: bool,
    pub(super) align: CellAlign,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// Builds a table. Returns `None` if it has no cells.
pub(super) fn table(rows: Vec<Row>, view: &mut View) -> Option<Block> {
    let mut rows = spread(rows, view);
    rows.retain(|row| !row.cells.is_empty());
    let width = rows.iter().map(|row| row.cells.len()).max()?;
    let is_head = rows
        .first()
        .is_some_and(|row| row.is_head || (rows.len() > 1 && row.cells.iter().all(|cell| cell.is_title)));
    let head = if is_head { rows.remove(0).cells } else { Vec::new() };
    let first = rows.first().map(|row| &row.cells);
    for block in head.iter().flat_map(|cell| &cell.blocks) {
        view.keep_title_notes(&block.nodes);
    }
    let column = |index: usize| {
        let own = head.get(index).or_else(|| first?.get(index));
        let title = head.get(index).map(title).unwrap_or_default();
        let text_alignment = own.map(|cell| cell.align).unwrap_or_default();
        let kind = TableColumnKind::Text { text_alignment, vertical_alignment: None };
        TableColumn { id: column_id(index), title, kind, spelling: None }
    };
    let definition: BTreeMap<String, TableColumn> =
        (0..width).map(|index| (column_id(index), column(index))).collect();
    let (mut records, mut fragments) = (BTreeMap::new(), Vec::new());
    for (at, row) in rows.into_iter().enumerate() {
        let mut values = BTreeMap::new();
        for (index, cell) in row.cells.into_iter().enumerate() {
            let name = cell_name(at, index);
            fragments.push(Fragment::new(&name, cell.blocks));
            values.insert(column_id(index), CellValue::Text(name));
        }
        let record = TableRecord { order_index: row_id(at), values, spelling: BTreeMap::new() };
        records.insert(row_id(at), record);
    }
    let view = TableView::Grid {
        columns: definition.keys().cloned().collect(),
        column_widths: None,
        hide_header: !is_head,
        use_new_sizing: None,
        sticky_header: None,
        sticky_first_column: None,
    };
    let data =
        TableData { view, records, definition, full_width: None, cell_merges: Vec::new(), search: None };
    Some(Block::with_fragments(BlockKind::Table(Box::new(data)), fragments))
}

fn title(cell: &Cell) -> String {
    texts::plain_text(&Document::new(cell.blocks.clone())).replace('\n', " ")
}

/// Adds empty cells where cells span columns or rows, within the memory budget of the view. Cells beyond the maximum
/// number of columns are merged into the last one.
fn spread(rows: Vec<Row>, view: &mut View) -> Vec<Row> {
    // For each column, the number of further rows that a cell spans.
    let mut open: Vec<usize> = Vec::new();
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        let mut cells: Vec<Cell> = Vec::new();
        for cell in row.cells {
            fill(&mut cells, &mut open, view);
            let (columns, rows) = (cell.columns.max(1), cell.rows.max(1));
            if cells.len() >= MAX_COLUMNS {
                if let Some(last) = cells.last_mut() {
                    last.blocks.extend(cell.blocks);
                }
                continue;
            }
            let columns = columns.min(MAX_COLUMNS - cells.len());
            let columns = if view.take((columns - 1) * EMPTY_CELL_BYTES) { columns } else { 1 };
            let is_title = cell.is_title;
            let start = cells.len();
            cells.push(cell);
            cells.extend((1..columns).map(|_| Cell { is_title, ..Cell::default() }));
            open.resize(open.len().max(cells.len()), 0);
            open[start..cells.len()].fill(rows - 1);
        }
        fill(&mut cells, &mut open, view);
        out.push(Row { cells, ..row });
    }
    out
}

/// Adds empty cells to the following columns, as long as a cell above spans them and the memory budget permits.
fn fill(cells: &mut Vec<Cell>, open: &mut [usize], view: &mut View) {
    while let Some(left) = open.get_mut(cells.len()).filter(|left| **left > 0)
        && view.take(EMPTY_CELL_BYTES)
    {
        *left -= 1;
        cells.push(Cell::default());
    }
}
