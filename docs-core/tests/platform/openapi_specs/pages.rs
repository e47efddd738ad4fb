//! Computed pages of specifications, and the pages that replace them.

use docs_core::{
    Actor,
    model::{
        ContentFormat, ContentLocation, DocumentPage, LinkStatus, PageId, RevisionPage, SiteVisibility,
        SpaceId,
    },
    platform::ContentOptions,
};
use docs_memstore::MemGit;

use super::*;
use crate::{git::import, visitors};

pub(super) const SPEC: &str = r#"
openapi: 3.1.0
info: { title: Pets, version: '1' }
tags:
  - name: store
    description: "What {% hint %} is *sold*."
    x-page-title: The store
    x-page-icon: cart-shopping
    x-page-description: Sales
  - name: users
  - name: admins
    x-parent: users
    description: Those who may.
  - name: round
    x-parent: about
  - name: about
    parent: round
paths:
  /pets:
    get: { operationId: listPets, tags: [store], responses: {} }
    post: { tags: [store, admins], responses: {} }
  /health:
    get: { responses: {} }
webhooks:
  sold: { post: { tags: [store], responses: {} } }
components: { schemas: { Pet: { type: object }, Error: { type: object } } }
"#;

pub(super) const SUMMARY: &str = "# Table of contents

* [Welcome](README.md)
* [API](api.md)
  * ```yaml
    type: builtin:openapi
    props:
      models: true
      downloadLink: true
    dependencies:
      spec:
        ref:
          kind: openapi
          spec: pets
    ```
";

/// A page with a block of the specification.
pub(super) const API: &str = "# API

