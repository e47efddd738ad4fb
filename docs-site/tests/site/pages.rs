//! Metadata and navigation of pages.

use poem::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{settings::import, world::World};

fn page(title: &str, markdown: &str) -> Value {
    json!({ "operation": "insert_page", "title": title, "document": { "markdown": markdown } })
}

#[tokio::test]
async fn page_shows_navigation_metadata_and_breadcrumbs() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let made =
        w.edit(&space, json!([page("Welcome", "Hello."), page("Setup", "## One\n\n## Two\n\nText.")])).await;
    let mut below = page("Details", "More.");
    below["into"] = made[1].as_str().into();
    w.edit(&space, json!([below])).await;
    let (_, site) = w.site("Docs", &space).await;
    let shown = w.html(&format!("{site}setup")).await;
    assert!(shown.contains("<html lang=\"en\" dir=\"ltr\""));
    assert!(shown.contains("<title>Setup | Docs</title>"));
    assert!(
        shown.contains(&format!("rel=\"prev\" href=\"{site}\"")),
        "the first page is at the site's own address"
    );
    assert!(shown.contains(&format!("rel=\"next\" href=\"{site}setup/details\"")));
    assert!(shown.contains(&format!("href=\"{site}setup\" aria-current=\"page\"")));
    assert!(shown.contains("<li class=\"level-1\"><a href=\"#one\" dir=\"auto\">One</a>"));
    assert!(shown.contains(&format!("<link rel=\"canonical\" href=\"http://docs.test:4000{site}setup\">")));
    assert!(shown.contains(&format!("rel=\"alternate\" type=\"text/markdown\" href=\"{site}setup.md\"")));
    assert!(
        shown.contains("property=\"og:title\" content=\"Setup\"") && shown.contains("application/ld+json")
    );
    let below = w.html(&format!("{site}setup/details")).await;
    assert!(
        below.contains("class=\"crumbs\"") && below.contains(&format!("<a href=\"{site}setup\">Setup</a>"))
    );
}

#[tokio::test]
async fn anchors_of_other_renderers_lead_to_headings() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let text = "[in](#c-c--f) [own](#c-c++-f) [far](#nowhere)\n\n## C, C++ & F#\n\n## 快速开始\n\n## Plain\n";
    let page = w.page(&space, "Headings", text).await;
    let links = format!(
        "[a](/pages/{page}#%E5%BF%AB%E9%80%9F%E5%BC%80%E5%A7%8B) [b](/pages/{page}#快速开始) [c](#a%20b) \
         [d](/pages/{page}#c-c--f) [e](/pages/{page}#\u{fe0f}-plain)"
    );
    w.page(&space, "Links", &links).await;
    let (_, path) = w.site("Docs", &space).await;
    let shown = w.html(&path).await;
    for part in [
        "<h2 id=\"c-c++-f\"><span id=\"c-c--f\"></span>C, C++",
        "<a href=\"#c-c%2B%2B-f\">in</a>",
        "<a href=\"#c-c%2B%2B-f\">own</a>",
        "<a href=\"#nowhere\">far</a>",
        "<h2 id=\"plain\">Plain",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let shown = w.html(&format!("{path}links")).await;
    let encoded = "#%E5%BF%AB%E9%80%9F%E5%BC%80%E5%A7%8B";
    for part in [
        format!("<a href=\"{path}{encoded}\">a</a>"),
        format!("<a href=\"{path}{encoded}\">b</a>"),
        "<a href=\"#a%20b\">c</a>".to_owned(),
        format!("<a href=\"{path}#c-c--f\">d</a>"),
        format!("<a href=\"{path}#-plain\">e</a>"),
    ] {
        assert!(shown.contains(&part), "{part}\n{shown}");
    }
    let markdown = w.html(&format!("{path}index.md")).await;
    assert!(markdown.contains("[in](#c-c--f)"), "{markdown}");
}

