//! Redirects of pages, and their precedence.

use docs_core::model::{PageId, SiteId, SiteVisibility, SpaceId};
use poem::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    leaks::claims_schema,
    settings::import,
    world::{Got, World, token},
};

async fn change(w: &World, space: &SpaceId, page: &PageId, fields: Value) {
    let mut change = json!({ "operation": "update_page", "page": page });
    change.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    w.edit(space, json!([change])).await;
}

async fn below(w: &World, space: &SpaceId, parent: &PageId, title: &str) -> PageId {
    let insert = json!({ "operation": "insert_page", "title": title, "into": parent,
        "document": { "markdown": "Text." } });
    w.edit(space, json!([insert])).await.remove(0)
}

/// Creates a redirect of the site to a page.
async fn site_redirect(w: &World, site: &SiteId, source: &str, page: &PageId) {
    let site = w.me().org(&w.org).site(site);
    let place =
        site.spaces().list(Default::default(), &Default::default()).await.expect("places").items.remove(0);
    let new = json!({ "source": source, "destination":
        { "kind": "site-page", "siteSpaceId": place.id, "pageId": page } });
    site.redirects().create(serde_json::from_value(new).expect("a redirect")).await.expect("created");
}

/// Returns the target of a temporary redirect.
fn led(got: &Got) -> &str {
    assert_eq!(got.status, StatusCode::TEMPORARY_REDIRECT, "{got:?}");
    assert_eq!(got.header("cache-control"), "no-store");
    got.header("location")
}

#[tokio::test]
async fn old_paths_of_a_page_and_its_descendants_redirect() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let second = w.page(&space, "Second", "Text.").await;
    below(&w, &space, &second, "Below").await;
    let third = w.page(&space, "Third", "Text.").await;
    let (_, path) = w.site("Docs", &space).await;
    assert_eq!(w.get(&format!("{path}other")).await.status, StatusCode::NOT_FOUND);
    change(&w, &space, &second, json!({ "slug": "zwei" })).await;
    change(&w, &space, &second, json!({ "into": third })).await;
    for (old, new) in [
        ("second", "third/zwei"),
        ("Second/BELOW", "third/zwei/below"),
        ("zwei/below/", "third/zwei/below"),
        ("zwei?a=b&c", "third/zwei?a=b&c"),
        ("second/below.md", "third/zwei/below.md"),
    ] {
        assert_eq!(led(&w.get(&format!("{path}{old}")).await), format!("{path}{new}"), "{old}");
        w.html(&format!("{path}{new}")).await;
    }
    for other in ["other", "second/other", "below"] {
        assert_eq!(w.get(&format!("{path}{other}")).await.status, StatusCode::NOT_FOUND, "{other}");
    }
    // An existing page takes precedence.
    w.page(&space, "Second", "Another one.").await;
    assert!(w.html(&format!("{path}second")).await.contains("Another one."));
    assert_eq!(led(&w.get(&format!("{path}second/below")).await), format!("{path}third/zwei/below"));
}

// Moved pages take precedence over redirects from the repository, and these over redirects of the site.
#[tokio::test]
async fn moves_precede_repository_and_site_redirects() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.git.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n* [B](b.md)\n");
    w.git.put("a.md", "# A\n\n## Äh part\n");
    w.git.put("b.md", "# B\n\nThe same text.\n");
    w.git.put(
        ".gitbook.yaml",
        "redirects:\n  old/page: a.md#äh-part\n  both: a.md\n  b: a.md\n  start: README.md\n",
    );
    import(&w, &space, json!({})).await;
    let (site, path) = w.site("Docs", &space).await;
    let pages = w.me().space(&space).content().list_pages(Default::default()).await.expect("pages").pages;
    let pages = serde_json::to_value(pages).expect("JSON");
    let b: PageId = pages[2]["id"].as_str().expect("an id").parse().expect("an id");
    site_redirect(&w, &site, "/both", &b).await;
    site_redirect(&w, &site, "/site", &b).await;
    let at = async |old: &str| w.get(&format!("{path}{old}")).await;
    assert_eq!(led(&at("old/page").await), format!("{path}a#%C3%A4h-part"));
    assert_eq!(led(&at("start").await), path, "the first page has the address of the site");
    assert_eq!(led(&at("both").await), format!("{path}a"));
    assert_eq!(led(&at("site").await), format!("http://docs.test:4000{path}b"));
    assert!(w.html(&format!("{path}b")).await.contains("The same text."));
    // The redirect of a moved page takes precedence over one from the repository.
    w.git.remove("b.md");
    w.git.put("c.md", "# B\n\nThe same text.\n");
    w.git.put("SUMMARY.md", "* [Welcome](README.md)\n* [A](a.md)\n* [B](c.md)\n");
    import(&w, &space, json!({})).await;
    assert_eq!(led(&at("b").await), format!("{path}c"));
}

