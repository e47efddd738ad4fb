//! OpenAPI specifications over HTTP: every operation with its statuses, downloads of documents, and the pages computed
//! from them.

use serde_json::{Value, json};

use crate::{
    server::{Answer, Server, id},
    story::has,
};

/// A small specification.
pub(crate) const PETS: &str = r#"{
  "openapi": "3.1.0",
  "info": { "title": "Pets", "version": "1" },
  "tags": [{ "name": "pets", "description": "All of them." }],
  "paths": { "/pets": { "get": { "tags": ["pets"], "responses": {} } } }
}"#;

/// Creates a specification and processes it. Returns the id of its version.
pub(crate) async fn spec(s: &Server, slug: &str) -> String {
    let path = format!("/v1/orgs/{}/openapi", s.org);
    s.post(&path, 201, json!({ "slug": slug, "source": { "text": PETS } })).await;
    s.platform.settle().await.expect("settled");
    s.get(&format!("{path}/{slug}")).await["lastVersion"].as_str().expect("a version").to_owned()
}

/// The body of a request for a computed document or revision.
pub(crate) fn computed(operation: &str, slug: &str) -> Value {
    let props = match operation {
        "getComputedDocument" => json!({ "doc": "operations", "page": "pets" }),
        _ => json!({ "models": true }),
    };
    let dependencies = json!({ "spec": { "ref": { "kind": "openapi", "spec": slug } } });
    json!({ "source": { "type": "builtin:openapi", "props": props, "dependencies": dependencies }, "seed": "s" })
}

#[tokio::test]
async fn slugs_of_specifications_ignore_case_and_keep_it() {
    let s = Server::new().await;
    let all = format!("/v1/orgs/{}/openapi", s.org);
    spec(&s, "PetStore-V2").await;
    for slug in ["PetStore-V2", "petstore-v2"] {
        assert_eq!(s.get(&format!("{all}/{slug}")).await["slug"], "PetStore-V2");
    }
    let other = json!({ "slug": "petstore-v2", "source": { "text": PETS } });
    s.ask("POST", &all, &s.admin, Some(other)).await.refused(409, "the slug is taken");
    s.invalid("POST", &all, json!({ "slug": "pet_store", "source": { "text": PETS } }), "slug: ").await;
    let content = s.get(&format!("{all}/PetStore-V2/versions/latest/content")).await;
    assert_eq!(content["urls"]["source"], content["url"]);
}

#[tokio::test]
async fn specification_content_has_urls_and_its_raw_text() {
    let s = Server::new().await;
    let pets = format!("/v1/orgs/{}/openapi/pets", s.org);
    let source = "https://web.example/openapi.json";
    s.put(&pets, json!({ "source": { "url": source } })).await;
    s.platform.settle().await.expect("settled");
    let content = format!("{pets}/versions/latest/content");
    assert_eq!(s.get(&content).await["urls"], json!({ "source": source, "public": null }));
    let raw = s.get(&format!("{content}/raw")).await;
    assert_eq!(raw, json!({ "text": PETS, "format": "json" }));
    let spec = s.patch(&pets, json!({ "visibility": "public" })).await;
    let published = &spec["urls"]["published"];
    assert_eq!(s.get(&content).await["urls"], json!({ "source": source, "public": published }));
    assert_eq!(spec["lastProcessedErrorCount"], 0);
    s.put(&pets, json!({ "source": { "text": "openapi: 3.0.0\ninfo: 1\n" } })).await;
    s.platform.settle().await.expect("settled");
    let failed = s.get(&pets).await;
    let errors = failed["lastProcessedErrors"].as_array().expect("errors");
    assert_eq!(failed["lastProcessedErrorCount"], errors.len());
}

