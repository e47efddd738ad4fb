//! Fair sharing of the rendering of pages. Without a limit, every request for a page that is not cached takes a thread
//! and the memory of a document at the same time.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use docs_core::{Error, Result, model::OrgId};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// The maximum number of pages that are rendered at the same time.
const MAX_RENDERINGS: usize = 8;
/// The maximum number of pages of one organization that are rendered at the same time.
const MAX_SHARE: usize = MAX_RENDERINGS / 2;

/// The pages that are being rendered, with the share of each organization.
#[derive(Debug)]
pub(crate) struct Renderings {
    all: Semaphore,
    shares: Mutex<HashMap<OrgId, Weak<Semaphore>>>,
}

/// Permission to render a page. Released on drop.
#[derive(Debug)]
pub(crate) struct Rendering<'r> {
    _share: OwnedSemaphorePermit,
    _all: SemaphorePermit<'r>,
}

impl Default for Renderings {
    fn default() -> Self {
        Self { all: Semaphore::new(MAX_RENDERINGS), shares: Mutex::default() }
    }
}

impl Renderings {
    /// Waits until a page of the organization may be rendered, in order of arrival.
    ///
    /// # Errors
    /// None: the semaphores are never closed.
    pub(crate) async fn begin(&self, org: &OrgId) -> Result<Rendering<'_>> {
        let share = self.share(org).acquire_owned().await.map_err(Error::internal)?;
        let all = self.all.acquire().await.map_err(Error::internal)?;
        Ok(Rendering { _share: share, _all: all })
    }

    fn share(&self, org: &OrgId) -> Arc<Semaphore> {
        let mut shares = self.shares.lock();
        if let Some(share) = shares.get(org).and_then(Weak::upgrade) {
            return share;
        }
        // Only organizations with waiting or rendering requests are kept.
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(MAX_SHARE));
        shares.insert(org.clone(), Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn renderings_of_one_organization_leave_half_to_others() {
        let renderings = Renderings::default();
        let begin = |org: &str| {
            let org: OrgId = org.parse().expect("an id");
            renderings.begin(&org).now_or_never().map(|rendering| rendering.expect("no error"))
        };
        let mut one: Vec<_> = (0..MAX_SHARE).map(|_| begin("one").expect("a share")).collect();
        assert!(begin("one").is_none());
        let other: Vec<_> = (0..MAX_SHARE).map(|_| begin("other").expect("the other half")).collect();
        assert!(begin("third").is_none());
        one.pop();
        let third = begin("third").expect("a free place");
        drop((one, other, third));
        assert!(begin("one").is_some());
        assert_eq!(renderings.shares.lock().len(), 1);
    }
}
