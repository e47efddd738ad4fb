//! A site created through the API: a right-to-left page, and a page with many kinds of blocks.

use serde_json::{Value, json};

use crate::client::{Client, id};

pub(crate) const ARABIC: &str = "start";
pub(crate) const BLOCKS: &str = "blocks";

const ARABIC_TEXT: &str = include_str!("arabic.md");
const BLOCKS_TEXT: &str = include_str!("blocks.md");

pub(crate) struct Made {
    /// URL of the site, with a trailing slash.
    pub(crate) url: String,
    /// API path of the site.
    path: String,
    /// Id of the site space, for redirects.
    site_space: String,
    /// Id of the page in Arabic.
    page: String,
}

/// Creates a space with two pages, and publishes it as a site.
pub(crate) async fn publish(client: &Client) -> Made {
    let org = id(&client.get("/orgs").await["items"][0]);
    let space = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "كتاب" })).await);
    let pages = [("دليل البدء", ARABIC, ARABIC_TEXT), ("Kinds of blocks", BLOCKS, BLOCKS_TEXT)];
    let changes: Vec<Value> = pages
        .into_iter()
        .map(|(title, slug, text)| {
            json!({ "operation": "insert_page", "title": title, "slug": slug, "document": { "markdown": text } })
        })
        .collect();
    let requests = format!("/spaces/{space}/change-requests");
    let request = format!("{requests}/{}", id(&client.post(&requests, json!({})).await));
    client.post(&format!("{request}/content"), json!({ "changes": changes })).await;
    client.post(&format!("{request}/merge"), json!({})).await;
    let page = id(&client.get(&format!("/spaces/{space}/content/pages")).await["pages"][0]);
    let new = json!({ "title": "كتاب", "visibility": "public", "spaces": [space] });
    let path = format!("/orgs/{org}/sites/{}", id(&client.post(&format!("/orgs/{org}/sites"), new).await));
    let shown = client.post(&format!("{path}/publish"), Value::Null).await;
    let url = shown["urls"]["published"].as_str().expect("an address").to_owned();
    let site_space = id(&client.get(&format!("{path}/site-spaces")).await["items"][0]);
    Made { url, path, site_space, page }
}

impl Made {
    /// Creates a redirect from a path of the site to the page in Arabic.
    pub(crate) async fn redirect(&self, client: &Client, source: &str) {
        let to = json!({ "kind": "site-page", "siteSpaceId": self.site_space, "pageId": self.page });
        let new = json!({ "source": source, "destination": to });
        client.post(&format!("{}/redirects", self.path), new).await;
    }
}
