//! The server with real repositories behind a host of Git: what is edited on either side arrives at the other, and a
//! server that is killed in the middle leaves neither by half.
//!
//! The host needs the `git` program; without it, a line says that nothing was run.

mod crash;
mod hook;
mod host;
mod hostile;
mod repository;
mod transcript;

use crate::client::{Client, id};
use serde_json::{Value, json};

/// Changes content by way of a change request.
async fn edit(client: &Client, space: &str, changes: Value) {
    let requests = format!("/spaces/{space}/change-requests");
    let request = format!("{requests}/{}", id(&client.post(&requests, json!({})).await));
    client.post(&format!("{request}/content"), json!({ "changes": changes })).await;
    let merged = client.post(&format!("{request}/merge"), json!({})).await;
    assert_eq!(merged["result"], "merge", "{merged}");
}

/// The page of a file, and its text.
async fn page_of(client: &Client, space: &str, path: &str) -> (String, String) {
    let content = client.get(&format!("/spaces/{space}/content")).await;
    let pages = content["pages"].as_array().expect("pages");
    let page = pages.iter().find(|page| page["git"]["path"] == path).expect("a page of the file");
    let read = format!("/spaces/{space}/content/page/{}?format=markdown", id(page));
    (id(page), client.get(&read).await["markdown"].as_str().expect("a text").to_owned())
}

/// Puts a text in place of another on the page of a file, by way of a change request.
async fn edit_page(client: &Client, space: &str, path: &str, (from, to): (&str, &str)) {
    let (page, text) = page_of(client, space, path).await;
    assert!(text.contains(from), "{text}");
    let document = json!({ "markdown": text.replace(from, to) });
    edit(client, space, json!([{ "operation": "update_page", "page": page, "document": document }])).await;
}
