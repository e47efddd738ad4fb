//! Where the next line stands, and what happens when a sheet is full: [`Pager`].
//!
//! What is laid out runs down a sheet and goes on at the top of the next one. Boxes around it are open frames: at the
//! end of a sheet the part that stands there is drawn, and the next part begins on the next sheet. What stands side by
//! side is laid out one after the other, each from the same place; the later ones find the sheets that the first made.

use crate::{
    look::{BOTTOM, SIDE, TOP, WIDTH},
    sheet::{Area, Paint, Sheet},
    stop::{Done, Stop},
};

/// Smaller distances are none.
const NOTHING: f32 = 0.01;

/// What is done for something that is open, where a sheet ends and on the next one.
#[derive(Clone, Debug)]
enum Frame {
    /// A box is drawn behind it.
    Box {
        x: f32,
        w: f32,
        paint: Paint,
        /// The place that is kept for the box on the sheet that was reached last.
        place: usize,
        /// Where the box begins on that sheet.
        from: f32,
    },
    /// Something is said again: the head of a table.
    Again(Box<Sheet>),
}

#[derive(Clone, Debug)]
struct Open {
    frame: Frame,
    /// The last sheet that it reached.
    reached: usize,
    /// Where it begins on further sheets.
    top: f32,
    /// What it takes of the top and the bottom of every sheet.
    takes: (f32, f32),
}

/// Space within a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inset {
    pub(crate) top: f32,
    pub(crate) bottom: f32,
}

/// A position: what is compared first is the sheet.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub(crate) struct SheetPosition {
    pub(crate) sheet: usize,
    pub(crate) y: f32,
}

/// The sheets, and the place where something is laid out.
#[derive(Clone, Debug)]
pub(crate) struct Pager {
    sheets: Vec<Sheet>,
    at: usize,
    y: f32,
    /// Where a sheet begins for what is laid out now.
    top: f32,
    /// Where it ends, without its notes.
    bottom: f32,
    /// The space that is wanted before the next thing.
    gap: f32,
    /// Whether nothing stands above in the same box, so that no space is wanted.
    fresh: bool,
    open: Vec<Open>,
    /// Whether nothing may go on elsewhere.
    trial: bool,
}

impl Pager {
    /// An empty sheet, and as many more as are needed.
    pub(crate) fn new() -> Self {
        Self {
            sheets: vec![Sheet { filled: TOP, ..Sheet::default() }],
            at: 0,
            y: TOP,
            top: TOP,
            bottom: BOTTOM,
            gap: 0.0,
            fresh: true,
            open: Vec::new(),
            trial: false,
        }
    }

    /// One piece of some height at most, whose top is at zero.
    pub(crate) fn trial(height: f32) -> Self {
        let sheets = vec![Sheet::default()];
        Self { sheets, y: 0.0, top: 0.0, bottom: height, trial: true, ..Self::new() }
    }

    /// Tells whether this is one piece that stands on no sheet yet.
    pub(crate) const fn is_trial(&self) -> bool {
        self.trial
    }

    /// The sheet that is drawn on.
    pub(crate) fn sheet(&mut self) -> &mut Sheet {
        // There always is one: places are made by `next` only.
        let last = self.sheets.len() - 1;
        &mut self.sheets[self.at.min(last)]
    }

    pub(crate) const fn position(&self) -> SheetPosition {
        SheetPosition { sheet: self.at, y: self.y }
    }

    pub(crate) const fn y(&self) -> f32 {
        self.y
    }

    /// Goes to a place where something else was laid out beside.
    pub(crate) fn go(&mut self, position: SheetPosition) {
        (self.at, self.y, self.gap) = (position.sheet.min(self.sheets.len() - 1), position.y, 0.0);
        self.fresh = true;
    }

    /// Goes to the end of what was laid out side by side.
    pub(crate) fn go_on(&mut self, position: SheetPosition) {
        self.go(position);
        self.fresh = false;
    }

    /// How many sheets there are.
    pub(crate) const fn len(&self) -> usize {
        self.sheets.len()
    }

    /// Tells whether nothing stands on this sheet yet, as far as what is open sees.
    pub(crate) fn is_at_top(&self) -> bool {
        self.y <= self.top + NOTHING
    }

    /// What is left of the sheet.
    pub(crate) fn room(&self) -> f32 {
        self.end() - self.y - self.gap_before()
    }

    /// The height of an empty sheet.
    pub(crate) fn height(&self) -> f32 {
        (self.bottom - self.top).max(1.0)
    }

    fn end(&self) -> f32 {
        self.bottom - self.sheets.get(self.at).map_or(0.0, |sheet| sheet.notes_height)
    }

