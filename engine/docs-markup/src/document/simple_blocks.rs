//! Constructors for blocks that need no parsing, and predicates on blocks.

use docs_model::{Block, BlockKind, Fragment, HeadingData, Leaf, Node, TextNode};

use super::{
    lines::{self, Line},
    marks::CODE_INDENT,
    normalize,
    spelling::{VERBATIM, is_verbatim},
};

/// Converts indented code after a list to fenced code, because indented code would become part of the list.
pub(super) fn fenced(block: Block, follows_list: bool) -> Block {
    let is_code = matches!(block.kind, BlockKind::Code { .. }) && block.spelling.as_deref() == Some("    ");
    if follows_list && is_code { Block { spelling: None, ..block } } else { block }
}

/// Returns lines as a verbatim block.
pub(super) fn verbatim(lines: &[Line<'_>]) -> Block {
    verbatim_run(lines, &[])
}

/// Returns the lines of a block and of the following blocks as a verbatim block.
pub(super) fn verbatim_run(first: &[Line<'_>], rest: &[Line<'_>]) -> Block {
    // After a list, leading space would make the block part of the list, and more leading space would make it code.
    // Lines that are already indented as code are unchanged.
    let indent = first.first().map(Line::indent).filter(|indent| *indent < CODE_INDENT).unwrap_or(0);
    let less = |line: &Line<'_>| match line.indent() {
        own if own >= CODE_INDENT => indent.min(own - CODE_INDENT),
        _ => indent,
    };
    let mut lines: Vec<Line<'_>> = first.iter().map(|line| line.dedent(less(line))).collect();
    lines.extend_from_slice(rest);
    let text = lines::join(&lines);
    let leaf = Leaf::new(text.trim_matches('\n'), Vec::new());
    let mut block = paragraph(vec![Node::Text(TextNode::new(vec![leaf]))]);
    block.spelling = Some(VERBATIM.to_owned());
    block
}

pub(super) fn paragraph(nodes: Vec<Node>) -> Block {
    Block::new(BlockKind::Paragraph { align: None }, nodes)
}

/// Converts blocks to nodes.
pub(super) fn nodes(blocks: Vec<Block>) -> Vec<Node> {
    blocks.into_iter().map(Node::Block).collect()
}

pub(super) fn code_line(text: &str) -> Block {
    let leaves = if text.is_empty() {
        Vec::new()
    } else {
        vec![Leaf::new(text.replace('\0', "\u{fffd}"), Vec::new())]
    };
    Block::new(BlockKind::CodeLine { highlighted: None }, vec![Node::Text(TextNode::new(leaves))])
}

/// Returns the heading kind for `level` `#` characters.
pub(super) fn heading(level: u8, data: HeadingData) -> BlockKind {
    let level_kept = matches!(level, 1 | 5 | 6).then_some(level);
    let data = HeadingData { level: level_kept, ..data };
    match level {
        0..=2 => BlockKind::Heading1(data),
        3 => BlockKind::Heading2(data),
        _ => BlockKind::Heading3(data),
    }
}

/// Returns `true` if `text` is a valid heading anchor.
pub(super) fn is_anchor(text: &str) -> bool {
    !text.is_empty()
        && !text
            .contains(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '&' | '\\' | '`' | '\''))
}

pub(super) fn caption(blocks: Vec<Block>) -> Fragment {
    Fragment::new("caption", blocks)
}

pub(super) const fn is_list(block: &Block) -> bool {
    block.kind.is_list()
}

/// Returns `true` for a paragraph without text, which is not printed.
pub(super) fn is_nothing(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Paragraph { .. })
        && normalize::inlines(&block.nodes).is_empty()
        && !is_verbatim(block)
}
