//! Layout of the content tree on sheets: [`Setter`].

mod code;
mod contents;
mod figures;
mod foot;
mod headings;
mod inline;
mod lists;
mod notes;
mod panels;
mod paragraph;
mod table;

use std::rc::Rc;

use parley::FontContext;

use crate::{
    fonts::{Faces, Fonts},
    formula::FormulaFonts,
    look::{INK, Ink, SIDE, SIZE, WIDTH},
    pages::Pager,
    sheet::{Label, Sheet},
    shown::{Parts, Shown, Tag},
    stop::{Clock, Done, Stop},
    tags::{Role, TagId, Tags},
};

pub(crate) use contents::Front;
pub(crate) use foot::number_sheets;
use paragraph::{Families, Writer};

/// The horizontal alignment of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Start,
    Center,
    End,
}

impl Side {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "center" => Self::Center,
            "end" => Self::End,
            _ => Self::Start,
        }
    }
}

/// The area that content is laid out in, and its text style.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) x: f32,
    pub(crate) width: f32,
    /// Font size in points.
    pub(crate) size: f32,
    /// Line height, relative to the font size.
    pub(crate) leading: f32,
    /// Space between paragraphs.
    pub(crate) gap: f32,
    pub(crate) ink: Ink,
    pub(crate) bold: bool,
    /// `true` for text in the code font.
    pub(crate) code: bool,
    pub(crate) side: Side,
    /// Indentation of lines after the first.
    pub(crate) hanging: f32,
    /// Number of enclosing lists.
    pub(crate) lists: usize,
    /// The parent in the tag tree.
    pub(crate) tag: TagId,
}

impl Room {
    /// The full content area of a sheet.
    pub(crate) const fn sheet() -> Self {
        Self {
            x: SIDE,
            width: WIDTH,
            size: SIZE,
            leading: 1.3,
            gap: 4.4,
            ink: INK,
            bold: false,
            code: false,
            side: Side::Start,
            hanging: 0.0,
            lists: 0,
            tag: TagId::BOOK,
        }
    }

    /// Returns the area with insets on the left and right.
    pub(crate) fn within(self, left: f32, right: f32) -> Self {
        Self { x: self.x + left, width: (self.width - left - right).max(8.0), ..self }
    }

    pub(crate) const fn tagged(self, tag: TagId) -> Self {
        Self { tag, ..self }
    }
}

/// The target of a link.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A label, otherwise the label of its page, otherwise an address.
    Named { to: Option<String>, page: Option<String>, url: Option<String> },
    /// A position in the book: a sheet counted from the first page, and a vertical position.
    Position { sheet: usize, y: f32 },
}

/// A note that is too long for the foot of a sheet. It is placed at the end of its page.
struct LateNote {
    number: usize,
    parts: Parts,
    tag: TagId,
}

/// Lays out a book.
pub(crate) struct Setter {
    pub(crate) clock: Clock,
    pub(crate) faces: Faces,
    pub(crate) tags: Tags,
    pub(crate) targets: Vec<Target>,
    /// `true` if the table of contents lists headings within pages.
    lists_headings: bool,
    pages: Pager,
    families: Families,
    fonts: FontContext,
    writer: Writer,
    formulas: FormulaFonts,
    notes: usize,
    late_notes: Vec<LateNote>,
}

impl Setter {
    pub(crate) fn new(fonts: &Fonts, clock: Clock, pages: usize) -> Self {
        Self {
            clock,
            faces: Faces::default(),
            tags: Tags::new(),
            targets: Vec::new(),
            // Only a book with a single page lists its headings.
            lists_headings: pages <= 1,
            pages: Pager::new(),
            families: Families { text: fonts.text(), code: fonts.code() },
            fonts: FontContext { collection: fonts.collection.clone(), source_cache: Default::default() },
            writer: Writer::new(),
            formulas: FormulaFonts::default(),
            notes: 0,
            late_notes: Vec::new(),
        }
    }

    /// Takes the sheets laid out since the last call.
    pub(crate) fn take_sheets(&mut self) -> Vec<Sheet> {
        std::mem::replace(&mut self.pages, Pager::new()).finish()
    }

