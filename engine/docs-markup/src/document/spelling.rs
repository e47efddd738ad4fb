//! Spellings: the original notation of content that has several notations.

use docs_model::{Block, BlockKind, Fragment, Inline, InlineKind, Leaf, MarkKind, Node, TableData, TextNode};

use super::{
    atoms,
    escape::{self, EscapeContext, InlineContext},
};

/// The spelling that marks a paragraph of verbatim Markdown.
pub(super) const VERBATIM: &str = "verbatim";

/// Returns `true` for a paragraph of verbatim Markdown.
#[must_use]
pub fn is_verbatim(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Paragraph { align: None }) && block.spelling.as_deref() == Some(VERBATIM)
}

/// Removes all spellings from nodes, merges leaves that become equal, and removes empty leaves.
pub(super) fn remove_spellings(nodes: &[Node]) -> Vec<Node> {
    remove_spellings_except(nodes, RetainedSpellings::None)
}

/// Removes all spellings from nodes except the labels of footnotes.
pub(super) fn retain_labels(nodes: &[Node]) -> Vec<Node> {
    remove_spellings_except(nodes, RetainedSpellings::Labels)
}

/// Removes the spellings of the columns and rows of a table.
pub(super) fn clear_in(table: &mut TableData) {
    table.definition.values_mut().for_each(|column| column.spelling = None);
    table.records.values_mut().for_each(|record| record.spelling.clear());
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RetainedSpellings {
    None,
    /// The labels of footnotes.
    Labels,
}

fn remove_spellings_except(nodes: &[Node], keep: RetainedSpellings) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::new();
    for node in nodes {
        match node {
            Node::Text(text) if text.leaves.is_empty() => {}
            Node::Text(text) => {
                for leaf in &text.leaves {
                    let marks: Vec<_> =
                        leaf.marks.iter().map(|mark| docs_model::Mark { spelling: None, ..*mark }).collect();
                    add(&mut out, Leaf::new(leaf.text.clone(), marks));
                }
            }
            Node::Inline(inline) => {
                let is_kept = keep == RetainedSpellings::Labels && inline.kind == (InlineKind::Annotation {});
                out.push(Node::Inline(Inline {
                    nodes: remove_spellings_except(&inline.nodes, keep),
                    spelling: inline.spelling.clone().filter(|_| is_kept),
                    ..inline.clone()
                }));
            }
            Node::Block(block) => out.push(Node::Block(block.clone())),
        }
    }
    out
}

/// Releases unused capacity of lists.
pub(super) fn compact(mut nodes: Vec<Node>) -> Vec<Node> {
    for node in &mut nodes {
        match node {
            Node::Text(text) => {
                text.leaves.shrink_to_fit();
                for leaf in &mut text.leaves {
                    leaf.text.shrink_to_fit();
                    leaf.marks.shrink_to_fit();
                }
            }
            Node::Inline(inline) => inline.nodes = compact(std::mem::take(&mut inline.nodes)),
            Node::Block(_) => {}
        }
    }
    nodes.shrink_to_fit();
    nodes
}

