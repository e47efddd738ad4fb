//! Plain text and outlines of documents.

use crate::{
    html::{Html, NamedMarkup},
    words::Words,
};
use docs_core::model::{Block, Document, InlineKind, Node};

/// The maximum number of headings in an outline.
const MAX_HEADINGS: usize = 200;

/// A heading in an outline.
struct OutlineEntry<'d> {
    level: u8,
    anchor: &'d str,
    text: String,
}

/// Returns the outline of a document, or `None` if it has fewer than two headings.
pub(crate) fn outline(document: &Document, words: &Words) -> Option<NamedMarkup> {
    let headings = headings(document);
    if headings.len() < 2 {
        return None;
    }
    let title = words.on_this_page;
    Some(NamedMarkup::new(Html::build_markup(|html| {
        html.tags("<nav class=\"outline\"").attribute(" aria-label=\"", title);
        html.tags("><p class=\"head\">").text(title).tags("</p><ul>");
        for heading in headings {
            let level = match heading.level {
                1 => "<li class=\"level-1\">",
                2 => "<li class=\"level-2\">",
                _ => "<li class=\"level-3\">",
            };
            html.tags(level).tags("<a").attribute(" href=\"#", heading.anchor).tags(" dir=\"auto\">");
            html.text(&heading.text).tags("</a></li>");
        }
        html.tags("</ul></nav>");
    })))
}

/// Returns the headings with an anchor and text at any depth, at most [`MAX_HEADINGS`].
fn headings(document: &Document) -> Vec<OutlineEntry<'_>> {
    let mut found = Vec::new();
    let mut stack: Vec<&Block> = document.nodes.iter().rev().collect();
    while let Some(block) = stack.pop() {
        if found.len() >= MAX_HEADINGS {
            break;
        }
        match block.kind.heading() {
            Some((level, data)) => {
                let anchor = block.meta.as_ref().map(|meta| meta.id.as_str()).or(data.id.as_deref());
                let text = plain_text(&block.nodes);
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

/// Returns the text of nodes, at any depth.
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

/// Returns the characters of an emoji, or an empty string for an invalid code.
pub(crate) fn emoji(code: &str) -> String {
    code.split('-').filter_map(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_beyond_the_bound_are_left_out() {
        let count = |all: usize| {
            let text: String = (0..all).map(|number| format!("# Heading {number}\n\n")).collect();
            headings(&docs_core::content::document::parse(&text)).len()
        };
        let counts = [MAX_HEADINGS - 1, MAX_HEADINGS, MAX_HEADINGS + 1].map(count);
        assert_eq!(counts, [MAX_HEADINGS - 1, MAX_HEADINGS, MAX_HEADINGS]);
    }
}
