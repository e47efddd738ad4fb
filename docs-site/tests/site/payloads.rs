//! Payloads in a real browser where text enters beside the text of pages: settings, addresses, searches as one types,
//! descriptions, titles of spaces and sections, and previews.

use docs_core::{
    model::{CreateChangeRequest, PageId, SpaceId, UpdateContent},
    platform::NewToken,
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
