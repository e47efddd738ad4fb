//! Payloads in a real browser where text enters beside the text of pages: settings, addresses, searches as one types,
//! descriptions, titles of spaces, sections, groups and variants, redirects, specifications, and previews.

use docs_core::{
    model::{CreateChangeRequest, PageId, PutOpenApiSpec, SpaceId, SpecSource, UpdateContent},
    platform::{NewToken, SiteSpaceFilter},
    store::PageRequest,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use crate::{
    chromium::Browser,
    table::{look_of, payloads, short},
    world::World,
};

/// Each of so many payloads is tried; every end and every body is among them.
const STEP: usize = 7;

fn tried() -> Vec<String> {
    payloads().into_iter().step_by(STEP).collect()
}

/// Opens an address, where nothing may run and the policy may have nothing to refuse.
async fn opens(browser: &mut Browser, url: &str, payload: &str) {
    browser.open(url).await;
    assert_eq!(browser.complaints(), Vec::<String>::new(), "{payload} at {url}");
}

/// A space called by a payload, whose pages are called and described by all that are tried.
async fn space_of_payloads(w: &World) -> (SpaceId, PageId) {
    let space = w.space(&short(&tried()[0], 50)).await;
    let first = w.page(&space, "First", "Start.").await;
    let pages = tried().into_iter().map(|payload| {
        json!({ "operation": "insert_page", "title": short(&payload, 100), "description": short(&payload, 200),
            "document": { "markdown": format!("An alert: {payload}") } })
    });
    w.edit(&space, pages.collect()).await;
    (space, first)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_of_settings_addresses_or_searches_runs_in_a_browser() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let (space, _) = space_of_payloads(&w).await;
    let other = w.space(&short(&tried()[1], 50)).await;
    w.page(&other, "Other", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    let section = json!({ "spaceId": other, "title": short(&tried()[2], 50) });
    let section = serde_json::from_value(section).expect("a section");
    w.me().org(&w.org).site(&site).sections().create(section).await.expect("added");
    w.platform.settle().await.expect("settled");
    let base = format!("{}{path}", w.serve().await);
    browser.open(&base).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    for payload in tried() {
        w.look(&site, look_of(&payload)).await;
        let asked = utf8_percent_encode(&payload, NON_ALPHANUMERIC);
        for at in [
            String::new(),
            format!("~site/search?q={asked}"),
            format!("{asked}"),
            format!("first?x={asked}"),
            format!("first#{asked}"),
        ] {
            opens(&mut browser, &format!("{base}{at}"), &payload).await;
        }
        // What is found is drawn by the script: its titles and texts are payloads too.
        let typed = json!(format!("alert {payload}"));
        let types = format!(
            "{{ const input = document.querySelector('.find input'); input.value = {typed}; \
             input.dispatchEvent(new Event('input')); }}"
        );
        browser.open(&base).await;
        browser.eval(&types).await;
        browser.until("!document.querySelector('.found').hidden").await;
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{payload} as it is typed");
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
    for payload in tried() {
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

/// An address that a payload stands in.
fn in_path(payload: &str) -> String {
    format!("former/{}", utf8_percent_encode(payload, NON_ALPHANUMERIC))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_of_redirects_or_titles_of_sections_groups_and_variants_runs_in_a_browser() {
    let Some(mut browser) = Browser::start().await else { return };
    // Redirects lead to the address that the platform has, which is the one that is asked here.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let w = World::at(&format!("http://{}", listener.local_addr().expect("an address"))).await;
    let (space, first) = space_of_payloads(&w).await;
    let (other, variant) = (w.space("Other").await, w.space("Variant").await);
    w.page(&other, "Other", "Text.").await;
    w.page(&variant, "Variant", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    let org = w.me().org(&w.org);
    let site = org.site(&site);
    let places =
        site.spaces().list(SiteSpaceFilter::default(), &PageRequest::default()).await.expect("places");
    let section = serde_json::from_value(json!({ "spaceId": other, "title": "Section" })).expect("a section");
    let section = site.sections().create(section).await.expect("added").id;
    let add = json!({ "spaceId": variant, "sectionId": section });
    site.spaces().create(serde_json::from_value(add).expect("a place")).await.expect("a variant");
    let group = json!({ "title": "Group", "sections": [section] });
    let group = serde_json::from_value(group).expect("a group");
    let group = site.section_groups().create(group).await.expect("added").id;
    let base = format!("{}{path}", w.serve_at(listener));
    browser.open(&base).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    for payload in tried() {
        let titled = |most| json!({ "title": short(&payload, most) });
        let change = serde_json::from_value(titled(50)).expect("a title");
        site.section(&section).update(change).await.expect("changed");
        let change = serde_json::from_value(titled(50)).expect("a title");
        site.section_group(&group).update(change).await.expect("changed");
        for space in [&other, &variant] {
            let change = serde_json::from_value(titled(50)).expect("a title");
            w.me().space(space).update(change).await.expect("changed");
        }
        let to = json!({ "kind": "site-page", "siteSpaceId": places.items[0].id, "pageId": first });
        let new = json!({ "source": format!("/{}", in_path(&payload)), "destination": to });
        site.redirects().create(serde_json::from_value(new).expect("a redirect")).await.expect("created");
        opens(&mut browser, &format!("{base}{}", in_path(&payload)), &payload).await;
        let heading = browser.eval("document.querySelector('h1').textContent").await;
        assert_eq!(heading, "First", "the redirect of {payload} leads to its page");
        opens(&mut browser, &format!("{base}{}x", in_path(&payload)), &payload).await;
        opens(&mut browser, &format!("{base}section/"), &payload).await;
        for (part, most) in [(".sections", 50), (".top", 50)] {
            let shown = format!(
                "document.querySelector('{part}').textContent.includes({})",
                json!(short(&payload, most))
            );
            assert_eq!(browser.eval(&shown).await, true, "{payload} is a text in {part}");
        }
    }
    browser.end().await;
}

/// A specification that says a payload wherever it may say something.
fn spec_of(payload: &str) -> String {
    let text = json!({ "type": "string", "description": payload, "enum": [payload], "example": payload });
    let schema = json!({ "type": "object", "description": payload, "required": [payload],
        "properties": { payload: text, "other": { "type": "array", "items": text } } });
    let body = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Pet" } } });
    let parameter = json!({ "name": payload, "in": "query", "description": payload, "required": true,
        "schema": text, "example": payload });
    let operation = json!({ "summary": payload, "description": payload, "security": [{ "key": [] }],
        "parameters": [parameter], "requestBody": { "content": body },
        "responses": { "201": { "description": payload, "content": body } } });
    let spec = json!({ "openapi": "3.1.0", "info": { "title": payload, "version": "1", "description": payload },
        "servers": [{ "url": "https://api.test/v1/", "description": payload }],
        "paths": { "/pets": { "post": operation } }, "webhooks": { "born": { "post": operation } },
        "components": { "schemas": { "Pet": schema } } });
    spec.to_string()
}

/// Markdown with each kind of block that shows a part of a specification.
const PARTS_OF_SPECS: &str = "{% openapi-operation spec=\"pets\" path=\"/pets\" method=\"post\" %}\n\
    [pets](https://api.test/pets)\n{% endopenapi-operation %}\n\n\
    {% openapi-webhook spec=\"pets\" name=\"born\" method=\"post\" %}\n[pets](https://api.test/pets)\n\
    {% endopenapi-webhook %}\n\n{% openapi-schemas spec=\"pets\" schemas=\"Pet\" %}\n\
    [pets](https://api.test/pets)\n{% endopenapi-schemas %}";

#[tokio::test(flavor = "multi_thread")]
async fn no_payload_of_a_specification_runs_in_a_browser() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    w.page(&space, "Calls", PARTS_OF_SPECS).await;
    let (_, path) = w.site("Docs", &space).await;
    let url = format!("{}{path}calls", w.serve().await);
    browser.open(&url).await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    for payload in tried() {
        let put = PutOpenApiSpec { source: SpecSource::Text(spec_of(&payload)) };
        w.me().org(&w.org).openapi_spec("pets").put(put).await.expect("put");
        w.platform.settle().await.expect("settled");
        opens(&mut browser, &url, &payload).await;
        let shown = "[...document.querySelectorAll('.api')].filter((it) => it.textContent.includes('alert') || \
                     it.textContent.includes('evil')).length";
        let main = browser.eval("document.querySelector('main').innerHTML").await;
        assert_eq!(browser.eval(shown).await, 3, "{payload} is a text of each part: {main}");
    }
    browser.end().await;
}
