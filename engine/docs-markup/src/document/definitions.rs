//! Link definitions that the text of the whole document may reference: those at the top level and within tags.

use docs_model::{Block, Node};

use super::{
    chunks::{self, Chunk, ChunkKind},
    inlines::{LinkDefinitions, label},
    limits::MAX_BLOCK_DEPTH,
    lines::{self, Line},
    spelling::{self, is_verbatim},
    tag_kinds::kind,
    tags::TemplateTag,
};

/// Adds the definition in a chunk, or those within a tag. The first definition of a label takes precedence.
pub(super) fn add_chunk(out: &mut LinkDefinitions, chunk: &Chunk<'_>, lines: &[Line<'_>], depth: usize) {
    match &chunk.kind {
        ChunkKind::Definition(name, destination, title) => {
            out.entry(label(name)).or_insert_with(|| (destination.clone(), title.clone()));
        }
        ChunkKind::Tag(text, Some(inside)) if has_blocks(text) => {
            add(out, &lines[inside.clone()], depth + 1);
        }
        _ => {}
    }
}

/// Returns the definitions in the verbatim blocks of a document.
pub(super) fn in_blocks(blocks: &[Block]) -> LinkDefinitions {
    let mut out = LinkDefinitions::new();
    blocks.iter().for_each(|block| add_block(&mut out, block, 0));
    out
}

fn add_block(out: &mut LinkDefinitions, block: &Block, depth: usize) {
    if is_verbatim(block) {
        let text = spelling::text_of_nodes(&block.nodes);
        add(out, &lines::split(&text), depth);
    } else if block.kind.form().is_container() {
        for node in &block.nodes {
            if let Node::Block(block) = node {
                add_block(out, block, depth + 1);
            }
        }
    }
}

fn add(out: &mut LinkDefinitions, lines: &[Line<'_>], depth: usize) {
    if depth > MAX_BLOCK_DEPTH || !lines.iter().any(|line| lines::has(&line.text, "]:")) {
        return;
    }
    for chunk in chunks::scan_chunks(lines) {
        add_chunk(out, &chunk, lines, depth);
    }
}

/// Returns `true` if the content of a tag is parsed as blocks. This includes unknown tags.
fn has_blocks(text: &str) -> bool {
    TemplateTag::read(text).and_then(|tag| kind(&tag)).is_none_or(|kind| kind.form().is_container())
}
