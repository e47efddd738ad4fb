//! Redirects: what they lead to, and what becomes of them when it is gone.

use docs_core::{
    ErrorKind,
    model::{
        AddSiteSpace, CreateSiteRedirect, LevelInput, PageId, Patch, RedirectDestination, RedirectSource,
        Role, SectionId, SiteId, SiteRedirect, SiteSpaceId, SiteVisibility, UpdateSite, UpdateSiteRedirect,
        UpdateSpace,
    },
    store::PageRequest,
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
    destination: RedirectDestination,
) -> SiteRedirect {
    let new = CreateSiteRedirect { source: source(path), destination };
    w.platform.create_redirect(&w.admin, &w.org, site, new).await.expect("a redirect")
}

pub(super) fn to_section(id: &SectionId) -> RedirectDestination {
    RedirectDestination::SiteSection { site_section_id: id.clone() }
}

pub(super) fn to_space(id: &SiteSpaceId) -> RedirectDestination {
    RedirectDestination::SiteSpace { site_space_id: id.clone() }
}

pub(super) fn to_page(place: &SiteSpaceId, page: &PageId) -> RedirectDestination {
    RedirectDestination::SitePage { site_space_id: place.clone(), page_id: page.clone() }
}

/// A new section with the same space in it.
pub(super) async fn section(w: &World, one: &Published) -> SectionId {
    let new = serde_json::from_value(json!({ "spaceId": one.space, "title": "Part" })).expect("a section");
    w.platform.add_section(&w.admin, (&w.org, &one.site), new).await.expect("a section").id
}

/// The sources of all redirects, sorted.
pub(super) async fn sources(w: &World, site: &SiteId) -> Vec<String> {
    let all = PageRequest { page: None, limit: Some(1_000) };
    let list = w.platform.list_redirects(&w.admin, (&w.org, site), &all).await.expect("a list");
    assert_eq!(list.count, Some(list.items.len() as u64));
    let mut sources: Vec<String> = list.items.iter().map(|redirect| redirect.source.to_string()).collect();
    sources.sort();
    sources
}

/// Gives a redirect that is left after something another source: how that is refused.
pub(super) async fn rename_left(w: &World, site: &SiteId, but: &str) -> Option<ErrorKind> {
    let all = PageRequest { page: None, limit: Some(1_000) };
    let list = w.platform.list_redirects(&w.admin, (&w.org, site), &all).await.expect("a list");
    let left = list.items.iter().find(|redirect| redirect.source.to_string() != but).expect("one is left");
    let change = UpdateSiteRedirect { source: Some(source("/other")), destination: None };
    let answer = w.platform.update_redirect(&w.admin, (&w.org, site), &left.id, change).await;
    answer.err().map(|error| error.kind())
}

fn source(path: &str) -> RedirectSource {
    RedirectSource::new(path).expect("a path")
}

/// Where a path leads.
async fn target(w: &World, one: &Published, path: &str) -> Result<String, ErrorKind> {
    let found = w.platform.resolve_redirect(&w.admin, (&w.org, &one.site), &source(path)).await;
    found.map(|found| found.target).map_err(|error| error.kind())
}

/// The same below the address of the site.
async fn leads(w: &World, one: &Published, path: &str) -> String {
    let base = w.platform.get_site(&w.admin, &w.org, &one.site).await.expect("the site").urls.published;
    let target = target(w, one, path).await.expect("a target");
    target.strip_prefix(&base.expect("an address")).expect("on the site").to_owned()
}

