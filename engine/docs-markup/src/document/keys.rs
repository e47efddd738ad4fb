//! Computed data of blocks: keys and anchors.

use std::{
    collections::HashMap,
    io::{BufWriter, Write},
};

use docs_model::{BASE32, Block, BlockKind, BlockMeta, CellValue, Document, Fragment, Leaf, Node, TextNode};

use super::spelling;
use crate::{UniqueNames, slug::heading_anchor};

/// Length of a key in characters: 80 bits of a hash.
const KEY_CHARS: usize = 16;

/// Sets the key of every block, and its anchor if it has one.
pub(super) fn assign(document: &mut Document) {
    // The number of blocks by hash.
    let mut seen: HashMap<blake3::Hash, u64> = HashMap::new();
    for_each_hashed(document, &mut |block, hash| {
        let count = seen.entry(*hash).or_default();
        block.key = Some(match *count {
            0 => encode_key(hash),
            count => encode_key(&blake3::hash(&[hash.as_bytes().as_slice(), &count.to_le_bytes()].concat())),
        });
        *count += 1;
    });
    anchors(document);
}

/// Sets the keys and anchors of the blocks that have none.
pub(super) fn assign_missing(document: &mut Document) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for block in &document.nodes {
        block.visit(&mut |block| {
            if let Some(key) = &block.key {
                counts.insert(key.clone(), 1);
            }
        });
    }
    for_each_hashed(document, &mut |block, hash| {
        if block.key.is_none() {
            let key = encode_key(hash);
            let count = counts.entry(key.clone()).or_default();
            block.key = Some(if *count == 0 { key } else { format!("{key}-{count}") });
            *count += 1;
        }
    });
    missing_anchors(document);
}

/// Returns the key of a block without a preceding equal block. Blocks with equal content have equal keys, regardless of
/// their spelling.
pub(super) fn content(block: &Block) -> String {
    encode_key(&hash(block))
}

/// Returns the hash of a block's content, and the hash of its content together with its spelling.
pub(super) fn digests(block: &Block) -> (blake3::Hash, blake3::Hash) {
    let mut whole = BufWriter::with_capacity(BUFFER_BYTES, blake3::Hasher::new());
    // Neither serialization nor hashing of a block fails.
    let _ = serde_json::to_writer(&mut whole, block);
    let _ = whole.flush();
    (hash(block), whole.get_ref().finalize())
}

/// Size of the hashing buffer in bytes. The JSON of a block is written in small chunks.
const BUFFER_BYTES: usize = 4 * 1024;

fn encode_key(hash: &blake3::Hash) -> String {
    let mut key = BASE32.encode(&hash.as_bytes()[..KEY_CHARS * 5 / 8]);
    key.truncate(KEY_CHARS);
    key
}

/// Calls `visit` with every block and the hash of its content, descendants first. Each block is serialized once.
fn for_each_hashed(document: &mut Document, visit: &mut impl FnMut(&mut Block, &blake3::Hash)) {
    let mut said = HashInput::default();
    document.nodes.iter_mut().for_each(|block| {
        visit_hashed(block, &mut said, visit);
    });
}

/// Returns the hash of the block. In `said`, the content of ancestors precedes that of their descendants.
fn visit_hashed(
    block: &mut Block,
    said: &mut HashInput,
    visit: &mut impl FnMut(&mut Block, &blake3::Hash),
) -> blake3::Hash {
    let start = said.head(block);
    for node in &mut block.nodes {
        match node {
            Node::Block(block) => {
                let hash = visit_hashed(block, said, visit);
                said.hash(&hash);
            }
            node => said.node(node),
        }
    }
    for fragment in block.fragments.iter_mut().flatten() {
        said.name(fragment);
        for block in &mut fragment.nodes {
            let hash = visit_hashed(block, said, visit);
            said.hash(&hash);
        }
    }
    let hash = said.end(start);
    visit(block, &hash);
    hash
}

/// Returns the hash of a block's content.
fn hash(block: &Block) -> blake3::Hash {
    HashInput::default().block(block)
}

/// The content of blocks, serialized for hashing.
#[derive(Default)]
struct HashInput(Vec<u8>);

impl HashInput {
    /// Hashes a block and removes it from the buffer.
    fn block(&mut self, block: &Block) -> blake3::Hash {
        let start = self.head(block);
        for node in &block.nodes {
            self.node(node);
        }
        for fragment in block.fragments() {
            self.fragment(fragment);
        }
        self.end(start)
    }

    /// Begins a block. Returns its start position.
    fn head(&mut self, block: &Block) -> usize {
        let start = self.0.len();
        match &block.kind {
            BlockKind::Table(data) => {
                // The spelling of titles and cells is not part of the content.
                let mut data = data.clone();
                spelling::clear_in(&mut data);
                self.json(&BlockKind::Table(data));
            }
            kind => self.json(kind),
        }
        start
    }

    /// Ends a block: removes it from the buffer and returns its hash.
    fn end(&mut self, start: usize) -> blake3::Hash {
        let hash = blake3::hash(self.0.get(start..).unwrap_or_default());
        self.0.truncate(start);
        hash
    }

    fn json(&mut self, value: &impl serde::Serialize) {
        let start = self.0.len();
        if serde_json::to_writer(&mut self.0, value).is_err() {
            self.0.truncate(start);
        }
    }

    fn hash(&mut self, hash: &blake3::Hash) {
        self.0.extend_from_slice(hash.as_bytes());
    }

