//! Requests of invalid form are rejected both by the server and by the schemas of the document. Each case is paired
//! with a similar request that both accept.

use serde_json::{Value, json};

use crate::{
    contract::Contract,
    matrix::ready,
    refusals::{Op, World},
};

/// An operation, an invalid body, and a similar valid body.
type Row = (&'static str, Value, Value);

const CONTENT: &str = "updateChangeRequestContent";

fn changes(change: Value) -> Value {
    json!({ "changes": [change] })
}

/// Returns an added page with these additional fields.
fn page(fields: Value) -> Value {
    let mut change = json!({ "operation": "insert_page" });
    change.as_object_mut().expect("an object").extend(fields.as_object().expect("fields").clone());
    changes(change)
}

/// Returns an added file with these additional fields.
fn file(fields: Value) -> Value {
    let mut file = json!({ "name": "a", "base64": "YQ==", "contentType": "text/plain" });
    file.as_object_mut().expect("an object").extend(fields.as_object().expect("fields").clone());
    changes(json!({ "operation": "insert_files", "files": [file] }))
}

/// Lists in place of objects.
fn lists(w: &World) -> Vec<Row> {
    let site = w.name("siteId");
    vec![
        (
            "updateOrganizationById",
            json!({ "defaultContent": ["site", site] }),
            json!({ "defaultContent": { "type": "site", "site": site } }),
        ),
        (
            "inviteUsersToOrganization",
            json!({ "emails": [["a@b.example", "read"]] }),
            json!({ "emails": [{ "email": "a@b.example", "role": "read" }] }),
        ),
        ("postCommentInSpace", json!({ "body": ["hello"] }), json!({ "body": { "markdown": "hello" } })),
        (
            "importGitRepository",
            json!({ "url": "https://git.example/a", "ref": "refs/heads/a", "gitInfo": [null, null] }),
            json!({ "url": "https://git.example/a", "ref": "refs/heads/a", "gitInfo": {} }),
        ),
        (
            "overrideSiteSpaceCustomizationById",
            json!({ "announcement": [true, "New", null, "info"] }),
            json!({ "announcement": { "enabled": true, "message": "New", "style": "info" } }),
        ),
        (
            CONTENT,
            page(json!({ "type": "link", "target": ["url", "https://a.example"] })),
            page(json!({ "type": "link", "target": { "kind": "url", "url": "https://a.example" } })),
        ),
        (CONTENT, page(json!({ "document": ["# A"] })), page(json!({ "document": { "markdown": "# A" } }))),
    ]
}

fn people(w: &World) -> Vec<Row> {
    let (space, collection) = (w.name("spaceId"), w.name("collectionId"));
    let right = json!({ "space": space, "level": "read" });
    let link = "createOrganizationInvite";
    vec![
        (
            "inviteUsersToOrganization",
            json!({ "emails": [{ "email": "a@b.example" }] }),
            json!({ "emails": [{ "email": "a@b.example", "role": null }] }),
        ),
        (link, json!({ "role": "read", "space": space }), right.clone()),
        (link, json!({ "role": "read", "collection": collection }), json!({ "role": "read" })),
        (link, json!({ "role": "read", "space": space, "level": "read" }), right),
        (link, json!({ "role": null, "level": null }), json!({ "role": null })),
        (
            link,
            json!({ "collection": collection, "level": "read", "space": space }),
            json!({ "collection": collection, "level": "read" }),
        ),
        (
            "updateOrganizationInviteById",
            json!({ "role": "read", "level": "read" }),
            json!({ "role": "edit" }),
        ),
    ]
}

/// Impossible ids and names.
fn names(w: &World) -> Vec<Row> {
    let (collection, space) = (w.name("collectionId"), w.name("spaceId"));
    let (section, place) = (w.name("siteSectionId"), w.name("siteSpaceId"));
    let search = |scope: Value| json!({ "query": "page", "scope": scope });
    vec![
        ("createSpace", json!({ "parent": "" }), json!({ "parent": collection })),
        ("createCollection", json!({ "parent": "a b" }), json!({ "parent": collection })),
        ("moveSpace", json!({ "parent": "" }), json!({ "parent": collection })),
        (
            "createOrganizationInvite",
            json!({ "level": "read", "collection": "" }),
            json!({ "level": "read", "collection": collection }),
        ),
        (
            "createOrganizationInvite",
            json!({ "level": "read", "space": "ä" }),
            json!({ "level": "read", "space": space }),
        ),
        (
            "updateOrganizationSAMLProvider",
            json!({ "defaultTeam": "" }),
            json!({ "defaultTeam": w.name("teamId") }),
        ),
        ("createSite", json!({ "spaces": [""] }), json!({ "spaces": [space] })),
        ("updateSiteById", json!({ "defaultSiteSpace": "" }), json!({ "title": "Other" })),
        ("updateSiteById", json!({ "defaultSiteSection": "a/b" }), json!({ "defaultSiteSection": section })),
        (
            "searchSiteContent",
            search(json!({ "mode": "specific", "siteSpaceIds": [""] })),
            search(json!({ "mode": "specific", "siteSpaceIds": [place] })),
        ),
        (
            "searchSiteContent",
            search(json!({ "mode": "default", "includedSiteSpaces": ["."] })),
            search(json!({ "mode": "default", "includedSiteSpaces": [place] })),
        ),
        (
            CONTENT,
            page(json!({ "document": {}, "into": "" })),
            page(json!({ "document": {}, "into": w.name("pageId") })),
        ),
    ]
}

fn entries(entry: Value) -> Value {
    json!({ "entries": [entry] })
}

/// Fields that depend on each other, and fields with a special syntax.
fn forms() -> Vec<Row> {
    let keep = |term: &str| entries(json!({ "term": term, "keep": true }));
    let sync = |direction: &str, to: &str| json!({ "url": "https://git.example/new", "direction": direction, "ref": to });
    let invite = |email: &str| json!({ "emails": [email], "role": "read" });
    vec![
        (
            "setGlossary",
            entries(json!({ "term": "a", "translations": { "klingon": "b" } })),
            entries(json!({ "term": "a", "translations": { "de": "b" } })),
        ),
        (
            "createOrUpdateOpenAPISpecBySlug",
            json!({ "source": { "text": "openapi: 3.0.0", "url": "https://a.example/spec.yaml" } }),
            json!({ "source": { "text": "openapi: 3.0.0", "url": null } }),
        ),
        ("setGlossary", entries(json!({ "term": "a" })), keep("a")),
        ("setGlossary", entries(json!({ "term": "a", "keep": false })), keep("a b")),
        (
            "setGlossary",
            entries(json!({ "term": "a", "translations": {} })),
            entries(json!({ "term": "a", "translations": { "de": "b" } })),
        ),
        ("setGlossary", keep(" a"), keep("ä")),
        (
            "setGlossary",
            entries(json!({ "term": "a", "translations": { "de": "⟦b" } })),
            entries(json!({ "term": "a", "translations": { "de": "b c" } })),
        ),
        ("updateOrganizationSAMLProvider", json!({ "entityID": "a\tb" }), json!({ "entityID": "a b" })),
        ("setGlossary", keep("a "), keep("a, b")),
        ("setGlossary", keep("a\nb"), keep("a\tb")),
        ("setGlossary", keep("⟦"), keep("[")),
        ("setSpaceGitSync", sync("export", "refs/tags/a"), sync("import", "refs/tags/a")),
        ("setSpaceGitSync", sync("both", "refs/notes/a"), sync("export", "refs/heads/a")),
        ("inviteUsersToOrganization", invite("a@b@c.example"), invite("a@c.example")),
        ("inviteUsersToOrganization", invite("a\u{7f}@c.example"), invite("ä@c.example")),
    ]
}

/// Collects the locations of strings in a body that may be ids.
fn ids_in(body: &Value, at: &str, found: &mut Vec<String>) {
    match body {
        Value::String(text) if text.len() == 26 && text.parse::<docs_core::model::SpaceId>().is_ok() => {
            found.push(at.to_owned());
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| ids_in(item, &format!("{at}/{n}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| ids_in(field, &format!("{at}/{name}"), found));
        }
        _ => {}
    }
}

#[tokio::test]
async fn empty_ids_are_invalid_by_the_schema() {
    let w = World::new().await;
    let (contract, ops) = (Contract::of(w.s.document), w.ops());
    let saved = w.s.store.save();
    let (mut tried, mut wrong) = (0, Vec::new());
    for op in ops.iter().filter(|op| op.takes_json) {
        let Some(body) = &op.body else { continue };
        let mut places = Vec::new();
        ids_in(body, "", &mut places);
        for place in places {
            w.s.store.rewind(&saved);
            let mut op = op.clone();
            ready(&w, &op).await;
            let mut body = body.clone();
            *body.pointer_mut(&place).expect("a place") = "".into();
            let takes = contract.takes(schema_of(w.s.document, &op.id, None), &body);
            op.body = Some(body);
            let answer = w.send(&op, &w.path(&op), Some(&w.may(&op))).await;
            tried += 1;
            if takes != (answer.status < 400) {
                wrong.push(format!("{} {place}: schema {takes}, {} {}", op.id, answer.status, answer.body));
            }
        }
    }
    assert!(wrong.is_empty() && tried > 25, "{tried}: {wrong:#?}");
}

fn files() -> Vec<Row> {
    let mut rows = vec![(
        CONTENT,
        file(json!({ "url": "https://web.example/a", "contentType": null })),
        file(json!({ "url": null })),
    )];
    let long = format!("{}A", "AAAA".repeat(100));
    for (wrong, right) in
        [("YQ", "YQ=="), ("YR==", "YWI="), ("YWJ=", ""), ("YQ=a", "YWJj"), (long.as_str(), "AAAA")]
    {
        rows.push((CONTENT, file(json!({ "base64": wrong })), file(json!({ "base64": right }))));
    }
    for (wrong, right) in
        [("a/b", "a b"), ("a\\b", ".a"), ("a\u{202e}b", "..a"), (" . ", "\u{e4}.png"), ("..", "a")]
    {
        rows.push((CONTENT, file(json!({ "name": wrong })), file(json!({ "name": right }))));
    }
    for (wrong, right) in [
        ("text", "text/plain"),
        ("text/", "image/svg+xml"),
        ("a b/c", "a/b; c=d"),
        ("a/b/c", "a/b;c=d;"),
        ("a/b;c=\"d\"", "a/b; charset=utf-8"),
        ("a/b,c/d", "a+b/c.d"),
    ] {
        rows.push((CONTENT, file(json!({ "contentType": wrong })), file(json!({ "contentType": right }))));
    }
    rows
}

fn pages() -> Vec<Row> {
    let group = |more: Value| {
        let mut change = page(json!({ "type": "group", "title": "A" }));
        let fields = change["changes"][0].as_object_mut().expect("a change");
        fields.extend(more.as_object().expect("fields").clone());
        change
    };
    let link = |more: Value| {
        let mut change = group(more);
        change["changes"][0]["type"] = "link".into();
        change["changes"][0]["target"] = json!({ "kind": "url", "url": "https://a.example" });
        change
    };
    let target = json!({ "kind": "url", "url": "https://a.example" });
    let reusable = |title: &str| {
        let document = json!({ "markdown": "Mind." });
        changes(json!({ "operation": "insert_reusable_content", "title": title, "document": document }))
    };
    vec![
        (CONTENT, page(json!({ "document": {}, "target": target })), page(json!({ "document": {} }))),
        (CONTENT, group(json!({ "target": target })), group(json!({}))),
        (CONTENT, group(json!({ "description": "What for" })), group(json!({ "description": "" }))),
        (CONTENT, group(json!({ "document": { "markdown": "" } })), group(json!({ "document": {} }))),
        (CONTENT, link(json!({ "description": "What for" })), link(json!({ "description": null }))),
        (CONTENT, link(json!({ "document": { "markdown": "# A" } })), link(json!({ "document": {} }))),
        (CONTENT, link(json!({ "slug": "a" })), group(json!({ "slug": "a" }))),
        (CONTENT, link(json!({ "noIndex": true })), link(json!({ "noIndex": false }))),
        (CONTENT, link(json!({ "noRobotsIndex": true })), link(json!({ "noRobotsIndex": false }))),
        (CONTENT, group(json!({ "title": " " })), group(json!({ "title": " a " }))),
        (CONTENT, group(json!({ "at": 4_294_967_296_u64 })), group(json!({ "at": 4_294_967_295_u64 }))),
        (CONTENT, reusable("\t "), reusable("A")),
        (
            "postCommentInSpace",
            json!({ "body": { "document": { "object": "document", "data": {}, "nodes": [] } } }),
            json!({ "body": { "document": { "object": "document", "data": {}, "nodes": [
                { "object": "block", "type": "paragraph", "isVoid": false, "data": {}, "nodes": [
                    { "object": "text", "leaves": [{ "object": "leaf", "marks": [], "text": "So." }] },
                ] },
            ] } } }),
        ),
    ]
}

fn sites(w: &World) -> Vec<Row> {
    let (place, section, other) = (w.name("siteSpaceId"), w.name("siteSectionId"), w.name("another section"));
    let group = w.name("siteSectionGroupId");
    let sort = |item: Value, beside: Value| json!({ "item": item, "position": { "before": beside } });
    let part = |kind: &str, id: &str| json!({ "type": kind, "id": id });
    vec![
        (
            "addSectionGroupToSite",
            json!({ "title": "New", "sections": [other, other] }),
            json!({ "title": "New", "sections": [other] }),
        ),
        (
            "sortSiteStructure",
            sort(part("site-section", section), part("site-space", place)),
            sort(part("site-section", section), part("site-section-group", group)),
        ),
        (
            "sortSiteStructure",
            sort(part("site-space", place), part("site-section-group", group)),
            sort(part("site-section", section), part("site-section", other)),
        ),
        (
            "updateSitePublishingAuthById",
            json!({ "backend": "custom", "integration": "okta" }),
            json!({ "backend": "integration", "integration": "okta" }),
        ),
        (
            "updateSitePublishingAuthById",
            json!({ "backend": "integration", "integration": "" }),
            json!({ "backend": "custom", "integration": null }),
        ),
        (
            "overrideSiteSpaceCustomizationById",
            json!({ "favicon": { "emoji": 1, "later": 1 } }),
            json!({ "favicon": { "emoji": "📘", "later": 1 } }),
        ),
        (
            "resolvePublishedContentByUrl",
            json!({ "url": "docs.example/sites/docs" }),
            json!({ "url": "https://docs.example/sites/docs/" }),
        ),
    ]
}

/// Site searches.
fn searches(w: &World) -> Vec<Row> {
    let place = w.name("siteSpaceId");
    let search = |mut more: Value| {
        more["query"] = "page".into();
        more
    };
    vec![
        (
            "searchSiteContent",
            search(json!({ "mode": "current" })),
            search(json!({ "mode": "current", "siteSpaceId": place })),
        ),
        (
            "searchSiteContent",
            search(json!({ "mode": "specific", "siteSpaceId": place })),
            search(json!({ "mode": "specific", "siteSpaceIds": [place] })),
        ),
        (
            "searchSiteContent",
            search(json!({ "mode": "current", "scope": null })),
            search(json!({ "mode": "current", "scope": { "mode": "all" } })),
        ),
        ("searchSiteContent", search(json!({ "siteSpaceIds": [] })), search(json!({ "mode": null }))),
    ]
}

/// Visitor claims.
fn claims() -> Vec<Row> {
    let object =
        |claims: Value| json!({ "type": "object", "properties": claims, "additionalProperties": false });
    let schema = |claims: Value| json!({ "jsonSchema": object(claims) });
    let one = |claim: Value| schema(json!({ "claim": claim }));
    let text = |values: Value| one(json!({ "type": "string", "enum": values }));
    let list = |items: Value| one(json!({ "type": "array", "items": items }));
    let many = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
    let unsigned = |more: Value| {
        let mut claim = json!({ "type": "object" });
        claim.as_object_mut().expect("an object").extend(more.as_object().expect("fields").clone());
        schema(json!({ "unsigned": claim }))
    };
    let rows = [
        (one(json!({ "type": "date" })), one(json!({ "type": "string" }))),
        (
            one(json!({ "type": "string", "format": "date" })),
            one(json!({ "type": "string", "description": "" })),
        ),
        (one(json!({})), one(json!({ "type": "number" }))),
        (one(json!([])), one(json!({ "type": "boolean", "description": "" }))),
        (
            one(json!({ "type": "number", "description": "x".repeat(513) })),
            one(json!({ "type": "number", "description": "x".repeat(512) })),
        ),
        (text(json!([])), text(json!(["a"]))),
        (text(json!(["a", "a"])), text(json!(["a", "b"]))),
        (text(json!([1])), text(json!([""]))),
        (text(json!(["a\n"])), text(json!(["\u{e4}"]))),
        (text(json!(["x".repeat(129)])), text(json!(["x".repeat(128)]))),
        (text(json!(many(101))), text(json!(many(100)))),
        (one(json!({ "type": "array" })), list(json!({ "type": "string" }))),
        (list(json!({ "type": "object" })), list(json!({ "type": "number" }))),
        (list(json!({ "type": "string", "enum": [] })), list(json!({ "type": "string", "enum": ["a"] }))),
        (
            one(json!({ "type": "object", "properties": {} })),
            one(json!({ "type": "object", "properties": {}, "additionalProperties": false })),
        ),
        (
            one(
                json!({ "type": "object", "properties": { "a": { "type": "x" } }, "additionalProperties": false }),
            ),
            one(
                json!({ "type": "object", "properties": { "a": { "type": "number" } }, "additionalProperties": false }),
            ),
        ),
        (schema(json!({ "unsigned": { "type": "boolean" } })), unsigned(json!({}))),
        (
            unsigned(json!({ "description": "Mine." })),
            unsigned(json!({ "properties": { "a": { "type": "boolean" } } })),
        ),
        (
            unsigned(json!({ "additionalProperties": true })),
            unsigned(json!({ "additionalProperties": { "type": "boolean" } })),
        ),
    ];
    rows.into_iter().map(|(wrong, right)| ("updateSiteAdaptiveSchema", wrong, right)).collect()
}

fn repositories() -> Vec<Row> {
    let mut rows = Vec::new();
    for (field, wrong, right) in [
        ("ref", "refs/heads/a..b", "refs/heads/a.b"),
        ("ref", "refs/heads/", "refs/heads/a/b"),
        ("ref", "refs/heads/.a", "refs/heads/a@b"),
        ("ref", "refs/heads/a.lock", "refs/heads/a.locks"),
        ("ref", "refs/heads/a b", "refs/heads/\u{e4}"),
        ("ref", "refs/heads/a@{b", "refs/heads/@"),
        ("ref", "refs/heads/a.", "refs/heads/{"),
        ("ref", "refs//a", "refs/heads/-a"),
        ("ref", "main", "refs/heads/main"),
        ("url", "git://git.example/a", "file:///srv/a"),
        ("url", "ssh://git.example/a", "HTTPS://git.example/a"),
        ("url", "https://", "https://git.example"),
        ("url", "https:///a", "https://me:secret@git.example/a"),
        ("repoTreeURL", "javascript:x", "https://git.example/tree"),
        ("repoTreeURL", "tree/main", ""),
        ("repoCommitURL", "javascript:x", "http://git.example/commit"),
        ("repoCommitURL", "https://", ""),
    ] {
        for operation in ["importGitRepository", "exportToGitRepository"] {
            let with = |text: &str| {
                let mut body = json!({
                    "url": "https://git.example/a", "ref": "refs/heads/a", "commitMessage": "Explain",
                });
                body[field] = text.into();
                if operation == "importGitRepository" {
                    body.as_object_mut().expect("an object").remove("commitMessage");
                }
                body
            };
            rows.push((operation, with(wrong), with(right)));
            if field == "repoTreeURL" {
                let shown = |url: &str| {
                    let mut body = with(right);
                    body["gitInfo"] = json!({ "url": url });
                    body
                };
                rows.push((operation, shown(wrong), shown(right)));
            }
        }
    }
    rows
}

/// Returns the schema of a body or of a parameter.
fn schema_of<'d>(document: &'d Value, id: &str, parameter: Option<&str>) -> &'d Value {
    let paths = document["paths"].as_object().expect("paths").values();
    let mut operations = paths.flat_map(|operations| operations.as_object().expect("operations").values());
    let operation = operations.find(|operation| operation["operationId"] == id).expect("the operation");
    match parameter {
        None => &operation["requestBody"]["content"]["application/json"]["schema"],
        Some(name) => {
            let mut parameters = operation["parameters"].as_array().expect("parameters").iter();
            &parameters.find(|parameter| parameter["name"] == name).expect("the parameter")["schema"]
        }
    }
}

fn op_of<'o>(ops: &'o [Op], id: &str) -> &'o Op {
    ops.iter().find(|op| op.id == id).unwrap_or_else(|| panic!("no operation {id}"))
}

