//! Redirects: targets, and cascading deletion.

use std::sync::Arc;

use docs_core::{
    ErrorKind,
    model::{
        AddSiteSpace, CreateSiteRedirect, Level, PageId, Patch, RedirectDestination,
        RedirectDestinationInput, RedirectOrder, RedirectSource, Role, SectionId, SiteId, SiteRedirect,
        SiteSpaceId, SiteVisibility, UpdateSite, UpdateSiteRedirect, UpdateSpace,
    },
    platform::RedirectFilter,
    store::{Mode, PageRequest, Tx, records::RedirectRecord},
};
use serde_json::json;

use super::{Published, add, kind, published};
use crate::{search, support::World};

pub(super) async fn create(w: &World, one: &Published, path: &str) -> SiteRedirect {
    lead(w, &one.site, path, to_space(&one.place)).await
}

pub(super) async fn lead(
    w: &World,
    site: &SiteId,
    path: &str,
    destination: RedirectDestinationInput,
) -> SiteRedirect {
    let new = CreateSiteRedirect::new(source(path), destination);
    w.as_admin().org(&w.org).site(site).redirects().create(new).await.expect("a redirect")
}

pub(super) fn to_section(id: &SectionId) -> RedirectDestinationInput {
    RedirectDestinationInput::SiteSection { site_section_id: id.clone() }
}

pub(super) fn to_space(id: &SiteSpaceId) -> RedirectDestinationInput {
    RedirectDestinationInput::SiteSpace { site_space_id: id.clone() }
}

pub(super) fn to_page(place: &SiteSpaceId, page: &PageId) -> RedirectDestinationInput {
    RedirectDestinationInput::SitePage { site_space_id: place.clone(), page_id: page.clone() }
}

/// Creates a section that contains the same space.
pub(super) async fn section(w: &World, one: &Published) -> SectionId {
    let new = serde_json::from_value(json!({ "spaceId": one.space, "title": "Part" })).expect("a section");
    w.as_admin().org(&w.org).site(&one.site).sections().create(new).await.expect("a section").id
}

/// Returns the sources of all redirects, sorted.
pub(super) async fn sources(w: &World, site: &SiteId) -> Vec<String> {
    let all = PageRequest { page: None, limit: Some(1_000) };
    let list = w
        .as_admin()
        .org(&w.org)
        .site(site)
        .redirects()
        .list(&RedirectFilter::default(), &all)
        .await
        .expect("a list");
    assert_eq!(list.count, Some(list.items.len() as u64));
    let mut sources: Vec<String> = list.items.iter().map(|redirect| redirect.source.to_string()).collect();
    sources.sort();
    sources
}

/// Changes the source of a redirect other than `but`. Returns the error, if any.
pub(super) async fn rename_left(w: &World, site: &SiteId, but: &str) -> Option<ErrorKind> {
    let all = PageRequest { page: None, limit: Some(1_000) };
    let list = w
        .as_admin()
        .org(&w.org)
        .site(site)
        .redirects()
        .list(&RedirectFilter::default(), &all)
        .await
        .expect("a list");
    let left = list.items.iter().find(|redirect| redirect.source.to_string() != but).expect("one is left");
    let change = UpdateSiteRedirect { source: Some(source("/other")), ..UpdateSiteRedirect::default() };
    let answer = w.as_admin().org(&w.org).site(site).redirect(&left.id).update(change).await;
    answer.err().map(|error| error.kind())
}

fn source(path: &str) -> RedirectSource {
    RedirectSource::new(path).expect("a path")
}

/// Returns the redirect target of a path.
async fn target(w: &World, one: &Published, path: &str) -> Result<String, ErrorKind> {
    let found = w.as_admin().org(&w.org).site(&one.site).resolve_redirect(&source(path)).await;
    found.map(|found| found.target).map_err(|error| error.kind())
}

