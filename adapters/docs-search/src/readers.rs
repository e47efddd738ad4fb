//! Limits on concurrent reads of an index, in total and per tenant.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Maximum number of concurrent reads. Further reads are queued.
const MAX_CONCURRENT_READS: usize = 4;
/// Maximum number of concurrent searches per tenant. A tenant's further searches do not delay other tenants.
const TENANT_READERS: usize = 2;

/// The queue for reads.
pub(crate) struct Readers {
    all: Arc<Semaphore>,
    /// Tenants with a running or queued search.
    tenants: Mutex<HashMap<Box<str>, Arc<Semaphore>>>,
}

/// Permission to read. Dropping it admits the next read.
pub(crate) struct ReadPermit {
    _tenant: Option<OwnedSemaphorePermit>,
    _all: OwnedSemaphorePermit,
}

impl Readers {
    pub(crate) fn new() -> Self {
        Self { all: Arc::new(Semaphore::new(MAX_CONCURRENT_READS)), tenants: Mutex::default() }
    }

    /// Waits for permission to search, or to perform a read of the platform itself, which has no tenant.
    pub(crate) async fn acquire(&self, tenant: Option<&str>) -> Result<ReadPermit, AcquireError> {
        let tenant = match tenant {
            Some(tenant) => Some(self.tenant_semaphore(tenant).acquire_owned().await?),
            None => None,
        };
        Ok(ReadPermit { _tenant: tenant, _all: Arc::clone(&self.all).acquire_owned().await? })
    }

    fn tenant_semaphore(&self, tenant: &str) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock();
        if let Some(own) = tenants.get(tenant) {
            return Arc::clone(own);
        }
        tenants.retain(|_, own| Arc::strong_count(own) > 1);
        let own = Arc::new(Semaphore::new(TENANT_READERS));
        tenants.insert(tenant.into(), Arc::clone(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, task::Poll};

    use super::*;

    async fn is_pending(turn: impl Future<Output = Result<ReadPermit, AcquireError>>) -> bool {
        let mut turn = pin!(turn);
        std::future::poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test]
    async fn searches_of_one_tenant_leave_readers_to_others() {
        let readers = Readers::new();
        let turn = async |tenant| readers.acquire(tenant).await.expect("a turn");
        let busy = [turn(Some("busy")).await, turn(Some("busy")).await];
        assert!(is_pending(readers.acquire(Some("busy"))).await, "it has its share");
        let others = [turn(Some("other")).await, turn(None).await];
        assert!(is_pending(readers.acquire(Some("third"))).await, "all readers are busy");
        drop(others);
        let third = turn(Some("third")).await;
        drop(busy);
        let _busy = turn(Some("busy")).await;
        drop(third);
        let _fourth = turn(Some("fourth")).await;
        assert_eq!(readers.tenants.lock().len(), 2, "tenants without a search are removed");
    }
}