#[tokio::test]
async fn internal_links_resolve_to_site_pages() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let other = w.space("Other").await;
    let first = w.page(&space, "First", "Text.").await;
    let there = w.page(&other, "There", "Text.").await;
    let also = w.page(&other, "Also", "Text.").await;
    drop(there);
    let text = format!(
        "[a](/pages/{first}) [b](/spaces/{other}/pages/{also}) [c](/pages/{first}#x) [d](/spaces/{other})"
    );
    w.page(&space, "Links", &text).await;
    let (site, path) = w.site("Docs", &space).await;
    let shown = w.html(&format!("{path}links")).await;
    assert!(
        shown.contains(&format!("<a href=\"{path}\">a</a>"))
            && shown.contains(&format!("<a href=\"{path}#x\">c</a>")),
        "{shown}"
    );
    assert!(shown.contains("<span>b</span>"), "what is not on the site has no address");
    w.place(&site, &other).await;
    let shown = w.html(&format!("{path}links")).await;
    assert!(shown.contains(&format!("<a href=\"{path}other/also\">b</a>")), "{shown}");
    assert!(shown.contains(&format!("<a href=\"{path}other/\">d</a>")), "{shown}");
    assert!(shown.contains("class=\"menu variants\""), "both spaces are there to choose from");
    assert_eq!(w.get(&format!("{path}other/also")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn missing_page_returns_404_with_navigation() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (_, site) = w.site("Docs", &space).await;
    let got = w.get(&format!("{site}nothing/here")).await;
    assert_eq!(got.status, StatusCode::NOT_FOUND);
    assert!(got.body.contains("Page not found") && got.body.contains("class=\"tree\""));
    assert_eq!(got.header("cache-control"), "no-store");
    assert_eq!(w.get(&format!("{site}~site/nothing")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn redirects_and_default_space_paths_redirect_to_the_page() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let second = w.page(&space, "Second", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    let place = w.me().org(&w.org).site(&site).spaces().list(Default::default(), &Default::default()).await;
    let place = place.expect("places").items.remove(0);
    for source in ["old/page", "old%2Fpage", "%C3%A4%28b%29", "%3Cb%3E%22"] {
        let new = json!({ "source": format!("/{source}"), "destination":
            { "kind": "site-page", "siteSpaceId": place.id, "pageId": second } });
        let new = serde_json::from_value(new).expect("a redirect");
        w.me().org(&w.org).site(&site).redirects().create(new).await.expect("created");
        let got = w.get(&format!("{path}{source}")).await;
        assert_eq!(got.status, StatusCode::TEMPORARY_REDIRECT, "{source}");
        assert_eq!(got.header("location"), format!("http://docs.test:4000{path}second"));
    }
    // The default space has no path segment.
    let got = w.get(&format!("{path}{}/second", place.path.as_str())).await;
    assert_eq!(got.status, StatusCode::TEMPORARY_REDIRECT);
    assert_eq!(got.header("location"), format!("http://docs.test:4000{path}second"));
}

// A link with a relative URL would resolve to a different URL on each page.
#[tokio::test]
async fn broken_entries_in_the_page_tree_are_plain_text() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let entries = "* [Welcome](README.md)\n* [Gone](gone/away.md)\n* [Out](https://a.test/out)\n";
    w.git.put("SUMMARY.md", format!("# Table of contents\n\n{entries}"));
    import(&w, &space, json!({})).await;
    let (_, path) = w.site("Docs", &space).await;
    let shown = w.html(&path).await;
    assert!(shown.contains("<span class=\"gone\" dir=\"auto\">Gone</span>"), "{shown}");
    assert!(
        !shown.contains("href=\"gone/away.md\"") && shown.contains("href=\"https://a.test/out\""),
        "{shown}"
    );
}

#[tokio::test]
async fn hidden_pages_are_readable_by_url_but_not_listed() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let mut hidden = page("Unlisted", "Hidden text.");
    hidden["hidden"] = true.into();
    w.edit(&space, json!([page("First", "Text."), hidden])).await;
    let (_, site) = w.site("Docs", &space).await;
    assert!(w.html(&format!("{site}unlisted")).await.contains("Hidden text."));
    for path in ["", "sitemap.xml", "llms.txt", "llms-full.txt"] {
        let got = w.html(&format!("{site}{path}")).await;
        assert!(!got.contains("nlisted") && !got.contains("Hidden text."), "{path}: {got}");
    }
}

#[tokio::test]
async fn customization_is_applied_to_the_site() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "[out](https://a.test)").await;
    let (site, path) = w.site("Docs", &space).await;
    let to = json!({ "kind": "url", "url": "https://a.test/shop" });
    let both = |url: &str| json!({ "light": format!("{url}-light"), "dark": format!("{url}-dark") });
    w.look(&site, json!({
        "title": "The Handbook",
        "internationalization": { "locale": "de" },
        "header": { "preset": "default", "logo": both("https://a.test/logo"),
            "links": [{ "title": "Shop", "to": to, "links": [], "style": "button-primary" }] },
        "footer": { "groups": [{ "title": "Us", "links": [{ "title": "About", "to": to }] }], "copyright": "© Us" },
        "announcement": { "enabled": true, "message": "New version", "style": "success" },
        "themes": { "default": "dark", "toggeable": false },
        "externalLinks": { "target": "blank" },
        "privacyPolicy": { "url": "https://a.test/privacy" },
        "socialPreview": { "url": "https://a.test/card.png" },
    })).await;
    let shown = w.html(&path).await;
    for part in [
        "<html lang=\"de\"",
        "data-theme=\"dark\"",
        "<title>First | The Handbook</title>",
        "https://a.test/logo-dark",
        "class=\"button primary\" href=\"https://a.test/shop\"",
        "© Us",
        "announcement success",
        "New version",
        "target=\"_blank\"",
        "https://a.test/privacy",
        "og:image\" content=\"https://a.test/card.png",
        "Suchen",
        "Zuletzt geändert",
    ] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    assert!(!shown.contains("data-choose"));
    let start = shown.find("/sites/docs/~site/theme.").expect("a style sheet of the site's own");
    let sheet = shown[start..].split('"').next().expect("an address").to_owned();
    let css = w.get(&sheet).await;
    assert!(
        css.body.contains("--primary:#346DDB") && css.header("cache-control").contains("immutable"),
        "{css:?}"
    );
    let mut styling = serde_json::to_value(docs_core::model::Styling::default()).expect("JSON");
    styling["primaryColor"] = json!({ "light": "#aa0000", "dark": "#ff8888" });
    w.look(&site, json!({ "styling": styling })).await;
    assert!(!w.html(&path).await.contains(&sheet), "other settings are another sheet");
    let old = w.get(&sheet).await;
    assert!(old.body.contains("#aa0000") && !old.header("cache-control").contains("immutable"), "{old:?}");
}

