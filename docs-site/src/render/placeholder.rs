//! Placeholders of prerendered documents, for the parts that depend on the site, the space or the visitor.

use std::cell::{Cell, RefCell};

use docs_core::model::{
    Block, BlockKind, CellValue, ContentRef, Document, DocumentPart, Inline, InlineKind, Node,
    TableColumnKind, TableData,
};
use maud::PreEscaped;

use super::NodePosition;
use crate::html::Html;

/// The beginning of a placeholder marker. Escaped text contains no `<`, so no other output begins like it.
pub(super) const MARK: &str = "<?";

/// A node that is rendered for each page.
#[derive(Debug)]
pub(super) enum Placeholder {
    Block(Block, NodePosition),
    Inline(Inline, NodePosition),
}

/// The placeholders of a document, collected during prerendering.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    pub(super) found: RefCell<Vec<Placeholder>>,
    /// `true` if prerendering needed site data outside of a placeholder. The result is then discarded.
    pub(super) is_missed: Cell<bool>,
}

impl Placeholders {
    /// Leaves a placeholder for a block that needs site data. Returns `true` if it did.
    pub(super) fn leave_block(&self, html: &mut Html, block: &Block, at: NodePosition) -> bool {
        let is_open = block_needs_site(block);
        if is_open {
            self.leave(html, Placeholder::Block(block.clone(), at));
        }
        is_open
    }

    /// Leaves a placeholder for an inline element that needs site data. Returns `true` if it did.
    pub(super) fn leave_inline(&self, html: &mut Html, inline: &Inline, at: NodePosition) -> bool {
        let is_open = inline.kind.targets().any(needs_site);
        if is_open {
            self.leave(html, Placeholder::Inline(inline.clone(), at));
        }
        is_open
    }

    fn leave(&self, html: &mut Html, gap: Placeholder) {
        let mut found = self.found.borrow_mut();
        html.write_placeholder(found.len());
        found.push(gap);
    }

    /// Records that a reference was resolved outside of a placeholder.
    pub(super) fn record_reference(&self, target: &ContentRef) {
        if needs_site(target) {
            self.record_missing_data();
        }
    }

    /// Records that site data was needed outside of a placeholder.
    pub(super) fn record_missing_data(&self) {
        self.is_missed.set(true);
    }
}

impl Html {
    /// Writes the marker of a placeholder.
    fn write_placeholder(&mut self, number: usize) {
        self.markup(&PreEscaped(format!("{MARK}{number}>")));
    }
}

/// Returns `true` if a reference can only be resolved within a site.
const fn needs_site(target: &ContentRef) -> bool {
    !matches!(target, ContentRef::Url { .. } | ContentRef::Anchor { page: None, space: None, .. })
}

/// Returns `true` if rendering a block, apart from its children, needs site data.
fn block_needs_site(block: &Block) -> bool {
    match &block.kind {
        BlockKind::Images { .. } => block.nodes.iter().filter_map(Node::as_block).any(block_needs_site),
        BlockKind::Table(data) => table_needs_site(data),
        BlockKind::ReusableContent { .. }
        | BlockKind::OpenapiOperation { .. }
        | BlockKind::OpenapiWebhook { .. }
        | BlockKind::OpenapiSchemas { .. } => true,
        kind => kind.targets().any(needs_site),
    }
}

fn table_needs_site(data: &TableData) -> bool {
    let is_choice = |column: &str| {
        let kind = data.definition.get(column).map(|column| &column.kind);
        matches!(kind, Some(TableColumnKind::Select { .. }))
    };
    let values = data.records.values().flat_map(|record| &record.values);
    values.into_iter().any(|(column, value)| match value {
        CellValue::Reference(target) | CellValue::Image { target, .. } => needs_site(target),
        CellValue::Ids(_) => !is_choice(column),
        CellValue::Empty(()) | CellValue::Text(_) | CellValue::Number(_) | CellValue::Checked(_) => false,
    })
}

impl Placeholder {
    /// Returns the node as a separate document.
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
            DocumentPart::Block(block) => matches!(
                block.kind,
                BlockKind::ListItem { checked: Some(_) }
                    | BlockKind::Tabs { .. }
                    | BlockKind::Math { .. }
                    | BlockKind::ReusableContent { .. }
                    | BlockKind::OpenapiOperation { .. }
                    | BlockKind::OpenapiWebhook { .. }
                    | BlockKind::OpenapiSchemas { .. }
            ),
            DocumentPart::Inline(inline) => {
                matches!(inline.kind, InlineKind::Annotation {} | InlineKind::InlineMath { .. })
            }
        })
    }
}
