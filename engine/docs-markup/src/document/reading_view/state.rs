//! The state of a reading view while it is built.

use std::{cell::Cell, collections::HashMap, rc::Rc};

use docs_model::{Block, Document, Inline, InlineKind, Node};

use super::labels::Labels;

/// Memory in bytes available to the new blocks of any view, and additional memory per byte of parsed text.
const MIN_MEMORY_BUDGET: usize = 4 * 1024 * 1024;
pub(super) const MEMORY_PER_BYTE: usize = 24;
/// Maximum total size in bytes of the link destinations that references may repeat.
const MAX_REPEATED_DESTINATION_BYTES: usize = 256 * 1024;

/// The state of a view.
pub(super) struct View {
    pub(super) labels: Rc<Labels>,
    /// The bodies of footnotes, by normalized label.
    pub(super) notes: HashMap<String, Vec<Block>>,
    /// The annotations of the column titles of the last table. A title is plain text.
    pub(super) title_notes: Vec<Inline>,
    /// The further anchors of the last heading, which has one anchor of its own.
    pub(super) heading_anchors: Vec<String>,
    /// The number of annotations so far.
    pub(super) annotations: usize,
    /// The number of footnote references so far.
    pub(super) references: usize,
    /// `true` within a comment that a previous block of the same level opened.
    pub(super) is_hidden: bool,
    /// The dropped elements that end in a later block of the same level.
    pub(super) ends_later: Vec<&'static str>,
    /// The dropped element that the current block opened and a later block ends.
    pub(super) open_element: Option<&'static str>,
    /// The remaining memory budget for new blocks, in bytes.
    pub(super) memory_left: usize,
    /// The remaining budget for repeated destinations, in bytes.
    pub(super) destination_bytes_left: Rc<Cell<usize>>,
}

impl View {
    pub(super) fn new(document: &Document) -> Self {
        Self {
            labels: Rc::new(Labels::of(document)),
            notes: HashMap::new(),
            title_notes: Vec::new(),
            heading_anchors: Vec::new(),
            annotations: 0,
            references: 0,
            is_hidden: false,
            ends_later: Vec::new(),
            open_element: None,
            memory_left: MIN_MEMORY_BUDGET,
            destination_bytes_left: Rc::new(Cell::new(MAX_REPEATED_DESTINATION_BYTES)),
        }
    }

    /// Retains the annotations of a column title.
    pub(super) fn keep_title_notes(&mut self, nodes: &[Node]) {
        let notes = nodes.iter().filter_map(|node| match node {
            Node::Inline(inline) if inline.kind == (InlineKind::Annotation {}) => Some(inline.clone()),
            _ => None,
        });
        self.title_notes.extend(notes);
    }

    /// Returns the number of the next footnote reference.
    pub(super) fn number(&mut self) -> String {
        self.references += 1;
        self.references.to_string()
    }

    /// Deducts the bytes of a destination from the budget for repeated destinations. Returns `false` if it is
    /// exhausted.
    pub(super) fn repeat_destination(&self, bytes: usize) -> bool {
        let left = self.destination_bytes_left.get().checked_sub(bytes);
        left.inspect(|left| self.destination_bytes_left.set(*left)).is_some()
    }

    /// Deducts bytes from the memory budget. Returns `false` if the budget is exhausted.
    pub(super) const fn take(&mut self, bytes: usize) -> bool {
        let is_enough = self.memory_left >= bytes;
        self.memory_left = self.memory_left.saturating_sub(bytes);
        is_enough
    }
}
