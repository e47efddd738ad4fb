//! Pages as Markdown with resolved references.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use docs_core::{
    Result,
    content::{
        Evaluated,
        markdown::{Resolution, links, rewrite_links},
        reference::parse_exact,
        run_on_text,
    },
    model::{ContentFormat, ContentRef, PageId, RevisionPage},
    platform::ContentOptions,
};

use super::markdown_page::MarkdownPage;
use crate::{
    address::SitePlace,
    gather::gather_targets,
    page::{Caches, PageContext, PageKey, SpaceKey, find_page},
    render::MAX_RESOLVED_BYTES,
    sources::Basis,
    visit::Visit,
};

/// Returns a page of a space as Markdown, from the cache if possible.
///
/// # Errors
/// Same as [`page_markdown`].
pub(crate) async fn markdown_page(
    visit: &Visit,
    caches: &Caches,
    place: SitePlace<'_>,
    page: &PageId,
) -> Result<Arc<MarkdownPage>> {
    markdown_page_within(visit, caches, place, page, u32::MAX).await
}

/// Returns a page of a space as Markdown, from the cache if possible, for an answer with `most` remaining evaluation
/// steps. A cached page may have taken more.
///
/// # Errors
/// Same as [`page_markdown`].
pub(super) async fn markdown_page_within(
    visit: &Visit,
    caches: &Caches,
    place: SitePlace<'_>,
    page: &PageId,
    most: u32,
) -> Result<Arc<MarkdownPage>> {
    let key = match visit.is_live() {
        true => {
            let (key, _) = visit.keyed_page_tree(&caches.sites, &place).await?;
            let space = SpaceKey::new(visit, (key, &place.space.id));
            Some(PageKey { space, page: page.clone(), versions: None })
        }
        false => None,
    };
    let render = async {
        let mut scene = PageContext::load_place(visit, caches, place).await?;
        let (text, steps) = page_markdown(&mut scene, caches, page, most).await?;
        // The Markdown version does not contain specifications.
        let basis = Basis::new(&scene.addresses, Default::default());
        Ok(MarkdownPage::new(text, steps, basis))
    };
    match key {
        Some(key) => Ok(find_page(visit, &caches.markdown, key, render).await?.page),
        None => render.await.map(Arc::new),
    }
}

/// Returns a page as Markdown, preceded by its title and description, with the evaluation steps that it took.
///
/// # Errors
/// Errors of the platform; `NotFound` for a page that was removed in the meantime; `TooLarge` for a page that takes
/// more than `most` steps.
pub(crate) async fn page_markdown(
    scene: &mut PageContext<'_>,
    caches: &Caches,
    page: &PageId,
    most: u32,
) -> Result<(String, u32)> {
    let shown = ContentOptions {
        git: false,
        format: ContentFormat::Markdown,
        evaluated: Evaluated::Yes,
        dereferenced: true,
        ..ContentOptions::default()
    };
    let space = scene.addresses.space.clone();
    let id = page.clone();
    let _rendering = caches.renderings.acquire_for(&scene.visit.tenant().await?).await?;
    let read = scene.visit.content(&space).get_page_within(page, shown, most).await?;
    let page = match read.page {
        RevisionPage::Document(page) => *page,
        _ => return Err(docs_core::Error::not_found("page")),
    };
    let text = page.markdown.unwrap_or_default();
    let targets = run_on_text(&text, references).await;
    let visit = scene.visit;
    let linked = targets.iter().map(|(_, target)| target);
    gather_targets(visit, &caches.sites, linked, &mut scene.addresses).await?;
    let own = scene.frame.page(&id).and_then(|at| scene.addresses.entry_address(&space, &scene.frame, at));
    let own = own.unwrap_or_default();
    let up = relative_root(own.strip_prefix(scene.site_base()).unwrap_or_default());
    let resolve = |target: &ContentRef| match scene.addresses.target(target).href {
        Some(href) => Resolution::To(absolute_address(scene, &up, &href)),
        None => Resolution::Plain,
    };
    let resolved: HashMap<String, Resolution> =
        targets.into_iter().map(|(destination, target)| (destination, resolve(&target))).collect();
    let resolved = Arc::new(resolved);
    let text = run_on_text(&text, move |text: &str| with_urls(text, &resolved)).await;
    let mut out = format!("# {}\n\n", one_line(&page.base.title));
    if let Some(description) = page.description.as_deref().filter(|text| !text.trim().is_empty()) {
        out.push_str(&format!("> {}\n\n", one_line(description)));
    }
    out.push_str(text.trim_end());
    out.push('\n');
    Ok((out, read.steps))
}

/// Replaces destinations by their resolutions. Beyond [`MAX_RESOLVED_BYTES`], links become plain text.
fn with_urls(text: &str, resolved: &HashMap<String, Resolution>) -> String {
    let mut left = MAX_RESOLVED_BYTES;
    let mut resolve = |destination: &str| match resolved.get(destination) {
        Some(Resolution::To(url)) => match left.checked_sub(url.len()) {
            Some(rest) => {
                left = rest;
                Resolution::To(url.clone())
            }
            None => Resolution::Plain,
        },
        Some(other) => other.clone(),
        None => Resolution::Keep,
    };
    rewrite_links(text, |link| resolve(&link.destination)).into_owned()
}

/// Returns the destinations in `text` that are references, with the referenced content, in text order.
fn references(text: &str) -> Vec<(String, ContentRef)> {
    let mut seen = HashSet::new();
    let mut references = Vec::new();
    for site in links(text) {
        if let Some(target) = parse_exact(&site.destination).filter(|_| seen.insert(site.destination.clone()))
        {
            references.push((site.destination, target));
        }
    }
    references
}

/// Returns the relative path from a file to the root of the site. `path` is the path of the file below the site.
pub(crate) fn relative_root(path: &str) -> String {
    match path.matches('/').count() {
        0 => "./".to_owned(),
        depth => "../".repeat(depth),
    }
}

/// Returns the absolute URL of a link. If the URL of the site is unknown, the link becomes relative to the file, with
/// `up` as the path to the root of the site.
fn absolute_address(scene: &PageContext<'_>, up: &str, href: &str) -> String {
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