    /// Wants space before the next thing; of several wishes the largest counts.
    pub(crate) const fn space(&mut self, gap: f32) {
        self.gap = self.gap.max(gap);
    }

    /// Takes the space that is wanted, as who lays out on trial asks for it afterwards.
    pub(crate) const fn take_gap(&mut self) -> f32 {
        std::mem::replace(&mut self.gap, 0.0)
    }

    const fn gap_before(&self) -> f32 {
        if self.fresh { 0.0 } else { self.gap }
    }

    /// Makes room for something, on the next sheet where there is none on this. What is higher than a sheet stands at
    /// the top of one.
    ///
    /// # Errors
    /// [`Stop::Full`] when nothing may go on elsewhere.
    pub(crate) fn ensure(&mut self, height: f32) -> Done {
        if self.trial {
            return if self.room() + NOTHING < height { Err(Stop::Full) } else { Ok(()) };
        }
        while self.room() + NOTHING < height {
            let is_new = self.at + 1 == self.sheets.len();
            if self.is_at_top() && is_new && self.sheets[self.at].notes.is_empty() {
                return Ok(());
            }
            self.next()?;
        }
        Ok(())
    }

    /// Takes some height; answers where it begins.
    ///
    /// # Errors
    /// As [`Pager::ensure`].
    pub(crate) fn take(&mut self, height: f32) -> Done<f32> {
        self.ensure(height)?;
        self.y += self.gap_before();
        (self.gap, self.fresh) = (0.0, false);
        let y = self.y;
        self.y += height;
        let end = self.y;
        let sheet = self.sheet();
        sheet.filled = sheet.filled.max(end);
        Ok(y)
    }

    /// Goes on at the top of the next sheet.
    ///
    /// # Errors
    /// As [`Pager::ensure`].
    pub(crate) fn next(&mut self) -> Done {
        if self.trial {
            return Err(Stop::Full);
        }
        self.close_parts();
        self.at += 1;
        if self.at == self.sheets.len() {
            self.sheets.push(Sheet { filled: TOP, ..Sheet::default() });
        }
        let sheet = &mut self.sheets[self.at];
        for open in self.open.iter_mut().filter(|open| open.reached < self.at) {
            open.reached = self.at;
            match &mut open.frame {
                Frame::Box { place, from, .. } => {
                    *place = sheet.keep();
                    *from = open.top;
                }
                Frame::Again(head) => {
                    sheet.absorb((**head).clone(), open.top);
                }
            }
        }
        (self.y, self.gap, self.fresh) = (self.top, 0.0, true);
        Ok(())
    }

    /// Draws the parts of what is open that stand on a sheet that is left.
    fn close_parts(&mut self) {
        let notes = self.sheets[self.at].notes_height;
        let mut end = BOTTOM - notes;
        for open in &self.open {
            if open.reached == self.at {
                self.sheets[self.at].filled = self.sheets[self.at].filled.max(end);
                draw(open, &mut self.sheets[self.at], end);
            }
            end -= open.takes.1;
        }
    }

    /// Opens a box around what follows.
    ///
    /// # Errors
    /// As [`Pager::ensure`].
    pub(crate) fn open(&mut self, x: f32, w: f32, inset: Inset, paint: Paint) -> Done {
        let from = self.take(inset.top)?;
        let place = self.sheet().keep();
        let frame = Frame::Box { x, w, paint, place, from };
        self.push(frame, inset);
        self.fresh = true;
        Ok(())
    }

    /// Says something again at the top of every further sheet. It has some height.
    pub(crate) fn open_head(&mut self, head: Sheet, height: f32) {
        self.push(Frame::Again(Box::new(head)), Inset { top: height, bottom: 0.0 });
    }

    /// Says it no more.
    pub(crate) fn close_head(&mut self) {
        if let Some(open) = self.open.pop() {
            self.top -= open.takes.0;
        }
    }

    fn push(&mut self, frame: Frame, inset: Inset) {
        let takes = (inset.top, inset.bottom);
        self.open.push(Open { frame, reached: self.at, top: self.top, takes });
        self.top += inset.top;
        self.bottom -= inset.bottom;
    }

