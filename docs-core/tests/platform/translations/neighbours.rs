//! Translations during other operations on their two spaces: garbage collection, deletion, restoration, transfer and
//! permission changes.

use docs_core::{
    model::UpdateSpace,
    platform::{CollectMode, OBJECT_GRACE_PERIOD},
    store::{Mode, Tx, records::TranslationMemoryRecord},
};

use super::*;
use crate::collections::{organization, to};

/// Creates a completed translation. Returns it with its target space.
async fn done(d: &Desk) -> (TranslationId, SpaceId) {
    d.edit(&d.source, json!([insert("Start", "One.\n\nTwo.\n"), insert("More", "Three.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    let target = d.get(&id).await.result.expect("a result").space;
    (id, target)
}

#[tokio::test]
async fn result_edited_in_advance_is_followed_after_collection() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    let (_, target) = done(&d).await;
    let pages = d.pages(&target).await;
    let (start, more) = (pages[0].0.clone(), pages[1].0.clone());
    let delete = json!({ "operation": "delete_page", "page": more });
    d.edit(&target, json!([set(&start, "Un.\n\n\\[Twó.]\n"), delete])).await;
    let before = d.w.as_admin().space(&target).get().await.expect("there").revision;
    // The run does not change the target, but the output of the translator differs from the previous one.
    d.edit(&d.source, json!([delete])).await;
    d.settle().await;
    assert_eq!(d.w.as_admin().space(&target).get().await.expect("there").revision, before);
    d.w.clock.advance(OBJECT_GRACE_PERIOD.to_std().expect("a span") * 2);
    let collected = d.w.platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    assert_eq!(collected.unreadable, 0);
    d.edit(&d.source, json!([set(&start, "One.\n\nTwo times.\n")])).await;
    d.settle().await;
    assert_eq!(d.jobs(&target).await[0].error, None);
    assert_eq!(d.pages(&target).await[0].2, "Un.\n\n\\[Twó tímés.]\n");
    d.w.check().await;
}

#[tokio::test]
async fn purging_either_space_removes_translation_and_memory() {
    for is_source in [true, false] {
        let d = Desk::new(Arc::new(MemStore::new())).await;
        let (id, target) = done(&d).await;
        let (removed, left) = if is_source { (&d.source, &target) } else { (&target, &d.source) };
        assert!(d.w.as_admin().space(removed).delete().await.expect("deleted"));
        d.w.platform.as_platform().space(removed).purge().await.expect("removed");
        d.w.platform.settle().await.expect("settled");
        d.w.as_admin().org(&d.w.org).translation(&id).get().await.refused(ErrorKind::NotFound);
        let tx = Tx::new(d.w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
        let memory = tx.scan_prefix(&TranslationMemoryRecord::by_translation(&id), 1).await.expect("read");
        assert!(memory.is_empty(), "{memory:?}");
        // The remaining space is an ordinary space.
        let elsewhere = to(&organization(&d.w, &d.w.admin).await);
        d.w.as_admin().space(left).transfer(elsewhere).await.expect("transferred");
        d.w.check().await;
    }
}

#[tokio::test]
async fn restored_space_catches_up_with_missed_changes() {
    for is_source in [true, false] {
        let d = Desk::new(Arc::new(MemStore::new())).await;
        let (_, target) = done(&d).await;
        let start = d.pages(&d.source).await[0].0.clone();
        let deleted = if is_source { &d.source } else { &target };
        d.edit(&d.source, json!([set(&start, "Another.\n")])).await;
        assert!(d.w.as_admin().space(deleted).delete().await.expect("deleted"));
        d.settle().await;
        d.w.as_admin().space(deleted).restore().await.expect("restored");
        d.settle().await;
        assert_eq!(d.pages(&target).await[0].2, "\\[Áñóthér.]\n");
        d.w.check().await;
    }
}

#[tokio::test]
async fn source_and_target_spaces_cannot_be_transferred() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    let (_, target) = done(&d).await;
    let elsewhere = to(&organization(&d.w, &d.w.admin).await);
    for space in [&d.source, &target] {
        let error =
            d.w.as_admin().space(space).transfer(elsewhere.clone()).await.refused(ErrorKind::Precondition);
        assert!(error.message().contains("transl"), "{error}");
    }
}

/// After the source is deleted, the translation can be changed.
#[tokio::test]
async fn translation_is_locked_without_access_to_its_source() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    let (id, _) = done(&d).await;
    let creator = d.w.member("Cem", Some(Role::Create)).await;
    let hidden: UpdateSpace = serde_json::from_value(json!({ "defaultLevel": null })).expect("a change");
    d.w.as_admin().space(&d.source).update(hidden).await.expect("hidden");
    let as_creator = d.w.platform.as_actor(&creator);
    let translation = as_creator.org(&d.w.org).translation(&id);
    assert!(!translation.get().await.expect("seen").permissions.edit);
    as_creator.org(&d.w.org).translation(&id).run().await.refused(ErrorKind::Forbidden);
    assert!(d.w.as_admin().space(&d.source).delete().await.expect("deleted"));
    let translation = as_creator.org(&d.w.org).translation(&id);
    assert!(translation.get().await.expect("seen").permissions.edit);
}
