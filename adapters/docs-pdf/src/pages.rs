//! Position tracking and sheet breaks: [`Pager`].
//!
//! Content is placed from top to bottom, and continues at the top of the next sheet. Enclosing boxes are open frames:
//! at the end of a sheet, the part of the frame on that sheet is drawn, and the next part begins on the next sheet.
//! Columns are laid out one after another from the same position. Later columns reuse the sheets that earlier ones
//! added.

use crate::{
    appearance::{CONTENT_BOTTOM, CONTENT_WIDTH, SIDE_MARGIN, TOP_MARGIN},
    sheet::{Area, Paint, Sheet},
    termination::{LayoutResult, LayoutStop},
};

/// Tolerance for comparing distances, in points.
const DISTANCE_TOLERANCE: f32 = 0.01;

/// The drawing of an open frame at the end of a sheet and at the start of the next one.
#[derive(Clone, Debug)]
enum PageFrame {
    /// A box behind the content.
    Box {
        x: f32,
        w: f32,
        paint: Paint,
        /// Placeholder for the box on the last sheet that it reached.
        place: usize,
        /// Top of the box on that sheet.
        from: f32,
    },
    /// Repeated content: the head of a table.
    Repeated(Box<Sheet>),
}

#[derive(Clone, Debug)]
struct OpenFrame {
    frame: PageFrame,
    /// The last sheet that the frame reached.
    reached: usize,
    /// Top of the frame on further sheets.
    top: f32,
    /// Space that the frame takes at the top and bottom of each sheet.
    takes: Inset,
}

/// Vertical padding within a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inset {
    pub(crate) top: f32,
    pub(crate) bottom: f32,
}

/// A position, ordered by sheet and then by vertical position.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub(crate) struct SheetPosition {
    pub(crate) sheet: usize,
    pub(crate) y: f32,
}

/// The sheets, and the current layout position.
#[derive(Clone, Debug)]
pub(crate) struct Pager {
    sheets: Vec<Sheet>,
    at: usize,
    y: f32,
    /// Top of the sheet for the current content.
    top: f32,
    /// Bottom of the sheet for the current content, excluding footnotes.
    bottom: f32,
    /// Pending space before the next item.
    gap: f32,
    /// `true` at the beginning of a box, where no space is added.
    fresh: bool,
    open: Vec<OpenFrame>,
    /// `true` for a trial layout, which cannot continue on another sheet.
    trial: bool,
}

impl Pager {
    /// Creates a pager with one empty sheet. More sheets are added on demand.
    pub(crate) fn new() -> Self {
        Self {
            sheets: vec![Sheet { filled: TOP_MARGIN, ..Sheet::default() }],
            at: 0,
            y: TOP_MARGIN,
            top: TOP_MARGIN,
            bottom: CONTENT_BOTTOM,
            gap: 0.0,
            fresh: true,
            open: Vec::new(),
            trial: false,
        }
    }

    /// Creates a pager for a trial layout: a single sheet of limited height, whose top is at 0.
    pub(crate) fn for_trial(height: f32) -> Self {
        let sheets = vec![Sheet::default()];
        Self { sheets, y: 0.0, top: 0.0, bottom: height, trial: true, ..Self::new() }
    }

    /// Returns `true` for a trial layout.
    pub(crate) const fn is_trial(&self) -> bool {
        self.trial
    }

    /// Returns the current sheet.
    pub(crate) fn sheet(&mut self) -> &mut Sheet {
        // The list is never empty, and `next` adds a sheet before it advances.
        let last = self.sheets.len() - 1;
        let sheet = &mut self.sheets[self.at.min(last)];
        sheet.unpack();
        sheet
    }

    pub(crate) const fn position(&self) -> SheetPosition {
        SheetPosition { sheet: self.at, y: self.y }
    }

    pub(crate) const fn y(&self) -> f32 {
        self.y
    }

    /// Moves to the top of a column next to content that is already laid out.
    pub(crate) fn move_to(&mut self, position: SheetPosition) {
        (self.at, self.y, self.gap) = (position.sheet.min(self.sheets.len() - 1), position.y, 0.0);
        self.fresh = true;
    }

    /// Moves to the end of adjacent columns.
    pub(crate) fn move_to_end(&mut self, position: SheetPosition) {
        self.move_to(position);
        self.fresh = false;
    }

    /// Returns the number of sheets.
    pub(crate) const fn len(&self) -> usize {
        self.sheets.len()
    }

    /// Returns `true` if the current content is at the top of the sheet.
    pub(crate) fn is_at_top(&self) -> bool {
        self.y <= self.top + DISTANCE_TOLERANCE
    }

    /// Returns the remaining height of the sheet.
    pub(crate) fn room(&self) -> f32 {
        self.end() - self.y - self.gap_before()
    }

    /// Returns the height of an empty sheet.
    pub(crate) fn height(&self) -> f32 {
        (self.bottom - self.top).max(1.0)
    }

