//! Prerendered documents: HTML that is independent of the site, with placeholders for the parts that depend
//! on the site, the space or the visitor. Rendering a page then means copying the HTML and filling the
//! placeholders.
//!
//! A placeholder keeps its node of the document, which is rendered in the usual way once the site is known: a
//! link to a page, an image that is a file, reusable content. All other HTML depends only on the text and the
//! [`Manner`].

use std::{
    cell::{Cell, RefCell},
    fmt::Write as _,
};

use docs_core::{
    content::document::memory,
    model::{
        Block, BlockKind, CellValue, ContentRef, Document, ExternalLinksTarget, Inline, InlineKind, Node,
        Part, SpaceId, TableColumnKind, TableData,
    },
};
use maud::PreEscaped;

use super::{At, Counter, Renderer, plain::outline};
use crate::{
    address::{Addresses, Loads},
    gather::{References, Reused, Specs},
    html::{Html, Named},
    words::Words,
};

/// The initial buffer capacity in bytes, sufficient for most documents.
const ROOM: usize = 32 * 1024;
/// The start of a placeholder marker. Escaped text contains no `<`, so nothing else begins like it.
const MARK: &str = "<?";

/// The render options of a document, except the resolution of references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) words: &'static Words,
    /// The target of external links.
    pub(crate) outside: ExternalLinksTarget,
    /// The URL schemes of external images that pages load.
    pub(crate) loads: Loads,
}

/// A node that is rendered for each page.
#[derive(Debug)]
enum Gap {
    Block(Block, At),
    Inline(Inline, At),
}

/// The placeholders of a document, collected during prerendering.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    found: RefCell<Vec<Gap>>,
    /// `true` if prerendering outside of a placeholder needed data of the site. The result is then discarded.
    is_missed: Cell<bool>,
}

impl Gaps {
    /// Leaves a placeholder for a block that needs data of the site; returns `true` if it did.
    pub(super) fn leave_block(&self, html: &mut Html, block: &Block, at: At) -> bool {
        let is_open = is_open_block(block);
        if is_open {
            self.leave(html, Gap::Block(block.clone(), at));
        }
        is_open
    }

    /// Leaves a placeholder for an inline element that needs data of the site; returns `true` if it did.
    pub(super) fn leave_inline(&self, html: &mut Html, inline: &Inline, at: At) -> bool {
        let is_open = match &inline.kind {
            InlineKind::Link { target, .. } | InlineKind::Mention { target } => is_open(target),
            InlineKind::Button { target, .. } => target.as_deref().is_some_and(is_open),
            InlineKind::InlineImage { target, dark, .. } => {
                is_open(target) || dark.as_deref().is_some_and(is_open)
            }
            _ => false,
        };
        if is_open {
            self.leave(html, Gap::Inline(inline.clone(), at));
        }
        is_open
    }

    fn leave(&self, html: &mut Html, gap: Gap) {
        let mut found = self.found.borrow_mut();
        html.gap(found.len());
        found.push(gap);
    }

    /// Records that a reference was resolved outside of a placeholder.
    pub(super) fn asks(&self, target: &ContentRef) {
        if is_open(target) {
            self.miss();
        }
    }

    /// Records that data of the site was needed outside of a placeholder.
    pub(super) fn miss(&self) {
        self.is_missed.set(true);
    }
}

impl Html {
    /// Writes the marker of a placeholder.
    fn gap(&mut self, number: usize) {
        self.markup(&PreEscaped(format!("{MARK}{number}>")));
    }
}

/// Returns `true` if a reference can only be resolved within a site.
const fn is_open(target: &ContentRef) -> bool {
    !matches!(target, ContentRef::Url { .. } | ContentRef::Anchor { page: None, space: None, .. })
}

/// Returns `true` if rendering a block, apart from its children, needs data of the site.
fn is_open_block(block: &Block) -> bool {
    match &block.kind {
        BlockKind::File { target } | BlockKind::ContentRef { target } => is_open(target),
        BlockKind::Swagger { target, .. } => is_open(target),
        BlockKind::Drawing { target } => target.as_ref().is_some_and(is_open),
        BlockKind::Image(data) => is_open(&data.target) || data.dark.as_ref().is_some_and(is_open),
        BlockKind::Images { .. } => {
            block.nodes.iter().any(|node| matches!(node, Node::Block(block) if is_open_block(block)))
        }
        BlockKind::Table(data) => is_open_table(data),
        BlockKind::ReusableContent { .. }
        | BlockKind::OpenapiOperation { .. }
        | BlockKind::OpenapiWebhook { .. }
        | BlockKind::OpenapiSchemas { .. } => true,
        _ => false,
    }
}

fn is_open_table(data: &TableData) -> bool {
    let is_choice = |column: &str| {
        let kind = data.definition.get(column).map(|column| &column.kind);
        matches!(kind, Some(TableColumnKind::Select { .. }))
    };
    let values = data.records.values().flat_map(|record| &record.values);
    values.into_iter().any(|(column, value)| match value {
        CellValue::Reference(target) | CellValue::Image { target, .. } => is_open(target),
        CellValue::Ids(_) => !is_choice(column),
        CellValue::Empty(()) | CellValue::Text(_) | CellValue::Number(_) | CellValue::Checked(_) => false,
    })
}

impl Gap {
    /// The node as a document of its own.
    fn document(&self) -> Document {
        Document::new(vec![match self {
            Self::Block(block, _) => block.clone(),
            Self::Inline(inline, _) => {
                Block::new(BlockKind::Paragraph { align: None }, vec![Node::Inline(inline.clone())])
            }
        }])
    }

    /// Returns `true` if rendering the node may change the page's [`Counter`].
    fn may_count(&self) -> bool {
        self.document().parts().any(|part| match part {
            Part::Block(block) => matches!(
                block.kind,
                BlockKind::ListItem { checked: Some(_) }
                    | BlockKind::Tabs { .. }
                    | BlockKind::Math { .. }
                    | BlockKind::ReusableContent { .. }
                    | BlockKind::OpenapiOperation { .. }
                    | BlockKind::OpenapiWebhook { .. }
                    | BlockKind::OpenapiSchemas { .. }
            ),
            Part::Inline(inline) => {
                matches!(inline.kind, InlineKind::Annotation {} | InlineKind::InlineMath { .. })
            }
        })
    }
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
        let (reused, specs) = (Reused::new(), Specs::new());
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
