//! Pages computed from OpenAPI specifications.

use docs_core::{
    ErrorKind,
    model::{
        ImportGitRepository, PublishedUrl, ResolveUrl, ResolvedUrl, SpaceId, SpecVisibility,
        UpdateOpenApiSpec,
    },
    platform::SpecSubject,
};
use poem::{
    endpoint::BoxEndpoint,
    http::{Method, StatusCode},
};
use serde_json::json;

use crate::world::{BASE, World};

const SUMMARY: &str = "# Table of contents

* [Welcome](README.md)
* ```yaml
  type: builtin:openapi
  props:
    models: true
  dependencies:
    spec:
      ref:
        kind: openapi
        spec: pets
  ```
";

impl World {
    async fn import(&self, space: &SpaceId) {
        let from: ImportGitRepository =
            serde_json::from_value(json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" }))
                .expect("a repository");
        self.me().space(space).import_git(from).await.expect("enqueued");
        self.platform.settle().await.expect("settled");
    }

    /// Adds a specification with these tags, each with one operation.
    async fn spec(&self, tags: &[&str]) {
        let paths: serde_json::Map<_, _> = tags
            .iter()
            .map(|tag| (format!("/{tag}"), json!({ "get": { "tags": [tag], "responses": {} } })))
            .collect();
        let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": paths });
        self.public_spec("pets", spec.to_string()).await;
        self.platform.settle().await.expect("settled");
    }
}

#[tokio::test]
async fn specification_pages_follow_the_current_specification() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.git.put("README.md", "# Welcome\n\nHello.\n");
    w.git.put("SUMMARY.md", SUMMARY);
    w.import(&space).await;
    let (_, site) = w.site("Docs", &space).await;
    assert!(!w.html(&site).await.contains("Schemas"));
    assert_eq!(w.get(&format!("{site}cats")).await.status, StatusCode::NOT_FOUND);
    w.spec(&["cats"]).await;
    for _ in 0..2 {
        assert!(w.html(&site).await.contains(&format!("href=\"{site}cats\"")));
        let cats = w.html(&format!("{site}cats")).await;
        assert!(cats.contains(">GET</span> <code>/cats</code>"), "{cats}");
    }
    assert!(w.get(&format!("{site}cats.md")).await.body.contains("path=\"/cats\""));
    assert!(w.get(&format!("{site}llms.txt")).await.body.contains("cats"));
    w.spec(&["cats", "dogs"]).await;
    assert!(w.html(&site).await.contains(&format!("href=\"{site}dogs\"")), "nothing older is shown");
    assert!(w.html(&format!("{site}dogs")).await.contains(">GET</span> <code>/dogs</code>"));
    w.me().org(&w.org).openapi_spec("pets").delete().await.expect("deleted");
    assert_eq!(w.get(&format!("{site}cats")).await.status, StatusCode::NOT_FOUND);
    assert!(!w.html(&site).await.contains("cats"));
}

/// Creates a page `Again` that only contains reusable content.
async fn page_that_reuses(w: &World, space: &SpaceId, markdown: &str) {
    let reusable = json!({ "operation": "insert_reusable_content", "title": "Again",
        "document": { "markdown": markdown } });
    w.edit(space, json!([reusable])).await;
    let content = w.me().space(space);
    let content = content.content().get(Default::default()).await.expect("content");
    let id = &content.reusable_contents[0].id;
    w.page(space, "Again", &format!("{{% include \"/reusable-content/{id}\" %}}")).await;
}

