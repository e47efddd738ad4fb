//! Documents that are drawn before it is known on which site they stand: their HTML, with gaps for what follows from
//! the site, the space or the visitor. To draw a page then is to copy the HTML and to fill the gaps.
//!
//! What a gap is for stays a part of the tree, and is drawn as all others are once the rest is known: a link to a page,
//! a picture that is a file, reusable content. All else follows from the text and the [`Manner`].

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

/// Room for most documents, in bytes.
const ROOM: usize = 32 * 1024;
/// How the mark of a gap begins. Nothing else does: what is text in a page has no `<`.
const MARK: &str = "<?";

/// What documents are drawn with that is not theirs, apart from where references lead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) words: &'static Words,
    /// Where links off the site open.
    pub(crate) outside: ExternalLinksTarget,
    /// How pages load the pictures of others.
    pub(crate) loads: Loads,
}

/// What is drawn each time.
#[derive(Debug)]
enum Gap {
    Block(Block, At),
    Inline(Inline, At),
}

/// The gaps of a document while it is drawn.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    found: RefCell<Vec<Gap>>,
    /// Whether something was asked for that only a gap may ask for.
    is_missed: Cell<bool>,
}

impl Gaps {
    /// Leaves a gap for a block where its own drawing asks for what is not known yet; tells whether it did.
    pub(super) fn leave_block(&self, html: &mut Html, block: &Block, at: At) -> bool {
        let is_open = is_open_block(block);
        if is_open {
            self.leave(html, Gap::Block(block.clone(), at));
        }
        is_open
    }

    /// The same for what stands within text.
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

    /// Says that a reference was to be followed.
    pub(super) fn asks(&self, target: &ContentRef) {
        if is_open(target) {
            self.miss();
        }
    }

    /// Says that something was asked for that is not known yet.
    pub(super) fn miss(&self) {
        self.is_missed.set(true);
    }
}

impl Html {
    /// The mark of a gap.
    fn gap(&mut self, number: usize) {
        self.markup(&PreEscaped(format!("{MARK}{number}>")));
    }
}

/// Tells whether only a site knows where a reference leads.
const fn is_open(target: &ContentRef) -> bool {
    !matches!(target, ContentRef::Url { .. } | ContentRef::Anchor { page: None, space: None, .. })
}

/// Tells whether drawing a block, apart from the blocks and texts in it, follows from more than the block.
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
    /// The part of the document as one of its own.
    fn document(&self) -> Document {
        Document::new(vec![match self {
            Self::Block(block, _) => block.clone(),
            Self::Inline(inline, _) => {
                Block::new(BlockKind::Paragraph { align: None }, vec![Node::Inline(inline.clone())])
            }
        }])
    }

    /// Tells whether drawing it may count what is counted over a page.
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

/// A document that is drawn but for its gaps.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Pieces, with the gap behind each.
    pieces: Vec<(Named, Gap)>,
    end: Named,
    /// What the document refers to.
    pub(crate) references: References,
    /// Its headings, as they stand beside it; `None` where there are too few.
    pub(crate) outline: Option<Named>,
    weight: usize,
}

impl Drawn {
    /// Draws a document; `None` for one that counts over the page what a gap counts too, and so has to be drawn as a
    /// whole.
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

    /// Writes the document where all is known.
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

    /// About how many bytes it takes.
    pub(crate) const fn weight(&self) -> usize {
        self.weight
    }
}

/// HTML cut at the marks of its gaps; `None` where they are not there one after the other, each of them once.
fn cut(marked: String, found: Vec<Gap>) -> Option<(Vec<(Named, Gap)>, Named)> {
    let mut pieces = Vec::with_capacity(found.len());
    let (mut rest, mut mark) = (marked.as_str(), String::new());
    for (number, gap) in found.into_iter().enumerate() {
        mark.clear();
        // Writing to a text does not fail.
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
