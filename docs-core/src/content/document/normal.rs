//! Nodes as they are compared: without keys, spellings and what says nothing.

use super::targets;
use crate::model::{Block, BlockKind, ContentRef, Fragment, Inline, InlineKind, Leaf, Mark, Node, TextNode};

/// Text as it is compared: leaves with the same marks are one, and empty ones none.
pub(super) fn inlines(nodes: &[Node]) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::new();
    for node in nodes {
        match node {
            Node::Text(text) => text.leaves.iter().for_each(|leaf| add(&mut out, leaf)),
            Node::Inline(own) => out.push(Node::Inline(inline(own))),
            Node::Block(own) => out.push(Node::Block(block(own))),
        }
    }
    out
}

fn add(out: &mut Vec<Node>, leaf: &Leaf) {
    if leaf.text.is_empty() {
        return;
    }
    let mut marks: Vec<Mark> = leaf.marks.iter().map(|mark| Mark { spelling: None, ..*mark }).collect();
    marks.sort_by_key(|mark| format!("{:?}", mark.kind));
    marks.dedup();
    let text = leaf.text.replace('\0', "\u{fffd}");
    if let Some(Node::Text(last)) = out.last_mut() {
        match last.leaves.last_mut().filter(|own| own.marks == marks) {
            Some(own) => own.text.push_str(&text),
            None => last.leaves.push(Leaf::new(text, marks)),
        }
        return;
    }
    out.push(Node::Text(TextNode::new(vec![Leaf::new(text, marks)])));
}

fn inline(own: &Inline) -> Inline {
    let mut inline = Inline::new(own.kind.clone(), inlines(&own.nodes));
    match &mut inline.kind {
        InlineKind::Link { target, title } => {
            reference(target);
            title.take_if(|title| title.is_empty());
        }
        InlineKind::Mention { target } => reference(target),
        InlineKind::InlineImage { target, dark, alt, caption, .. } => {
            reference(target);
            dark.iter_mut().for_each(|dark| reference(dark));
            alt.take_if(|text| text.is_empty());
            caption.take_if(|text| text.is_empty());
        }
        InlineKind::Button { target: Some(target), .. } => reference(target),
        _ => {}
    }
    // The body of an annotation is compared where the notes are.
    inline
}

/// A reference that is written as another is that one.
fn reference(target: &mut ContentRef) {
    *target = targets::read(&targets::write(target));
}

/// A block as it is compared.
pub(super) fn block(own: &Block) -> Block {
    let mut block = Block::new(own.kind.clone(), inlines(&own.nodes));
    block.fragments = own.fragments.as_ref().map(|fragments| fragments.iter().map(fragment).collect());
    kind(&mut block.kind);
    if matches!(own.kind, BlockKind::Paragraph { .. }) && own.spelling.as_deref() == Some("verbatim") {
        block.spelling.clone_from(&own.spelling);
    }
    block
}

/// Tells whether two blocks say the same. Blocks within them are compared one by one, so that no tree is copied whole.
pub(super) fn is_same(a: &Block, b: &Block) -> bool {
    let blocks =
        |own: &Block| !own.nodes.is_empty() && own.nodes.iter().all(|node| matches!(node, Node::Block(_)));
    if !blocks(a) || !blocks(b) || a.fragments.is_some() || b.fragments.is_some() {
        return block(a) == block(b);
    }
    let alone = |own: &Block| {
        let mut bare = Block::new(own.kind.clone(), Vec::new());
        kind(&mut bare.kind);
        bare
    };
    let pairs = || a.nodes.iter().zip(&b.nodes);
    alone(a) == alone(b)
        && a.nodes.len() == b.nodes.len()
        && pairs().all(|pair| matches!(pair, (Node::Block(a), Node::Block(b)) if is_same(a, b)))
}

fn fragment(own: &Fragment) -> Fragment {
    Fragment { key: None, nodes: blocks(&own.nodes), ..own.clone() }
}

/// Blocks as they are compared: paragraphs without text are left out.
pub(super) fn blocks(nodes: &[Block]) -> Vec<Block> {
    let is_empty =
        |block: &Block| matches!(block.kind, BlockKind::Paragraph { .. }) && block.nodes.is_empty();
    nodes.iter().map(block).filter(|block| !is_empty(block)).collect()
}

/// The blocks that say something: paragraphs without text are left out.
pub(super) fn full(nodes: &[Block]) -> Vec<&Block> {
    let is_empty =
        |own: &Block| matches!(own.kind, BlockKind::Paragraph { .. }) && inlines(&own.nodes).is_empty();
    nodes.iter().filter(|own| !is_empty(own)).collect()
}

fn kind(kind: &mut BlockKind) {
    match kind {
        BlockKind::Image(data) => {
            reference(&mut data.target);
            data.dark.iter_mut().for_each(reference);
            data.alt.take_if(|alt| alt.is_empty());
        }
        BlockKind::File { target }
        | BlockKind::ContentRef { target }
        | BlockKind::ReusableContent { target } => reference(target),
        BlockKind::Swagger { target, .. }
        | BlockKind::OpenapiOperation { target, .. }
        | BlockKind::OpenapiSchemas { target, .. }
        | BlockKind::OpenapiWebhook { target, .. } => reference(target),
        _ => {}
    }
}
