//! Errors of printing.

/// The error of a document with a block or element in an invalid position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Invalid {
    /// The position: `nodes[3].nodes[0]`.
    pub place: String,
    pub message: String,
}
