//! Moments: what visitors are told in one need not be found out again.

use super::pass;
use crate::{BoxFuture, Result, platform::Platform, store::StoreVersion};

/// Names what is kept of the platform at one moment, and for how long what is read by then is good.
///
/// In equal moments of one platform, [`resolve_url`](Platform::resolve_url) and all that is read with the token that it
/// answers are the same for a visitor of whom nothing is known, but for what a search finds. Whoever keeps something
/// asks for the moment before it is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Moment {
    store: StoreVersion,
    tokens_end: i64,
}

impl Moment {
    /// The moment of now: another one once anything was changed, by whatever process, and every few minutes, since
    /// content tokens end. `None` where the store cannot tell.
    ///
    /// # Errors
    /// `Unavailable` when the store is.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, platform::Moment};
    /// # async fn example(platform: &Platform, kept_at: Moment) -> Result<()> {
    /// if Moment::now(platform).await? == Some(kept_at) {
    ///     println!("nobody has changed anything since");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn now(platform: &Platform) -> BoxFuture<'_, Result<Option<Self>>> {
        Box::pin(async move {
            let store = platform.inner.store.version().await?;
            let tokens_end = pass::end_from(platform.now());
            Ok(store.map(|store| Self { store, tokens_end }))
        })
    }
}
