//! OpenAPI specifications: creation, fetching and deletion, with a mock web defined by each test.

mod faults;
mod model;
mod pages;
mod real;
mod search;

use std::{sync::Arc, time::Duration};

use docs_core::{
    ErrorKind,
    model::{
        CreateOpenApiSpec, OpenApiSpec, OpenApiSpecSlug, PutOpenApiSpec, Role, SpecErrorCode,
        SpecProcessingState, SpecSource, SpecVisibility, UpdateOpenApiSpec, Url,
    },
    platform::CollectMode,
    ports::WebError,
    store::{PageRequest, Store},
};
use docs_memstore::{FaultPlan, FaultStore, MemStore, MemWeb};
use docs_openapi::OpenApiReader;
use serde_json::{Value, json};

use crate::support::{Refused, World};

/// The default URL of the specifications.
const SOURCE: &str = "https://api.example/openapi.json";
const SIX_HOURS: Duration = Duration::from_secs(6 * 60 * 60);

fn url(url: &str) -> SpecSource {
    SpecSource::Url(Url::new(url).expect("an address"))
}

fn slug(slug: &str) -> OpenApiSpecSlug {
    OpenApiSpecSlug::new(slug).expect("a slug")
}

/// Returns a specification with this title.
fn titled(title: &str) -> String {
    let operation = json!({ "operationId": "list", "tags": ["pets"], "responses": {} });
    let paths = json!({ "/pets": { "get": operation } });
    json!({ "openapi": "3.1.0", "info": { "title": title, "version": "1" }, "paths": paths }).to_string()
}

/// Creates a world with a specification reader and a mock web.
async fn world_over(store: Arc<dyn Store>) -> (World, MemWeb) {
    let web = MemWeb::new();
    let for_web = Arc::new(web.clone());
    let w = World::build(store, |builder| builder.web(for_web).spec_reader(Arc::new(OpenApiReader))).await;
    (w, web)
}

async fn world() -> (World, MemWeb) {
    world_over(Arc::new(MemStore::new())).await
}

impl World {
    async fn put_spec(&self, name: &str, source: SpecSource) -> OpenApiSpec {
        let put = PutOpenApiSpec { source };
        self.as_admin().org(&self.org).openapi_spec(name).put(put).await.expect("put")
    }

    async fn spec(&self, name: &str) -> OpenApiSpec {
        self.as_admin().org(&self.org).openapi_spec(name).get().await.expect("a specification")
    }

    /// Returns the number of versions, as counted by the list.
    async fn spec_versions(&self, name: &str) -> usize {
        let spec = self.as_admin().org(&self.org).openapi_spec(name);
        let page = spec.list_versions(&PageRequest::default()).await.expect("listed");
        assert_eq!(page.count, Some(page.items.len() as u64));
        page.items.len()
    }

    /// Returns the content of the latest version, with its files.
    async fn spec_content(&self, name: &str) -> Value {
        let spec = self.as_admin().org(&self.org).openapi_spec(name);
        let content = spec.latest_version().content().await.expect("content");
        serde_json::from_str(content.filesystem.get()).expect("JSON")
    }

    async fn settled(&self) {
        self.platform.settle().await.expect("settled");
    }
}

