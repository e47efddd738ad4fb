//! Long words in a real browser: pages are never wider than the window. With `DOCS_TEST_SCREENSHOTS`, the test writes a
//! screenshot of each page to that folder.

use data_encoding::BASE64;
use serde_json::json;

use crate::{chromium::Browser, world::World};

/// Elements whose text must not be wider than they are.
const NARROW: &str = "h1, h2, h3, .lead, .crumbs li, .tree a, .tree .head, .outline a, .beside a, .beside .name, .card, \
    .card-box, .button, .hint, .tabs > label, .panel, .column, .step, .expandable, .expandable > summary, blockquote, \
    .mention, .task, figcaption, .brand, .sections, .results li, .announcement, article p";

#[tokio::test(flavor = "multi_thread")]
async fn long_words_wrap_on_phones_and_desktops() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    let long = "Supercalifragilisticexpialidocious".repeat(3);
    w.page(&space, "Home", "Start.").await;
    let title = long[..100].to_owned();
    let insert = json!({ "operation": "insert_page", "title": title, "description": &long, "slug": "long",
        "document": { "markdown": text(&long) } });
    let made = w.edit(&space, json!([insert])).await;
    let below = json!({ "operation": "insert_page", "title": format!("{}b", &long[..90]), "slug": "below",
        "into": made[0].as_str(), "document": { "markdown": format!("[x](/pages/{})", made[0].as_str()) } });
    w.edit(&space, json!([below])).await;
    let (site, path) = w.site("Docs", &space).await;
    w.look(&site, json!({ "announcement": { "enabled": true, "message": &long[..80], "style": "info" } }))
        .await;
    w.platform.settle().await.expect("settled");
    let base = format!("{}{path}", w.serve().await);
    for width in [360, 1000, 1280] {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        browser.ask("Emulation.setDeviceMetricsOverride", size).await;
        for (name, at) in
            [("home", ""), ("long", "long"), ("below", "long/below"), ("search", "~site/search?q=Super")]
        {
            browser.open(&format!("{base}{at}")).await;
            screenshot(&mut browser, &format!("{name}-{width}")).await;
            let fits = format!("document.documentElement.scrollWidth <= {width}");
            assert_eq!(browser.eval(&fits).await, true, "{name} at {width}");
            let wide = format!(
                "[...document.querySelectorAll('{NARROW}')].filter((it) => it.clientWidth > 0 \
                 && it.scrollWidth > it.clientWidth + 1).map((it) => it.outerHTML.slice(0, 100))"
            );
            assert_eq!(browser.eval(&wide).await, json!([]), "{name} at {width}");
        }
    }
    let size = json!({ "width": 360, "height": 900, "deviceScaleFactor": 1, "mobile": false });
    browser.ask("Emulation.setDeviceMetricsOverride", size).await;
    browser.open(&format!("{base}~site/search?q=Super")).await;
    let is_one_line = "document.querySelector('main form button').clientHeight < 50";
    assert_eq!(browser.eval(is_one_line).await, true, "a short word is not broken");
    browser.end().await;
}

/// A picture of 4 by 2 pixels.
const PICTURE: &str = "data:image/gif;base64,R0lGODlhBAACAIAAAP///wAAACH5BAAAAAAALAAAAAAEAAIAAAIDhI9WADs=";

#[tokio::test(flavor = "multi_thread")]
async fn images_have_the_size_that_the_author_set() {
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let space = w.space("Guide").await;
    let (_, bytes) = PICTURE.split_once(',').expect("a comma");
    let file = json!({ "name": "a.gif", "base64": bytes, "contentType": "image/gif", "ref": "p" });
    let image = |set: &str| format!("<img src=\"/files/p\" alt=\"\" {set}>\n\n");
    let text: String =
        ["", "width=\"80\"", "height=\"60\"", "width=\"80\" height=\"40\""].map(image).concat();
    let page = json!({ "operation": "insert_page", "title": "Page", "document": { "markdown": text } });
    w.edit(&space, json!([{ "operation": "insert_files", "files": [file] }, page])).await;
    let (_, path) = w.site("Docs", &space).await;
    browser.open(&format!("{}{path}", w.serve().await)).await;
    let sizes =
        "[...document.querySelectorAll('article img')].map((it) => [it.clientWidth, it.clientHeight])";
    assert_eq!(browser.eval(sizes).await, json!([[4, 2], [80, 40], [120, 60], [80, 40]]));
    browser.end().await;
}

/// A page with a long word in each kind of block.
fn text(long: &str) -> String {
    format!(
        "{long} and `{long}` and [{long}](https://example.com/{long}).\n\n## {long}\n\n### Part\n\n> {long}\n\n* {long}\n\
         * [ ] {long}\n\n1. {long}\n\n- [x] {long}\n\n| {long} | b | c |\n| - | - | - |\n| {long} | word word | `{long}` |\n\n\
         {{% hint style=\"info\" %}}\n{long}\n{{% endhint %}}\n\n\
         {{% tabs %}}\n{{% tab title=\"{long}\" %}}\n{long}\n{{% endtab %}}\n{{% tab title=\"b\" %}}\nb\n{{% endtab %}}\n{{% endtabs %}}\n\n\
         {{% stepper %}}\n{{% step %}}\n{long}\n{{% endstep %}}\n{{% endstepper %}}\n\n\
         {{% columns %}}\n{{% column %}}\n{long}\n{{% endcolumn %}}\n{{% column %}}\nb\n{{% endcolumn %}}\n{{% endcolumns %}}\n\n\
         <details>\n<summary>{long}</summary>\n\n{long}\n\n</details>\n\n\
         <a href=\"https://example.com\" class=\"button primary\">{long}</a>\n\n\
         {{% content-ref url=\"https://example.com/{long}\" %}}\n[{long}](https://example.com/{long})\n{{% endcontent-ref %}}\n\n\
         {{% embed url=\"https://example.com/{long}\" %}}\n\n\
         <table data-view=\"cards\"><thead><tr><th></th></tr></thead><tbody><tr><td>{long}</td></tr></tbody></table>\n\n\
         <figure><img src=\"https://media.test/a.png\" alt=\"\"><figcaption><p>{long}</p></figcaption></figure>\n\n\
         ```\n{long}{long}\n```\n\n$${long}$$\n"
    )
}

async fn screenshot(browser: &mut Browser, name: &str) {
    let Some(folder) = std::env::var_os("DOCS_TEST_SCREENSHOTS") else { return };
    let shot = json!({ "format": "png", "captureBeyondViewport": true });
    let taken = browser.ask("Page.captureScreenshot", shot).await;
    let bytes = BASE64.decode(taken["data"].as_str().expect("an image").as_bytes());
    let path = std::path::Path::new(&folder).join(format!("{name}.png"));
    std::fs::write(path, bytes.expect("base64")).expect("written");
}
