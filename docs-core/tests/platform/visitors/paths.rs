//! Current and previous paths of sections and spaces.

use docs_core::{
    ErrorKind,
    model::{ElsewhereTarget, ResolvedUrl, SectionId, SiteId, SiteSpaceId, SiteVisibility, SpaceId},
    store::PageRequest,
};
use serde_json::{Value, json};

use super::{address, enter, place, resolve, show, site};
use crate::{
    search::{add, change, space},
    support::World,
};

/// The result of a path on a site: the space and the path of the page, or the target of a redirect.
#[derive(Debug, PartialEq)]
enum At {
    Page(SpaceId, String),
    Moved(String),
}

async fn at(w: &World, url: &str, path: &str) -> At {
    match resolve(w, &format!("{url}{path}"), Value::Null).await.expect("an answer") {
        ResolvedUrl::Content(content) => At::Page(content.space.clone(), content.pathname.clone()),
        ResolvedUrl::Redirect(to) => {
            assert_eq!(to.target, ElsewhereTarget::Content);
            At::Moved(to.redirect.strip_prefix(url).expect("on the site").to_owned())
        }
    }
}

fn moved(path: &str) -> At {
    At::Moved(path.to_owned())
}

fn page(space: &SpaceId, path: &str) -> At {
    At::Page(space.clone(), path.to_owned())
}

/// Changes the path of a section.
async fn rename_section(w: &World, site: &SiteId, section: &SectionId, path: &str) {
    change_section(w, site, section, json!({ "path": path })).await;
}

async fn change_section(w: &World, site: &SiteId, section: &SectionId, body: Value) {
    let body = serde_json::from_value(body).expect("a change");
    let shown = w.as_admin().org(&w.org).site(site).section(section).update(body).await.expect("changed");
    let shown = serde_json::to_string(&shown).expect("JSON");
    assert!(!shown.contains("former"), "{shown}");
}

/// Changes the path of a space on a site.
async fn rename(w: &World, site: &SiteId, place: &SiteSpaceId, path: &str) {
    let body = serde_json::from_value(json!({ "path": path })).expect("a change");
    w.as_admin().org(&w.org).site(site).space(place).update(body).await.expect("changed");
    w.clock.advance(std::time::Duration::from_secs(1));
}

async fn section(w: &World, site: &SiteId, space: &SpaceId, title: &str) -> SectionId {
    let new = serde_json::from_value(json!({ "spaceId": space, "title": title })).expect("a section");
    w.as_admin().org(&w.org).site(site).sections().create(new).await.expect("a section").id
}

#[tokio::test]
async fn former_path_redirects_to_the_current_path() {
    let w = World::new().await;
    let (guide, api, beta) = (space(&w, "Guide").await, space(&w, "API").await, space(&w, "Beta").await);
    let docs = site(&w, "Docs").await;
    let first = section(&w, &docs, &guide, "Start").await;
    let second = section(&w, &docs, &api, "Reference").await;
    let place = {
        let add = serde_json::from_value(json!({ "spaceId": beta, "sectionId": second })).expect("a place");
        w.as_admin().org(&w.org).site(&docs).spaces().create(add).await.expect("a place").id
    };
    show(&w, &docs, SiteVisibility::Public).await;
    let url = address(&w, &docs).await;
    rename_section(&w, &docs, &second, "api").await;
    rename(&w, &docs, &place, "next").await;
    for (path, now) in [
        ("reference", "api/"),
        ("Reference/x/y", "api/x/y"),
        ("reference/beta/x", "api/next/x"),
        ("reference/next/x", "api/next/x"),
        ("api/beta/x", "api/next/x"),
    ] {
        assert_eq!(at(&w, &url, path).await, moved(now), "{path}");
    }
    // A default has no path segment, and its previous paths redirect as well.
    rename_section(&w, &docs, &first, "home").await;
    assert_eq!(at(&w, &url, "start/x").await, moved("x"));
    assert_eq!(at(&w, &url, "home/x").await, moved("x"));
    // A current path takes precedence over a redirect.
    let third = section(&w, &docs, &guide, "Reference").await;
    assert_eq!(at(&w, &url, "reference/x").await, page(&guide, "/x"));
    assert!(w.as_admin().org(&w.org).site(&docs).section(&third).delete().await.expect("deleted"));
    assert_eq!(at(&w, &url, "reference/x").await, moved("api/x"));
    // A restored path is no longer a redirect.
    rename_section(&w, &docs, &second, "reference").await;
    assert_eq!(at(&w, &url, "reference/beta").await, moved("reference/next/"));
    assert_eq!(at(&w, &url, "api").await, moved("reference/"));
    // Previous paths do not reveal hidden sections.
    change_section(&w, &docs, &second, json!({ "condition": "visitor.claims.plan" })).await;
    for path in ["reference", "api", "api/beta"] {
        assert_eq!(at(&w, &url, path).await, page(&guide, &format!("/{path}")));
    }
    w.check().await;
}