/// Creates, processes, reads, publishes and deletes a specification.
#[tokio::test]
async fn specification_lifecycle() {
    let s = Server::new().await;
    let all = format!("/v1/orgs/{}/openapi", s.org);
    let pets = format!("{all}/pets");
    let new = json!({ "slug": "pets", "source": { "url": "https://web.example/openapi.json" } });
    let made = s.ask("POST", &all, &s.admin, Some(new.clone())).await;
    assert_eq!(made.header("location"), None);
    let made = made.is(201, "created");
    assert_eq!((&made["object"], &made["processingState"]), (&json!("openapi-spec"), &json!("pending")));
    assert_eq!(made["sourceURL"], "https://web.example/openapi.json");
    assert_eq!(made["permissions"], json!({ "view": true, "edit": true }));
    s.ask("POST", &all, &s.admin, Some(new)).await.refused(409, "the slug is taken");
    for path in ["latest", "latest/content", "latest/content/raw", "unknown", "unknown/content"] {
        s.ask("GET", &format!("{pets}/versions/{path}"), &s.admin, None).await.refused(404, path);
    }
    s.platform.settle().await.expect("settled");
    let spec = s.get(&pets).await;
    assert_eq!((&spec["processingState"], &spec["visibility"]), (&json!("complete"), &json!("private")));
    let version = spec["lastVersion"].as_str().expect("a version");
    let latest = s.get(&format!("{pets}/versions/latest")).await;
    assert_eq!(latest, s.get(&format!("{pets}/versions/{version}")).await);
    assert_eq!(s.get(&format!("{pets}/versions")).await, json!({ "count": 1, "items": [latest] }));
    let content = s.get(&format!("{pets}/versions/latest/content")).await;
    assert_eq!(content, s.get(&format!("{pets}/versions/{version}/content")).await);
    let entry = &content["filesystem"]["https://web.example/openapi.json"];
    assert_eq!(entry["specification"], serde_json::from_str::<Value>(PETS).expect("JSON"));
    assert_eq!(content["url"], latest["url"]);
    let published = s.patch(&pets, json!({ "visibility": "public" })).await["urls"]["published"].clone();
    for url in [&published, &latest["url"]] {
        let path =
            url.as_str().expect("an address").strip_prefix("https://docs.example").expect("of this host");
        let answer = s.client.get(path).send().await;
        answer.assert_status_is_ok();
        answer.assert_content_type("application/json");
        answer.assert_text(PETS).await;
    }
    let again = json!({ "source": { "text": "openapi: 3.0.0\ninfo: 1\n" } });
    let put = s.put(&pets, again).await;
    assert_eq!((&put["processingState"], &put["id"]), (&json!("pending"), &spec["id"]));
    assert_eq!(put.get("sourceURL"), None);
    s.platform.settle().await.expect("settled");
    let failed = s.get(&pets).await;
    assert_eq!(failed["lastProcessErrorCode"], "PARSE_ERROR");
    let errors = failed["lastProcessedErrors"].as_array().expect("errors");
    assert_eq!(
        errors[0],
        json!({ "message": "line 2, /info: must be an object, is a number", "code": "PARSE_ERROR" })
    );
    assert_eq!(failed["lastVersion"], spec["lastVersion"]);
    let other = json!({ "source": { "text": PETS } });
    s.put(&format!("{all}/other"), other).await;
    assert_eq!(s.get(&all).await["count"], 2);
    for _ in 0..2 {
        s.ask("DELETE", &pets, &s.admin, None).await.is(204, "deleted, also when it is missing");
    }
    s.ask("GET", &pets, &s.admin, None).await.refused(404, "deleted");
    let path =
        published.as_str().expect("an address").strip_prefix("https://docs.example").expect("of this host");
    s.client.get(path).send().await.assert_status(poem::http::StatusCode::NOT_FOUND);
    s.platform.settle().await.expect("settled");
    s.check().await;
}

