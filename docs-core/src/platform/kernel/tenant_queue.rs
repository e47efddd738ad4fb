//! Limits on concurrent work, in total and per organization.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Error, Result};

/// A queue for work that takes much CPU time. Queued work of one organization does not delay that of others.
///
/// # Example
/// ```
/// use docs_core::platform::TenantQueue;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> docs_core::Result<()> {
/// let queue = TenantQueue::new(8, 4);
/// let permit = queue.acquire("org1").await?;
/// // Work.
/// drop(permit);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct TenantQueue {
    all: Arc<Semaphore>,
    /// Organizations with running or queued work.
    tenants: Mutex<HashMap<Box<str>, Arc<Semaphore>>>,
    per_tenant: usize,
}

/// Permission to work. Dropping it admits the next task.
#[derive(Debug)]
pub struct WorkPermit {
    _tenant: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl TenantQueue {
    /// Creates a queue that admits `total` concurrent tasks, and `per_tenant` of each organization.
    #[must_use]
    pub fn new(total: usize, per_tenant: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(total)), tenants: Mutex::default(), per_tenant }
    }

    /// Waits for permission to work for an organization, given by its id or the domain of its objects, in order of
    /// arrival.
    ///
    /// # Errors
    /// Never fails in practice: the queue is never closed.
    ///
    /// # Cancel safety
    /// This method is cancel safe. A cancelled call loses its place in the queue.
    pub async fn acquire(&self, tenant: &str) -> Result<WorkPermit> {
        let own = self.tenant_semaphore(tenant);
        let tenant = own.acquire_owned().await.map_err(Error::internal)?;
        let all = Arc::clone(&self.all).acquire_owned().await.map_err(Error::internal)?;
        Ok(WorkPermit { _tenant: tenant, _all: all })
    }

    fn tenant_semaphore(&self, tenant: &str) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock();
        if let Some(own) = tenants.get(tenant) {
            return Arc::clone(own);
        }
        // A permit holds a reference too.
        tenants.retain(|_, own| Arc::strong_count(own) > 1);
        let own = Arc::new(Semaphore::new(self.per_tenant));
        tenants.insert(tenant.into(), Arc::clone(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, task::Poll};

    use super::*;

    async fn is_pending(turn: impl Future<Output = Result<WorkPermit>>) -> bool {
        let mut turn = pin!(turn);
        std::future::poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test]
    async fn queued_work_of_one_organization_does_not_delay_others() {
        let queue = TenantQueue::new(2, 1);
        let busy = queue.acquire("busy").await.expect("a permit");
        assert!(is_pending(queue.acquire("busy")).await, "the organization has its share");
        let other = queue.acquire("other").await.expect("a permit");
        assert!(is_pending(queue.acquire("third")).await, "all permits are taken");
        drop(busy);
        let _third = queue.acquire("third").await.expect("a permit");
        drop(other);
        let _fourth = queue.acquire("fourth").await.expect("a permit");
        assert_eq!(queue.tenants.lock().len(), 2, "organizations without work are removed");
    }
}
