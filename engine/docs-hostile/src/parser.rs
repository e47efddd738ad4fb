//! The parsers under test.

/// A parser of untrusted input.
#[derive(Clone, Copy, Debug)]
pub struct Parser {
    /// The name used in `DOCS_FUZZ_PARSER`.
    pub name: &'static str,
    /// The fragments from which inputs are generated.
    pub pieces: &'static [&'static str],
    /// Prefixes and suffixes of the repeated part.
    pub frames: &'static [(&'static str, &'static str)],
    /// Maximum length of an input in bytes. The parser rejects longer inputs without parsing.
    pub most: usize,
    /// Constant memory in bytes available to each input, in addition to
    /// [`MAX_MEMORY_PER_BYTE`](crate::MAX_MEMORY_PER_BYTE) per byte.
    pub own: usize,
    /// The function under test.
    pub read: ParserFn,
}

/// The function under test and its input type.
#[derive(Clone, Copy, Debug)]
pub enum ParserFn {
    /// Parses the generated text.
    Text(fn(&str)),
    /// Parses bytes generated from the text. Their generation and size are not measured.
    Bytes {
        /// Generates the bytes.
        make: fn(&str) -> Vec<u8>,
        /// Parses the bytes.
        read: fn(&[u8]),
    },
}
