//! Payloads in a real browser, in all inputs other than the text of pages: settings, URLs, live search, descriptions,
//! titles of spaces, sections, groups and variants, redirects, specifications, and previews.

use docs_core::{
    model::{CreateChangeRequest, PageId, SectionGroupId, SectionId, SiteId, SpaceId, UpdateContent},
    platform::{NewToken, SiteSpaceFilter},
    store::PageRequest,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use crate::{
    chromium::Browser,
    table::{look_of, payloads, short},
    world::World,
};

/// The number of payloads that share a search word. A single query for all of them would be too long.
const ASKED: usize = 7;
/// The number of payloads per page, each in a separate position.
const BESIDE: usize = 20;

/// Returns the payloads to test on separate pages: a selection that covers all endings and bodies, or all if
/// `DOCS_TEST_ALL_PAYLOADS` is set.
fn alone() -> Vec<String> {
    let step = if std::env::var_os("DOCS_TEST_ALL_PAYLOADS").is_some() { 1 } else { 7 };
    payloads().into_iter().step_by(step).collect()
}

/// Opens a URL and checks that no script ran and that there was no violation of the content security policy.
async fn opens(browser: &mut Browser, url: &str, payload: &str) {
    browser.open(url).await;
    assert_eq!(browser.complaints(), Vec::<String>::new(), "{payload} at {url}");
}

/// Returns the search word of a batch of payloads.
fn word(batch: usize) -> String {
    format!("batch{batch:02}q")
}

/// Creates a space with a payload as its title, and pages with all payloads as titles and descriptions.
async fn space_of_payloads(w: &World) -> (SpaceId, PageId) {
    let space = w.space(&short(&payloads()[0], 50)).await;
    let first = w.page(&space, "First", "Start.").await;
    for (batch, some) in payloads().chunks(ASKED).enumerate() {
        let pages = some.iter().map(|payload| {
            let markdown = format!("An alert of {}: {payload}", word(batch));
            json!({ "operation": "insert_page", "title": short(payload, 100), "description": short(payload, 200),
                "document": { "markdown": markdown } })
        });
        w.edit(&space, pages.collect()).await;
    }
    (space, first)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_of_settings_runs_in_a_browser() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    let (site, path) = w.site("Docs", &space).await;
    let base = format!("{}{path}", w.serve().await);
    browser.open(&base).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    for payload in alone() {
        w.look(&site, look_of(&payload)).await;
        opens(&mut browser, &base, &payload).await;
        let shown = "document.querySelector('.announcement').textContent";
        let shown = browser.eval(shown).await;
        let said = short(&payload, 120);
        assert!(shown.as_str().is_some_and(|shown| shown.contains(&said)), "{payload} is a text: {shown}");
    }
    browser.end().await;
}

/// Types a query into the search field and returns the titles of the results shown by the script.
async fn types(browser: &mut Browser, text: &str) -> String {
    let types = format!(
        "{{ const input = document.querySelector('.find input'); input.value = {}; \
         input.dispatchEvent(new Event('input')); }}",
        json!(text)
    );
    browser.eval(&types).await;
    browser.until("document.querySelectorAll('.found a').length > 0").await;
    let titles = "[...document.querySelectorAll('.found a b')].map((it) => it.textContent).join('\\n')";
    browser.eval(titles).await.as_str().expect("a text").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_of_urls_or_searches_runs_in_a_browser() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let (space, _) = space_of_payloads(&w).await;
    let (_, path) = w.site("Docs", &space).await;
    w.platform.settle().await.expect("settled");
    let base = format!("{}{path}", w.serve().await);
    browser.open(&base).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    for (batch, some) in payloads().chunks(ASKED).enumerate() {
        let all = some.join(" ");
        let asked = utf8_percent_encode(&all, NON_ALPHANUMERIC);
        for at in [format!("{asked}"), format!("~site/search?q={asked}"), format!("first?x={asked}")] {
            opens(&mut browser, &format!("{base}{at}"), &all).await;
        }
        opens(&mut browser, &format!("{base}~site/search?q={}", word(batch)), &all).await;
        let titles = "[...document.querySelectorAll('.results li')].map((it) => it.textContent).join('\\n')";
        let found = browser.eval(titles).await.as_str().expect("a text").to_owned();
        opens(&mut browser, &format!("{base}first#{asked}"), &all).await;
        let typed = types(&mut browser, &word(batch)).await;
        for payload in some {
            let title = short(payload, 100);
            assert!(found.contains(&title), "{payload} is found: {found}");
            assert!(typed.contains(&title), "{payload} is found as one types: {typed}");
        }
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{all} as it is typed");
    }
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_of_a_change_request_runs_in_a_browser() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let (space, first) = space_of_payloads(&w).await;
    let (_, path) = w.site("Docs", &space).await;
    let host = w.serve().await;
    let user = w.admin.user().expect("a user").clone();
    let new = NewToken { label: "preview".parse().expect("a label"), secret: None, expires_at: None };
    let token = w.platform.as_platform().user(&user).issue_token(new).await.expect("a token").secret;
    let requests = w.me().space(&space);
    browser.open(&format!("{host}{path}")).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    let cookie = json!({ "name": "docs-member", "value": token, "url": format!("{host}{path}") });
    browser.ask("Network.setCookie", cookie).await;
    for payload in alone() {
        let new = CreateChangeRequest {
            subject: short(&payload, 100).parse().ok(),
            ..CreateChangeRequest::default()
        };
        let number = requests.change_requests().create(new).await.expect("one").number.to_string();
        let changes = json!({ "changes": [
            { "operation": "update_page", "page": first, "title": short(&payload, 100),
                "document": { "markdown": payload } },
            { "operation": "insert_page", "title": short(&payload, 90), "document": { "markdown": payload } },
        ] });
        let update: UpdateContent = serde_json::from_value(changes).expect("changes");
        requests.change_request(&number).edit(update).await.expect("edited");
        for at in ["", "~compare"] {
            opens(&mut browser, &format!("{host}{path}~/changes/{number}/{at}"), &payload).await;
        }
        let shown = "document.querySelector('.preview') !== null";
        assert_eq!(browser.eval(shown).await, true, "a member is let in");
    }
    browser.end().await;
}

/// Returns a URL that contains a payload.
fn in_path(payload: &str) -> String {
    format!("former/{}", utf8_percent_encode(payload, NON_ALPHANUMERIC))
}

/// Items with payloads as titles: sections in groups, each with a space, and variants of the first section.
struct Titled {
    site: SiteId,
    sections: Vec<SectionId>,
    groups: Vec<SectionGroupId>,
    spaces: Vec<SpaceId>,
}

fn titled(title: &str, more: Value) -> Value {
    let mut it = json!({ "title": title });
    it.as_object_mut().expect("fields").extend(more.as_object().cloned().unwrap_or_default());
    it
}

fn read<T: serde::de::DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("a request")
}

