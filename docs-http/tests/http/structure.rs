//! Site structure over HTTP: sections, groups and spaces.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    story::has,
};

const PLACE: &[&str] = &[
    "object",
    "id",
    "path",
    "section",
    "title",
    "default",
    "hasAdvancedCustomizationFeature",
    "urls.published",
    "space.id",
];
const SECTION: &[&str] =
    &["object", "id", "title", "default", "path", "siteSpaces", "urls.location", "urls.published"];
const GROUP: &[&str] = &["object", "id", "title", "sections", "children"];

/// Adds two sections to a site, the first of them in a group. The existing spaces of the site move to another section.
/// Returns the ids used in paths and bodies.
pub(crate) async fn build(s: &Server, site: &str, space: &str) -> BTreeMap<&'static str, String> {
    let section = async |title: &str| {
        let new = json!({ "spaceId": space, "title": title });
        s.post(&format!("{site}/sections"), 201, new).await.body
    };
    let (guide, api) = (section("Guide").await, section("API").await);
    let group = json!({ "title": "Group", "sections": [guide["id"]] });
    let group = s.post(&format!("{site}/section-groups"), 201, group).await.body;
    let link = json!({ "title": "Forum", "url": "https://forum.example/" });
    let link = s.post(&format!("{site}/external-links"), 201, link).await.body;
    BTreeMap::from([
        ("siteSectionId", id(&guide)),
        ("siteSpaceId", id(&guide["siteSpaces"][0])),
        ("siteSectionGroupId", id(&group)),
        ("siteExternalLinkId", id(&link)),
        ("another section", id(&api)),
        ("another site space", id(&api["siteSpaces"][0])),
    ])
}

/// Returns a valid body of an operation, with ids created by [`build`].
pub(crate) fn body(operation: &str, names: &BTreeMap<&'static str, String>) -> Option<Value> {
    let pointer = |kind: &str, field: &str, name: &str| json!({ "type": kind, field: names[name] });
    let beside = pointer("site-section", "id", "another section");
    Some(match operation {
        "addSpaceToSite" => json!({
            "spaceId": names["spaceId"], "sectionId": names["siteSectionId"], "draft": true, "title": "Second",
        }),
        "updateSiteSpaceById" => {
            json!({
                "path": "new", "condition": "true", "spaceId": names["spaceId"], "hidden": true, "draft": false,
                "title": "On the site",
            })
        }
        "duplicateSiteSpace" => json!({ "draft": true }),
        "moveSiteSpace" => {
            json!({ "position": { "after": pointer("site-space", "siteSpace", "another site space") } })
        }
        "addSectionToSite" => json!({
            "spaceId": names["spaceId"], "title": "New", "icon": "book", "draft": true,
            "siteSectionGroupId": names["siteSectionGroupId"],
        }),
        "updateSiteSectionById" => json!({
            "title": "Renamed", "path": "renamed", "defaultSiteSpace": names["siteSpaceId"],
            "condition": "visitor.claims.beta", "icon": "book", "description": "What for", "draft": false,
            "localizedTitle": { "de": "Umbenannt" }, "localizedDescription": { "de": "Wozu" },
            "siteSectionGroupId": names["siteSectionGroupId"],
        }),
        "moveSiteSection" => {
            json!({ "position": { "before": pointer("site-section", "siteSection", "another section") } })
        }
        "addSectionGroupToSite" => json!({
            "title": "New", "icon": "box", "sections": [names["another section"]],
            "parent": names["siteSectionGroupId"], "draft": true,
        }),
        "addExternalLinkToSite" => json!({
            "title": "Chat", "localizedTitle": { "de": "Plausch" }, "description": "To talk",
            "localizedDescription": { "de": "Zum Reden" }, "icon": "book", "url": "https://chat.example/",
            "parent": names["siteSectionGroupId"], "draft": true, "condition": "visitor.claims.beta",
        }),
        "updateSiteExternalLinkById" => json!({
            "title": "Chat", "localizedTitle": { "de": "Plausch" }, "description": "To talk",
            "localizedDescription": { "de": "Zum Reden" }, "icon": "book", "url": "https://chat.example/",
            "parent": names["siteSectionGroupId"], "draft": false, "condition": "",
        }),
        "updateSiteSectionGroupById" => json!({
            "title": "Renamed", "icon": "box", "draft": false, "localizedTitle": { "de": "Umbenannt" },
            "parentSectionGroupId": null,
        }),
        "moveSiteSectionGroup" => json!({ "position": { "after": beside } }),
        "addSectionToGroup" => json!({ "sectionId": names["another section"] }),
        "sortSiteStructure" => json!({
            "item": pointer("site-section", "id", "siteSectionId"), "position": { "after": beside },
        }),
        _ => return None,
    })
}

