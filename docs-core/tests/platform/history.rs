//! The history of a space: its list of revisions, and lossless rollback.

use docs_core::{
    ErrorKind,
    model::{
        ContentUpdate, EditMode, RevisionId, RevisionSummary, RevisionType, Role, SpaceId, UpdateContent,
        UpdateSpace,
    },
    platform::{ContentOptions, ContentVersion, Precondition},
    store::PageRequest,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Refused, World, insert};

fn update(changes: Value) -> UpdateContent {
    serde_json::from_value(json!({ "changes": changes })).expect("changes")
}

async fn edit(w: &World, space: &SpaceId, request: &str, changes: Value) -> ContentUpdate {
    w.as_admin().space(space).change_request(request).edit(update(changes)).await.expect("edited")
}

/// Merges a new change request with a page.
pub(crate) async fn publish(w: &World, space: &SpaceId, title: &str) -> RevisionId {
    let request = w.request(space).await;
    edit(w, space, &request, json!([insert(title, "Text.\n")])).await;
    w.as_admin().space(space).change_request(&request).merge().await.expect("merged").revision
}

async fn live(w: &World, space: &SpaceId, mode: EditMode) {
    let change = UpdateSpace { edit_mode: Some(mode), ..UpdateSpace::default() };
    w.as_admin().space(space).update(change).await.expect("changed");
}

async fn history(w: &World, space: &SpaceId) -> Vec<RevisionSummary> {
    let mut request = PageRequest { limit: Some(3), ..PageRequest::default() };
    let mut all = Vec::new();
    loop {
        let page = w.as_admin().space(space).revisions().list(&request).await.expect("listed");
        all.extend(page.items);
        match page.next {
            Some(next) => request.page = Some(next),
            None => {
                assert_eq!(page.count, Some(all.len() as u64));
                return all;
            }
        }
    }
}

/// Returns the content that a reader sees: the tree with texts, files and variables.
async fn content(w: &World, of: &ContentVersion) -> Value {
    let content = w.as_admin().content(of);
    let mut shown =
        serde_json::to_value(content.get(ContentOptions::default()).await.expect("read")).expect("JSON");
    let mut texts = Vec::new();
    for page in shown["pages"].as_array().expect("pages") {
        let id = page["id"].as_str().expect("an id").parse().expect("an id");
        texts.push(
            serde_json::to_value(content.get_page(&id, ContentOptions::default()).await.expect("a page"))
                .expect("JSON"),
        );
    }
    for frame in ["id", "type", "parents", "createdAt", "mergedFrom", "restoredFrom", "git", "urls"] {
        shown.as_object_mut().expect("a revision").remove(frame);
    }
    json!({ "revision": shown, "texts": texts })
}

