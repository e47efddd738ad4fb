//! Store versions for caches of anonymous views.

use docs_macros::boxed;

use super::content_token;
use crate::{Result, platform::kernel::platform::Platform, store::StoreVersion};

/// A version of the store as seen by an anonymous visitor. It includes the expiry of content tokens issued at that
/// version.
///
/// While two versions of one platform are equal, [`resolve_url`](Platform::resolve_url) and everything read with the
/// token it returns are unchanged for an anonymous visitor, except search results. A cache must read the version before
/// it reads the data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AnonymousViewVersion {
    store: StoreVersion,
    tokens_end: i64,
}

impl AnonymousViewVersion {
    /// Returns the current version. It changes after every write by any process, and every few minutes because content
    /// tokens expire. Returns `None` if the store does not support versions.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the store is unavailable.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{Platform, Result, platform::AnonymousViewVersion};
    /// # async fn example(platform: &Platform, kept_at: AnonymousViewVersion) -> Result<()> {
    /// if AnonymousViewVersion::current(platform).await? == Some(kept_at) {
    ///     println!("nobody has changed anything since");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[boxed('_)]
    pub async fn current(platform: &Platform) -> Result<Option<Self>> {
        let store = platform.inner.store.version().await?;
        let tokens_end = content_token::token_expiry(platform.now());
        Ok(store.map(|store| Self { store, tokens_end }))
    }
}
