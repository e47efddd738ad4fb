//! Parsing of blocks in tag notation.

use std::ops::Range;

use docs_model::{Block, BlockKind, BlockTag, Leaf, Node, TextNode};

use super::{
    chunks::{self, Chunk, ChunkKind},
    escape,
    lines::{self, Line, SPACE},
    print,
    reader::BlockReader,
    simple_blocks::{caption, nodes, paragraph, verbatim},
    spelling,
    tag_kinds::kind,
    tags::TemplateTag,
};

/// Parses a tag and its content into blocks. For an unknown tag, verbatim text is placed before and after its content.
pub(super) fn blocks(
    reader: &mut BlockReader<'_>,
    text: &str,
    inside: Option<Range<usize>>,
    all: &[Line<'_>],
    chunk: &Chunk<'_>,
) -> Vec<Block> {
    let inner = inside.clone().map(|inside| &all[inside]);
    let own = &all[chunk.lines.clone()];
    if let Some(tag) = TemplateTag::read(text)
        && let Some(mut block) = block(reader, &tag, inner)
    {
        block.spelling = if block.kind.form().is_container() {
            unusual(print::opening(&block), text)
        } else {
            unusual(print::block_alone(&spelling::bare_block(&block)), &lines::join(own))
        };
        return vec![block];
    }
    // A block that does not require content would be parsed from the tag alone.
    let is_whole =
        TemplateTag::read(text).and_then(|tag| kind(&tag)).is_some_and(|kind| !kind.form().is_container());
    let Some(inside) = inside.filter(|_| !is_whole) else { return vec![verbatim(own)] };
    let mut out = vec![verbatim(&all[chunk.lines.start..inside.start])];
    out.extend(reader.read_nested(&all[inside.clone()]));
    // A more indented line would be parsed as code.
    let closing: Vec<Line<'_>> =
        all[inside.end..chunk.lines.end].iter().map(|line| line.dedent(line.indent())).collect();
    out.push(verbatim(&closing));
    out
}

/// Returns the source notation as a spelling, or `None` if it is canonical.
fn unusual(usual: Option<String>, written: &str) -> Option<String> {
    let is_usual = usual.is_some_and(|usual| escape::is_alike(&usual, written));
    (!is_usual).then(|| written.trim_matches(SPACE).to_owned())
}

fn block(reader: &mut BlockReader<'_>, tag: &TemplateTag<'_>, inner: Option<&[Line<'_>]>) -> Option<Block> {
    let kind = kind(tag)?;
    let Some(inner) = inner else {
        // Older exports write the caption as an attribute.
        if let (BlockKind::Embed { .. }, Some(text)) =
            (&kind, tag.text("caption").filter(|text| !text.is_empty()))
        {
            let text = Node::Text(TextNode::new(vec![Leaf::new(text, Vec::new())]));
            return Some(Block::with_fragments(kind, vec![caption(vec![paragraph(vec![text])])]));
        }
        return (!kind.form().is_container()).then(|| Block::new(kind, Vec::new()));
    };
    match &kind {
        BlockKind::Code { .. } => code(reader, kind, inner),
        BlockKind::Tabs { .. } => parts(reader, kind, BlockTag::Tab, inner),
        BlockKind::Stepper {} => parts(reader, kind, BlockTag::Step, inner),
        BlockKind::Columns { .. } => parts(reader, kind, BlockTag::Column, inner),
        BlockKind::Updates { .. } => parts(reader, kind, BlockTag::Update, inner),
        BlockKind::Prompt { .. } => prompt(reader, kind, inner),
        BlockKind::Hint { .. } | BlockKind::If { .. } => {
            let inside = reader.read_nested(inner);
            Some(Block::new(kind, nodes(inside)))
        }
        BlockKind::File { .. } | BlockKind::Embed { .. } => {
            let blocks = reader.read_nested(inner);
            let is_caption = blocks.iter().all(|block| matches!(block.kind, BlockKind::Paragraph { .. }));
            is_caption.then(|| Block::with_fragments(kind, vec![caption(blocks)]))
        }
        // The content only repeats the target.
        BlockKind::ContentRef { .. }
        | BlockKind::Swagger { .. }
        | BlockKind::OpenapiOperation { .. }
        | BlockKind::OpenapiSchemas { .. }
        | BlockKind::OpenapiWebhook { .. } => {
            (inner.iter().filter(|line| !line.is_blank()).count() <= 1).then(|| Block::new(kind, Vec::new()))
        }
        // Blocks without content, blocks without a tag, and blocks that are only valid within tabs, a stepper or
        // columns.
        _ => None,
    }
}

/// Parses options around one code block.
fn code(reader: &mut BlockReader<'_>, options: BlockKind, inner: &[Line<'_>]) -> Option<Block> {
    let chunks = chunks::read(inner);
    let [Chunk { kind: ChunkKind::Fence(..), .. }] = chunks.as_slice() else { return None };
    let [mut block] = <[Block; 1]>::try_from(reader.level(inner)).ok()?;
    let BlockKind::Code { syntax: written, .. } = block.kind else { return None };
    // Without options, printing would drop the tag.
    if !options.has_code_options() {
        return None;
    }
    block.spelling.is_none().then_some(())?;
    block.kind = options;
    if let BlockKind::Code { syntax, .. } = &mut block.kind {
        *syntax = written;
    }
    Some(block)
}

/// Parses a prompt, which contains one code block.
fn prompt(reader: &mut BlockReader<'_>, prompt: BlockKind, inner: &[Line<'_>]) -> Option<Block> {
    let chunks = chunks::read(inner);
    let is_code = match chunks.as_slice() {
        [Chunk { kind: ChunkKind::Fence(..), .. }] => true,
        [Chunk { kind: ChunkKind::Tag(text, Some(_)), .. }] => {
            TemplateTag::read(text).is_some_and(|tag| BlockTag::from_name(tag.name) == Some(BlockTag::Code))
        }
        _ => false,
    };
    let blocks = if is_code { reader.read_nested(inner) } else { return None };
    let is_code = matches!(blocks.as_slice(), [Block { kind: BlockKind::Code { .. }, .. }]);
    is_code.then(|| Block::new(prompt, nodes(blocks)))
}

/// Parses a tag that only contains tags of one name.
fn parts(reader: &mut BlockReader<'_>, whole: BlockKind, own: BlockTag, inner: &[Line<'_>]) -> Option<Block> {
    let chunks = chunks::read(inner);
    let is_part = |chunk: &Chunk<'_>| match &chunk.kind {
        ChunkKind::Tag(text, Some(_)) => TemplateTag::read(text)
            .is_some_and(|tag| BlockTag::from_name(tag.name) == Some(own) && kind(&tag).is_some()),
        _ => false,
    };
    if !chunks.iter().all(is_part) {
        return None;
    }
    let mut out = Vec::new();
    for chunk in &chunks {
        let ChunkKind::Tag(text, Some(inside)) = &chunk.kind else { return None };
        let kind = kind(&TemplateTag::read(text)?)?;
        reader.left = reader.left.saturating_sub(1);
        let mut block = Block::new(kind, nodes(reader.read_nested(&inner[inside.clone()])));
        block.spelling = unusual(print::opening(&block), text);
        out.push(block);
    }
    Some(Block::new(whole, nodes(out)))
}