/// Each revision has its author and type.
#[tokio::test]
async fn history_lists_live_revisions_newest_first() {
    let w = World::new().await;
    let space = w.space().await;
    let first = w.as_admin().space(&space).get().await.expect("read").revision;
    let merge = publish(&w, &space, "Start").await;
    live(&w, &space, EditMode::Live).await;
    let back = w.as_admin().space(&space).revisions().rollback(&first).await.expect("back");
    let shown = history(&w, &space).await;
    let ids: Vec<&RevisionId> = shown.iter().map(|revision| &revision.id).collect();
    assert_eq!(ids, [&back.id, &merge, &first]);
    assert_eq!(shown.iter().map(|revision| revision.number).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(shown[0], back, "what was answered is what is listed");
    assert_eq!(shown[0].kind, RevisionType::Rollback { restored_from: first.clone() });
    assert!(matches!(&shown[1].kind, RevisionType::Merge { merged_from } if merged_from.number == 1));
    assert_eq!(shown[2].kind, RevisionType::Edits);
    assert!(shown.iter().all(|revision| Some(&revision.created_by.id) == w.admin.user()));
    let read =
        w.as_admin().space(&space).revision(&back.id).get(ContentOptions::default()).await.expect("read");
    assert_eq!((&read.kind, &read.parents), (&back.kind, &vec![merge]));
    w.check().await;
}

#[tokio::test]
async fn invalid_rollback_is_rejected_and_changes_nothing() {
    let w = World::new().await;
    let (space, other) = (w.space().await, w.space().await);
    let first = w.as_admin().space(&space).get().await.expect("read").revision;
    let head = publish(&w, &space, "Start").await;
    let foreign = publish(&w, &other, "Elsewhere").await;
    let request = w.request(&space).await;
    let draft = edit(&w, &space, &request, json!([insert("Draft", "")])).await.change_request.revision;
    let before = history(&w, &space).await;
    let revisions = |actor| w.platform.as_actor(actor).space(&space).revisions();
    let locked = revisions(&w.admin).rollback(&first).await.refused(ErrorKind::Conflict);
    assert!(locked.message().contains("locked"), "{locked:?}");
    live(&w, &space, EditMode::Live).await;
    let reader = w.member("Rob", Some(Role::Comment)).await;
    revisions(&reader).rollback(&first).await.refused(ErrorKind::Forbidden);
    revisions(&reader).list(&PageRequest::default()).await.expect("whoever sees the space sees its history");
    let guest = w.member("Gus", None).await;
    revisions(&guest).list(&PageRequest::default()).await.refused(ErrorKind::NotFound);
    revisions(&guest).rollback(&first).await.refused(ErrorKind::NotFound);
    revisions(&w.admin).rollback(&foreign).await.refused(ErrorKind::NotFound);
    let never_live = revisions(&w.admin).rollback(&draft).await.refused(ErrorKind::Conflict);
    assert!(never_live.message().contains("never live content"), "{never_live:?}");
    let same = revisions(&w.admin).rollback(&head).await.refused(ErrorKind::Conflict);
    assert!(same.message().contains("already"), "{same:?}");
    assert_eq!(history(&w, &space).await, before);
    w.as_admin().space(&space).delete().await.expect("deleted");
    revisions(&w.admin).rollback(&first).await.refused(ErrorKind::NotFound);
    revisions(&w.admin).list(&PageRequest::default()).await.refused(ErrorKind::NotFound);
    w.check().await;
}

#[tokio::test]
async fn open_change_request_merges_after_a_rollback() {
    let w = World::new().await;
    let space = w.space().await;
    live(&w, &space, EditMode::Live).await;
    let first = w.as_admin().space(&space).get().await.expect("read").revision;
    publish(&w, &space, "Taken back").await;
    let request = w.request(&space).await;
    edit(&w, &space, &request, json!([insert("Kept", "")])).await;
    let before = w.as_admin().space(&space).change_request(&request).get().await.expect("read");
    assert!(!before.outdated);
    w.as_admin().space(&space).revisions().rollback(&first).await.expect("back");
    let after = w.as_admin().space(&space).change_request(&request).get().await.expect("read");
    assert!(after.outdated, "the space moved on");
    w.as_admin().space(&space).change_request(&request).merge().await.expect("merged");
    let pages =
        w.as_admin().space(&space).content().list_pages(ContentOptions::default()).await.expect("pages");
    let pages = serde_json::to_value(pages).expect("JSON");
    let titles: Vec<&str> = pages["pages"]
        .as_array()
        .expect("pages")
        .iter()
        .map(|page| page["title"].as_str().expect("a title"))
        .collect();
    assert_eq!(titles, ["Kept"], "what was taken back stays away, what the request adds comes");
    w.check().await;
}

#[tokio::test]
async fn purge_removes_the_history_of_a_space() {
    let w = World::new().await;
    let space = w.space().await;
    for n in 0..5 {
        publish(&w, &space, &format!("Page {n}")).await;
    }
    w.as_admin().space(&space).delete().await.expect("deleted");
    w.platform.as_platform().space(&space).purge().await.expect("purged");
    w.check().await;
}

#[tokio::test]
async fn deleted_spaces_are_listed_for_users_who_may_restore_them() {
    let w = World::new().await;
    let (one, two) = (w.space().await, w.space().await);
    let deleted = async |actor| {
        let page =
            w.platform.as_actor(actor).org(&w.org).spaces().list_deleted(&PageRequest::default()).await;
        page.expect("listed").items
    };
    assert!(deleted(&w.admin).await.is_empty());
    w.as_admin().space(&one).delete().await.expect("deleted");
    w.clock.advance(std::time::Duration::from_secs(3600));
    w.as_admin().space(&two).delete().await.expect("deleted");
    let shown = deleted(&w.admin).await;
    assert_eq!(shown.iter().map(|space| &space.id).collect::<Vec<_>>(), [&two, &one], "deleted last first");
    for space in &shown {
        let (at, until) = (space.deleted_at.expect("deleted"), space.restorable_until.expect("until when"));
        assert_eq!(until.time() - at.time(), docs_core::platform::RESTORE_WINDOW);
        assert_eq!(*space, w.as_admin().space(&space.id).get().await.expect("read"));
    }
    let (editor, guest) = (w.member("Eve", Some(Role::Review)).await, w.member("Gus", None).await);
    assert!(deleted(&editor).await.is_empty(), "who may not restore them does not see them");
    assert!(deleted(&guest).await.is_empty());
    w.as_admin().space(&two).restore().await.expect("restored");
    assert_eq!(deleted(&w.admin).await.len(), 1);
    // The space is no longer listed, although the purge job has not run yet.
    let week = docs_core::platform::RESTORE_WINDOW.to_std().expect("positive");
    w.clock.advance(week);
    assert!(deleted(&w.admin).await.is_empty());
    w.check().await;
}

#[tokio::test]
async fn one_of_two_concurrent_if_match_edits_is_rejected() {
    let w = World::new().await;
    let space = w.space().await;
    let request = w.request(&space).await;
    let content = w.as_admin().space(&space).change_request(&request).content();
    let seen = content.revision_tag().await.expect("told").expect("a member");
    assert_eq!(
        content.get_with_tag(ContentOptions::default()).await.expect("read").tag.as_ref(),
        Some(&seen)
    );
    let platform = w.platform.with_precondition(Precondition::if_match(seen));
    let (space, request) = (&space, request.as_str());
    let edit = || {
        let caller = platform.as_actor(&w.admin);
        let changes = update(json!([insert("New", "")]));
        async move { caller.space(space).change_request(request).edit(changes).await }
    };
    let (one, other) = tokio::join!(edit(), edit());
    assert_eq!([one.is_ok(), other.is_ok()].iter().filter(|ok| **ok).count(), 1, "{one:?} {other:?}");
    one.and(other).refused(ErrorKind::Precondition);
    w.check().await;
}

/// An action on a space.
#[derive(Clone, Debug)]
enum Act {
    /// Merges a change request with these pages.
    Merge(Vec<&'static str>),
    /// Deletes a page of the space through a change request.
    Delete(usize),
    /// Rolls the space back to one of its revisions.
    Rollback(usize),
    /// Opens a change request that is merged later.
    Begin(&'static str),
    /// Merges the oldest open change request.
    Finish,
}

fn any_act() -> impl Strategy<Value = Act> {
    let title = || proptest::sample::select(vec!["A", "B", "C"]);
    prop_oneof![
        3 => proptest::collection::vec(title(), 1..3).prop_map(Act::Merge),
        2 => (0usize..9).prop_map(Act::Delete),
        4 => (0usize..20).prop_map(Act::Rollback),
        1 => title().prop_map(Act::Begin),
        1 => Just(Act::Finish),
    ]
}

/// The content of a revision at its creation.
struct Made {
    id: RevisionId,
    content: Value,
}

struct Model {
    w: World,
    space: SpaceId,
    made: Vec<Made>,
    begun: Vec<String>,
}

impl Model {
    async fn new() -> Self {
        let w = World::new().await;
        let space = w.space().await;
        live(&w, &space, EditMode::Live).await;
        let mut model = Self { w, space, made: Vec::new(), begun: Vec::new() };
        model.note().await;
        model
    }

    /// Records the current revision.
    async fn note(&mut self) {
        let of = ContentVersion::space(self.space.clone());
        let id = self.w.as_admin().space(&self.space).get().await.expect("read").revision;
        self.made.push(Made { id, content: content(&self.w, &of).await });
    }

    async fn merge(&mut self, request: &str) {
        self.w.as_admin().space(&self.space).change_request(request).merge().await.expect("merged");
        self.note().await;
    }

    async fn apply(&mut self, act: &Act) {
        self.w.clock.advance(std::time::Duration::from_millis(1));
        match act {
            Act::Merge(titles) => {
                let request = self.w.request(&self.space).await;
                let pages: Vec<Value> = titles.iter().map(|title| insert(title, "Text.\n")).collect();
                edit(&self.w, &self.space, &request, pages.into()).await;
                self.merge(&request).await;
            }
            Act::Delete(nth) => {
                let pages = &self.made.last().expect("a revision").content["revision"]["pages"];
                let pages = pages.as_array().expect("pages");
                let Some(page) = pages.get(nth % pages.len().max(1)).map(|page| page["id"].clone()) else {
                    return;
                };
                let request = self.w.request(&self.space).await;
                let delete = json!([{ "operation": "delete_page", "page": page }]);
                edit(&self.w, &self.space, &request, delete).await;
                self.merge(&request).await;
            }
            Act::Rollback(nth) => self.rollback(nth % self.made.len()).await,
            Act::Begin(title) => {
                let request = self.w.request(&self.space).await;
                edit(&self.w, &self.space, &request, json!([insert(title, "")])).await;
                self.begun.push(request);
            }
            Act::Finish if self.begun.is_empty() => {}
            Act::Finish => {
                let request = self.begun.remove(0);
                self.merge(&request).await;
            }
        }
    }

    async fn rollback(&mut self, to: usize) {
        let (to, head) = (&self.made[to], self.made.last().expect("a revision"));
        let back = self.w.as_admin().space(&self.space).revisions().rollback(&to.id).await;
        let (back, wanted) = match back {
            Ok(back) => (back, to.content.clone()),
            Err(refused) => {
                assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused:?}");
                assert_eq!(to.content, head.content, "was never live content");
                return;
            }
        };
        self.note().await;
        let now = self.made.last().expect("a revision");
        assert_eq!((&now.id, &now.content), (&back.id, &wanted), "the content is the old one");
    }

    /// Checks that every revision is still listed, in order, with its original content.
    async fn check(&self) {
        let listed: Vec<RevisionId> =
            history(&self.w, &self.space).await.into_iter().map(|made| made.id).collect();
        let made: Vec<RevisionId> = self.made.iter().rev().map(|made| made.id.clone()).collect();
        assert_eq!(listed, made);
        for made in &self.made {
            let of = ContentVersion::revision(self.space.clone(), made.id.clone());
            assert_eq!(content(&self.w, &of).await, made.content);
        }
        self.w.check().await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rollback_restores_content_and_keeps_all_revisions(
        acts in proptest::collection::vec(any_act(), 1..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut model = Model::new().await;
            for act in &acts {
                model.apply(act).await;
            }
            model.check().await;
        });
    }
}
