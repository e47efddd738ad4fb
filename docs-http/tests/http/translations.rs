//! Translations over HTTP, with the documented statuses.

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    story::has,
};

/// The fields of every response with a translation.
const TRANSLATION: &[&str] = &[
    "object",
    "id",
    "status",
    "language",
    "source.space",
    "source.language",
    "instructions.nodes",
    "createdAt",
    "updatedAt",
    "permissions.view",
    "permissions.edit",
    "urls.location",
];

/// Returns instructions for a translator.
pub(crate) fn instructions(text: &str) -> Value {
    let leaf = json!({ "object": "leaf", "text": text, "marks": [] });
    let text = json!({ "object": "text", "leaves": [leaf] });
    json!({ "object": "document", "data": { "schemaVersion": 8 }, "nodes": [
        { "object": "block", "type": "paragraph", "isVoid": false, "data": {}, "nodes": [text] },
    ] })
}

/// Creates a translation of a space. Returns its id.
pub(crate) async fn of(s: &Server, space: &str) -> String {
    let new = json!({ "source": { "space": space, "language": "en" }, "language": "de" });
    id(&s.post(&format!("/v1/orgs/{}/translations", s.org), 201, new).await.body)
}

/// Adds a glossary entry in several languages. Returns its id.
pub(crate) async fn term(s: &Server, texts: Value) -> String {
    let list = format!("/v1/orgs/{}/translations-glossary", s.org);
    change_terms(s, json!([{ "type": "insert", "translations": texts }])).await;
    id(s.get(&list).await["items"].as_array().and_then(|items| items.last()).expect("the entry"))
}

async fn change_terms(s: &Server, operations: Value) {
    let list = format!("/v1/orgs/{}/translations-glossary", s.org);
    let changed = s.ask("PUT", &list, &s.admin, Some(json!({ "operations": operations }))).await;
    changed.is(204, "changed entries");
}