#[tokio::test]
async fn search_works_as_html_page_and_json() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.edit(
        &space,
        json!([page("First", "Text."), page("Invoices", "Intro.\n\n## Refunds\n\nMoney comes back soon.")]),
    )
    .await;
    let (_, site) = w.site("Docs", &space).await;
    let early = w.get(&format!("{site}~site/search?q=money")).await;
    assert_eq!(early.status, StatusCode::OK, "{early:?}");
    w.platform.settle().await.expect("settled");
    let shown = w.html(&format!("{site}~site/search?q=money")).await;
    assert!(
        shown.contains(&format!("href=\"{site}invoices#refunds\"")) && shown.contains("Money comes back"),
        "{shown}"
    );
    assert!(shown.contains("value=\"money\""));
    let got = w.get(&format!("{site}~site/search.json?q=money")).await;
    let found: Value = serde_json::from_str(&got.body).expect("JSON");
    assert_eq!(found["pages"][0]["href"], format!("{site}invoices#refunds"));
    assert_eq!(w.ask(Method::GET, &format!("{site}~site/search"), &[]).await.status, StatusCode::OK);
    assert!(w.html(&format!("{site}~site/search?q=nowhere")).await.contains("No results found."));
}

#[tokio::test]
async fn initial_page_load_is_below_80_kb() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", &"Some text that a page has. ".repeat(200)).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    let mut bytes = 0;
    for address in page
        .split('"')
        .filter(|it| it.contains("/~site/site.") || it.contains("/~site/theme."))
        .chain([site.as_str()])
    {
        let got = w.ask(Method::GET, address, &[("accept-encoding", "gzip")]).await;
        bytes += got.header("content-length").parse::<usize>().expect("a number");
    }
    assert!(bytes < 80_000, "{bytes}");
}

