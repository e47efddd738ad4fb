//! File URLs and visitor tokens become invalid when the site no longer shows the content.

use std::time::Duration;

use bytes::Bytes;
use docs_core::{
    Actor, ErrorKind,
    content::LinkTarget,
    model::{FileId, PageId, SiteId, SiteVisibility, SpaceId},
    platform::{ContentOptions, ContentVersion, FileReach, NewUpload, StoredFile, Visitor},
    store::PageRequest,
};
use serde_json::{Value, json};

use super::{address, enter, key, place, resolve, show, site, token};
use crate::{
    search::{change, edit, space},
    support::{Refused, World},
};

/// Creates a space with one file.
async fn with_file(w: &World, bytes: &'static [u8]) -> (SpaceId, FileId) {
    let space = space(w, "Guide").await;
    let request = w.request(&space).await;
    let of = ContentVersion::request(space.clone(), &request);
    let new = NewUpload { name: "plan.png".parse().expect("a name"), content_type: None };
    let mut upload = w.as_admin().content(&of).upload_file(new).await.expect("begun");
    upload.write(Bytes::from_static(bytes)).await.expect("written");
    let file = upload.finish().await.expect("a file").id;
    w.as_admin().space(&space).change_request(&request).merge().await.expect("merged");
    (space, file)
}

/// Creates a public site with the claims `plan` and `note`.
async fn adaptive_site(w: &World, space: &SpaceId) -> SiteId {
    let docs = site(w, "Docs").await;
    place(w, &docs, space).await;
    let claim = |kind: Value| {
        let mut kind = kind;
        kind["description"] = "A claim".into();
        kind
    };
    let schema = json!({ "jsonSchema": { "type": "object", "additionalProperties": false, "properties": {
        "plan": claim(json!({ "type": "string", "enum": ["free", "pro"] })),
        "note": claim(json!({ "type": "string" })),
    } } });
    let schema = serde_json::from_value(schema).expect("a schema");
    w.as_admin().org(&w.org).site(&docs).set_adaptive_schema(schema).await.expect("set");
    let adapts = serde_json::from_value(json!({ "adaptiveContent": { "enabled": true } })).expect("a change");
    w.as_admin().org(&w.org).site(&docs).update(adapts).await.expect("changed");
    show(w, &docs, SiteVisibility::Public).await;
    docs
}

/// Creates a page that shows a file.
async fn picture_page(w: &World, space: &SpaceId, title: &str, file: &FileId) -> PageId {
    let text = format!("![The plan](/files/{file})");
    let insert = json!({ "operation": "insert_page", "title": title, "document": { "markdown": text } });
    edit(w, space, json!([insert])).await.expect("inserted").pop().expect("a page")
}

/// Returns the sealed part of the URL of the only file that an actor sees.
async fn sealed(w: &World, actor: &Actor, space: &SpaceId) -> String {
    let (of, all) = (ContentVersion::space(space.clone()), PageRequest::default());
    let files = w.platform.as_actor(actor).content(&of).list_files(ContentOptions::default(), &all);
    let files = files.await.expect("listed").items;
    files[0].download_url.rsplit('/').nth(1).expect("a sealed part").to_owned()
}

async fn found(w: &World, space: &SpaceId, sealed: &str) -> docs_core::Result<StoredFile> {
    w.platform.find_file(space, sealed).await
}

fn anonymous() -> Actor {
    Actor::Visitor(Visitor::anonymous())
}

#[tokio::test]
async fn file_of_an_anonymous_visitor_ends_with_its_page() {
    let w = World::new().await;
    let (space, file) = with_file(&w, b"one").await;
    let page = picture_page(&w, &space, "Plan", &file).await;
    adaptive_site(&w, &space).await;
    let (member, visitor) = (sealed(&w, &w.admin, &space).await, sealed(&w, &anonymous(), &space).await);
    assert_eq!(found(&w, &space, &visitor).await.expect("shown").reach, FileReach::Public);
    // Each way of hiding the file invalidates the URL, and undoing it makes the same URL valid again.
    change(&w, &space, &page, json!({ "condition": "visitor.claims.plan == 'pro'" })).await;
    found(&w, &space, &visitor).await.refused(ErrorKind::NotFound);
    change(&w, &space, &page, json!({ "condition": null })).await;
    found(&w, &space, &visitor).await.expect("shown again");
    change(&w, &space, &page, json!({ "document": { "markdown": "No picture." } })).await;
    found(&w, &space, &visitor).await.refused(ErrorKind::NotFound);
    let second = picture_page(&w, &space, "Second", &file).await;
    found(&w, &space, &visitor).await.expect("another page references it");
    edit(&w, &space, json!([{ "operation": "delete_page", "page": second }])).await.expect("deleted");
    found(&w, &space, &visitor).await.refused(ErrorKind::NotFound);
    // Members can read earlier revisions.
    assert_eq!(found(&w, &space, &member).await.expect("a member").reach, FileReach::Bearer);
    w.check().await;
}

