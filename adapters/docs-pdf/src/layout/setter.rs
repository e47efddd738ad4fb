//! State of the layout: [`Setter`].

use std::rc::Rc;

use parley::FontContext;

use super::shaper::{Families, ShaperState};
use crate::{
    fonts::{BookFonts, Fonts},
    formula::FormulaFonts,
    layout_tree::ShownParts,
    pages::Pager,
    sheet::{Label, Sheet},
    tags::{TagId, Tags},
    termination::{Clock, LayoutResult, LayoutStop},
};

/// Target of a link.
#[derive(Clone, Debug)]
pub(crate) enum LinkDestination {
    /// The label `to`; if it does not exist, the label `page`; otherwise the URL.
    Named { to: Option<String>, page: Option<String>, url: Option<String> },
    /// A position in the book: a sheet, counted from the first page, and a vertical position.
    Position { sheet: usize, y: f32 },
}

/// A footnote that is too long for the bottom of a sheet. It is placed at the end of its page.
pub(super) struct LateNote {
    pub(super) number: usize,
    pub(super) parts: ShownParts,
    pub(super) tag: TagId,
}

/// Lays out a book.
pub(crate) struct Setter {
    pub(crate) clock: Clock,
    pub(crate) faces: BookFonts,
    pub(crate) tags: Tags,
    pub(crate) targets: Vec<LinkDestination>,
    /// `true` if the table of contents lists headings within pages.
    pub(super) lists_headings: bool,
    pub(super) pages: Pager,
    pub(super) families: Families,
    pub(super) fonts: FontContext,
    pub(super) writer: ShaperState,
    pub(super) formulas: FormulaFonts,
    pub(super) notes: usize,
    pub(super) late_notes: Vec<LateNote>,
}

impl Setter {
    pub(crate) fn new(fonts: &Fonts, clock: Clock, pages: usize) -> Self {
        Self {
            clock,
            faces: BookFonts::default(),
            tags: Tags::new(),
            targets: Vec::new(),
            // Only a book with a single page lists the headings within it.
            lists_headings: pages <= 1,
            pages: Pager::new(),
            families: Families { text: fonts.text(), code: fonts.code() },
            fonts: FontContext { collection: fonts.collection.clone(), source_cache: Default::default() },
            writer: ShaperState::new(),
            formulas: FormulaFonts::default(),
            notes: 0,
            late_notes: Vec::new(),
        }
    }

    /// Returns the sheets laid out since the last call.
    pub(crate) fn take_sheets(&mut self) -> Vec<Sheet> {
        std::mem::replace(&mut self.pages, Pager::new()).finish()
    }

    /// Runs a trial layout without sheet breaks. Returns the result and its height, or `None` if it exceeds `height`.
    pub(super) fn piece(
        &mut self,
        height: f32,
        lay: impl FnOnce(&mut Self) -> LayoutResult,
    ) -> LayoutResult<Option<(Sheet, f32)>> {
        let (tags, notes, late) = (self.tags.len(), self.notes, self.late_notes.len());
        let pages = std::mem::replace(&mut self.pages, Pager::for_trial(height));
        let laid = lay(self);
        let trial = std::mem::replace(&mut self.pages, pages);
        match laid {
            Ok(()) => Ok(Some(trial.piece())),
            Err(LayoutStop::Full) => {
                self.tags.forget(tags);
                self.notes = notes;
                self.late_notes.truncate(late);
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Keeps content on one sheet if its height is at most a fraction of a sheet.
    pub(super) fn keep_together(
        &mut self,
        part: f32,
        mut lay: impl FnMut(&mut Self) -> LayoutResult,
    ) -> LayoutResult {
        // A trial layout has no sheet breaks.
        if self.pages.is_trial() {
            return lay(self);
        }
        let most = self.pages.height() * part;
        let gap = self.pages.take_gap();
        let piece = self.piece(most, &mut lay)?;
        self.pages.space(gap);
        let Some((piece, height)) = piece else { return lay(self) };
        let after = piece.gap_after;
        if !self.pages.is_at_top() && !self.pages.fits(height, piece.notes_height) {
            self.pages.next()?;
        }
        self.pages.put(piece, height)?;
        self.pages.space(after);
        Ok(())
    }

    /// Adds a link target at a vertical position.
    pub(super) fn label(&mut self, name: &str, y: f32) {
        self.pages.sheet().labels.push(Label { name: Rc::from(name), y });
    }
}
