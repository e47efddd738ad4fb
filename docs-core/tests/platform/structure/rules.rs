//! The structure rules of sites: paths derived from titles, partial updates, deletions, and limits.

use docs_core::{
    ErrorKind,
    model::{CreateSite, CreateSpace, SectionId, SiteId, SiteSpace, SpaceId},
    platform::AuditFilter,
    store::{
        PageRequest,
        records::{SectionRecord, SiteRecord},
    },
};
use serde_json::{Value, json};

use super::read;
use crate::support::{Refused, World};

/// Publishes a site with the title `Docs` and these spaces. Returns the site and its URL.
pub(super) async fn site(w: &World, spaces: &[&SpaceId]) -> (SiteId, String) {
    let new: CreateSite = read(json!({ "title": "Docs", "spaces": spaces }));
    let site = w.as_admin().org(&w.org).sites().create(new).await.expect("a site").id;
    let shown = w.as_admin().org(&w.org).site(&site).publish().await.expect("published");
    (site, shown.urls.published.expect("an address"))
}

pub(super) async fn space(w: &World, title: &str) -> SpaceId {
    let new: CreateSpace = read(json!({ "title": title }));
    w.as_admin().org(&w.org).spaces().create(new).await.expect("a space").id
}

pub(super) async fn places(w: &World, site: &SiteId) -> Vec<SiteSpace> {
    let all = PageRequest::default();
    w.as_admin().org(&w.org).site(site).spaces().list(Default::default(), &all).await.expect("listed").items
}

async fn urls(w: &World, site: &SiteId) -> Vec<String> {
    places(w, site).await.into_iter().map(|place| place.urls.published.expect("published")).collect()
}

/// Returns the sections: title, path, and `true` for the default.
async fn sections(w: &World, site: &SiteId) -> Vec<(String, String, bool)> {
    let all = PageRequest::default();
    let list = w.as_admin().org(&w.org).site(site).sections().list(&all).await.expect("listed").items;
    list.into_iter()
        .map(|section| (section.title.to_string(), section.path.to_string(), section.default))
        .collect()
}

pub(super) async fn section(w: &World, site: &SiteId, body: Value) -> SectionId {
    w.as_admin().org(&w.org).site(site).sections().create(read(body)).await.expect("added").id
}

#[tokio::test]
async fn first_section_keeps_existing_spaces_at_their_urls() {
    let w = World::new().await;
    let (guide, docs, api) = (space(&w, "Guide").await, space(&w, "Docs").await, space(&w, "API").await);
    let (site, base) = site(&w, &[&guide, &docs, &api]).await;
    let before = urls(&w, &site).await;
    assert_eq!(before, ["", "docs/", "api/"].map(|path| format!("{base}{path}")));
    section(&w, &site, json!({ "spaceId": api })).await;
    let named = |title: &str, path: &str, default| (title.to_owned(), path.to_owned(), default);
    // The sections do not use paths that already resolve to a space.
    assert_eq!(sections(&w, &site).await, [named("Docs", "docs-2", true), named("API", "api-2", false)]);
    let after = urls(&w, &site).await;
    assert_eq!(after[..3], before);
    assert_eq!(after[3], format!("{base}api-2/"));
    let shown = w.as_admin().space(&docs).get().await.expect("shown");
    assert_eq!(shown.urls.published.as_ref(), Some(&after[1]), "a space says the same of itself");
    w.check().await;
}

#[tokio::test]
async fn space_with_the_path_of_a_section_needs_both_segments() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let (site, base) = site(&w, &[&guide, &api]).await;
    let of = (&w.org, &site);
    let added = section(&w, &site, json!({ "spaceId": guide, "title": "Reference" })).await;
    w.as_admin()
        .org(of.0)
        .site(of.1)
        .section(&added)
        .update(read(json!({ "path": "API" })))
        .await
        .expect("renamed");
    assert_eq!(urls(&w, &site).await, ["", "docs/api/", "API/"].map(|path| format!("{base}{path}")));
    let shown = w.as_admin().space(&api).get().await.expect("shown");
    assert_eq!(shown.urls.published, Some(format!("{base}docs/api/")));
    let first = &places(&w, &site).await[1].id;
    let default = read(json!({ "defaultSiteSpace": first }));
    w.as_admin().org(&w.org).site(&site).update(default).await.expect("changed");
    assert_eq!(urls(&w, &site).await, ["guide/", "", "API/"].map(|path| format!("{base}{path}")));
}