#[tokio::test]
async fn a_redirect_leads_to_where_its_target_is_now() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    let second = search::space(&w, "Second").await;
    let place = add(&w, &one.site, &second).await;
    let above = search::add(&w, &second, "Above", "text").await;
    let page = search::add_below(&w, &second, Some(&above), ("Below", "text")).await;
    let to = |destination| CreateSiteRedirect { source: source("/page"), destination };
    let destination = RedirectDestination::SitePage { site_space_id: place.clone(), page_id: page.clone() };
    let made = p.create_redirect(me, &w.org, &one.site, to(destination)).await.expect("a redirect");
    create(&w, &one, "/space").await;
    assert_eq!(leads(&w, &one, "/space").await, "", "the default has no path of its own");
    assert_eq!(leads(&w, &one, "/page").await, "second/above/below");
    search::change(&w, &second, &page, json!({ "slug": "deeper" })).await;
    assert_eq!(leads(&w, &one, "/PAGE").await, "second/above/deeper");
    let change = serde_json::from_value(json!({ "defaultSiteSpace": place })).expect("a change");
    p.update_site(me, &w.org, &one.site, change).await.expect("another default");
    assert_eq!(leads(&w, &one, "/page").await, "above/deeper");
    assert_eq!(leads(&w, &one, "/space").await, "docs/");
    search::edit(&w, &second, json!([{ "operation": "delete_page", "page": page }])).await.expect("deleted");
    assert_eq!(target(&w, &one, "/page").await, Err(ErrorKind::NotFound), "the page is gone");
    let again = UpdateSiteRedirect { destination: Some(made.destination.clone()), source: None };
    let refused = p.update_redirect(me, (&w.org, &one.site), &made.id, again).await;
    assert_eq!(kind(refused), ErrorKind::Invalid, "nor can it be chosen");
    let moved = UpdateSiteRedirect { source: Some(source("/moved")), destination: None };
    p.update_redirect(me, (&w.org, &one.site), &made.id, moved).await.expect("what is left out stays");
    let space = RedirectDestination::SiteSpace { site_space_id: place };
    let change = UpdateSiteRedirect { destination: Some(space), source: None };
    p.update_redirect(me, (&w.org, &one.site), &made.id, change).await.expect("another destination");
    assert_eq!(leads(&w, &one, "/moved").await, "");
    p.delete_space(me, &second).await.expect("deleted");
    assert_eq!(target(&w, &one, "/moved").await, Err(ErrorKind::NotFound), "the space is in the trash");
    p.restore_space(me, &second).await.expect("restored");
    assert_eq!(leads(&w, &one, "/moved").await, "");
    w.check().await;
}

#[tokio::test]
async fn a_redirect_stays_on_the_domain_and_the_share_link_that_the_site_is_read_by() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    let second = search::space(&w, "Second").await;
    let place = add(&w, &one.site, &second).await;
    let above = search::add(&w, &second, "Über uns", "text").await;
    let page = search::add_below(&w, &second, Some(&above), ("A/B", "text")).await;
    search::change(&w, &second, &above, json!({ "slug": "über" })).await;
    let path = "second/%C3%BCber/a-b";
    for (source, destination) in [
        ("/page", RedirectDestination::SitePage { site_space_id: place.clone(), page_id: page }),
        ("/space", RedirectDestination::SiteSpace { site_space_id: place }),
    ] {
        let source = RedirectSource::new(source).expect("a path");
        p.create_redirect(me, &w.org, &one.site, CreateSiteRedirect { source, destination })
            .await
            .expect("a redirect");
    }
    assert_eq!(leads(&w, &one, "/page").await, path);
    let change = |body| serde_json::from_value(body).expect("a change");
    let mount = change(json!({ "proxy": "www.example.com/help" }));
    p.update_site(me, &w.org, &one.site, mount).await.expect("mounted");
    assert_eq!(target(&w, &one, "/page").await, Ok(format!("https://www.example.com/help/{path}")));
    assert_eq!(target(&w, &one, "/space").await, Ok("https://www.example.com/help/second/".to_owned()));
    // By a share link.
    let link = serde_json::from_value(json!({ "name": "Friends" })).expect("a link");
    let link = p.create_share_link(me, &w.org, &one.site, link).await.expect("a link").urls.published;
    let link = link.expect("an address");
    let key = link.trim_end_matches('/').rsplit('/').next().expect("a key").to_owned();
    let by = async |key: &str| {
        let of = (&w.org, &one.site, Some(key));
        p.resolve_redirect(me, of, &source("/page")).await.expect("a target").target
    };
    let public = format!("https://www.example.com/help/{path}");
    assert_eq!(by(&key).await, public, "everybody reads the site");
    let closed = change(json!({ "visibility": "share-link" }));
    p.update_site(me, &w.org, &one.site, closed).await.expect("closed");
    assert_eq!(by(&key).await, format!("https://www.example.com/help/{key}/{path}"));
    assert_eq!(by("wrong").await, public);
    let bare = change(json!({ "proxy": null }));
    p.update_site(me, &w.org, &one.site, bare).await.expect("unmounted");
    assert_eq!(by(&key).await, format!("{link}{path}"));
}

