//! The position of a node during rendering, with depth limits.

/// The maximum nesting depth of blocks and inline elements. Deeper content is shown as plain text.
const MAX_NODE_DEPTH: usize = 40;
/// The maximum nesting depth of reusable content blocks.
pub(super) const MAX_REUSE_DEPTH: usize = 5;

/// The position of a node during rendering.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodePosition {
    /// The number of enclosing blocks and inline elements.
    pub(super) depth: usize,
    /// The number of enclosing reusable content blocks.
    pub(super) reuses: usize,
    /// `true` within descriptions from OpenAPI specifications.
    pub(super) is_told: bool,
}

impl NodePosition {
    pub(super) const fn child(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    pub(super) const fn is_too_deep(self) -> bool {
        self.depth > MAX_NODE_DEPTH
    }
}