#[tokio::test]
async fn section_paths_derive_from_titles_and_survive_renames() {
    let w = World::new().await;
    let (start, guide) = (space(&w, "Start").await, space(&w, "Guide").await);
    let (site, base) = site(&w, &[]).await;
    let of = (&w.org, &site);
    section(&w, &site, json!({ "spaceId": start })).await;
    for (title, path) in [
        (json!("Über uns & mehr"), "über-uns-mehr"),
        (Value::Null, "guide"),
        (json!("GUIDE"), "guide-2"),
        (json!("??"), "section"),
        (json!("!!"), "section-2"),
        (json!("x".repeat(128)), &"x".repeat(100)),
        (json!("x".repeat(127)), &format!("{}-2", "x".repeat(98))),
    ] {
        let added = section(&w, &site, json!({ "spaceId": guide, "title": title })).await;
        let change = read(json!({ "title": "Another" }));
        let shown = w.as_admin().org(of.0).site(of.1).section(&added).update(change).await.expect("changed");
        assert_eq!((shown.title.as_str(), shown.path.as_str()), ("Another", path), "{title}");
    }
    let first = &sections(&w, &site).await[0];
    assert!(first.2, "the first section of a site is its default");
    let short = space(&w, "A").await;
    let added = section(&w, &site, json!({ "spaceId": short })).await;
    let list = w
        .as_admin()
        .org(of.0)
        .site(of.1)
        .sections()
        .list(&PageRequest::default())
        .await
        .expect("listed")
        .items;
    let added = list.iter().find(|section| section.id == added).expect("listed");
    assert_eq!(added.title.as_str(), "Untitled", "a space may have a title too short for a section");
    let other = read(json!({ "defaultSiteSection": added.id }));
    w.as_admin().org(&w.org).site(&site).update(other).await.expect("changed");
    assert_eq!(urls(&w, &site).await[1], format!("{base}%C3%BCber-uns-mehr/"));
    w.check().await;
}

#[tokio::test]
async fn omitted_field_is_unchanged_and_null_clears_it() {
    let w = World::new().await;
    let guide = space(&w, "Guide").await;
    let (site, _) = site(&w, &[]).await;
    let (p, me, of) = (&w.platform, &w.admin, (&w.org, &site));
    let id = section(&w, &site, json!({ "spaceId": guide, "title": null, "icon": null })).await;
    let fields = [
        ("condition", json!("visitor.claims.plan == 'pro'")),
        ("icon", json!("book")),
        ("description", json!("What for")),
    ];
    let all: Value = fields.iter().cloned().map(|(name, value)| (name.to_owned(), value)).collect();
    let change = async |body: Value| {
        serde_json::to_value(
            p.as_actor(me).org(of.0).site(of.1).section(&id).update(read(body)).await.expect("changed"),
        )
        .expect("JSON")
    };
    for (gone, _) in &fields {
        let full = change(all.clone()).await;
        assert_eq!(change(json!({})).await, full, "nothing said, nothing changed");
        let left = change(json!({ *gone: null })).await;
        let mut expected = full.clone();
        expected.as_object_mut().expect("an object").remove(*gone);
        assert_eq!(left, expected, "{gone} is gone, and nothing else");
        assert_eq!(change(json!({ *gone: null })).await, expected);
    }
    let place = places(&w, &site).await[0].id.clone();
    let change = async |body: Value| {
        serde_json::to_value(
            p.as_actor(me).org(of.0).site(of.1).space(&place).update(read(body)).await.expect("changed"),
        )
        .expect("JSON")
    };
    let full = change(json!({ "condition": "true", "path": "here" })).await;
    assert_eq!((&full["condition"], &full["path"]), (&json!("true"), &json!("here")));
    assert_eq!(change(json!({})).await, full);
    assert_eq!(change(json!({ "condition": null })).await.get("condition"), None);
    let group = read(json!({ "title": "Group", "icon": "box" }));
    let group = p.as_actor(me).org(of.0).site(of.1).section_groups().create(group).await.expect("added").id;
    let change = async |body: Value| {
        p.as_actor(me).org(of.0).site(of.1).section_group(&group).update(read(body)).await.expect("changed")
    };
    assert_eq!(change(json!({ "title": "Other" })).await.icon.expect("kept").as_str(), "box");
    let bare = change(json!({ "icon": null })).await;
    assert_eq!((bare.title.as_str(), bare.icon), ("Other", None));
    w.check().await;
}

#[tokio::test]
async fn replacing_the_space_of_a_site_space_keeps_its_path() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let (site, base) = site(&w, &[&guide]).await;
    let place = places(&w, &site).await.remove(0);
    let change = read(json!({ "spaceId": api }));
    let of = (&w.org, &site);
    let shown = w.as_admin().org(of.0).site(of.1).space(&place.id).update(change).await.expect("changed");
    assert_eq!((&shown.space.id, shown.title.as_str(), &shown.path), (&api, "API", &place.path));
    assert_eq!(w.as_admin().space(&guide).get().await.expect("shown").urls.published, None);
    assert_eq!(w.as_admin().space(&api).get().await.expect("shown").urls.published, Some(base));
    let stranger = w.member("Rita", Some(docs_core::model::Role::Read)).await;
    let change = read(json!({ "spaceId": guide }));
    w.platform
        .as_actor(&stranger)
        .org(of.0)
        .site(of.1)
        .space(&place.id)
        .update(change)
        .await
        .refused(ErrorKind::Forbidden);
    w.check().await;
}