/// Calls every operation of these resources once.
pub(crate) async fn story(s: &Server, space: &str) {
    let site = s.site("Structured", &[space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let plain = s.get(&format!("{site}/structure?shareKey=key")).await;
    assert_eq!(plain["type"], "siteSpaces");
    let add = json!({ "spaceId": space, "title": null, "icon": null });
    let made = s.post(&format!("{site}/sections"), 201, add).await;
    let section = format!("{site}/sections/{}", id(&made.body));
    assert!(
        made.header("location").is_some_and(|at| at.ends_with(&section)),
        "{:?}",
        made.header("location")
    );
    has(&made.body, SECTION);
    let first = &made.body["siteSpaces"][0]["urls"]["published"];
    assert_eq!(*first, made.body["urls"]["published"], "it leads to the first space");
    let change = json!({
        "title": "Guide", "path": "guides", "condition": "visitor.claims.beta", "icon": "book",
        "description": "What for", "defaultSiteSpace": made.body["siteSpaces"][0]["id"],
    });
    has(&s.patch(&section, change).await, &["condition", "icon", "description", "urls.published"]);
    let place = json!({ "spaceId": space, "sectionId": made.body["id"] });
    let place = s.post(&format!("{site}/site-spaces"), 201, place).await;
    has(&place.body, PLACE);
    let path = format!("{site}/site-spaces/{}", id(&place.body));
    assert!(place.header("location").is_some_and(|at| at.ends_with(&path)));
    has(&s.patch(&path, json!({ "path": "v2", "condition": "true" })).await, &["condition"]);
    let first = json!({ "type": "site-space", "siteSpace": made.body["siteSpaces"][0]["id"] });
    let position = json!({ "position": { "before": first } });
    has(&s.post(&format!("{path}/move"), 200, position).await.body, PLACE);
    let sections = s.get(&format!("{site}/sections?shareKey=key&limit=10")).await;
    assert_eq!(sections["count"], 2);
    has(&sections, &["items[].siteSpaces[].space.urls.location"]);
    groups(s, &site, &id(&made.body), &id(&sections["items"][0])).await;
    s.ask("DELETE", &path, &s.admin, None).await.is(204, "deleted");
    s.ask("DELETE", &section, &s.admin, None).await.is(204, "deleted");
    assert_eq!(s.get(&site).await["siteSpaces"], 1);
    s.ask("DELETE", &site, &s.admin, None).await.is(204, "deleted");
}

/// Calls the operations on groups, and those that reorder the structure.
async fn groups(s: &Server, site: &str, section: &str, other: &str) {
    let groups = format!("{site}/section-groups");
    let made = s.post(&groups, 201, json!({ "title": "Outer", "icon": "box" })).await;
    assert!(made.header("location").is_some_and(|at| at.ends_with(&format!("{groups}/{}", id(&made.body)))));
    has(&made.body, GROUP);
    let inner = json!({ "title": "Inner", "icon": null, "sections": [section], "parent": made.body["id"] });
    let inner = s.post(&groups, 201, inner).await.body;
    has(&inner, &["sectionGroup", "children[].siteSpaces", "sections[].sectionGroup"]);
    let (outer, inner) = (format!("{groups}/{}", id(&made.body)), format!("{groups}/{}", id(&inner)));
    let gathered = s.post(&format!("{outer}/sections"), 201, json!({ "sectionId": other })).await;
    let at = format!("{outer}/sections/{other}");
    assert!(gathered.header("location").is_some_and(|location| location.ends_with(&at)));
    has(&gathered.body, &["children[].object", "sections[].path"]);
    let structure = s.get(&format!("{site}/published")).await["structure"].clone();
    assert_eq!(structure["type"], "sections");
    has(&structure, &["structure[].children[].title", "structure[].sections[].urls.published"]);
    assert_eq!(s.get(&groups).await["count"], 2);
    assert_eq!(s.patch(&outer, json!({ "title": "Renamed", "icon": null })).await.get("icon"), None);
    let beside = json!({ "position": { "before": { "type": "site-section", "id": other } } });
    has(&s.post(&format!("{inner}/move"), 200, beside).await.body, GROUP);
    let beside = json!({ "position": { "after": { "type": "site-section", "siteSection": other } } });
    let moved = s.post(&format!("{site}/sections/{section}/move"), 200, beside).await.body;
    assert_eq!(moved["sectionGroup"], made.body["id"]);
    let inner_id = inner.rsplit('/').next().expect("an id");
    let sort = json!({
        "item": { "type": "site-section-group", "id": inner_id },
        "position": { "after": { "type": "site-section", "id": section } },
    });
    has(&s.patch(&format!("{site}/structure/sort"), sort).await, GROUP);
    let children = s.get(&groups).await["items"][0]["children"].clone();
    let ids: Vec<String> = children.as_array().expect("a list").iter().map(id).collect();
    assert_eq!(ids, [other, section, inner_id]);
    s.ask("DELETE", &at, &s.admin, None).await.is(204, "out of the group");
    s.ask("DELETE", &outer, &s.admin, None).await.is(204, "deleted");
    let structure = s.get(&format!("{site}/structure")).await;
    let ids: Vec<String> = structure["structure"].as_array().expect("a list").iter().map(id).collect();
    assert_eq!(ids, [section, inner_id, other], "what was in the group takes its place");
}

#[tokio::test]
async fn moves_without_a_body_place_the_item_last() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    let order = async |path: &str| -> Vec<String> {
        let shown = s.get(&format!("{site}/{path}")).await;
        let items =
            shown.get("items").or(shown.get("structure")).and_then(Value::as_array).expect("a list").clone();
        items.iter().map(id).collect()
    };
    let send = async |path: &str, body: Option<Value>| {
        s.ask("POST", &format!("{site}/{path}/move"), &s.admin, body).await.is(200, path)
    };
    let mut places = Vec::new();
    for _ in 0..3 {
        let place = json!({ "spaceId": s.space().await });
        places.push(id(&s.post(&format!("{site}/site-spaces"), 201, place).await.body));
    }
    send(&format!("site-spaces/{}", places[0]), None).await;
    assert_eq!(order("site-spaces").await, [&*places[1], &*places[2], &*places[0]]);
    send(&format!("site-spaces/{}", places[0]), Some(json!({}))).await;
    assert_eq!(order("site-spaces").await, [&*places[1], &*places[2], &*places[0]]);
    let (one, two) = (s.space().await, s.space().await);
    for space in [one, two] {
        s.post(&format!("{site}/sections"), 201, json!({ "spaceId": space })).await;
    }
    let sections = order("structure").await;
    let group = json!({ "title": "Group", "sections": [sections[1]] });
    let group = id(&s.post(&format!("{site}/section-groups"), 201, group).await.body);
    send(&format!("sections/{}", sections[0]), None).await;
    assert_eq!(order("structure").await.last(), Some(&sections[0]));
    send(&format!("section-groups/{group}"), None).await;
    assert_eq!(order("structure").await.last(), Some(&group));
    let moved = send(&format!("sections/{}", sections[1]), None).await;
    assert_eq!(moved.get("sectionGroup"), None, "out of its group");
    assert_eq!(order("structure").await.last(), Some(&sections[1]));
    let null = json!({ "position": null });
    s.invalid("POST", &format!("{site}/sections/{}/move", sections[0]), null, "position: ").await;
}

/// A site created by [`build`] and a second site, with their paths and ids.
struct Sites {
    s: Server,
    site: String,
    names: BTreeMap<&'static str, String>,
    theirs: BTreeMap<&'static str, String>,
}

impl Sites {
    async fn new() -> Self {
        let s = Server::new().await;
        let space = s.space().await;
        let site = s.site("Docs", &[&space]).await;
        let mut names = build(&s, &site, &space).await;
        let first = s.get(&format!("{site}/sections")).await["items"][0].clone();
        names.extend([
            ("spaceId", space.clone()),
            ("first section", id(&first)),
            ("first site space", id(&first["siteSpaces"][0])),
        ]);
        let theirs = s.site("Theirs", &[&space]).await;
        let theirs = build(&s, &theirs, &space).await;
        Self { s, site, names, theirs }
    }

    /// Returns the path of a section, a group or a space.
    fn at(&self, name: &'static str) -> String {
        let list = match name {
            "siteSpaceId" | "another site space" | "first site space" => "site-spaces",
            "siteSectionGroupId" => "section-groups",
            _ => "sections",
        };
        format!("{}/{list}/{}", self.site, self.names[name])
    }
}

#[tokio::test]
async fn references_outside_the_site_are_rejected_by_field() {
    let w = Sites::new().await;
    let (s, site, theirs) = (&w.s, &w.site, &w.theirs);
    let (sections, groups) = (format!("{site}/sections"), format!("{site}/section-groups"));
    let space = || w.names["spaceId"].clone();
    for wrong in ["unknown", "no id!", theirs["siteSectionId"].as_str(), w.names["siteSpaceId"].as_str()] {
        for (method, path, body, field) in [
            (
                "POST",
                format!("{site}/site-spaces"),
                json!({ "spaceId": space(), "sectionId": wrong }),
                "sectionId: ",
            ),
            ("PATCH", site.clone(), json!({ "defaultSiteSection": wrong }), "defaultSiteSection: "),
            ("POST", groups.clone(), json!({ "title": "G", "sections": [wrong] }), "sections[0]: "),
            (
                "POST",
                format!("{}/sections", w.at("siteSectionGroupId")),
                json!({ "sectionId": wrong }),
                "sectionId: ",
            ),
        ] {
            s.invalid(method, &path, body, field).await;
        }
    }
    for wrong in ["unknown", "no id!", theirs["siteSectionGroupId"].as_str()] {
        s.invalid("POST", &groups, json!({ "title": "G", "parent": wrong }), "parent: ").await;
    }
    for wrong in ["unknown", "no id!", theirs["siteSpaceId"].as_str()] {
        let body = json!({ "defaultSiteSpace": wrong });
        s.invalid("PATCH", site, body.clone(), "defaultSiteSpace: the site has no such").await;
        s.invalid("PATCH", &w.at("siteSectionId"), body, "defaultSiteSpace: the s").await;
    }
    for wrong in ["unknown", "no id!"] {
        s.invalid("POST", &sections, json!({ "spaceId": wrong }), "spaceId: no such space").await;
        s.invalid("PATCH", &w.at("siteSpaceId"), json!({ "spaceId": wrong }), "spaceId: no such space").await;
    }
    let elsewhere = json!({ "defaultSiteSpace": w.names["siteSpaceId"] });
    s.invalid("PATCH", site, elsewhere.clone(), "defaultSiteSpace: must be in the default section").await;
    let of_other = w.at("another section");
    s.invalid("PATCH", &of_other, elsewhere, "defaultSiteSpace: the section has no such").await;
    let twice = json!({ "title": "G", "sections": [w.names["siteSectionId"], w.names["siteSectionId"]] });
    s.invalid("POST", &groups, twice, "sections[1]: must not contain a section twice").await;
    for (list, name) in [
        ("sections", "siteSectionId"),
        ("section-groups", "siteSectionGroupId"),
        ("site-spaces", "siteSpaceId"),
    ] {
        let path = format!("{site}/{list}/{}", theirs[name]);
        s.ask("PATCH", &path, &s.admin, Some(json!({}))).await.refused(404, &path);
        s.ask("DELETE", &path, &s.admin, None).await.is(204, "another site's is not there");
    }
    let inside = format!("{}/sections/{}", w.at("siteSectionGroupId"), w.names["another section"]);
    let before = s.stored().await;
    s.ask("DELETE", &inside, &s.admin, None).await.is(204, "a section that is not in the group");
    assert_eq!(before, s.stored().await);
    s.check().await;
}

#[tokio::test]
async fn invalid_paths_conditions_and_icons_are_rejected_by_field() {
    let w = Sites::new().await;
    let s = &w.s;
    let (section, place, group) = (w.at("siteSectionId"), w.at("siteSpaceId"), w.at("siteSectionGroupId"));
    for wrong in ["", "a/b", "a b", ".", "..", "-", "~gitbook", "a?b", "a#b", "a%20b", "a\\b", "\u{7f}"] {
        s.invalid("PATCH", &section, json!({ "path": wrong }), "path: must be").await;
        s.invalid("PATCH", &place, json!({ "path": wrong }), "path: must be").await;
    }
    for (wrong, why) in [
        ("1 +", "condition: character 4 is the unexpected end"),
        ("visitor.", "condition: character 9 "),
        ("a b", "condition: character 3 "),
    ] {
        s.invalid("PATCH", &section, json!({ "condition": wrong }), why).await;
        s.invalid("PATCH", &place, json!({ "condition": wrong }), why).await;
    }
    let long = json!({ "condition": format!("'{}'", "x".repeat(1023)) });
    s.invalid("PATCH", &section, long, "condition: must be at most 1024 characters, has 1025").await;
    let most = format!("'{}'", "x".repeat(1022));
    assert_eq!(s.patch(&section, json!({ "condition": most })).await["condition"], json!(most));
    for wrong in [json!("a b"), json!("")] {
        for path in [&section, &group] {
            s.invalid("PATCH", path, json!({ "icon": wrong }), "icon: must be").await;
        }
        let add = json!({ "spaceId": w.names["spaceId"], "icon": wrong });
        s.invalid("POST", &format!("{}/sections", w.site), add, "icon: must be").await;
    }
    for field in ["title", "path", "defaultSiteSpace"] {
        s.invalid("PATCH", &section, json!({ field: null }), field).await;
    }
    s.invalid("PATCH", &place, json!({ "path": null }), "path").await;
    s.invalid("PATCH", &group, json!({ "title": null }), "title").await;
    s.check().await;
}

#[tokio::test]
async fn unsupported_fields_and_long_texts_are_rejected_by_field() {
    let w = Sites::new().await;
    let (s, site) = (&w.s, &w.site);
    let (section, place, group) = (w.at("siteSectionId"), w.at("siteSpaceId"), w.at("siteSectionGroupId"));
    let add = |field: &str, value: Value| json!({ "spaceId": w.names["spaceId"], field: value });
    for list in ["sections", "site-spaces"] {
        let path = format!("{site}/{list}");
        s.invalid("POST", &path, add("pageId", json!("page")), "pageId: is not supported; omit the field")
            .await;
        for field in ["template", "pageId"] {
            s.post(&path, 201, add(field, Value::Null)).await;
        }
        s.invalid("POST", &path, add("draft", Value::Null), "draft: ").await;
        s.invalid("POST", &path, json!({ "title": "No space" }), "spaceId: is required").await;
    }
    s.invalid("PATCH", &place, json!({ "pageId": "page" }), "pageId: is not supported").await;
    s.invalid("PATCH", &place, json!({ "title": "x" }), "title: must be at least 2").await;
    for (path, field, most) in [
        (&section, "localizedTitle", 128),
        (&section, "localizedDescription", 256),
        (&group, "localizedTitle", 128),
    ] {
        let text = |length: usize| json!({ field: { "de": "x".repeat(length) } });
        assert_eq!(s.patch(path, text(most)).await[field]["de"].as_str().map(str::len), Some(most));
        let message = format!("{field}.de: must be at most {most} characters, has {}", most + 1);
        s.invalid("PATCH", path, text(most + 1), &message).await;
        s.invalid("PATCH", path, json!({ field: { "tlh": "Qapla'" } }), field).await;
        s.invalid("PATCH", path, json!({ field: null }), field).await;
    }
    for wrong in ["unknown", "no id!", w.theirs["siteSectionGroupId"].as_str()] {
        let body = json!({ "siteSectionGroupId": wrong });
        s.invalid("PATCH", &section, body.clone(), "siteSectionGroupId: the site has no such section group")
            .await;
        s.invalid(
            "POST",
            &format!("{site}/sections"),
            add("siteSectionGroupId", wrong.into()),
            "siteSectionGroupId: ",
        )
        .await;
        s.invalid("PATCH", &group, json!({ "parentSectionGroupId": wrong }), "parentSectionGroupId: ").await;
    }
    let own = json!({ "parentSectionGroupId": w.names["siteSectionGroupId"] });
    s.invalid("PATCH", &group, own, "parentSectionGroupId: must not be the group itself").await;
    s.check().await;
}

#[tokio::test]
async fn minimal_preference_omits_the_body() {
    let w = Sites::new().await;
    let (s, site) = (&w.s, &w.site);
    let sort = json!({
        "item": { "type": "site-section", "id": w.names["siteSectionId"] },
        "position": { "after": { "type": "site-section", "id": w.names["another section"] } },
    });
    let add = json!({ "spaceId": w.names["spaceId"] });
    for (method, path, body) in [
        ("PATCH", w.at("siteSectionId"), json!({ "title": "Renamed" })),
        ("PATCH", w.at("siteSectionGroupId"), json!({ "title": "Renamed" })),
        ("PATCH", w.at("siteSpaceId"), json!({ "hidden": true })),
        ("PATCH", format!("{site}/structure/sort"), sort),
        ("POST", format!("{site}/site-spaces"), add),
    ] {
        let ask = async |prefer: &'static str| {
            let bearer = format!("Bearer {}", s.admin);
            let headers = [("authorization", bearer.as_str()), ("prefer", prefer)];
            s.send_with(method, &path, &headers, Some(("application/json", body.to_string()))).await
        };
        let full = ask("return=representation").await;
        assert!(full.status < 300 && !full.body.is_null(), "{path}: {full:?}");
        assert_eq!(full.header("preference-applied"), None);
        let minimal = ask("return=minimal").await;
        assert_eq!(minimal.header("preference-applied"), Some("return=minimal"), "{path}");
        assert_eq!(minimal.header("location").is_some(), method == "POST");
        assert_eq!(minimal.is(204, &path), Value::Null);
    }
    assert_eq!(s.get(&format!("{site}/sections")).await["items"][0]["object"], "site-section");
    s.check().await;
}

