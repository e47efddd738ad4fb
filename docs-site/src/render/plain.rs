//! What a document says without its form: the text of blocks, and the outline of headings.

use docs_core::model::{Block, Document, InlineKind, Node};

/// Most headings of an outline.
const MAX_HEADINGS: usize = 200;

/// A heading of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlineEntry {
    pub(crate) level: u8,
    pub(crate) anchor: String,
    pub(crate) text: String,
}

/// The headings of a document that have an anchor: those of the top level, and within what only frames them.
pub(crate) fn outline(document: &Document) -> Vec<OutlineEntry> {
    let mut found = Vec::new();
    let mut stack: Vec<&Block> = document.nodes.iter().rev().collect();
    while let Some(block) = stack.pop() {
        if found.len() >= MAX_HEADINGS {
            break;
        }
        match block.kind.heading() {
            Some((level, data)) => {
                let anchor = block.meta.as_ref().map(|meta| meta.id.clone()).or_else(|| data.id.clone());
                let text = plain(&block.nodes);
                if let Some(anchor) = anchor.filter(|_| !text.trim().is_empty()) {
                    found.push(OutlineEntry { level, anchor, text });
                }
            }
            None => stack.extend(block.nodes.iter().rev().filter_map(|node| match node {
                Node::Block(block) => Some(block),
                Node::Inline(_) | Node::Text(_) => None,
            })),
        }
    }
    found
}

/// The text of nodes, at whatever depth.
pub(crate) fn plain(nodes: &[Node]) -> String {
    let mut out = String::new();
    let mut stack: Vec<&Node> = nodes.iter().rev().collect();
    while let Some(node) = stack.pop() {
        match node {
            Node::Text(text) => text.leaves.iter().for_each(|leaf| out.push_str(&leaf.text)),
            Node::Block(block) => {
                if !out.is_empty() && !out.ends_with(char::is_whitespace) {
                    out.push(' ');
                }
                stack.extend(block.nodes.iter().rev());
            }
            Node::Inline(inline) => {
                match &inline.kind {
                    InlineKind::Emoji { code } => out.push_str(&emoji(code)),
                    InlineKind::InlineMath { formula } => out.push_str(formula),
                    InlineKind::Expression { expression } => out.push_str(expression),
                    InlineKind::Button { label, .. } => out.push_str(label),
                    InlineKind::InlineImage { alt, .. } => out.push_str(alt.as_deref().unwrap_or_default()),
                    InlineKind::Link { .. }
                    | InlineKind::Mention { .. }
                    | InlineKind::Icon { .. }
                    | InlineKind::Annotation {} => {}
                }
                stack.extend(inline.nodes.iter().rev());
            }
        }
    }
    out
}

/// The characters of an emoji; nothing for a code that is none.
pub(crate) fn emoji(code: &str) -> String {
    code.split('-').filter_map(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?)).collect()
}
