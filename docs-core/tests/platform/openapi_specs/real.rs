//! Third-party documents from npm packages, from their bytes to the computed pages. The expected pages were determined
//! by another program: one page per tag, in the order of the list `tags`, then `Default` for operations without a tag,
//! and `Schemas` for the schemas. If the packages are missing in the folder `DOCS_TEST_NODE_MODULES`, the tests report
//! that they were skipped.

use std::path::PathBuf;

use docs_core::platform::ContentOptions;
use docs_memstore::MemGit;

use super::{pages::flat, *};
use crate::git::import;

/// A document and its expected pages.
struct Real {
    path: &'static str,
    /// The OpenAPI version of the document.
    version: &'static str,
    /// The numbers of top-level pages and of nested pages.
    pages: (usize, usize),
    first: &'static str,
    last: &'static str,
}

const fn real(
    path: &'static str,
    version: &'static str,
    pages: (usize, usize),
    first: &'static str,
    last: &'static str,
) -> Real {
    Real { path, version, pages, first, last }
}

const PETSTORE_2: &str = "@readme/oas-examples/2.0/json/petstore.json";
const PETSTORE_3: &str = "@readme/oas-examples/3.0/json/petstore.json";
const STAR_TREK: &str = "@readme/oas-examples/3.0/json/star-trek.json";
const LEGACY: &str = "@readme/oas-examples/3.0/json/readme-legacy.json";
const LARGE: &str = "@gitbook/api/spec/openapi.json";
const FIGMA: &str = "@figma/rest-api-spec/openapi/openapi.yaml";

const DOCUMENTS: [Real; 11] = [
    real(LARGE, "3.0.3", (29, 34), "Organizations", "Schemas"),
    real("@gitbook/api/spec/openapi.yaml", "3.0.3", (29, 34), "Organizations", "Schemas"),
    real("@directus/specs/dist/openapi.json", "3.0.1", (24, 0), "Activity", "Schemas"),
    real(FIGMA, "3.1.0", (19, 0), "Files", "Schemas"),
    real("@blockfrost/openapi/openapi.yaml", "3.0.3", (21, 0), "Health", "Schemas"),
    real(PETSTORE_2, "2.0", (4, 0), "pet", "Schemas"),
    real(STAR_TREK, "3.0.1", (41, 0), "Animal", "Schemas"),
    real(LEGACY, "3.0.2", (13, 0), "API Registry", "Schemas"),
    // The document has no schemas.
    real("@readme/oas-examples/3.1/json/readme.json", "3.1.0", (15, 0), "API Keys", "Search"),
    real("@readme/oas-examples/3.1/json/train-travel.json", "3.1.0", (5, 0), "Stations", "Schemas"),
    real(PETSTORE_3, "3.0.0", (4, 0), "pet", "Schemas"),
];

/// Reads a file of a package.
fn bytes(path: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("DOCS_TEST_NODE_MODULES").map(PathBuf::from);
    let found = folder.and_then(|folder| std::fs::read(folder.join(path)).ok());
    if found.is_none() {
        println!("skipped: {path} is not in the folder that DOCS_TEST_NODE_MODULES names");
    }
    found
}

fn parsed(path: &str) -> Option<Value> {
    Some(serde_json::from_slice(&bytes(path)?).expect("JSON"))
}

fn at(path: &str) -> String {
    format!("https://specs.example/{path}")
}

/// A world that shows documents from a web.
struct Shelf {
    w: World,
    web: MemWeb,
    git: MemGit,
}

impl Shelf {
    async fn new() -> Self {
        let (web, git) = (MemWeb::new(), MemGit::new());
        let (for_web, for_git) = (Arc::new(web.clone()), Arc::new(git.clone()));
        let w = World::build(Arc::new(MemStore::new()), |builder| {
            builder.web(for_web).git(for_git).spec_reader(Arc::new(OpenApiReader))
        })
        .await;
        git.put("README.md", "# Start\n");
        Self { w, web, git }
    }