/// Returns the redirect target of a path, relative to the URL of the site.
async fn leads(w: &World, one: &Published, path: &str) -> String {
    let base = w.as_admin().org(&w.org).site(&one.site).get().await.expect("the site").urls.published;
    let target = target(w, one, path).await.expect("a target");
    target.strip_prefix(&base.expect("an address")).expect("on the site").to_owned()
}

#[tokio::test]
async fn redirect_resolves_to_the_current_path_of_its_target() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    let second = search::space(&w, "Second").await;
    let place = add(&w, &one.site, &second).await;
    let above = search::add(&w, &second, "Above", "text").await;
    let page = search::add_below(&w, &second, Some(&above), "Below", "text").await;
    let to = |destination| CreateSiteRedirect::new(source("/page"), destination);
    let destination =
        RedirectDestinationInput::SitePage { site_space_id: place.clone(), page_id: page.clone() };
    let made = p
        .as_actor(me)
        .org(&w.org)
        .site(&one.site)
        .redirects()
        .create(to(destination))
        .await
        .expect("a redirect");
    create(&w, &one, "/space").await;
    assert_eq!(leads(&w, &one, "/space").await, "", "the default has no path of its own");
    assert_eq!(leads(&w, &one, "/page").await, "second/above/below");
    search::change(&w, &second, &page, json!({ "slug": "deeper" })).await;
    assert_eq!(leads(&w, &one, "/PAGE").await, "second/above/deeper");
    let change = serde_json::from_value(json!({ "defaultSiteSpace": place })).expect("a change");
    p.as_actor(me).org(&w.org).site(&one.site).update(change).await.expect("another default");
    assert_eq!(leads(&w, &one, "/page").await, "above/deeper");
    assert_eq!(leads(&w, &one, "/space").await, "docs/");
    search::edit(&w, &second, json!([{ "operation": "delete_page", "page": page }])).await.expect("deleted");
    assert_eq!(target(&w, &one, "/page").await, Err(ErrorKind::NotFound), "the page is gone");
    let again = UpdateSiteRedirect {
        destination: Some(made.destination.clone().into()),
        ..UpdateSiteRedirect::default()
    };
    let refused = p.as_actor(me).org(&w.org).site(&one.site).redirect(&made.id).update(again).await;
    assert_eq!(kind(refused), ErrorKind::Invalid, "nor can it be chosen");
    let moved = UpdateSiteRedirect { source: Some(source("/moved")), ..UpdateSiteRedirect::default() };
    p.as_actor(me)
        .org(&w.org)
        .site(&one.site)
        .redirect(&made.id)
        .update(moved)
        .await
        .expect("what is left out stays");
    let space = RedirectDestinationInput::SiteSpace { site_space_id: place };
    let change = UpdateSiteRedirect { destination: Some(space), ..UpdateSiteRedirect::default() };
    p.as_actor(me)
        .org(&w.org)
        .site(&one.site)
        .redirect(&made.id)
        .update(change)
        .await
        .expect("another destination");
    assert_eq!(leads(&w, &one, "/moved").await, "");
    p.as_actor(me).space(&second).delete().await.expect("deleted");
    assert_eq!(target(&w, &one, "/moved").await, Err(ErrorKind::NotFound), "the space is in the trash");
    p.as_actor(me).space(&second).restore().await.expect("restored");
    assert_eq!(leads(&w, &one, "/moved").await, "");
    w.check().await;
}