    fn end(&self) -> f32 {
        self.bottom - self.sheets.get(self.at).map_or(0.0, |sheet| sheet.notes_height)
    }

    /// Requests space before the next item. The largest requested space is used.
    pub(crate) const fn space(&mut self, gap: f32) {
        self.gap = self.gap.max(gap);
    }

    /// Removes and returns the pending space, for callers that restore it later.
    pub(crate) const fn take_gap(&mut self) -> f32 {
        std::mem::replace(&mut self.gap, 0.0)
    }

    const fn gap_before(&self) -> f32 {
        if self.fresh { 0.0 } else { self.gap }
    }

    /// Moves to the next sheet if `height` does not fit on this one. Content higher than a sheet is placed at the top
    /// of a sheet.
    ///
    /// # Errors
    /// [`LayoutStop::Full`] in a trial layout.
    pub(crate) fn ensure(&mut self, height: f32) -> LayoutResult {
        if self.trial {
            return if self.room() + DISTANCE_TOLERANCE < height { Err(LayoutStop::Full) } else { Ok(()) };
        }
        while self.room() + DISTANCE_TOLERANCE < height {
            let is_new = self.at + 1 == self.sheets.len();
            if self.is_at_top() && is_new && self.sheets[self.at].notes.is_empty() {
                return Ok(());
            }
            self.next()?;
        }
        Ok(())
    }

    /// Reserves vertical space, and returns its top.
    ///
    /// # Errors
    /// The errors of [`Pager::ensure`].
    pub(crate) fn take(&mut self, height: f32) -> LayoutResult<f32> {
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

    /// Moves to the top of the next sheet.
    ///
    /// # Errors
    /// The errors of [`Pager::ensure`].
    pub(crate) fn next(&mut self) -> LayoutResult {
        if self.trial {
            return Err(LayoutStop::Full);
        }
        self.close_parts();
        self.sheets[self.at].pack();
        self.at += 1;
        if self.at == self.sheets.len() {
            self.sheets.push(Sheet { filled: TOP_MARGIN, ..Sheet::default() });
        }
        let sheet = &mut self.sheets[self.at];
        for open in self.open.iter_mut().filter(|open| open.reached < self.at) {
            open.reached = self.at;
            match &mut open.frame {
                PageFrame::Box { place, from, .. } => {
                    *place = sheet.keep();
                    *from = open.top;
                }
                PageFrame::Repeated(head) => {
                    sheet.absorb((**head).clone(), open.top);
                }
            }
        }
        (self.y, self.gap, self.fresh) = (self.top, 0.0, true);
        Ok(())
    }

    /// Draws the parts of open frames on the sheet before leaving it.
    fn close_parts(&mut self) {
        let notes = self.sheets[self.at].notes_height;
        let mut end = CONTENT_BOTTOM - notes;
        for open in &self.open {
            if open.reached == self.at {
                self.sheets[self.at].filled = self.sheets[self.at].filled.max(end);
                draw(open, &mut self.sheets[self.at], end);
            }
            end -= open.takes.bottom;
        }
    }

    /// Opens a box around the following content.
    ///
    /// # Errors
    /// The errors of [`Pager::ensure`].
    pub(crate) fn open(&mut self, x: f32, w: f32, inset: Inset, paint: Paint) -> LayoutResult {
        let from = self.take(inset.top)?;
        let place = self.sheet().keep();
        let frame = PageFrame::Box { x, w, paint, place, from };
        self.push(frame, inset);
        self.fresh = true;
        Ok(())
    }

    /// Repeats a head of this height at the top of each further sheet.
    pub(crate) fn open_head(&mut self, head: Sheet, height: f32) {
        self.push(PageFrame::Repeated(Box::new(head)), Inset { top: height, bottom: 0.0 });
    }

    /// Ends the repetition of the head.
    pub(crate) fn close_head(&mut self) {
        if let Some(open) = self.open.pop() {
            self.top -= open.takes.top;
        }
    }

    fn push(&mut self, frame: PageFrame, inset: Inset) {
        self.open.push(OpenFrame { frame, reached: self.at, top: self.top, takes: inset });
        self.top += inset.top;
        self.bottom -= inset.bottom;
    }

    /// Closes the most recently opened frame.
    pub(crate) fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        self.top -= open.takes.top;
        self.bottom += open.takes.bottom;
        self.y += open.takes.bottom;
        (self.gap, self.fresh) = (0.0, false);
        let (y, sheet) = (self.y, self.sheet());
        sheet.filled = sheet.filled.max(y);
        draw(&open, sheet, y);
    }

    /// Places the result of a trial layout at the current position. The caller must ensure that it fits.
    ///
    /// # Errors
    /// The errors of [`Pager::ensure`].
    pub(crate) fn put(&mut self, mut piece: Sheet, height: f32) -> LayoutResult {
        let notes = std::mem::take(&mut piece.notes);
        let y = self.take(height)?;
        self.sheet().absorb(piece, y);
        for (note, high) in notes {
            self.put_note(note, high);
        }
        Ok(())
    }

