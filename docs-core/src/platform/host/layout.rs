//! Layout of the store: the derived rows of its records, their version, and their rebuild.

use docs_macros::boxed;

use crate::{
    Error, ErrorKind, Result,
    platform::{kernel::platform::Platform, nouns::Caller},
    store::{EnsureLayout, IndexDrift, KINDS, LAYOUT, RebuildStep, StartPermission, verify},
};

/// Layout of stores that have records but no version, from before layouts were versioned.
const FIRST_LAYOUT: u32 = 1;

impl Platform {
    /// Checks that the store has the layout of this program. An empty store is initialized with it.
    ///
    /// Call it before any other operation.
    ///
    /// # Errors
    /// `Precondition` if a newer program wrote the store, if an older one did and the rows have to be
    /// [rebuilt](Caller::rebuild), and if a rebuild is incomplete; errors of the store.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the version of an empty store either written or not.
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
    /// `Forbidden` for users; the store's.
    #[boxed]
    pub async fn verify(self) -> Result<IndexDrift> {
        self.actor().require_platform()?;
        Ok(verify(self.platform.store().as_ref()).await?)
    }

    /// Removes all derived rows, which are index rows, unique values and counters, and recreates them from the records.
    ///
    /// For a store with an older layout, or for which [`verify`](Self::verify) reports differences. Reserved for the
    /// platform itself.
    ///
    /// **No other process may use the store during a rebuild**: rows are missing until it completes, and
    /// [`check_layout`](Platform::check_layout) fails. It consists of bounded transactions that record their progress.
    /// An interrupted rebuild resumes when it is called again.
    ///
    /// # Errors
    /// `Forbidden` for users; `Conflict` for a store of a newer layout; `Internal` if two records claim the same unique
    /// value, which is logged; errors of the store.
    ///
    /// # Cancel safety
    /// Dropping the future leaves an incomplete rebuild, which has to be resumed.
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