#[tokio::test]
async fn text_is_pending_until_processed_to_the_first_version() {
    let (w, _) = world().await;
    let new = CreateOpenApiSpec { slug: slug("pets"), source: SpecSource::Text(titled("Pets")) };
    let made = w.as_admin().org(&w.org).openapi_specs().create(new).await.expect("created");
    assert_eq!(made.processing_state, SpecProcessingState::Pending);
    assert_eq!((made.source_url, made.last_version, made.last_processed_at), (None, None, None));
    assert_eq!((made.visibility, made.urls.published), (SpecVisibility::Private, None));
    let latest = w.as_admin().org(&w.org).openapi_spec("pets");
    latest.latest_version().get().await.refused(ErrorKind::NotFound);
    w.settled().await;
    let done = w.spec("pets").await;
    assert_eq!(done.processing_state, SpecProcessingState::Complete);
    assert_eq!((done.last_process_error_code, done.last_processed_errors), (None, None));
    let version = latest.latest_version().get().await.expect("a version");
    assert_eq!(Some(&version.id), done.last_version.as_ref());
    let content = w.spec_content("pets").await;
    let file = &content["openapi.json"];
    assert_eq!((&file["isEntrypoint"], &file["filename"]), (&json!(true), &json!("openapi.json")));
    assert_eq!(file["specification"]["info"]["title"], "Pets");
    // A specification from text is never fetched again.
    w.clock.advance(SIX_HOURS);
    assert_eq!(w.platform.settle().await.expect("settled"), 0);
    w.check().await;
}