#[tokio::test]
async fn operations_show_current_requests_and_examples() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    let bad = "<script>alert(1)</script> {% include \"/reusable-content/x\" %} [x](javascript:alert(1))";
    let spec = |required: bool| {
        let pet = json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "example": "O'Neil </code><img src=x onerror=alert(1)>", "description": bad },
            "tags": { "type": "array", "items": { "type": "string", "enum": ["small", bad] } } } });
        let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" },
            "servers": [{ "url": "https://api.test/v1/" }],
            "paths": { "/pets": { "post": { "summary": format!("Adds {bad}"), "description": format!("*Adds*. {bad}"),
                "deprecated": true, "security": [{ "key": [] }],
                "parameters": [{ "name": "dry", "in": "query", "required": required,
                    "schema": { "type": "boolean" }, "example": bad }],
                "requestBody": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Pet" } } } },
                "responses": { "201": { "description": "It is there", "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/Pet" } } } } } } } },
            "components": { "schemas": { "Pet": pet } } });
        spec.to_string()
    };
    w.public_spec("pets", spec(false)).await;
    w.platform.settle().await.expect("settled");
    let block = "{% openapi-operation spec=\"pets\" path=\"/pets\" method=\"post\" %}\n[pets](https://api.test/pets)\n{% endopenapi-operation %}";
    let schemas = "{% openapi-schemas spec=\"pets\" schemas=\"Pet,None\" %}\n[pets](https://api.test/pets)\n{% endopenapi-schemas %}";
    w.page(&space, "Pets", &format!("{block}\n\n{schemas}")).await;
    page_that_reuses(&w, &space, block).await;
    let (_, site) = w.site("Docs", &space).await;
    for page in ["pets", "again"] {
        let shown = w.html(&format!("{site}{page}")).await;
        for part in [
            "<span class=\"method post\">POST</span> <code>/pets</code>",
            "<em>Adds</em>",
            "deprecated",
            "Authorization: key",
            "<code>dry</code>",
            "curl",
            "&#39;https://api.test/v1/pets",
            "<summary><code class=\"status s2\">201</code>",
            "It is there",
            "array of string",
            "<code>small</code>",
        ] {
            assert!(shown.replace("'", "&#39;").contains(part), "{page} lacks {part}:\n{shown}");
        }
        crate::table::harmless(&shown, page);
    }
    let schema = "<details class=\"expandable api\" id=\"schema/Pet\"><summary><code>Pet</code></summary>";
    assert!(w.html(&format!("{site}pets")).await.contains(schema));
    assert!(!w.html(&format!("{site}pets")).await.contains("?dry="));
    w.public_spec("pets", spec(true)).await;
    w.platform.settle().await.expect("settled");
    assert!(w.html(&format!("{site}pets")).await.contains("?dry="), "nothing older is shown");
}

#[tokio::test]
async fn visitors_read_only_the_specification_parts_their_pages_show() {
    let w = World::new().await;
    let (space, other) = (w.space("Guide").await, w.space("Internal").await);
    w.spec(&["cats", "dogs"]).await;
    let block = |tag: &str| {
        format!(
            "{{% openapi-operation spec=\"pets\" path=\"/{tag}\" method=\"get\" %}}\n[pets](https://api.test/pets)\n{{% endopenapi-operation %}}"
        )
    };
    w.page(&space, "First", "Start.").await;
    let shown = w
        .page(
            &space,
            "Cats",
            &format!("{}\n\n{{% if false %}}\n{}\n{{% endif %}}", block("cats"), block("dogs")),
        )
        .await;
    let elsewhere = w.page(&other, "Dogs", &block("dogs")).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&format!("{site}cats")).await;
    assert!(page.contains("<code>/cats</code>") && !page.contains("/dogs"), "{page}");
    let url = PublishedUrl::new(format!("{BASE}{site}")).expect("an address");
    let ask = ResolveUrl { url, redirect_on_error: None, visitor: None };
    let ResolvedUrl::Content(found) = w.platform.resolve_url(&ask).await.expect("found") else {
        panic!("the site is somewhere else")
    };
    let visitor = w.platform.authenticate(&found.api_token).await.expect("a visitor");
    let read = w.platform.as_actor(&visitor);
    let specs = read.space(&space).content().get_page_specs(&shown).await.expect("specifications");
    let cats = SpecSubject::Operation { method: "get".to_owned(), path: "/cats".to_owned() };
    assert_eq!(specs.iter().map(|shown| &shown.subject).collect::<Vec<_>>(), [&cats]);
    // On a site for everybody, a private specification is not shown at all.
    let set = async |visibility| {
        let pets = w.me().org(&w.org).openapi_spec("pets");
        pets.update(UpdateOpenApiSpec { visibility }).await.expect("updated");
    };
    set(SpecVisibility::Private).await;
    assert!(!w.html(&format!("{site}cats")).await.contains("<code>/cats</code>"));
    let specs = read.space(&space).content().get_page_specs(&shown).await.expect("specifications");
    assert!(specs.is_empty());
    let of_member = w.me().space(&space).content().get_page_specs(&shown).await.expect("specifications");
    assert_eq!(of_member.len(), 1);
    set(SpecVisibility::Public).await;
    assert_eq!(w.html(&format!("{site}cats")).await, page);
    for (space, page) in [(&other, &elsewhere), (&space, &elsewhere)] {
        let refused = read.space(space).content().get_page_specs(page).await.expect_err("nothing");
        assert_eq!(refused.kind(), ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn operation_blocks_are_not_nested_and_limited_to_500() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let block = |path: &str| {
        format!(
            "{{% openapi-operation spec=\"pets\" path=\"{path}\" method=\"get\" %}}\n[pets](https://api.test/pets)\n{{% endopenapi-operation %}}"
        )
    };
    let twice = format!("Said.\n\n{0}\n\n> {0}\n\n{0}", block("/cats"));
    let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" },
        "paths": { "/cats": { "get": { "description": twice, "responses": {} } } } });
    w.public_spec("pets", spec.to_string()).await;
    w.platform.settle().await.expect("settled");
    w.page(&space, "Cats", &block("/cats")).await;
    // More operations than a page shows, each of them small.
    w.page(&space, "Many", &vec![block("/cats"); 600].join("\n\n")).await;
    let (_, site) = w.site("Docs", &space).await;
    let shown = w.html(&site).await;
    assert!(shown.contains("Said."));
    assert_eq!(shown.matches("<section class=\"api\"").count(), 1, "{shown}");
    let many = w.html(&format!("{site}many")).await;
    assert_eq!(many.matches("<section class=\"api\"").count(), 500);
}

