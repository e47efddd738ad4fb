//! Links to pages of large spaces, and searches for a page in large variants: pages are looked up without the page
//! trees of these spaces.

use docs_core::model::{PageId, RevisionPage, SpaceId, UpdateSpace};
use poem::http::{Method, StatusCode};
use serde_json::json;

use crate::{
    large::import,
    world::{Measured, World},
};

/// The number of pages of a large space.
const PAGES: usize = 2_100;

/// Creates a large space. Its first page is called "Welcome".
async fn large_space(w: &World, title: &str, language: &str) -> SpaceId {
    let space = w.space(title).await;
    let below: String = (0..PAGES).map(|at| format!("  * Page {at}\n")).collect();
    import(w, &space, &format!("* Part\n{below}")).await;
    set_language(w, &space, language).await;
    space
}

async fn set_language(w: &World, space: &SpaceId, language: &str) {
    let change: UpdateSpace = serde_json::from_value(json!({ "language": language })).expect("a change");
    w.me().space(space).update(change).await.expect("changed");
}

async fn page_at(w: &World, space: &SpaceId, path: &str) -> PageId {
    let content = w.me().space(space).content();
    match content.get_page_by_path(path, Default::default()).await.expect("a page") {
        RevisionPage::Document(page) => page.base.id,
        other => panic!("{other:?}"),
    }
}

async fn html(server: &Measured, path: &str) -> String {
    let got = World::ask_of(&server.app, Method::GET, path, &[]).await;
    assert_eq!(got.status, StatusCode::OK, "{path}: {got:?}");
    got.body
}

#[tokio::test]
async fn pages_of_large_spaces_are_found_without_their_trees() {
    let w = World::new().await;
    let small = w.space("Small").await;
    set_language(&w, &small, "en").await;
    let (german, french) = (large_space(&w, "German", "de").await, large_space(&w, "French", "fr").await);
    let mut text = String::new();
    for space in [&german, &french] {
        for path in ["readme", "part/page-7", "part"] {
            text += &format!("[to {path}](/spaces/{space}/pages/{})\n\n", page_at(&w, space, path).await);
        }
        text += &format!("[missing](/spaces/{space}/pages/nothing)\n\n");
    }
    let reused = json!({ "operation": "insert_reusable_content", "title": "Reused",
        "document": { "markdown": format!("[reused](/pages/{})", page_at(&w, &german, "part/page-9").await) } });
    w.edit(&german, json!([reused])).await;
    let content = w.me().space(&german).content().get(Default::default()).await.expect("content");
    text += &format!(
        "{{% include \"/spaces/{german}/reusable-content/{}\" %}}\n",
        content.reusable_contents[0].id
    );
    let first = w.page(&small, "Start", &text).await;
    let part = w.page(&small, "Part", "Text.").await;
    let (site, path) = w.site("Docs", &small).await;
    for space in [&german, &french] {
        w.place(&site, space).await;
    }
    w.platform.settle().await.expect("settled");

    let server = w.measured();
    let shown = html(&server, &path).await;
    for space in ["german", "french"] {
        for below in ["", "part/page-7", "part"] {
            assert!(shown.contains(&format!("<a href=\"{path}{space}/{below}\">to ")), "{below}: {shown}");
        }
        assert!(shown.contains(&format!("<li><a href=\"{path}{space}/\"")), "the variant: {shown}");
    }
    assert!(shown.contains(&format!("<a href=\"{path}german/part/page-9\">reused")), "{shown}");
    assert_eq!(shown.matches("nothing").count(), 0, "{shown}");
    let shown = html(&server, &format!("{path}part")).await;
    for space in ["german", "french"] {
        assert!(shown.contains(&format!("<li><a href=\"{path}{space}/part\"")), "{shown}");
    }
    assert_eq!(server.tree_reads().await.1, 1, "that of the requested space");

    let server = w.measured();
    for (page, alternate) in [(&first, "readme"), (&part, "part")] {
        let content = server.platform.as_actor(&w.admin).space(&small).content();
        let links = content.get_page_meta_links(page).await.expect("links");
        let mut expected = Vec::new();
        for space in [&german, &french] {
            expected
                .push(json!({ "kind": "page", "page": page_at(&w, space, alternate).await, "space": space }));
        }
        assert_eq!(serde_json::to_value(&links.alternates).expect("JSON"), json!(expected), "{alternate}");
    }
    assert_eq!(server.tree_reads().await, (0, 0));
}

#[tokio::test]
async fn visitors_with_made_up_claims_share_the_lists_of_spaces() {
    let w = World::new().await;
    let (first, second) = (w.space("First").await, w.space("Second").await);
    for space in [&first, &second] {
        w.page(space, "Start", "Text.").await;
    }
    let (site, path) = w.site("Docs", &first).await;
    w.place(&site, &second).await;
    w.update(&site, json!({ "adaptiveContent": { "enabled": true } })).await;
    let schema =
        serde_json::from_value(json!({ "jsonSchema": { "type": "object", "additionalProperties": false,
        "properties": { "unsigned": { "type": "object",
            "properties": { "free": { "type": "string" } } } } } }));
    w.me().org(&w.org).site(&site).set_adaptive_schema(schema.expect("a schema")).await.expect("set");

    let server = w.measured();
    for name in 0..5 {
        let cookie = format!("gitbook-visitor-public={{%22free%22:%22{name}%22}}");
        for (list, part) in [("rss.xml", "<item>"), ("sitemap.xml", "<url>")] {
            let headers = [("cookie", &*cookie)];
            let got = World::ask_of(&server.app, Method::GET, &format!("{path}{list}"), &headers).await;
            assert_eq!(got.body.matches(part).count(), 2, "{list}: {}", got.body);
        }
    }
    assert_eq!(server.tree_reads().await, (2, 2), "each space once");
}
