use std::{collections::VecDeque, future::poll_fn, pin::Pin, task::Poll};

use proptest::prelude::*;

use super::*;

type Turn<'q> = Pin<Box<dyn Future<Output = Result<WorkPermit>> + Send + 'q>>;

/// Returns the permit of a call if it was granted.
async fn poll(turn: &mut Turn<'_>) -> Option<WorkPermit> {
    let permit = poll_fn(|cx| Poll::Ready(turn.as_mut().poll(cx))).await;
    match permit {
        Poll::Ready(permit) => Some(permit.expect("a permit")),
        Poll::Pending => None,
    }
}

async fn is_pending(turn: impl Future<Output = Result<WorkPermit>> + Send) -> bool {
    let mut turn: Turn<'_> = Box::pin(turn);
    poll(&mut turn).await.is_none()
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
    assert_eq!(queue.0.lock().owners.len(), 2, "organizations without work are removed");
}

#[tokio::test]
async fn organizations_of_one_owner_take_turns_with_other_owners() {
    let queue = TenantQueue::new(1, 1);
    let orgs: Vec<Tenant> =
        (0..9).map(|at| Tenant { owner: "one".into(), org: at.to_string().into() }).collect();
    let first = queue.acquire_for(&orgs[0]).await.expect("a permit");
    let mut own: Vec<Turn<'_>> = Vec::new();
    for org in orgs.iter().cycle().take(36) {
        own.push(Box::pin(queue.acquire_for(org)));
        assert!(poll(own.last_mut().expect("a call")).await.is_none());
    }
    let mut other: Turn<'_> = Box::pin(queue.acquire("other"));
    assert!(poll(&mut other).await.is_none());
    drop(first);
    let other = poll(&mut other).await.expect("the other owner is next");
    drop(other);
    // The organizations of the owner take turns too: the one that was served first is last.
    for at in (1..9).chain([0]) {
        assert!(poll(&mut own[at]).await.is_some(), "organization {at}");
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A call of an organization.
    Join(usize),
    /// The end of the oldest running task.
    Release,
    /// The cancellation of the call at this index.
    Cancel(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![4 => (0..6_usize).prop_map(Step::Join), 3 => Just(Step::Release), 1 => (0..40_usize).prop_map(Step::Cancel)]
}

/// Runs steps, and then lets a new organization wait. Returns the number of the permits granted before its own, and the
/// number of organizations that waited.
async fn grants_before_new_tenant(total: usize, share: usize, steps: Vec<Step>) -> (usize, usize) {
    let queue = TenantQueue::new(total, share);
    let mut waiting: Vec<(usize, Turn<'_>)> = Vec::new();
    let mut running: VecDeque<(usize, WorkPermit)> = VecDeque::new();
    for step in steps {
        match step {
            Step::Join(org) => {
                let name = ["a", "b", "c", "d", "e", "f"][org];
                waiting.push((org, Box::pin(queue.acquire(name))));
            }
            Step::Release => drop(running.pop_front()),
            Step::Cancel(at) if at < waiting.len() => drop(waiting.remove(at)),
            Step::Cancel(_) => {}
        }
        collect(&mut waiting, &mut running).await;
        assert!(running.len() <= total);
        for org in 0..6 {
            let places = running.iter().filter(|(own, _)| *own == org).count();
            assert!(places <= share, "{places} places of {org}");
            let waits = waiting.iter().any(|(own, _)| *own == org);
            assert!(!waits || places == share || running.len() == total, "a place is free for {org}");
        }
    }
    let orgs: BTreeSet<usize> = waiting.iter().map(|(org, _)| *org).collect();
    let mut new: Turn<'_> = Box::pin(queue.acquire("new"));
    let mut before = 0;
    loop {
        if poll(&mut new).await.is_some() {
            break;
        }
        drop(running.pop_front());
        before += collect(&mut waiting, &mut running).await;
    }
    drop((new, waiting, running));
    assert!(queue.0.lock().owners.is_empty() && queue.0.lock().free == total, "all places are free");
    (before, orgs.len())
}

/// Moves granted calls to the running tasks, and returns their number.
async fn collect(waiting: &mut Vec<(usize, Turn<'_>)>, running: &mut VecDeque<(usize, WorkPermit)>) -> usize {
    let before = running.len();
    let mut at = 0;
    while at < waiting.len() {
        match poll(&mut waiting[at].1).await {
            Some(permit) => running.push_back((waiting.remove(at).0, permit)),
            None => at += 1,
        }
    }
    running.len() - before
}

proptest! {
    #[test]
    fn a_new_tenant_waits_for_one_grant_per_waiting_tenant(
        total in 1..5_usize,
        share in 1..4_usize,
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (before, tenants) = runtime.block_on(grants_before_new_tenant(total, share, steps));
        prop_assert!(before <= tenants, "{before} grants before, {tenants} tenants waited");
    }
}
