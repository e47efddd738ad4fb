//! The visible parts of a site: defaults if spaces are deleted or hidden, lists of sites, and mounts.

use docs_core::{
    Actor, ErrorKind,
    model::{CreateSite, OrgId, ResolvedUrl, Role, SiteId, SpaceId, UpdateSpace},
    platform::{SiteFilter, SiteSpaceFilter},
    store::PageRequest,
};
use serde_json::{Value, json};

use super::{
    read,
    rules::{places, section, site, space},
};
use crate::support::{Refused, World, person};

/// Returns the published structure of the site for an actor: title, default flag and URL of each site space.
async fn published(w: &World, who: &Actor, site: &SiteId) -> Vec<(String, bool, String)> {
    let published = w.platform.as_actor(who).org(&w.org).site(site).published().await.expect("published");
    let structure = serde_json::to_value(published.structure).expect("JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let places = structure["structure"].as_array().expect("site spaces").iter();
    places
        .map(|place| {
            (
                text(&place["title"]),
                place["default"].as_bool().unwrap_or_default(),
                text(&place["urls"]["published"]),
            )
        })
        .collect()
}

/// Restricts a space to users with a role on it.
async fn close(w: &World, space: &SpaceId) {
    let change: UpdateSpace = read(json!({ "defaultLevel": null }));
    w.as_admin().space(space).update(change).await.expect("changed");
}

async fn set(w: &World, site: &SiteId, change: Value) -> docs_core::Result<()> {
    w.as_admin().org(&w.org).site(site).update(read(change)).await.map(drop)
}

/// Returns the ids of the sites that contain a space, as listed for an actor.
async fn sites_with(w: &World, who: &Actor, space: &SpaceId) -> Vec<SiteId> {
    let filter = SiteFilter { space: Some(space.to_string()), ..SiteFilter::default() };
    let list = w.platform.as_actor(who).org(&w.org).sites().list(&filter, &PageRequest::default()).await;
    list.expect("listed").items.into_iter().map(|site| site.id).collect()
}

/// This applies to editors and readers.
#[tokio::test]
async fn deleted_default_passes_to_the_first_remaining_space() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let (site, base) = site(&w, &[&guide, &api]).await;
    w.as_admin().space(&guide).delete().await.expect("deleted");
    let left = places(&w, &site).await;
    let shown: Vec<_> = left.iter().map(|place| (place.title.as_str(), place.default)).collect();
    assert_eq!(shown, [("API", true)]);
    assert_eq!(left[0].urls.published.as_deref(), Some(base.as_str()));
    assert_eq!(published(&w, &w.admin, &site).await, [("API".to_owned(), true, base)]);
    let told = w.as_admin().org(&w.org).site(&site).get().await.expect("shown");
    assert_eq!(told.site_spaces, 1);
    assert_eq!(sites_with(&w, &w.admin, &guide).await, []);
    assert_eq!(sites_with(&w, &w.admin, &api).await, [site]);
}

#[tokio::test]
async fn member_sees_all_of_a_public_site_else_permitted_spaces() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let (site, base) = site(&w, &[&guide, &api]).await;
    close(&w, &guide).await;
    let reader = w.member("Rea", Some(Role::Read)).await;
    let all = [("Guide".to_owned(), true, base.clone()), ("API".to_owned(), false, format!("{base}api/"))];
    assert_eq!(published(&w, &reader, &site).await, all);
    // With another visibility, readers see fewer spaces, whose URLs do not change.
    set(&w, &site, json!({ "visibility": "share-link" })).await.expect("changed");
    assert_eq!(published(&w, &reader, &site).await, all[1..]);
    assert_eq!(published(&w, &w.admin, &site).await, all);
}

#[tokio::test]
async fn deleted_or_hidden_site_space_cannot_be_changed() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let p = &w.platform;
    let creator = w.member("Cora", Some(Role::Create)).await;
    let new: CreateSite = read(json!({ "title": "Docs", "spaces": [guide, api] }));
    let site = p.as_actor(&creator).org(&w.org).sites().create(new).await.expect("a site").id;
    let (first, second) = {
        let places = places(&w, &site).await;
        (places[0].id.clone(), places[1].id.clone())
    };
    let refused = async |who: &Actor| {
        let of = (&w.org, &site);
        let change = read(json!({ "condition": "true" }));
        p.as_actor(who).org(of.0).site(of.1).space(&first).update(change).await.refused(ErrorKind::NotFound);
        let after = json!({ "siteSpace": second, "type": "site-space" });
        let moved = p
            .as_actor(who)
            .org(of.0)
            .site(of.1)
            .space(&first)
            .move_beside(read(json!({ "position": { "after": after } })));
        moved.await.refused(ErrorKind::NotFound);
        let part = |id| json!({ "type": "site-space", "id": id });
        let sort = json!({ "item": part(&first), "position": { "after": part(&second) } });
        p.as_actor(who).org(of.0).site(of.1).sort_structure(read(sort)).await.refused(ErrorKind::Invalid);
    };
    close(&w, &guide).await;
    let before = places(&w, &site).await;
    refused(&creator).await;
    assert_eq!(places(&w, &site).await, before);
    w.as_admin().space(&guide).delete().await.expect("deleted");
    refused(&w.admin).await;
    w.as_admin().space(&guide).restore().await.expect("restored");
    assert_eq!(places(&w, &site).await.len(), before.len());
    assert_eq!(places(&w, &site).await[0].condition, None);
    // The site space can be changed to another space.
    w.as_admin().space(&guide).delete().await.expect("deleted");
    let other = space(&w, "Other").await;
    let change = read(json!({ "spaceId": other }));
    let shown = w.as_admin().org(&w.org).site(&site).space(&first).update(change).await.expect("changed");
    assert_eq!(shown.space.id, other);
}