#[tokio::test]
async fn specification_requests_are_validated() {
    let s = Server::new().await;
    let all = format!("/v1/orgs/{}/openapi", s.org);
    let source = json!({ "text": PETS });
    for (body, field) in [
        (json!({ "source": source }), "slug"),
        (json!({ "slug": "a" }), "source"),
        (json!({ "slug": "a_b", "source": source }), "slug"),
        (json!({ "slug": "a--b", "source": source }), "slug"),
        (json!({ "slug": "a".repeat(101), "source": source }), "slug"),
        (json!({ "slug": "a", "source": {} }), "source"),
        (json!({ "slug": "a", "source": { "text": "" } }), "source"),
        (json!({ "slug": "a", "source": { "url": "pets" } }), "source"),
        (json!({ "slug": "a", "source": { "url": "https://me:pw@x.example/a" } }), "source"),
        (json!({ "slug": "a", "source": { "url": "https://x.example", "text": "a" } }), "source"),
    ] {
        let answer = s.ask("POST", &all, &s.admin, Some(body.clone())).await;
        let message = answer.refused(400, &body.to_string());
        assert!(message.starts_with(field), "{body}: {message}");
    }
    let pets = format!("{all}/pets");
    spec(&s, "pets").await;
    for body in [json!({}), json!({ "visibility": null }), json!({ "visibility": "unlisted" })] {
        s.ask("PATCH", &pets, &s.admin, Some(body.clone())).await.refused(400, &body.to_string());
    }
    let put = Some(json!({ "source": source }));
    s.ask("PUT", &format!("{all}/not_a_slug"), &s.admin, put).await.refused(400, "no slug");
}

#[tokio::test]
async fn specification_changes_may_be_conditional() {
    let s = Server::new().await;
    spec(&s, "pets").await;
    let pets = format!("/v1/orgs/{}/openapi/pets", s.org);
    let seen = s.ask("GET", &pets, &s.admin, None).await.header("etag").expect("a tag").to_owned();
    s.patch(&pets, json!({ "visibility": "public" })).await;
    let request = s.client.patch(&pets).header("authorization", format!("Bearer {}", s.admin));
    let request = request.header("if-match", seen).body_json(&json!({ "visibility": "private" }));
    request.send().await.assert_status(poem::http::StatusCode::PRECONDITION_FAILED);
    assert_eq!(s.get(&pets).await["visibility"], "public");
}

/// Creates a space whose second page is computed from the specification `pets`.
async fn space_with_computed_page(s: &Server) -> String {
    let space = s.space().await;
    s.repository.put("README.md", "# Start\n");
    let computed = "
* [Start](README.md)
* ```yaml
  type: builtin:openapi
  props:
    models: false
  dependencies:
    spec:
      ref:
        kind: openapi
        spec: pets
  ```
";
    s.repository.put("SUMMARY.md", computed);
    let import = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    s.post(&format!("/v1/spaces/{space}/git/import"), 204, import).await;
    s.platform.settle().await.expect("settled");
    space
}

fn etag(answer: &Answer) -> String {
    answer.header("etag").expect("a tag").to_owned()
}

#[tokio::test]
async fn computed_page_is_returned_as_pages_or_as_written() {
    let s = Server::new().await;
    let space = space_with_computed_page(&s).await;
    let version = spec(&s, "pets").await;
    let content = format!("/v1/spaces/{space}/content");
    let pages = s.get(&format!("{content}/pages")).await["pages"].clone();
    let made = &pages[1];
    assert_eq!((&made["type"], &made["path"]), (&json!("document"), &json!("pets")));
    assert_eq!(made["computed"]["dependencies"]["spec"]["value"]["lastVersion"], version.as_str());
    let written = s.get(&format!("{content}/pages?computed=false")).await["pages"].clone();
    assert_eq!(written[1]["type"], "computed");
    assert_eq!(s.get(&content).await["pages"], pages);
    let page = s.get(&format!("{content}/page/{}", id(made))).await;
    let expected = "All of them.\n\n{% openapi-operation spec=\"pets\" path=\"/pets\" method=\"get\" %}\n";
    assert!(page["markdown"].as_str().expect("a text").starts_with(expected), "{page}");
    assert_eq!(s.get(&format!("{content}/path/pets?format=document")).await["id"], made["id"]);
    let whole = s.ask("GET", &content, &s.admin, None).await;
    let revision = format!("/v1/spaces/{space}/revisions/{}", id(&whole.body));
    let document = s.ask("GET", &format!("{revision}/page/{}/document", id(made)), &s.admin, None).await;
    assert_eq!(document.body["nodes"][1]["type"], "openapi-operation");
    assert_eq!(document.header("cache-control"), Some("private, no-cache"), "it does not last");
    // A change of the specification alone changes the ETags.
    let seen = [etag(&whole), etag(&document)];
    let put = json!({ "source": { "text": PETS.replace("All of them.", "Some.") } });
    s.put(&format!("/v1/orgs/{}/openapi/pets", s.org), put).await;
    s.platform.settle().await.expect("settled");
    assert_ne!(etag(&s.ask("GET", &content, &s.admin, None).await), seen[0]);
    let document = s.ask("GET", &format!("{revision}/page/{}/document", id(made)), &s.admin, None).await;
    assert_ne!(etag(&document), seen[1]);
    // Files do not depend on specifications.
    let files = s.ask("GET", &format!("{revision}/files"), &s.admin, None).await;
    assert_eq!(files.header("cache-control"), Some("private, max-age=31536000, immutable"));
}