/// Editors still see a section that only contains deleted spaces.
#[tokio::test]
async fn published_structure_omits_deleted_and_empty_parts() {
    let w = World::new().await;
    let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
    let (site, base) = site(&w, &[]).await;
    let (p, me, of) = (&w.platform, &w.admin, (&w.org, &site));
    let first = section(&w, &site, json!({ "spaceId": guide })).await;
    let second = section(&w, &site, json!({ "spaceId": api })).await;
    let group = read(json!({ "title": "Group", "sections": [first] }));
    p.as_actor(me).org(of.0).site(of.1).section_groups().create(group).await.expect("added");
    p.as_actor(me).space(&guide).delete().await.expect("deleted");
    let published = p.as_actor(me).org(&w.org).site(&site).published().await.expect("published").structure;
    let published = serde_json::to_value(published).expect("JSON");
    let shown = published["structure"].as_array().expect("sections");
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert_eq!((&shown[0]["id"], &shown[0]["default"]), (&json!(second), &json!(true)));
    assert_eq!(shown[0]["urls"]["published"], json!(base));
    let edited = serde_json::to_value(p.as_actor(me).org(of.0).site(of.1).structure().await.expect("shown"))
        .expect("JSON");
    let group = &edited["structure"][1];
    assert_eq!(group["children"][0]["siteSpaces"], json!([]), "whoever edits the site sees the section");
    p.as_actor(me).space(&guide).restore().await.expect("restored");
    let edited = serde_json::to_value(p.as_actor(me).org(of.0).site(of.1).structure().await.expect("shown"))
        .expect("JSON");
    assert_eq!(edited["structure"][1]["children"][0]["siteSpaces"][0]["default"], true);
}

#[tokio::test]
async fn sections_groups_and_spaces_of_a_site_are_limited() {
    let w = World::new().await;
    let guide = space(&w, "Guide").await;
    let (site, _) = site(&w, &[]).await;
    let mine = w.platform.as_actor(&w.admin).org(&w.org).site(&site);
    let add = || json!({ "spaceId": guide });
    let mut last = None;
    for _ in 0..100 {
        last = Some(section(&w, &site, add()).await);
    }
    let error = mine.sections().create(read(add())).await.refused(ErrorKind::Conflict);
    assert_eq!(error.to_string(), "a site must have at most 100 sections");
    for _ in 0..200 {
        mine.spaces().create(read(add())).await.expect("added");
    }
    let error = mine.spaces().create(read(add())).await.refused(ErrorKind::Conflict);
    assert_eq!(error.to_string(), "a site must have at most 300 spaces");
    mine.section(&last.expect("a section")).delete().await.expect("deleted");
    section(&w, &site, add()).await;
    let mut parent: Option<String> = None;
    for depth in 1..=50 {
        let group = json!({ "title": "Group", "parent": parent });
        let group = if parent.is_none() { json!({ "title": "Group" }) } else { group };
        let added = mine.section_groups().create(read(group.clone())).await;
        if depth <= 5 {
            parent = Some(added.expect("added").id.to_string());
        } else {
            let error = added.refused(ErrorKind::Conflict);
            assert_eq!(error.to_string(), "section groups must be nested at most 5 levels deep");
            mine.section_groups().create(read(json!({ "title": "Group" }))).await.expect("added");
        }
    }
    let error =
        mine.section_groups().create(read(json!({ "title": "Group" }))).await.refused(ErrorKind::Conflict);
    assert_eq!(error.to_string(), "a site must have at most 50 section groups");
    let list = mine.section_groups().list(&PageRequest { page: None, limit: Some(1) }).await.expect("listed");
    assert_eq!((list.items.len(), list.count), (1, Some(50)));
    assert!(mine.delete().await.expect("one transaction deletes all of it"));
    w.check().await;
}

#[tokio::test]
async fn audit_log_records_structure_changes_of_a_site() {
    let w = World::new().await;
    let guide = space(&w, "Guide").await;
    let (site, _) = site(&w, &[]).await;
    let added = section(&w, &site, json!({ "spaceId": guide })).await;
    let subject = Some(SiteRecord::key_for(&site));
    let filter = AuditFilter { organization: Some(w.org.clone()), subject, ..AuditFilter::default() };
    let log = w.as_admin().audit_log(&filter, &PageRequest::default()).await.expect("the log");
    let told: Vec<&str> = log.items.iter().map(|entry| entry.operation.as_str()).collect();
    assert_eq!(told, ["site_section_add", "site_publish", "site_create"]);
    let filter = AuditFilter { subject: Some(SectionRecord::key_for(&added)), ..filter };
    let log = w.as_admin().audit_log(&filter, &PageRequest::default()).await.expect("the log");
    assert_eq!(log.items.len(), 1, "a section belongs to the organization of its site");
}