#[tokio::test]
async fn default_filter_returns_the_first_space_of_a_site() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let (site, _) = site(&w, &[&guide]).await;
    section(&w, &site, json!({ "spaceId": api })).await;
    let listed = async |default| {
        let page = PageRequest::default();
        let list = w
            .as_admin()
            .org(&w.org)
            .site(&site)
            .spaces()
            .list(SiteSpaceFilter { default: Some(default) }, &page)
            .await;
        list.expect("listed").items.into_iter().map(|place| (place.title, place.default)).collect::<Vec<_>>()
    };
    assert_eq!(listed(true).await, [("Guide".to_owned(), true)]);
    assert_eq!(listed(false).await, [("API".to_owned(), true)], "it is the default of its section");
}

#[tokio::test]
async fn sites_of_a_space_are_listed_only_for_its_readers() {
    let w = World::new().await;
    let guide = space(&w, "Guide").await;
    let (site, _) = site(&w, &[&guide]).await;
    let reader = w.member("Rea", Some(Role::Read)).await;
    assert_eq!(sites_with(&w, &reader, &guide).await, [site]);
    close(&w, &guide).await;
    assert_eq!(sites_with(&w, &reader, &guide).await, []);
}

#[tokio::test]
async fn site_icon_is_the_favicon_of_its_customization() {
    let w = World::new().await;
    let (site, _) = site(&w, &[]).await;
    let icon = async || {
        let shown = w.as_admin().org(&w.org).site(&site).get().await.expect("shown");
        serde_json::to_value(shown).expect("JSON").get("icon").cloned()
    };
    assert_eq!(icon().await, None);
    let pictures = json!({ "icon": { "light": "https://x.org/l.png", "dark": "https://x.org/d.png" } });
    let mut look = w.as_admin().org(&w.org).site(&site).get_customization().await.expect("a look");
    look.favicon = read(pictures.clone());
    w.as_admin().org(&w.org).site(&site).set_customization(look).await.expect("set");
    assert_eq!(icon().await, Some(pictures));
}

/// Creates a site of another organization.
async fn elsewhere(w: &World) -> (Actor, OrgId, SiteId) {
    let owner = person(&w.platform, "Eve").await;
    let title = "Elsewhere".parse().expect("a title");
    let user = owner.user().expect("a user").clone();
    let org = w.platform.as_platform().orgs().create(title, &user).await.expect("an organization").id;
    let new: CreateSite = read(json!({ "title": "Other", "spaces": "sample" }));
    let site = w.platform.as_actor(&owner).org(&org).sites().create(new).await.expect("a site").id;
    (owner, org, site)
}

#[tokio::test]
async fn mount_must_not_overlap_one_of_another_organization() {
    let w = World::new().await;
    let p = &w.platform;
    let guide = space(&w, "Guide").await;
    let (own, base) = site(&w, &[&guide]).await;
    let (eve, org, theirs) = elsewhere(&w).await;
    p.as_actor(&eve).org(&org).site(&theirs).publish().await.expect("published");
    let mount =
        async |at: &str| p.as_actor(&eve).org(&org).site(&theirs).update(read(json!({ "proxy": at }))).await;
    set(&w, &own, json!({ "proxy": "acme.com/help/v2" })).await.expect("mounted");
    for taken in ["acme.com/help/v2", "acme.com/help", "ACME.com/help/v2/api"] {
        let error = mount(taken).await.refused(ErrorKind::Conflict);
        assert!(error.to_string().starts_with("proxy: "), "{error}");
    }
    for free in ["acme.com/help/v20", "acme.com/other", "beta.acme.com/help/v2"] {
        mount(free).await.expect(free);
    }
    // Sites of one organization may be mounted at nested paths.
    let (second, _) = site(&w, &[&guide]).await;
    set(&w, &second, json!({ "proxy": "acme.com/help/v2/api" })).await.expect("mounted");
    let found = async |url: &str| {
        let ask = read(json!({ "url": url }));
        match p.resolve_url(&ask).await.expect(url) {
            ResolvedUrl::Content(content) => content.site,
            ResolvedUrl::Redirect(elsewhere) => panic!("{url}: {elsewhere:?}"),
        }
    };
    assert_eq!(found("https://acme.com/help/v2/start").await, own);
    assert_eq!(found("https://acme.com/help/v2/api/start").await, second);
    assert_eq!(found(&base).await, own);
}
