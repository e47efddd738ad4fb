//! Visitors of published sites: access, and visible content.

mod conditions;
mod doors;
mod leaks;
mod open;
mod page_trees;
mod paths;
mod previews;
mod taken_back;
mod uses;

use data_encoding::BASE64URL_NOPAD;
use docs_core::{
    Actor,
    model::{
        AddSiteSpace, CreateSite, OrgId, PublishedUrl, ResolveUrl, ResolvedContent, ResolvedUrl, SiteId,
        SiteSpaceId, SiteSpacesInput, SiteVisibility, SpaceId, UpdateSite,
    },
    platform::OpenSite,
};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::support::World;

/// Creates a token like those of a site's sign-in.
fn token(key: &str, claims: &Value) -> String {
    signed(key, r#"{"alg":"HS256","typ":"JWT"}"#, &claims.to_string())
}

fn signed(key: &str, header: &str, claims: &str) -> String {
    let encoded = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
    let text = format!("{}.{}", encoded(header), encoded(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("a key");
    mac.update(text.as_bytes());
    format!("{text}.{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes()))
}

/// Creates a site without spaces.
pub(crate) async fn site(w: &World, title: &str) -> SiteId {
    let new = CreateSite {
        title: title.parse().ok(),
        spaces: Some(SiteSpacesInput::Existing(Vec::new())),
        ..CreateSite::default()
    };
    w.as_admin().org(&w.org).sites().create(new).await.expect("a site").id
}

pub(crate) async fn place(w: &World, site: &SiteId, space: &SpaceId) -> SiteSpaceId {
    let add = AddSiteSpace { space_id: Some(space.to_string()), ..AddSiteSpace::default() };
    w.as_admin().org(&w.org).site(site).spaces().create(add).await.expect("a place").id
}

pub(crate) async fn show(w: &World, site: &SiteId, visibility: SiteVisibility) {
    let change = UpdateSite { visibility: Some(visibility), ..UpdateSite::default() };
    w.as_admin().org(&w.org).site(site).update(change).await.expect("changed");
    w.as_admin().org(&w.org).site(site).publish().await.expect("published");
}

pub(crate) async fn address(w: &World, site: &SiteId) -> String {
    let site = w.as_admin().org(&w.org).site(site).get().await.expect("the site");
    site.urls.published.expect("it is published")
}

/// Resolves a URL for a visitor.
async fn resolve(w: &World, url: &str, visitor: Value) -> docs_core::Result<ResolvedUrl> {
    let ask: ResolveUrl =
        serde_json::from_value(json!({ "url": url, "visitor": visitor })).expect("a request");
    let answer = w.platform.resolve_url(&ask).await;
    if ask.visitor.is_none() {
        holds_openly(w, &ask.url, &answer).await;
    }
    answer
}

/// Checks that an open site returns the same response to anonymous visitors for every URL that resolves to it.
async fn holds_openly(w: &World, url: &PublishedUrl, answer: &docs_core::Result<ResolvedUrl>) {
    let mut found_by = vec![url.clone()];
    if let Ok(ResolvedUrl::Content(content)) = answer {
        let rest = content.site_base_path.as_str();
        let start = url.as_str().find(rest).map(|at| format!("{}{rest}", &url.as_str()[..at]));
        found_by.extend(start.and_then(|start| PublishedUrl::new(start).ok()));
    }
    for by in found_by {
        let Ok(Some(site)) = OpenSite::find(&w.platform, &by).await else { continue };
        match (answer, site.resolve(url).await) {
            (Ok(answer), Ok(Some(open))) => assert_eq!(*answer, open, "{url} by {by}"),
            (Err(answer), Err(open)) => assert_eq!(answer.kind(), open.kind(), "{url} by {by}"),
            (answer, open) => panic!("{url} by {by}: {answer:?} and {open:?}"),
        }
    }
}

/// Returns the content at a URL, and the actor of the visitor.
pub(crate) async fn enter(
    w: &World,
    url: &str,
    visitor: Value,
) -> docs_core::Result<(ResolvedContent, Actor)> {
    let content = match resolve(w, url, visitor).await? {
        ResolvedUrl::Content(content) => *content,
        other => panic!("{url} leads elsewhere: {other:?}"),
    };
    let actor = w.platform.authenticate(&content.api_token).await?;
    Ok((content, actor))
}

/// Returns the signing key for a site's sign-in.
async fn key(w: &World, org: &OrgId, site: &SiteId) -> String {
    w.as_admin().org(org).site(site).get_publishing_auth().await.expect("a key").private_key
}