#[tokio::test]
async fn search_finds_operations_of_generated_pages() {
    let s = Server::new().await;
    let space = space_with_computed_page(&s).await;
    spec(&s, "pets").await;
    let text = PETS.replace("\"responses\"", "\"summary\": \"Lists animals\", \"responses\"");
    s.put(&format!("/v1/orgs/{}/openapi/pets", s.org), json!({ "source": { "text": text } })).await;
    s.platform.settle().await.expect("settled");
    s.patch(&format!("/v1/orgs/{}/openapi/pets", s.org), json!({ "visibility": "public" })).await;
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let in_space =
        async |query: &str| s.get(&format!("/v1/spaces/{space}/search?query={query}")).await["items"].clone();
    for query in ["animals", "%22GET%20%2Fpets%22", "pets"] {
        let found = in_space(query).await;
        assert_eq!((&found[0]["title"], &found[0]["path"]), (&json!("pets"), &json!("pets")), "{query}");
        let search = json!({ "query": query.replace("%22", "\"").replace("%20", " ").replace("%2F", "/") });
        let on_site = s.post(&format!("{site}/search"), 200, search).await.body;
        assert_eq!(on_site["items"][0]["pages"], found, "{query}");
    }
    let section = &in_space("animals").await[0]["sections"][0];
    assert_eq!((&section["title"], &section["path"]), (&json!("Lists animals"), &json!("pets#get/pets")));
    let page = id(&in_space("animals").await[0]);
    assert_eq!(s.get(&format!("/v1/spaces/{space}/content/page/{page}")).await["path"], "pets");
}

#[tokio::test]
async fn conditional_edit_of_content_with_computed_pages() {
    let s = Server::new().await;
    let space = space_with_computed_page(&s).await;
    spec(&s, "pets").await;
    let content = format!("{}/content", s.request(&space).await);
    let edit = async |tag: &str, title: &str| {
        let changes = json!({ "changes": [{ "operation": "insert_page", "title": title, "document": { "markdown": "" } }] });
        let body = Some(("application/json", changes.to_string()));
        let authorization = format!("Bearer {}", s.admin);
        s.send_with("POST", &content, &[("authorization", &authorization), ("if-match", tag)], body).await
    };
    let seen = async || {
        let answer = s.ask("GET", &content, &s.admin, None).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        etag(&answer)
    };
    let first = seen().await;
    assert_eq!(seen().await, first);
    edit(&first, "New").await.is(200, "edited as it was seen");
    edit(&first, "Another").await.refused(412, "it is another by now");
    let second = seen().await;
    let put = json!({ "source": { "text": PETS.replace("All of them.", "Some.") } });
    s.put(&format!("/v1/orgs/{}/openapi/pets", s.org), put).await;
    s.platform.settle().await.expect("settled");
    edit(&second, "Another").await.refused(412, "its computed pages are others by now");
    edit(&seen().await, "Another").await.is(200, "edited as it was seen");
    s.check().await;
}

