//! Offloading of blocking work on long texts from the async runtime.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use docs_markup::document;
use docs_model::Document;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Maximum text size in bytes for processing inline. Handing a smaller text to another thread would take longer.
const MAX_INLINE: usize = 16 * 1024;

/// Parses Markdown into a document. A text of more than `MAX_INLINE` bytes is parsed on a blocking thread, so that it
/// does not block other tasks of the runtime. Without a tokio runtime, it is parsed inline.
pub async fn parse_document(markdown: &str) -> Document {
    run_on_text(markdown, document::parse).await
}

/// Yields to other tasks of the runtime. Does nothing without a tokio runtime. Long computations call this function
/// every few milliseconds.
pub async fn yield_to_others() {
    if Handle::try_current().is_ok() {
        tokio::task::yield_now().await;
    }
}

/// Yields to other tasks if the number of completed steps of a long computation is a multiple of `interval`.
pub async fn yield_after_each(interval: usize, done: usize) {
    if done.is_multiple_of(interval) {
        yield_to_others().await;
    }
}

/// Runs `work` on a blocking thread or, without a tokio runtime, inline. Returns `None` if `work` panicked or the
/// runtime is shutting down.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await.ok(),
        Err(_) => Some(work()),
    }
}

/// Reports to work on a blocking thread that its result is no longer awaited.
#[derive(Clone, Debug, Default)]
pub struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    /// Returns `true` if the result is no longer awaited. Long loops check it and end.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag of the work whose future is dropped.
#[derive(Default)]
struct CancelOnDrop(Cancelled);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` like [`run_blocking`]. If the future is dropped, the flag is set.
pub async fn run_cancellable<T: Send + 'static>(
    work: impl FnOnce(&Cancelled) -> T + Send + 'static,
) -> Option<T> {
    let guard = CancelOnDrop::default();
    let cancelled = guard.0.clone();
    run_blocking(move || work(&cancelled)).await
}

/// Runs `work` on the current thread. In a multi-threaded tokio runtime, the other tasks of this thread move to another
/// thread first, so that `work` may take long.
///
/// Unlike [`run_blocking`], `work` may borrow. Other futures of the same task wait for it.
///
/// # Panics
/// Within a [`LocalSet`](tokio::task::LocalSet) of a multi-threaded runtime, like
/// [`block_in_place`](tokio::task::block_in_place).
pub fn run_in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        _ => work(),
    }
}

/// Runs `work` on `text`, on a blocking thread if [`parse_document`] would use one.
///
/// # Example
/// ```
/// # use docs_content::run_on_text;
/// # async fn example(markdown: &str) {
/// let words = run_on_text(markdown, |text| text.split_whitespace().count()).await;
/// # let _ = words;
/// # }
/// ```
pub async fn run_on_text<T: Send + 'static>(
    text: &str,
    work: impl Fn(&str) -> T + Clone + Send + 'static,
) -> T {
    let runtime = match Handle::try_current() {
        Ok(runtime) if text.len() > MAX_INLINE => runtime,
        _ => return work(text),
    };
    let (shared, again): (Arc<str>, _) = (text.into(), work.clone());
    match runtime.spawn_blocking(move || again(&shared)).await {
        Ok(done) => done,
        // The runtime is shutting down, or the work panicked and panics here again.
        Err(_) => work(text),
    }
}
