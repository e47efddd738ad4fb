//! Collections over HTTP, and the placement of spaces and collections.

use docs_core::model::Role;
use serde_json::{Value, json};

use crate::{
    server::{Answer, Server, id},
    story::has,
};

/// The fields of a collection that clients rely on.
const COLLECTION: &[&str] = &[
    "object",
    "id",
    "title",
    "organization",
    "defaultLevel",
    "urls.location",
    "urls.app",
    "permissions.view",
    "permissions.admin",
    "permissions.viewInviteLinks",
    "permissions.create",
];

/// Calls every collection operation, and the operations that move content.
pub(crate) async fn story(s: &Server) {
    let org = format!("/v1/orgs/{}", s.org);
    let outer = s.post(&format!("{org}/collections"), 201, json!({ "title": "Guides" })).await.body;
    has(&outer, COLLECTION);
    assert!(outer.get("parent").is_none() && outer.get("description").is_none());
    let path = format!("/v1/collections/{}", id(&outer));
    has(&s.get(&path).await, COLLECTION);
    has(&s.patch(&path, json!({ "description": "All of them" })).await, &["description"]);
    let inner = collection(s, Some(&id(&outer))).await;
    let space = space(s, Some(&inner)).await;
    has(&s.get(&format!("{org}/collections?nested=false&limit=1")).await["items"][0], COLLECTION);
    has(&s.get(&format!("/v1/collections/{inner}/spaces")).await["items"][0], &["object", "parent"]);
    let moved = s.post(&format!("/v1/spaces/{space}/move"), 200, json!({ "parent": id(&outer) })).await.body;
    assert_eq!(moved["parent"], outer["id"]);
    let inner = format!("/v1/collections/{inner}");
    has(&s.post(&format!("{inner}/move"), 200, before("space", &space)).await.body, COLLECTION);
    let to = json!({ "organization": s.other_org });
    let given = s.ask("POST", &format!("/v1/spaces/{space}/transfer"), &s.both, Some(to.clone())).await;
    has(&given.is(200, "a space is transferred"), &["object", "organization"]);
    let given = s.ask("POST", &format!("{inner}/transfer"), &s.both, Some(to)).await;
    has(&given.is(200, "a collection is transferred"), COLLECTION);
    s.ask("DELETE", &path, &s.admin, None).await.is(204, "deleted");
}

async fn collection(s: &Server, parent: Option<&str>) -> String {
    s.clock.advance(std::time::Duration::from_millis(1));
    let new = parent.map_or_else(|| json!({}), |parent| json!({ "parent": parent }));
    id(&s.post(&format!("/v1/orgs/{}/collections", s.org), 201, new).await.body)
}

async fn space(s: &Server, parent: Option<&str>) -> String {
    s.clock.advance(std::time::Duration::from_millis(1));
    let new = parent.map_or_else(|| json!({}), |parent| json!({ "parent": parent }));
    id(&s.post(&format!("/v1/orgs/{}/spaces", s.org), 201, new).await.body)
}

async fn listed(s: &Server, path: &str) -> Vec<String> {
    s.get(path).await["items"].as_array().expect("items").iter().map(id).collect()
}

fn before(kind: &str, of: &str) -> Value {
    json!({ "position": { "before": { "type": kind, kind: of } } })
}

fn after(kind: &str, of: &str) -> Value {
    json!({ "position": { "after": { "type": kind, kind: of } } })
}

/// Checks that a request is rejected with this status and without changes. Returns the message.
async fn refused(s: &Server, token: &str, path: &str, body: Value, status: u16) -> String {
    let stored = s.stored().await;
    let answer: Answer = s.ask("POST", path, token, Some(body)).await;
    let message = answer.refused(status, path).to_owned();
    assert_eq!(stored, s.stored().await, "{path}: nothing changed");
    message
}