    /// Lays out parts one below the other.
    ///
    /// # Errors
    /// Every kind of [`Stop`], as all layout functions: the time limit may be exceeded, and a trial layout may not fit.
    pub(crate) fn flow(&mut self, parts: &[Shown], room: &Room) -> Done {
        let flat = flattened(parts);
        let mut rest = flat.as_slice();
        while let Some(first) = rest.first() {
            if is_inline(first) {
                let end = rest.iter().position(|part| !is_inline(part)).unwrap_or(rest.len());
                let (text, after) = rest.split_at(end);
                let tag = self.tags.add(room.tag, Role::Paragraph);
                self.paragraph(text, &room.tagged(tag))?;
                rest = after;
            } else {
                self.block(first, &rest[1..], room)?;
                rest = &rest[1..];
            }
        }
        Ok(())
    }

    fn block(&mut self, part: &Shown, after: &[&Shown], room: &Room) -> Done {
        self.clock.check()?;
        let Shown::Tag(tag) = part else { return Ok(()) };
        match &**tag {
            Tag::Par { c, align } => {
                let tag = self.tags.add(room.tag, Role::Paragraph);
                let side = if *align == "start" { room.side } else { Side::of(align) };
                let parts = flattened(c);
                self.paragraph(&parts, &Room { side, tag, ..*room })
            }
            Tag::Heading { .. } => self.heading(tag, after, room),
            Tag::List { items, start } => self.list(items, *start, room),
            Tag::Tasks { items } => self.tasks(items, room),
            Tag::Steps { items } => self.steps(items, room),
            Tag::Rule => self.rule(room),
            Tag::Quote { c } => self.quote(c, room),
            Tag::Hint { c, style } => self.hint(c, style, room),
            Tag::Card { c, note } => self.card(c, note.as_deref(), room),
            Tag::Titled { title, c, kind } => self.titled(title, c, kind, room),
            Tag::Code { title, numbers, whole, lines } => self.code(
                &code::Listing { title: title.as_deref(), numbers: *numbers, whole: *whole, lines },
                room,
            ),
            Tag::Image { .. } => self.image(tag, room),
            Tag::Images { items, align } => self.images(items, align, room),
            Tag::Math { formula, source, .. } => self.formula(formula, source, room),
            Tag::Columns { widths, items } => self.columns(widths, items, room),
            Tag::Table { widths, aligns, head, rows, size } => {
                self.table(&table::Grid { widths, aligns, head, rows, size: *size }, room)
            }
            Tag::Cards { across, items } => self.cards(*across, items, room),
            // All other tags are inline.
            _ => Ok(()),
        }
    }

    /// Lays out content as one piece with a maximum height. Returns `None` if it is higher.
    fn piece(&mut self, height: f32, lay: impl FnOnce(&mut Self) -> Done) -> Done<Option<(Sheet, f32)>> {
        let (tags, notes, late) = (self.tags.len(), self.notes, self.late_notes.len());
        let pages = std::mem::replace(&mut self.pages, Pager::trial(height));
        let laid = lay(self);
        let trial = std::mem::replace(&mut self.pages, pages);
        match laid {
            Ok(()) => Ok(Some(trial.piece())),
            Err(Stop::Full) => {
                self.tags.forget(tags);
                self.notes = notes;
                self.late_notes.truncate(late);
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Keeps content on one sheet if it is not higher than a fraction of a sheet.
    fn together(&mut self, part: f32, mut lay: impl FnMut(&mut Self) -> Done) -> Done {
        // A trial layout is always in one piece.
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
    fn label(&mut self, name: &str, y: f32) {
        self.pages.sheet().labels.push(Label { name: Rc::from(name), y });
    }
}

/// Flattens nested lists of parts.
fn flattened(parts: &[Shown]) -> Vec<&Shown> {
    let mut out = Vec::with_capacity(parts.len());
    let mut stack: Vec<&Shown> = parts.iter().rev().collect();
    while let Some(part) = stack.pop() {
        match part {
            Shown::Parts(parts) => stack.extend(parts.iter().rev()),
            part => out.push(part),
        }
    }
    out
}

/// Returns `true` if a part is inline content.
fn is_inline(part: &Shown) -> bool {
    match part {
        Shown::Text(_) => true,
        Shown::Parts(_) => false,
        Shown::Tag(tag) => matches!(
            &**tag,
            Tag::Styled(_)
                | Tag::Link { .. }
                | Tag::Glyph { .. }
                | Tag::Math { block: false, .. }
                | Tag::Note { .. }
                | Tag::Button { .. }
                | Tag::Check { .. }
        ),
    }
}
