//! Limits of parsing and printing.

/// Maximum nesting of blocks. Deeper ones are preserved verbatim.
pub(super) const MAX_BLOCK_DEPTH: usize = 20;

/// Maximum number of blocks. The rest of the text is preserved verbatim.
pub(super) const MAX_BLOCKS: usize = 20_000;

/// Maximum number of times that a block is printed and parsed before it is preserved verbatim.
pub(super) const MAX_SETTLING_PASSES: usize = 3;
