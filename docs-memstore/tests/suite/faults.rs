//! Fault injection: faults on demand, and the conformance suite on a faulty store.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use docs_memstore::{CallKind, Fault, FaultPlan, FaultStore, Form, MemStore, Rates};
use docs_store::{
    Batch, FeedItem, Hash, Key, Mode, Objects, Op, Scan, Store, StoreError, StoreResult, Value,
    conformance::Factory,
};

use crate::forms::Memory;

/// Creates stores whose calls fail randomly without applying anything.
struct Unsteady(Memory);

const OFTEN: Rates =
    Rates { conflict: 60, unavailable: 40, unknown_applied: 0, unknown_lost: 0, yields: 200, repeat: 300 };

#[async_trait]
impl Factory for Unsteady {
    async fn store(&self) -> Arc<dyn Store> {
        Arc::new(FaultStore::new(self.0.store().await, FaultPlan::from_seed(11, OFTEN)))
    }

    async fn objects(&self) -> Arc<dyn Objects> {
        self.0.objects().await
    }

    async fn reopen(&self, store: Arc<dyn Store>) -> Arc<dyn Store> {
        self.0.reopen(store).await
    }

    async fn pass(&self, by: Duration) {
        self.0.pass(by).await;
    }

    async fn damage(&self, domain: &str, hash: Hash) {
        self.0.damage(domain, hash).await;
    }
}

mod unsteady {
    docs_store::suite_despite_faults!(super::Unsteady(super::Memory::new(super::Form::Live)));
}

fn faulty(plan: FaultPlan) -> FaultStore<MemStore> {
    FaultStore::new(Arc::new(MemStore::new()), plan)
}

fn batch(key: &str) -> Batch {
    let ops = vec![Op::Create(key.into(), Value::Unit)];
    Batch { ops, feed: vec![FeedItem { topic: 1, key: key.into() }] }
}

async fn create<S: Store>(store: &S, key: &str) -> StoreResult<()> {
    store.begin(Mode::Write, &[]).await?.commit(batch(key)).await
}

async fn exists(store: &MemStore, key: &str) -> bool {
    let txn = store.begin(Mode::Read, &[]).await.expect("no fault inside");
    txn.get(&[Key::from(key)]).await.expect("no fault inside")[0].is_some()
}

#[tokio::test]
async fn commit_faults_return_and_apply_as_documented() {
    let cases = [
        (Fault::Conflict, false),
        (Fault::Unavailable, false),
        (Fault::UnknownApplied, true),
        (Fault::UnknownLost, false),
    ];
    for (fault, applied) in cases {
        let store = faulty(FaultPlan::none().with_fault(CallKind::Commit, 2, fault));
        assert_eq!(create(&store, "a").await, Ok(()));
        let answer = create(&store, "b").await;
        let fits = match fault {
            Fault::Conflict => answer == Err(StoreError::Conflict),
            Fault::Unavailable => matches!(answer, Err(StoreError::Unavailable(_))),
            _ => matches!(answer, Err(StoreError::Unknown(_))),
        };
        assert!(fits, "{fault:?}: {answer:?}");
        assert_eq!(create(&store, "c").await, Ok(()));
        assert_eq!(exists(store.inner(), "b").await, applied, "{fault:?}");
        assert_eq!(store.injected().into_iter().collect::<Vec<_>>(), [((CallKind::Commit, fault), 1)]);
        assert_eq!(store.calls(CallKind::Commit), 3);
        assert_eq!(store.inner().stats().open, 0);
    }
}

#[tokio::test]
async fn rejected_commit_is_not_reported_as_unknown() {
    let store = faulty(FaultPlan::none().with_fault(CallKind::Commit, 2, Fault::UnknownApplied));
    assert_eq!(create(&store, "a").await, Ok(()));
    assert_eq!(create(&store, "a").await, Err(StoreError::Exists("a".into())));
}

#[tokio::test]
async fn failed_read_aborts_the_transaction() {
    for (step, fault) in [(CallKind::Get, Fault::Conflict), (CallKind::Scan, Fault::Unavailable)] {
        let store = faulty(FaultPlan::none().with_fault(step, 1, fault));
        let txn = store.begin(Mode::Write, &[]).await.expect("no fault yet");
        let read = match step {
            CallKind::Get => txn.get(&[Key::from("a")]).await.map(drop),
            _ => txn.scan(&[Scan { from: "a".into(), to: "b".into(), rev: false, limit: 1 }]).await.map(drop),
        };
        assert!(matches!(read, Err(StoreError::Conflict | StoreError::Unavailable(_))), "{read:?}");
        assert_eq!(txn.get(&[Key::from("a")]).await.map(drop), Err(StoreError::Conflict));
        assert_eq!(txn.commit(batch("a")).await, Err(StoreError::Conflict));
        assert!(!exists(store.inner(), "a").await);
    }
}

