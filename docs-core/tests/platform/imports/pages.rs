//! Imports below a page.

use super::*;
use crate::comments::edit;

impl Setting {
    async fn import_below(
        &self,
        page: &PageId,
        url: &str,
        source: &str,
    ) -> docs_core::Result<ImportContentResult> {
        let request: ImportContent =
            serde_json::from_value(json!({ "url": url, "source": source })).expect("a request");
        self.w.as_admin().content(&self.of).import_in_page(page, request).await
    }
}

#[tokio::test]
async fn page_import_adds_child_pages_after_existing_ones() {
    let s = Setting::new().await;
    s.web.put("https://a.test/x", HTML, "<h1>Parent</h1><p>text</p>");
    s.import("https://a.test/x", "html").await;
    let (parent, _) = s.at("parent").await;
    let book =
        "# Table of contents\n\n* [Start](start.md)\n\n## Guides\n\n* [One](one.md)\n  * [Two](two.md)\n";
    let files: [(&str, &[u8]); 4] = [
        ("SUMMARY.md", book.as_bytes()),
        ("start.md", b"# Start\n\n[Two](two.md)\n"),
        ("one.md", b"# One\n"),
        ("two.md", b"# Two\n"),
    ];
    s.web.put("https://a.test/x.zip", "application/zip", archive(&files));
    for round in ["", "-2"] {
        let done = s.import_below(&parent, "https://a.test/x.zip", "zip").await.expect("imported");
        let now = s.w.as_admin().space(s.space()).get().await.expect("read");
        assert_eq!((now.revision, done.imported_resources), (done.revision, 3));
        let two = s.at(&format!("parent/guides{round}/one/two")).await.0;
        assert_eq!(s.at(&format!("parent/start{round}")).await.1, format!("[Two](/pages/{two})\n"));
    }
    // A group below a page is a page without text.
    assert_eq!(s.at("parent/guides").await.1, "");
    let below = ["start", "guides", "guides/one", "guides/one/two"];
    let below = below.into_iter().chain(["start-2", "guides-2", "guides-2/one", "guides-2/one/two"]);
    let paths: Vec<String> =
        std::iter::once("parent".to_owned()).chain(below.map(|path| format!("parent/{path}"))).collect();
    assert_eq!(s.paths().await, paths);
    s.check().await;
}

#[tokio::test]
async fn page_import_requires_a_page_that_can_have_children() {
    let s = Setting::new().await;
    let draft = s.w.request(s.space()).await;
    let link = json!({
        "operation": "insert_page", "type": "link", "title": "Away",
        "target": { "kind": "url", "url": "https://b.test/" },
    });
    edit(&s.w, s.space(), &draft, link).await;
    let of = ContentVersion::request(s.space().clone(), &draft);
    let content = s.w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read");
    let link = match &content.pages[..] {
        [RevisionPage::Link(link)] => link.base.id.clone(),
        other => panic!("{other:?}"),
    };
    let request = || -> ImportContent {
        serde_json::from_value(json!({ "url": "https://a.test/x", "source": "html" })).expect("a request")
    };
    let error = s.w.as_admin().content(&of).import_in_page(&link, request()).await;
    let error = error.refused(ErrorKind::Invalid);
    assert_eq!(error.message(), "pageId: must be a page that can have child pages");
    let missing: PageId = "missing".parse().expect("an id");
    s.w.as_admin().content(&of).import_in_page(&missing, request()).await.refused(ErrorKind::NotFound);
    // The link exists in the change request only.
    s.w.as_admin().content(&s.of).import_in_page(&link, request()).await.refused(ErrorKind::NotFound);
    assert_eq!(s.web.urls(), [""; 0], "nothing was fetched");
}
