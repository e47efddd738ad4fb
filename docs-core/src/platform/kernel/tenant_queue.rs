//! Limits on concurrent work, in total and per organization, with turns for owners and their organizations.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::{Error, Result, platform::kernel::tenant::Tenant};

/// A queue for work that takes much CPU time. Queued work of one organization does not delay that of others.
///
/// A free place goes to the waiting owner of organizations with the fewest places, and among those to the one that has
/// waited longest since it last received or returned a place. Among the organizations of an owner, the same rule
/// applies.
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
pub struct TenantQueue(Arc<Mutex<QueueState>>);

/// Permission to work. Dropping it admits the next task.
#[derive(Debug)]
pub struct WorkPermit {
    queue: Arc<Mutex<QueueState>>,
    tenant: Tenant,
}

impl Drop for WorkPermit {
    fn drop(&mut self) {
        let granted = {
            let mut state = self.queue.lock();
            state.release(&self.tenant);
            state.grant(&self.queue)
        };
        send(granted);
    }
}

/// A place in the queue. Dropping it leaves the queue.
struct Waiting<'q> {
    queue: &'q TenantQueue,
    tenant: &'q Tenant,
    number: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.queue.0.lock().leave(self.tenant, self.number);
    }
}

impl TenantQueue {
    /// Creates a queue that admits `total` concurrent tasks, and `per_tenant` of each organization.
    #[must_use]
    pub fn new(total: usize, per_tenant: usize) -> Self {
        let state = QueueState { free: total, per_tenant, ..QueueState::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Waits for permission to work for an organization, given by its id or the domain of its objects, or for a user.
    ///
    /// # Errors
    /// Never fails in practice: the queue is never closed.
    ///
    /// # Cancel safety
    /// This method is cancel safe. A cancelled call loses its place in the queue.
    pub async fn acquire(&self, tenant: &str) -> Result<WorkPermit> {
        self.acquire_for(&tenant.into()).await
    }

    /// Waits for permission to work for an organization, in turn with the other organizations of its owner.
    ///
    /// # Errors
    /// Never fails in practice: the queue is never closed.
    ///
    /// # Cancel safety
    /// This method is cancel safe. A cancelled call loses its place in the queue.
    pub async fn acquire_for(&self, tenant: &Tenant) -> Result<WorkPermit> {
        let (admit, admitted) = oneshot::channel();
        let (number, granted) = {
            let mut state = self.0.lock();
            let number = state.join(tenant, admit);
            (number, state.grant(&self.0))
        };
        // Dropped before the receiver, so that a permit that was sent already is returned by the receiver.
        let _waiting = Waiting { queue: self, tenant, number };
        send(granted);
        admitted.await.map_err(Error::internal)
    }
}

/// A granted permit, with its recipient.
type Granted = (oneshot::Sender<WorkPermit>, WorkPermit);

/// Sends permits. The queue must not be locked, because the permit of a cancelled call is returned.
fn send(granted: Vec<Granted>) {
    for (recipient, permit) in granted {
        // A call that is cancelled at this moment returns its permit to the queue.
        drop(recipient.send(permit));
    }
}

/// The order in which owners, or the organizations of one owner, receive a place: by the number of their places, then
/// by their turn.
type Order = (usize, u64, Arc<str>);

#[derive(Debug, Default)]
struct QueueState {
    free: usize,
    per_tenant: usize,
    /// The number of the next turn or call.
    next: u64,
    /// Owners with running or queued work.
    owners: HashMap<Arc<str>, Owner>,
    /// The owners with an organization that can receive a place.
    order: BTreeSet<Order>,
}

/// An owner with the organizations that have running or queued work.
#[derive(Debug)]
struct Owner {
    running: usize,
    turn: u64,
    orgs: HashMap<Arc<str>, OrgQueue>,
    /// The organizations that can receive a place.
    order: BTreeSet<Order>,
}

/// The running and queued work of an organization.
#[derive(Debug)]
struct OrgQueue {
    running: usize,
    turn: u64,
    waiting: BTreeMap<u64, oneshot::Sender<WorkPermit>>,
}

impl QueueState {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Changes the queue of an organization, and updates the order.
    fn change<T>(&mut self, tenant: &Tenant, change: impl FnOnce(&mut Owner, &mut OrgQueue) -> T) -> T {
        // A new owner or organization waits from now on.
        let turn = self.number();
        let name = &tenant.owner;
        let owner = self.owners.entry(Arc::clone(name)).or_insert_with(|| Owner::new(turn));
        self.order.remove(&(owner.running, owner.turn, Arc::clone(name)));
        let done = owner.change(&tenant.org, turn, self.per_tenant, change);
        if !owner.order.is_empty() {
            self.order.insert((owner.running, owner.turn, Arc::clone(name)));
        } else if owner.orgs.is_empty() {
            self.owners.remove(name);
        }
        done
    }

    /// Adds a call, and returns its number.
    fn join(&mut self, tenant: &Tenant, admit: oneshot::Sender<WorkPermit>) -> u64 {
        let number = self.number();
        self.change(tenant, |_, org| org.waiting.insert(number, admit));
        number
    }

    /// Removes a call if it still waits.
    fn leave(&mut self, tenant: &Tenant, number: u64) {
        let org = self.owners.get(&tenant.owner).and_then(|owner| owner.orgs.get(&tenant.org));
        if org.is_some_and(|org| org.waiting.contains_key(&number)) {
            self.change(tenant, |_, org| org.waiting.remove(&number));
        }
    }

    fn release(&mut self, tenant: &Tenant) {
        self.free += 1;
        let turn = self.number();
        self.change(tenant, |owner, org| {
            (owner.turn, org.turn) = (turn, turn);
            owner.running -= 1;
            org.running -= 1;
        });
    }

    /// Assigns the free places.
    fn grant(&mut self, queue: &Arc<Mutex<Self>>) -> Vec<Granted> {
        let mut granted = Vec::new();
        while self.free > 0
            && let Some(tenant) = self.first()
        {
            let turn = self.number();
            let admit = self.change(&tenant, |owner, org| {
                (owner.turn, org.turn) = (turn, turn);
                owner.running += 1;
                org.running += 1;
                org.waiting.pop_first()
            });
            self.free -= 1;
            let permit = || WorkPermit { queue: Arc::clone(queue), tenant };
            granted.extend(admit.map(|(_, admit)| (admit, permit())));
        }
        granted
    }

    /// Returns the organization that receives the next place.
    fn first(&self) -> Option<Tenant> {
        let (_, _, owner) = self.order.first()?;
        let (_, _, org) = self.owners.get(owner)?.order.first()?;
        Some(Tenant { owner: Arc::clone(owner), org: Arc::clone(org) })
    }
}

impl Owner {
    fn new(turn: u64) -> Self {
        Self { running: 0, turn, orgs: HashMap::new(), order: BTreeSet::new() }
    }

    /// Changes the queue of an organization, and updates the order of the organizations.
    fn change<T>(
        &mut self,
        name: &Arc<str>,
        turn: u64,
        most: usize,
        change: impl FnOnce(&mut Self, &mut OrgQueue) -> T,
    ) -> T {
        let org = self.orgs.remove(name);
        let mut org = org.unwrap_or_else(|| OrgQueue { running: 0, turn, waiting: BTreeMap::new() });
        self.order.remove(&(org.running, org.turn, Arc::clone(name)));
        let done = change(self, &mut org);
        if !org.waiting.is_empty() && org.running < most {
            self.order.insert((org.running, org.turn, Arc::clone(name)));
        }
        if !org.waiting.is_empty() || org.running > 0 {
            self.orgs.insert(Arc::clone(name), org);
        }
        done
    }
}

#[cfg(test)]
mod tests;
