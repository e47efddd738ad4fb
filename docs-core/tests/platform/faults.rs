//! A failing store neither loses an acknowledged write nor applies one twice.

use std::{
    future::ready,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use docs_core::{
    BoxFuture, Error, ErrorKind, Result,
    model::{ChangeRequestStatus, CreateChangeRequest, CreateSpace, MergeOutcome},
    platform::{NewToken, NewUser},
    store::{
        AuditMode, Key, KeyBuf, Mode, Operation, PageRequest, Receipt, Store, StoreError, Tx, Value,
        all_keys, run, run_and_show,
    },
};
use docs_memstore::{CallKind, Fault, FaultPlan, FaultStore, MemStore};

use crate::support::{BeforeTransactions, Refused, World};

async fn world() -> (World, Arc<FaultStore<MemStore>>) {
    let store = Arc::new(FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none()));
    (World::over(store.clone()).await, store)
}

#[tokio::test]
async fn unknown_commit_is_recovered_after_store_outage() {
    let (w, store) = world().await;
    let space = w.space().await;
    w.as_admin()
        .space(&space)
        .change_requests()
        .create(CreateChangeRequest::default())
        .await
        .expect("created");
    // The merge is applied, its response is lost, and the store is unavailable for the next two attempts.
    let (commits, begins) = (store.calls(CallKind::Commit), store.calls(CallKind::Begin));
    let plan = FaultPlan::none().with_fault(CallKind::Commit, commits + 1, Fault::UnknownApplied);
    store.set_plan(plan.with_fault(CallKind::Begin, begins + 3, Fault::Unavailable).with_fault(
        CallKind::Begin,
        begins + 4,
        Fault::Unavailable,
    ));
    let merged = w.as_admin().space(&space).change_request("1").merge().await.expect("it was applied");
    assert_eq!(merged.result, MergeOutcome::Merge);
    assert_eq!(store.injected().values().sum::<u64>(), 3, "all three faults happened");
    let request = w.as_admin().space(&space).change_request("1").get().await.expect("read");
    assert_eq!(
        (request.status, request.revision_merged),
        (ChangeRequestStatus::Merged, Some(merged.revision))
    );
}

#[tokio::test]
async fn lost_commit_with_unknown_outcome_is_applied_once() {
    let (w, store) = world().await;
    let commits = store.calls(CallKind::Commit);
    store.set_plan(FaultPlan::none().with_fault(CallKind::Commit, commits + 1, Fault::UnknownLost));
    w.as_admin().org(&w.org).spaces().create(CreateSpace::default()).await.expect("created");
    let list = w.as_admin().org(&w.org).spaces().list(&PageRequest::default()).await.expect("listed");
    assert_eq!((list.items.len(), list.count), (1, Some(1)));
    w.check().await;
}

#[tokio::test]
async fn unavailable_store_returns_unavailable_and_writes_nothing() {
    let (w, store) = world().await;
    let begins = store.calls(CallKind::Begin);
    let plan = (1..=20)
        .fold(FaultPlan::none(), |plan, n| plan.with_fault(CallKind::Begin, begins + n, Fault::Unavailable));
    store.set_plan(plan);
    let new = CreateSpace::default();
    w.as_admin().org(&w.org).spaces().create(new).await.refused(ErrorKind::Unavailable);
    store.set_plan(FaultPlan::none());
    let list = w.as_admin().org(&w.org).spaces().list(&PageRequest::default()).await.expect("listed");
    assert!(list.items.is_empty());
}

