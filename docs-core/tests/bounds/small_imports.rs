//! Imports of a few hundred bytes that expand to many pages: memory is proportional to the number of pages and is
//! released.

use docs_core::{
    content::gitsync,
    model::{MAX_COMPUTED_PAGES, MAX_PAGE_LEVELS, MAX_SIBLINGS, PutOpenApiSpec, RevisionPage, SpecSource},
};
use zip::CompressionMethod::Deflated;

use super::*;

/// Maximum peak memory in bytes per imported page: its edit, its map entries, and their nodes.
const BYTES_OF_PAGE: usize = 9_000;
/// Maximum memory in bytes per page after the import: caches, and the objects of the page, which are in memory here.
const KEPT_OF_PAGE: usize = 3_500;

fn contents(text: String) -> Vec<u8> {
    archive(&[("SUMMARY.md".to_owned(), text.into_bytes())], Deflated)
}

impl Setting {
    /// Returns the log of the latest job.
    async fn log(&self) -> String {
        let space = || self.platform.as_actor(&self.admin).space(&self.space);
        let job = space().list_jobs(&PageRequest::default()).await.expect("listed").items.remove(0);
        let job = space().get_job(&job.id).await.expect("a job");
        job.log.iter().map(|line| format!("{}\n", line.text)).collect()
    }
}

fn count(pages: &[RevisionPage]) -> usize {
    let below = |page: &RevisionPage| match page {
        RevisionPage::Document(page) => count(&page.pages),
        RevisionPage::Group(page) => count(&page.pages),
        _ => 0,
    };
    pages.iter().map(|page| 1 + below(page)).sum()
}

#[tokio::test]
async fn many_equal_entries_take_memory_that_follows_the_pages() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let entries = gitsync::MAX_ITEMS - 100;
    let packed = contents("* a\n".repeat(entries));
    assert!(packed.len() < 400, "{} bytes", packed.len());
    setting.serve("application/zip", packed);
    measured.restart();
    setting.import("zip").await.expect("imported");
    let (peak, kept) = (measured.peak(), measured.kept());
    eprintln!(
        "{entries} entries: {} bytes a page at once, {} kept",
        peak / MAX_SIBLINGS,
        kept / MAX_SIBLINGS
    );
    assert!(peak < MAX_SIBLINGS * BYTES_OF_PAGE, "{peak} bytes at once");
    assert!(kept < MAX_SIBLINGS * KEPT_OF_PAGE, "{kept} bytes are kept");
    assert_eq!(setting.pages().await.len(), MAX_SIBLINGS);
    let said = setting.log().await;
    assert!(said.contains(&format!("{} pages skipped", entries - MAX_SIBLINGS)), "{said}");
}

#[tokio::test]
async fn deep_entries_take_memory_that_follows_the_pages() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let entries = gitsync::MAX_ITEMS - 100;
    let title = "x".repeat(95);
    let line = |number: usize| format!("{}* {title}\n", "  ".repeat(number % MAX_PAGE_LEVELS));
    setting.serve("application/zip", contents((0..entries).map(line).collect()));
    measured.restart();
    setting.import("zip").await.expect("imported");
    let pages = count(&setting.pages().await);
    let (peak, kept) = (measured.peak(), measured.kept());
    eprintln!("{entries} deep entries: {} bytes a page at once, {} kept", peak / pages, kept / pages);
    assert!(peak < pages * 2 * BYTES_OF_PAGE, "{peak} bytes at once for {pages} pages");
    assert!(kept < pages * 2 * KEPT_OF_PAGE, "{kept} bytes are kept of {pages} pages");
    let said = setting.log().await;
    assert!(said.contains(&format!("{} pages skipped", entries - pages)), "{said}");
}

/// Imports a space with the pages of a specification of 2,000 tags, embedded 200 times.
async fn import_computed_pages(setting: &Setting) {
    let tags: Vec<_> =
        (0..2_000).map(|number| json!({ "name": format!("t{number}"), "summary": "a" })).collect();
    let text =
        json!({ "openapi": "3.1.0", "info": { "title": "x", "version": "1" }, "tags": tags, "paths": {} });
    let put = PutOpenApiSpec { source: SpecSource::Text(text.to_string()) };
    let specs = setting.platform.as_actor(&setting.admin).org(&setting.org);
    specs.openapi_spec("api").put(put).await.expect("put");
    setting.platform.settle().await.expect("settled");
    let block = "* ```yaml\n  type: builtin:openapi\n  dependencies:\n    spec:\n      ref: {kind: openapi, spec: api}\n  ```\n";
    let packed = contents(block.repeat(200));
    assert!(packed.len() < 400, "{} bytes", packed.len());
    setting.serve("application/zip", packed);
    setting.import("zip").await.expect("imported");
}

#[tokio::test]
async fn computed_pages_of_a_space_are_bounded_in_all_places_together() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    import_computed_pages(&setting).await;
    measured.restart();
    let pages = setting.pages().await;
    assert_eq!(count(&pages), MAX_COMPUTED_PAGES);
    assert_eq!(setting.pages().await, pages, "those that are left out are always the same");
    assert!(measured.peak() < 40 * MB, "{} MB", measured.peak() / MB);
}

#[tokio::test]
async fn reading_a_computed_page_does_not_generate_all() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    import_computed_pages(&setting).await;
    let pages = setting.pages().await;
    let reader = setting.platform.as_actor(&setting.admin);
    for page in pages.iter().rev().take(3) {
        let RevisionPage::Document(page) = page else { panic!("{page:?}") };
        measured.restart();
        let read =
            reader.space(&setting.space).content().get_page(&page.base.id, ContentOptions::default()).await;
        let RevisionPage::Document(read) = read.expect("a page") else { panic!("it has no content") };
        assert_eq!(read.base.title, page.base.title);
        assert!(measured.peak() < MB / 2, "{} bytes", measured.peak());
    }
}
