//! Limits of parsing and printing.

/// Maximum nesting of blocks; deeper ones are preserved verbatim.
pub(super) const MAX_BLOCK_DEPTH: usize = 20;

/// Maximum number of blocks; the rest is preserved verbatim.
pub(super) const MAX_BLOCKS: usize = 20_000;

/// Number of times a block is written and parsed before it is preserved verbatim.
pub(super) const MAX_SETTLING_PASSES: usize = 3;
