//! Static export, and the tower service.

use std::{collections::BTreeMap, io};

use docs_core::{ErrorKind, model::SiteVisibility};
use docs_site::{ExportOptions, ExportTarget, SiteConfig, Sites};
use poem::http::{Request, StatusCode};
use serde_json::json;
use tower::ServiceExt as _;

use crate::world::World;

/// A folder in memory.
#[derive(Default)]
pub(crate) struct Files(BTreeMap<String, Vec<u8>>);

impl ExportTarget for Files {
    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.entry(path.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }
}

impl Files {
    pub(crate) fn text(&self, path: &str) -> String {
        let names: Vec<_> = self.0.keys().collect();
        let bytes = self.0.get(path).unwrap_or_else(|| panic!("{path} of {names:?}"));
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Returns options for files that will be served at a known URL.
fn at_host() -> ExportOptions {
    ExportOptions::for_url(url::Url::parse("http://host.test/deep/docs").expect("an address"))
}

/// Returns `true` if a web server can serve a link in a page from the files.
fn answered(files: &Files, page: &str, link: &str) -> bool {
    let base = url::Url::parse(&format!("http://host.test/deep/docs/{page}")).expect("an address");
    let to = base.join(link).expect("a link");
    let Some(path) = to.path().strip_prefix("/deep/docs/") else { return false };
    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
    let path = if path.is_empty() || path.ends_with('/') { format!("{path}index.html") } else { path };
    files.0.contains_key(&path)
}

#[tokio::test]
async fn exported_links_resolve_below_any_path() {
    let w = World::new().await;
    let (guide, api) = (w.space("Guide").await, w.space("Reference").await);
    let first = w.page(&guide, "First", "Start.\n\n## Part\n\nText.").await;
    let picture = json!({ "operation": "insert_files", "files": [
        { "name": "a b.png", "base64": "iVBORw0KGgo=", "contentType": "image/png", "ref": "p" }] });
    let uses = json!({ "operation": "insert_page", "title": "Überblick", "document": { "markdown":
        format!("![p](/files/p) [first](/pages/{first}#part) [wrong](/pages/{first}#nothing)") } });
    let made = w.edit(&guide, json!([picture, uses])).await;
    let below = json!({ "operation": "insert_page", "title": "Below", "into": made[0],
        "document": { "markdown": format!("[other](/spaces/{api}) [up](/pages/{first})") } });
    let hidden = json!({ "operation": "insert_page", "title": "Only for some", "condition": "visitor.claims.beta",
        "document": { "markdown": "markq" } });
    w.edit(&guide, json!([below, hidden])).await;
    w.page(&api, "Calls", "Reference.").await;
    let (site, path) = w.site("Docs", &guide).await;
    w.place(&site, &api).await;
    w.update(&site, json!({ "adaptiveContent": { "enabled": true } })).await;
    let sites = Sites::new(&w.platform, SiteConfig::default()).expect("an address");
    let mut files = Files::default();
    let done = sites.export(&path, &at_host(), &mut files).await.expect("exported");
    assert_eq!((done.pages, done.files), (4, 1), "{:?}", files.0.keys());
    let wrong: Vec<&str> = done.broken.iter().map(|link| link.target.as_str()).collect();
    assert!(matches!(wrong.as_slice(), [only] if only.ends_with("#nothing")), "{wrong:?}");
    assert!(files.text("index.html").contains("Start."));
    assert!(files.text("first/index.html").contains("url=../"), "{}", files.text("first/index.html"));
    assert!(files.text("index.md").starts_with("# First\n"));
    for name in ["404.html", "sitemap.xml", "robots.txt", "llms.txt", "rss.xml", "reference/index.html"] {
        assert!(files.0.contains_key(name), "{name} of {:?}", files.0.keys());
    }
    let mut checked = 0;
    for (name, bytes) in &files.0 {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("markq"), "{name}");
        let Some(page) = name.strip_suffix("index.html") else { continue };
        assert!(!text.contains("=\"/sites/"), "{name}: {text}");
        assert!(!text.contains("class=\"find\""), "there is nothing that searches");
        for attribute in [" href=\"", " src=\""] {
            for link in text.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()) {
                let is_known = link.contains("://")
                    || link.starts_with('#')
                    || done.broken.iter().any(|it| it.target == link);
                checked += 1;
                assert!(is_known || answered(&files, page, link), "{name}: {link} of {:?}", files.0.keys());
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

#[tokio::test]
async fn non_public_sites_cannot_be_exported() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Secret.").await;
    let (site, path) = w.site("Docs", &space).await;
    let sites = Sites::new(&w.platform, SiteConfig::default()).expect("an address");
    w.show(&site, SiteVisibility::Unlisted).await;
    let mut files = Files::default();
    let refused =
        sites.export(&path, &ExportOptions::default(), &mut files).await.expect_err("it is not public");
    assert_eq!(refused.kind(), ErrorKind::Forbidden);
    assert!(refused.to_string().contains("public"), "{refused}");
    for visibility in [SiteVisibility::VisitorAuth, SiteVisibility::ShareLink] {
        w.show(&site, visibility).await;
        assert!(sites.export(&path, &ExportOptions::default(), &mut files).await.is_err());
    }
    assert_eq!(
        sites.export("/sites/none/", &ExportOptions::default(), &mut files).await.expect_err("none").kind(),
        ErrorKind::NotFound
    );
    assert!(files.0.is_empty());
}

#[tokio::test]
async fn exports_contain_only_known_addresses_and_no_server_urls() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let first = w.page(&space, "First", "Start.").await;
    let picture = json!({ "operation": "insert_files", "files": [
        { "name": "a b.png", "base64": "iVBORw0KGgo=", "contentType": "image/png", "ref": "p" }] });
    let below = json!({ "operation": "insert_page", "title": "Below", "into": first, "document": { "markdown":
        format!("![p](/files/p) [up](/pages/{first}) [self](/pages/{first}#part)") } });
    w.edit(&space, json!([picture, below])).await;
    let (site, path) = w.site("Docs", &space).await;
    w.look(&site, json!({ "pageActions": { "markdown": true, "mcp": true, "externalAI": false } })).await;
    let sites = Sites::new(&w.platform, SiteConfig::default()).expect("an address");
    for (options, base) in
        [(at_host(), Some("http://host.test/deep/docs/")), (ExportOptions::default(), None)]
    {
        let mut files = Files::default();
        sites.export(&path, &options, &mut files).await.expect("exported");
        for (name, bytes) in &files.0 {
            let text = String::from_utf8_lossy(bytes);
            assert!(!text.contains("docs.test:4000") && !text.contains("/sites/"), "{name}: {text}");
        }
        let (page, text) = (files.text("first/below/index.html"), files.text("first/below.md"));
        let list = files.text("llms.txt");
        let root = if base.is_some() { "/deep/docs/" } else { "/" };
        assert!(files.text("404.html").contains(&format!("href=\"{root}~site/site.")));
        assert!(!list.contains("mcp"), "{list}");
        match base {
            Some(base) => {
                assert!(page.contains(&format!("rel=\"canonical\" href=\"{base}first/below/\"")), "{page}");
                assert!(files.text("sitemap.xml").contains(&format!("<loc>{base}first/below/</loc>")));
                assert!(files.text("rss.xml").contains(&format!("<link>{base}first/below/</link>")));
                assert!(files.text("robots.txt").contains(&format!("Sitemap: {base}sitemap.xml")));
                assert!(list.contains(&format!("]({base}first/below.md)")), "{list}");
                assert!(
                    text.contains(&format!("[up]({base})")) && text.contains(&format!("({base}files/")),
                    "{text}"
                );
            }
            None => {
                assert!(
                    !page.contains("canonical") && !page.contains("og:url") && !page.contains("rss"),
                    "{page}"
                );
                assert!(!files.0.contains_key("sitemap.xml") && !files.0.contains_key("rss.xml"));
                assert!(!files.text("robots.txt").contains("Sitemap"));
                assert!(list.contains("](first/below.md)"), "{list}");
                assert!(text.contains("[up](../)") && text.contains("(../files/"), "{text}");
            }
        }
    }
    let wrong = ExportOptions::for_url(url::Url::parse("ftp://host.test/").expect("an address"));
    let refused = sites.export(&path, &wrong, &mut Files::default()).await.expect_err("no web");
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn path_conflicts_are_reported_before_writing() {
    for (titles, paths) in [
        (vec!["robots.txt"], vec!["robots.txt"]),
        (vec!["llms.txt"], vec!["llms.txt"]),
        (vec!["rss.xml"], vec!["rss.xml"]),
        (vec!["404.html"], vec!["404.html"]),
        (vec!["A", "A.md"], vec!["a", "a.md"]),
        (vec!["Other", "Index"], vec!["other", "index"]),
    ] {
        let w = World::new().await;
        let space = w.space("Guide").await;
        w.page(&space, "First", "Start.").await;
        for (title, path) in titles.iter().zip(&paths) {
            let insert = json!({ "operation": "insert_page", "title": title, "slug": path,
                "document": { "markdown": "Text." } });
            w.edit(&space, json!([insert])).await;
        }
        let (_, site) = w.site("Docs", &space).await;
        let sites = Sites::new(&w.platform, SiteConfig::default()).expect("an address");
        let mut files = Files::default();
        let refused = sites.export(&site, &at_host(), &mut files).await.expect_err("no files");
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{titles:?}: {refused}");
        let named = format!("the page “{}”", titles.last().expect("a title"));
        assert!(refused.to_string().contains(&named), "{refused}");
        assert!(files.0.is_empty(), "{:?}", files.0.keys());
    }
}

#[tokio::test]
async fn sites_can_be_served_as_a_tower_service() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    let (_, path) = w.site("Docs", &space).await;
    let service = Sites::new(&w.platform, SiteConfig::default()).expect("an address").into_tower();
    for (path, status) in [(path.as_str(), StatusCode::OK), ("/v1/orgs", StatusCode::NOT_FOUND)] {
        let request = Request::builder().uri(path).header("host", "docs.test:4000");
        let request = request.body(http_body_util::Full::new(bytes::Bytes::new())).expect("a request");
        let response = service.clone().oneshot(request).await.expect("an answer");
        assert_eq!(response.status(), status, "{path}");
    }
}
