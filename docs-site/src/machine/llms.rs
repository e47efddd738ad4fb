//! `llms.txt`, the list of a site's pages, and `llms-full.txt`, their full text.

use std::{io, sync::Arc};

use bytes::Bytes;
use docs_core::{
    ErrorKind, Result,
    model::{PageAction, PageId},
};
use futures_util::{Stream, stream};

use super::{
    listed_spaces::ListedSpaces,
    markdown::{markdown_page_within, one_line},
};
use crate::{
    address::SitePlace,
    assets::{MCP, SITE_SEGMENT},
    page::Caches,
    page_tree::PageTree,
    visit::Visit,
};

/// The maximum number of pages in a list, and its maximum size in bytes.
const MAX_LISTED: usize = 10_000;
const MAX_LIST_BYTES: usize = 1 << 20;
/// The number of pages in one part of the full text.
const PART_PAGES: usize = 100;
/// The maximum size of the texts in one part of the full text. Further pages are links.
const MAX_PART_BYTES: usize = 4 << 20;
/// The bytes after each page.
const PAGE_SEPARATOR: &[u8] = b"\n\n";
/// The maximum number of evaluation steps for the conditions and expressions of all pages in one part of the full text.
/// Further pages are links.
const MAX_PART_STEPS: u32 = 2_000_000;

/// Returns the pages of a site by section and space, each with the URL of its Markdown version.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn short_list(visit: &Visit, caches: &Caches) -> Result<String> {
    let here = visit.place()?;
    let base = visit.canonical_base(&here);
    let mut out = format!("# {}\n", one_line(visit.title()));
    if visit.site.customizations.site.offers(PageAction::Mcp) && visit.copy.is_none() {
        out.push_str(&format!(
            "\n> Agents can query {base}{SITE_SEGMENT}/{MCP} (Model Context Protocol, streamable HTTP).\n"
        ));
    }
    let (mut listed, mut is_cut, mut spaces) = (0, false, ListedSpaces::new(visit));
    'site: while let Some((place, summary)) = spaces.next(&caches.sites).await? {
        out.push_str(&format!("\n## {}\n\n", one_line(&space_heading(&place))));
        if summary.listed == 0 {
            continue;
        }
        let frame = visit.page_tree(&caches.sites, &place).await?;
        for at in frame.listed_pages() {
            if listed >= MAX_LISTED || out.len() > MAX_LIST_BYTES {
                is_cut = true;
                break 'site;
            }
            listed += 1;
            let page = &frame.entries[at];
            out.push_str(&page_link(&base, &place, &frame, at));
            if let Some(text) = page.description_text() {
                out.push_str(&format!(": {}", one_line(text)));
            }
            out.push('\n');
        }
    }
    if is_cut || spaces.is_truncated() {
        let map = if visit.has_address() { format!(": {base}sitemap.xml") } else { String::new() };
        out.push_str(&format!("\nThis list is incomplete{map}\n"));
    }
    Ok(out)
}

/// Returns a list item with a link to the Markdown version of a page.
fn page_link(base: &str, place: &SitePlace<'_>, frame: &PageTree, at: usize) -> String {
    let path = frame.address(at);
    let path = if path.is_empty() { "index" } else { &path };
    // Brackets would end the link label.
    let label = one_line(&frame.entries[at].title).replace(['[', ']'], "");
    format!("- [{label}]({base}{}{path}.md)", place.path)
}

/// Returns the heading of a space in a list.
fn space_heading(place: &SitePlace<'_>) -> String {
    match place.section {
        Some(section) if section.site_spaces.len() > 1 => {
            format!("{}: {}", section.title.as_str(), place.space.title)
        }
        Some(section) => section.title.to_string(),
        None => place.space.title.clone(),
    }
}