#[tokio::test]
async fn a_redirect_of_one_site_is_none_of_another() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let (one, other) = (published(&w, "One").await, published(&w, "Other").await);
    let (mine, theirs) = (create(&w, &one, "/old").await, create(&w, &other, "/old").await);
    assert_ne!(mine.id, theirs.id);
    let of = (&w.org, &one.site);
    let change = UpdateSiteRedirect::default();
    assert_eq!(kind(p.update_redirect(me, of, &theirs.id, change).await), ErrorKind::NotFound);
    assert!(!p.delete_redirect(me, of, &theirs.id).await.expect("no error"));
    let abroad = RedirectDestination::SiteSpace { site_space_id: other.place.clone() };
    let new = CreateSiteRedirect { source: source("/abroad"), destination: abroad };
    assert_eq!(kind(p.create_redirect(me, &w.org, &one.site, new).await), ErrorKind::Invalid);
    let list = p.list_redirects(me, of, &PageRequest::default()).await.expect("a list");
    assert_eq!((list.items, list.count), (vec![mine.clone()], Some(1)));
    assert!(p.delete_redirect(me, of, &mine.id).await.expect("deleted"));
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
    let first = w.platform.list_redirects(&w.admin, (&w.org, &one.site), &page).await.expect("a page");
    let page = PageRequest { page: first.next, limit: None };
    let rest = w.platform.list_redirects(&w.admin, (&w.org, &one.site), &page).await.expect("the rest");
    assert_eq!([first.items, rest.items].concat(), made);
}

#[tokio::test]
async fn a_redirect_does_not_tell_of_what_its_reader_may_not_see() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    create(&w, &one, "/old").await;
    let reader = w.member("Rob", Some(Role::Read)).await;
    let of = (&w.org, &one.site);
    p.resolve_redirect(&reader, of, &source("/old")).await.expect("the reader sees the space");
    let closed = UpdateSpace { default_level: Patch::<LevelInput>::Clear, ..UpdateSpace::default() };
    p.update_space(me, &one.space, closed).await.expect("closed");
    p.resolve_redirect(&reader, of, &source("/old")).await.expect("anybody sees the space on a public site");
    // A page of it as anybody sees it, too.
    let page = search::add(&w, &one.space, "Page", "Text.").await;
    let destination =
        RedirectDestination::SitePage { site_space_id: one.place.clone(), page_id: page.clone() };
    let new = CreateSiteRedirect { source: source("/page"), destination };
    p.create_redirect(me, &w.org, &one.site, new).await.expect("a redirect");
    p.resolve_redirect(&reader, of, &source("/page")).await.expect("anybody sees the page");
    search::change(&w, &one.space, &page, json!({ "condition": "visitor.claims.beta" })).await;
    assert_eq!(kind(p.resolve_redirect(&reader, of, &source("/page")).await), ErrorKind::NotFound);
    p.resolve_redirect(me, of, &source("/page")).await.expect("who has a right to the space sees it");
    let change = UpdateSite { visibility: Some(SiteVisibility::ShareLink), ..UpdateSite::default() };
    p.update_site(me, &w.org, &one.site, change).await.expect("changed");
    assert_eq!(kind(p.resolve_redirect(&reader, of, &source("/old")).await), ErrorKind::NotFound);
    p.resolve_redirect(me, of, &source("/old")).await.expect("an administrator sees it");
    // Who manages the site, but does not see a space on it, cannot lead there.
    let creator = w.member("Cleo", Some(Role::Create)).await;
    let theirs = p.create_site(&creator, &w.org, Default::default()).await.expect("a site").id;
    let put = AddSiteSpace { space_id: one.space.to_string(), section_id: None };
    let place = p.add_site_space(me, (&w.org, &theirs), &put).await.expect("put there").id;
    let new = CreateSiteRedirect {
        source: source("/old"),
        destination: RedirectDestination::SiteSpace { site_space_id: place },
    };
    assert_eq!(kind(p.create_redirect(&creator, &w.org, &theirs, new.clone()).await), ErrorKind::Invalid);
    p.create_redirect(me, &w.org, &theirs, new).await.expect("an administrator can");
}