#[tokio::test]
async fn operator_writes_return_without_reads_after_the_commit() {
    let (w, store) = world().await;
    let p = &w.platform;
    let away = || store.set_plan(FaultPlan::none().with_outage_after(store.applied() + 1));
    away();
    let new = NewUser {
        display_name: "Bob".parse().expect("a name"),
        email: "b@example.com".parse().expect("one"),
    };
    let user = p.as_platform().users().create(new).await.expect("created");
    away();
    let title = "Engines".parse().expect("a title");
    let org = p.as_platform().orgs().create(title, &user.id).await.expect("created");
    away();
    let new = NewToken { label: "one".parse().expect("a label"), secret: None, expires_at: None };
    let token = p.as_platform().user(&user.id).issue_token(new).await.expect("created");
    store.set_plan(FaultPlan::none());
    assert_eq!(p.as_platform().user(&user.id).get().await.expect("read"), user);
    assert_eq!(p.as_platform().org(&org.id).get().await.expect("read"), org);
    assert_eq!(p.authenticate(&token.secret).await.expect("signed in").user(), Some(&user.id));
}

/// Writes a key. `Output` is the written value.
struct Note;

fn note() -> Key {
    KeyBuf::new("sys").part("note").key()
}

#[async_trait]
impl Operation for Note {
    type Output = String;
    const NAME: &'static str = "note";

    async fn apply(&self, tx: &mut Tx) -> Result<String> {
        tx.put_value(note(), Value::Unit);
        Ok("noted".to_owned())
    }
}

/// A rejection such as `NotFound` or `Forbidden` does not undo the write. A store failure or an internal error does.
#[tokio::test]
async fn write_is_stored_unless_reading_its_result_fails() {
    let at = chrono::DateTime::UNIX_EPOCH;
    let receipt = |id| Receipt { at, id: uuid::Uuid::from_u128(id), logged: AuditMode::Unaudited };
    for (id, why, stored) in [
        (1, None, true),
        (2, Some(Error::not_found("note")), true),
        (3, Some(Error::forbidden("not for you")), true),
        (4, Some(StoreError::Unavailable("away".to_owned()).into()), false),
        (5, Some(Error::internal("a fault")), false),
    ] {
        let store: Arc<dyn Store> = Arc::new(MemStore::new());
        let refusal = why.as_ref().map(|why| (why.kind(), why.message().to_owned()));
        let receipt = receipt(id);
        let shown = run_and_show(&store, &receipt, &Note, None, |written| {
            let refused = refusal.clone().map(|(kind, message)| Error::new(kind, message));
            Box::pin(ready(refused.map_or(Ok(written.out), Err)))
        });
        let shown = shown.await.map_err(|error| error.kind());
        assert_eq!(shown.err(), why.as_ref().map(Error::kind), "{why:?}");
        let tx = Tx::new(store.begin(Mode::Read, &[]).await.expect("a snapshot"));
        assert_eq!(tx.get_value(&note()).await.expect("read").is_some(), stored, "{why:?}");
    }
}

#[tokio::test]
async fn repeated_conflicts_request_an_exclusive_commit() {
    let conflicts = |count| {
        (1..=count).fold(FaultPlan::none(), |plan, n| plan.with_fault(CallKind::Commit, n, Fault::Conflict))
    };
    for (count, attempts, is_done) in [(0, 1, true), (3, 4, true), (9, 10, true), (10, 10, false)] {
        let store = FaultStore::new(Arc::new(MemStore::new()), conflicts(count));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let before = move |hot: &[Key]| -> BoxFuture<'static, ()> {
            seen.lock().expect("nobody panics").push(hot.contains(&all_keys()));
            Box::pin(ready(()))
        };
        let store: Arc<dyn Store> = Arc::new(BeforeTransactions { store, before });
        let receipt = Receipt {
            at: chrono::DateTime::UNIX_EPOCH,
            id: uuid::Uuid::from_u128(1),
            logged: AuditMode::Unaudited,
        };
        assert_eq!(run(&store, &receipt, &Note).await.is_ok(), is_done, "{count}");
        let asked = asked.lock().expect("nobody panics").clone();
        assert_eq!(asked.len(), attempts, "{count}");
        // A slow machine may request exclusive commits earlier, because elapsed time counts too.
        assert!(asked.iter().skip(3).all(|asked| *asked) && !asked[0], "{count}: {asked:?}");
    }
}
