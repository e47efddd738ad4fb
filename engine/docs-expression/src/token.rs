//! Tokens.

use std::sync::Arc;

/// A token and its position.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The offset of the first byte.
    pub(super) at: usize,
    /// The offset after the last byte.
    pub(super) end: usize,
    /// `true` if the token follows a line break.
    pub(super) newline: bool,
    /// For an opening bracket, the index of the matching closing bracket.
    pub(super) closes: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Number(f64),
    BigInt(i128),
    Text(Arc<str>),
    /// A section of template text. `opens` marks the first section, and `more` a section followed by a value.
    Template {
        text: Arc<str>,
        opens: bool,
        more: bool,
    },
    Regex {
        body: Arc<str>,
        flags: Arc<str>,
    },
    Name(Arc<str>),
    Sign(&'static str),
    End,
}
