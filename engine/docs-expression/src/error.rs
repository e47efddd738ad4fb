//! Errors of parsing and evaluation.

use std::borrow::Cow;

use super::limits::{MAX_ITEMS, MAX_STEPS, MAX_TEXT};

/// The error of parsing an invalid expression.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("character {position} {message}")]
pub struct ExpressionError {
    position: usize,
    pub(super) message: Cow<'static, str>,
}

impl ExpressionError {
    pub(super) fn new(source: &str, at: usize, message: impl Into<Cow<'static, str>>) -> Self {
        let position = source.get(..at).unwrap_or(source).chars().count() + 1;
        Self { position, message: message.into() }
    }

    /// Returns the position of the error in characters, starting at 1.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }
}

/// The error of a failed evaluation.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvalError {
    /// The step budget is exhausted.
    #[error("the evaluation must take at most {MAX_STEPS} steps")]
    Steps,
    /// Values or calls are nested too deeply.
    #[error("values or calls are nested too deeply")]
    TooDeep,
    /// A string exceeds [`MAX_TEXT`].
    #[error("a string must have at most {MAX_TEXT} bytes")]
    TextTooLong,
    /// An array exceeds [`MAX_ITEMS`].
    #[error("an array must have at most {MAX_ITEMS} items")]
    TooManyItems,
    /// A big integer overflowed.
    #[error("a big integer must have at most {} bits", i128::BITS - 1)]
    NumberTooBig,
    /// An operator or a method does not support the value.
    #[error("{0}")]
    Wrong(Cow<'static, str>),
}

impl EvalError {
    pub(super) fn wrong_value(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Wrong(message.into())
    }
}
