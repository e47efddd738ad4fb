//! How things are written where there is more than one way.

use super::{
    atoms,
    escape::{self, Around, Place},
};
use crate::model::{Block, BlockKind, Fragment, Inline, InlineKind, Leaf, MarkKind, Node, TextNode};

/// Nodes without any spelling. Leaves that then say nothing or the same are put together.
pub(super) fn without(nodes: &[Node]) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::new();
    for node in nodes {
        match node {
            Node::Text(text) => {
                for leaf in &text.leaves {
                    let marks: Vec<_> = leaf
                        .marks
                        .iter()
                        .map(|mark| crate::model::Mark { spelling: None, ..*mark })
                        .collect();
                    add(&mut out, Leaf::new(leaf.text.clone(), marks));
                }
            }
            Node::Inline(inline) => {
                out.push(Node::Inline(Inline {
                    nodes: without(&inline.nodes),
                    spelling: None,
                    ..inline.clone()
                }));
            }
            Node::Block(block) => out.push(Node::Block(block.clone())),
        }
    }
    out
}

fn add(out: &mut Vec<Node>, leaf: Leaf) {
    if leaf.text.is_empty() {
        return;
    }
    if let Some(Node::Text(last)) = out.last_mut() {
        match last.leaves.last_mut().filter(|own| own.marks == leaf.marks) {
            Some(own) => own.text.push_str(&leaf.text),
            None => last.leaves.push(leaf),
        }
        return;
    }
    out.push(Node::Text(TextNode::new(vec![leaf])));
}

/// Nodes without the spellings that are the usual ones wherever they stand.
pub(super) fn reduced(nodes: Vec<Node>) -> Vec<Node> {
    let mut out = nodes;
    for node in &mut out {
        match node {
            Node::Text(text) => text.leaves.iter_mut().for_each(reduce_leaf),
            Node::Inline(inline) => reduce_inline(inline),
            Node::Block(_) => {}
        }
    }
    out
}

fn reduce_leaf(leaf: &mut Leaf) {
    let is_code = leaf.marks.iter().any(|mark| mark.kind == MarkKind::Code);
    let around =
        Around { place: Place::Lines, is_first: false, is_last: false, in_label: false, next: Some('x') };
    let mut usual = String::new();
    if !is_code {
        escape::text(&mut usual, &leaf.text, around);
    }
    let is_edge = leaf.text.starts_with(char::is_whitespace) || leaf.text.ends_with(char::is_whitespace);
    let plain = leaf.text.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.'));
    leaf.spelling.take_if(|spelling| *spelling == usual && plain && !is_edge);
}

fn reduce_inline(inline: &mut Inline) {
    inline.nodes = reduced(std::mem::take(&mut inline.nodes));
    let usual = match &inline.kind {
        InlineKind::Link { target, title } => {
            let mut written = format!("({}", escape::destination(&super::targets::write(target)));
            if written == "(<>" {
                written = "(".to_owned();
            }
            if let Some(title) = title {
                written.push_str(&format!(" {}", escape::title(title)));
            }
            // A link to the address it shows is written otherwise.
            let label = match inline.nodes.as_slice() {
                [Node::Text(text)] => text.leaves.iter().map(|leaf| leaf.text.as_str()).collect(),
                _ => String::new(),
            };
            if label == super::targets::write(target) { None } else { Some(written + ")") }
        }
        InlineKind::InlineMath { formula } => Some(format!("$${formula}$$")),
        kind => atoms::write(kind),
    };
    if usual.is_some() {
        inline.spelling.take_if(|spelling| Some(spelling.as_str()) == usual.as_deref());
    }
}

/// How many backticks the fence of a block of code has, usually.
pub(super) fn fence_length(block: &Block) -> usize {
    let longest = block.nodes.iter().filter_map(|node| match node {
        Node::Block(line) => {
            let text = plain(&line.nodes);
            let trimmed = text.trim_start();
            Some(trimmed.len() - trimmed.trim_start_matches('`').len())
        }
        _ => None,
    });
    longest.max().map_or(3, |longest| (longest + 1).max(3))
}

/// The text of nodes, without marks.
pub(super) fn plain(nodes: &[Node]) -> String {
    let mut out = String::new();
    collect(nodes, &mut out);
    out
}

fn collect(nodes: &[Node], out: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) => text.leaves.iter().for_each(|leaf| out.push_str(&leaf.text)),
            Node::Inline(inline) => collect(&inline.nodes, out),
            Node::Block(block) => collect(&block.nodes, out),
        }
    }
}

/// A block and all in it without keys, computed data and spellings; paragraphs that are kept as they are stay so.
pub(super) fn bare(block: &Block) -> Block {
    let is_verbatim = matches!(block.kind, BlockKind::Paragraph { .. })
        && block.spelling.as_deref() == Some(super::read::VERBATIM);
    let nodes = if is_verbatim { block.nodes.clone() } else { without(&block.nodes) };
    let nodes = nodes
        .into_iter()
        .map(|node| match node {
            Node::Block(block) => Node::Block(bare(&block)),
            node => node,
        })
        .collect();
    let fragment =
        |own: &Fragment| Fragment { key: None, nodes: own.nodes.iter().map(bare).collect(), ..own.clone() };
    Block {
        key: None,
        meta: None,
        nodes,
        fragments: block.fragments.as_ref().map(|fragments| fragments.iter().map(fragment).collect()),
        spelling: block.spelling.clone().filter(|_| is_verbatim),
        ..block.clone()
    }
}