/// Calls every operation once.
pub(crate) async fn story(s: &Server) {
    let all = format!("/v1/orgs/{}/openapi", s.org);
    let version = spec(s, "story").await;
    let path = format!("{all}/story");
    let put = json!({ "source": { "url": "https://web.example/openapi.json" } });
    s.put(&path, put).await;
    s.platform.settle().await.expect("settled");
    let shown = s.patch(&path, json!({ "visibility": "public" })).await;
    let fields = [
        "object",
        "id",
        "slug",
        "sourceURL",
        "processingState",
        "visibility",
        "lastVersion",
        "urls.published",
    ];
    has(&shown, &fields);
    has(
        &s.get(&all).await["items"][0],
        &["id", "createdAt", "updatedAt", "urls.location", "urls.app", "permissions.edit"],
    );
    for list in [format!("{path}/versions"), format!("{path}/versions?limit=1")] {
        has(&s.get(&list).await["items"][0], &["object", "id", "createdAt", "url", "urls.location"]);
    }
    for of in ["latest", &version] {
        has(&s.get(&format!("{path}/versions/{of}")).await, &["id", "url"]);
        has(&s.get(&format!("{path}/versions/{of}/content")).await, &["filesystem", "url"]);
    }
    has(&s.get(&format!("{path}/versions/latest/content/raw")).await, &["text", "format"]);
    has(&s.get(&path).await, &["id"]);
    s.ask("DELETE", &path, &s.admin, None).await.is(204, "deleted");
    s.platform.settle().await.expect("settled");
}

#[tokio::test]
async fn versions_are_listed_newest_first() {
    let s = Server::new().await;
    let path = format!("/v1/orgs/{}/openapi/pets", s.org);
    let first = spec(&s, "pets").await;
    let raw = s.get(&format!("{path}/versions/latest/content/raw")).await;
    assert_eq!(raw, json!({ "text": PETS, "format": "json" }));
    s.clock.advance(std::time::Duration::from_secs(1));
    s.put(&path, json!({ "source": { "text": PETS.replace("Pets", "Cats") } })).await;
    s.platform.settle().await.expect("settled");
    let second = s.get(&path).await["lastVersion"].as_str().expect("a version").to_owned();
    assert_ne!(first, second);
    let page = s.get(&format!("{path}/versions?limit=1")).await;
    assert_eq!(id(&page["items"][0]), second);
    let next = page["next"]["page"].as_str().expect("a cursor");
    let rest = s.get(&format!("{path}/versions?limit=1&page={next}")).await;
    assert_eq!((id(&rest["items"][0]), rest.get("next")), (first, None));
}

#[tokio::test]
async fn a_generated_page_and_its_blocks_can_be_commented_on() {
    let s = Server::new().await;
    let space = space_with_computed_page(&s).await;
    spec(&s, "pets").await;
    let pages = s.get(&format!("/v1/spaces/{space}/content/pages")).await["pages"].clone();
    let page = s.get(&format!("/v1/spaces/{space}/content/page/{}?format=document", id(&pages[1]))).await;
    let node = page["document"]["nodes"][0]["key"].as_str().expect("a key");
    let comments = format!("/v1/spaces/{space}/comments");
    for (body, has_node) in [
        (json!({ "page": page["id"], "body": { "markdown": "Why?" } }), false),
        (json!({ "page": page["id"], "node": node, "body": { "markdown": "Why?" } }), true),
    ] {
        let comment = s.post(&comments, 200, body).await.body;
        let target = &comment["target"];
        assert_eq!((&target["page"]["id"], &target["page"]["path"]), (&page["id"], &page["path"]));
        assert_eq!((&target["page"]["outdated"], target.get("node").is_some()), (&json!(false), has_node));
        assert_eq!(s.get(&format!("{comments}/{}", id(&comment))).await, comment);
    }
    let unknown = json!({ "page": page["id"], "node": "unknown", "body": { "markdown": "Why?" } });
    s.invalid("POST", &comments, unknown, "node: the page has no such block").await;
}