#[tokio::test]
async fn cached_page_shows_a_specification_added_later() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let block = "{% openapi-operation spec=\"pets\" path=\"/cats\" method=\"get\" %}\n[pets](https://api.test/pets)\n{% endopenapi-operation %}";
    w.page(&space, "First", block).await;
    page_that_reuses(&w, &space, block).await;
    let (_, site) = w.site("Docs", &space).await;
    let pages = [site.clone(), format!("{site}again")];
    for page in &pages {
        assert!(!w.html(page).await.contains("curl"));
    }
    w.spec(&["dogs"]).await;
    for page in &pages {
        assert!(!w.html(page).await.contains("curl"));
    }
    w.spec(&["dogs", "cats"]).await;
    for page in &pages {
        assert!(w.html(page).await.contains("curl"), "{page}");
    }
}

/// Returns a block that shows an operation of the specification `pets`.
pub(crate) fn operation(path: &str) -> String {
    format!(
        "{{% openapi-operation spec=\"pets\" path=\"{path}\" method=\"get\" %}}\n[pets](https://api.test/pets)\n{{% endopenapi-operation %}}\n\n"
    )
}

/// Returns the number of transactions of a request, and the page.
async fn transactions_of(
    w: &World,
    server: &BoxEndpoint<'static>,
    path: &str,
    headers: &[(&str, &str)],
) -> (u64, String) {
    let before = w.begun();
    let got = World::ask_of(server, Method::GET, path, headers).await;
    assert_eq!(got.status, StatusCode::OK, "{path}: {got:?}");
    (w.begun() - before, got.body)
}

#[tokio::test]
async fn specification_pages_are_cached_until_it_changes() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    w.page(&space, "Pets", &operation("/cats")).await;
    page_that_reuses(&w, &space, &operation("/cats")).await;
    let (_, site) = w.site("Docs", &space).await;
    let server = w.server();
    // With a query, an anonymous request is not answered without a lookup.
    let plain = format!("{site}first?a=b");
    transactions_of(&w, &server, &plain, &[]).await;
    let (least, _) = transactions_of(&w, &server, &plain, &[]).await;
    for tags in [&["dogs"][..], &["dogs", "cats"], &["dogs"]] {
        w.spec(tags).await;
        let shows = tags.contains(&"cats");
        for page in ["pets", "again"] {
            let (address, asked) = (format!("{site}{page}"), format!("{site}{page}?a=b"));
            let (_, first) = transactions_of(&w, &server, &address, &[]).await;
            assert_eq!(first.contains("curl"), shows, "{page} with {tags:?}: nothing older is shown");
            let (count, again) = transactions_of(&w, &server, &address, &[]).await;
            assert_eq!((count, again == first), (0, true), "{page} is cached for anonymous visitors");
            let (count, again) = transactions_of(&w, &server, &asked, &[]).await;
            assert!(
                count <= least + 2 && again == first,
                "{page}: {count} transactions, {least} for a plain page"
            );
        }
    }
}

