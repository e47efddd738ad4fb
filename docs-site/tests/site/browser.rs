//! Pages in a real browser. If Chromium is not installed, the tests print a notice and pass.

use docs_core::model::SiteId;
use serde_json::{Value, json};

use crate::{chromium::Browser, world::World};

async fn site(w: &World) -> (SiteId, String) {
    let space = w.space("Guide").await;
    let tabs = "{% tabs %}\n{% tab title=\"Linux\" %}\nOne.\n{% endtab %}\n{% tab title=\"Mac\" %}\nTwo.\n{% endtab %}\n{% endtabs %}\n\n```rust\nfn f() {}\n```\n\n$$\\frac{a}{b}$$\n\n## Part\n\nText.\n\n## Other\n\nMoney comes back.";
    w.page(&space, "First", "Start here. [Second](/sites/docs/second)").await;
    w.page(&space, "Second", tabs).await;
    w.page(&space, "Third", tabs).await;
    let made = w.site("Docs", &space).await;
    w.platform.settle().await.expect("settled");
    made
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_navigation_works_without_third_party_requests() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let (_, path) = site(&w).await;
    let base = w.serve().await;
    browser.open(&format!("{base}{path}")).await;
    assert_eq!(browser.eval("document.querySelector('h1').textContent").await, "First");
    // A link within the site replaces the content without a page load.
    browser.eval("window.stays = true").await;
    browser.eval("document.querySelector('.tree a[href$=second]').click()").await;
    browser.until("document.querySelector('h1').textContent === 'Second'").await;
    assert_eq!(browser.eval("window.stays").await, true);
    assert_eq!(
        browser.eval("location.pathname.endsWith('/second') && document.title.startsWith('Second')").await,
        true
    );
    // The selected tab is also selected on the next page.
    browser.eval("document.querySelector('label[for=tab-1-1]').click()").await;
    assert_eq!(
        browser.eval("getComputedStyle(document.querySelectorAll('.panel')[1]).display").await,
        "block"
    );
    browser.eval("document.querySelector('.tree a[href$=third]').click()").await;
    browser.until("document.querySelector('h1').textContent === 'Third'").await;
    assert_eq!(browser.eval("document.querySelectorAll('.tab-choice')[1].checked").await, true);
    assert_ne!(
        browser.eval("getComputedStyle(document.querySelector('.c-k')).color").await,
        browser.eval("getComputedStyle(document.querySelector('.code')).color").await,
        "code has colours"
    );
    assert_eq!(browser.eval("document.querySelector('mfrac') instanceof MathMLElement").await, true);
    browser.eval("history.back()").await;
    browser.until("document.querySelector('h1').textContent === 'Second'").await;
    // Search while typing.
    browser.eval("{ const input = document.querySelector('.find input'); input.value = 'money'; input.dispatchEvent(new Event('input')); }").await;
    browser.until("document.querySelector('.found a')").await;
    browser.eval("document.querySelector('.found a').click()").await;
    browser.until("location.hash === '#other'").await;
    // Light and dark theme.
    let before = browser.eval("getComputedStyle(document.documentElement).backgroundColor").await;
    browser.eval("document.querySelector('.theme').click()").await;
    let after = browser.eval("getComputedStyle(document.documentElement).backgroundColor").await;
    assert_ne!(before, after);
    browser.open(&format!("{base}{path}third")).await;
    assert_eq!(browser.eval("getComputedStyle(document.documentElement).backgroundColor").await, after);
    browser.open(&format!("{base}{path}nowhere")).await;
    assert_eq!(
        browser
            .eval("document.querySelector('.tree a') !== null && document.querySelector('h1').textContent")
            .await,
        "Page not found"
    );
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.hosts(), ["127.0.0.1"], "nothing is asked of another host");
    // Search without scripts.
    browser.ask("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    browser.open(&format!("{base}{path}~site/search?q=money")).await;
    browser.ask("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await;
    assert_eq!(browser.eval("document.querySelectorAll('.results li').length > 0").await, true);
    browser.end().await;
}

/// Returns the number of payloads per page: one if `DOCS_TEST_ALL_PAYLOADS` is set.
fn together() -> usize {
    if std::env::var_os("DOCS_TEST_ALL_PAYLOADS").is_some() { 1 } else { 5 }
}

/// Creates a page with several payloads in all positions, one of them as the title. Across all pages, the titles cover
/// all endings and all bodies.
fn page_of(at: usize, some: &[String]) -> Value {
    let markdown = |(at, payload): (usize, &String)| {
        crate::table::everywhere(payload).replace("[^1]", &format!("[^{at}]"))
    };
    let markdown: Vec<String> = some.iter().enumerate().map(markdown).collect();
    json!({ "operation": "insert_page", "title": crate::table::short(&some[at % some.len()], 100),
        "document": { "markdown": markdown.join("\n") } })
}

#[tokio::test(flavor = "multi_thread")]
async fn payloads_neither_run_nor_violate_the_csp_in_a_browser() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    let payloads = crate::table::payloads();
    let groups: Vec<&[String]> = payloads.chunks(together()).collect();
    let pages: Vec<Value> = groups.iter().enumerate().map(|(at, some)| page_of(at, some)).collect();
    w.page(&space, "First", "Start.").await;
    for chunk in pages.chunks(40) {
        w.edit(&space, Value::Array(chunk.to_vec())).await;
    }
    let (_, path) = w.site("Docs", &space).await;
    let base = w.serve().await;
    browser.open(&format!("{base}{path}")).await;
    // Images from other hosts are permitted, but would slow the test down.
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    let links = browser.eval("[...document.querySelectorAll('.tree ul a[href]')].map((a) => a.href)").await;
    let links: Vec<&str> = links.as_array().expect("links").iter().filter_map(Value::as_str).collect();
    assert_eq!(links.len(), groups.len() + 1, "all pages, and the first");
    for (link, some) in links[1..].iter().zip(groups) {
        browser.open(link).await;
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{link}");
        let heads = browser.eval("document.querySelectorAll('h2').length").await;
        assert_eq!(heads, some.len(), "each payload has its places at {link}");
    }
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn full_width_blocks_are_wide_and_phones_show_header_links() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    let text = "Text.\n\n{% code fullWidth=\"true\" %}\n```js\na\n```\n{% endcode %}";
    w.page(&space, "First", text).await;
    let (site, path) = w.site("Docs", &space).await;
    let to = json!({ "kind": "url", "url": "https://a.test/shop" });
    let header = json!({ "preset": "default", "links": [{ "title": "Shop", "to": to, "links": [] },
        { "title": "More", "to": null, "links": [{ "title": "Jobs", "to": to }] }] });
    w.look(&site, json!({ "header": header })).await;
    let base = w.serve().await;
    let size = |width: u32| json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
    browser.ask("Emulation.setDeviceMetricsOverride", size(1600)).await;
    browser.open(&format!("{base}{path}")).await;
    let wide =
        "document.querySelector('.code').offsetWidth > document.querySelector('.text p').offsetWidth + 50";
    assert_eq!(browser.eval(wide).await, true);
    browser.eval("document.querySelector('.code pre').focus()").await;
    assert_eq!(browser.eval("getComputedStyle(document.querySelector('.copy')).opacity").await, "1");
    browser.ask("Emulation.setDeviceMetricsOverride", size(390)).await;
    let shown = "document.querySelector('.links a').getClientRects().length > 0";
    assert_eq!(browser.eval(shown).await, false, "they open first");
    browser.eval("document.querySelector('.open-links').click()").await;
    browser.until(shown).await;
    browser.eval("document.querySelector('.links summary').click()").await;
    browser.until("document.querySelector('.links .menu li a').getClientRects().length > 0").await;
    let fits = "document.documentElement.scrollWidth <= 390";
    assert_eq!(browser.eval(fits).await, true, "nothing is wider than the phone");
    browser.eval("document.querySelector('.close-links').click()").await;
    browser.until(&format!("!({shown})")).await;
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_script_handles_bad_urls_network_loss_and_page_themes() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let (site, path) = site(&w).await;
    let to = json!({ "kind": "url", "url": "https://a.test/shop" });
    let header = json!({ "preset": "default",
        "links": [{ "title": "More", "to": null, "links": [{ "title": "Jobs", "to": to }] }] });
    w.look(&site, json!({ "header": header, "themes": { "default": "light", "toggeable": false } })).await;
    let base = w.serve().await;
    browser.open(&format!("{base}{path}second#%")).await;
    assert_eq!(browser.eval("document.querySelector('.copy') !== null").await, true, "the script goes on");
    let is_open = "document.querySelector('.links .menu').open";
    browser.eval("document.querySelector('.links summary').click()").await;
    assert_eq!(browser.eval(is_open).await, true);
    browser.eval("document.querySelector('h1').click()").await;
    assert_eq!(browser.eval(is_open).await, false, "a menu closes where somebody clicks elsewhere");
    w.look(&site, json!({ "themes": { "default": "dark", "toggeable": false } })).await;
    browser.eval("document.querySelector('.tree a[href$=third]').click()").await;
    browser.until("document.querySelector('h1').textContent === 'Third'").await;
    assert_eq!(browser.eval("document.documentElement.dataset.theme").await, "dark");
    let offline = json!({ "offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    browser.ask("Network.emulateNetworkConditions", offline).await;
    browser.eval("{ const input = document.querySelector('.find input'); input.value = 'money'; input.dispatchEvent(new Event('input')); }").await;
    browser
        .until("performance.getEntriesByType('resource').some((it) => it.name.includes('search.json'))")
        .await;
    assert_eq!(browser.complaints(), Vec::<String>::new());
    browser.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rtl_text_is_right_aligned_and_code_is_left_aligned() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    let made = w.page(&space, "API", "Text.").await;
    let text = "{% hint style=\"info\" %}\nملاحظة `npm -g`\n{% endhint %}\n\n```rust\nfn f() {}\n```\n\n$$x^2$$\n\n\
                {% stepper %}\n{% step %}\nخطوة\n{% endstep %}\n{% endstepper %}";
    let below = json!({ "operation": "insert_page", "title": "مرحبا", "slug": "hello", "into": made,
        "document": { "markdown": text } });
    w.edit(&space, json!([below])).await;
    let (_, path) = w.site("Docs", &space).await;
    let base = w.serve().await;
    browser.open(&format!("{base}{path}api/hello")).await;
    for (wanted, direction) in [
        (".crumbs", "ltr"),
        ("h1", "rtl"),
        (".text", "rtl"),
        (".hint p", "rtl"),
        (".hint code", "ltr"),
        (".code pre", "ltr"),
        ("math", "ltr"),
        (".tree [aria-current]", "rtl"),
    ] {
        let script = format!("getComputedStyle(document.querySelector('{wanted}')).direction");
        assert_eq!(browser.eval(&script).await, direction, "{wanted}");
    }
    let padding = "getComputedStyle(document.querySelector('.step')).paddingRight";
    assert_eq!(browser.eval(padding).await, "46px", "the number of a step has room where the text begins");
    browser.end().await;
}
