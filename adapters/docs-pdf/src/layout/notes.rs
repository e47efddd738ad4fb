//! Layout of footnotes.

use super::{
    inline::Inline,
    layout_area::LayoutArea,
    setter::{LateNote, Setter},
};
use crate::{
    appearance::{CONTENT_WIDTH, SIDE_MARGIN},
    layout_tree::ShownPart,
    sheet::Sheet,
    tags::{Role, TagId},
    termination::LayoutResult,
};

/// Maximum height of a footnote at the bottom of a sheet, in points.
const MAX_NOTE_HEIGHT: f32 = 220.0;
/// Space above a footnote. Above the first one, it contains a line.
const SPACE_ABOVE_NOTE: f32 = 5.0;
/// Width reserved for the number of a footnote.
const NUMBER_WIDTH: f32 = 14.0;

/// A footnote with its number and its parent in the tag tree.
#[derive(Clone, Copy)]
pub(super) struct NoteCall<'a> {
    pub(super) parts: &'a [ShownPart],
    pub(super) number: usize,
    pub(super) above: TagId,
}

impl Setter {
    /// Lays out a footnote for a line of a given height, which may have other footnotes. Returns `None` if the footnote
    /// is placed at the end of the page instead.
    pub(super) fn note(
        &mut self,
        call: &NoteCall<'_>,
        height: f32,
        others: &[(Sheet, f32)],
    ) -> LayoutResult<Option<(Sheet, f32)>> {
        let NoteCall { parts, number, above } = *call;
        let tag = self.tags.add(above, Role::Note);
        let piece = self.piece(MAX_NOTE_HEIGHT, |this| this.put_note_text(parts, number, tag))?;
        let taken: f32 = others.iter().map(|(_, height)| height).sum();
        if let Some((note, high)) = piece {
            let note = moved_down(note, SPACE_ABOVE_NOTE);
            let high = high + SPACE_ABOVE_NOTE;
            if self.pages.fits(height, taken + high) {
                return Ok(Some((note, high)));
            }
            // Move to the next sheet together with the line, if the line may move.
            if others.is_empty() && !self.pages.is_trial() && !self.pages.is_at_top() {
                self.pages.next()?;
                self.pages.ensure(height)?;
                if self.pages.fits(height, high) {
                    return Ok(Some((note, high)));
                }
            }
            if self.pages.is_trial() {
                return Err(crate::termination::LayoutStop::Full);
            }
        }
        self.late_notes.push(LateNote { number, parts: parts.to_vec(), tag });
        Ok(None)
    }

    fn put_note_text(&mut self, parts: &[ShownPart], number: usize, tag: TagId) -> LayoutResult {
        let room = LayoutArea { size: 8.5, gap: 2.0, tag, ..LayoutArea::sheet() };
        let start = self.pages.position();
        let mark = Inline::from_text(&number.to_string());
        self.lines(&mark, &LayoutArea { x: SIDE_MARGIN, width: NUMBER_WIDTH + 20.0, ..room })?;
        let end = self.pages.position();
        self.pages.move_to(start);
        self.flow(
            parts,
            &LayoutArea { x: SIDE_MARGIN + NUMBER_WIDTH, width: CONTENT_WIDTH - NUMBER_WIDTH, ..room },
        )?;
        let other = self.pages.position();
        self.pages.move_to_end(if other > end { other } else { end });
        Ok(())
    }

    /// Lays out the footnotes that did not fit at the bottom of their sheet.
    ///
    /// # Errors
    /// The errors of [`Setter::flow`].
    pub(super) fn put_late_notes(&mut self) -> LayoutResult {
        // Footnotes are never nested.
        for note in std::mem::take(&mut self.late_notes) {
            self.pages.space(6.0);
            self.pages.take(0.0)?;
            self.put_note_text(&note.parts, note.number, note.tag)?;
        }
        Ok(())
    }
}

/// Returns a footnote moved down by `down`.
fn moved_down(note: Sheet, down: f32) -> Sheet {
    let mut out = Sheet::default();
    out.absorb(note, down);
    out
}