#[tokio::test]
async fn former_path_redirects_to_its_latest_owner() {
    let w = World::new().await;
    let spaces = [space(&w, "Guide").await, space(&w, "One").await, space(&w, "Two").await];
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &spaces[0]).await;
    let (one, two) = (place(&w, &docs, &spaces[1]).await, place(&w, &docs, &spaces[2]).await);
    show(&w, &docs, SiteVisibility::Public).await;
    let url = address(&w, &docs).await;
    rename(&w, &docs, &two, "latest").await;
    rename(&w, &docs, &two, "v1").await;
    rename(&w, &docs, &one, "latest").await;
    rename(&w, &docs, &one, "v2").await;
    assert_eq!(at(&w, &url, "latest").await, moved("v2/"));
    rename(&w, &docs, &two, "latest").await;
    rename(&w, &docs, &two, "v3").await;
    assert_eq!(at(&w, &url, "latest").await, moved("v3/"));
}

#[tokio::test]
async fn page_takes_precedence_over_a_former_path() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &guide).await;
    let second = place(&w, &docs, &api).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let url = address(&w, &docs).await;
    rename(&w, &docs, &second, "reference").await;
    assert_eq!(at(&w, &url, "api").await, moved("reference/"));
    let found = add(&w, &guide, "API", "About it.").await;
    assert_eq!(at(&w, &url, "api").await, page(&guide, "/api"));
    assert_eq!(at(&w, &url, "api/calls").await, moved("reference/calls"), "no such page");
    change(&w, &guide, &found, json!({ "condition": "visitor.claims.plan" })).await;
    assert_eq!(at(&w, &url, "api").await, moved("reference/"), "none that the visitor sees");
}

#[tokio::test]
async fn page_takes_precedence_over_the_path_of_a_default() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Changelog").await, space(&w, "API").await);
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &guide).await;
    place(&w, &docs, &api).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let url = address(&w, &docs).await;
    assert_eq!(at(&w, &url, "changelog").await, moved(""));
    let parent = add(&w, &guide, "Changelog", "What changed.").await;
    assert_eq!(at(&w, &url, "changelog").await, page(&guide, "/changelog"));
    assert_eq!(at(&w, &url, "changelog/changelog").await, moved("changelog"));
    assert_eq!(at(&w, &url, "changelog/start").await, moved("start"), "no page of the default space");
    assert_eq!(at(&w, &url, "api/start").await, page(&api, "/start"));
    change(&w, &guide, &parent, json!({ "condition": "visitor.claims.plan" })).await;
    assert_eq!(at(&w, &url, "changelog").await, moved(""), "none that the visitor sees");
    // The same applies to the path of the default section.
    change(&w, &guide, &parent, json!({ "condition": "", "slug": "reference" })).await;
    section(&w, &docs, &api, "Reference").await;
    let first = w.as_admin().org(&w.org).site(&docs).sections().list(&PageRequest::default()).await;
    let first = first.expect("listed").items.remove(0);
    assert!(first.default);
    assert_eq!(at(&w, &url, first.path.as_str()).await, moved(""));
    change(&w, &guide, &parent, json!({ "slug": first.path })).await;
    assert_eq!(at(&w, &url, first.path.as_str()).await, page(&guide, &format!("/{}", first.path)));
    // The same applies below it, even if another space in the section had the rest of the path.
    let beta = space(&w, "Beta").await;
    let add_to = serde_json::from_value(json!({ "spaceId": beta, "sectionId": first.id })).expect("a space");
    let second = w.as_admin().org(&w.org).site(&docs).spaces().create(add_to).await.expect("added").id;
    rename(&w, &docs, &second, "later").await;
    let below = format!("{}/beta", first.path);
    assert_eq!(at(&w, &url, &below).await, moved("later/"));
    let child = add(&w, &guide, "Beta", "A page.").await;
    change(&w, &guide, &child, json!({ "into": parent })).await;
    assert_eq!(at(&w, &url, &below).await, page(&guide, &format!("/{below}")));
}

