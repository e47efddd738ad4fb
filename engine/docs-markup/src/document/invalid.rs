//! Errors during printing.

/// The error for a document with a block or element in an invalid position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Invalid {
    /// The position, such as `nodes[3].nodes[0]`.
    pub place: String,
    pub message: String,
}
