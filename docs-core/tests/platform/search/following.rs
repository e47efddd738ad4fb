//! Index updates from the store.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use docs_core::{
    ErrorKind,
    model::{OrgId, PageId, SpaceId},
    ports::{
        SearchError, SearchIndex,
        search::{IndexChange, IndexedSpace, PageDocument, PageHit, Query, Scope, SearchQuery},
    },
    store::{FeedPos, PageRequest},
};
use docs_memstore::{FaultSearch, MemSearch};
use serde_json::json;
use tokio::sync::watch;

use super::{add, change, edit, org, pages, paths, space, text, world};
use crate::support::{Refused, World};

#[tokio::test]
async fn edit_reindexes_only_the_changed_pages() {
    let index = Arc::new(FaultSearch::new(MemSearch::new()));
    let w = World::with_search(Arc::clone(&index) as Arc<dyn SearchIndex>).await;
    let guide = space(&w, "Guide").await;
    let mut ids: Vec<PageId> = Vec::new();
    for n in 0..3 {
        let pages: Vec<_> = (0..400)
            .map(|p| {
                json!({ "operation": "insert_page", "title": format!("Page {n} {p}"),
                "document": { "markdown": format!("text {n} of {p}") } })
            })
            .collect();
        for some in pages.chunks(50) {
            ids.extend(edit(&w, &guide, json!(some)).await.expect("inserted"));
        }
    }
    w.platform.settle().await.expect("settled");
    assert_eq!(index.take_put(), 1_200);
    change(&w, &guide, &ids[7], json!({ "document": { "markdown": "changed" } })).await;
    w.platform.settle().await.expect("settled");
    assert_eq!(index.take_put(), 1);
    // The index contains neither the position of a page nor fields that readers do not see.
    change(&w, &guide, &ids[9], json!({ "into": ids[7] })).await;
    change(&w, &guide, &ids[8], json!({ "slug": "other", "icon": "star" })).await;
    w.platform.settle().await.expect("settled");
    assert_eq!(index.take_put(), 0);
    w.platform.settle().await.expect("settled");
    assert_eq!(index.take_put(), 0);
}

#[tokio::test]
async fn a_running_worker_makes_a_write_findable_within_two_seconds() {
    let index = Arc::new(FaultSearch::new(MemSearch::new()));
    let w = World::with_search(Arc::clone(&index) as Arc<dyn SearchIndex>).await;
    let guide = space(&w, "Guide").await;
    let (stop, stopped) = watch::channel(false);
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let (platform, mut stopped) = (w.platform.clone(), stopped.clone());
            tokio::spawn(
                async move { platform.work(async move { drop(stopped.wait_for(|s| *s).await) }).await },
            )
        })
        .collect();
    for n in 0..3 {
        let mut applied = index.applied();
        add(&w, &guide, &format!("Page {n}"), &format!("needle{n}")).await;
        let found = async {
            while paths(&w, &guide, &format!("needle{n}")).await.is_empty() {
                applied += 1;
                index.wait_until_applied(applied).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(2), found).await.expect("within two seconds");
    }
    // A test can wait for the index while workers are running.
    add(&w, &guide, "Page", "exactly").await;
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &guide, "exactly").await, ["page"]);
    stop.send(true).expect("they listen");
    for worker in workers {
        worker.await.expect("it ended");
    }
}

#[tokio::test]
async fn search_shows_no_text_removed_after_indexing() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    let page = add(&w, &guide, "Page", "needle and a secret").await;
    w.platform.settle().await.expect("settled");
    let shown = |of: Vec<docs_core::model::SearchPageResult>| -> Vec<String> {
        of.into_iter().flat_map(|page| page.sections).map(|section| section.body).collect()
    };
    assert_eq!(shown(pages(&w, &w.admin, &guide, "needle").await), ["needle and a secret"]);
    // Changes of other fields have no effect.
    change(&w, &guide, &page, json!({ "title": "Other" })).await;
    assert_eq!(shown(pages(&w, &w.admin, &guide, "needle").await), ["needle and a secret"]);
    change(&w, &guide, &page, json!({ "document": { "markdown": "needle alone" } })).await;
    assert_eq!(shown(pages(&w, &w.admin, &guide, "needle").await), [""; 0], "not followed yet");
    let found = org(&w, &w.admin, "needle").await;
    assert_eq!(found[0].pages[0].title, "Other", "the page is still found");
    assert_eq!(shown(found[0].pages.clone()), [""; 0]);
    w.platform.settle().await.expect("settled");
    assert_eq!(shown(pages(&w, &w.admin, &guide, "needle").await), ["needle alone"]);
}

