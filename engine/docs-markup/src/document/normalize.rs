//! Normalization of nodes for comparison: removes keys, spellings and empty content.

use docs_model::{Block, BlockKind, ContentRef, Fragment, Inline, InlineKind, Leaf, Mark, Node};

use super::{
    spelling::{self, is_verbatim},
    targets,
};

/// Normalizes inline nodes: merges leaves with equal marks and removes empty ones.
pub(super) fn inlines(nodes: &[Node]) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::new();
    for node in nodes {
        match node {
            Node::Text(text) => text.leaves.iter().for_each(|leaf| add(&mut out, leaf)),
            Node::Inline(own) => out.push(Node::Inline(inline(own))),
            Node::Block(own) if is_empty(own) => {}
            Node::Block(own) => out.push(Node::Block(block(own))),
        }
    }
    out
}

/// Returns `true` for a paragraph without text.
fn is_empty(own: &Block) -> bool {
    matches!(own.kind, BlockKind::Paragraph { .. }) && inlines(&own.nodes).is_empty()
}

fn add(out: &mut Vec<Node>, leaf: &Leaf) {
    let mut marks: Vec<Mark> = leaf.marks.iter().map(|mark| Mark { spelling: None, ..*mark }).collect();
    marks.sort_by_key(|mark| format!("{:?}", mark.kind));
    marks.dedup();
    spelling::add(out, Leaf::new(leaf.text.replace('\0', "\u{fffd}"), marks));
}

fn inline(own: &Inline) -> Inline {
    let mut inline = Inline::new(own.kind.clone(), inlines(&own.nodes));
    inline.kind.targets_mut().for_each(reference);
    match &mut inline.kind {
        InlineKind::Link { title, .. } => drop(title.take_if(|title| title.is_empty())),
        InlineKind::InlineImage { alt, caption, .. } => {
            alt.take_if(|text| text.is_empty());
            caption.take_if(|text| text.is_empty());
        }
        _ => {}
    }
    // The body of an annotation is compared together with the footnote definitions.
    inline
}

/// Normalizes a reference by printing and parsing it.
fn reference(target: &mut ContentRef) {
    *target = targets::read(&targets::write(target));
}

/// Normalizes a block.
pub(super) fn block(own: &Block) -> Block {
    let mut block = Block::new(own.kind.clone(), inlines(&own.nodes));
    let fragments = own.fragments.as_ref().filter(|fragments| !fragments.is_empty());
    block.fragments = fragments.map(|fragments| fragments.iter().map(fragment).collect());
    kind(&mut block.kind);
    if is_verbatim(own) {
        block.spelling.clone_from(&own.spelling);
    }
    block
}

/// Returns `true` if two blocks have equal content. Children are compared one by one, to avoid copying a whole tree.
pub(super) fn is_same(a: &Block, b: &Block) -> bool {
    let bare = |own: &Block| {
        let mut bare = own.kind.clone();
        kind(&mut bare);
        bare
    };
    (a.kind == b.kind || bare(a) == bare(b))
        && is_verbatim(a) == is_verbatim(b)
        && each_same(a.fragments(), b.fragments(), is_same_fragment)
        && match (full_within(a), full_within(b)) {
            (Some(a), Some(b)) => each_same(&a, &b, |a, b| is_same(a, b)),
            _ => inlines(&a.nodes) == inlines(&b.nodes),
        }
}

/// Returns the non-empty child blocks of a block that has child blocks or no children, or `None` for a block with text.
fn full_within(own: &Block) -> Option<Vec<&Block>> {
    let blocks: Vec<&Block> = own.nodes.iter().map(Node::as_block).collect::<Option<_>>()?;
    Some(blocks.into_iter().filter(|block| !is_empty(block)).collect())
}

/// Returns `true` if a block only has child blocks.
pub(super) fn holds_blocks(own: &Block) -> bool {
    !own.nodes.is_empty() && own.nodes.iter().all(|node| node.as_block().is_some())
}

/// Returns `true` if two lists have the same length and equal items.
pub(super) fn each_same<T>(a: &[T], b: &[T], is_same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
}

fn is_same_fragment(a: &Fragment, b: &Fragment) -> bool {
    let (own, other) = (non_empty_blocks(&a.nodes), non_empty_blocks(&b.nodes));
    a.fragment == b.fragment && a.kind == b.kind && each_same(&own, &other, |a, b| is_same(a, b))
}

fn fragment(own: &Fragment) -> Fragment {
    Fragment { key: None, nodes: blocks(&own.nodes), ..own.clone() }
}

/// Normalizes blocks, and removes empty paragraphs.
pub(super) fn blocks(nodes: &[Block]) -> Vec<Block> {
    nodes.iter().filter(|own| !is_empty(own)).map(block).collect()
}

/// Returns the blocks without empty paragraphs.
pub(super) fn non_empty_blocks(nodes: &[Block]) -> Vec<&Block> {
    nodes.iter().filter(|own| !is_empty(own)).collect()
}

fn kind(kind: &mut BlockKind) {
    kind.targets_mut().for_each(reference);
    match kind {
        BlockKind::Image(data) => drop(data.alt.take_if(|alt| alt.is_empty())),
        BlockKind::Table(table) => spelling::clear_in(table),
        _ => {}
    }
}
