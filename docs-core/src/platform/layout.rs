//! The layout of the store: which rows follow from its records, whether they are those that this program needs, and
//! making them anew.

use super::{Platform, nouns::Caller};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    store::{Drift, EnsureLayout, KINDS, LAYOUT, RebuildStep, Start, verify},
};

/// The layout of stores that have records and no version: those of before there were versions.
const FIRST_LAYOUT: u32 = 1;

impl Platform {
    /// Checks that the rows of the store are those that this program reads and writes; a store without records is made
    /// one of them. Servers ask this before they do anything else.
    ///
    /// # Errors
    /// `Precondition` when a newer program wrote the store, when an older one did and the rows have to be
    /// [made anew](Caller::rebuild), and when that was begun and is not done; the store's.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the version stored or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// platform.check_layout().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_layout<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let ensure = EnsureLayout { kinds: KINDS, current: LAYOUT, first: FIRST_LAYOUT };
            let layout = self.upkeep(&ensure).await?;
            let refused = |why: String| Err(Error::new(ErrorKind::Precondition, why));
            match layout.version {
                newer if newer > LAYOUT => refused(format!(
                    "a newer program wrote this store: its layout is {newer}, and {LAYOUT} is the newest known here"
                )),
                _ if layout.rebuild.is_some() => refused(
                    "the rows of this store are being made anew: let `admin rebuild` come to its end"
                        .to_owned(),
                ),
                older if older < LAYOUT => refused(format!(
                    "an older program wrote this store: its layout is {older}, and {LAYOUT} is needed; stop all that \
                     use it, and run `admin rebuild`"
                )),
                _ => Ok(()),
            }
        })
    }
}

impl<'p> Caller<'p> {
    /// Recomputes every row of the store from the records, in one snapshot, and tells what differs. Only the platform
    /// itself may.
    ///
    /// # Errors
    /// `Forbidden` for users; the store's.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// assert!(platform.as_platform().verify().await?.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn verify(self) -> BoxFuture<'p, Result<Drift>> {
        Box::pin(async move {
            self.actor().require_platform()?;
            Ok(verify(self.platform.store().as_ref()).await?)
        })
    }

    /// Removes every row of the store that follows from records and makes it anew: index rows, unique values and
    /// counters. For a store whose layout is older, or that [`verify`](Self::verify) finds something wrong with. Only
    /// the platform itself may.
    ///
    /// **Nobody else may use the store meanwhile**: rows are missing until it is done, and
    /// [`check_layout`](Platform::check_layout) fails. It goes by bounded transactions, each of which notes how far it
    /// has come: one that was broken off goes on when it is called again.
    ///
    /// # Errors
    /// `Forbidden` for users; `Conflict` for a store of a newer layout; `Internal` when two records claim the same
    /// unique value, which the log names; the store's.
    ///
    /// # Cancel safety
    /// Dropping the future leaves a rebuild that was begun, to be called again.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// platform.as_platform().rebuild().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rebuild(self) -> BoxFuture<'p, Result<()>> {
        Box::pin(async move {
            self.actor().require_platform()?;
            let mut step = RebuildStep { kinds: KINDS, version: LAYOUT, start: Start::Begin };
            while !self.platform.upkeep(&step).await? {
                step.start = Start::Continue;
            }
            Ok(())
        })
    }
}