/// Creates a space with a page and a translation. Returns the space and the path of the translation.
async fn translated(s: &Server) -> (String, String) {
    let space = s.space().await;
    let request = s.request(&space).await;
    let page =
        json!({ "operation": "insert_page", "title": "Start", "document": { "markdown": "Hello.\n" } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let new = json!({ "source": { "space": space, "language": "en" }, "language": "pt" });
    let created = s.post(&format!("/v1/orgs/{}/translations", s.org), 201, new).await;
    assert_eq!(created.header("location"), None, "the contract has none");
    assert_eq!(created.body["status"], "pending");
    assert_eq!(created.body["instructions"]["nodes"], json!([]));
    let path = format!("/v1/orgs/{}/translations/{}", s.org, id(&created.body));
    assert_eq!(created.body["urls"]["location"], format!("https://docs.example{path}"));
    (space, path)
}

/// Calls every operation of translations.
pub(crate) async fn story(s: &Server) {
    let translations = format!("/v1/orgs/{}/translations", s.org);
    let glossary = format!("/v1/orgs/{}/glossary", s.org);
    let entries = json!([{
        "term": "Hello", "translations": { "fr": "Bonjour" }, "keep": false, "caseSensitive": true, "note": "n",
    }]);
    s.put(&glossary, json!({ "entries": entries })).await;
    has(&s.get(&glossary).await, &["object", "entries[].term", "entries[].translations.fr"]);
    let entry = term(s, json!({ "en": "page", "fr": "page" })).await;
    let entries = format!("/v1/orgs/{}/translations-glossary", s.org);
    has(&s.get(&entries).await, &["items[].object", "items[].id", "items[].translations.fr", "count"]);
    has(&s.get(&format!("{entries}/{entry}")).await, &["createdAt", "updatedAt", "urls.location"]);
    let (space, path) = translated(s).await;
    has(&s.get(&path).await, TRANSLATION);
    let full = json!({
        "source": { "space": space, "language": "en" }, "language": "fr", "instructions": instructions("Be formal."),
    });
    let full = s.post(&translations, 201, full).await.body;
    has(&full, TRANSLATION);
    s.platform.settle().await.expect("settled");
    let path = full["urls"]["location"].as_str().and_then(|url| url.strip_prefix("https://docs.example"));
    let path = path.expect("an address of this server");
    has(&s.get(path).await, &["result.space", "result.revision", "stats.latestWords", "stats.runs"]);
    has(&s.get(&translations).await, &["items[].status", "items[].source.language"]);
    let change = json!({ "instructions": instructions("Be brief.") });
    has(&s.put(path, change).await, TRANSLATION);
    s.post(&format!("{path}/run"), 204, json!({})).await;
    s.platform.settle().await.expect("settled");
    s.ask("DELETE", path, &s.admin, None).await.is(205, path);
}

#[tokio::test]
async fn a_translation_is_created_read_listed_changed_run_and_deleted() {
    let s = Server::new().await;
    let (space, path) = translated(&s).await;
    s.platform.settle().await.expect("settled");
    let done = s.get(&path).await;
    assert_eq!((&done["status"], &done["language"]), (&json!("completed"), &json!("pt")));
    assert_eq!(done["source"], json!({ "space": space, "language": "en" }));
    assert_eq!(done["permissions"], json!({ "view": true, "edit": true }));
    assert_eq!(done["stats"]["latestWords"], 2);
    let target = format!("/v1/spaces/{}", done["result"]["space"].as_str().expect("a space"));
    let revision = s.get(&format!("{target}/content")).await;
    assert_eq!((&revision["id"], &revision["type"]), (&done["result"]["revision"], &json!("computed")));
    assert_eq!(revision["pages"][0]["title"], "[Stárt]");
    let jobs = s.get(&format!("{target}/jobs")).await;
    assert_eq!(
        (&jobs["items"][0]["kind"], &jobs["items"][0]["state"]),
        (&json!("space_translate"), &json!("done"))
    );
    assert_eq!(s.get(&format!("/v1/orgs/{}/translations", s.org)).await["items"], json!([done]));
    let change = json!({ "instructions": instructions("Be formal.") });
    let changed = s.put(&path, change).await;
    assert_eq!(changed["status"], "running");
    let text = &changed["instructions"]["nodes"][0]["nodes"][0]["leaves"][0]["text"];
    assert_eq!(text, "Be formal.");
    s.platform.settle().await.expect("settled");
    assert_eq!(s.get(&path).await["stats"]["runs"], 2);
    s.post(&format!("{path}/run"), 204, json!(null)).await;
    s.platform.settle().await.expect("settled");
    assert_eq!(s.get(&path).await["stats"]["runs"], 3);
    s.ask("DELETE", &path, &s.admin, None).await.is(205, "deleted");
    s.ask("DELETE", &path, &s.admin, None).await.is(204, "gone already");
    s.ask("GET", &path, &s.admin, None).await.is(404, "gone");
    s.ask("POST", &format!("{path}/run"), &s.admin, None).await.is(404, "gone");
    s.get(&target).await;
}

#[tokio::test]
async fn invalid_translation_requests_return_400_with_the_field() {
    let s = Server::new().await;
    let (space, path) = translated(&s).await;
    let translations = format!("/v1/orgs/{}/translations", s.org);
    let source = json!({ "space": space, "language": "en" });
    for (body, field) in [
        (json!({ "source": source }), "language"),
        (json!({ "source": source, "language": "tlh" }), "language"),
        (json!({ "source": null, "language": "de" }), "source"),
        (json!({ "source": { "space": space, "language": null }, "language": "de" }), "source.language"),
        (json!({ "source": { "space": 1, "language": "en" }, "language": "de" }), "source.space"),
        (json!({ "source": { "space": "none", "language": "en" }, "language": "de" }), "source.space: "),
        (json!({ "source": source, "language": "en" }), "language: "),
        (json!({ "source": source, "language": "de", "instructions": "x" }), "instructions"),
        (json!({ "source": source, "language": "de", "instructions": null }), "instructions"),
        (json!([]), ""),
    ] {
        s.invalid("POST", &translations, body, field).await;
    }
    for (body, field) in [
        (json!({}), "instructions"),
        (json!({ "instructions": null }), "instructions"),
        (json!({ "instructions": { "object": "document", "data": {}, "nodes": [1] } }), "instructions"),
    ] {
        s.invalid("PUT", &path, body, field).await;
    }
    let glossary = format!("/v1/orgs/{}/glossary", s.org);
    for (body, field) in [
        (json!({}), "entries"),
        (json!({ "entries": [{ "term": "" }] }), "entries[0].term"),
        (json!({ "entries": [{ "term": "a", "translations": { "tlh": "b" } }] }), "entries[0].translations"),
        (json!({ "entries": [{ "term": "a" }] }), "entries[0].translations: "),
    ] {
        s.invalid("PUT", &glossary, body, field).await;
    }
}

#[tokio::test]
async fn the_glossary_of_an_organization_is_replaced_as_a_whole() {
    let s = Server::new().await;
    let glossary = format!("/v1/orgs/{}/glossary", s.org);
    let nothing = s.get(&glossary).await;
    assert_eq!(nothing, json!({ "object": "translation-glossary", "entries": [] }));
    let entries = json!([
        { "term": "API", "keep": true, "caseSensitive": true },
        { "term": "space", "translations": { "de": "Bereich" }, "keep": false, "caseSensitive": false, "note": "n" },
    ]);
    let set = s.put(&glossary, json!({ "entries": entries })).await;
    assert_eq!(set["entries"], entries);
    assert_eq!(s.get(&glossary).await, set);
}

#[tokio::test]
async fn glossary_entries_are_inserted_updated_and_deleted() {
    let s = Server::new().await;
    let list = format!("/v1/orgs/{}/translations-glossary", s.org);
    assert_eq!(s.get(&list).await, json!({ "count": 0, "items": [] }));
    let page = term(&s, json!({ "en": "page", "de": "Seite" })).await;
    let space = term(&s, json!({ "en": "space", "de": "Bereich", "fr": "espace" })).await;
    let texts = async |list: &str| -> Vec<Value> {
        let shown = s.get(list).await;
        shown["items"]
            .as_array()
            .expect("items")
            .iter()
            .map(|item| item["translations"]["en"].clone())
            .collect()
    };
    assert_eq!(texts(&list).await, ["page", "space"]);
    let one = s.get(&format!("{list}/{page}")).await;
    assert_eq!(
        (&one["object"], &one["translations"]),
        (&json!("glossary-entry"), &json!({ "de": "Seite", "en": "page" }))
    );
    assert_eq!(one["urls"]["location"], format!("https://docs.example{list}/{page}"));
    // The same entry again, a changed one, and a deleted one that does not exist.
    change_terms(
        &s,
        json!([
            { "type": "insert", "translations": { "en": "space", "de": "Bereich", "fr": "espace" } },
            { "type": "update", "id": page, "translations": { "en": "page", "de": "Blatt" } },
            { "type": "delete", "id": "unknown" },
        ]),
    )
    .await;
    assert_eq!(texts(&list).await, ["page", "space"]);
    let changed = s.get(&format!("{list}/{page}")).await;
    assert_eq!((&changed["createdAt"], &changed["translations"]["de"]), (&one["createdAt"], &json!("Blatt")));
    assert!(changed["updatedAt"].as_str() > one["updatedAt"].as_str());
    term(&s, json!({ "en": "audience", "de": "Publikum" })).await;
    assert_eq!(texts(&format!("{list}?orderBy=de")).await, ["space", "page", "audience"]);
    assert_eq!(texts(&format!("{list}?orderBy=fr")).await, ["space", "page", "audience"]);
    // The list of the other path is independent.
    assert_eq!(s.get(&format!("/v1/orgs/{}/glossary", s.org)).await["entries"], json!([]));
    s.put(&format!("/v1/orgs/{}/glossary", s.org), json!({ "entries": [{ "term": "API", "keep": true }] }))
        .await;
    change_terms(&s, json!([{ "type": "delete", "id": space }])).await;
    assert_eq!(texts(&list).await, ["page", "audience"]);
    s.ask("GET", &format!("{list}/{space}"), &s.admin, None).await.refused(404, "a deleted entry");
    assert_eq!(s.get(&format!("/v1/orgs/{}/glossary", s.org)).await["entries"][0]["term"], "API");
}

#[tokio::test]
async fn invalid_changes_of_glossary_entries_change_nothing() {
    let s = Server::new().await;
    let list = format!("/v1/orgs/{}/translations-glossary", s.org);
    let page = term(&s, json!({ "en": "page", "de": "Seite" })).await;
    let before = s.get(&list).await;
    let insert = |texts: Value| json!({ "type": "insert", "translations": texts });
    for (last, field) in [
        (insert(json!({})), "operations[1].translations: must have at least one"),
        (insert(json!({ "en": " page" })), "operations[1].translations: must not begin"),
        (insert(json!({ "en": "a\nb" })), "operations[1].translations: must not begin"),
        (insert(json!({ "en": "x".repeat(256) })), "operations[1].translations"),
        (insert(json!({ "tlh": "a" })), "operations[1].translations"),
        (
            json!({ "type": "update", "id": "unknown", "translations": { "en": "a" } }),
            "operations[1].id: the glossary has no",
        ),
        (json!({ "type": "delete" }), "operations[1].id"),
        (json!({ "type": "replace", "id": page }), "operations[1].type"),
    ] {
        let body = json!({ "operations": [insert(json!({ "en": "new" })), last] });
        s.invalid("PUT", &list, body, field).await;
    }
    let long = |n: usize| insert(json!({ "en": format!("{n}{}", "x".repeat(250)) }));
    let body = json!({ "operations": (0..800).map(long).collect::<Vec<_>>() });
    s.invalid("PUT", &list, body, "operations: must be at most 196608 bytes").await;
    s.invalid("PUT", &list, json!({ "operations": vec![insert(json!({ "en": "a" })); 1001] }), "operations")
        .await;
    assert_eq!(s.get(&list).await, before);
}

#[tokio::test]
async fn a_translation_needs_only_a_language() {
    let s = Server::new().await;
    let translations = format!("/v1/orgs/{}/translations", s.org);
    let new = json!({ "language": "de" });
    s.invalid("POST", &translations, new.clone(), "source: is required unless").await;
    let space = s.space().await;
    let made = s.post(&translations, 201, new.clone()).await.body;
    assert_eq!(made["source"], json!({ "space": space, "language": "en" }));
    s.invalid("POST", &translations, new, "source: is required unless").await;
    s.patch(&format!("/v1/spaces/{space}"), json!({ "language": "fr" })).await;
    let new = json!({ "source": { "space": space }, "language": "it" });
    assert_eq!(s.post(&translations, 201, new).await.body["source"]["language"], "fr");
    let same = json!({ "source": { "space": space }, "language": "fr" });
    s.invalid("POST", &translations, same, "language: must differ").await;
}

#[tokio::test]
async fn instructions_are_returned_as_sent() {
    let s = Server::new().await;
    let (_, path) = translated(&s).await;
    let mut sent = instructions("Be formal.");
    sent["nodes"][0]["key"] = json!("mine");
    let nodes = json!([{ "object": "text", "leaves": [{ "object": "leaf", "text": "", "marks": [] }] }]);
    let empty =
        json!({ "object": "block", "type": "paragraph", "isVoid": false, "data": {}, "nodes": nodes });
    sent["nodes"].as_array_mut().expect("blocks").push(empty);
    assert_eq!(s.put(&path, json!({ "instructions": sent })).await["instructions"], sent);
    assert_eq!(s.get(&path).await["instructions"], sent);
}
