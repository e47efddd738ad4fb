//! The state of the printer. Its methods are defined in the modules of the blocks that they print.

use super::{super::invalid::Invalid, inlines::Labels};

/// The printing mode of top-level verbatim paragraphs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum VerbatimMode {
    Unchanged,
    /// As text if the Markdown parses differently outside of its context.
    Checked,
}

/// The handling of a block that cannot be represented in Markdown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnwritableMode {
    /// Returns an error.
    Refused,
    /// Prints the plain text of the block.
    Plain,
}

/// The state of printing.
pub(in super::super) struct Printer {
    pub(in super::super) labels: Labels,
    /// The path of the current block.
    pub(super) path: Vec<String>,
    /// `true` to check the printed text by parsing it.
    pub(super) is_checked: bool,
    pub(super) raw: VerbatimMode,
    pub(super) rest: UnwritableMode,
    /// The marker of the last printed list at each nesting level.
    pub(super) list_marks: Vec<Option<char>>,
}

impl Printer {
    /// Creates a printer with these labels.
    pub(super) fn with_labels(labels: Labels) -> Self {
        let (raw, rest) = (VerbatimMode::Checked, UnwritableMode::Refused);
        Self { labels, path: Vec::new(), is_checked: true, raw, rest, list_marks: vec![None] }
    }

    pub(in super::super) fn invalid(&self, message: impl Into<String>) -> Invalid {
        Invalid { place: self.path.join("."), message: message.into() }
    }
}