#[tokio::test]
async fn duplicate_path_returns_a_conflict_naming_the_field() {
    let w = Sites::new().await;
    let s = &w.s;
    let (guide, api) = (w.at("siteSectionId"), w.at("another section"));
    for taken in ["api", "API"] {
        let before = s.stored().await;
        let answer = s.ask("PATCH", &guide, &s.admin, Some(json!({ "path": taken }))).await;
        assert_eq!(answer.refused(409, taken), "path: is in use by another section of the site");
        assert_eq!(before, s.stored().await);
    }
    s.patch(&guide, json!({ "path": "Guide" })).await;
    s.patch(&api, json!({ "path": "api" })).await;
    let add = json!({ "spaceId": w.names["spaceId"], "sectionId": w.names["siteSectionId"] });
    let second = s.post(&format!("{}/site-spaces", w.site), 201, add).await.body;
    let first = s.patch(&w.at("siteSpaceId"), json!({})).await;
    assert_ne!(first["path"], second["path"]);
    let path = format!("{}/site-spaces/{}", w.site, id(&second));
    let answer = s.ask("PATCH", &path, &s.admin, Some(json!({ "path": first["path"] }))).await;
    assert_eq!(answer.refused(409, "path"), "path: is in use by another site space of the section");
    // The path segment is free in another section. When the space is moved next to the first one, a number is appended.
    let other = w.at("another site space");
    assert_eq!(s.patch(&other, json!({ "path": first["path"] })).await["path"], first["path"]);
    let beside = json!({ "position": { "after": { "type": "site-space", "siteSpace": first["id"] } } });
    let moved = s.post(&format!("{other}/move"), 200, beside).await.body;
    assert_eq!(moved["section"], first["section"]);
    assert_ne!(moved["path"], first["path"]);
    let left = s.get(&format!("{}/sections", w.site)).await;
    let api = left["items"].as_array().expect("a list").iter().find(|it| it["path"] == "api");
    assert_eq!(api.expect("the section")["siteSpaces"], json!([]), "a section may be empty");
    s.check().await;
}