#[tokio::test]
async fn redirect_keeps_domain_and_share_link_of_the_request() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    let second = search::space(&w, "Second").await;
    let place = add(&w, &one.site, &second).await;
    let above = search::add(&w, &second, "Über uns", "text").await;
    let page = search::add_below(&w, &second, Some(&above), "A/B", "text").await;
    search::change(&w, &second, &above, json!({ "slug": "über" })).await;
    let path = "second/%C3%BCber/a-b";
    for (source, destination) in [
        ("/page", RedirectDestinationInput::SitePage { site_space_id: place.clone(), page_id: page }),
        ("/space", RedirectDestinationInput::SiteSpace { site_space_id: place }),
    ] {
        let source = RedirectSource::new(source).expect("a path");
        p.as_actor(me)
            .org(&w.org)
            .site(&one.site)
            .redirects()
            .create(CreateSiteRedirect::new(source, destination))
            .await
            .expect("a redirect");
    }
    assert_eq!(leads(&w, &one, "/page").await, path);
    let change = |body| serde_json::from_value(body).expect("a change");
    let mount = change(json!({ "proxy": "www.example.com/help" }));
    p.as_actor(me).org(&w.org).site(&one.site).update(mount).await.expect("mounted");
    assert_eq!(target(&w, &one, "/page").await, Ok(format!("https://www.example.com/help/{path}")));
    assert_eq!(target(&w, &one, "/space").await, Ok("https://www.example.com/help/second/".to_owned()));
    // The same with a share link.
    let link = serde_json::from_value(json!({ "name": "Friends" })).expect("a link");
    let link = p
        .as_actor(me)
        .org(&w.org)
        .site(&one.site)
        .share_links()
        .create(link)
        .await
        .expect("a link")
        .urls
        .published;
    let link = link.expect("an address");
    let key = link.trim_end_matches('/').rsplit('/').next().expect("a key").to_owned();
    let by = async |key: &str| {
        let opened = p.as_actor(me).org(&w.org).site(&one.site).with_share_key(Some(key));
        opened.resolve_redirect(&source("/page")).await.expect("a target").target
    };
    let public = format!("https://www.example.com/help/{path}");
    assert_eq!(by(&key).await, public, "everybody reads the site");
    let closed = change(json!({ "visibility": "share-link" }));
    p.as_actor(me).org(&w.org).site(&one.site).update(closed).await.expect("closed");
    assert_eq!(by(&key).await, format!("https://www.example.com/help/{key}/{path}"));
    assert_eq!(by("wrong").await, public);
    let bare = change(json!({ "proxy": null }));
    p.as_actor(me).org(&w.org).site(&one.site).update(bare).await.expect("unmounted");
    assert_eq!(by(&key).await, format!("{link}{path}"));
}

#[tokio::test]
async fn redirects_are_isolated_between_sites() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let (one, other) = (published(&w, "One").await, published(&w, "Other").await);
    let (mine, theirs) = (create(&w, &one, "/old").await, create(&w, &other, "/old").await);
    assert_ne!(mine.id, theirs.id);
    let of = (&w.org, &one.site);
    let change = UpdateSiteRedirect::default();
    assert_eq!(
        kind(p.as_actor(me).org(of.0).site(of.1).redirect(&theirs.id).update(change).await),
        ErrorKind::NotFound
    );
    assert!(!p.as_actor(me).org(of.0).site(of.1).redirect(&theirs.id).delete().await.expect("no error"));
    let abroad = RedirectDestinationInput::SiteSpace { site_space_id: other.place.clone() };
    let new = CreateSiteRedirect::new(source("/abroad"), abroad);
    assert_eq!(
        kind(p.as_actor(me).org(&w.org).site(&one.site).redirects().create(new).await),
        ErrorKind::Invalid
    );
    let list = p
        .as_actor(me)
        .org(of.0)
        .site(of.1)
        .redirects()
        .list(&RedirectFilter::default(), &PageRequest::default())
        .await
        .expect("a list");
    assert_eq!((list.items, list.count), (vec![mine.clone()], Some(1)));
    assert!(p.as_actor(me).org(of.0).site(of.1).redirect(&mine.id).delete().await.expect("deleted"));
    assert!(target(&w, &one, "/old").await.is_err() && target(&w, &other, "/old").await.is_ok());
    let again = create(&w, &one, "/OLD").await;
    assert_ne!(again.id, mine.id, "the path is free again");
}

