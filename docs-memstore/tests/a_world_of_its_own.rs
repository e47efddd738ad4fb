//! Test templates for embedding applications: each test has its own platform, a manual clock, explicitly executed
//! background work, and a store with injected faults. They are shown on the handbook page "As a test backend".
//!
//! `cargo test -p docs-memstore --test a_world_of_its_own`

use std::{sync::Arc, time::Duration};

use docs_core::{
    ErrorKind, Platform,
    model::{CreateSpace, OrgId, UserId},
    platform::{Caller, NewUser},
    store::PageRequest,
};
use docs_memstore::{CallKind, Fault, FaultPlan, FaultStore, ManualClock, MemObjects, MemStore, SeededIds};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A new platform with one user and her organization.
struct Docs {
    platform: Platform,
    clock: ManualClock,
    store: Arc<FaultStore<MemStore>>,
    ada: UserId,
    org: OrgId,
}

async fn fresh_docs() -> Docs {
    let store = Arc::new(FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none()));
    let clock = ManualClock::default();
    let objects = Arc::new(MemObjects::with_clock(Arc::new(clock.clone())));
    let platform =
        Platform::builder(store.clone(), objects).clock(clock.clone()).ids(SeededIds::new(1)).build();
    let ada = NewUser {
        display_name: "Ada".parse().expect("a name"),
        email: "ada@example.com".parse().expect("an address"),
    };
    let ada = platform.as_platform().users().create(ada).await.expect("a user").id;
    let title = "Engines".parse().expect("a title");
    let org = platform.as_platform().orgs().create(title, &ada).await.expect("an organization").id;
    Docs { platform, clock, store, ada, org }
}

impl Docs {
    fn me(&self) -> Caller<'_> {
        self.platform.as_user(&self.ada)
    }

    /// Returns the number of spaces in the organization.
    async fn spaces(&self) -> usize {
        let page = PageRequest::default();
        self.me().org(&self.org).spaces().list(&page).await.expect("a list").items.len()
    }

    /// Advances the clock and runs all work that has become due.
    async fn let_pass(&self, time: Duration) {
        self.clock.advance(time);
        self.platform.settle().await.expect("all that is due is done");
    }
}

#[tokio::test]
async fn a_deleted_space_can_be_restored_for_a_week_and_not_longer() {
    let docs = fresh_docs().await;
    let new = CreateSpace::default();
    let space = docs.me().org(&docs.org).spaces().create(new).await.expect("created").id;
    docs.me().space(&space).delete().await.expect("deleted");
    docs.let_pass(6 * DAY).await;
    docs.me().space(&space).restore().await.expect("restored");

    docs.me().space(&space).delete().await.expect("deleted again");
    docs.let_pass(8 * DAY).await;
    let gone = docs.me().space(&space).restore().await.expect_err("it is gone");
    assert_eq!(gone.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn commit_with_a_lost_response_is_applied_once() {
    let docs = fresh_docs().await;
    // The next commit is applied, but its response is lost.
    let next = docs.store.calls(CallKind::Commit) + 1;
    docs.store.set_plan(FaultPlan::none().with_fault(CallKind::Commit, next, Fault::UnknownApplied));
    docs.me().org(&docs.org).spaces().create(CreateSpace::default()).await.expect("found again");
    assert_eq!(docs.store.injected().values().sum::<u64>(), 1, "the fault happened");
    assert_eq!(docs.spaces().await, 1);
}

#[tokio::test]
async fn unavailable_store_returns_an_error_without_partial_writes() {
    let docs = fresh_docs().await;
    docs.store.set_plan(FaultPlan::none().with_outage_after(docs.store.applied()));
    let away = docs.me().org(&docs.org).spaces().create(CreateSpace::default()).await.expect_err("away");
    assert_eq!(away.kind(), ErrorKind::Unavailable);
    docs.store.set_plan(FaultPlan::none());
    assert_eq!(docs.spaces().await, 0);
}

#[tokio::test]
async fn two_runs_with_one_seed_have_the_same_ids() {
    let (one, other) = (fresh_docs().await, fresh_docs().await);
    assert_eq!((one.ada, one.org), (other.ada, other.org));
}
