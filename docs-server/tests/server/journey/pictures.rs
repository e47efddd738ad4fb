//! Screenshots of ten pages for visual inspection.

use std::path::Path;

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::journey::{
    reader::{DESKTOP, PHONE, Reader, Screen},
    site::{ARABIC, BLOCKS, Made},
};

/// Maximum height of a screenshot in pixels.
const HIGHEST: u64 = 4_000;

/// Returns ten pages, by name and URL.
fn pages(handbook: &str, site: &Made) -> [(&'static str, String); 10] {
    let book = |path: &str| format!("{handbook}{path}");
    [
        ("welcome", book("")),
        ("quick-start", book("quick-start")),
        ("permissions", book("concepts/people-and-permissions")),
        ("rust", book("embedding/inside-a-rust-service")),
        ("formats", book("reference/formats")),
        ("guide", book("guides/publish-a-site")),
        ("search", book("~site/search?q=token")),
        ("missing", book("nowhere")),
        ("arabic", format!("{}{ARABIC}", site.url)),
        ("blocks", format!("{}{BLOCKS}", site.url)),
    ]
}

/// Saves the screenshots to a folder.
pub(crate) async fn take(reader: &mut Reader, handbook: &str, site: &Made, folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    reader.browser.open(handbook).await;
    let first = reader.browser.eval("document.querySelector('.brand').href").await;
    let pages = pages(first.as_str().expect("an address"), site);
    for screen in [DESKTOP, PHONE] {
        reader.has(screen).await;
        for theme in ["light", "dark"] {
            reader.browser.eval(&format!("localStorage.setItem('docs-theme', '{theme}')")).await;
            for (name, url) in &pages {
                let file = folder.join(format!("{name}-{}-{theme}.png", screen.name));
                picture(reader, screen, url, &file).await;
            }
        }
    }
}

async fn picture(reader: &mut Reader, screen: Screen, url: &str, file: &Path) {
    reader.browser.open(url).await;
    let height =
        reader.browser.eval("document.documentElement.scrollHeight").await.as_u64().expect("a number");
    let all = json!({ "x": 0, "y": 0, "width": screen.width, "height": height.min(HIGHEST), "scale": 1 });
    let ask = json!({ "format": "png", "captureBeyondViewport": true, "clip": all });
    let shot = reader.browser.ask("Page.captureScreenshot", ask).await;
    let bytes = BASE64.decode(data(&shot).as_bytes()).expect("base64");
    std::fs::write(file, bytes).expect("written");
    let fits = format!("document.documentElement.scrollWidth <= {}", screen.width);
    assert_eq!(reader.browser.eval(&fits).await, true, "{url} is wider than {screen:?}");
}

fn data(shot: &Value) -> &str {
    shot["data"].as_str().expect("a picture")
}