#[tokio::test]
async fn redirects_are_listed_newest_first() {
    let w = World::new().await;
    let one = published(&w, "Docs").await;
    let mut made = Vec::new();
    for n in 0..5 {
        made.push(create(&w, &one, &format!("/{n}")).await);
        w.clock.advance(std::time::Duration::from_millis(1));
    }
    made.reverse();
    let page = PageRequest { page: None, limit: Some(3) };
    let first = w
        .as_admin()
        .org(&w.org)
        .site(&one.site)
        .redirects()
        .list(&RedirectFilter::default(), &page)
        .await
        .expect("a page");
    let page = PageRequest { page: first.next, limit: None };
    let rest = w
        .as_admin()
        .org(&w.org)
        .site(&one.site)
        .redirects()
        .list(&RedirectFilter::default(), &page)
        .await
        .expect("the rest");
    assert_eq!([first.items, rest.items].concat(), made);
}

#[tokio::test]
async fn redirect_does_not_reveal_inaccessible_targets() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    create(&w, &one, "/old").await;
    let reader = w.member("Rob", Some(Role::Read)).await;
    let theirs = p.as_actor(&reader).org(&w.org).site(&one.site);
    let mine = p.as_actor(me).org(&w.org).site(&one.site);
    theirs.resolve_redirect(&source("/old")).await.expect("the reader sees the space");
    let closed = UpdateSpace { default_level: Patch::<Level>::Clear, ..UpdateSpace::default() };
    p.as_actor(me).space(&one.space).update(closed).await.expect("closed");
    theirs.resolve_redirect(&source("/old")).await.expect("anybody sees the space on a public site");
    // A page in the space is also a valid target, as seen by an anonymous visitor.
    let page = search::add(&w, &one.space, "Page", "Text.").await;
    let destination =
        RedirectDestinationInput::SitePage { site_space_id: one.place.clone(), page_id: page.clone() };
    let new = CreateSiteRedirect::new(source("/page"), destination);
    mine.redirects().create(new).await.expect("a redirect");
    theirs.resolve_redirect(&source("/page")).await.expect("anybody sees the page");
    search::change(&w, &one.space, &page, json!({ "condition": "visitor.claims.beta" })).await;
    assert_eq!(kind(theirs.resolve_redirect(&source("/page")).await), ErrorKind::NotFound);
    mine.resolve_redirect(&source("/page")).await.expect("who has a right to the space sees it");
    let change = UpdateSite { visibility: Some(SiteVisibility::ShareLink), ..UpdateSite::default() };
    mine.update(change).await.expect("changed");
    assert_eq!(kind(theirs.resolve_redirect(&source("/old")).await), ErrorKind::NotFound);
    mine.resolve_redirect(&source("/old")).await.expect("an administrator sees it");
    // A manager of the site cannot create a redirect to a space without access to it.
    let creator = w.member("Cleo", Some(Role::Create)).await;
    let created =
        p.as_actor(&creator).org(&w.org).sites().create(Default::default()).await.expect("a site").id;
    let put = AddSiteSpace { space_id: Some(one.space.to_string()), ..AddSiteSpace::default() };
    let place = p.as_actor(me).org(&w.org).site(&created).spaces().create(put).await.expect("put there").id;
    let destination = RedirectDestinationInput::SiteSpace { site_space_id: place };
    let new = CreateSiteRedirect::new(source("/old"), destination);
    assert_eq!(
        kind(p.as_actor(&creator).org(&w.org).site(&created).redirects().create(new.clone()).await),
        ErrorKind::Invalid
    );
    p.as_actor(me).org(&w.org).site(&created).redirects().create(new).await.expect("an administrator can");
}

