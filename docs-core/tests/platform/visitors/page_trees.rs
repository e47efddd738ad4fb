//! Page trees in responses.

use docs_core::{
    Actor,
    model::{DocumentPage, PageId, RevisionPage, SiteVisibility, SpaceId},
    platform::{ContentOptions, ContentSnapshot, ContentVersion, JsonAnswer, PageSearch},
};
use serde_json::json;

use super::{
    conditions::{adapted, visitor},
    place, show,
};
use crate::{
    search::{edit, space, world},
    support::World,
};

/// A number of pages that is built on a blocking thread.
const PAGES: usize = 300;

async fn large_space(w: &World) -> SpaceId {
    let id = space(w, "Large").await;
    let page = |n: usize| {
        let condition = if n.is_multiple_of(3) { "visitor.claims.plan == 'pro'" } else { "" };
        json!({ "operation": "insert_page", "title": format!("Page {n}"), "condition": condition,
            "document": { "markdown": "Text." } })
    };
    for from in (0..PAGES).step_by(50) {
        edit(w, &id, (from..from + 50).map(page).collect()).await.expect("edited");
    }
    id
}

async fn read(w: &World, reader: &Actor, space: &SpaceId) -> JsonAnswer {
    let live = ContentVersion::space(space.clone());
    let content = w.platform.as_actor(reader).content(&live);
    content.list_pages_json(ContentOptions::default()).await.expect("pages")
}

/// Checks that the JSON is that of the list, and returns the number of its pages.
async fn check(w: &World, reader: &Actor, space: &SpaceId) -> usize {
    let live = ContentVersion::space(space.clone());
    let pages = w.platform.as_actor(reader).content(&live).list_pages(ContentOptions::default()).await;
    let pages = pages.expect("pages");
    let answer = read(w, reader, space).await;
    let json = serde_json::to_vec(&pages).expect("JSON");
    assert!(answer.json() == &json, "the JSON differs");
    pages.pages.len()
}

#[tokio::test]
async fn cached_page_trees_belong_to_their_audience_and_revision() {
    let (w, _) = world().await;
    let docs = adapted(&w).await;
    let large = large_space(&w).await;
    place(&w, &docs, &large).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let pro = visitor(&w, &docs, &json!({ "plan": "pro" })).await;
    let free = visitor(&w, &docs, &json!({ "plan": "free" })).await;
    for _ in 0..2 {
        assert_eq!(check(&w, &w.admin, &large).await, PAGES);
        assert_eq!(check(&w, &pro, &large).await, PAGES);
        assert_eq!(check(&w, &free, &large).await, PAGES - PAGES / 3);
    }
    let more = json!([{ "operation": "insert_page", "title": "More", "document": { "markdown": "Text." } }]);
    edit(&w, &large, more).await.expect("edited");
    assert_eq!(check(&w, &free, &large).await, PAGES - PAGES / 3 + 1);
    let bare = ContentOptions { git: false, computed: false, ..ContentOptions::default() };
    let content = ContentVersion::space(large.clone());
    let shown = w.platform.as_actor(&w.admin).content(&content).list_pages_json(bare).await.expect("pages");
    assert_ne!(shown.json().as_ptr(), read(&w, &w.admin, &large).await.json().as_ptr());
}

#[tokio::test]
async fn concurrent_reads_build_a_page_tree_once() {
    let (w, _) = world().await;
    let docs = adapted(&w).await;
    let large = large_space(&w).await;
    place(&w, &docs, &large).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let pro = visitor(&w, &docs, &json!({ "plan": "pro" })).await;
    let (first, second, third) =
        tokio::join!(read(&w, &pro, &large), read(&w, &pro, &large), read(&w, &pro, &large));
    let later = read(&w, &pro, &large).await;
    for other in [second, third, later] {
        assert_eq!(first.json().as_ptr(), other.json().as_ptr(), "the answers share their bytes");
        assert_eq!(first.tag(), other.tag());
    }
}

#[tokio::test]
async fn visitors_with_made_up_claims_share_a_page_tree() {
    let (w, _) = world().await;
    let docs = adapted(&w).await;
    let large = large_space(&w).await;
    place(&w, &docs, &large).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let visitor = |plan: &'static str, name: &'static str| {
        let (w, docs) = (&w, &docs);
        async move { visitor(w, docs, &json!({ "plan": plan, "name": name })).await }
    };
    let ada = read(&w, &visitor("pro", "Ada").await, &large).await;
    let bob = read(&w, &visitor("pro", "Bob").await, &large).await;
    assert_eq!(ada.json().as_ptr(), bob.json().as_ptr(), "no condition reads the name");
    assert_ne!(read(&w, &visitor("free", "Ada").await, &large).await.json(), ada.json());
}

