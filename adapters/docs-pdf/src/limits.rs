//! Limits of the typesetter.

use std::time::Duration;

/// Limits for a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of pages.
    pub pages: usize,
    /// Maximum number of parts: strings, blocks, cells, and lines of code.
    pub parts: usize,
    /// Maximum number of bytes of text. Reusable content counts each time that it is used.
    pub text: usize,
    /// Maximum size of the file in bytes.
    pub bytes: usize,
    /// Maximum time to typeset a book.
    pub time: Duration,
    /// Maximum number of concurrently typeset books. Further books wait.
    pub at_once: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pages: 5_000,
            parts: 1_000_000,
            text: 16 << 20,
            bytes: 256 << 20,
            time: Duration::from_secs(60),
            at_once: 2,
        }
    }
}