#[tokio::test]
async fn a_site_has_a_bounded_number_of_redirects() {
    let w = World::new().await;
    let one = published(&w, "Docs").await;
    let made = create(&w, &one, "/first").await;
    // All except the last, in batches that the store accepts.
    let numbers: Vec<u32> = (1..9_999).collect();
    for batch in numbers.chunks(100) {
        let mut tx = Tx::new(w.platform.store().begin(Mode::Write, &[]).await.expect("begins"));
        let first: Option<Arc<RedirectRecord>> =
            tx.get(&RedirectRecord::key_for(&made.id)).await.expect("read");
        let first = first.expect("the redirect");
        for number in batch {
            let id = format!("redirect{number}").parse().expect("an id");
            let source = source(&format!("/path{number}"));
            tx.create(RedirectRecord { id, source, ..RedirectRecord::clone(&first) });
        }
        tx.commit().await.expect("stored");
    }
    create(&w, &one, "/last").await;
    let more = CreateSiteRedirect::new(source("/more"), to_space(&one.place));
    let refused = w.as_admin().org(&w.org).site(&one.site).redirects().create(more).await;
    assert_eq!(kind(refused), ErrorKind::Conflict);
}

fn new(body: serde_json::Value) -> CreateSiteRedirect {
    serde_json::from_value(body).expect("a redirect")
}

#[tokio::test]
async fn external_redirects_lead_to_their_url() {
    let w = World::new().await;
    let one = published(&w, "Docs").await;
    let redirects = || w.as_admin().org(&w.org).site(&one.site).redirects();
    let to = |url: &str| json!({ "kind": "external", "url": url });
    let plus = json!({ "source": "/a+b", "destination": to("https://b\u{fc}cher.example/\u{fc}?q#f") });
    redirects().create(new(plus)).await.expect("a redirect");
    let expected = "https://xn--bcher-kva.example/%C3%BC?q#f";
    assert_eq!(target(&w, &one, "/A+b").await.as_deref(), Ok(expected));
    assert_eq!(target(&w, &one, "/a%2Bb").await.as_deref(), Ok(expected), "the same path");
    let captured =
        json!({ "source": "/go*", "destination": to("https://x.example"), "captureWildcard": true });
    redirects().create(new(captured)).await.expect("a redirect");
    let found = target(&w, &one, "/go.evil.example").await;
    assert_eq!(found.as_deref(), Ok("https://x.example/.evil.example"));
    w.check().await;
}

#[tokio::test]
async fn longest_live_wildcard_applies_after_the_exact_path() {
    let w = World::new().await;
    let one = published(&w, "Docs").await;
    let redirects = || w.as_admin().org(&w.org).site(&one.site).redirects();
    assert_eq!(target(&w, &one, "/old/a").await, Err(ErrorKind::NotFound));
    for (source, name, capture, draft) in [
        ("/old/*", "below", true, false),
        ("/old*", "all", true, false),
        ("/old/deep/*", "deep", false, false),
        ("/old/deep/draft/*", "draft", true, true),
        ("/old/exact", "exact", true, false),
    ] {
        let destination = json!({ "kind": "external", "url": format!("https://x.example/{name}") });
        let body = json!({ "source": source, "destination": destination, "captureWildcard": capture,
            "draft": draft });
        redirects().create(new(body)).await.expect("a redirect");
    }
    for (path, expected) in [
        ("/old/exact", "exact"),
        ("/OLD/Exact", "exact"),
        ("/old/a/B%20c", "below/a/B%20c"),
        ("/old", "all"),
        ("/old-er/x", "all-er/x"),
        ("/old/deep", "below/deep"),
        ("/old/deep/x", "deep"),
        ("/old/deep/draft/x", "deep"),
        ("/old/*", "below"),
    ] {
        let found = target(&w, &one, path).await;
        assert_eq!(found.as_deref(), Ok(format!("https://x.example/{expected}").as_str()), "{path}");
    }
    for path in ["/other", "/ol", "/old/../x"] {
        assert_eq!(target(&w, &one, path).await, Err(ErrorKind::NotFound), "{path}");
    }
    // A wildcard may lead to content of the site too.
    let body = json!({ "source": "/more/*", "captureWildcard": true,
        "destination": { "kind": "site-space", "siteSpaceId": one.place } });
    redirects().create(new(body)).await.expect("a redirect");
    assert_eq!(leads(&w, &one, "/more/a/b").await, "a/b");
    let drafts = RedirectFilter { draft: true, ..RedirectFilter::default() };
    let drafts = redirects().list(&drafts, &PageRequest::default()).await.expect("a list");
    assert_eq!((drafts.count, drafts.items.len()), (Some(1), 1));
    let live = UpdateSiteRedirect { draft: Some(false), ..UpdateSiteRedirect::default() };
    let site = w.as_admin().org(&w.org).site(&one.site);
    let changed = site.redirect(&drafts.items[0].id).update(live).await.expect("live");
    assert!(!changed.draft && changed.updated_at.is_some());
    let found = target(&w, &one, "/old/deep/draft/x").await;
    assert_eq!(found.as_deref(), Ok("https://x.example/draft/x"));
    w.check().await;
}

