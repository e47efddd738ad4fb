//! The state of the parser. Its methods are defined in the modules of the blocks that they parse.

use super::{inlines::LinkDefinitions, limits::MAX_BLOCKS, notes::Notes};

pub(super) struct BlockReader<'r> {
    pub(super) definitions: &'r LinkDefinitions,
    pub(super) notes: Notes,
    pub(super) depth: usize,
    pub(super) left: usize,
}

impl<'r> BlockReader<'r> {
    /// Creates a reader for text outside of any document.
    pub(super) fn new_detached(definitions: &'r LinkDefinitions, notes: Notes) -> Self {
        Self { definitions, notes, depth: 0, left: MAX_BLOCKS }
    }
}
