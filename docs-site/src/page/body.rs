//! The body of a page: a prerendered document, or a document to render.

use std::{borrow::Cow, sync::Arc};

use docs_core::{
    Error, Result,
    content::{document::reading_view, run_in_place},
    model::Document,
    platform::WorkPermit,
};

use super::{Caches, PageContext, article::write_aside, cache::PrerenderedKey};
use crate::{
    html::{Html, NamedMarkup},
    page_tree::TextName,
    references::{DocumentReferences, Specs},
    render::{Outline, PrerenderedPage, Renderer},
};

/// The body of a page before it is written.
#[derive(Debug)]
pub(super) enum PageBody {
    /// The page has no content.
    None,
    /// A document that must be rendered as a whole.
    Document(Arc<Document>),
    /// A prerendered document with placeholders.
    Prerendered(Arc<PrerenderedPage>),
}

pub(super) enum BodyOutline<'b> {
    Borrowed(&'b Outline),
    Owned(Outline),
}

impl BodyOutline<'_> {
    const fn get(&self) -> &Outline {
        match self {
            Self::Borrowed(outline) => outline,
            Self::Owned(outline) => outline,
        }
    }

    /// Writes the outline next to a page.
    pub(super) fn write(&self, html: &mut Html, scene: &PageContext<'_>, at: usize, specs: &Specs) {
        self.get().write(specs, scene.words, |outline| write_aside(html, scene, at, outline));
    }

    /// The list of the operations of the page.
    pub(super) fn operations(&self, specs: &Specs) -> Option<NamedMarkup> {
        self.get().operations(specs)
    }
}

/// Bounds the number of large documents in memory.
type BodyPermit = Option<Arc<WorkPermit>>;

impl PageBody {
    /// Finds the body of a page, with the permission to work with it if it is large. Does not read the document if it
    /// is prerendered.
    ///
    /// # Errors
    /// Errors of the platform; `NotFound` for a page that was removed in the meantime.
    pub(super) async fn load(
        caches: &Caches,
        scene: &PageContext<'_>,
        at: usize,
    ) -> Result<(Self, BodyPermit)> {
        let (visit, space) = (scene.visit, &scene.addresses.space);
        let entry = scene.frame.entries.get(at).ok_or_else(|| Error::not_found("page"))?;
        let key = |text| PrerenderedKey::new(space, text, scene.render_options());
        let known = entry.text.filter(|_| visit.is_live()).and_then(|text| caches.prerendered(&key(text)));
        if let Some(Some(drawn)) = known {
            return Ok((Self::Prerendered(drawn), None));
        }
        let shown = visit.page_document(space, &scene.revision, &entry.id).await?;
        let Some(shown) = shown else { return Ok((Self::None, None)) };
        // The document may be newer than the entry in the page tree.
        let text = shown
            .id
            .as_deref()
            .map(TextName::from_document_id)
            .filter(|_| visit.is_live() && known.is_none());
        let draw = || {
            let document = match reading_view(&shown.document) {
                Cow::Owned(view) => Arc::new(view),
                Cow::Borrowed(_) => Arc::clone(&shown.document),
            };
            let draw = || PrerenderedPage::prerender(&document, space, scene.render_options());
            let drawn = text.and_then(|text| caches.prerender_and_store(key(text), draw));
            drawn.map_or(Self::Document(document), Self::Prerendered)
        };
        Ok((run_in_place(draw), shown.permit))
    }

    /// Returns the references of the content.
    pub(super) fn references(&self) -> Option<DocumentReferences> {
        match self {
            Self::None => None,
            Self::Document(document) => Some(DocumentReferences::from_document(document)),
            Self::Prerendered(drawn) => Some(drawn.references.clone()),
        }
    }

    /// The outline; `None` for a page without content.
    pub(super) fn outline(&self, scene: &PageContext<'_>) -> Option<BodyOutline<'_>> {
        match self {
            Self::None => None,
            Self::Document(document) => Some(BodyOutline::Owned(Outline::new(document, scene.words))),
            Self::Prerendered(drawn) => Some(BodyOutline::Borrowed(&drawn.outline)),
        }
    }

    /// Writes the content.
    pub(super) fn write(&self, html: &mut Html, renderer: &Renderer<'_>) {
        match self {
            Self::None => {}
            Self::Document(document) => renderer.write_document(html, document),
            Self::Prerendered(drawn) => drawn.write(html, renderer),
        }
    }
}