/// Adds a leaf to nodes, or merges it with the last leaf if both have the same marks. Empty leaves are dropped.
pub(super) fn add(out: &mut Vec<Node>, leaf: Leaf) {
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

/// Removes spellings that are canonical in every position.
pub(super) fn remove_canonical(nodes: Vec<Node>) -> Vec<Node> {
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
    let is_edge = leaf.text.starts_with(char::is_whitespace) || leaf.text.ends_with(char::is_whitespace);
    let is_plain = || leaf.text.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.'));
    if leaf.spelling.is_none() || is_edge || !is_plain() {
        return;
    }
    let is_code = leaf.marks.iter().any(|mark| mark.kind == MarkKind::Code);
    let mut usual = String::new();
    if !is_code {
        escape::text(&mut usual, &leaf.text, EscapeContext::before('x', InlineContext::Lines));
    }
    leaf.spelling.take_if(|spelling| *spelling == usual);
}

fn reduce_inline(inline: &mut Inline) {
    inline.nodes = remove_canonical(std::mem::take(&mut inline.nodes));
    let usual = match &inline.kind {
        InlineKind::Link { target, title } => {
            let mut written = format!("({}", escape::destination(&super::targets::write(target)));
            if written == "(<>" {
                written = "(".to_owned();
            }
            if let Some(title) = title {
                written.push_str(&format!(" {}", escape::title(title)));
            }
            // A link whose text equals its URL has a different notation.
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

/// Returns the canonical number of backticks for the fence of a code block.
pub(super) fn fence_length(block: &Block) -> usize {
    let longest = block.nodes.iter().filter_map(|node| match node {
        Node::Block(line) => {
            let text = text_of_nodes(&line.nodes);
            let trimmed = text.trim_start();
            Some(trimmed.len() - trimmed.trim_start_matches('`').len())
        }
        _ => None,
    });
    longest.max().map_or(3, |longest| (longest + 1).max(3))
}

/// Returns the text of nodes, without marks.
pub(super) fn text_of_nodes(nodes: &[Node]) -> String {
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

/// Returns a block without keys, computed data and spellings, recursively. Verbatim paragraphs are preserved.
pub(super) fn bare_block(block: &Block) -> Block {
    let is_verbatim = is_verbatim(block);
    let nodes = if is_verbatim { block.nodes.clone() } else { remove_spellings(&block.nodes) };
    let nodes = nodes
        .into_iter()
        .map(|node| match node {
            Node::Block(block) => Node::Block(bare_block(&block)),
            node => node,
        })
        .collect();
    let fragment = |own: &Fragment| Fragment {
        key: None,
        nodes: own.nodes.iter().map(bare_block).collect(),
        ..own.clone()
    };
    Block {
        key: None,
        meta: None,
        nodes,
        fragments: block.fragments.as_ref().map(|fragments| fragments.iter().map(fragment).collect()),
        spelling: block.spelling.clone().filter(|_| is_verbatim),
        ..block.clone()
    }
}

/// Returns nodes without the bodies of annotations.
pub(super) fn without_notes(nodes: &[Node]) -> Vec<Node> {
    let mut nodes = nodes.to_vec();
    change_nodes(&mut nodes, &mut |inline| {
        if inline.kind == (InlineKind::Annotation {}) {
            inline.fragments = None;
        }
    });
    nodes
}

/// Returns the block of a second parse with the footnotes of the first parse.
pub(super) fn restore_footnotes(mut before: Block, mut again: Block) -> Block {
    let mut notes = Vec::new();
    change(&mut before, &mut |inline| {
        if inline.kind == (InlineKind::Annotation {}) {
            notes.push(inline.fragments.take());
        }
    });
    let mut notes = notes.into_iter();
    change(&mut again, &mut |inline| {
        if inline.kind == (InlineKind::Annotation {}) {
            inline.fragments = notes.next().flatten();
        }
    });
    again
}

/// Modifies all inline elements, in text order.
fn change(block: &mut Block, act: &mut impl FnMut(&mut Inline)) {
    block.visit_mut(&mut |block| change_nodes(&mut block.nodes, act));
}

fn change_nodes(nodes: &mut [Node], act: &mut impl FnMut(&mut Inline)) {
    for node in nodes {
        if let Node::Inline(inline) = node {
            change_nodes(&mut inline.nodes, act);
            act(inline);
        }
    }
}

/// Visits all inline elements, in printing order.
pub(super) fn each_inline<'b>(block: &'b Block, act: &mut impl FnMut(&'b Inline)) {
    block.visit(&mut |block| each_node(&block.nodes, act));
}

fn each_node<'b>(nodes: &'b [Node], act: &mut impl FnMut(&'b Inline)) {
    for node in nodes {
        if let Node::Inline(inline) = node {
            act(inline);
            each_node(&inline.nodes, act);
        }
    }
}
