//! Work on blocking threads, and detached tasks.

use std::panic::resume_unwind;

use docs_store::{StoreError, StoreResult};
use tokio::task::{JoinError, JoinSet, spawn_blocking};

/// Runs work on a blocking thread. Once started it runs to completion, even if its future is dropped.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> StoreResult<T> {
    spawn_blocking(work).await.map_err(join_error)
}

/// Runs a future as a task, which is cancelled when this future is dropped.
///
/// A queue position that becomes available has to be taken. Without a task, a caller that holds the future without
/// polling it would block everything queued after it.
pub(super) async fn run_detached<T: Send + 'static>(
    future: impl Future<Output = StoreResult<T>> + Send + 'static,
) -> StoreResult<T> {
    let mut task = JoinSet::new();
    task.spawn(future);
    match task.join_next().await {
        Some(result) => result.map_err(join_error)?,
        None => Err(shutdown_error()),
    }
}

/// Returns the error for a task without a result. A panic is resumed in the caller.
fn join_error(error: JoinError) -> StoreError {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => shutdown_error(),
    }
}

fn shutdown_error() -> StoreError {
    StoreError::Unavailable("the program is shutting down".to_owned())
}