#[tokio::test]
async fn a_collection_is_created_changed_and_deleted() {
    let s = Server::new().await;
    let all = format!("/v1/orgs/{}/collections", s.org);
    let untitled = s.ask("POST", &all, &s.admin, None).await;
    assert_eq!((untitled.status, untitled.body["title"].as_str()), (201, Some("Untitled")));
    let created = s.post(&all, 201, json!({ "title": "Guides" })).await;
    let path = format!("/v1/collections/{}", id(&created.body));
    assert_eq!(created.header("location"), Some(format!("https://docs.example{path}").as_str()));
    assert_eq!(s.get(&path).await, created.body);
    let seen = s.ask("GET", &path, &s.reader, None).await.is(200, "a reader sees it");
    assert_eq!(seen["defaultLevel"], "inherit", "what is set is shown, not the role that it comes down to");
    assert_eq!(
        seen["permissions"],
        json!({
            "view": true, "admin": false, "viewInviteLinks": false, "create": false,
        })
    );
    let change = json!({ "title": "Books", "description": "All of them", "defaultLevel": "comment" });
    let changed = s.patch(&path, change).await;
    assert_eq!(
        (&changed["title"], &changed["description"], &changed["defaultLevel"]),
        (&json!("Books"), &json!("All of them"), &json!("comment"))
    );
    assert_eq!(s.patch(&path, json!({})).await, changed, "what is left out stays");
    let cleared = s.patch(&path, json!({ "description": null, "defaultLevel": null })).await;
    assert_eq!((cleared.get("description"), &cleared["defaultLevel"]), (None, &Value::Null));
    s.ask("GET", &path, &s.reader, None).await.refused(404, "hidden from readers");
    assert_eq!(s.patch(&path, json!({ "defaultLevel": "inherit" })).await["defaultLevel"], "inherit");
    for (body, field) in [
        (json!({ "title": null }), "title"),
        (json!({ "title": "x".repeat(51) }), "title"),
        (json!({ "description": "x".repeat(101) }), "description"),
        (json!({ "defaultLevel": "owner" }), "defaultLevel"),
    ] {
        s.invalid("PATCH", &path, body, field).await;
    }
    for (body, field) in [
        (json!({ "title": "x".repeat(51) }), "title"),
        (json!({ "parent": "unknown" }), "parent: "),
        (json!({ "parent": "not an id" }), "parent: "),
        (json!({ "parent": null }), "parent"),
    ] {
        s.invalid("POST", &all, body, field).await;
    }
    for _ in 0..2 {
        assert_eq!(s.ask("DELETE", &path, &s.admin, None).await.is(204, "deleted"), Value::Null);
    }
    s.ask("GET", &path, &s.admin, None).await.refused(404, "gone");
    s.check().await;
}

#[tokio::test]
async fn lists_are_in_the_order_of_the_tree() {
    let s = Server::new().await;
    let one = collection(&s, None).await;
    let outside = space(&s, None).await;
    let two = collection(&s, None).await;
    let (inner, first) = (collection(&s, Some(&one)).await, space(&s, Some(&one)).await);
    let (deep, second) = (space(&s, Some(&inner)).await, space(&s, Some(&two)).await);
    let org = format!("/v1/orgs/{}", s.org);
    assert_eq!(listed(&s, &format!("{org}/collections")).await, [&one, &inner, &two].map(Clone::clone));
    assert_eq!(s.get(&format!("{org}/collections")).await["count"], 3);
    let top = format!("{org}/collections?nested=false");
    assert_eq!(listed(&s, &top).await, [&one, &two].map(Clone::clone));
    let spaces = [&deep, &first, &outside, &second].map(Clone::clone);
    assert_eq!(listed(&s, &format!("{org}/spaces")).await, spaces);
    assert_eq!(listed(&s, &format!("/v1/collections/{one}/spaces")).await, std::slice::from_ref(&first));
    let shown = s.get(&format!("/v1/spaces/{first}")).await;
    assert_eq!((&shown["parent"], &shown["visibility"]), (&json!(one), &json!("in-collection")));
    let mut to_top = before("collection", &two);
    to_top["parent"] = Value::Null;
    s.post(&format!("/v1/spaces/{second}/move"), 200, to_top).await;
    s.post(&format!("/v1/collections/{two}/move"), 200, before("collection", &one)).await;
    let moved = s.post(&format!("/v1/spaces/{outside}/move"), 200, after("collection", &one)).await.body;
    assert_eq!(moved.get("parent"), None);
    let spaces = [&deep, &first, &outside, &second].map(Clone::clone);
    assert_eq!(listed(&s, &format!("{org}/spaces")).await, spaces);
    assert_eq!(listed(&s, &top).await, [&two, &one].map(Clone::clone));
    let into = s.post(&format!("/v1/collections/{one}/move"), 200, json!({ "parent": two })).await.body;
    assert_eq!(into["parent"], json!(two));
    assert_eq!(listed(&s, &format!("{org}/collections")).await, [&two, &one, &inner].map(Clone::clone));
    s.ask("DELETE", &format!("/v1/collections/{one}"), &s.admin, None).await.is(204, "deleted");
    assert_eq!(s.get(&format!("/v1/collections/{inner}")).await["parent"], json!(two));
    assert_eq!(listed(&s, &format!("/v1/collections/{two}/spaces")).await, [first]);
    for wrong in ["nested=maybe", "limit=1001", "page=x"] {
        let path = format!("{org}/collections?{wrong}");
        s.ask("GET", &path, &s.admin, None).await.refused(400, wrong);
    }
    s.check().await;
}

