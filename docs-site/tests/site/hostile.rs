//! Text from authors, settings and URLs never becomes markup, scripts or script URLs.

use poem::http::StatusCode;
use serde_json::json;

use crate::world::World;

/// Markup that must never occur in a page.
const MARKUP: &[&str] = &[
    "<script>alert(1)",
    "<img src=x onerror",
    "<svg onload",
    "<iframe src",
    "<b onmouseover",
    "\"><script>",
    "href=\"javascript:",
    "href=\" javascript:",
    "src=\"javascript:",
    "href=\"data:",
    "src=\"data:",
    "href=\"vbscript:",
    "<style>",
    " style=\"",
    " onclick=\"",
    "</script><b>",
];

/// Malicious strings.
const PAYLOADS: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<iframe src=\"https://evil.test\"></iframe>",
    "<b onmouseover=\"alert(1)\">x</b>",
    "' onfocus='alert(1)",
    "</title><script>alert(1)</script>",
    "</script><b>x",
];

/// Malicious Markdown.
const MARKDOWN: &[&str] = &[
    "[x](javascript:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:alert(1))",
    "![x](javascript:alert(1))",
    "![x\" onerror=\"alert(1)](https://a.test/x.png)",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<a href=\"javascript:alert(1)\" class=\"button primary\">x</a>",
    "<p onclick=\"alert(1)\" style=\"color:red\">x</p>",
    "<div><script>alert(1)</script></div>",
    "<style>body{display:none}</style>",
    "{% embed url=\"javascript:alert(1)\" %}",
    "{% tabs %}\n{% tab title=\"<script>alert(1)</script>\" %}\nx\n{% endtab %}\n{% endtabs %}",
    "{% code title=\"<script>alert(1)</script>\" %}\n```\"><script>alert(1)\n<script>alert(1)</script>\n```\n{% endcode %}",
    "$$\n<script>alert(1)</script>\n$$",
    "| <script>alert(1)</script> |\n| - |\n| <img src=x onerror=alert(1)> |",
    "<details>\n\n<summary><script>alert(1)</script></summary>\n\nx\n\n</details>",
    "<figure><img src=\"javascript:alert(1)\" alt=\"\"><figcaption><p><script>alert(1)</script></p></figcaption></figure>",
    "<mark style=\"color:red;background:url(javascript:alert(1))\">x</mark>",
    "word[^1]\n\n[^1]: <script>alert(1)</script>",
    "{% openapi src=\"javascript:alert(1)\" path=\"<script>alert(1)</script>\" method=\"get\" %}\nx\n{% endopenapi %}",
    "## <script>alert(1)</script> <a href=\"#x\" id=\"x\" onclick=\"alert(1)\"></a>",
];

#[track_caller]
fn harmless(page: &str, what: &str) {
    for markup in MARKUP {
        assert!(!page.contains(markup), "{what} became {markup}:\n{page}");
    }
}

#[tokio::test]
async fn page_and_space_texts_cannot_inject_markup() {
    let w = World::new().await;
    for payload in PAYLOADS {
        let space = w.space(&payload.chars().take(50).collect::<String>()).await;
        let markdown =
            format!("Text {payload}\n\n{payload}\n\n## Head {payload}\n\n`{payload}`\n\n## Other\n");
        let insert = json!({ "operation": "insert_page", "title": payload, "description": payload,
            "document": { "markdown": markdown } });
        let second = json!({ "operation": "insert_page", "title": format!("Second {payload}"),
            "document": { "markdown": payload } });
        w.edit(&space, json!([insert, second])).await;
        let (_, site) = w.site(&format!("Site {payload}"), &space).await;
        w.platform.settle().await.expect("settled");
        for path in ["", "no-such-page", "~site/search?q=text", "~site/icon.svg", "sitemap.xml"] {
            let got = w.get(&format!("{site}{path}")).await;
            let expected = if path == "no-such-page" { StatusCode::NOT_FOUND } else { StatusCode::OK };
            assert_eq!(got.status, expected, "{path}");
            harmless(&got.body, payload);
        }
    }
}