#[tokio::test]
async fn body_validation_matches_the_openapi_document() {
    let w = World::new().await;
    let (contract, ops) = (Contract::of(w.s.document), w.ops());
    let saved = w.s.store.save();
    let rows = [
        lists(&w),
        people(&w),
        names(&w),
        forms(),
        files(),
        pages(),
        sites(&w),
        searches(&w),
        claims(),
        repositories(),
    ];
    let mut wrong = Vec::new();
    for (id, refused, taken) in rows.into_iter().flatten() {
        let schema = schema_of(w.s.document, id, None);
        for (body, is_right) in [(refused, false), (taken, true)] {
            w.s.store.rewind(&saved);
            let mut op = op_of(&ops, id).clone();
            ready(&w, &op).await;
            let takes = contract.takes(schema, &body);
            op.body = Some(body);
            let answer = w.send(&op, &w.path(&op), Some(&w.may(&op))).await;
            let is_taken = if is_right { answer.status < 400 } else { answer.status != 400 };
            if takes != is_right || is_taken != is_right {
                let faults = if takes {
                    Vec::new()
                } else {
                    contract.faults_of(schema, op.body.as_ref().expect("a body"))
                };
                let body = op.body.unwrap_or_default();
                wrong.push(format!(
                    "{id} {body}: schema {takes} {faults:?}, {} {}",
                    answer.status, answer.body
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn list_instead_of_object_is_rejected_with_its_path() {
    let w = World::new().await;
    let ops = w.ops();
    for (id, body, place) in [
        ("updateOrganizationById", json!({ "defaultContent": ["site", "x"] }), "defaultContent"),
        ("inviteUsersToOrganization", json!({ "emails": ["a@b.c", ["a@b.c", "read"]] }), "emails[1]"),
        ("postCommentInSpace", json!({ "body": ["hello"] }), "body"),
        (CONTENT, page(json!({ "type": "link", "target": ["url", "x"] })), "changes[0].target"),
    ] {
        let mut op = op_of(&ops, id).clone();
        op.body = Some(body);
        let answer = w.send(&op, &w.path(&op), Some(&w.may(&op))).await;
        assert_eq!(answer.refused(400, place), format!("{place}: must be an object, is a list"), "{id}");
    }
}

#[tokio::test]
async fn parameter_validation_matches_the_openapi_document() {
    let w = World::new().await;
    let (contract, ops) = (Contract::of(w.s.document), w.ops());
    for (id, name, wrong, right) in [
        ("getPublishedContentByUrl", "url", "docs.example/a", "https://docs.example/sites/docs/"),
        ("getPublishedContentByUrl", "url", "ftp://docs.example/", "https://docs.example/sites/docs/"),
        (
            "getPublishedContentByUrl",
            "url",
            "https://me:x@docs.example/",
            "https://docs.example/sites/docs/a@b",
        ),
        ("getPublishedContentByUrl", "url", "https://", "https://docs.example/sites/docs/a b?c#d"),
        ("getPublishedContentByUrl", "url", "https://docs.example/ ", "https://docs.example/sites/docs"),
        ("uploadFileInChangeRequestById", "name", "a/b", "a.png"),
        ("uploadFileInChangeRequestById", "name", "..", "..a"),
        ("uploadFileInChangeRequestById", "name", "a\u{1}b", "a b"),
    ] {
        let schema = schema_of(w.s.document, id, Some(name));
        let op = op_of(&ops, id);
        let path = w.path(op);
        let path = path.split('?').next().expect("a path");
        for (value, is_right) in [(wrong, false), (right, true)] {
            let value = Value::from(value);
            assert_eq!(contract.takes(schema, &value), is_right, "{id} {name}={value}");
            let text = value.as_str().expect("a text");
            let query: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let answer = w.send(op, &format!("{path}?{name}={query}"), Some(&w.may(op))).await;
            let is_taken = if is_right { answer.status < 400 } else { answer.status != 400 };
            assert_eq!(is_taken, is_right, "{id} {name}={value}: {} {}", answer.status, answer.body);
        }
    }
}