// Links to the HTML output of a book keep working: `book.toml` has parts and chapters that its folders do not have.
#[tokio::test]
async fn html_paths_of_an_imported_book_redirect_to_its_pages() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.git.put("book.toml", "[output.html.redirect]\n\"/old/place.html\" = \"../start/qemu.html#run\"\n");
    w.git.put(
        "src/SUMMARY.md",
        "[Welcome](index.md)\n\n# User guide\n\n- [Start](start/index.md)\n  - [QEMU](start/qemu.md)\n\
         - [Note](note.md)\n",
    );
    for (path, title) in
        [("index", "Welcome"), ("start/index", "Start"), ("start/qemu", "QEMU"), ("note", "Note")]
    {
        w.git.put(&format!("src/{path}.md"), format!("# {title}\n\n## Run\n"));
    }
    import(&w, &space, json!({})).await;
    let (site, path) = w.site("Docs", &space).await;
    let note = below(&w, &space, &w.page(&space, "Other", "Text.").await, "Note").await;
    site_redirect(&w, &site, "/legacy.html", &note).await;
    let at = async |old: &str| w.get(&format!("{path}{old}")).await;
    for (old, new) in [
        ("index.html", ""),
        ("index.html?a=b", "?a=b"),
        ("start/index.html", "user-guide/start"),
        ("start", "user-guide/start"),
        ("start/qemu.html", "user-guide/start/qemu"),
        ("start/qemu.html?search=x", "user-guide/start/qemu?search=x"),
        ("START/qemu", "user-guide/start/qemu"),
        ("old/place.html", "user-guide/start/qemu#run"),
        ("note.html", "user-guide/note"),
        ("user-guide/note.html", "user-guide/note"),
    ] {
        assert_eq!(led(&at(old).await), format!("{path}{new}"), "{old}");
    }
    assert_eq!(led(&at("legacy.html").await), format!("http://docs.test:4000{path}other/note"));
    for missing in ["start/other.html", ".html", "start.html/qemu", "start/qemu.htm"] {
        assert_eq!(at(missing).await.status, StatusCode::NOT_FOUND, "{missing}");
    }
}

#[tokio::test]
async fn redirects_do_not_reveal_hidden_pages() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let secret = w.page(&space, "Secret", "The secret text.").await;
    below(&w, &space, &secret, "Below").await;
    let (site, path) = w.site("Docs", &space).await;
    w.update(&site, json!({ "adaptiveContent": { "enabled": true } })).await;
    let schema = serde_json::from_value(claims_schema()).expect("a schema");
    w.me().org(&w.org).site(&site).set_adaptive_schema(schema).await.expect("set");
    change(&w, &space, &secret, json!({ "slug": "zugedeckt", "condition": "visitor.claims.beta" })).await;
    w.show(&site, SiteVisibility::Public).await;
    for old in ["secret", "secret/below", "secret.md"] {
        let got = w.get(&format!("{path}{old}")).await;
        assert_eq!(got.status, StatusCode::NOT_FOUND, "{old}");
        assert!(got.header("location").is_empty() && !got.body.contains("zugedeckt"), "{got:?}");
    }
    let claims = token(&w.key(&site).await, &json!({ "beta": true, "exp": w.seconds() + 600 }));
    let cookie = format!("docs-visitor={claims}");
    let got = w.ask(Method::GET, &format!("{path}secret/below"), &[("cookie", &cookie)]).await;
    assert_eq!(led(&got), format!("{path}zugedeckt/below"));
}

#[tokio::test]
async fn site_redirects_follow_wildcards_and_external_targets() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    let handle = || w.me().org(&w.org).site(&site).redirects();
    let create = async |source: &str, url: &str, more: Value| {
        let mut new = json!({ "source": source, "destination": { "kind": "external", "url": url } });
        new.as_object_mut().expect("an object").extend(more.as_object().expect("fields").clone());
        handle().create(serde_json::from_value(new).expect("a redirect")).await.expect("created");
    };
    create("/go/*", "https://a.test/x", json!({ "captureWildcard": true })).await;
    create("/c++", "https://a.test/cpp", json!({ "permanent": true })).await;
    create("/secret", "https://a.test/secret", json!({ "draft": true })).await;
    let at = async |old: &str| w.get(&format!("{path}{old}")).await;
    assert_eq!(led(&at("go/a/B%20c?q=1").await), "https://a.test/x/a/B%20c");
    for old in ["c++", "c%2B%2B", "C++"] {
        let got = at(old).await;
        assert_eq!(got.status, StatusCode::PERMANENT_REDIRECT, "{old}");
        assert_eq!((got.header("location"), got.header("cache-control")), ("https://a.test/cpp", "no-store"));
    }
    for old in ["secret", "go", "gone/a", "first/go/a"] {
        assert_eq!(at(old).await.status, StatusCode::NOT_FOUND, "{old}");
    }
    // On a site for some visitors, a permanent redirect is temporary.
    w.show(&site, SiteVisibility::ShareLink).await;
    let link = serde_json::from_value(json!({ "name": "Friends" })).expect("a link");
    let link = w.me().org(&w.org).site(&site).share_links().create(link).await.expect("a link");
    let link = crate::world::path_of(link.urls.published.as_deref().expect("an address"));
    assert_eq!(led(&w.get(&format!("{link}c++")).await), "https://a.test/cpp");
}
