//! The work of comparison pages, which the holder of a preview URL can request.

use docs_core::model::{CreateChangeRequest, PageId, PreviewSite, SiteId, SpaceId, UpdateContent};
use poem::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{Got, Measured, World, path_of};

/// Creates a change request that adds a line to each page. Returns its number.
async fn change_pages(w: &World, space: &SpaceId, pages: &[PageId], text: &str) -> String {
    let space = w.me().space(space);
    let request = space.change_requests().create(CreateChangeRequest::default()).await.expect("one");
    let number = request.number.to_string();
    let change = |page: &PageId| {
        json!({ "operation": "update_page", "page": page,
            "document": { "markdown": format!("{text}\n\nNew line.") } })
    };
    let changes: Vec<Value> = pages.iter().map(change).collect();
    let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
    space.change_request(&number).edit(update).await.expect("edited");
    number
}

/// Requests a comparison with a preview URL from another server.
async fn compare(w: &World, site: &SiteId, number: &str, query: &str) -> (Measured, Got) {
    let server = w.measured();
    let url = w.me().org(&w.org).site(site).preview(&PreviewSite::default()).await.expect("a preview").url;
    let (path, token) = url.split_once("?token=").expect("a token");
    let path = format!("{}~/changes/{number}/~compare{query}", path_of(path));
    let token = format!("Bearer {token}");
    let got = World::ask_of(&server.app, Method::GET, &path, &[("authorization", &token)]).await;
    assert_eq!(got.status, StatusCode::OK, "{got:?}");
    (server, got)
}

/// Adds pages with the same text.
async fn pages(w: &World, space: &SpaceId, number: usize, text: &str) -> Vec<PageId> {
    let page = |at: usize| json!({ "operation": "insert_page", "title": format!("Page {at}"), "document": { "markdown": text } });
    w.edit(space, (0..number).map(page).collect::<Vec<Value>>().into()).await
}

#[tokio::test]
async fn comparison_of_many_pages_reads_one_page_tree() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let pages = pages(&w, &space, 12, "Text.").await;
    let (site, _) = w.site("Docs", &space).await;
    let mut reads = Vec::new();
    for changed in [2, 12] {
        let number = change_pages(&w, &space, &pages[..changed], "Text.").await;
        let (server, got) = compare(&w, &site, &number, "").await;
        assert_eq!(got.body.matches("<ins>").count(), changed, "{}", got.body);
        reads.push(server.tree_reads().await.0);
    }
    assert!(reads[0] > 0);
    assert_eq!(reads[0], reads[1]);
}

#[tokio::test]
async fn texts_of_a_comparison_share_one_condition_budget() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    // Each text takes about 350,000 steps. A comparison has 2,000,000.
    let costly = |at: usize| {
        format!(
            "{{% if \"x\".repeat(7000).split(\"\").map(x => x + {at}).length == 7000 %}}\nShown {at}.\n{{% endif %}}\n\n"
        )
    };
    let text: String = (0..5).map(costly).collect();
    let pages = pages(&w, &space, 6, &text).await;
    let (site, _) = w.site("Docs", &space).await;
    let number = change_pages(&w, &space, &pages, &text).await;
    let (_, got) = compare(&w, &site, &number, "").await;
    let (compared, links) = (got.body.matches("<ins>").count(), got.body.matches("Compare the text").count());
    assert!((1..=3).contains(&compared), "{compared} texts are compared: {}", got.body);
    assert_eq!(compared + links, 6, "{}", got.body);
    assert_eq!(got.body.matches("New line.").count(), compared);
    let (_, got) = compare(&w, &site, &number, &format!("?page={}", pages[5])).await;
    assert_eq!(got.body.matches("<ins>").count(), 1, "a page alone is compared: {}", got.body);
}