#[tokio::test]
async fn path_in_different_case_redirects_to_the_canonical_one() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let docs = site(&w, "Docs").await;
    place(&w, &docs, &guide).await;
    place(&w, &docs, &api).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let url = address(&w, &docs).await;
    let parent = add(&w, &guide, "API", "About it.").await;
    let child = add(&w, &guide, "X", "More.").await;
    change(&w, &guide, &child, json!({ "into": parent })).await;
    assert_eq!(at(&w, &url, "api/x").await, page(&api, "/x"));
    assert_eq!(at(&w, &url, "API/x").await, moved("api/x"));
}

#[tokio::test]
async fn url_is_complete_if_no_section_or_space_can_follow() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let docs = site(&w, "Docs").await;
    let only = place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::Public).await;
    let url = address(&w, &docs).await;
    let complete =
        async |path: &str| enter(&w, &format!("{url}{path}"), Value::Null).await.expect("content").0.complete;
    assert!(!complete("").await, "the path of the default may follow, and leads away");
    assert_eq!(at(&w, &url, "guide/x").await, moved("x"));
    assert!(complete("start").await, "no path of the site");
    rename(&w, &docs, &only, "manual").await;
    assert_eq!(at(&w, &url, "guide/x").await, moved("x"));
    // A page may use the previous path of a space, while the paths below it still redirect.
    add(&w, &guide, "Guide", "About it.").await;
    assert_eq!(at(&w, &url, "guide").await, page(&guide, "/guide"));
    assert!(!complete("guide").await);
    assert_eq!(at(&w, &url, "guide/x").await, moved("x"));
    // The same with sections.
    let other = section(&w, &docs, &api, "Reference").await;
    assert!(!complete("").await);
    assert!(!complete("reference").await, "the path of its only space may follow");
    assert!(complete("reference/x").await);
    let add = serde_json::from_value(json!({ "spaceId": guide, "sectionId": other })).expect("a place");
    w.as_admin().org(&w.org).site(&docs).spaces().create(add).await.expect("a place");
    assert!(complete("reference/guide").await && complete("reference/guide/x").await);
    assert!(!complete("reference").await);
}

#[tokio::test]
async fn overlong_url_resolves_to_no_site() {
    let w = World::new().await;
    let docs = site(&w, "Docs").await;
    show(&w, &docs, SiteVisibility::Public).await;
    let url = address(&w, &docs).await;
    let (base, _) = url.trim_end_matches('/').rsplit_once('/').expect("an address below others");
    for long in [1_000, 1_100, 1_900].map(|length| "a".repeat(length)) {
        for url in [format!("{base}/{long}"), format!("https://{long}.example.com/")] {
            let refused = resolve(&w, &url, Value::Null).await.expect_err("no site");
            assert_eq!(refused.kind(), ErrorKind::NotFound, "{refused}");
        }
    }
}