/// Returns the reference to a part of a site in a move request.
fn at(kind: &str, id: &str) -> Value {
    json!({ "type": kind, "id": id })
}

/// Returns invalid pairs of a moved item and its neighbour, each with the prefix of the error message.
fn wrong_pairs(w: &Sites, inner: &str) -> Vec<(Value, Value, &'static str)> {
    let (names, theirs) = (&w.names, &w.theirs);
    let (section, place) =
        (|| at("site-section", &names["siteSectionId"]), || at("site-space", &names["siteSpaceId"]));
    let group = || at("site-section-group", &names["siteSectionGroupId"]);
    vec![
        (section(), place(), "position: must be of a matching kind"),
        (place(), section(), "position: must be of a matching kind"),
        (place(), group(), "position: must be of a matching kind"),
        (section(), section(), "position.before.id: must not be the moved item itself"),
        (place(), place(), "position.before.id: must not be the moved item itself"),
        (group(), group(), "position.before.id: must not be the moved item itself"),
        (group(), section(), "position.before.id: must not be in the moved group"),
        (group(), at("site-section-group", inner), "position.before.id: must not be in the moved group"),
        (section(), at("site-section", "unknown"), "position.before.id: the site has no such section"),
        (section(), at("site-section", "no id!"), "position.before.id: the site has no such section"),
        (
            section(),
            at("site-section-group", "unknown"),
            "position.before.id: the site has no such section group",
        ),
        (
            section(),
            at("site-section-group", &names["siteSectionId"]),
            "position.before.id: the site has no such",
        ),
        (section(), at("site-section", &theirs["siteSectionId"]), "position.before.id: the site has no such"),
        (
            place(),
            at("site-space", &theirs["siteSpaceId"]),
            "position.before.id: the site has no such site space",
        ),
        (at("site-section", &theirs["siteSectionId"]), section(), "item.id: the site has no such section"),
        (at("site-space", "unknown"), place(), "item.id: the site has no such site space"),
        (at("site-section-group", "no id!"), section(), "item.id: the site has no such section group"),
        (at("site", "unknown"), section(), "item"),
    ]
}

