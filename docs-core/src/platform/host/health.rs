//! Readiness and liveness.

use docs_macros::boxed;

use crate::{Result, platform::kernel::platform::Platform};

impl Platform {
    /// Checks that the platform can serve all requests: the store is readable and the search index has caught up once.
    ///
    /// For readiness probes. [`work`](Platform::work) builds the index.
    ///
    /// # Errors
    /// `Unavailable` until the index has caught up; errors of the store.
    #[boxed('a)]
    pub async fn ready<'a>(&'a self) -> Result<()> {
        self.health().await?;
        self.require_index().await
    }

    /// Checks that the store is readable. For liveness probes: succeeds while the search index is still being built.
    #[boxed('a)]
    pub async fn health<'a>(&'a self) -> Result<()> {
        let tx = self.read().await?;
        tx.get_value(&crate::store::KeyBuf::new("sys").part("ready").key()).await?;
        Ok(())
    }
}
