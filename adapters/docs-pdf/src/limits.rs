//! Limits of the typesetter.

use std::time::Duration;

/// Limits for a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of pages.
    pub pages: usize,
    /// Maximum number of parts: strings, blocks, cells, and lines of code. A heading counts as six parts, and so does a
    /// card. A part takes up to 450 bytes of memory, because it is also an element of the structure for screen readers.
    pub parts: usize,
    /// Maximum number of bytes of text. Reusable content counts each time that it is used. The layout of a byte takes
    /// about 5 bytes of memory.
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
            parts: 300_000,
            text: 16 << 20,
            bytes: 256 << 20,
            time: Duration::from_secs(60),
            at_once: 2,
        }
    }
}