    /// Returns `true` if content fits here, with its footnotes at the bottom of the sheet.
    pub(crate) fn fits(&self, height: f32, notes: f32) -> bool {
        if self.room() + DISTANCE_TOLERANCE < height + notes {
            return false;
        }
        // An adjacent column may extend farther down.
        let Some(sheet) = self.sheets.get(self.at) else { return false };
        self.trial
            || notes <= 0.0
            || sheet.filled + notes + sheet.notes_height <= CONTENT_BOTTOM + DISTANCE_TOLERANCE
    }

    /// Adds a footnote at the bottom of the sheet.
    pub(crate) fn put_note(&mut self, note: Sheet, height: f32) {
        let sheet = self.sheet();
        sheet.notes.push((note, height));
        sheet.notes_height += height;
    }

    /// Returns the result of a trial layout, and its height.
    pub(crate) fn piece(mut self) -> (Sheet, f32) {
        let (height, gap_after) = (self.y, self.gap);
        let piece = std::mem::take(self.sheet());
        (Sheet { gap_after, ..piece }, height)
    }

    /// Returns the finished sheets, including their footnotes.
    pub(crate) fn finish(self) -> Vec<Sheet> {
        let mut sheets = self.sheets;
        for sheet in &mut sheets {
            let notes = std::mem::take(&mut sheet.notes);
            let mut y = CONTENT_BOTTOM - sheet.notes_height;
            if !notes.is_empty() {
                let area = Area { x: SIDE_MARGIN, y: y + 2.0, w: CONTENT_WIDTH * 0.3, h: 0.5 };
                let paint = Paint { fill: Some(crate::appearance::LINE), ..Paint::default() };
                sheet.put(crate::tags::TagId::DECOR, crate::sheet::Mark::Box { area, paint });
            }
            for (note, height) in notes {
                sheet.absorb(note, y);
                y += height;
            }
            sheet.pack();
        }
        sheets
    }
}

/// Draws the part of a box that ends at this vertical position.
fn draw(open: &OpenFrame, sheet: &mut Sheet, end: f32) {
    if let PageFrame::Box { x, w, paint, place, from } = &open.frame {
        let area = Area { x: *x, y: *from, w: *w, h: (end - from).max(0.0) };
        sheet.fill(*place, area, *paint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::appearance::CONTENT_HEIGHT;

    fn fill_paint() -> Paint {
        Paint { fill: Some(crate::appearance::PANEL), ..Paint::default() }
    }

    fn boxes(sheet: &Sheet) -> usize {
        sheet.ops.iter().filter(|op| matches!(op.mark, crate::sheet::Mark::Box { .. })).count()
    }

    #[test]
    fn content_that_does_not_fit_starts_the_next_sheet() {
        let mut pager = Pager::new();
        pager.take(CONTENT_HEIGHT - 10.0).expect("room");
        pager.space(5.0);
        assert_eq!(pager.take(20.0), Ok(TOP_MARGIN));
        assert_eq!(pager.len(), 2);
    }

    #[test]
    fn content_taller_than_a_sheet_does_not_stop_the_layout() {
        let mut pager = Pager::new();
        for _ in 0..3 {
            pager.take(CONTENT_HEIGHT * 2.0).expect("a place");
        }
        assert_eq!(pager.len(), 3);
    }

    #[test]
    fn box_is_drawn_on_every_sheet_it_spans() {
        let mut pager = Pager::new();
        pager.open(0.0, 10.0, Inset { top: 5.0, bottom: 5.0 }, fill_paint()).expect("room");
        for _ in 0..3 {
            pager.take(CONTENT_HEIGHT - 20.0).expect("a place");
        }
        pager.close();
        assert_eq!(pager.finish().iter().map(boxes).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn side_by_side_content_shares_its_sheets() {
        let mut pager = Pager::new();
        pager.open(0.0, 10.0, Inset::default(), fill_paint()).expect("room");
        let start = pager.position();
        pager.take(CONTENT_HEIGHT).expect("a place");
        pager.take(CONTENT_HEIGHT).expect("a place");
        let left = pager.position();
        pager.move_to(start);
        pager.take(CONTENT_HEIGHT).expect("a place");
        pager.take(10.0).expect("a place");
        let right = pager.position();
        pager.move_to_end(if left > right { left } else { right });
        pager.close();
        assert_eq!(pager.finish().iter().map(boxes).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn trial_layout_stops_at_its_maximum_height() {
        let mut pager = Pager::for_trial(20.0);
        assert_eq!(pager.take(15.0), Ok(0.0));
        assert_eq!(pager.take(15.0), Err(LayoutStop::Full));
    }
}
