//! The area where content is laid out.

use crate::{
    appearance::{CONTENT_WIDTH, FONT_SIZE, INK, RgbColor, SIDE_MARGIN},
    tags::TagId,
};

/// Horizontal text alignment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextAlignment {
    Start,
    Center,
    End,
}

impl TextAlignment {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "center" => Self::Center,
            "end" => Self::End,
            _ => Self::Start,
        }
    }
}

/// The area where content is laid out, with its text style.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutArea {
    pub(crate) x: f32,
    pub(crate) width: f32,
    /// Font size in points.
    pub(crate) size: f32,
    /// Line height relative to the font size.
    pub(crate) leading: f32,
    /// Space between paragraphs.
    pub(crate) gap: f32,
    pub(crate) ink: RgbColor,
    pub(crate) bold: bool,
    /// `true` for text in the code font.
    pub(crate) code: bool,
    pub(crate) side: TextAlignment,
    /// Indentation of all lines except the first.
    pub(crate) hanging: f32,
    /// Number of enclosing lists.
    pub(crate) lists: usize,
    /// The parent in the tag tree.
    pub(crate) tag: TagId,
}

impl LayoutArea {
    /// Returns the full content area of a sheet.
    pub(crate) const fn sheet() -> Self {
        Self {
            x: SIDE_MARGIN,
            width: CONTENT_WIDTH,
            size: FONT_SIZE,
            leading: 1.3,
            gap: 4.4,
            ink: INK,
            bold: false,
            code: false,
            side: TextAlignment::Start,
            hanging: 0.0,
            lists: 0,
            tag: TagId::BOOK,
        }
    }

    /// Returns the area with insets on the left and right.
    pub(crate) fn inset(self, left: f32, right: f32) -> Self {
        Self { x: self.x + left, width: (self.width - left - right).max(8.0), ..self }
    }

    pub(crate) const fn with_tag(self, tag: TagId) -> Self {
        Self { tag, ..self }
    }
}