/// Generates pages and documents for a source in a request, equal to those of a computed page.
#[tokio::test]
async fn computed_sources_of_requests_are_generated() {
    let s = Server::new().await;
    let space = space_with_computed_page(&s).await;
    spec(&s, "pets").await;
    let stored = s.stored().await;
    let content = format!("/v1/spaces/{space}/content");
    let pages = s.get(&format!("{content}/pages")).await["pages"].clone();
    let seed = &pages[1]["computedSeed"];
    let source = |props: Value| {
        json!({ "source": {
        "type": "builtin:openapi", "props": props,
        "dependencies": { "spec": { "ref": { "kind": "openapi", "spec": "pets" }, "value": null } },
    }, "seed": seed })
    };
    let (revision, document) =
        (format!("{content}/computed/revision"), format!("{content}/computed/document"));
    let made = s.post(&revision, 200, source(json!({ "models": false, "grouping": "by-tag" }))).await.body;
    assert_eq!(made, json!({ "pages": [pages[1]], "files": [], "reusableContents": [] }));
    let page = format!("{content}/page/{}?format=document", id(&pages[1]));
    let text = s.get(&page).await["document"].clone();
    let of_page = json!({ "source": pages[1]["computed"], "seed": seed });
    assert_eq!(s.post(&document, 200, of_page).await.body, text);
    assert_eq!(s.post(&document, 200, source(json!({ "doc": "tag", "page": "pets" }))).await.body, text);
    let get = json!({ "doc": "operation", "page": "/pets", "method": "get", "deprecated": false });
    let operation = s.post(&document, 200, source(get)).await.body;
    assert_eq!(operation["nodes"][0], text["nodes"][1]);
    for (props, status, message) in [
        (json!({ "doc": "tag" }), 400, "source.props.page: is required"),
        (json!({ "doc": "operation", "page": "/pets" }), 400, "source.props.method: is required"),
        (json!({ "doc": "operation", "page": "/pets", "method": "put" }), 404, ""),
        (json!({ "doc": "operation", "page": "/none", "method": "hook" }), 404, ""),
        (json!({ "doc": "tag", "page": "cats" }), 404, ""),
        (json!({ "doc": "models" }), 404, ""),
    ] {
        let refused = s.post(&document, status, source(props)).await;
        assert!(refused.refused(status, message).starts_with(message), "{message}");
    }
    for (field, value) in [
        ("type", json!("integration:a:b")),
        ("props", json!({ "models": false, "grouping": "by-operation" })),
    ] {
        let mut body = source(json!({ "models": true }));
        body["source"][field] = value;
        let refused = s.post(&revision, 400, body).await;
        assert!(refused.refused(400, field).starts_with("source"), "{field}");
    }
    let none = json!({ "pages": [], "files": [], "reusableContents": [] });
    assert_eq!(s.post(&revision, 200, computed("getComputedRevision", "none")).await.body, none);
    s.post(&document, 404, computed("getComputedDocument", "none")).await;
    assert_eq!(stored, s.stored().await);
}

/// A reader of a space who may not read the specifications of the organization sees those that the content uses.
#[tokio::test]
async fn computed_sources_show_guests_no_other_specifications() {
    let s = Server::new().await;
    let space = space_with_computed_page(&s).await;
    for slug in ["pets", "cats"] {
        spec(&s, slug).await;
    }
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let guest = s.guest.clone();
    let user = id(&s.ask("GET", "/v1/user", &guest, None).await.is(200, "the guest"));
    let permission = json!({ "role": "read", "users": [user] });
    s.post(&format!("/v1/spaces/{space}/permissions"), 204, permission).await;
    let ask = async |slug: &str, token: &str| {
        let path = format!("/v1/spaces/{space}/content/computed/revision");
        let body = computed("getComputedRevision", slug);
        let made = s.ask("POST", &path, token, Some(body)).await.is(200, slug);
        made["pages"].as_array().expect("pages").len()
    };
    assert_eq!((ask("pets", &s.reader).await, ask("cats", &s.reader).await), (1, 1));
    assert_eq!((ask("pets", &guest).await, ask("cats", &guest).await), (1, 0));
    // A visitor of a public site sees public specifications only.
    assert_eq!((ask("pets", &s.outsider).await, ask("cats", &s.outsider).await), (0, 0));
    s.patch(&format!("/v1/orgs/{}/openapi/cats", s.org), json!({ "visibility": "public" })).await;
    assert_eq!((ask("cats", &guest).await, ask("cats", &s.outsider).await), (1, 1));
}