/// A public document can be downloaded by anyone.
#[tokio::test]
async fn document_is_downloaded_unchanged_by_authorized_callers() {
    let (w, _) = world().await;
    let text = "openapi: 3.0.0\ninfo: {title: A, version: 1.0}\npaths: {} # nothing yet\n";
    w.put_spec("a", SpecSource::Text(text.to_owned())).await;
    w.settled().await;
    let rob = w.member("Rob", Some(Role::Read)).await;
    let as_rob = w.platform.as_actor(&rob);
    let version = as_rob.org(&w.org).openapi_spec("a").latest_version().get().await.expect("a version");
    let sealed = |url: &str| url.rsplit('/').nth(1).expect("sealed").to_owned();
    assert!(version.url.ends_with("/openapi.yaml"), "{}", version.url);
    let found = w.platform.find_spec_document(&w.org, &sealed(&version.url)).await.expect("found");
    assert_eq!(found.content_type, "application/yaml");
    assert_eq!(w.platform.file_bytes(&found, None).await.expect("read"), text.as_bytes());
    w.platform.find_published_spec(&w.org, "a").await.refused(ErrorKind::NotFound);
    let public = UpdateOpenApiSpec { visibility: SpecVisibility::Public };
    let shown = w.as_admin().org(&w.org).openapi_spec("a").update(public).await.expect("public");
    assert!(shown.urls.published.expect("an address").ends_with("/openapi/a"));
    let found = w.platform.find_published_spec(&w.org, "a").await.expect("found");
    assert_eq!(w.platform.file_bytes(&found, None).await.expect("read"), text.as_bytes());
    // The document URL of a former member does not resolve.
    let user = rob.user().expect("a user");
    w.as_admin().org(&w.org).member(user).remove().await.expect("removed");
    w.platform.find_spec_document(&w.org, &sealed(&version.url)).await.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn url_is_fetched_periodically_and_changes_create_versions() {
    let (w, web) = world().await;
    web.put(SOURCE, "application/json", titled("One"));
    w.put_spec("pets", url(SOURCE)).await;
    w.settled().await;
    assert_eq!(w.spec_versions("pets").await, 1);
    w.clock.advance(SIX_HOURS - Duration::from_secs(1));
    assert_eq!(w.platform.settle().await.expect("settled"), 0, "it is not time");
    w.clock.advance(Duration::from_secs(1));
    assert_eq!(w.platform.settle().await.expect("settled"), 1);
    assert_eq!(w.spec_versions("pets").await, 1, "the same content is no version");
    web.put(SOURCE, "application/json", titled("Two"));
    w.clock.advance(SIX_HOURS);
    w.settled().await;
    assert_eq!(w.spec_versions("pets").await, 2);
    assert_eq!(w.spec_content("pets").await[SOURCE]["specification"]["info"]["title"], "Two");
    // A requested fetch runs immediately, and the next fetch is scheduled relative to it.
    web.put(SOURCE, "application/json", titled("Three"));
    w.clock.advance(SIX_HOURS / 2);
    assert_eq!(w.put_spec("pets", url(SOURCE)).await.processing_state, SpecProcessingState::Pending);
    w.settled().await;
    assert_eq!(w.spec_versions("pets").await, 3);
    w.clock.advance(SIX_HOURS / 2);
    web.put(SOURCE, "application/json", titled("Four"));
    w.settled().await;
    assert_eq!(
        w.spec_versions("pets").await,
        3,
        "the fetch that was planned before the put is none any more"
    );
    w.check().await;
}

/// Returns the specification `pets` after a failed fetch.
async fn failed(w: &World, code: SpecErrorCode, told: &str) -> OpenApiSpec {
    w.put_spec("pets", url(SOURCE)).await;
    w.settled().await;
    let spec = w.spec("pets").await;
    assert_eq!(spec.processing_state, SpecProcessingState::Complete);
    assert_eq!(spec.last_process_error_code, Some(code), "{told}");
    let errors = spec.last_processed_errors.as_deref().expect("errors");
    assert!(errors[0].message.starts_with(told), "{told}: {errors:?}");
    assert!(errors.iter().all(|error| error.code == Some(code)));
    spec
}

#[tokio::test]
async fn failure_reports_location_and_keeps_the_latest_version() {
    let (w, web) = world().await;
    web.put(SOURCE, "application/json", titled("One"));
    w.put_spec("pets", url(SOURCE)).await;
    w.settled().await;
    let before = w.spec("pets").await.last_version;
    let failures: [(&dyn Fn(), SpecErrorCode, &str); 6] = [
        (
            &|| web.fail(SOURCE, WebError::TimedOut(Duration::from_secs(30))),
            SpecErrorCode::FetchTimeout,
            "https://api.example/openapi.json: cannot be fetched within 30s",
        ),
        (
            &|| web.fail(SOURCE, WebError::Status(503)),
            SpecErrorCode::FetchError,
            "https://api.example/openapi.json: cannot be fetched: the host responded with 503",
        ),
        (
            &|| web.put(SOURCE, "application/json", "{ \"openapi\": \"3.0.0\",\n  nothing"),
            SpecErrorCode::ParseError,
            "line 2: must be valid JSON",
        ),
        (
            &|| web.put(SOURCE, "text/yaml", "openapi: 3.0.0\ninfo:\n  title: A\npaths: {}\n"),
            SpecErrorCode::ParseError,
            "line 2, /info: must have `version`",
        ),
        (
            &|| {
                let text = "openapi: 3.0.0\ninfo: {title: A, version: 1}\npaths:\n  /a:\n    get:\n      \
                            responses: {200: {$ref: '#/nowhere'}}\n";
                web.put(SOURCE, "text/yaml", text);
            },
            SpecErrorCode::ParseError,
            "line 6, /paths/~1a/get/responses/200/$ref: refers to `#/nowhere`, which does not exist",
        ),
        (
            &|| {
                let text = "openapi: 3.0.0\ninfo: {title: A, version: 1}\npaths: {/a: {$ref: gone.yaml}}\n";
                web.put(SOURCE, "text/yaml", text);
            },
            SpecErrorCode::FetchError,
            "https://api.example/gone.yaml: cannot be fetched: the host responded with 404",
        ),
    ];
    for (fail, code, told) in failures {
        fail();
        assert_eq!(failed(&w, code, told).await.last_version, before);
    }
    web.put(SOURCE, "application/json", titled("One"));
    w.clock.advance(SIX_HOURS);
    w.settled().await;
    let spec = w.spec("pets").await;
    assert_eq!((spec.last_process_error_code, spec.last_processed_errors), (None, None));
    assert_eq!((spec.last_version, w.spec_versions("pets").await), (before, 1));
}

#[tokio::test]
async fn referenced_files_are_fetched_relative_to_their_parent() {
    let (w, web) = world().await;
    let entry = "openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n  /a: {$ref: 'paths/a.yaml'}\n";
    web.put("https://api.example/v1/openapi.yaml", "text/yaml", entry);
    let item = "get:\n  tags: [t]\n  responses: {'200': {$ref: '../parts.json#/ok'}}\n";
    web.put("https://api.example/v1/paths/a.yaml", "text/yaml", item);
    web.put("https://api.example/v1/parts.json", "application/json", "{\"ok\": {\"description\": \"Fine\"}}");
    w.put_spec("a", url("https://api.example/v1/openapi.yaml")).await;
    w.settled().await;
    let spec = w.spec("a").await;
    assert_eq!(spec.last_processed_errors, None);
    let content = w.spec_content("a").await;
    let names: Vec<&String> = content.as_object().expect("files").keys().collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let item = &content["https://api.example/v1/paths/a.yaml"];
    assert_eq!(item["references"], json!(["https://api.example/v1/parts.json"]));
    assert_eq!(item["specification"]["get"]["tags"], json!(["t"]));
    assert_eq!(item["dir"], "https://api.example/v1/paths");
    // A change of a referenced file creates a new version.
    web.put("https://api.example/v1/parts.json", "application/json", "{\"ok\": {\"description\": \"Good\"}}");
    w.clock.advance(SIX_HOURS);
    w.settled().await;
    assert_eq!(w.spec_versions("a").await, 2);
    // Cyclic references terminate, and so do unbounded chains.
    web.put("https://api.example/loop/0", "text/yaml", format!("{entry}x: 1\n").replace("paths/a.yaml", "1"));
    for n in 1..20 {
        let next = format!("get: {{responses: {{'200': {{$ref: '{}'}}}}}}\n", n + 1);
        web.put(&format!("https://api.example/loop/{n}"), "text/yaml", next);
    }
    w.put_spec("loop", url("https://api.example/loop/0")).await;
    w.settled().await;
    let errors = w.spec("loop").await.last_processed_errors.expect("errors");
    assert!(errors[0].message.contains("16 levels deep"), "{errors:?}");
    // A specification may consist of thousands of files.
    let mut entry = String::from("openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n");
    for n in 0..3_000 {
        entry += &format!("  /{n}: {{$ref: 'paths/{n}.yaml'}}\n");
        web.put(&format!("https://api.example/many/paths/{n}.yaml"), "text/yaml", "get: {tags: [a]}\n");
    }
    web.put("https://api.example/many/openapi.yaml", "text/yaml", entry);
    w.put_spec("many", url("https://api.example/many/openapi.yaml")).await;
    w.settled().await;
    assert_eq!(w.spec("many").await.last_processed_errors, None);
    assert_eq!(w.spec_content("many").await.as_object().map(serde_json::Map::len), Some(3_001));
}

#[tokio::test]
async fn invalid_source_is_rejected_before_storing() {
    let (w, _) = world().await;
    let specs = w.as_admin().org(&w.org).openapi_specs();
    let text = || SpecSource::Text(titled("A"));
    specs.create(CreateOpenApiSpec { slug: slug("a"), source: text() }).await.expect("created");
    let again = CreateOpenApiSpec { slug: slug("a"), source: text() };
    let error = specs.create(again).await.refused(ErrorKind::Conflict);
    assert!(error.message().starts_with("slug: "), "{error:?}");
    let secret = CreateOpenApiSpec { slug: slug("b"), source: url("https://me:pw@api.example/x") };
    let error = specs.create(secret).await.refused(ErrorKind::Invalid);
    assert!(error.message().starts_with("source.url: "), "{error:?}");
    let error = w
        .as_admin()
        .org(&w.org)
        .openapi_spec("not_a_slug")
        .put(PutOpenApiSpec { source: text() })
        .await
        .refused(ErrorKind::Invalid);
    assert!(error.message().starts_with("specSlug: "), "{error:?}");
    for (role, kind) in [(Some(Role::Review), ErrorKind::Forbidden), (None, ErrorKind::Forbidden)] {
        let member = w.member(&format!("A {role:?}"), role).await;
        let spec = w.platform.as_actor(&member).org(&w.org).openapi_spec("a");
        spec.put(PutOpenApiSpec { source: text() }).await.refused(kind);
        spec.update(UpdateOpenApiSpec { visibility: SpecVisibility::Public }).await.refused(kind);
        spec.delete().await.refused(kind);
        assert_eq!(spec.get().await.is_ok(), role.is_some());
    }
    let bare = World::new().await;
    let new = CreateOpenApiSpec { slug: slug("a"), source: text() };
    bare.as_admin().org(&bare.org).openapi_specs().create(new).await.refused(ErrorKind::Precondition);
}

#[tokio::test]
async fn deletion_frees_the_slug_and_garbage_collects_bytes() {
    let (w, _) = world().await;
    // A large file is stored in chunks.
    let text = format!("{} ", titled(&"x".repeat(5 << 20)));
    w.put_spec("large", SpecSource::Text(text.clone())).await;
    w.put_spec("kept", SpecSource::Text(titled("Kept"))).await;
    w.settled().await;
    let collect = async || {
        w.clock.advance(Duration::from_secs(100 * 60 * 60));
        w.platform.as_platform().collect(CollectMode::Remove).await.expect("collected")
    };
    assert_eq!(collect().await.objects, 0, "what versions name stays");
    let content = w.spec_content("large").await;
    assert_eq!(
        content["openapi.json"]["specification"]["info"]["title"].as_str().map(str::len),
        Some(5 << 20)
    );
    let spec = w.as_admin().org(&w.org).openapi_spec("large");
    assert!(spec.delete().await.expect("deleted"));
    assert!(!spec.delete().await.expect("deleted already"));
    spec.get().await.refused(ErrorKind::NotFound);
    w.settled().await;
    let gone = collect().await;
    assert!(gone.objects >= 3, "{gone:?}");
    assert_eq!(w.spec_content("kept").await["openapi.json"]["specification"]["info"]["title"], "Kept");
    assert_eq!(collect().await.objects, 0);
    w.put_spec("large", SpecSource::Text(titled("Small"))).await;
    w.settled().await;
    assert_eq!(w.spec_versions("large").await, 1);
    w.check().await;
}

#[tokio::test]
async fn oldest_versions_beyond_the_limit_are_evicted() {
    let (w, _) = world().await;
    for n in 0..103 {
        w.put_spec("a", SpecSource::Text(titled(&n.to_string()))).await;
        w.settled().await;
        w.clock.advance(Duration::from_secs(1));
    }
    let spec = w.as_admin().org(&w.org).openapi_spec("a");
    let all = PageRequest { limit: Some(1_000), ..PageRequest::default() };
    let versions = spec.list_versions(&all).await.expect("listed");
    assert_eq!((versions.items.len(), versions.count), (100, Some(100)));
    let oldest = spec.version(&versions.items[99].id).content().await.expect("content");
    assert!(oldest.filesystem.get().contains("\"title\":\"3\""));
    w.check().await;
}

#[tokio::test]
async fn interrupted_processing_is_retried_and_applied_once() {
    for commits in 1..6 {
        let store = Arc::new(FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none()));
        let (w, web) = world_over(store.clone()).await;
        web.put(SOURCE, "application/json", titled("One"));
        w.put_spec("pets", url(SOURCE)).await;
        store.set_plan(FaultPlan::none().with_outage_after(store.applied() + commits - 1));
        let was_killed = w.platform.settle().await.is_err();
        store.set_plan(FaultPlan::none());
        // The lease of the crashed server expires.
        w.clock.advance(Duration::from_secs(60));
        w.settled().await;
        let spec = w.spec("pets").await;
        assert_eq!(spec.processing_state, SpecProcessingState::Complete, "after {commits}, {was_killed}");
        assert_eq!(spec.last_processed_errors, None);
        assert_eq!(w.spec_versions("pets").await, 1, "after {commits}, {was_killed}");
        w.check().await;
    }
}