#[tokio::test]
async fn file_of_an_anonymous_visitor_ends_with_the_file() {
    let w = World::new().await;
    let (space, file) = with_file(&w, b"one").await;
    picture_page(&w, &space, "Plan", &file).await;
    adaptive_site(&w, &space).await;
    let visitor = sealed(&w, &anonymous(), &space).await;
    found(&w, &space, &visitor).await.expect("shown");
    edit(&w, &space, json!([{ "operation": "delete_files", "files": [file] }])).await.expect("deleted");
    found(&w, &space, &visitor).await.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn file_of_a_visitor_with_claims_follows_conditions() {
    let w = World::new().await;
    let (space, file) = with_file(&w, b"one").await;
    let page = picture_page(&w, &space, "Plan", &file).await;
    let docs = adaptive_site(&w, &space).await;
    let (url, signs) = (address(&w, &docs).await, key(&w, &w.org, &docs).await);
    let visitor = async |claims: Value| {
        let claims = json!({ "jwtToken": token(&signs, &claims) });
        enter(&w, &url, claims).await.expect("open").1
    };
    let pro = "visitor.claims.plan == 'pro'";
    change(&w, &space, &page, json!({ "condition": pro })).await;
    let of_pro = sealed(&w, &visitor(json!({ "plan": "pro" })).await, &space).await;
    assert_eq!(found(&w, &space, &of_pro).await.expect("shown").reach, FileReach::Bearer);
    change(&w, &space, &page, json!({ "condition": "visitor.claims.plan == 'free'" })).await;
    found(&w, &space, &of_pro).await.refused(ErrorKind::NotFound);
    let of_free = sealed(&w, &visitor(json!({ "plan": "free" })).await, &space).await;
    found(&w, &space, &of_free).await.expect("shown");
    // Claims that are too large for a URL count as absent, so only unconditional content is visible.
    change(&w, &space, &page, json!({ "condition": pro })).await;
    let large = visitor(json!({ "plan": "pro", "note": "x".repeat(4_200) })).await;
    let of_large = sealed(&w, &large, &space).await;
    found(&w, &space, &of_large).await.refused(ErrorKind::NotFound);
    change(&w, &space, &page, json!({ "condition": null })).await;
    found(&w, &space, &of_large).await.expect("for everybody");
    // The URL expires with the token, and when its signing key is replaced.
    found(&w, &space, &of_pro).await.expect("shown");
    w.clock.advance(Duration::from_hours(2));
    found(&w, &space, &of_pro).await.refused(ErrorKind::NotFound);
}

/// A request parses at most 8 MiB of text to find conditions. Later requests continue with the following texts.
#[tokio::test]
async fn texts_beyond_the_bound_hide_a_file_until_they_are_parsed() {
    let w = World::new().await;
    let (space, file) = with_file(&w, b"one").await;
    let mut pages = vec![picture_page(&w, &space, "Plan", &file).await];
    let docs = adaptive_site(&w, &space).await;
    let visitor = sealed(&w, &anonymous(), &space).await;
    found(&w, &space, &visitor).await.expect("shown");
    let long = "a".repeat(900_000);
    // Equal texts would be parsed once.
    let text = |number: usize, condition: &str| {
        format!("{{% if {condition} %}}\n![Plan {number}](/files/{file})\n{{% endif %}}\n\n{long}\n")
    };
    for n in 1..10 {
        let document = json!({ "markdown": text(n, "visitor.claims.plan == 'pro'") });
        let insert =
            json!({ "operation": "insert_page", "title": format!("Page {n}"), "document": document });
        pages.extend(edit(&w, &space, json!([insert])).await.expect("inserted"));
    }
    change(
        &w,
        &space,
        &pages[0],
        json!({ "document": { "markdown": text(0, "visitor.claims.plan == 'pro'") } }),
    )
    .await;
    // Nine texts are within the bound.
    let target = LinkTarget::File(file.clone());
    let (of, all) = (ContentVersion::space(space.clone()), PageRequest::default());
    let sources = w.as_admin().content(&of).list_backlinks(&target, &all).await.expect("listed").items;
    let examined_last = serde_json::to_string(&sources.last()).expect("JSON");
    let last = pages.iter().find(|page| examined_last.contains(page.as_str())).expect("a page");
    change(&w, &space, last, json!({ "document": { "markdown": text(10, "visitor.claims.plan != 'pro'") } }))
        .await;
    found(&w, &space, &visitor).await.refused(ErrorKind::NotFound);
    found(&w, &space, &visitor).await.expect("the first nine texts are known");
    // The conditions are known for all claims.
    let (url, signs) = (address(&w, &docs).await, key(&w, &w.org, &docs).await);
    let claims = json!({ "jwtToken": token(&signs, &json!({ "plan": "free" })) });
    let free = enter(&w, &url, claims).await.expect("open").1;
    let of_free = sealed(&w, &free, &space).await;
    found(&w, &space, &of_free).await.expect("shown");
}

#[tokio::test]
async fn token_of_a_visitor_is_valid_for_a_minute_after_its_exp() {
    let w = World::new().await;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::VisitorAuth).await;
    let (url, signs) = (address(&w, &docs).await, key(&w, &w.org, &docs).await);
    let exp = w.clock_now().time().timestamp() + 100;
    let claims = json!({ "jwtToken": token(&signs, &json!({ "exp": exp })) });
    let (early, reader) = enter(&w, &url, claims.clone()).await.expect("open");
    w.clock.advance(Duration::from_secs(159));
    // A content token issued before `exp` expires at the same time as one issued within the leeway.
    w.platform.authenticate(&early.api_token).await.expect("within the leeway");
    w.platform.as_actor(&reader).space(&guide).get().await.expect("read");
    let (late, _) = enter(&w, &url, claims.clone()).await.expect("within the leeway");
    for _ in 0..2 {
        w.clock.advance(Duration::from_secs(1));
        resolve(&w, &url, claims.clone()).await.refused(ErrorKind::Unauthenticated);
        for token in [&early.api_token, &late.api_token] {
            w.platform.authenticate(token).await.refused(ErrorKind::Unauthenticated);
        }
    }
    let nbf = w.clock_now().time().timestamp() + 61;
    let claims = json!({ "jwtToken": token(&signs, &json!({ "nbf": nbf })) });
    resolve(&w, &url, claims.clone()).await.refused(ErrorKind::Unauthenticated);
    w.clock.advance(Duration::from_secs(1));
    resolve(&w, &url, claims).await.expect("within the leeway");
}
