//! Pages as Markdown with resolved references.

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

use crate::{
    gather::gather_references,
    page::{Caches, Scene},
};

/// A page as Markdown, preceded by its title and description.
///
/// # Errors
/// Those of the platform; `NotFound` for a page that was removed in the meantime.
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
    gather_references(visit, &caches.sites, targets.iter(), &mut scene.addresses).await?;
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

/// The relative path from a file to the root of the site. `path` is the file's path below the site.
pub(crate) fn above(path: &str) -> String {
    match path.matches('/').count() {
        0 => "./".to_owned(),
        depth => "../".repeat(depth),
    }
}

/// The absolute address of a link. If the address of the site is unknown, the link becomes relative to the
/// file, with `up` as the path to the root of the site.
fn absolute(scene: &Scene<'_>, up: &str, href: &str) -> String {
    let base = if scene.visit.has_address() { &scene.canonical_base } else { up };
    match href.strip_prefix(scene.site_base()) {
        Some(below) => scene.visit.address(base, below),
        None => href.to_owned(),
    }
}

/// Joins text into one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
