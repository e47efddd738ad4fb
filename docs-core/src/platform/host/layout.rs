//! Layout of the store: the derived rows of records, the layout version, and the rebuild.

use docs_macros::boxed;

use crate::{
    Error, ErrorKind, Result,
    platform::{kernel::platform::Platform, nouns::Caller},
    store::{EnsureLayout, IndexDrift, KINDS, LAYOUT, RebuildStep, StartPermission, verify},
};

/// Layout of stores that have records but no layout version.
const FIRST_LAYOUT: u32 = 1;

impl Platform {
    /// Checks that the store has the layout of this program. Initializes an empty store with it.
    ///
    /// Call it before any other operation.
    ///
    /// # Errors
    /// `Precondition` if the store was written by a newer program, if it was written by an older one and must be
    /// [rebuilt](Caller::rebuild), or if a rebuild is incomplete; errors of the store.
    ///
    /// # Cancel safety
    /// If the future is dropped, the version of an empty store may or may not have been written.
    #[boxed('a)]
    pub async fn check_layout<'a>(&'a self) -> Result<()> {
        let ensure = EnsureLayout { kinds: KINDS, current: LAYOUT, first: FIRST_LAYOUT };
        let layout = self.upkeep(&ensure).await?;
        let refused = |why: String| Err(Error::new(ErrorKind::Precondition, why));
        match layout.version {
            newer if newer > LAYOUT => refused(format!(
                "the store has layout {newer} of a newer program; this program supports up to {LAYOUT}"
            )),
            _ if layout.rebuild.is_some() => refused(
                "the rows of this store are being rebuilt; wait until `admin rebuild` has finished"
                    .to_owned(),
            ),
            older if older < LAYOUT => refused(format!(
                "the store has layout {older} of an older program, and {LAYOUT} is required; stop all \
                     servers and run `admin rebuild`"
            )),
            _ => Ok(()),
        }
    }
}

impl<'p> Caller<'p> {
    /// Recomputes all derived rows from the records, in one snapshot, and returns the differences. Reserved for the
    /// platform itself.
    ///
    /// # Errors
    /// `Forbidden` for users; errors of the store.
    #[boxed]
    pub async fn verify(self) -> Result<IndexDrift> {
        self.actor().require_platform()?;
        Ok(verify(self.platform.store().as_ref()).await?)
    }

    /// Removes all derived rows (index rows, unique values and counters) and recreates them from the records.
    ///
    /// Use it for a store with an older layout, or if [`verify`](Self::verify) reports differences. Reserved for the
    /// platform itself.
    ///
    /// **No other process may use the store during a rebuild**: rows are missing until it completes, and
    /// [`check_layout`](Platform::check_layout) fails. The rebuild runs in bounded transactions that record their
    /// progress. After an interruption, calling it again resumes it.
    ///
    /// # Errors
    /// `Forbidden` for users; `Conflict` for a store with a newer layout; `Internal` if two records claim the same
    /// unique value, which is logged; errors of the store.
    ///
    /// # Cancel safety
    /// If the future is dropped, the rebuild is incomplete and must be resumed.
    #[boxed]
    pub async fn rebuild(self) -> Result<()> {
        self.actor().require_platform()?;
        let mut step = RebuildStep { kinds: KINDS, version: LAYOUT, start: StartPermission::Begin };
        while !self.platform.upkeep(&step).await? {
            step.start = StartPermission::Continue;
        }
        Ok(())
    }
}