{% openapi-operation spec=\"pets\" path=\"/pets\" method=\"get\" %}
{% endopenapi-operation %}
";

/// Creates a space with a computed page of a specification that does not exist yet.
async fn space() -> (World, SpaceId) {
    space_of(API, SUMMARY).await
}

async fn space_of(api: &str, summary: &str) -> (World, SpaceId) {
    let (web, git) = (MemWeb::new(), MemGit::new());
    git.put("README.md", "# Welcome\n");
    git.put("api.md", api.to_owned());
    git.put("users.md", "# Users\n");
    git.put("SUMMARY.md", summary.to_owned());
    let w = World::build(Arc::new(MemStore::new()), |builder| {
        builder.web(Arc::new(web)).git(Arc::new(git)).spec_reader(Arc::new(OpenApiReader))
    })
    .await;
    let space = w.space().await;
    let (state, error) = import(&w, &space).await;
    assert_eq!(error, None, "{state:?}");
    (w, space)
}

/// Collects the documents of a tree in order, each with its depth.
pub(super) fn flat<'a>(pages: &'a [RevisionPage], depth: usize, out: &mut Vec<(usize, &'a DocumentPage)>) {
    for page in pages {
        let RevisionPage::Document(page) = page else { panic!("{page:?}") };
        out.push((depth, page));
        flat(&page.pages, depth + 1, out);
    }
}

async fn tree(w: &World, space: &SpaceId) -> Vec<RevisionPage> {
    w.as_admin().space(space).content().list_pages(ContentOptions::default()).await.expect("read").pages
}

async fn outline(w: &World, space: &SpaceId) -> Vec<String> {
    let pages = tree(w, space).await;
    let mut found = Vec::new();
    flat(&pages, 0, &mut found);
    found
        .iter()
        .map(|(depth, page)| format!("{}{} /{}", "  ".repeat(*depth), page.base.title, page.path))
        .collect()
}

pub(super) async fn put(w: &World, text: &str) {
    w.put_spec("pets", SpecSource::Text(text.to_owned())).await;
    w.settled().await;
}

async fn by_path(w: &World, space: &SpaceId, path: &str) -> DocumentPage {
    let page = w.as_admin().space(space).content().get_page_by_path(path, ContentOptions::default()).await;
    match page.expect("a page") {
        RevisionPage::Document(page) => *page,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn computed_page_expands_to_a_page_per_tag_in_order() {
    let (w, space) = space().await;
    assert_eq!(outline(&w, &space).await, ["Welcome /readme", "API /api"], "there is no specification yet");
    put(&w, SPEC).await;
    let expected = [
        "Welcome /readme",
        "API /api",
        "  The store /api/the-store",
        "  users /api/users",
        "    admins /api/users/admins",
        "  round /api/round",
        "  about /api/about",
        "  Default /api/default",
        "  Schemas /api/schemas",
    ];
    assert_eq!(outline(&w, &space).await, expected);
    let public = UpdateOpenApiSpec { visibility: SpecVisibility::Public };
    w.as_admin().org(&w.org).openapi_spec("pets").update(public).await.expect("public");
    assert_eq!(outline(&w, &space).await.last().map(String::as_str), Some("  Download /api/download"));
    // Without computed pages, the page that computes them is returned.
    let content = w.as_admin().space(&space).content();
    let written = content
        .list_pages(ContentOptions { computed: false, ..ContentOptions::default() })
        .await
        .expect("read");
    let RevisionPage::Document(api) = &written.pages[1] else { panic!("a document") };
    assert!(matches!(&api.pages[..], [RevisionPage::Computed(_)]), "{:?}", api.pages);
    let revision = content.get(ContentOptions::default()).await.expect("read");
    assert_eq!(revision.pages, tree(&w, &space).await, "the revision has the same pages");
    let RevisionPage::Document(api) =
        content.get_page(&api.base.id, ContentOptions::default()).await.expect("read")
    else {
        panic!("a document")
    };
    assert_eq!(api.pages.len(), 7, "and so have the pages below a page");
}

#[tokio::test]
async fn tag_page_has_description_and_operations_of_the_tag() {
    let (w, space) = space().await;
    put(&w, SPEC).await;
    let store = by_path(&w, &space, "API/The-Store").await;
    assert_eq!(
        (store.description.as_deref(), store.base.icon.as_ref().map(|it| it.as_str())),
        (Some("Sales"), Some("cart-shopping"))
    );
    assert_eq!(store.document_id, None);
    let computed = store.computed.expect("what it is computed from");
    assert_eq!(computed["type"], "builtin:openapi");
    assert_eq!(computed["props"], json!({ "doc": "operations", "page": "store" }));
    assert_eq!(computed["dependencies"]["spec"]["ref"], json!({ "kind": "openapi", "spec": "pets" }));
    let spec = w.spec("pets").await;
    assert_eq!(computed["dependencies"]["spec"]["value"]["lastVersion"], json!(spec.last_version));
    assert!(store.computed_seed.is_some());
    let markdown = store.markdown.expect("a text");
    assert!(markdown.starts_with("What \\{% hint %} is *sold*.\n"), "{markdown}");
    assert_eq!(markdown.matches("{% openapi-operation ").count(), 2, "{markdown}");
    assert_eq!(markdown.matches("{% openapi-webhook ").count(), 1, "{markdown}");
    // The same content as a tree, by id, and as a document.
    let content = w.as_admin().space(&space).content();
    let as_document = ContentOptions { format: ContentFormat::Document, ..ContentOptions::default() };
    let RevisionPage::Document(page) = content.get_page(&store.base.id, as_document).await.expect("read")
    else {
        panic!("a document")
    };
    let document = page.document.expect("a document");
    let kinds: Vec<Value> = document
        .nodes
        .iter()
        .map(|block| serde_json::to_value(block).expect("JSON")["type"].clone())
        .collect();
    assert_eq!(kinds, ["paragraph", "openapi-operation", "openapi-operation", "openapi-webhook"]);
    let evaluated = docs_core::content::Evaluated::No;
    assert_eq!(content.get_page_document(&store.base.id, evaluated.into()).await.expect("read"), document);
    // A page without text lists its children.
    let users = by_path(&w, &space, "api/users").await;
    let admins = by_path(&w, &space, "api/users/admins").await;
    assert_eq!(users.markdown, Some(format!("* [admins](/pages/{})\n", admins.base.id)));
    let schemas = by_path(&w, &space, "api/schemas").await.markdown.expect("a text");
    assert!(schemas.contains("schemas=\"Pet,Error\""), "{schemas}");
    let missing = ContentOptions { computed: false, ..ContentOptions::default() };
    content.get_page(&store.base.id, missing).await.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn ids_stay_when_the_specification_changes() {
    let (w, space) = space().await;
    put(&w, SPEC).await;
    let ids = async || -> Vec<(String, PageId)> {
        let pages = tree(&w, &space).await;
        let mut found = Vec::new();
        flat(&pages, 0, &mut found);
        found.iter().map(|(_, page)| (page.base.title.clone(), page.base.id.clone())).collect()
    };
    let before = ids().await;
    put(
        &w,
        &SPEC
            .replace("    description: Those who may.\n", "")
            .replace("x-page-title: The store", "x-page-title: Shop"),
    )
    .await;
    let after = ids().await;
    assert_eq!(before[2].1, after[2].1, "the page of a tag is the same under another title");
    assert_eq!((before[2].0.as_str(), after[2].0.as_str()), ("The store", "Shop"));
    assert_eq!(before[3..], after[3..]);
}

#[tokio::test]
async fn sibling_specification_pages_have_unique_paths() {
    let item = SUMMARY.split_once("  * ").expect("an item").1;
    let summary = format!("{SUMMARY}  * [Users](users.md)\n  * {item}");
    let (w, space) = space_of(API, &summary).await;
    put(&w, SPEC).await;
    let shown = outline(&w, &space).await;
    let of = |title: &str| -> Vec<&str> {
        let found = shown.iter().filter(|line| line.trim().starts_with(title));
        found.filter_map(|line| line.rsplit_once(' ')).map(|(_, path)| path).collect()
    };
    assert_eq!(of("The store"), ["/api/the-store", "/api/the-store-2"]);
    assert_eq!(of("admins"), ["/api/users-2/admins", "/api/users-3/admins"], "{shown:#?}");
    for path in shown.iter().filter_map(|line| line.rsplit_once(" /")).map(|(_, path)| path) {
        assert_eq!(by_path(&w, &space, path).await.path, path);
    }
    let api = by_path(&w, &space, "api").await;
    let mut below = Vec::new();
    flat(&api.pages, 1, &mut below);
    let below: Vec<_> = below
        .iter()
        .map(|(depth, page)| format!("{}{} /{}", "  ".repeat(*depth), page.base.title, page.path))
        .collect();
    assert_eq!(below, shown[2..]);
}

/// Publishes a space on a public site. Returns a visitor of the site.
async fn visitor_of(w: &World, space: &SpaceId) -> Actor {
    let docs = visitors::site(w, "Docs").await;
    visitors::place(w, &docs, space).await;
    visitors::show(w, &docs, SiteVisibility::Public).await;
    let url = visitors::address(w, &docs).await;
    visitors::enter(w, &url, json!({})).await.expect("open").1
}

#[tokio::test]
async fn no_computed_pages_under_pages_hidden_from_a_visitor() {
    let (w, space) = space_of(&format!("---\nif: visitor.claims.beta\n---\n\n{API}"), SUMMARY).await;
    put(&w, SPEC).await;
    let visitor = visitor_of(&w, &space).await;
    let as_visitor = w.platform.as_actor(&visitor);
    let content = as_visitor.space(&space).content();
    let pages = content.list_pages(ContentOptions::default()).await.expect("read").pages;
    let [RevisionPage::Document(only)] = &pages[..] else { panic!("{pages:?}") };
    assert_eq!(only.base.title, "Welcome");
    assert_eq!(content.get(ContentOptions::default()).await.expect("read").pages, pages);
    let store = by_path(&w, &space, "api/the-store").await.base.id;
    content.get_page(&store, ContentOptions::default()).await.refused(ErrorKind::NotFound);
    let evaluated = docs_core::content::Evaluated::No;
    content.get_page_document(&store, evaluated.into()).await.refused(ErrorKind::NotFound);
    content.get_page_by_path("api/the-store", ContentOptions::default()).await.refused(ErrorKind::NotFound);
    // Visitors cannot read the specification itself, even if pages are computed from it.
    as_visitor.org(&w.org).openapi_spec("pets").get().await.refused(ErrorKind::NotFound);
    as_visitor.org(&w.org).openapi_specs().list(&PageRequest::default()).await.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn visitors_see_computed_pages_by_visibility_and_site() {
    let (w, space) = space().await;
    put(&w, SPEC).await;
    let visitor = visitor_of(&w, &space).await;
    let content = w.platform.as_actor(&visitor).space(&space).content();
    let store = by_path(&w, &space, "api/the-store").await.base.id;
    let shown = ContentOptions::default();
    let check = async |is_shown: bool| {
        let pages = content.list_pages(shown).await.expect("read").pages;
        assert_eq!(format!("{pages:?}").contains("The store"), is_shown);
        assert_eq!(content.get(shown).await.expect("read").pages, pages);
        let json = content.list_pages_json(shown).await.expect("read");
        assert_eq!(String::from_utf8_lossy(json.json()).contains("The store"), is_shown);
        assert_eq!(content.get_page(&store, shown).await.is_ok(), is_shown);
        assert_eq!(content.get_page_by_path("api/the-store", shown).await.is_ok(), is_shown);
        content.computed_tag().await.expect("a tag")
    };
    let hidden = check(false).await;
    let set = async |visibility| {
        let pets = w.as_admin().org(&w.org).openapi_spec("pets");
        pets.update(UpdateOpenApiSpec { visibility }).await.expect("updated");
    };
    set(SpecVisibility::Public).await;
    let public = check(true).await;
    assert_ne!(public, hidden);
    set(SpecVisibility::Private).await;
    assert_eq!(check(false).await, hidden);
}

#[tokio::test]
async fn computed_tag_changes_with_the_specification() {
    let (w, space) = space().await;
    let tag =
        async || w.as_admin().space(&space).content().computed_tag().await.expect("told").expect("a tag");
    let mut known = vec![tag().await];
    put(&w, SPEC).await;
    known.push(tag().await);
    put(&w, &SPEC.replace("title: Pets", "title: Dogs")).await;
    known.push(tag().await);
    let public = UpdateOpenApiSpec { visibility: SpecVisibility::Public };
    w.as_admin().org(&w.org).openapi_spec("pets").update(public).await.expect("public");
    known.push(tag().await);
    assert_eq!(tag().await, known[3], "as long as nothing changes");
    for (at, one) in known.iter().enumerate() {
        assert!(!known[..at].contains(one), "{at}");
    }
    let plain = w.space().await;
    assert_eq!(w.as_admin().space(&plain).content().computed_tag().await.expect("told"), None);
}

#[tokio::test]
async fn block_of_a_missing_specification_is_a_broken_link() {
    let (w, space) = space().await;
    let status = async |status| {
        let links = w.as_admin().space(&space).list_links(Some(status), &PageRequest::default()).await;
        links.expect("listed").items
    };
    assert_eq!(status(LinkStatus::Broken).await.len(), 2, "the block, and the computed page");
    put(&w, SPEC).await;
    let links = status(LinkStatus::Ok).await;
    assert_eq!(links.len(), 2);
    match links[0].target_reference.as_ref().expect("a target") {
        ContentLocation::OpenApi { open_api_spec, .. } => assert_eq!(open_api_spec.slug.as_str(), "pets"),
        other => panic!("{other:?}"),
    }
    w.as_admin().org(&w.org).openapi_spec("pets").delete().await.expect("deleted");
    assert_eq!(status(LinkStatus::Broken).await.len(), 2);
    assert_eq!(outline(&w, &space).await, ["Welcome /readme", "API /api"]);
}

/// The overview page of [`described_spec`].
const OVERVIEW: &str = "Pets `1`

All about \\{% hint %} *pets*.

* [Contact\\: The \\<team\\>](<https://pets.test/team>)
* [team\\@pets\\.test](<mailto:team@pets.test>)
* License\\: MIT
* Terms of service
* [The \\*guide\\*](<https://guide.test/>)

## Servers

* `https://{region}.pets.test`

## Authentication

### login

The *login*

* type: `oauth2`
* implicit authorizationUrl: <https://login.test/>
* scope `read` Reads \\[all\\]

### key

* type: `apiKey`
* in: `header`
* name: `X-Key`
";

/// Returns a specification with a description, schemes and groups of tags.
fn described_spec() -> String {
    let more = "x-tagGroups:
  - { name: Sales, tags: [store, none] }
  - { name: People, tags: [users, store, admins] }
  - { name: Empty, tags: [none] }
externalDocs: { url: 'https://guide.test/', description: 'The *guide*' }
servers: [{ url: 'https://{region}.pets.test' }]
";
    let info = "info:
  title: Pets
  version: '1'
  description: \"All about {% hint %} *pets*.\"
  contact: { name: 'The <team>', email: team@pets.test, url: 'https://pets.test/team' }
  license: { name: MIT }
  termsOfService: 'javascript:alert(1)'";
    let schemes = "components:
  securitySchemes:
    login:
      type: oauth2
      description: \"The *login*\"
      flows: { implicit: { authorizationUrl: 'https://login.test/', scopes: { read: 'Reads [all]' } } }
    key: { type: apiKey, in: header, name: X-Key }
  schemas: { Pet: { type: object }, Error: { type: object } }
";
    let spec = SPEC.replace("info: { title: Pets, version: '1' }", info);
    let spec = spec
        .replace("components: { schemas: { Pet: { type: object }, Error: { type: object } } }\n", schemes);
    let spec =
        spec.replace("name: store\n", "name: store\n    externalDocs: { url: 'https://guide.test/store' }\n");
    spec + more
}

#[tokio::test]
async fn overview_page_describes_the_whole_specification() {
    let summary = SUMMARY.replace("models: true", "overview: true\n      tagGroups: true");
    let (w, space) = space_of(API, &summary).await;
    put(&w, &described_spec()).await;
    let expected = [
        "Welcome /readme",
        "API /api",
        "  Overview /api/overview",
        "  Sales /api/sales",
        "    The store /api/sales/the-store",
        "  People /api/people",
        "    users /api/people/users",
        "      admins /api/people/users/admins",
        "  round /api/round",
        "  about /api/about",
        "  Default /api/default",
    ];
    assert_eq!(outline(&w, &space).await, expected);
    let overview = by_path(&w, &space, "api/overview").await;
    assert_eq!(overview.computed.expect("computed")["props"], json!({ "doc": "info", "page": "overview" }));
    assert_eq!(overview.markdown.as_deref(), Some(OVERVIEW));
    let group = by_path(&w, &space, "api/people").await;
    let users = by_path(&w, &space, "api/people/users").await;
    assert_eq!(group.markdown, Some(format!("* [users](/pages/{})\n", users.base.id)));
    let store = by_path(&w, &space, "api/sales/the-store").await.markdown.expect("a text");
    let docs = "\n[https\\:\\/\\/guide\\.test\\/store](<https://guide.test/store>)\n";
    assert!(store.contains(docs), "{store}");
    // Without the properties, the pages stay where they were.
    let (w, space) = self::space().await;
    put(&w, SPEC).await;
    assert!(outline(&w, &space).await.contains(&"  The store /api/the-store".to_owned()));
}
