//! The server with real repositories on a Git host: edits propagate in both directions, and killing the server at any
//! point leaves no partial state on either side.
//!
//! The Git host needs the `git` program. Without it, the tests print a message and do not run.

mod crash;
mod hook;
pub(crate) mod host;
mod hostile;
mod repository;
mod transcript;

use crate::client::{Client, id};
use serde_json::{Value, json};

/// Changes content through a change request.
async fn edit(client: &Client, space: &str, changes: Value) {
    let requests = format!("/spaces/{space}/change-requests");
    let request = format!("{requests}/{}", id(&client.post(&requests, json!({})).await));
    client.post(&format!("{request}/content"), json!({ "changes": changes })).await;
    let merged = client.post(&format!("{request}/merge"), json!({})).await;
    assert_eq!(merged["result"], "merge", "{merged}");
}

/// Returns the id and text of the page for a file.
async fn page_of(client: &Client, space: &str, path: &str) -> (String, String) {
    let content = client.get(&format!("/spaces/{space}/content")).await;
    let pages = content["pages"].as_array().expect("pages");
    let page = pages.iter().find(|page| page["git"]["path"] == path).expect("a page of the file");
    let read = format!("/spaces/{space}/content/page/{}?format=markdown", id(page));
    (id(page), client.get(&read).await["markdown"].as_str().expect("a text").to_owned())
}

/// Replaces text on the page for a file, through a change request.
async fn edit_page(client: &Client, space: &str, path: &str, from: &str, to: &str) {
    let (page, text) = page_of(client, space, path).await;
    assert!(text.contains(from), "{text}");
    let document = json!({ "markdown": text.replace(from, to) });
    edit(client, space, json!([{ "operation": "update_page", "page": page, "document": document }])).await;
}
