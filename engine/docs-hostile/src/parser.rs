//! The parsers under test.

/// A parser of untrusted input.
#[derive(Clone, Copy, Debug)]
pub struct Parser {
    /// The name for `DOCS_FUZZ_PARSER`.
    pub name: &'static str,
    /// The fragments of inputs.
    pub pieces: &'static [&'static str],
    /// Prefixes and suffixes of the repeated part.
    pub frames: &'static [(&'static str, &'static str)],
    /// Maximum length of an input in bytes: longer ones are rejected before parsing.
    pub most: usize,
    /// Constant memory in bytes that every input may use in addition to
    /// [`MAX_MEMORY_PER_BYTE`](crate::MAX_MEMORY_PER_BYTE) per byte.
    pub own: usize,
    /// The function under test.
    pub read: ParserFn,
}

/// The function under test and its input type.
#[derive(Clone, Copy, Debug)]
pub enum ParserFn {
    /// Parses the text itself.
    Text(fn(&str)),
    /// Parses bytes that are generated from the text. Their generation and size do not count.
    Bytes {
        /// Generates the bytes.
        make: fn(&str) -> Vec<u8>,
        /// Parses them.
        read: fn(&[u8]),
    },
}
