//! Sites that everyone may read, resolved once for all their URLs.

use docs_core::{
    ErrorKind,
    content::Evaluated,
    model::{PublishedUrl, RevisionPage, SiteVisibility, UpdateSite},
    platform::{OpenSite, ShownDocument},
};
use serde_json::{Value, json};

use super::{address, enter, place, show, site};
use crate::{
    search::{add, change, space},
    support::{Refused as _, World},
};

fn url(text: &str) -> PublishedUrl {
    PublishedUrl::new(text).expect("an address")
}

async fn update(w: &World, site: &docs_core::model::SiteId, body: Value) {
    let body: UpdateSite = serde_json::from_value(body).expect("a change");
    w.as_admin().org(&w.org).site(site).update(body).await.expect("changed");
}

/// Public sites and unlisted sites count as public.
#[tokio::test]
async fn site_is_open_while_public_and_not_adaptive() {
    let w = World::new().await;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let at = url(&address(&w, &docs).await);
    let is_open = async || OpenSite::find(&w.platform, &at).await.expect("an answer").is_some();
    assert!(is_open().await);
    for (visibility, expected) in
        [("unlisted", true), ("share-link", false), ("visitor-auth", false), ("public", true)]
    {
        update(&w, &docs, json!({ "visibility": visibility })).await;
        assert_eq!(is_open().await, expected, "{visibility}");
    }
    update(&w, &docs, json!({ "adaptiveContent": { "enabled": true } })).await;
    assert!(!is_open().await, "who reads decides what is shown");
    update(&w, &docs, json!({ "adaptiveContent": { "enabled": false } })).await;
    assert!(is_open().await);
    w.as_admin().org(&w.org).site(&docs).unpublish().await.expect("taken back");
    assert!(!is_open().await);
    let nothing = url(&at.as_str().replace("docs", "nothing"));
    assert!(OpenSite::find(&w.platform, &nothing).await.expect("an answer").is_none());
}

#[tokio::test]
async fn open_site_requires_a_host_without_nested_mounts() {
    let w = World::new().await;
    let guide = space(&w, "Guide").await;
    let (docs, other) = (site(&w, "Docs").await, site(&w, "Other").await);
    for (site, proxy) in [(&docs, "www.example.com/help"), (&other, "www.example.com/help/more")] {
        place(&w, site, &guide).await;
        show(&w, site, SiteVisibility::Public).await;
        if *site == docs {
            update(&w, site, json!({ "proxy": proxy })).await;
            let open = OpenSite::find(&w.platform, &url("https://www.example.com/help/a")).await;
            let open = open.expect("an answer").expect("open");
            for elsewhere in ["https://www.example.com/other", "https://example.com/help/a"] {
                assert!(open.resolve(&url(elsewhere)).await.expect("an answer").is_none(), "{elsewhere}");
            }
        }
        update(&w, site, json!({ "proxy": proxy })).await;
    }
    for at in ["https://www.example.com/help/a", "https://www.example.com/help/more"] {
        assert!(OpenSite::find(&w.platform, &url(at)).await.expect("an answer").is_none(), "{at}");
    }
}

#[tokio::test]
async fn open_site_documents_equal_those_of_a_visitor() {
    let w = World::new().await;
    let (guide, hidden, docs) = (space(&w, "Guide").await, space(&w, "Hidden").await, site(&w, "Docs").await);
    let texts = ["Said to all.", "{% if visitor.claims.plan %}\nSecret.\n{% endif %}\n\nSaid.", ""];
    let mut pages = Vec::new();
    for text in texts {
        pages.push(add(&w, &guide, "Page", text).await);
    }
    let gone = add(&w, &guide, "Gone", "Secret.").await;
    change(&w, &guide, &gone, json!({ "condition": "visitor.claims.plan" })).await;
    let elsewhere = add(&w, &hidden, "Elsewhere", "Secret.").await;
    place(&w, &docs, &guide).await;
    let beside = place(&w, &docs, &hidden).await;
    let never = serde_json::from_value(json!({ "condition": "false" })).expect("a change");
    w.as_admin().org(&w.org).site(&docs).space(&beside).update(never).await.expect("hidden");
    show(&w, &docs, SiteVisibility::Public).await;
    let at = address(&w, &docs).await;
    let open = OpenSite::find(&w.platform, &url(&at)).await.expect("an answer").expect("open");
    let (_, visitor) = enter(&w, &at, Value::Null).await.expect("found");
    let me = w.platform.as_actor(&visitor);
    for page in &pages {
        let shown = open.find_page_document(&guide, page, Evaluated::Yes).await.expect("read");
        let told = me.space(&guide).content().find_page_document(page, Evaluated::Yes).await.expect("read");
        let parts = |shown: &Option<ShownDocument>| shown.clone().map(|shown| (shown.document, shown.id));
        assert_eq!(parts(&shown), parts(&told));
        let document = shown.as_ref().map(|shown| &*shown.document);
        assert!(!serde_json::to_string(&document).expect("JSON").contains("Secret"), "{shown:?}");
    }
    assert!(open.find_page_document(&guide, &pages[2], Evaluated::Yes).await.expect("read").is_none());
    // Only a document that is the same for all readers has an id.
    let content = me.space(&guide).content().get(Default::default()).await.expect("read");
    for (at, is_named) in [(0, true), (1, false)] {
        let shown = open.find_page_document(&guide, &pages[at], Evaluated::Yes).await.expect("read");
        let id = content.pages.iter().find_map(|page| match page {
            RevisionPage::Document(page) if page.base.id == pages[at] => page.document_id.clone(),
            _ => None,
        });
        let id = id.filter(|_| is_named);
        assert_eq!(shown.map(|shown| shown.id), Some(id), "page {at}");
    }
    for (space, page) in [(&guide, &gone), (&hidden, &elsewhere)] {
        open.find_page_document(space, page, Evaluated::Yes).await.refused(ErrorKind::NotFound);
    }
    let live = me.space(&guide).content().get(Default::default()).await.expect("read").id;
    assert!(open.shows(&guide, &live));
    change(&w, &guide, &pages[0], json!({ "title": "Other" })).await;
    let later = me.space(&guide).content().get(Default::default()).await.expect("read").id;
    assert!(open.shows(&guide, &live) && !open.shows(&guide, &later), "it is of its moment");
}