#[tokio::test]
async fn invalid_move_is_rejected_by_its_field() {
    let s = Server::new().await;
    let (outer, elsewhere) = (collection(&s, None).await, collection(&s, None).await);
    let inner = collection(&s, Some(&outer)).await;
    let (here, there) = (space(&s, None).await, space(&s, Some(&outer)).await);
    let gone = space(&s, None).await;
    s.ask("DELETE", &format!("/v1/spaces/{gone}"), &s.admin, None).await.is(204, "deleted");
    let both = json!({ "position": {
        "before": { "type": "space", "space": gone }, "after": { "type": "space", "space": gone },
    } });
    for path in [format!("/v1/spaces/{here}/move"), format!("/v1/collections/{elsewhere}/move")] {
        for (body, field) in [
            (json!({}), "the body"),
            (json!({ "other": 1 }), "the body"),
            (json!({ "position": {} }), "position: "),
            (json!({ "position": null }), "position"),
            (both.clone(), "position: "),
            (json!({ "parent": 5 }), "parent"),
            (json!({ "parent": "unknown" }), "parent: "),
            (json!({ "parent": here }), "parent: "),
            (json!({ "position": { "before": { "type": "page", "page": "x" } } }), "position.before"),
            (json!({ "position": { "before": { "type": "space" } } }), "position.before"),
            (before("space", "unknown"), "position.before.space: "),
            (before("space", "not an id"), "position.before.space: "),
            (after("collection", "unknown"), "position.after.collection: "),
            (after("space", &outer), "position.after.space: "),
            (after("space", &gone), "position.after.space: "),
            (before("space", &there), "position.before.space: must be a child"),
            (after("collection", &inner), "position.after.collection: must be a child"),
        ] {
            s.invalid("POST", &path, body, field).await;
        }
        let answer = s.ask("POST", &path, &s.admin, None).await;
        answer.refused(400, "a move without a body");
    }
    s.invalid("POST", &format!("/v1/spaces/{here}/move"), before("space", &here), "position.before.space: ")
        .await;
    let admin = s.admin.as_str();
    for parent in [&outer, &inner] {
        let path = format!("/v1/collections/{outer}/move");
        let message = refused(&s, admin, &path, json!({ "parent": parent }), 409).await;
        assert!(message.starts_with("parent: "), "{message}");
    }
    refused(&s, admin, &format!("/v1/spaces/{gone}/move"), json!({ "parent": null }), 404).await;
    let foreign = s.ask("POST", &format!("/v1/orgs/{}/collections", s.other_org), &s.both, None).await;
    let foreign = json!({ "parent": id(&foreign.is(201, "of another organization")) });
    let path = format!("/v1/spaces/{here}/move");
    refused(&s, &s.both, &path, foreign.clone(), 409).await;
    refused(&s, admin, &path, foreign.clone(), 400).await;
    refused(&s, &s.editor, &path, foreign, 403).await;
}

