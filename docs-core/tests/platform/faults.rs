//! What a store that fails may never do: lose an acknowledged write, or do one twice.

use std::sync::Arc;

use docs_core::{
    ErrorKind,
    model::{ChangeRequestStatus, CreateChangeRequest, CreateSpace, MergeOutcome},
    store::PageRequest,
};
use docs_memstore::{Fault, FaultStore, MemStore, Plan, Step};

use crate::support::{Refused, World};

async fn world() -> (World, Arc<FaultStore<MemStore>>) {
    let store = Arc::new(FaultStore::new(Arc::new(MemStore::new()), Plan::none()));
    (World::over(store.clone()).await, store)
}

#[tokio::test]
async fn a_commit_without_an_answer_is_found_again_even_when_the_store_is_away_at_first() {
    let (w, store) = world().await;
    let space = w.platform.create_space(&w.admin, &w.org, CreateSpace::default()).await.expect("created").id;
    w.platform
        .create_change_request(&w.admin, &space, CreateChangeRequest::default())
        .await
        .expect("created");
    // The merge is applied, its answer is lost, and the store cannot be asked at the next two tries.
    let (commits, begins) = (store.calls(Step::Commit), store.calls(Step::Begin));
    let plan = Plan::none().at(Step::Commit, commits + 1, Fault::UnknownApplied);
    store.follow(plan.at(Step::Begin, begins + 3, Fault::Unavailable).at(
        Step::Begin,
        begins + 4,
        Fault::Unavailable,
    ));
    let merged = w.platform.merge_change_request(&w.admin, &space, "1").await.expect("it was applied");
    assert_eq!(merged.result, MergeOutcome::Merge);
    assert_eq!(store.injected().values().sum::<u64>(), 3, "all three faults happened");
    let request = w.platform.get_change_request(&w.admin, &space, "1").await.expect("read");
    assert_eq!(
        (request.status, request.revision_merged),
        (ChangeRequestStatus::Merged, Some(merged.revision))
    );
}

#[tokio::test]
async fn a_commit_that_got_lost_is_done_once() {
    let (w, store) = world().await;
    let commits = store.calls(Step::Commit);
    store.follow(Plan::none().at(Step::Commit, commits + 1, Fault::UnknownLost));
    w.platform.create_space(&w.admin, &w.org, CreateSpace::default()).await.expect("created");
    let list = w.platform.list_spaces(&w.admin, &w.org, &PageRequest::default()).await.expect("listed");
    assert_eq!((list.items.len(), list.count), (1, Some(1)));
    w.check().await;
}

#[tokio::test]
async fn a_store_that_stays_away_is_told_and_nothing_is_done() {
    let (w, store) = world().await;
    let begins = store.calls(Step::Begin);
    let plan = (1..=20).fold(Plan::none(), |plan, n| plan.at(Step::Begin, begins + n, Fault::Unavailable));
    store.follow(plan);
    let new = CreateSpace::default();
    w.platform.create_space(&w.admin, &w.org, new).await.refused(ErrorKind::Unavailable);
    store.follow(Plan::none());
    let list = w.platform.list_spaces(&w.admin, &w.org, &PageRequest::default()).await.expect("listed");
    assert!(list.items.is_empty());
}
