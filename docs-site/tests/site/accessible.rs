//! Accessibility and HTML validity, checked by axe-core and the Nu HTML checker. If these are not installed,
//! the tests print a notice and pass: `npm install axe-core vnu-jar`, and set `DOCS_TEST_NODE_MODULES` to the
//! folder `node_modules`.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use crate::{
    blocks::site_of_all_kinds,
    chromium::{Browser, skip},
    world::World,
};

/// Returns the path of a file in an npm package.
pub(crate) fn tool(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DOCS_TEST_NODE_MODULES").map(PathBuf::from);
    let found = folder.map(|folder| folder.join(path)).filter(|path| path.exists());
    if found.is_none() {
        skip(&format!("{path} is not in the folder that DOCS_TEST_NODE_MODULES names"));
    }
    found
}

/// Creates a page per kind of block and inline element. Returns the URLs of these pages, and of the pages that the site
/// generates.
async fn pages(w: &World) -> Vec<String> {
    let (site, pages) = site_of_all_kinds(w).await;
    let pet = json!({ "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string", "description": "What it is *called*." },
        "owner": { "$ref": "#/components/schemas/Owner" } } });
    let body = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Pet" } } });
    let operation = json!({ "summary": "Adds a pet", "description": "Once a day.\n\n* one\n* two", "deprecated": true,
        "security": [{ "key": [] }],
        "parameters": [{ "name": "dry", "in": "query", "required": true, "schema": { "type": "boolean" } }],
        "requestBody": { "content": body },
        "responses": { "201": { "description": "Added", "content": body }, "400": { "description": "Wrong" } } });
    let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" },
        "servers": [{ "url": "https://api.test/v1" }], "paths": { "/pets": { "post": operation } },
        "webhooks": { "born": { "post": operation } },
        "components": { "schemas": { "Pet": pet, "Owner": { "type": "string" } } } });
    w.public_spec("pets", spec.to_string()).await;
    w.platform.settle().await.expect("settled");
    let own = ["", "nowhere", "~site/search", "~site/search?q=text", "~site/search?q=xyzzy"];
    let mut all: Vec<_> =
        own.into_iter().map(str::to_owned).chain(pages).map(|path| format!("{site}{path}")).collect();
    assert!(all.len() > 40, "{}", all.len());
    let colours = w.space("Colours").await;
    w.page(&colours, "Colours", &all_colours()).await;
    all.push(w.site("Colours", &colours).await.1);
    all
}

/// Returns text in each combination of foreground and background color.
fn all_colours() -> String {
    const COLOURS: [&str; 11] = [
        "green", "blue", "red", "orange", "yellow", "purple", "$primary", "$info", "$success", "$warning",
        "$danger",
    ];
    let mut text = String::new();
    for back in COLOURS.map(|colour| format!("background-color:{colour};")).iter().chain([&String::new()]) {
        for front in COLOURS.map(|colour| format!("color:{colour};")).iter().chain([&String::new()]) {
            text.push_str(&format!("<mark style=\"{front}{back}\">{front} {back}</mark> "));
        }
        text.push_str("\n\n");
    }
    text
}

// In the light and the dark theme.
#[tokio::test(flavor = "multi_thread")]
async fn no_page_has_serious_accessibility_violations() {
    let Some(axe) = tool("axe-core/axe.min.js") else { return };
    let axe = std::fs::read_to_string(axe).expect("a script");
    let Some(mut browser) = Browser::start().await else { return };
    let w = World::new().await;
    let pages = pages(&w).await;
    let base = w.serve().await;
    browser.ask("Network.setBlockedURLs", json!({ "urls": ["https://*"] })).await;
    let mut found = Vec::new();
    for scheme in ["light", "dark"] {
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        browser.ask("Emulation.setEmulatedMedia", media).await;
        for page in &pages {
            browser.open(&format!("{base}{page}")).await;
            browser.eval(&format!("document.documentElement.dataset.theme = '{scheme}'; true")).await;
            browser.eval(&format!("{axe}; true")).await;
            let said = browser
                .eval(
                    "axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations\
                     .filter((one) => one.impact === 'serious' || one.impact === 'critical')\
                     .map((one) => one.id + ': ' + one.nodes.map((node) => node.html).join(' | ')))",
                )
                .await;
            let said = said.as_array().expect("a list").iter().filter_map(Value::as_str);
            found.extend(said.map(|one| format!("{scheme} {page} {one}")));
        }
    }
    browser.end().await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_valid_html() {
    let Some(checker) = tool("vnu-jar/build/dist/vnu.jar") else { return };
    let w = World::new().await;
    let folder = tempfile::tempdir().expect("a folder");
    for (number, page) in pages(&w).await.into_iter().enumerate() {
        let name = page.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_");
        let path = folder.path().join(format!("{number}{name}.html"));
        std::fs::write(path, w.get(&page).await.body).expect("written");
    }
    let mut ran = Command::new("java");
    ran.arg("-jar").arg(checker).args(["--format", "json", "--errors-only"]);
    let said = match ran.arg(folder.path()).output() {
        Ok(said) => said,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return skip("java is not installed");
        }
        Err(error) => panic!("{error}"),
    };
    let said: Value = serde_json::from_slice(&said.stderr)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&said.stderr)));
    let wrong: Vec<String> = said["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|one| format!("{}: {} {}", one["url"], one["message"], one["extract"]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