#[tokio::test]
async fn snapshots_of_visitors_who_see_the_same_pages_have_equal_tags() {
    let (w, _) = world().await;
    let docs = adapted(&w).await;
    let large = large_space(&w).await;
    place(&w, &docs, &large).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let live = ContentVersion::space(large.clone());
    let snapshot = |plan: &'static str, name: &'static str| {
        let (w, docs, live) = (&w, &docs, &live);
        async move {
            let visitor = visitor(w, docs, &json!({ "plan": plan, "name": name })).await;
            w.platform.as_actor(&visitor).content(live).snapshot().await.expect("content")
        }
    };
    let shown = ContentOptions::default();
    let ada = snapshot("pro", "Ada").await;
    let bob = snapshot("pro", "Bob").await;
    let eve = snapshot("free", "Ada").await;
    let tag = ada.pages_tag(shown).await.expect("a tag");
    assert_eq!(bob.pages_tag(shown).await.expect("a tag"), tag, "no condition reads the name");
    assert_ne!(eve.pages_tag(shown).await.expect("a tag"), tag);
    assert_eq!(ada.pages(shown).await.expect("pages"), bob.pages(shown).await.expect("pages"));
    assert_eq!(eve.pages(shown).await.expect("pages").len(), PAGES - PAGES / 3);
}

#[tokio::test]
async fn page_lookups_agree_with_the_page_tree() {
    let (w, _) = world().await;
    let docs = adapted(&w).await;
    let large = large_space(&w).await;
    place(&w, &docs, &large).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let all = listed(&snapshot(&w, &w.admin, &large).await).await;
    for plan in ["pro", "free"] {
        let visitor = visitor(&w, &docs, &json!({ "plan": plan })).await;
        let content = snapshot(&w, &visitor, &large).await;
        let visible = listed(&content).await;
        let first = visible[0].0.clone();
        assert_eq!(first == all[0].0, plan == "pro", "the first page has a condition");
        let ids: Vec<PageId> = all.iter().map(|(id, _)| id.clone()).collect();
        let found = content.page_addresses(&ids, &mut PageSearch::default()).await.expect("addresses");
        assert_eq!(found.len(), visible.len());
        for (id, page) in visible {
            let path = if id == first { "" } else { page.path.as_str() };
            assert_eq!((&*found[&id].title, &*found[&id].path), (&*page.base.title, path));
        }
        for (at, (id, page)) in all.iter().enumerate().step_by(17) {
            let mut search = PageSearch::default();
            let has =
                content.has_document_at(&page.path.to_uppercase(), &mut search).await.expect("searched");
            assert_eq!(has, found.contains_key(id), "{at}");
        }
        assert!(content.has_document_at("", &mut PageSearch::default()).await.expect("searched"));
        let mut full = PageSearch::default();
        full.add(PageSearch::MAX_PAGES);
        assert!(content.page_addresses(&ids, &mut full).await.expect("addresses").is_empty());
        assert!(!content.has_document_at("", &mut full).await.expect("searched"));
    }
}

#[tokio::test]
async fn the_first_document_is_hidden_only_without_others() {
    let (w, _) = world().await;
    let id = space(&w, "Hidden").await;
    let page = |title: &str| json!({ "operation": "insert_page", "title": title, "document": {} });
    let mut hidden = page("Hidden");
    hidden["hidden"] = true.into();
    edit(&w, &id, json!([hidden, page("Shown")])).await.expect("edited");
    let at = |pages: &[(PageId, DocumentPage)], title: &str| {
        pages.iter().find(|(_, page)| page.base.title == title).expect("a page").0.clone()
    };
    let pages = listed(&snapshot(&w, &w.admin, &id).await).await;
    let mut below = page("Below");
    below["into"] = at(&pages, "Hidden").as_str().into();
    edit(&w, &id, json!([below])).await.expect("edited");
    let first = async || {
        let content = snapshot(&w, &w.admin, &id).await;
        let pages = listed(&content).await;
        let ids: Vec<PageId> = pages.iter().map(|(id, _)| id.clone()).collect();
        let found = content.page_addresses(&ids, &mut PageSearch::default()).await.expect("addresses");
        let first = pages.into_iter().filter(|(id, _)| found[id].path.is_empty());
        first.map(|(_, page)| page.base.title).collect::<Vec<_>>()
    };
    assert_eq!(first().await, ["Shown"]);
    let shown = at(&pages, "Shown");
    edit(&w, &id, json!([{ "operation": "delete_page", "page": shown }])).await.expect("edited");
    assert_eq!(first().await, ["Hidden"]);
}

async fn snapshot(w: &World, reader: &Actor, space: &SpaceId) -> ContentSnapshot {
    let live = ContentVersion::space(space.clone());
    w.platform.as_actor(reader).content(&live).snapshot().await.expect("content")
}

/// Returns all documents in the order of the tree.
async fn listed(content: &ContentSnapshot) -> Vec<(PageId, DocumentPage)> {
    let pages = content.pages(ContentOptions::default()).await.expect("pages");
    let (mut all, mut left) = (Vec::new(), pages.into_iter().rev().collect::<Vec<_>>());
    while let Some(page) = left.pop() {
        let RevisionPage::Document(mut page) = page else { panic!("{page:?}") };
        left.extend(std::mem::take(&mut page.pages).into_iter().rev());
        all.push((page.base.id.clone(), *page));
    }
    all
}