#[tokio::test]
async fn invalid_move_positions_are_rejected() {
    let w = Sites::new().await;
    let (s, site, names) = (&w.s, &w.site, &w.names);
    let sort = format!("{site}/structure/sort");
    let inner = json!({ "title": "Inner", "parent": names["siteSectionGroupId"], "sections": [] });
    let inner = id(&s.post(&format!("{site}/section-groups"), 201, inner).await.body);
    let section = at("site-section", &names["siteSectionId"]);
    for (item, beside, why) in wrong_pairs(&w, &inner) {
        let body = json!({ "item": item, "position": { "before": beside } });
        s.invalid("PATCH", &sort, body, why).await;
    }
    let other = at("site-section", &names["another section"]);
    for position in [json!({}), json!({ "before": other, "after": other }), json!({ "before": null })] {
        s.invalid("PATCH", &sort, json!({ "item": section, "position": position }), "position").await;
    }
    for (of, kind, field) in [
        ("siteSpaceId", "site-space", "siteSpace"),
        ("siteSectionId", "site-section", "siteSection"),
        ("siteSectionGroupId", "site-section-group", "id"),
    ] {
        let path = format!("{}/move", w.at(of));
        let why = format!("position.after.{field}: the site has no such");
        s.invalid(
            "POST",
            &path,
            json!({ "position": { "after": { "type": kind, field: "unknown" } } }),
            &why,
        )
        .await;
        s.invalid("POST", &path, json!({ "position": {} }), "position: must have either").await;
        s.invalid("POST", &path, json!({ "position": null }), "position").await;
        s.invalid(
            "POST",
            &path,
            json!({ "position": { "after": { "type": "page", field: "x" } } }),
            "position",
        )
        .await;
    }
    s.check().await;
}

#[tokio::test]
async fn moving_section_groups_enforces_the_nesting_limit() {
    let w = Sites::new().await;
    let (s, site) = (&w.s, &w.site);
    let groups = format!("{site}/section-groups");
    let mut deep = vec![w.names["siteSectionGroupId"].clone()];
    for _ in 0..4 {
        let new = json!({ "title": "Deep", "parent": deep.last() });
        deep.push(id(&s.post(&groups, 201, new).await.body));
    }
    let wide = id(&s.post(&groups, 201, json!({ "title": "Wide" })).await.body);
    s.post(&groups, 201, json!({ "title": "In it", "parent": wide })).await;
    let beside = |id: &str| json!({ "position": { "after": { "type": "site-section-group", "id": id } } });
    let path = format!("{groups}/{wide}/move");
    let before = s.stored().await;
    let answer = s.ask("POST", &path, &s.admin, Some(beside(&deep[4]))).await;
    assert_eq!(answer.refused(409, "too deep"), "section groups must be nested at most 5 levels deep");
    assert_eq!(before, s.stored().await);
    let moved = s.post(&path, 200, beside(&deep[3])).await.body;
    assert_eq!(moved["sectionGroup"], json!(deep[2]));
    s.check().await;
}
