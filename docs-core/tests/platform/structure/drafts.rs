//! Drafts of sections, groups and spaces, hidden spaces, and moves by updates.

use docs_core::{
    ErrorKind,
    model::{ResolvedUrl, SectionGroupId, SiteId, SiteStructure, SpaceId, UpdateSection, UpdateSectionGroup},
    platform::{Actor, Visitor},
};
use serde_json::{Value, json};

use super::{
    read,
    rules::{places, section, site, space},
};
use crate::support::{Refused, World};

async fn group(w: &World, site: &SiteId, body: Value) -> SectionGroupId {
    w.as_admin().org(&w.org).site(site).section_groups().create(read(body)).await.expect("added").id
}

/// Returns the titles of the sections and spaces in the published structure.
fn titles(structure: &SiteStructure) -> Vec<String> {
    fn collect(item: &Value, found: &mut Vec<String>) {
        match item {
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(fields) => {
                found.extend(fields.get("title").and_then(Value::as_str).map(str::to_owned));
                fields
                    .iter()
                    .filter(|(name, _)| *name == "children" || *name == "siteSpaces")
                    .for_each(|(_, inner)| collect(inner, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(&serde_json::to_value(structure).expect("JSON")["structure"], &mut found);
    found
}

/// A site with a section `Guide`, and a section `API` within two groups.
struct Drafts {
    w: World,
    site: SiteId,
    base: String,
    api: SpaceId,
}

impl Drafts {
    async fn new() -> Self {
        let w = World::new().await;
        let (guide, api) = (space(&w, "Guide").await, space(&w, "API").await);
        let (site, base) = site(&w, &[]).await;
        section(&w, &site, json!({ "spaceId": guide })).await;
        Self { w, site, base, api }
    }

    /// Returns `true` if anonymous visitors can read the space `API`, after comparing all ways to it.
    async fn is_public(&self) -> bool {
        let Self { w, site, base, api } = self;
        let visitor = Actor::Visitor(Visitor::anonymous());
        let seen = w.platform.as_actor(&visitor).org(&w.org).site(site);
        let published = seen.published().await.expect("published");
        let is_listed = titles(&published.structure).contains(&"API".to_owned());
        for structure in [
            seen.structure().await.expect("the structure"),
            w.as_admin().org(&w.org).site(site).published().await.expect("published").structure,
        ] {
            assert_eq!(titles(&structure).contains(&"API".to_owned()), is_listed, "{structure:?}");
        }
        let content = w.platform.as_actor(&visitor).space(api).content().get(Default::default()).await;
        assert_eq!(content.is_ok(), is_listed);
        let ask = read(json!({ "url": format!("{base}api/") }));
        let found = match w.platform.resolve_url(&ask).await {
            Ok(ResolvedUrl::Content(found)) => found.space == *api,
            Ok(ResolvedUrl::Redirect(_)) | Err(_) => false,
        };
        assert_eq!(found, is_listed);
        let shown = w.as_admin().space(api).get().await.expect("the space");
        assert_eq!(shown.urls.published.is_some(), is_listed, "{:?}", shown.urls);
        let place = places(w, site).await.into_iter().find(|place| place.space.id == *api).expect("there");
        assert_eq!(place.urls.published.is_some(), is_listed, "{:?}", place.urls);
        is_listed
    }
}

#[tokio::test]
async fn drafts_at_every_level_are_invisible_to_visitors() {
    let d = Drafts::new().await;
    let w = &d.w;
    let admin = || w.as_admin().org(&w.org).site(&d.site);
    let outer = group(w, &d.site, json!({ "title": "Outer", "draft": true })).await;
    let inner = group(w, &d.site, json!({ "title": "Inner", "parent": outer, "draft": true })).await;
    let new = json!({ "spaceId": d.api, "title": "API", "draft": true, "siteSectionGroupId": inner });
    let part = admin().sections().create(read(new)).await.expect("added");
    assert!(part.draft && part.section_group == Some(inner.clone()) && part.urls.published.is_none());
    let place = part.site_spaces[0].id.clone();
    let draft = |is_draft: bool| json!({ "draft": is_draft });
    admin().space(&place).update(read(draft(true))).await.expect("a draft");
    assert!(!d.is_public().await);
    // Each level hides the space on its own.
    for level in 0..4 {
        let is = |number: usize| read::<UpdateSectionGroup>(draft(number == level));
        admin().space(&place).update(read(draft(level == 0))).await.expect("changed");
        admin().section(&part.id).update(read::<UpdateSection>(draft(level == 1))).await.expect("changed");
        admin().section_group(&inner).update(is(2)).await.expect("changed");
        admin().section_group(&outer).update(is(3)).await.expect("changed");
        assert!(!d.is_public().await, "level {level}");
    }
    admin().section_group(&outer).update(read(draft(false))).await.expect("live");
    assert!(d.is_public().await);
    let structure = admin().structure().await.expect("the structure");
    assert!(titles(&structure).contains(&"API".to_owned()));
    w.check().await;
}

#[tokio::test]
async fn draft_default_passes_to_the_first_live_part() {
    let d = Drafts::new().await;
    let w = &d.w;
    let admin = || w.as_admin().org(&w.org).site(&d.site);
    section(w, &d.site, json!({ "spaceId": d.api, "title": "API" })).await;
    let all = admin().sections().list(&Default::default()).await.expect("listed").items;
    admin().section(&all[0].id).update(read(json!({ "draft": true }))).await.expect("a draft");
    let visitor = Actor::Visitor(Visitor::anonymous());
    let seen = w.platform.as_actor(&visitor).org(&w.org).site(&d.site).published().await.expect("published");
    let seen = serde_json::to_value(seen.structure).expect("JSON");
    assert_eq!(seen["structure"].as_array().expect("sections").len(), 1, "{seen}");
    assert_eq!(
        (&seen["structure"][0]["title"], &seen["structure"][0]["default"]),
        (&json!("API"), &json!(true))
    );
    assert_eq!(seen["structure"][0]["urls"]["published"], json!(d.base));
}

#[tokio::test]
async fn update_moves_sections_and_groups_to_the_end_of_a_group() {
    let d = Drafts::new().await;
    let w = &d.w;
    let admin = || w.as_admin().org(&w.org).site(&d.site);
    let outer = group(w, &d.site, json!({ "title": "Outer" })).await;
    let inner = group(w, &d.site, json!({ "title": "Inner" })).await;
    let part = section(w, &d.site, json!({ "spaceId": d.api, "title": "API" })).await;
    let into = |group: &SectionGroupId| json!({ "siteSectionGroupId": group });
    let moved = admin().section(&part).update(read(into(&outer))).await.expect("moved");
    assert_eq!(moved.section_group, Some(outer.clone()));
    let moved = admin().section_group(&inner).update(read(json!({ "parentSectionGroupId": outer }))).await;
    assert_eq!(moved.expect("moved").section_group, Some(outer.clone()));
    let shown = admin().section_group(&outer).update(read(json!({}))).await.expect("unchanged");
    let children = serde_json::to_value(&shown.children).expect("JSON");
    assert_eq!(children[0]["id"], json!(part));
    assert_eq!(children[1]["id"], json!(inner), "the last child");
    for parent in [&inner, &outer] {
        let change = read(json!({ "parentSectionGroupId": parent }));
        admin().section_group(&outer).update(change).await.refused(ErrorKind::Invalid);
    }
    let change = read(json!({ "siteSectionGroupId": "unknown" }));
    admin().section(&part).update(change).await.refused(ErrorKind::Invalid);
    let released = admin().section(&part).update(read(json!({ "siteSectionGroupId": null }))).await;
    assert_eq!(released.expect("released").section_group, None);
    let released = admin().section_group(&inner).update(read(json!({ "parentSectionGroupId": null }))).await;
    assert_eq!(released.expect("released").section_group, None);
    let structure = serde_json::to_value(admin().structure().await.expect("shown")).expect("JSON");
    let order: Vec<&Value> =
        structure["structure"].as_array().expect("parts").iter().map(|it| &it["id"]).collect();
    assert_eq!(order[1..], [&json!(outer), &json!(part), &json!(inner)]);
    w.check().await;
}

#[tokio::test]
async fn nesting_by_updates_is_limited_to_five_levels() {
    let w = World::new().await;
    let (site, _) = site(&w, &[]).await;
    let mut chain = vec![group(&w, &site, json!({ "title": "0" })).await];
    for level in 1..5 {
        let parent = chain.last().expect("a group").clone();
        chain.push(group(&w, &site, json!({ "title": level.to_string(), "parent": parent })).await);
    }
    let lone = group(&w, &site, json!({ "title": "Lone" })).await;
    let admin = || w.as_admin().org(&w.org).site(&site);
    let below = |parent: &SectionGroupId| read(json!({ "parentSectionGroupId": parent }));
    admin().section_group(&lone).update(below(&chain[4])).await.refused(ErrorKind::Conflict);
    admin().section_group(&lone).update(below(&chain[3])).await.expect("the deepest level");
    admin()
        .section_group(&lone)
        .update(read(json!({ "parentSectionGroupId": null })))
        .await
        .expect("released");
    admin().section_group(&chain[0]).update(below(&lone)).await.refused(ErrorKind::Conflict);
    w.check().await;
}

#[tokio::test]
async fn new_part_without_a_space_gets_an_empty_space() {
    let w = World::new().await;
    let (site, _) = site(&w, &[]).await;
    let admin = || w.as_admin().org(&w.org).site(&site);
    let new = json!({ "spaceId": null, "title": "Reference" });
    let part = admin().sections().create(read(new)).await.expect("added");
    assert_eq!(part.site_spaces[0].space.title.as_str(), "Reference");
    let pages =
        w.as_admin().space(&part.site_spaces[0].space.id).content().list_pages(Default::default()).await;
    assert!(pages.expect("the pages").pages.is_empty());
    let new = json!({ "spaceId": null, "title": "Version 2", "draft": true, "sectionId": part.id });
    let place = admin().spaces().create(read(new)).await.expect("added");
    assert_eq!((place.title.as_str(), place.draft, place.path.as_str()), ("Version 2", true, "version-2"));
    let renamed = admin().space(&place.id).update(read(json!({ "title": null }))).await.expect("renamed");
    assert_eq!(renamed.title, "Version 2", "the title of the space");
    let untitled = admin().spaces().create(read(json!({ "spaceId": null }))).await.expect("added");
    assert_eq!(untitled.title, "Untitled");
    // A manager of the site without the right to create content cannot create spaces.
    let editor = w.member("Edda", Some(docs_core::model::Role::Edit)).await;
    let theirs = w.platform.as_actor(&editor).org(&w.org).site(&site);
    theirs.spaces().create(read(json!({ "spaceId": null }))).await.refused(ErrorKind::Forbidden);
    w.check().await;
}

#[tokio::test]
async fn texts_and_flags_of_parts_are_stored_and_returned() {
    let d = Drafts::new().await;
    let w = &d.w;
    let admin = || w.as_admin().org(&w.org).site(&d.site);
    let part = admin().sections().list(&Default::default()).await.expect("listed").items.remove(0);
    let texts = json!({ "de": "Anleitung", "pt-br": "Guia" });
    let change = json!({ "localizedTitle": texts, "localizedDescription": { "de": "Worum es geht" } });
    let changed = admin().section(&part.id).update(read(change)).await.expect("changed");
    assert_eq!(serde_json::to_value(&changed.localized_title).expect("JSON"), texts);
    let kept = admin().section(&part.id).update(read(json!({}))).await.expect("unchanged");
    assert_eq!(kept, changed);
    let cleared =
        admin().section(&part.id).update(read(json!({ "localizedTitle": {} }))).await.expect("changed");
    assert!(cleared.localized_title.is_empty() && !cleared.localized_description.is_empty());
    let place = &part.site_spaces[0].id;
    let hidden = admin().space(place).update(read(json!({ "hidden": true, "title": "Start" }))).await;
    let hidden = hidden.expect("changed");
    assert!(hidden.hidden && hidden.title == "Start" && hidden.urls.published.is_some());
    let group = group(w, &d.site, json!({ "title": "Group" })).await;
    let changed =
        admin().section_group(&group).update(read(json!({ "localizedTitle": { "ja": "群" } }))).await;
    assert_eq!(changed.expect("changed").localized_title.len(), 1);
    let conditional = json!({ "condition": "visitor.claims.beta" });
    assert!(
        admin().section(&part.id).update(read(conditional.clone())).await.expect("set").condition.is_some()
    );
    let cleared = admin().section(&part.id).update(read(json!({ "condition": "" }))).await.expect("cleared");
    assert_eq!(cleared.condition, None);
    admin().space(place).update(read(conditional)).await.expect("set");
    let cleared = admin().space(place).update(read(json!({ "condition": "" }))).await.expect("cleared");
    assert_eq!(cleared.condition, None);
    w.check().await;
}
