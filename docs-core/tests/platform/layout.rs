//! The layout version of the rows of a store, and their rebuild.

use std::sync::Arc;

use docs_core::{
    ErrorKind, Platform,
    model::{CreateChangeRequest, CreateSpace, Role},
    store::{Batches, KINDS, KeyBuf, LAYOUT, MAX_SCAN, Mode, Store, StoreLayout, Tx, Value, key},
};
use docs_memstore::{CallKind, Fault, FaultPlan, FaultStore, MemObjects, MemStore};

use crate::support::{Refused, World};

/// Creates a world with records of every kind that has derived rows.
async fn filled(store: Arc<dyn Store>) -> World {
    // Servers also do this before any data is stored.
    let platform = Platform::builder(Arc::clone(&store), Arc::new(MemObjects::new())).build();
    platform.check_layout().await.expect("it is new");
    let w = World::over(store).await;
    for n in 0..130 {
        let title = Some(format!("Space {n}").parse().expect("a title"));
        let new = CreateSpace { title, ..CreateSpace::default() };
        let space = w.platform.as_actor(&w.admin).org(&w.org).spaces().create(new).await.expect("created").id;
        if n % 10 == 0 {
            let me = w.platform.as_actor(&w.admin);
            me.space(&space).change_requests().create(CreateChangeRequest::default()).await.expect("created");
            me.space(&space).delete().await.expect("deleted");
        }
    }
    for name in ["Bea", "Cem", "Dan"] {
        w.member(name, Some(Role::Read)).await;
    }
    w.platform.check_layout().await.expect("it is current");
    w
}

fn classes() -> Vec<&'static str> {
    let mut classes: Vec<&str> = KINDS.iter().flat_map(|kind| kind.indexes).copied().collect();
    classes.sort_unstable();
    classes.dedup();
    classes
}

/// Returns all rows derived from records.
async fn rows(store: &dyn Store) -> Vec<(String, String)> {
    let tx = Tx::new(store.begin(Mode::Read, &[]).await.expect("begins"));
    let mut found = Vec::new();
    for class in classes() {
        let mut batches = Batches::of(KeyBuf::new(class).scan(MAX_SCAN));
        while let Some(rows) = batches.next(&tx).await.expect("read") {
            found.extend(rows.into_iter().map(|(key, value)| (key.to_string(), format!("{value:?}"))));
        }
    }
    found
}

/// Removes every third row, as if records lacked a new kind of row, and adds rows without a record.
async fn damage(store: &dyn Store) {
    let all = rows(store).await;
    assert!(all.len() > 600, "more than a step makes: {}", all.len());
    for some in all.chunks(300) {
        let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
        for (row, _) in some.iter().step_by(3) {
            tx.delete_value(row.as_str().into());
        }
        tx.commit().await.expect("stored");
    }
    let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
    tx.put_value(KeyBuf::new("spc.o").part("nobody").part("nothing").key(), Value::Unit);
    tx.add(KeyBuf::new(key::COUNTERS).part("nobody").part("spaces").key(), 7);
    tx.commit().await.expect("stored");
}

async fn set(store: &dyn Store, layout: StoreLayout) {
    let json = serde_json::to_vec(&layout).expect("JSON");
    let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
    tx.put_value(KeyBuf::new("sys").part("layout").key(), Value::Json(json.into()));
    tx.commit().await.expect("stored");
}

#[tokio::test]
async fn rebuild_restores_every_row_from_the_records() {
    let w = filled(Arc::new(MemStore::new())).await;
    let store = w.platform.store().as_ref();
    let before = rows(store).await;
    damage(store).await;
    let drift = w.platform.as_platform().verify().await.expect("verified");
    assert!(!drift.missing.is_empty() && !drift.stray.is_empty() && !drift.counters.is_empty());
    w.platform.as_actor(&w.admin).rebuild().await.refused(ErrorKind::Forbidden);
    w.platform.as_actor(&w.admin).verify().await.refused(ErrorKind::Forbidden);
    w.platform.as_platform().rebuild().await.expect("rebuilt");
    assert_eq!(rows(store).await, before);
    w.check().await;
    w.platform.check_layout().await.expect("it is done");
}

#[tokio::test]
async fn interrupted_rebuild_resumes_without_double_counting() {
    let faults = Arc::new(FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none()));
    let w = filled(faults.clone()).await;
    let store = w.platform.store().as_ref();
    let before = rows(store).await;
    damage(store).await;
    let mut breaks = 0;
    for nth in (1..).step_by(2) {
        let plan = FaultPlan::none().with_fault(
            CallKind::Commit,
            faults.calls(CallKind::Commit) + nth,
            Fault::Unavailable,
        );
        faults.set_plan(plan);
        match w.platform.as_platform().rebuild().await {
            Ok(()) => break,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}"),
        }
        faults.set_plan(FaultPlan::none());
        breaks += 1;
        if nth > 1 {
            let refused = w.platform.check_layout().await.refused(ErrorKind::Precondition);
            assert!(refused.message().contains("being rebuilt"), "{refused:?}");
        }
    }
    faults.set_plan(FaultPlan::none());
    assert!(breaks >= 3, "{breaks}");
    assert_eq!(rows(store).await, before);
    w.platform.check_layout().await.expect("it is done");
}

#[tokio::test]
async fn other_layout_is_rejected_and_older_one_is_rebuildable() {
    let w = filled(Arc::new(MemStore::new())).await;
    let store = w.platform.store().as_ref();
    set(store, StoreLayout { version: LAYOUT + 1, rebuild: None }).await;
    let refused = w.platform.check_layout().await.refused(ErrorKind::Precondition);
    assert!(refused.message().contains("newer program"), "{refused:?}");
    w.platform.as_platform().rebuild().await.refused(ErrorKind::Conflict);
    set(store, StoreLayout { version: LAYOUT - 1, rebuild: None }).await;
    let refused = w.platform.check_layout().await.refused(ErrorKind::Precondition);
    assert!(refused.message().contains("admin rebuild"), "{refused:?}");
    w.platform.as_platform().rebuild().await.expect("rebuilt");
    w.platform.check_layout().await.expect("it is current");
    w.check().await;
}

#[tokio::test]
async fn a_new_store_has_the_current_layout() {
    let store: Arc<dyn Store> = Arc::new(MemStore::new());
    let platform = Platform::builder(Arc::clone(&store), Arc::new(MemObjects::new())).build();
    platform.check_layout().await.expect("it is new");
    let tx = Tx::new(store.begin(Mode::Read, &[]).await.expect("begins"));
    let layout = StoreLayout::read(&tx).await.expect("read");
    assert_eq!(layout, Some(StoreLayout { version: LAYOUT, rebuild: None }));
}

/// After changing the row classes, increment [`LAYOUT`] and update the file with the current classes.
#[test]
fn row_classes_match_the_snapshot_of_the_layout_version() {
    let now: Vec<String> = KINDS.iter().map(|kind| [&[kind.name], kind.indexes].concat().join(" ")).collect();
    let now = format!("layout {LAYOUT}\n{}\n", now.join("\n"));
    assert_eq!(now, include_str!("layout.txt"));
}
