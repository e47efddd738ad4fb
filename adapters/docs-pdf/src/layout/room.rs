//! The area that content is laid out in.

use crate::{
    look::{INK, Ink, SIDE, SIZE, WIDTH},
    tags::TagId,
};

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