/// Returns a part of the full text, numbered from 1, as a stream of pages. Returns `None` if the part does not exist.
///
/// # Errors
/// Errors of the platform while the pages are listed. Later errors are logged and replace the text of the page.
pub(crate) async fn full_list(
    visit: Arc<Visit>,
    caches: Arc<Caches>,
    part: usize,
) -> Result<Option<impl Stream<Item = io::Result<Bytes>> + Send + 'static>> {
    let Some(skipped) = part.checked_sub(1).and_then(|part| part.checked_mul(PART_PAGES)) else {
        return Ok(None);
    };
    let base = visit.canonical_base(&visit.place()?);
    let mut pages: Vec<PartPage> = Vec::new();
    let mut seen = 0;
    let (mut at, mut spaces) = (0, ListedSpaces::new(&visit));
    while pages.len() < PART_PAGES
        && let Some((place, summary)) = spaces.next(&caches.sites).await?
    {
        let passed = skipped.saturating_sub(seen);
        if passed < summary.listed {
            let frame = visit.page_tree(&caches.sites, &place).await?;
            let own = frame.listed_pages().skip(passed).take(PART_PAGES - pages.len());
            pages.extend(own.map(|page| PartPage {
                place: at,
                id: frame.entries[page].id.clone(),
                link: page_link(&base, &place, &frame, page),
            }));
        }
        seen += summary.listed;
        at += 1;
    }
    if pages.is_empty() {
        return Ok(None);
    }
    let pages = stream::unfold((pages.into_iter(), Some(PartBudget::new())), move |(mut pages, left)| {
        let (visit, caches) = (Arc::clone(&visit), Arc::clone(&caches));
        async move {
            let page = pages.next()?;
            let (text, left) = match left {
                Some(left) => page_text(&visit, &caches, &page, left).await,
                None => (None, None),
            };
            let text = text.unwrap_or_else(|| format!("{}\n", page.link).into());
            Some((Ok(text), (pages, left)))
        }
    });
    Ok(Some(pages))
}

/// The remaining budget of a part of the full text. It is charged for cached pages too, so that a part does not depend
/// on the cache.
struct PartBudget {
    bytes: usize,
    steps: u32,
}

impl PartBudget {
    const fn new() -> Self {
        Self { bytes: MAX_PART_BYTES, steps: MAX_PART_STEPS }
    }

    /// Deducts the costs of a page. Returns `None` if they exceed the budget.
    fn after(&self, bytes: usize, steps: u32) -> Option<Self> {
        Some(Self { bytes: self.bytes.checked_sub(bytes)?, steps: self.steps.checked_sub(steps)? })
    }
}

/// A page in a part of the full text.
struct PartPage {
    /// The index of its space in the site.
    place: usize,
    id: PageId,
    /// The link that replaces its text.
    link: String,
}

/// Returns the text of a page, or a note if the page cannot be rendered, with the remaining budget. Returns `None` for
/// a page beyond the budget.
async fn page_text(
    visit: &Visit,
    caches: &Caches,
    page: &PartPage,
    left: PartBudget,
) -> (Option<Bytes>, Option<PartBudget>) {
    let Some(place) = visit.places().into_iter().nth(page.place) else {
        return (Some(Bytes::new()), Some(left));
    };
    match markdown_page_within(visit, caches, place, &page.id, left.steps).await {
        Ok(page) => {
            let left = left.after(page.body.bytes.len() + PAGE_SEPARATOR.len(), page.steps);
            let text = left.is_some().then(|| [&page.body.bytes[..], PAGE_SEPARATOR].concat().into());
            (text, left)
        }
        // The page takes more steps than the part has left.
        Err(error) if error.kind() == ErrorKind::TooLarge => (None, None),
        // The page was removed or hidden after it was listed.
        Err(error) if error.kind() == ErrorKind::NotFound => (Some(Bytes::new()), Some(left)),
        // The stream continues with the following pages, and a note replaces the missing one.
        Err(error) => {
            tracing::error!(?error, page = %page.id, "failed to render Markdown of page");
            let note = Bytes::from_static(b"(This page is missing because of a server error.)\n\n\n");
            (Some(note), Some(left))
        }
    }
}