#[tokio::test]
async fn response_has_bounded_pages_for_any_number_of_spaces() {
    let (w, _) = world().await;
    let mut all = Vec::new();
    for n in 0..25 {
        all.push(space(&w, &format!("Guide {n}")).await);
        let pages = (0..50).map(|p| {
            json!({ "operation": "insert_page", "title": format!("Page {p}"), "document": { "markdown": "needle" } })
        });
        edit(&w, &all[n], pages.collect()).await.expect("inserted");
    }
    w.platform.settle().await.expect("settled");
    let mut found = std::collections::BTreeSet::new();
    let mut page = PageRequest { limit: Some(300), ..PageRequest::default() };
    let mut answers = Vec::new();
    loop {
        let answer = w.as_admin().org(&w.org).search(&text("needle"), &page).await.expect("searched");
        let pages =
            answer.items.iter().flat_map(|space| space.pages.iter().map(|page| (&space.id, &page.id)));
        found.extend(pages.map(|(space, page)| (space.clone(), page.clone())));
        answers.push(answer.items.iter().map(|space| space.pages.len()).sum::<usize>());
        page.page = answer.next;
        if page.page.is_none() {
            break;
        }
    }
    assert_eq!(answers, [300, 300, 300, 300, 50], "the limit holds for all spaces together");
    assert_eq!(found.len(), 25 * 50, "nothing is lost");
}

/// An index that records the organizations of each batch.
struct RecordedIndex {
    inner: MemSearch,
    batches: Mutex<Vec<BTreeSet<OrgId>>>,
}

#[async_trait]
impl SearchIndex for RecordedIndex {
    async fn apply(&self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError> {
        let orgs = changes.iter().filter_map(|change| match change {
            IndexChange::PutPage(page) => Some(page.organization.clone()),
            _ => None,
        });
        self.batches.lock().expect("not poisoned").push(orgs.collect());
        self.inner.apply(changes, position).await
    }

    async fn position(&self) -> Result<Option<FeedPos>, SearchError> {
        self.inner.position().await
    }

    async fn indexed(&self, spaces: &[SpaceId]) -> Result<Vec<Option<IndexedSpace>>, SearchError> {
        self.inner.indexed(spaces).await
    }

    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceId>, SearchError> {
        self.inner.spaces(after, limit).await
    }

    async fn find_pages(&self, query: &SearchQuery) -> Result<Vec<PageHit>, SearchError> {
        self.inner.find_pages(query).await
    }

    async fn documents(&self, space: &SpaceId) -> Result<Vec<PageDocument>, SearchError> {
        self.inner.documents(space).await
    }

    async fn clear(&self) -> Result<(), SearchError> {
        self.inner.clear().await
    }
}

#[tokio::test]
async fn large_spaces_do_not_delay_other_organizations() {
    let batches = Mutex::default();
    let index = Arc::new(RecordedIndex { inner: MemSearch::new(), batches });
    let w = World::with_search(Arc::clone(&index) as Arc<dyn SearchIndex>).await;
    let title = "Other".parse().expect("a title");
    let user = w.admin.user().expect("a user");
    let mut other = w.clone();
    other.org = w.platform.as_platform().orgs().create(title, user).await.expect("created").id;
    let large = space(&w, "Large").await;
    // The feed is read in the order of ids.
    let mut small = space(&other, "Small").await;
    while small < large {
        small = space(&other, "Small").await;
    }
    w.platform.settle().await.expect("settled");
    index.batches.lock().expect("not poisoned").clear();
    let pages: Vec<_> = (0..2_400)
        .map(|page| json!({ "operation": "insert_page", "title": format!("Page {page}"), "document": { "markdown": "text" } }))
        .collect();
    for some in pages.chunks(50) {
        edit(&w, &large, json!(some)).await.expect("inserted");
    }
    add(&other, &small, "Page", "needle").await;
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&other, &small, "needle").await, ["page"]);
    assert_eq!(index.documents(&large).await.expect("read").len(), 2_400);
    let batches = index.batches.lock().expect("not poisoned");
    let of_other = batches.iter().position(|orgs| orgs.contains(&other.org)).expect("a batch");
    assert!(of_other < 2 && batches.len() > 4, "batch {of_other} of {}", batches.len());
}

