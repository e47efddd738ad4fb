//! Prerendered documents: HTML that is independent of the site, with placeholders for the parts that depend
//! on the site, the space or the visitor. Rendering a page then means copying the HTML and filling the
//! placeholders.
//!
//! A placeholder keeps its node of the document, which is rendered in the usual way once the site is known: a
//! link to a page, an image that is a file, reusable content. All other HTML depends only on the text and the
//! [`Manner`].

use std::fmt::Write as _;

use docs_core::{
    content::document::memory,
    model::{Document, ExternalLinksTarget, SpaceId},
};
use maud::PreEscaped;

use super::{
    Counter, Renderer,
    gap::{Gap, Gaps, MARK},
    plain::outline,
};
use crate::{
    address::{Addresses, Loads},
    html::{Html, Named},
    references::{References, Reused, Specs},
    words::Words,
};

/// The initial buffer capacity in bytes, sufficient for most documents.
const ROOM: usize = 32 * 1024;

/// The render options of a document, except the resolution of references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) words: &'static Words,
    /// The target of external links.
    pub(crate) outside: ExternalLinksTarget,
    /// The URL schemes of external images that pages load.
    pub(crate) loads: Loads,
}

/// A prerendered document with placeholders.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Pieces of HTML, each with the placeholder after it.
    pieces: Vec<(Named, Gap)>,
    end: Named,
    /// The references of the document.
    pub(crate) references: References,
    /// The outline; `None` if there are too few headings.
    pub(crate) outline: Option<Named>,
    weight: usize,
}

impl Drawn {
    /// Prerenders a document. Returns `None` if both the document and a placeholder use the page's
    /// [`Counter`]; such a document must be rendered as a whole.
    pub(crate) fn of(document: &Document, space: &SpaceId, manner: Manner) -> Option<Self> {
        let addresses = Addresses::new(&[], "", space).loading(manner.loads);
        let (reused, specs) = (Reused::new(), Specs::default());
        let (counter, gaps) = (Counter::default(), Gaps::default());
        let renderer = Renderer {
            addresses: &addresses,
            reused: &reused,
            specs: &specs,
            words: manner.words,
            outside: manner.outside,
            counter: &counter,
            gaps: Some(&gaps),
        };
        let mut html = Html::with_room(ROOM);
        renderer.write_document(&mut html, document);
        let found = gaps.found.into_inner();
        if gaps.is_missed.get() || (counter.has_counted() && found.iter().any(Gap::may_count)) {
            return None;
        }
        let gaps = found.iter().map(|gap| memory(&gap.document()) + size_of::<(Named, Gap)>());
        let gaps = gaps.sum::<usize>();
        let (pieces, end) = cut(html.into_string(), found)?;
        let (references, outline) = (References::of(document), outline(document, manner.words));
        let text = |named: &Named| named.as_str().len();
        let html = pieces.iter().map(|(piece, _)| text(piece)).sum::<usize>() + text(&end);
        let weight = gaps + html + outline.as_ref().map_or(0, text) + references.weight();
        Some(Self { pieces, end, references, outline, weight })
    }

    /// Writes the document, rendering its placeholders.
    pub(crate) fn write(&self, html: &mut Html, renderer: &Renderer<'_>) {
        for (piece, gap) in &self.pieces {
            html.named(piece);
            match gap {
                Gap::Block(block, at) => renderer.write_block(html, block, *at),
                Gap::Inline(inline, at) => renderer.write_inline(html, inline, *at),
            }
        }
        html.named(&self.end);
    }

    /// The approximate memory in bytes.
    pub(crate) const fn weight(&self) -> usize {
        self.weight
    }
}

/// Cuts HTML at its placeholder markers. Returns `None` unless each marker occurs exactly once, in order.
fn cut(marked: String, found: Vec<Gap>) -> Option<(Vec<(Named, Gap)>, Named)> {
    let mut pieces = Vec::with_capacity(found.len());
    let (mut rest, mut mark) = (marked.as_str(), String::new());
    for (number, gap) in found.into_iter().enumerate() {
        mark.clear();
        // Writing to a `String` cannot fail.
        let _ = write!(mark, "{MARK}{number}>");
        let at = rest.find(MARK)?;
        pieces.push((Named::new(PreEscaped(rest.get(..at)?.to_owned())), gap));
        rest = rest.get(at..)?.strip_prefix(mark.as_str())?;
    }
    if rest.contains(MARK) {
        return None;
    }
    let end = if pieces.is_empty() { marked } else { rest.to_owned() };
    Some((pieces, Named::new(PreEscaped(end))))
}