    async fn publish(&self, name: &str, path: &str) -> OpenApiSpec {
        self.w.put_spec(name, url(&at(path))).await;
        self.w.settled().await;
        let spec = self.w.spec(name).await;
        assert_eq!(spec.processing_state, SpecProcessingState::Complete, "{path}");
        spec
    }

    /// Returns the computed pages of a specification with their depth.
    async fn pages(&self, name: &str) -> Vec<(usize, String)> {
        let item = "\n* [Start](README.md)\n* ```yaml\n  type: builtin:openapi\n  props:\n    models: true\n  \
                    dependencies:\n    spec:\n      ref:\n        kind: openapi\n        spec: ";
        self.git.put("SUMMARY.md", format!("{item}{name}\n  ```\n"));
        let space = self.w.space().await;
        assert_eq!(import(&self.w, &space).await.1, None);
        let content = self.w.as_admin();
        let pages =
            content.space(&space).content().list_pages(ContentOptions::default()).await.expect("read").pages;
        let mut found = Vec::new();
        flat(&pages, 0, &mut found);
        assert_eq!(found[0].1.base.title, "Start");
        found[1..].iter().map(|(depth, page)| (*depth, page.base.title.clone())).collect()
    }

    /// Publishes a document and checks its pages. Returns its files by name.
    async fn shows(&self, name: &str, real: &Real) -> Value {
        let path = real.path;
        let spec = self.publish(name, path).await;
        assert_eq!((spec.last_process_error_code, spec.last_processed_errors), (None, None), "{path}");
        let pages = self.pages(name).await;
        let top = pages.iter().filter(|(depth, _)| *depth == 0).count();
        assert_eq!((top, pages.len() - top), real.pages, "{path}: {pages:?}");
        let titles: Vec<&str> = pages.iter().map(|(_, title)| title.as_str()).collect();
        assert_eq!((titles.first(), titles.last()), (Some(&real.first), Some(&real.last)), "{path}");
        let content = self.w.spec_content(name).await;
        let entry = &content[at(path)]["specification"];
        let version = entry.get("openapi").or_else(|| entry.get("swagger"));
        assert_eq!(version, Some(&json!(real.version)), "{path}");
        assert_eq!(self.w.spec_versions(name).await, 1, "{path}");
        content
    }
}

#[tokio::test]
async fn third_party_documents_yield_the_expected_pages() {
    let shelf = Shelf::new().await;
    for (n, real) in DOCUMENTS.iter().enumerate() {
        let Some(bytes) = bytes(real.path) else { continue };
        shelf.web.put(&at(real.path), "text/plain", bytes);
        let content = shelf.shows(&format!("real-{n}"), real).await;
        assert_eq!(content.as_object().map(serde_json::Map::len), Some(1), "{}", real.path);
    }
}

/// No package contains a document in several files, so a document is split into three here: the schemas are in one
/// file, and a path item, which references the document, is in another.
#[tokio::test]
async fn third_party_document_in_several_files_equals_a_single_file() {
    let Some(mut entry) = parsed(PETSTORE_3) else { return };
    let shelf = Shelf::new().await;
    let schemas = entry["components"]["schemas"].take();
    let names: Vec<String> = schemas.as_object().expect("schemas").keys().cloned().collect();
    let to = |name: &String| json!({ "$ref": format!("parts/schemas.json#/components/schemas/{name}") });
    entry["components"]["schemas"] = names.iter().map(|name| (name.clone(), to(name))).collect();
    let item = entry["paths"]["/pet"].take().to_string();
    let back = item.replace("\"#/components/", "\"../petstore.json#/components/");
    assert_ne!(item, back, "it refers to the document");
    entry["paths"]["/pet"] = json!({ "$ref": "parts/pet.json" });
    let parts = PETSTORE_3.replace("petstore.json", "parts");
    let schemas = json!({ "components": { "schemas": schemas } });
    shelf.web.put(&at(PETSTORE_3), "application/json", entry.to_string());
    shelf.web.put(&at(&format!("{parts}/schemas.json")), "application/json", schemas.to_string());
    shelf.web.put(&at(&format!("{parts}/pet.json")), "application/json", back);
    let whole = DOCUMENTS.iter().find(|real| real.path == PETSTORE_3).expect("it is one of them");
    let content = shelf.shows("parts", whole).await;
    assert_eq!(content.as_object().map(serde_json::Map::len), Some(3));
    assert_eq!(content[at(PETSTORE_3)]["references"].as_array().map(Vec::len), Some(2));
    assert_eq!(content[at(&format!("{parts}/pet.json"))]["references"], json!([at(PETSTORE_3)]));
}