impl Titled {
    async fn new(w: &World, site: &SiteId) -> Self {
        let org = w.me().org(&w.org);
        let mut it =
            Self { site: site.clone(), sections: Vec::new(), groups: Vec::new(), spaces: Vec::new() };
        let site = org.site(site);
        for at in 0..BESIDE {
            let (other, variant) = (w.space("Other").await, w.space("Variant").await);
            w.page(&other, "Other", "Text.").await;
            w.page(&variant, "Variant", "Text.").await;
            let new = titled(&format!("Section {at}"), json!({ "spaceId": other }));
            let section = site.sections().create(read(new)).await.expect("added").id;
            let group = titled("Group", json!({ "sections": [section] }));
            it.groups.push(site.section_groups().create(read(group)).await.expect("added").id);
            it.sections.push(section);
            let add = json!({ "spaceId": variant, "sectionId": it.sections[0] });
            site.spaces().create(read(add)).await.expect("a variant");
            it.spaces.push(variant);
        }
        it
    }

    /// Sets all titles to payloads, one payload per item of a kind.
    async fn title(&self, w: &World, payloads: &[String]) {
        let org = w.me().org(&w.org);
        let site = org.site(&self.site);
        for (at, payload) in payloads.iter().enumerate() {
            let title = || titled(&short(payload, 50), Value::Null);
            site.section(&self.sections[at]).update(read(title())).await.expect("changed");
            site.section_group(&self.groups[at]).update(read(title())).await.expect("changed");
            w.me().space(&self.spaces[at]).update(read(title())).await.expect("changed");
        }
    }
}

