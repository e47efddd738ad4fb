//! Layout of tables. Rows may be split between sheets, and the head is repeated on each sheet.

use super::{
    panels::shares,
    room::{Room, Side},
    setter::Setter,
};
use crate::{
    look::{LINE, LINE_WIDTH, PANEL},
    pages::SheetPosition,
    sheet::{Area, Mark, Paint, Sheet},
    shown::Parts,
    stop::Done,
    tags::{Role, TagId},
};

/// Rows up to this fraction of the sheet height are not split.
const WHOLE: f32 = 0.4;
/// Heads up to this fraction of the sheet height are repeated.
const HEAD: f32 = 0.3;
/// Padding above and below the content of a cell, in points.
const INSET: f32 = 4.0;
/// Space above and below a table, in points.
const AROUND: f32 = 11.0;

pub(super) struct Grid<'a> {
    pub(super) widths: &'a [f64],
    pub(super) aligns: &'a [&'static str],
    pub(super) head: &'a [Parts],
    pub(super) rows: &'a [Vec<Parts>],
    pub(super) size: f64,
}

/// A row to lay out.
#[derive(Clone, Copy)]
struct Row<'a> {
    cells: &'a [Parts],
    places: &'a [(f32, f32)],
    aligns: &'a [&'static str],
    /// `true` for cells of the head.
    is_head: bool,
}

impl Setter {
    pub(super) fn table(&mut self, grid: &Grid<'_>, room: &Room) -> Done {
        #[expect(clippy::cast_possible_truncation, reason = "font sizes are exact as `f32`")]
        let size = grid.size as f32;
        let tag = self.tags.add(room.tag, Role::Table);
        let inner = Room { size, gap: 2.4, leading: 1.25, hanging: 0.0, tag, ..*room };
        let places = shares(grid.widths, room, 0.0);
        let row = |cells, is_head| Row { cells, places: &places, aligns: grid.aligns, is_head };
        self.pages.space(AROUND);
        self.pages.ensure(size * 6.0)?;
        self.pages.take(0.0)?;
        let has_head = !grid.head.is_empty();
        let mut repeats = false;
        if has_head {
            repeats = self.head(row(grid.head, true), &inner)?;
        } else {
            self.across(room);
        }
        for cells in grid.rows {
            self.clock.check()?;
            self.row(row(cells, false), &inner)?;
        }
        if repeats {
            self.pages.close_head();
        }
        self.pages.space(AROUND);
        Ok(())
    }

    /// Lays out the head. Returns `true` if it is repeated on further sheets.
    fn head(&mut self, row: Row<'_>, room: &Room) -> Done<bool> {
        let most = self.pages.height() * HEAD;
        let Some((piece, height)) = self.piece(most, |this| this.put_head(row, room))? else {
            self.row(row, room)?;
            return Ok(false);
        };
        // The first row stays with the head.
        self.pages.ensure((height + 30.0).min(self.pages.height()))?;
        let again = for_the_eye(piece.clone());
        self.pages.put(piece, height)?;
        self.pages.open_head(again, height);
        Ok(true)
    }

    fn put_head(&mut self, row: Row<'_>, room: &Room) -> Done {
        let place = self.pages.sheet().keep();
        let from = self.pages.y();
        self.across(room);
        self.cells(row, &Room { bold: true, ..*room })?;
        let area = Area { x: room.x, y: from, w: room.width, h: self.pages.y() - from };
        self.pages.sheet().fill(place, area, Paint { fill: Some(PANEL), ..Paint::default() });
        Ok(())
    }

    fn row(&mut self, row: Row<'_>, room: &Room) -> Done {
        self.pages.ensure(room.size * room.leading + INSET * 2.0)?;
        self.together(WHOLE, |this| this.cells(row, room))
    }

    fn cells(&mut self, row: Row<'_>, room: &Room) -> Done {
        let inset = if row.places.len() > 8 { 2.5 } else { 5.0 };
        let tag = self.tags.add(room.tag, Role::Row);
        self.pages.take(INSET)?;
        let line = room.size * room.leading;
        // An empty row has the height of a line.
        let start = self.pages.position();
        let least = SheetPosition { y: start.y + line, ..start };
        self.beside(row.cells.iter().zip(row.places).enumerate(), |this, (at, (parts, (x, width)))| {
            let role = if row.is_head { Role::HeadCell } else { Role::Cell };
            let tag = this.tags.add(tag, role);
            let side = row.aligns.get(at).map_or(Side::Start, |name| Side::of(name));
            let cell = Room { x: *x, width: *width, side, tag, ..*room };
            this.flow(parts, &cell.within(inset, inset))
        })?;
        let end = self.pages.position();
        if end < least && self.pages.fits(line, 0.0) {
            self.pages.go_on(least);
        }
        self.pages.take(INSET)?;
        self.across(room);
        Ok(())
    }

    /// Draws the line between rows.
    fn across(&mut self, room: &Room) {
        let area = Area { x: room.x, y: self.pages.y() - LINE_WIDTH / 2.0, w: room.width, h: LINE_WIDTH };
        let paint = Paint { fill: Some(LINE), ..Paint::default() };
        self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
    }
}

/// Turns a piece into an artifact: repeated content is not part of the text.
fn for_the_eye(mut piece: Sheet) -> Sheet {
    piece.ops.iter_mut().for_each(|op| op.tag = TagId::DECOR);
    piece.notes.clear();
    piece.links.clear();
    piece.labels.clear();
    piece.bookmarks.clear();
    piece
}