#[tokio::test]
async fn pages_linking_to_computed_pages_are_cached_until_a_change() {
    let w = World::new().await;
    let (space, other) = (w.space("Guide").await, w.space("Reference").await);
    w.git.put("README.md", "# Welcome\n\nHello.\n");
    w.git.put("SUMMARY.md", SUMMARY);
    w.import(&other).await;
    w.spec(&["cats"]).await;
    let pages = w.me().space(&other);
    let pages = pages.content().get(Default::default()).await.expect("content").pages;
    let computed = pages.iter().map(|page| serde_json::to_value(page).expect("JSON"));
    let cats = computed.into_iter().find(|page| page["title"] == "cats").expect("a page");
    let link = format!("[Cats](/spaces/{other}/pages/{})", cats["id"].as_str().expect("an id"));
    w.page(&space, "First", &link).await;
    let (id, site) = w.site("Docs", &space).await;
    w.place(&id, &other).await;
    let server = w.server();
    let (_, first) = transactions_of(&w, &server, &site, &[]).await;
    assert!(first.contains(&format!("href=\"{site}reference/cats\"")), "{first}");
    let (count, again) = transactions_of(&w, &server, &site, &[]).await;
    assert_eq!((count, again == first), (0, true), "the page is cached");
    w.spec(&["dogs"]).await;
    let (_, now) = transactions_of(&w, &server, &site, &[]).await;
    assert!(!now.contains("reference/cats\""), "{now}");
    w.spec(&["cats"]).await;
    let (_, now) = transactions_of(&w, &server, &site, &[]).await;
    assert!(now.contains("reference/cats\""), "{now}");
}

#[tokio::test]
async fn concurrent_requests_share_one_rendering() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", &["/cats", "/dogs"].map(operation).concat()).await;
    w.spec(&["cats", "dogs"]).await;
    let (_, site) = w.site("Docs", &space).await;
    let (alone, first) = transactions_of(&w, &w.server(), &site, &[]).await;
    let server = w.server();
    let before = w.begun();
    let requests = (0..20).map(|_| World::ask_of(&server, Method::GET, &site, &[]));
    for got in futures_util::future::join_all(requests).await {
        assert!(got.body == first);
    }
    let together = w.begun() - before;
    assert!(together < 20 * alone / 2, "{together} transactions for 20 requests, {alone} for one");
}

#[tokio::test]
async fn descriptions_beyond_the_bound_of_a_page_are_plain_text() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let parameter = |number: usize| {
        json!({ "name": format!("p{number}"), "in": "query", "schema": { "type": "string" },
            "description": format!("*{number}* {}", "a b, ".repeat(3_900)) })
    };
    let operation_of = |number: usize| {
        let parameters: Vec<_> = (12 * number..12 * (number + 1)).map(parameter).collect();
        (format!("/p{number}"), json!({ "get": { "parameters": parameters, "responses": {} } }))
    };
    let paths: serde_json::Map<_, _> = (0..5).map(operation_of).collect();
    let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": paths });
    w.public_spec("pets", spec.to_string()).await;
    w.platform.settle().await.expect("settled");
    w.page(&space, "Cats", &(0..5).map(|number| operation(&format!("/p{number}"))).collect::<String>()).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    let (parsed, plain) = (page.matches("<em>").count(), page.matches("<p>*").count());
    assert!(parsed > 0 && plain > 0 && parsed + plain == 60, "{parsed} parsed, {plain} as text");
    let numbers = |before: &str| -> Vec<usize> {
        let found = page.split(before).skip(1).map(|rest| rest.split(['<', '*']).next().unwrap_or_default());
        found.map(|number| number.parse().expect("a number")).collect()
    };
    let (parsed, plain) = (numbers("<em>"), numbers("<p>*"));
    assert_eq!([parsed, plain].concat(), (0..60).collect::<Vec<_>>(), "the first descriptions are parsed");
}