    fn name(&mut self, fragment: &Fragment) {
        self.0.extend_from_slice(b"\0fragment\0");
        self.0.extend_from_slice(fragment.fragment.as_deref().unwrap_or_default().as_bytes());
    }

    fn fragment(&mut self, fragment: &Fragment) {
        self.name(fragment);
        for block in &fragment.nodes {
            let hash = self.block(block);
            self.hash(&hash);
        }
    }

    /// Adds a child node without spellings.
    fn node(&mut self, node: &Node) {
        match node {
            Node::Text(text) if is_bare(text) => self.json(node),
            Node::Text(_) => {
                for node in spelling::remove_spellings(std::slice::from_ref(node)) {
                    self.json(&node);
                }
            }
            Node::Inline(inline) => {
                self.0.extend_from_slice(b"\0inline\0");
                self.json(&inline.kind);
                for node in &inline.nodes {
                    self.node(node);
                }
                for fragment in inline.fragments() {
                    self.fragment(fragment);
                }
            }
            Node::Block(block) => {
                let hash = self.block(block);
                self.hash(&hash);
            }
        }
    }
}

/// Returns `true` if a text node contains no spellings.
fn is_bare(text: &TextNode) -> bool {
    let is_bare_leaf = |leaf: &Leaf| {
        !leaf.text.is_empty()
            && leaf.spelling.is_none()
            && leaf.marks.iter().all(|mark| mark.spelling.is_none())
    };
    text.key.is_none()
        && !text.leaves.is_empty()
        && text.leaves.iter().all(is_bare_leaf)
        && text.leaves.windows(2).all(|pair| pair[0].marks != pair[1].marks)
}

/// Returns the explicit anchor of a block that can have one, and the text from which an anchor is derived otherwise.
fn anchor_source(block: &Block) -> Option<(Option<&str>, String)> {
    Some(match &block.kind {
        BlockKind::Heading1(data) | BlockKind::Heading2(data) | BlockKind::Heading3(data) => {
            (data.id.as_deref(), spelling::text_of_nodes(&block.nodes))
        }
        BlockKind::Expandable { .. } => {
            let title = block.fragment("expandable-title").and_then(|fragment| fragment.nodes.first());
            (None, title.map(|title| spelling::text_of_nodes(&title.nodes)).unwrap_or_default())
        }
        BlockKind::TabsItem { title, .. } => (None, title.clone().unwrap_or_default()),
        BlockKind::Swagger { path, method, .. } | BlockKind::OpenapiOperation { path, method, .. } => {
            (None, format!("{method} {path}"))
        }
        BlockKind::OpenapiWebhook { name, method, .. } => (None, format!("{method} {name}")),
        BlockKind::OpenapiSchemas { schemas, .. } => (None, schemas.join(" ")),
        _ => return None,
    })
}

/// The anchor of a block without text.
const NAMELESS: &str = "section";

/// Sets the anchors. Explicit anchors are kept. Others are derived from the text, with a numeric suffix if the name is
/// taken.
fn anchors(document: &mut Document) {
    let mut taken = UniqueNames::default();
    for block in &document.nodes {
        block.visit(&mut |block| {
            if let Some((Some(id), _)) = anchor_source(block) {
                taken.insert(id.to_owned());
            }
        });
    }
    for block in &mut document.nodes {
        block.visit_mut(&mut |block| {
            let Some((given, text)) = anchor_source(block) else { return };
            let id = match given {
                Some(id) => id.to_owned(),
                None => free_anchor(&text, &mut taken),
            };
            block.meta = Some(BlockMeta { id });
        });
    }
}

/// Sets the anchors of blocks that have none.
fn missing_anchors(document: &mut Document) {
    let mut taken = UniqueNames::default();
    for block in &document.nodes {
        block.visit(&mut |block| {
            if let Some(meta) = &block.meta {
                taken.insert(meta.id.clone());
            } else if let Some((Some(id), _)) = anchor_source(block) {
                taken.insert(id.to_owned());
            }
        });
    }
    for block in &mut document.nodes {
        block.visit_mut(&mut |block| {
            if block.meta.is_none()
                && let Some((given, text)) = anchor_source(block)
            {
                let id = given.map(str::to_owned);
                block.meta = Some(BlockMeta { id: id.unwrap_or_else(|| free_anchor(&text, &mut taken)) });
            }
        });
    }
}

/// Returns an unused anchor derived from `text`.
fn free_anchor(text: &str, taken: &mut UniqueNames) -> String {
    let slug =
        Some(heading_anchor(text)).filter(|slug| !slug.is_empty()).unwrap_or_else(|| NAMELESS.to_owned());
    taken.take_slug(slug, 1)
}

/// Returns the cell fragments of a table, row by row.
pub(super) fn cells(block: &Block) -> Vec<Vec<&Fragment>> {
    let BlockKind::Table(data) = &block.kind else { return Vec::new() };
    let by_name: HashMap<&str, &Fragment> = block
        .fragments()
        .iter()
        .filter_map(|fragment| Some((fragment.fragment.as_deref()?, fragment)))
        .collect();
    let row = |(_, record): (&String, &docs_model::TableRecord)| {
        record
            .values
            .values()
            .filter_map(|value| match value {
                CellValue::Text(name) => by_name.get(name.as_str()).copied(),
                _ => None,
            })
            .collect()
    };
    data.rows().into_iter().map(row).collect()
}