#[tokio::test]
async fn markdown_cannot_inject_scripts() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let pages: Vec<_> = MARKDOWN
        .iter()
        .enumerate()
        .map(|(at, markdown)| {
            json!({ "operation": "insert_page", "title": format!("Page {at}"), "document": { "markdown": markdown } })
        })
        .collect();
    w.edit(&space, json!(pages)).await;
    let (_, site) = w.site("Docs", &space).await;
    for (at, markdown) in MARKDOWN.iter().enumerate() {
        let page = w.html(&format!("{site}page-{at}")).await;
        harmless(&page, markdown);
    }
}

#[tokio::test]
async fn site_settings_cannot_inject_markup() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    for payload in PAYLOADS {
        let link = |url: &str| json!({ "title": payload, "to": { "kind": "url", "url": url } });
        let bad = link("javascript:alert(1)");
        let header = json!({ "preset": "default", "links": [
            { "title": payload, "to": { "kind": "url", "url": "javascript:alert(1)" }, "links": [] },
            { "title": payload, "to": null, "links": [bad] },
        ] });
        let footer = json!({ "groups": [{ "title": payload, "links": [bad] }], "copyright": payload });
        let announcement = json!({ "enabled": true, "message": payload, "link": bad, "style": "info" });
        w.look(
            &site,
            json!({ "title": payload, "header": header, "footer": footer, "announcement": announcement }),
        )
        .await;
        let page = w.html(&path).await;
        harmless(&page, payload);
    }
}

#[tokio::test]
async fn request_urls_cannot_inject_markup() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (_, site) = w.site("Docs", &space).await;
    w.platform.settle().await.expect("settled");
    for asked in [
        "~site/search?q=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "~site/search?q=%27%20onfocus%3D%27alert(1)",
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "%22%3E%3Cscript%3Ealert(1)",
        "?x=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "~site/%3Cscript%3Ealert(1)",
    ] {
        let got = w.get(&format!("{site}{asked}")).await;
        harmless(&got.body, asked);
        assert!(got.status == StatusCode::OK || got.status == StatusCode::NOT_FOUND, "{asked}: {got:?}");
    }
}

#[tokio::test]
async fn slashes_in_a_path_never_redirect_to_another_host() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    let token = crate::world::token(&w.key(&site).await, &json!({ "exp": 4_000_000_000_i64 }));
    let got = w.get(&format!("//sites//docs//first?jwt_token={token}")).await;
    assert_eq!(got.header("location"), format!("{path}first"));
    for start in ["//evil.test", "/\\evil.test", "//evil.test/.."] {
        let got = w.get(&format!("{start}{path}?jwt_token={token}")).await;
        let to = got.header("location");
        assert!(
            to.is_empty() || to.starts_with("/sites/") || to.starts_with("http://docs.test"),
            "{start}: {to}"
        );
    }
}

#[tokio::test]
async fn every_response_has_strict_security_headers() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (_, site) = w.site("Docs", &space).await;
    for path in [
        "",
        "missing",
        "first.md",
        "robots.txt",
        "llms.txt",
        "llms-full.txt",
        "sitemap.xml",
        "~site/search",
        "~site/icon.svg",
    ] {
        let got = w.get(&format!("{site}{path}")).await;
        let policy = got.header("content-security-policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'self'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{path}: {policy}");
        assert_eq!(got.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(got.header("referrer-policy"), "same-origin", "{path}");
    }
    let page = w.html(&site).await;
    let loaded = page.split("src=\"").skip(1).chain(page.split("rel=\"stylesheet\" href=\"").skip(1));
    for address in loaded {
        assert!(address.starts_with("/sites/"), "nothing is asked of another host: {address}");
    }
}