#[tokio::test]
async fn calls_outside_transactions_can_fail_as_unavailable() {
    let steps = [CallKind::Begin, CallKind::Changes, CallKind::Changed, CallKind::Trim, CallKind::Version];
    let plan =
        steps.into_iter().fold(FaultPlan::none(), |plan, step| plan.with_fault(step, 1, Fault::Unavailable));
    let store = faulty(plan);
    let away = |answer: Option<StoreError>| assert!(matches!(answer, Some(StoreError::Unavailable(_))));
    away(store.begin(Mode::Read, &[]).await.err());
    create(&store, "a").await.expect("only the first call fails");
    away(store.changes(1, None, 9).await.err());
    let pos = store.changes(1, None, 9).await.expect("only the first call fails").remove(0).0;
    away(store.changed(1, None, Duration::ZERO).await.err());
    assert_eq!(store.changed(1, None, Duration::ZERO).await, Ok(true));
    away(store.trim(1, &pos).await.err());
    assert_eq!(store.trim(1, &pos).await, Ok(()));
    away(store.version().await.err());
    assert_eq!(store.version().await, store.inner().version().await);
    assert_eq!(store.injected().len(), 5);
}

#[tokio::test]
async fn repeat_fault_respects_the_page_limit_and_loses_no_items() {
    let store = faulty(FaultPlan::from_seed(1, Rates { repeat: 1_000, ..Rates::default() }));
    for key in ["a", "b", "c"] {
        create(&store, key).await.expect("no fault at commits");
    }
    let (mut at, mut seen) = (None, Vec::new());
    loop {
        let page = store.changes(1, at.clone(), 3).await.expect("no fault but repetition");
        assert!(page.len() <= 3);
        let Some((last, _)) = page.last() else { break };
        assert!(at.as_ref() != Some(last), "the feed never ends");
        at = Some(last.clone());
        seen.extend(page.into_iter().map(|(_, key)| key));
    }
    let keys: Vec<&str> = seen.iter().map(|key| &**key).collect();
    assert_eq!(keys, ["a", "a", "b", "c", "c"]);
}

#[tokio::test]
async fn held_commit_waits_for_release_and_can_be_dropped() {
    for (fault, applied) in [(Fault::HoldBefore, false), (Fault::HoldAfter, true)] {
        let store = faulty(FaultPlan::none().with_fault(CallKind::Commit, 1, fault).with_fault(
            CallKind::Commit,
            2,
            fault,
        ));
        let commit = |key: &'static str| {
            let store = store.clone();
            tokio::spawn(async move { create(&store, key).await })
        };
        let dropped = commit("dropped");
        store.wait_until_held(1).await;
        assert_eq!(exists(store.inner(), "dropped").await, applied);
        dropped.abort();
        assert!(dropped.await.is_err_and(|end| end.is_cancelled()));
        assert_eq!(exists(store.inner(), "dropped").await, applied);
        let kept = commit("kept");
        store.wait_until_held(1).await;
        assert_eq!(exists(store.inner(), "kept").await, applied);
        store.release(1);
        assert_eq!(kept.await.expect("the task ends"), Ok(()));
        assert!(exists(store.inner(), "kept").await);
    }
}

#[tokio::test]
async fn a_plan_can_be_replaced() {
    let store = faulty(FaultPlan::from_seed(1, Rates { unavailable: 1_000, ..Rates::default() }));
    assert!(create(&store, "a").await.is_err());
    store.set_plan(FaultPlan::none());
    assert_eq!(create(&store, "a").await, Ok(()));
}

#[tokio::test]
async fn store_that_fails_after_a_commit_acknowledges_that_commit() {
    let inner = Arc::new(MemStore::new());
    let store = FaultStore::new(Arc::clone(&inner), FaultPlan::none().with_outage_after(1));
    let late = store.begin(Mode::Write, &[]).await.expect("it is there");
    create(&store, "u!a").await.expect("the answer is not lost");
    assert_eq!(store.applied(), 1);
    let batch = Batch { ops: vec![Op::Create("u!b".into(), Value::Unit)], feed: vec![] };
    assert!(matches!(late.commit(batch).await, Err(StoreError::Unavailable(_))));
    assert!(matches!(store.begin(Mode::Read, &[]).await, Err(StoreError::Unavailable(_))));
    assert!(exists(&inner, "u!a").await && !exists(&inner, "u!b").await);
    store.set_plan(FaultPlan::none());
    create(&store, "u!b").await.expect("it is back");
}
