//! Pages that show a document.

use std::sync::Arc;

use docs_core::{Error, Result, content::run_in_place};

use super::{
    article, body::PageBody, cache::Caches, context::PageContext, head, head::PageHead,
    rendered_page::RenderedPage, shell,
};
use crate::{
    address::SitePlace,
    gather::{EmbeddedContent, gather, gather_references, gather_specs, gather_targets},
    html::Html,
    references::{ReusableContents, Specs},
    render::{Counter, Renderer},
    sources::Basis,
    visit::Visit,
};

/// The initial buffer capacity in bytes, sufficient for the content of most pages.
const PAGE_CAPACITY: usize = 32 * 1024;

/// Renders a page of the requested space.
///
/// # Errors
/// Errors of the platform; `NotFound` for a page that was removed in the meantime.
pub(crate) async fn document_page(visit: &Visit, caches: &Caches, at: usize) -> Result<RenderedPage> {
    document_page_of(visit, caches, visit.place()?, at).await
}

/// Renders a page of any space of the site.
///
/// # Errors
/// Same as [`document_page`].
pub(crate) async fn document_page_of(
    visit: &Visit,
    caches: &Caches,
    place: SitePlace<'_>,
    at: usize,
) -> Result<RenderedPage> {
    let mut scene = PageContext::load_place(visit, caches, place).await?;
    let id = scene.frame.entries.get(at).map(|entry| entry.id.clone());
    let id = id.ok_or_else(|| Error::not_found("page"))?;
    // The template is built before the page adds page trees to the resolver, because all pages share the template.
    scene.template();
    let space = scene.addresses.space.clone();
    let _rendering = caches.renderings.acquire_for(&visit.tenant().await?).await?;
    let (body, _large) = PageBody::load(caches, &scene, at).await?;
    let frame = Arc::clone(&scene.frame);
    gather_targets(visit, &caches.sites, frame.entries[at].cover_targets(), &mut scene.addresses).await?;
    let (mut gathered, mut specs) = (EmbeddedContent::default(), Specs::default());
    let mut specs_tag = None;
    if let Some(references) = body.references() {
        gathered = gather(visit, &caches.sites, references, &mut scene.addresses).await?;
        if !gathered.specs.is_empty() {
            // The ETag is read before the specifications, so a newer version never has an older ETag.
            let slugs: Vec<String> = gathered.specs.iter().cloned().collect();
            specs_tag = Some(visit.content(&space).specs_tag(&slugs).await?);
            specs = gather_specs(visit, &caches.descriptions, &space, &id, &gathered).await?;
            let described = run_in_place(|| specs.described_files());
            gather_references(visit, &caches.sites, &described, &mut scene.addresses).await?;
        }
    }
    scene.find_variants(caches, at).await?;
    let render = || render_page(&scene, at, &body, &gathered.reused, &specs);
    let html = match &body {
        PageBody::Document(_) => run_in_place(render),
        PageBody::None | PageBody::Prerendered(_) => render(),
    };
    let is_indexed = visit.site.site.visibility == docs_core::model::SiteVisibility::Public
        && !scene.frame.entries[at].is_unindexed;
    let basis = Basis::new(&scene.addresses, (gathered.specs, specs_tag));
    Ok(RenderedPage { basis, ..RenderedPage::new(html, is_indexed) })
}

fn render_page(
    scene: &PageContext<'_>,
    at: usize,
    body: &PageBody,
    reused: &ReusableContents,
    specs: &Specs,
) -> Html {
    let counter = Counter::default();
    let manner = scene.render_options();
    let renderer = Renderer {
        addresses: &scene.addresses,
        reused,
        specs,
        words: manner.words,
        outside: manner.outside,
        counter: &counter,
        gaps: None,
        anchors: None,
    };
    let write = |html: &mut Html| body.write(html, &renderer);
    let write = (!matches!(body, PageBody::None)).then_some(write);
    let main = |html: &mut Html| article::write_article(html, scene, at, write.as_ref());
    let outline = body.outline(scene);
    let aside = |html: &mut Html| match &outline {
        Some(outline) => outline.write(html, scene, at, specs),
        None => article::write_aside(html, scene, at, None),
    };
    let operations = outline.as_ref().and_then(|outline| outline.operations(specs));
    let head = PageHead { operations, ..head::page_head(scene, at) };
    shell::shell(scene, &head, PAGE_CAPACITY, main, aside)
}
