//! The body of a page: prerendered, or as a document.

use std::sync::Arc;

use docs_core::{Error, Result, model::Document};

use super::{Caches, Scene, around::write_aside, cache::DrawnKey};
use crate::{
    frame::TextName,
    html::Html,
    references::References,
    render::{Drawn, Renderer, outline},
};

/// The body of a page before it is written.
#[derive(Debug)]
pub(super) enum Body {
    /// The page has no content.
    None,
    /// A document that must be rendered as a whole.
    Tree(Arc<Document>),
    /// A prerendered text with placeholders.
    Drawn(Arc<Drawn>),
}

impl Body {
    /// Finds the body of a page. A prerendered text is not read again.
    ///
    /// # Errors
    /// Those of the platform; `NotFound` for a page that was removed in the meantime.
    pub(super) async fn find(caches: &Caches, scene: &Scene<'_>, at: usize) -> Result<Self> {
        let (visit, space) = (scene.visit, &scene.addresses.space);
        let entry = scene.frame.entries.get(at).ok_or_else(|| Error::not_found("page"))?;
        let key = |text| DrawnKey::of(space, text, scene.manner());
        let known = entry.text.filter(|_| visit.is_live()).and_then(|text| caches.drawn(&key(text)));
        if let Some(Some(drawn)) = known {
            return Ok(Self::Drawn(drawn));
        }
        let shown = visit.page_document(space, &scene.revision, &entry.id).await?;
        let Some(shown) = shown else { return Ok(Self::None) };
        // The document may be newer than the entry.
        let text = shown.id.as_deref().map(TextName::of).filter(|_| visit.is_live() && known.is_none());
        let draw = || Drawn::of(&shown.document, space, scene.manner());
        let drawn = text.and_then(|text| caches.keep_drawn(key(text), draw));
        Ok(drawn.map_or(Self::Tree(shown.document), Self::Drawn))
    }

    /// The references of the content.
    pub(super) fn references(&self) -> Option<References> {
        match self {
            Self::None => None,
            Self::Tree(document) => Some(References::of(document)),
            Self::Drawn(drawn) => Some(drawn.references.clone()),
        }
    }

    /// Writes the outline.
    pub(super) fn write_outline(&self, html: &mut Html, scene: &Scene<'_>, at: usize) {
        match self {
            Self::None => write_aside(html, scene, at, None),
            Self::Tree(document) => {
                write_aside(html, scene, at, outline(document, scene.words).as_ref());
            }
            Self::Drawn(drawn) => write_aside(html, scene, at, drawn.outline.as_ref()),
        }
    }

    /// Writes the content.
    pub(super) fn write(&self, html: &mut Html, renderer: &Renderer<'_>) {
        match self {
            Self::None => {}
            Self::Tree(document) => renderer.write_document(html, document),
            Self::Drawn(drawn) => drawn.write(html, renderer),
        }
    }
}
