//! Tokens.

use std::sync::Arc;

/// A token and its position.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The offset of its first byte.
    pub(super) at: usize,
    /// The offset after its last byte.
    pub(super) end: usize,
    /// `true` if a line break precedes it.
    pub(super) newline: bool,
    /// The index of the matching closing bracket, for an opening bracket.
    pub(super) closes: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Number(f64),
    BigInt(i128),
    Text(Arc<str>),
    /// A piece of a template. `opens` marks the first piece, `more` a piece followed by a value.
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