#[tokio::test]
async fn failed_batch_is_retried() {
    let index = Arc::new(FaultSearch::new(MemSearch::new()));
    let w = World::with_search(Arc::clone(&index) as Arc<dyn SearchIndex>).await;
    let guide = space(&w, "Guide").await;
    for n in 0..3 {
        add(&w, &guide, &format!("Page {n}"), "needle").await;
        index.refuse(1);
        w.platform.settle().await.refused(ErrorKind::Unavailable);
        w.platform.settle().await.expect("settled");
        assert_eq!(paths(&w, &guide, "needle").await.len(), n + 1);
    }
}

#[tokio::test]
async fn index_of_another_store_is_rebuilt() {
    let (w, index) = world().await;
    let theirs = space(&w, "Theirs").await;
    for n in 0..5 {
        add(&w, &theirs, &format!("Page {n}"), "needle").await;
    }
    w.platform.settle().await.expect("settled");
    let other = World::with_search(Arc::clone(&index) as Arc<dyn SearchIndex>).await;
    other.platform.settle().await.expect("settled");
    assert_eq!(index.spaces(None, 10).await, Ok(Vec::new()));
    let scope = Scope::Organization(other.org.clone());
    let query =
        SearchQuery { query: Query::parse("needle"), scope, after: None, limit: 10, tenant: "org".into() };
    assert_eq!(index.find_pages(&query).await, Ok(Vec::new()));
    let ours = space(&other, "Ours").await;
    add(&other, &ours, "Page", "needle").await;
    other.platform.settle().await.expect("settled");
    assert_eq!(paths(&other, &ours, "needle").await, ["page"]);
}

#[tokio::test]
async fn index_recovers_changes_trimmed_from_the_feed() {
    let (w, _) = world().await;
    let (guide, other) = (space(&w, "Guide").await, space(&w, "Other").await);
    w.platform.settle().await.expect("settled");
    add(&w, &guide, "Page", "needle").await;
    w.platform.settle().await.expect("settled");
    add(&w, &guide, "Missed", "needle").await;
    let store = w.platform.store();
    let heads = docs_core::store::topic::HEAD;
    let news = store.changes(heads, None, 1_000).await.expect("news");
    store.trim(heads, &news.last().expect("some").0).await.expect("trimmed");
    add(&w, &other, "Page", "needle").await;
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &guide, "needle").await.len(), 2, "its news are gone, and it is found");
    assert_eq!(paths(&w, &other, "needle").await.len(), 1);
}

#[tokio::test]
async fn unreadable_space_does_not_block_indexing_of_others() {
    use docs_core::store::{Hash, Mode, Tx, records::SpaceRecord};
    let (w, _) = world().await;
    let (broken, whole) = (space(&w, "Broken").await, space(&w, "Whole").await);
    add(&w, &whole, "Page", "needle").await;
    let mut tx = Tx::new(w.platform.store().begin(Mode::Write, &[]).await.expect("begins"));
    let record: Arc<SpaceRecord> =
        tx.get(&SpaceRecord::key_for(&broken)).await.expect("read").expect("the space");
    let damaged = SpaceRecord { root: Hash::compute(b"nothing"), ..SpaceRecord::clone(&record) };
    tx.put(&*record, damaged).expect("put");
    tx.commit().await.expect("stored");
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &whole, "needle").await, ["page"]);
}