    /// Closes what was opened last.
    pub(crate) fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        self.top -= open.takes.0;
        self.bottom += open.takes.1;
        self.y += open.takes.1;
        (self.gap, self.fresh) = (0.0, false);
        let (y, sheet) = (self.y, self.sheet());
        sheet.filled = sheet.filled.max(y);
        draw(&open, sheet, y);
    }

    /// Puts something that was laid out on trial where the pen is. There is room for it.
    ///
    /// # Errors
    /// As [`Pager::ensure`].
    pub(crate) fn put(&mut self, mut piece: Sheet, height: f32) -> Done {
        let notes = std::mem::take(&mut piece.notes);
        let y = self.take(height)?;
        self.sheet().absorb(piece, y);
        for (note, high) in notes {
            self.put_note(note, high);
        }
        Ok(())
    }

    /// Tells whether something has room here, with its notes at the foot of the sheet.
    pub(crate) fn fits(&self, height: f32, notes: f32) -> bool {
        if self.room() + NOTHING < height + notes {
            return false;
        }
        // What stands beside may reach farther down.
        let Some(sheet) = self.sheets.get(self.at) else { return false };
        self.trial || notes <= 0.0 || sheet.filled + notes + sheet.notes_height <= BOTTOM + NOTHING
    }

    /// Puts a note at the foot of the sheet.
    pub(crate) fn put_note(&mut self, note: Sheet, height: f32) {
        let sheet = self.sheet();
        sheet.notes.push((note, height));
        sheet.notes_height += height;
    }

    /// What was laid out on trial, and its height.
    pub(crate) fn piece(mut self) -> (Sheet, f32) {
        let (height, gap_after) = (self.y, self.gap);
        let piece = std::mem::take(self.sheet());
        (Sheet { gap_after, ..piece }, height)
    }

    /// The sheets with their notes.
    pub(crate) fn finish(self) -> Vec<Sheet> {
        let mut sheets = self.sheets;
        for sheet in &mut sheets {
            let notes = std::mem::take(&mut sheet.notes);
            let mut y = BOTTOM - sheet.notes_height;
            if !notes.is_empty() {
                let area = Area { x: SIDE, y: y + 2.0, w: WIDTH * 0.3, h: 0.5 };
                let paint = Paint { fill: Some(crate::look::LINE), ..Paint::default() };
                sheet.put(crate::tags::TagId::DECOR, crate::sheet::Mark::Box { area, paint });
            }
            for (note, height) in notes {
                sheet.absorb(note, y);
                y += height;
            }
        }
        sheets
    }
}

/// Draws the part of a box that ends at some height.
fn draw(open: &Open, sheet: &mut Sheet, end: f32) {
    if let Frame::Box { x, w, paint, place, from } = &open.frame {
        let area = Area { x: *x, y: *from, w: *w, h: (end - from).max(0.0) };
        sheet.fill(*place, area, *paint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::HEIGHT;

    fn filled() -> Paint {
        Paint { fill: Some(crate::look::PANEL), ..Paint::default() }
    }

    fn boxes(sheet: &Sheet) -> usize {
        sheet.ops.iter().filter(|op| matches!(op.mark, crate::sheet::Mark::Box { .. })).count()
    }

    #[test]
    fn what_has_no_room_goes_on_at_the_top_of_the_next_sheet() {
        let mut pager = Pager::new();
        pager.take(HEIGHT - 10.0).expect("room");
        pager.space(5.0);
        assert_eq!(pager.take(20.0), Ok(TOP));
        assert_eq!(pager.len(), 2);
    }

    #[test]
    fn what_is_higher_than_a_sheet_ends_nothing() {
        let mut pager = Pager::new();
        for _ in 0..3 {
            pager.take(HEIGHT * 2.0).expect("a place");
        }
        assert_eq!(pager.len(), 3);
    }

    #[test]
    fn a_box_is_drawn_on_every_sheet_that_it_reaches() {
        let mut pager = Pager::new();
        pager.open(0.0, 10.0, Inset { top: 5.0, bottom: 5.0 }, filled()).expect("room");
        for _ in 0..3 {
            pager.take(HEIGHT - 20.0).expect("a place");
        }
        pager.close();
        assert_eq!(pager.finish().iter().map(boxes).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn what_stands_side_by_side_shares_its_sheets() {
        let mut pager = Pager::new();
        pager.open(0.0, 10.0, Inset::default(), filled()).expect("room");
        let start = pager.position();
        pager.take(HEIGHT).expect("a place");
        pager.take(HEIGHT).expect("a place");
        let left = pager.position();
        pager.go(start);
        pager.take(HEIGHT).expect("a place");
        pager.take(10.0).expect("a place");
        let right = pager.position();
        pager.go_on(if left > right { left } else { right });
        pager.close();
        assert_eq!(pager.finish().iter().map(boxes).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn what_is_on_trial_is_one_piece() {
        let mut pager = Pager::trial(20.0);
        assert_eq!(pager.take(15.0), Ok(0.0));
        assert_eq!(pager.take(15.0), Err(Stop::Full));
    }
}
