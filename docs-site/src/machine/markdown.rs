//! Pages as Markdown, with addresses in place of references.

use docs_core::{
    Result,
    content::{
        Evaluated,
        markdown::{Resolution, links, rewrite_links},
        reference::exactly,
    },
    model::{ContentFormat, ContentRef, PageId, RevisionPage},
    platform::Shown,
};

use crate::{cache::Caches, gather::gather_references, page::Scene};

/// A page as Markdown, its title and description before its text.
///
/// # Errors
/// The platform's; `NotFound` for a page that was removed just now.
pub(crate) async fn page_markdown(scene: &mut Scene<'_>, caches: &Caches, page: &PageId) -> Result<String> {
    let shown =
        Shown { git: false, format: ContentFormat::Markdown, evaluated: Evaluated::Yes, ..Shown::default() };
    let space = scene.addresses.space.clone();
    let id = page.clone();
    let page = match scene.visit.content(&space).get_page(page, shown).await? {
        RevisionPage::Document(page) => *page,
        _ => return Err(docs_core::Error::not_found("page")),
    };
    let text = page.markdown.unwrap_or_default();
    let targets: Vec<ContentRef> =
        links(&text).iter().filter_map(|link| exactly(&link.destination)).collect();
    let visit = scene.visit;
    gather_references(visit, caches, targets.iter(), &mut scene.addresses).await?;
    let own = scene.frame.page(&id).and_then(|at| scene.addresses.of_entry(&space, &scene.frame, at));
    let own = own.unwrap_or_default();
    let up = above(own.strip_prefix(scene.site_base()).unwrap_or_default());
    let text = rewrite_links(&text, |link| match exactly(&link.destination) {
        None => Resolution::Keep,
        Some(target) => match scene.addresses.target(&target).href {
            Some(href) => Resolution::To(absolute(scene, &up, &href)),
            None => Resolution::Plain,
        },
    });
    let mut out = format!("# {}\n\n", one_line(&page.base.title));
    if let Some(description) = page.description.as_deref().filter(|text| !text.trim().is_empty()) {
        out.push_str(&format!("> {}\n\n", one_line(description)));
    }
    out.push_str(text.trim_end());
    out.push('\n');
    Ok(out)
}

/// The way from a file to the root of a site, by its path below that.
pub(crate) fn above(path: &str) -> String {
    match path.matches('/').count() {
        0 => "./".to_owned(),
        depth => "../".repeat(depth),
    }
}

/// An address that can be followed from anywhere; where nobody knows where the site is, from its file: the way from
/// there to the site stands before.
fn absolute(scene: &Scene<'_>, up: &str, href: &str) -> String {
    let base = if scene.visit.has_address() { &scene.canonical_base } else { up };
    match href.strip_prefix(scene.site_base()) {
        Some(below) => scene.visit.address(base, below),
        None => href.to_owned(),
    }
}

/// Text without line ends.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
