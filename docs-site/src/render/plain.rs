//! The plain text of documents.

use docs_core::{
    content::document::mention_label,
    model::{InlineKind, Node},
};

use crate::emoji::emoji;

/// The text of nodes, at any depth.
pub(crate) fn plain_text(nodes: &[Node]) -> String {
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
                    InlineKind::Mention { .. } => {
                        out.push_str(&mention_label(inline).unwrap_or_default());
                    }
                    InlineKind::Link { .. } | InlineKind::Icon { .. } | InlineKind::Annotation {} => {}
                }
                stack.extend(inline.nodes.iter().rev());
            }
        }
    }
    out
}
