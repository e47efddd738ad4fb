//! Memory estimation for documents.

use std::mem::size_of;

use docs_model::{
    Block, BlockKind, CellMerge, CellValue, Document, Fragment, Inline, Leaf, Mark, Node, TableColumn,
    TableData, TableRecord,
};

/// Capacity of the smallest map.
const MAP_ROOM: usize = 11;
/// Heap overhead of a string in bytes, in addition to its characters.
const TEXT_BYTES: usize = 32;

/// Estimates the memory of a document tree in bytes, including its strings.
#[must_use]
pub fn memory(document: &Document) -> usize {
    size_of::<Document>() + blocks(&document.nodes)
}

fn blocks(all: &[Block]) -> usize {
    all.iter().map(block).sum()
}

fn block(block: &Block) -> usize {
    let table = match &block.kind {
        BlockKind::Table(data) => table(data),
        _ => 0,
    };
    let spelling = block.spelling.as_ref().map_or(0, |spelling| spelling.len() + TEXT_BYTES);
    size_of::<Block>()
        + 2 * TEXT_BYTES
        + table
        + spelling
        + nodes(&block.nodes)
        + fragments(block.fragments())
}

fn table(data: &TableData) -> usize {
    let row = |record: &TableRecord| TEXT_BYTES + map(record.values.len(), size_of::<CellValue>());
    let columns = data.definition.len();
    map(data.records.len(), size_of::<TableRecord>())
        + data.records.values().map(row).sum::<usize>()
        + map(columns, size_of::<TableColumn>())
        + 4 * TEXT_BYTES * columns
        + (size_of::<CellMerge>() + 2 * TEXT_BYTES) * data.cell_merges.len()
}

/// Estimates the memory of a map from strings to values of a given size, including the strings.
const fn map(entries: usize, value: usize) -> usize {
    let room = if entries == 0 || entries > MAP_ROOM { entries } else { MAP_ROOM };
    room * (size_of::<String>() + value) + entries * TEXT_BYTES
}

fn nodes(all: &[Node]) -> usize {
    let leaf = |leaf: &Leaf| {
        let spelling = leaf.spelling.as_ref().map_or(0, |spelling| spelling.len() + TEXT_BYTES);
        size_of::<Leaf>() + TEXT_BYTES + leaf.text.len() + leaf.marks.len() * size_of::<Mark>() + spelling
    };
    let node = |node: &Node| match node {
        Node::Block(own) => block(own) + size_of::<Node>().saturating_sub(size_of::<Block>()),
        Node::Inline(own) => size_of::<Node>() + inline(own),
        Node::Text(text) => size_of::<Node>() + text.leaves.iter().map(leaf).sum::<usize>(),
    };
    all.iter().map(node).sum()
}

fn inline(inline: &Inline) -> usize {
    TEXT_BYTES + nodes(&inline.nodes) + fragments(inline.fragments())
}

fn fragments(all: &[Fragment]) -> usize {
    all.iter().map(|own| size_of::<Fragment>() + 2 * TEXT_BYTES + blocks(&own.nodes)).sum()
}