#[tokio::test]
async fn transfer_requires_no_import_site_or_deleted_space() {
    let s = Server::new().await;
    let outer = collection(&s, None).await;
    let inside = space(&s, Some(&outer)).await;
    let (of_space, of_outer) =
        (format!("/v1/spaces/{inside}/transfer"), format!("/v1/collections/{outer}/transfer"));
    let to = |org: &str| json!({ "organization": org });
    for path in [&of_space, &of_outer] {
        s.invalid("POST", path, json!({}), "organization").await;
        s.invalid("POST", path, json!({ "organization": 5 }), "organization").await;
        for unknown in ["unknown", "not an id"] {
            refused(&s, &s.both, path, to(unknown), 404).await;
        }
        refused(&s, &s.admin, path, to(&s.other_org), 404).await;
        refused(&s, &s.both, path, to(&s.org), 409).await;
    }
    s.repository.put("README.md", "# Start\n");
    let import = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    s.post(&format!("/v1/spaces/{inside}/git/import"), 204, import).await;
    for path in [&of_space, &of_outer] {
        let message = refused(&s, &s.both, path, to(&s.other_org), 412).await;
        assert!(message.contains("an import into"), "{message}");
    }
    s.platform.settle().await.expect("settled");
    s.ask("DELETE", &format!("/v1/spaces/{inside}"), &s.admin, None).await.is(204, "deleted");
    for path in [&of_space, &of_outer] {
        let message = refused(&s, &s.both, path, to(&s.other_org), 412).await;
        assert!(message.contains("deleted"), "{message}");
    }
    s.post(&format!("/v1/spaces/{inside}/restore"), 200, json!({})).await;
    let site = s.site("Docs", &[&inside]).await;
    for path in [&of_space, &of_outer] {
        let message = refused(&s, &s.both, path, to(&s.other_org), 412).await;
        assert!(message.contains("site"), "{message}");
    }
    s.ask("DELETE", &site, &s.admin, None).await.is(204, "deleted");
    let moved = s.ask("POST", &of_outer, &s.both, Some(to(&s.other_org))).await.is(200, "transferred");
    assert_eq!((&moved["organization"], moved.get("parent")), (&json!(s.other_org), None));
    s.ask("GET", &format!("/v1/spaces/{inside}"), &s.admin, None).await.refused(404, "it left");
    let pages = s.ask("GET", &format!("/v1/spaces/{inside}/content"), &s.both, None).await;
    assert_eq!(pages.is(200, "content")["pages"][0]["title"], "Start", "its content is read there");
    let path = format!("/v1/orgs/{}/collections", s.other_org);
    assert_eq!(
        s.ask("GET", &path, &s.outsider, None).await.is(200, "listed")["items"][0]["id"],
        json!(outer)
    );
    let back = s.ask("POST", &of_space, &s.both, Some(to(&s.org))).await.is(200, "back");
    assert_eq!((&back["organization"], back.get("parent")), (&json!(s.org), None));
    assert_eq!(listed(&s, &format!("/v1/orgs/{}/spaces", s.org)).await, [inside]);
    s.check().await;
}

#[tokio::test]
async fn duplicate_is_placed_right_after_its_original() {
    let s = Server::new().await;
    let parent = collection(&s, None).await;
    let (one, two) = (space(&s, Some(&parent)).await, space(&s, Some(&parent)).await);
    let copy = s.post(&format!("/v1/spaces/{one}/duplicate"), 201, json!({})).await;
    assert_eq!(copy.body["parent"], json!(parent));
    let copy = id(&copy.body);
    assert_eq!(listed(&s, &format!("/v1/collections/{parent}/spaces")).await, [one, copy, two]);
    let new = json!({ "parent": "unknown" });
    s.invalid("POST", &format!("/v1/orgs/{}/spaces", s.org), new, "parent: ").await;
    s.check().await;
}

/// A caller cannot set a level above their own role, nor one that removes their own access.
#[tokio::test]
async fn level_is_limited_by_role_and_keeps_own_access() {
    let s = Server::new().await;
    let (_, cat) = s.joining("Cat", Some(Role::Create)).await;
    let outer = collection(&s, None).await;
    let inside = space(&s, Some(&outer)).await;
    let (outer, inside) = (format!("/v1/collections/{outer}"), format!("/v1/spaces/{inside}"));
    for path in [&outer, &inside] {
        let before = s.stored().await;
        for (level, status) in [(json!("admin"), 403), (Value::Null, 412), (json!("review"), 412)] {
            let change = json!({ "title": "New", "defaultLevel": level });
            let answer = s.ask("PATCH", path, &cat, Some(change)).await;
            assert!(answer.refused(status, path).starts_with("defaultLevel: "), "{answer:?}");
        }
        assert_eq!(before, s.stored().await, "nothing changed");
        let set = s.ask("PATCH", path, &cat, Some(json!({ "defaultLevel": "create" }))).await;
        assert_eq!(set.is(200, path)["defaultLevel"], "create");
    }
    s.patch(&inside, json!({ "defaultLevel": "inherit" })).await;
    for level in [json!("comment"), Value::Null] {
        s.patch(&outer, json!({ "defaultLevel": level })).await;
        assert_eq!(s.get(&inside).await["defaultLevel"], "inherit", "what it lies in says the level");
    }
    s.check().await;
}
