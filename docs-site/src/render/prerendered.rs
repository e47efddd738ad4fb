//! Prerendered documents: HTML that is independent of the site, with placeholders for the parts that depend on the
//! site, the space or the visitor. Rendering a page then only copies the HTML and fills the placeholders.
//!
//! A placeholder retains its node of the document, which is rendered as usual once the site is known: a link to a page,
//! an image that is a file, a reusable content block. All other HTML only depends on the text and the
//! [`RenderOptions`].

use std::fmt::Write as _;

use docs_core::{
    content::document::memory,
    model::{Document, ExternalLinksTarget, SpaceId},
};
use maud::PreEscaped;

use super::{
    Counter, Renderer,
    outline::Outline,
    placeholder::{MARK, Placeholder, Placeholders},
};
use crate::{
    address::{Addresses, ImageSchemes},
    html::{Html, NamedMarkup},
    references::{DocumentReferences, ReusableContents, Specs},
    words::Words,
};

/// The initial buffer capacity in bytes, sufficient for most documents.
const DOCUMENT_CAPACITY: usize = 32 * 1024;

/// The render options of a document, apart from the resolution of references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RenderOptions {
    pub(crate) words: &'static Words,
    pub(crate) outside: ExternalLinksTarget,
    /// The URL schemes of external images that pages load.
    pub(crate) loads: ImageSchemes,
}

/// A prerendered document with placeholders.
#[derive(Debug)]
pub(crate) struct PrerenderedPage {
    /// Segments of HTML, each with the placeholder that follows it.
    pieces: Vec<(NamedMarkup, Placeholder)>,
    end: NamedMarkup,
    pub(crate) references: DocumentReferences,
    pub(crate) outline: Outline,
    weight: usize,
}

impl PrerenderedPage {
    /// Prerenders a document. Returns `None` if both the document and a placeholder use the [`Counter`] of the page.
    /// Such a document must be rendered as a whole.
    pub(crate) fn prerender(document: &Document, space: &SpaceId, manner: RenderOptions) -> Option<Self> {
        let addresses = Addresses::new(&[], "", space).with_image_schemes(manner.loads);
        let (reused, specs) = (ReusableContents::new(), Specs::default());
        let (counter, gaps) = (Counter::default(), Placeholders::default());
        let renderer = Renderer {
            addresses: &addresses,
            reused: &reused,
            specs: &specs,
            words: manner.words,
            outside: manner.outside,
            counter: &counter,
            gaps: Some(&gaps),
            anchors: None,
        };
        let mut html = Html::with_capacity(DOCUMENT_CAPACITY);
        renderer.write_document(&mut html, document);
        let found = gaps.found.into_inner();
        if gaps.is_missed.get() || (counter.has_counted() && found.iter().any(Placeholder::may_count)) {
            return None;
        }
        let gaps = found.iter().map(|gap| memory(&gap.document()) + size_of::<(NamedMarkup, Placeholder)>());
        let gaps = gaps.sum::<usize>();
        let (pieces, end) = split_at_placeholders(html.into_string(), found)?;
        let (mut references, outline) =
            (DocumentReferences::from_document(document), Outline::new(document, manner.words));
        // A page is rendered with the page tree of its space.
        references.pages.remove(&None);
        let text = |named: &NamedMarkup| named.as_str().len();
        let html = pieces.iter().map(|(piece, _)| text(piece)).sum::<usize>() + text(&end);
        let weight = gaps + html + outline.weight() + references.weight();
        Some(Self { pieces, end, references, outline, weight })
    }

    /// Writes the document, rendering its placeholders.
    pub(crate) fn write(&self, html: &mut Html, renderer: &Renderer<'_>) {
        for (piece, gap) in &self.pieces {
            html.write_named(piece);
            match gap {
                Placeholder::Block(block, at) => renderer.write_block(html, block, *at),
                Placeholder::Inline(inline, at) => renderer.write_inline(html, inline, *at),
            }
        }
        html.write_named(&self.end);
    }

    /// Returns the approximate memory in bytes.
    pub(crate) const fn weight(&self) -> usize {
        self.weight
    }
}

/// Splits HTML at its placeholder markers. Returns `None` unless each marker occurs exactly once, in order.
fn split_at_placeholders(
    marked: String,
    found: Vec<Placeholder>,
) -> Option<(Vec<(NamedMarkup, Placeholder)>, NamedMarkup)> {
    let mut pieces = Vec::with_capacity(found.len());
    let (mut rest, mut mark) = (marked.as_str(), String::new());
    for (number, gap) in found.into_iter().enumerate() {
        mark.clear();
        // Writing to a `String` cannot fail.
        let _ = write!(mark, "{MARK}{number}>");
        let at = rest.find(MARK)?;
        pieces.push((NamedMarkup::new(PreEscaped(rest.get(..at)?.to_owned())), gap));
        rest = rest.get(at..)?.strip_prefix(mark.as_str())?;
    }
    if rest.contains(MARK) {
        return None;
    }
    let end = if pieces.is_empty() { marked } else { rest.to_owned() };
    Some((pieces, NamedMarkup::new(PreEscaped(end))))
}