/// Requests redirected URLs of a page, and URLs that never existed.
async fn asks_formers(browser: &mut Browser, base: &str, payloads: &[String]) {
    for payload in payloads {
        let asked =
            format!("fetch({}).then((it) => it.text())", json!(format!("{base}{}", in_path(payload))));
        let page = browser.eval(&asked).await.as_str().expect("a page").to_owned();
        assert!(page.contains("First</h1>"), "the redirect of {payload} leads to its page: {page}");
    }
    opens(browser, &format!("{base}{}", in_path(&payloads[0])), &payloads[0]).await;
    assert_eq!(browser.eval("document.querySelector('h1').textContent").await, "First");
    let all = payloads.join(" ");
    opens(browser, &format!("{base}{}", in_path(&all)), &all).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_in_redirects_or_section_titles_runs() {
    let Some(mut browser) = Browser::start().await else { return };
    // Redirects use the base URL of the platform, so it must be the URL of this server.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let w = World::at(&format!("http://{}", listener.local_addr().expect("an address"))).await;
    let space = w.space(&short(&payloads()[0], 50)).await;
    let first = w.page(&space, "First", "Start.").await;
    let (id, path) = w.site("Docs", &space).await;
    let org = w.me().org(&w.org);
    let site = org.site(&id);
    let places =
        site.spaces().list(SiteSpaceFilter::default(), &PageRequest::default()).await.expect("places");
    let titled = Titled::new(&w, &id).await;
    let base = format!("{}{path}", w.serve_at(listener));
    browser.open(&base).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    for some in payloads().chunks(BESIDE) {
        titled.title(&w, some).await;
        for payload in some {
            let to = json!({ "kind": "site-page", "siteSpaceId": places.items[0].id, "pageId": first });
            let new = json!({ "source": format!("/{}", in_path(payload)), "destination": to });
            site.redirects().create(read(new)).await.expect("created");
        }
        asks_formers(&mut browser, &base, some).await;
        opens(&mut browser, &format!("{base}section-0/"), &some[0]).await;
        for part in [".sections a", ".sections summary", ".variants a"] {
            let shown = format!(
                "[...document.querySelectorAll('{part}')].map((it) => it.textContent.trim()).join('\\n')"
            );
            let shown = browser.eval(&shown).await.as_str().expect("a text").to_owned();
            for payload in some {
                let title = short(payload, 50);
                assert!(shown.contains(title.trim()), "{payload} is a text in {part}: {shown}");
            }
        }
    }
    browser.end().await;
}

/// Returns a specification with payloads in all strings. Strings that occur once contain all payloads; in addition,
/// there is an operation, a webhook and a schema for each payload.
fn spec_of(payloads: &[String]) -> String {
    let (mut paths, mut webhooks, mut schemas) = (Map::new(), Map::new(), Map::new());
    for (at, payload) in payloads.iter().enumerate() {
        let text = json!({ "type": "string", "description": payload, "enum": [payload], "example": payload });
        let schema = json!({ "type": "object", "description": payload, "required": [payload],
            "properties": { payload: text, "other": { "type": "array", "items": text } } });
        let schema_of = json!({ "$ref": format!("#/components/schemas/Pet{at}") });
        let body = json!({ "application/json": { "schema": schema_of } });
        let parameter = json!({ "name": payload, "in": "query", "description": payload, "required": true,
            "schema": text, "example": payload });
        let operation = json!({ "summary": payload, "description": payload, "security": [{ "key": [] }],
            "parameters": [parameter], "requestBody": { "content": body },
            "responses": { "201": { "description": payload, "content": body } } });
        paths.insert(format!("/pets{at}"), json!({ "post": operation }));
        webhooks.insert(format!("born{at}"), json!({ "post": operation }));
        schemas.insert(format!("Pet{at}"), schema);
    }
    let all = payloads.join(" ");
    let server = |payload| json!({ "url": "https://api.test/v1/", "description": payload });
    let servers: Vec<_> = payloads.iter().map(server).collect();
    let spec = json!({ "openapi": "3.1.0", "info": { "title": all, "version": "1", "description": all },
        "servers": servers, "paths": paths, "webhooks": webhooks, "components": { "schemas": schemas } });
    spec.to_string()
}

/// Returns Markdown with an operation, a webhook and a schema block for each payload of a specification.
fn parts_of_specs() -> String {
    let parts = (0..BESIDE).map(|at| {
        format!(
            "{{% openapi-operation spec=\"pets\" path=\"/pets{at}\" method=\"post\" %}}\n\
             [pets](https://api.test/pets)\n{{% endopenapi-operation %}}\n\n\
             {{% openapi-webhook spec=\"pets\" name=\"born{at}\" method=\"post\" %}}\n\
             [pets](https://api.test/pets)\n{{% endopenapi-webhook %}}\n\n\
             {{% openapi-schemas spec=\"pets\" schemas=\"Pet{at}\" %}}\n\
             [pets](https://api.test/pets)\n{{% endopenapi-schemas %}}\n\n"
        )
    });
    parts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_of_a_specification_runs_in_a_browser() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    w.page(&space, "Calls", &parts_of_specs()).await;
    let (_, path) = w.site("Docs", &space).await;
    let url = format!("{}{path}calls", w.serve().await);
    browser.open(&url).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    for some in payloads().chunks(BESIDE) {
        w.public_spec("pets", spec_of(some)).await;
        w.platform.settle().await.expect("settled");
        opens(&mut browser, &url, &some[0]).await;
        let shown = browser.eval("[...document.querySelectorAll('.api')].map((it) => it.textContent)").await;
        let shown = shown.as_array().expect("parts");
        assert_eq!(shown.len(), 3 * some.len(), "{}", some[0]);
        for (at, part) in shown.iter().enumerate() {
            let payload = &some[at / 3];
            let text = part.as_str().expect("a text");
            assert!(text.contains(payload.as_str()), "{payload} is a text of its part {at}: {text}");
        }
    }
    browser.end().await;
}
