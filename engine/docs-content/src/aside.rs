//! Work on long texts, done where nobody waits for it.

use std::sync::Arc;

use docs_markup::document;
use docs_model::Document;
use tokio::runtime::Handle;

/// Texts of fewer bytes are read at once: to hand them over would take longer than to read them.
const MAX_INLINE: usize = 16 * 1024;

/// Reads Markdown as a document. A long text is read by a thread for work that takes time, so that other tasks of the
/// runtime go on; without a runtime of tokio, it is read at once.
pub async fn parse_document(markdown: &str) -> Document {
    work_on(markdown, document::parse).await
}

/// Lets other tasks of the runtime run; does nothing without a runtime of tokio. Long computations call it between
/// parts of a few milliseconds.
pub async fn yield_to_others() {
    if Handle::try_current().is_ok() {
        tokio::task::yield_now().await;
    }
}

/// Does work on a thread for blocking work; without a runtime of tokio, at once.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn_blocking(work).await.ok(),
        Err(_) => Some(work()),
    }
}

/// Does something with a text in the same way.
///
/// # Example
/// ```
/// # use docs_content::work_on;
/// # async fn example(markdown: &str) {
/// let words = work_on(markdown, |text| text.split_whitespace().count()).await;
/// # let _ = words;
/// # }
/// ```
pub async fn work_on<T: Send + 'static>(text: &str, work: impl Fn(&str) -> T + Clone + Send + 'static) -> T {
    let runtime = match Handle::try_current() {
        Ok(runtime) if text.len() > MAX_INLINE => runtime,
        _ => return work(text),
    };
    let (shared, again): (Arc<str>, _) = (text.into(), work.clone());
    match runtime.spawn_blocking(move || again(&shared)).await {
        Ok(done) => done,
        // A runtime that ends takes no more work; what panicked there does so here.
        Err(_) => work(text),
    }
}
