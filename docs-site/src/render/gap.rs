//! Placeholders of prerendered documents, for the parts that depend on the site, the space or the visitor.

use std::cell::{Cell, RefCell};

use docs_core::model::{
    Block, BlockKind, CellValue, ContentRef, Document, Inline, InlineKind, Node, Part, TableColumnKind,
    TableData,
};
use maud::PreEscaped;

use super::At;
use crate::html::Html;

/// The start of a placeholder marker. Escaped text contains no `<`, so nothing else begins like it.
pub(super) const MARK: &str = "<?";

/// A node that is rendered for each page.
#[derive(Debug)]
pub(super) enum Gap {
    Block(Block, At),
    Inline(Inline, At),
}

/// The placeholders of a document, collected during prerendering.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    pub(super) found: RefCell<Vec<Gap>>,
    /// `true` if prerendering outside of a placeholder needed data of the site. The result is then discarded.
    pub(super) is_missed: Cell<bool>,
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
        let is_open = inline.kind.targets().any(is_open);
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
        BlockKind::Images { .. } => block.nodes.iter().filter_map(Node::as_block).any(is_open_block),
        BlockKind::Table(data) => is_open_table(data),
        BlockKind::ReusableContent { .. }
        | BlockKind::OpenapiOperation { .. }
        | BlockKind::OpenapiWebhook { .. }
        | BlockKind::OpenapiSchemas { .. } => true,
        kind => kind.targets().any(is_open),
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
    pub(super) fn document(&self) -> Document {
        Document::new(vec![match self {
            Self::Block(block, _) => block.clone(),
            Self::Inline(inline, _) => {
                Block::new(BlockKind::Paragraph { align: None }, vec![Node::Inline(inline.clone())])
            }
        }])
    }

    /// Returns `true` if rendering the node may change the page's [`Counter`](super::Counter).
    pub(super) fn may_count(&self) -> bool {
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
