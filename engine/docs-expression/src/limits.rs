//! Limits on parsing and evaluation.

/// Maximum length of an expression in characters.
pub const MAX_LENGTH: usize = 1_024;

/// Maximum nesting depth of an expression. Parentheses, arguments and prefix operators count.
pub const MAX_EXPRESSION_DEPTH: usize = 50;

/// Maximum number of steps of an evaluation.
pub const MAX_STEPS: u32 = 100_000;

/// Maximum number of items in an array that an expression creates.
pub const MAX_ITEMS: usize = 10_000;

/// Maximum size in bytes of a string that an expression creates.
pub const MAX_TEXT: usize = 100_000;

/// Number of bytes of a string that can be produced or compared in one step.
pub(super) const BYTES_A_STEP: usize = 16;

/// Number of names in a scope that can be compared in one step.
pub(super) const NAMES_A_STEP: usize = 16;