#[tokio::test]
async fn operations_are_listed_in_the_sidebar_and_the_outline() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(
        &space,
        "First",
        &[operation("/cats"), operation("/dogs"), operation("/none"), operation("/cats")].concat(),
    )
    .await;
    w.page(&space, "Second", "Nothing.").await;
    w.spec(&["cats", "dogs"]).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    let link = |path: &str| {
        format!("<a href=\"#get{path}\" dir=\"auto\"><span class=\"method get\">GET</span> {path}</a>")
    };
    for path in ["/cats", "/dogs"] {
        assert_eq!(page.matches(&link(path)).count(), 2, "{path} is in the sidebar and the outline:\n{page}");
        assert_eq!(page.matches(&format!("id=\"get{path}\"")).count(), 1, "{path} has one place");
    }
    assert!(page.contains("<ul class=\"operations\">") && page.contains("<nav class=\"outline\""));
    assert!(!page.contains("#get/none"));
    let second = w.html(&format!("{site}second")).await;
    assert!(!second.contains("class=\"operations\""), "only the current page lists its operations");
}

#[tokio::test]
async fn operations_beyond_the_bytes_of_a_page_are_named() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let examples: serde_json::Map<_, _> =
        (0..10).map(|at| (format!("e{at}"), json!({ "value": vec![1_234_567; 800] }))).collect();
    let content = json!({ "application/json": { "examples": examples } });
    let get = json!({ "get": { "summary": "Reads", "responses": { "200": { "content": content } } } });
    let paths: serde_json::Map<_, _> = (0..40).map(|at| (format!("/p{at}"), get.clone())).collect();
    let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": paths });
    w.public_spec("pets", spec.to_string()).await;
    w.platform.settle().await.expect("settled");
    w.page(&space, "Many", &(0..40).map(|at| operation(&format!("/p{at}"))).collect::<String>()).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    let (shown, named) =
        (page.matches("<section class=\"api\"").count(), page.matches("card-link operation").count());
    assert!(shown > 0 && named > 0 && shown + named == 40, "{shown} shown, {named} named");
    assert_eq!(page.matches("exceed the size limit").count(), 1);
    assert!(
        (0..40).all(|at| page.contains(&format!("id=\"get/p{at}\""))),
        "the outline leads to all of them"
    );
    assert!(page.len() < 10 << 20, "{} bytes", page.len());
}

#[tokio::test]
async fn deprecated_operations_are_marked_and_samples_can_be_off() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let get = json!({ "get": { "summary": "Reads", "deprecated": true, "x-codeSamples": false } });
    let spec =
        json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": { "/cats": get } });
    w.public_spec("pets", spec.to_string()).await;
    w.platform.settle().await.expect("settled");
    w.page(&space, "First", &operation("/cats")).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    let link = "<a href=\"#get/cats\" dir=\"auto\" class=\"deprecated\">";
    assert_eq!(
        page.matches(link).count(),
        2,
        "the only operation is in the sidebar and the outline:\n{page}"
    );
    assert!(page.contains("<strong>Reads</strong>") && !page.contains(">curl</label>"), "{page}");
}

#[tokio::test]
async fn webhooks_are_marked_and_have_given_samples() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let samples = json!([{ "lang": "Ruby", "source": "def receive" }]);
    let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": {},
        "webhooks": { "sold": { "post": { "summary": "Sold", "x-codeSamples": samples } } } });
    w.public_spec("pets", spec.to_string()).await;
    w.platform.settle().await.expect("settled");
    let block = "{% openapi-webhook spec=\"pets\" name=\"sold\" method=\"post\" %}\n[pets](https://api.test/pets)\n{% endopenapi-webhook %}";
    w.page(&space, "First", block).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    assert!(page.contains("<code>sold</code> <span class=\"tag\">Webhook</span>"), "{page}");
    let entry = "<a href=\"#webhook/post/sold\" dir=\"auto\"><span class=\"method post\">POST</span> Sold \
                 <span class=\"tag\">Webhook</span></a>";
    assert!(page.contains(entry), "the sidebar marks the webhook:\n{page}");
    assert!(page.contains(">Ruby</label>") && !page.contains(">curl</label>"), "{page}");
}