/// Returns the line number of a substring, from 1.
fn line_of(text: &str, part: &str) -> usize {
    1 + text[..text.find(part).expect("it is there")].matches('\n').count()
}

/// Returns a modified document, formatted on multiple lines.
fn changed(path: &str, change: impl FnOnce(&mut Value)) -> Option<String> {
    let mut value = parsed(path)?;
    change(&mut value);
    Some(serde_json::to_string_pretty(&value).expect("JSON"))
}

/// Broken third-party documents, with the expected line range and message of each.
fn broken() -> Vec<(&'static str, String, std::ops::RangeInclusive<usize>, &'static str)> {
    let mut all = Vec::new();
    if let Some(whole) = bytes(LARGE) {
        let text = String::from_utf8_lossy(&whole[..whole.len() / 2]).into_owned();
        let last = 1 + text.matches('\n').count();
        all.push((LARGE, text, last..=last, "must be valid JSON: EOF while parsing"));
    }
    if let Some(whole) = bytes(FIGMA) {
        let text = String::from_utf8_lossy(&whole).replacen("\npaths:\n", "\n paths:\n", 1);
        let line = line_of(&text, "\n paths:\n") + 1;
        all.push((FIGMA, text, line - 1..=line + 1, "must be valid YAML: "));
    }
    if let Some(text) = changed(STAR_TREK, |it| it["paths"] = json!([])) {
        let line = line_of(&text, "\n  \"paths\": []") + 1;
        all.push((STAR_TREK, text, line..=line, "/paths: must be an object, is a list"));
    }
    if let Some(text) = changed(LEGACY, |it| drop(it.as_object_mut().expect("one").remove("openapi"))) {
        all.push((LEGACY, text, 0..=0, "must be an OpenAPI specification with `openapi`"));
    }
    let target = "/paths/~1pet/post/parameters/0/schema/$ref";
    if let Some(text) = changed(PETSTORE_2, |it| {
        *it.pointer_mut(target).expect("a reference") = json!("#/definitions/Gone");
    }) {
        let line = line_of(&text, "\"#/definitions/Gone\"");
        let told = "/paths/~1pet/post/parameters/0/schema/$ref: refers to `#/definitions/Gone`, which does not exist";
        all.push((PETSTORE_2, text, line..=line, told));
    }
    all
}

#[tokio::test]
async fn errors_in_third_party_documents_have_a_location() {
    let shelf = Shelf::new().await;
    for (n, (path, text, lines, told)) in broken().into_iter().enumerate() {
        shelf.web.put(&at(path), "text/plain", text);
        let spec = shelf.publish(&format!("broken-{n}"), path).await;
        assert_eq!(spec.last_process_error_code, Some(SpecErrorCode::ParseError), "{path}");
        assert_eq!(spec.last_version, None, "{path}");
        let errors = spec.last_processed_errors.expect("errors");
        let message = errors[0].message.as_str();
        // `line 7: what`, `line 7, /pointer: what`, or a message about the whole document.
        let (line, rest) = match message.strip_prefix("line ") {
            Some(rest) => {
                let (line, rest) = rest.split_once([':', ',']).expect("a line");
                (line.parse().expect("a number"), rest.trim_start())
            }
            None => (0, message),
        };
        assert!(rest.starts_with(told), "{path}: {errors:?}");
        assert!(lines.contains(&line), "{path}: {lines:?}: {errors:?}");
    }
}