#[tokio::test]
async fn path_destination_becomes_the_page_with_that_path() {
    let w = World::new().await;
    let one = published(&w, "Docs").await;
    let page = search::add(&w, &one.space, "Page", "text").await;
    let redirects = || w.as_admin().org(&w.org).site(&one.site).redirects();
    let to = |space: &str, path: &str| {
        new(json!({ "source": "/old", "destination": { "kind": "path", "spaceId": space, "path": path } }))
    };
    let other = search::space(&w, "Other").await;
    for wrong in [to(other.as_str(), "page"), to("no id!", "page"), to(one.space.as_str(), "nothing")] {
        assert_eq!(kind(redirects().create(wrong).await), ErrorKind::Invalid);
    }
    let made = redirects().create(to(one.space.as_str(), "/page/")).await.expect("a redirect");
    let expected = RedirectDestination::SitePage { site_space_id: one.place.clone(), page_id: page.clone() };
    assert_eq!(made.destination, expected);
    search::change(&w, &one.space, &page, json!({ "slug": "moved" })).await;
    assert_eq!(leads(&w, &one, "/old").await, "moved", "it follows the page");
}

#[tokio::test]
async fn redirects_are_listed_by_search_draft_and_order() {
    let w = World::new().await;
    let one = published(&w, "Docs").await;
    let mut made = Vec::new();
    for source in ["/b", "/A/x", "/c", "/a"] {
        made.push(create(&w, &one, source).await);
        w.clock.advance(std::time::Duration::from_millis(1));
    }
    let permanent = UpdateSiteRedirect { permanent: Some(true), ..UpdateSiteRedirect::default() };
    let site = w.as_admin().org(&w.org).site(&one.site);
    site.redirect(&made[0].id).update(permanent).await.expect("changed");
    let listed = async |filter: RedirectFilter| {
        let (mut found, mut page) = (Vec::new(), PageRequest { page: None, limit: Some(2) });
        loop {
            let part = w.as_admin().org(&w.org).site(&one.site).redirects().list(&filter, &page).await;
            let part = part.expect("a page");
            found.extend(part.items.iter().map(|redirect| redirect.source.to_string()));
            match part.next {
                Some(next) => page.page = Some(next),
                None => return (found.join(" "), part.count),
            }
        }
    };
    let by = |order| RedirectFilter { order, ..RedirectFilter::default() };
    assert_eq!(listed(by(RedirectOrder::CreatedAt)).await, ("/a /c /A/x /b".to_owned(), Some(4)));
    assert_eq!(listed(by(RedirectOrder::UpdatedAt)).await, ("/b /a /c /A/x".to_owned(), Some(4)));
    assert_eq!(listed(by(RedirectOrder::Source)).await, ("/a /A/x /b /c".to_owned(), Some(4)));
    let search = RedirectFilter { search: Some("/a".to_owned()), ..by(RedirectOrder::Source) };
    assert_eq!(listed(search).await, ("/a /A/x".to_owned(), None));
    let drafts = RedirectFilter { draft: true, ..RedirectFilter::default() };
    assert_eq!(listed(drafts).await, (String::new(), Some(0)));
}