#[tokio::test]
async fn page_links_its_hreflang_language_variants() {
    let w = World::new().await;
    let (english, german) = (w.space("English").await, w.space("Deutsch").await);
    w.page(&english, "First", "Start.").await;
    w.page(&english, "Setup", "Text.").await;
    w.page(&english, "Only here", "Text.").await;
    w.page(&german, "Erste", "Anfang.").await;
    w.page(&german, "Setup", "Text.").await;
    let (site, path) = w.site("Docs", &english).await;
    let place = w.place(&site, &german).await;
    let change =
        serde_json::from_value(json!({ "internationalization": { "locale": "de" } })).expect("a change");
    w.me().org(&w.org).site(&site).space(&place).override_customization(change).await.expect("changed");
    let link = |language: &str, path: &str| {
        format!("rel=\"alternate\" hreflang=\"{language}\" href=\"http://docs.test:4000{path}\"")
    };
    // Each page must list all language variants including itself. Otherwise search engines ignore the list.
    for page in ["setup", "deutsch/setup"] {
        let shown = w.html(&format!("{path}{page}")).await;
        for (language, to) in [("en", "setup"), ("de", "deutsch/setup")] {
            assert!(
                shown.contains(&link(language, &format!("{path}{to}"))),
                "{page} lacks {language}: {shown}"
            );
            // The language menu links to the same page.
            assert!(
                shown.contains(&format!("<li><a href=\"{path}{to}\"")),
                "{page} does not lead to {to}: {shown}"
            );
        }
    }
    assert!(w.html(&path).await.contains(&link("de", &format!("{path}deutsch/"))));
    assert!(w.html(&format!("{path}only-here")).await.contains(&format!("<li><a href=\"{path}deutsch/\"")));
    assert!(!w.html(&format!("{path}only-here")).await.contains("hreflang"));
}

#[tokio::test]
async fn text_direction_is_set_per_element() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let made = w.edit(&space, json!([page("API", "Text.")])).await;
    let markdown =
        "{% hint style=\"info\" %}\nملاحظة\n{% endhint %}\n\n```rust\nfn f() {}\n```\n\n## أول\n\n## ثان";
    let mut below = page("مرحبا", markdown);
    below["into"] = made[0].as_str().into();
    below["description"] = "وصف".into();
    below["slug"] = "hello".into();
    w.edit(&space, json!([below])).await;
    let (_, site) = w.site("Docs", &space).await;
    let shown = w.html(&format!("{site}api/hello")).await;
    for part in [
        "<article><nav class=\"crumbs\" dir=\"auto\"",
        "<h1 dir=\"auto\">مرحبا</h1>",
        "<p class=\"lead\" dir=\"auto\">وصف</p>",
        "<div class=\"text\" dir=\"auto\"><div class=\"hint info\"",
        "<span class=\"sign\" dir=\"ltr\"",
        "<figure class=\"code\" dir=\"ltr\">",
        "aria-current=\"page\" dir=\"auto\">مرحبا</a>",
        "dir=\"auto\">أول</a>",
    ] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
}

#[tokio::test]
async fn a_search_shows_a_bounded_number_of_pages_and_places() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let parts: String = (0..4).map(|number| format!("## Part {number}\n\nGold.\n\n")).collect();
    let mut pages = vec![page("Parts", &parts)];
    pages.extend((0..31).map(|number| page(&format!("Page {number}"), "Money.")));
    w.edit(&space, json!(pages)).await;
    let (_, site) = w.site("Docs", &space).await;
    w.platform.settle().await.expect("settled");
    for (query, element, most) in [("money", "<a class=\"name\"", 30), ("gold", "#part-", 3)] {
        let shown = w.html(&format!("{site}~site/search?q={query}")).await;
        let results = shown.split("<ol class=\"results\">").nth(1).expect("results");
        assert_eq!(results.matches(element).count(), most, "{query}: {results}");
    }
}

#[tokio::test]
async fn a_page_is_looked_up_in_a_bounded_number_of_variants() {
    let w = World::new().await;
    let mut spaces = Vec::new();
    for number in 0..22 {
        let space = w.space(&format!("Space {number}")).await;
        w.edit(&space, json!([page("First", "Text."), page("Second", "Text.")])).await;
        spaces.push(space);
    }
    let (site, path) = w.site("Docs", &spaces[0]).await;
    for space in &spaces[1..] {
        w.place(&site, space).await;
    }
    let shown = w.html(&format!("{path}second")).await;
    let leads = |to: &str| {
        (1..22).filter(|number| shown.contains(&format!("<li><a href=\"{path}space-{number}/{to}\""))).count()
    };
    assert_eq!((leads("second"), leads("")), (20, 1), "{shown}");
}
