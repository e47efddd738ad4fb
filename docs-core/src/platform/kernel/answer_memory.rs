//! Memory for large answers, which a server can limit.

use crate::BoxFuture;

/// Reserves memory for the answer of a request before it is built. Otherwise, a server without free memory would build
/// answers that it cannot send.
pub trait AnswerMemory: Send + Sync {
    /// Waits until memory for an answer of about this size is free, and reserves it for the request. Returns `false` if
    /// the wait was too long.
    fn reserve(&self, bytes: usize) -> BoxFuture<'_, bool>;
}

/// Memory without a limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnlimitedMemory;

impl AnswerMemory for UnlimitedMemory {
    fn reserve(&self, _: usize) -> BoxFuture<'_, bool> {
        Box::pin(async { true })
    }
}
