//! Layout of tables. Rows may be split between sheets, and the head is repeated on each sheet.

use super::{
    layout_area::{LayoutArea, TextAlignment},
    panels::column_positions,
    setter::Setter,
};
use crate::{
    appearance::{LINE, LINE_WIDTH, PANEL},
    layout_tree::ShownParts,
    pages::SheetPosition,
    sheet::{Area, Mark, Paint, Sheet},
    tags::{Role, TagId},
    termination::LayoutResult,
};

/// Maximum height of rows that are not split, as a fraction of the sheet height.
const MAX_UNSPLIT_SHARE: f32 = 0.4;
/// Maximum height of a head that is repeated, as a fraction of the sheet height.
const MAX_REPEATED_HEAD: f32 = 0.3;
/// Vertical padding of a cell, in points.
const CELL_PADDING: f32 = 4.0;
/// Vertical margin of a table, in points.
const TABLE_MARGIN: f32 = 11.0;

pub(super) struct Grid<'a> {
    pub(super) widths: &'a [f64],
    pub(super) aligns: &'a [&'static str],
    pub(super) head: &'a [ShownParts],
    pub(super) rows: &'a [Vec<ShownParts>],
    pub(super) size: f64,
}

/// A row to lay out.
#[derive(Clone, Copy)]
struct Row<'a> {
    cells: &'a [ShownParts],
    places: &'a [(f32, f32)],
    aligns: &'a [&'static str],
    /// `true` for the head.
    is_head: bool,
}

impl Setter {
    pub(super) fn table(&mut self, grid: &Grid<'_>, room: &LayoutArea) -> LayoutResult {
        #[expect(clippy::cast_possible_truncation, reason = "font sizes are exact as `f32`")]
        let size = grid.size as f32;
        let tag = self.tags.add(room.tag, Role::Table);
        let inner = LayoutArea { size, gap: 2.4, leading: 1.25, hanging: 0.0, tag, ..*room };
        let places = column_positions(grid.widths, room, 0.0);
        let row = |cells, is_head| Row { cells, places: &places, aligns: grid.aligns, is_head };
        self.pages.space(TABLE_MARGIN);
        self.pages.ensure(size * 6.0)?;
        self.pages.take(0.0)?;
        let has_head = !grid.head.is_empty();
        let mut repeats = false;
        if has_head {
            repeats = self.lay_head(row(grid.head, true), &inner)?;
        } else {
            self.draw_row_line(room);
        }
        for cells in grid.rows {
            self.clock.check()?;
            self.row(row(cells, false), &inner)?;
        }
        if repeats {
            self.pages.close_head();
        }
        self.pages.space(TABLE_MARGIN);
        Ok(())
    }

    /// Lays out the head. Returns `true` if it is repeated on further sheets.
    fn lay_head(&mut self, row: Row<'_>, room: &LayoutArea) -> LayoutResult<bool> {
        let most = self.pages.height() * MAX_REPEATED_HEAD;
        let Some((piece, height)) = self.piece(most, |this| this.put_head(row, room))? else {
            self.row(row, room)?;
            return Ok(false);
        };
        // The first row must be on the same sheet as the head.
        self.pages.ensure((height + 30.0).min(self.pages.height()))?;
        let again = for_the_eye(piece.clone());
        self.pages.put(piece, height)?;
        self.pages.open_head(again, height);
        Ok(true)
    }

    fn put_head(&mut self, row: Row<'_>, room: &LayoutArea) -> LayoutResult {
        let place = self.pages.sheet().keep();
        let from = self.pages.y();
        self.draw_row_line(room);
        self.cells(row, &LayoutArea { bold: true, ..*room })?;
        let area = Area { x: room.x, y: from, w: room.width, h: self.pages.y() - from };
        self.pages.sheet().fill(place, area, Paint { fill: Some(PANEL), ..Paint::default() });
        Ok(())
    }

    fn row(&mut self, row: Row<'_>, room: &LayoutArea) -> LayoutResult {
        self.pages.ensure(room.size * room.leading + CELL_PADDING * 2.0)?;
        self.keep_together(MAX_UNSPLIT_SHARE, |this| this.cells(row, room))
    }

    fn cells(&mut self, row: Row<'_>, room: &LayoutArea) -> LayoutResult {
        let inset = if row.places.len() > 8 { 2.5 } else { 5.0 };
        let tag = self.tags.add(room.tag, Role::Row);
        self.pages.take(CELL_PADDING)?;
        let line = room.size * room.leading;
        // An empty row has the height of a line.
        let start = self.pages.position();
        let least = SheetPosition { y: start.y + line, ..start };
        self.lay_side_by_side(
            row.cells.iter().zip(row.places).enumerate(),
            |this, (at, (parts, (x, width)))| {
                let role = if row.is_head { Role::HeadCell } else { Role::Cell };
                let tag = this.tags.add(tag, role);
                let side =
                    row.aligns.get(at).map_or(TextAlignment::Start, |name| TextAlignment::from_name(name));
                let cell = LayoutArea { x: *x, width: *width, side, tag, ..*room };
                this.flow(parts, &cell.inset(inset, inset))
            },
        )?;
        let end = self.pages.position();
        if end < least && self.pages.fits(line, 0.0) {
            self.pages.move_to_end(least);
        }
        self.pages.take(CELL_PADDING)?;
        self.draw_row_line(room);
        Ok(())
    }

    /// Draws the line between rows.
    fn draw_row_line(&mut self, room: &LayoutArea) {
        let area = Area { x: room.x, y: self.pages.y() - LINE_WIDTH / 2.0, w: room.width, h: LINE_WIDTH };
        let paint = Paint { fill: Some(LINE), ..Paint::default() };
        self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
    }
}

/// Marks a repeated table head as an artifact, because it is not part of the text.
fn for_the_eye(mut piece: Sheet) -> Sheet {
    piece.ops.iter_mut().for_each(|op| op.tag = TagId::DECOR);
    piece.notes.clear();
    piece.links.clear();
    piece.labels.clear();
    piece.bookmarks.clear();
    piece
}
