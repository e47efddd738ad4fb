//! Expansion of reusable content blocks within documents.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{ReadableRevision, page_steps::StepMeter};
use crate::{
    ErrorKind, Result,
    content::{Evaluated, Rendering, run_in_place},
    model::{Block, BlockKind, ContentRef, Document, Node, ReusableId, Variables},
    platform::publishing::visitors::ContentFilter,
};

/// Maximum nesting of expanded reusable content blocks.
const MAX_INCLUDE_DEPTH: usize = 8;
/// Maximum number of distinct reusable content blocks that a document expands.
const MAX_INCLUDES: usize = 200;
/// Maximum number of blocks that the expansion of a document adds, including blocks within blocks.
const MAX_INCLUDED_BLOCKS: usize = 20_000;

/// Maximum total size of the texts that are read and of those that the expansion of a document adds, in bytes.
const MAX_INCLUDED_BYTES: usize = 4_000_000;

/// A reusable content block as the reader sees it.
struct IncludedDocument {
    document: Arc<Document>,
    /// The size of its text in bytes.
    bytes: usize,
}

/// The expanded documents, by reusable content block.
type IncludedDocuments = BTreeMap<ReusableId, IncludedDocument>;

impl ReadableRevision {
    /// Replaces the reusable content blocks of a document by their content, as the reader sees it. Blocks beyond the
    /// bounds, those of other spaces, and those that the reader does not see remain references.
    pub(super) async fn expand_includes(
        &self,
        filter: &ContentFilter,
        document: Arc<Document>,
        evaluated: Evaluated,
        meter: &mut StepMeter,
    ) -> Result<Arc<Document>> {
        let (mut included, mut looked_up, mut bytes_left) = (IncludedDocuments::new(), 0, MAX_INCLUDED_BYTES);
        let mut wanted = referenced(&document);
        let (mut known, mut allowance) = (wanted.clone(), meter.allowance());
        let given = allowance.steps.0;
        for _ in 0..MAX_INCLUDE_DEPTH {
            let mut next = BTreeSet::new();
            for id in std::mem::take(&mut wanted) {
                if looked_up >= MAX_INCLUDES {
                    break;
                }
                looked_up += 1;
                let entry = match self.reusable(filter, &id).await {
                    Ok(entry) if !entry.body.is_empty() => entry,
                    Ok(_) => continue,
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                };
                let bytes = self.view.text(&entry.body, Rendering::Request).await?.len();
                let Some(left) = bytes_left.checked_sub(bytes) else { continue };
                bytes_left = left;
                let found = self.view.document(&entry.body, Rendering::Request).await?;
                let found =
                    filter.document_within(found, &Variables::new(), evaluated, &mut allowance).await?;
                next.extend(referenced(&found).into_iter().filter(|id| known.insert(id.clone())));
                included.insert(id, IncludedDocument { document: found, bytes });
            }
            wanted = next;
        }
        meter.charge(given, &allowance);
        if included.is_empty() {
            return Ok(document);
        }
        let mut expansion = Expansion::new(&included);
        Ok(run_in_place(|| {
            let mut document = Arc::unwrap_or_clone(document);
            document.nodes = expansion.blocks(document.nodes);
            Arc::new(document)
        }))
    }
}

/// Returns the reusable content blocks of the same space that a document references.
fn referenced(document: &Document) -> BTreeSet<ReusableId> {
    let mut ids = BTreeSet::new();
    for block in &document.nodes {
        block.visit(&mut |block| ids.extend(reference(block).cloned()));
    }
    ids
}

/// Returns the reusable content block of the same space that a block references.
fn reference(block: &Block) -> Option<&ReusableId> {
    match &block.kind {
        BlockKind::ReusableContent {
            target: ContentRef::ReusableContent { reusable_content, space: None },
        } => Some(reusable_content),
        _ => None,
    }
}

/// The state of an expansion.
struct Expansion<'d> {
    included: &'d IncludedDocuments,
    /// The reusable content blocks that are being expanded.
    enclosing: Vec<&'d ReusableId>,
    /// The number of blocks that may still be added.
    blocks_left: usize,
    /// The size of the texts that may still be added, in bytes.
    bytes_left: usize,
}

impl<'d> Expansion<'d> {
    const fn new(included: &'d IncludedDocuments) -> Self {
        let (blocks_left, bytes_left) = (MAX_INCLUDED_BLOCKS, MAX_INCLUDED_BYTES);
        Self { included, enclosing: Vec::new(), blocks_left, bytes_left }
    }

    /// Expands the references among sibling blocks and within them.
    fn blocks(&mut self, blocks: Vec<Block>) -> Vec<Block> {
        let mut out = Vec::with_capacity(blocks.len());
        for mut block in blocks {
            match self.content_of(&block) {
                Some((id, content)) => {
                    self.enclosing.push(id);
                    let content = self.blocks(content.nodes.clone());
                    self.enclosing.pop();
                    out.extend(content);
                }
                None => {
                    self.children(&mut block);
                    out.push(block);
                }
            }
        }
        out
    }

    /// Expands the references within a block.
    fn children(&mut self, block: &mut Block) {
        if block.nodes.iter().any(|node| node.as_block().is_some()) {
            let mut nodes = Vec::with_capacity(block.nodes.len());
            for node in std::mem::take(&mut block.nodes) {
                match node {
                    Node::Block(child) => nodes.extend(self.blocks(vec![child]).into_iter().map(Node::Block)),
                    other => nodes.push(other),
                }
            }
            block.nodes = nodes;
        }
        for fragment in block.fragments.iter_mut().flatten() {
            fragment.nodes = self.blocks(std::mem::take(&mut fragment.nodes));
        }
    }

    /// Returns the content of a reference if it may be expanded.
    fn content_of(&mut self, block: &Block) -> Option<(&'d ReusableId, &'d Document)> {
        let (id, content) = self.included.get_key_value(reference(block)?)?;
        if self.enclosing.len() >= MAX_INCLUDE_DEPTH || self.enclosing.contains(&id) {
            return None;
        }
        let mut count = 0;
        let bytes_left = self.bytes_left.checked_sub(content.bytes)?;
        for block in &content.document.nodes {
            block.visit(&mut |_| count += 1);
        }
        self.blocks_left = self.blocks_left.checked_sub(count)?;
        self.bytes_left = bytes_left;
        Some((id, &content.document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn include(id: &str) -> Block {
        let reusable_content = id.parse().expect("an id");
        let target = ContentRef::ReusableContent { reusable_content, space: None };
        Block::new(BlockKind::ReusableContent { target }, Vec::new())
    }

    fn paragraph(text: &str) -> Block {
        Block::new(BlockKind::Paragraph { align: None }, vec![Node::plain(text)])
    }

    fn expanded(included: &[(&str, Vec<Block>)], blocks: Vec<Block>) -> Vec<Block> {
        let of = |blocks: &Vec<Block>| IncludedDocument {
            document: Arc::new(Document::new(blocks.clone())),
            bytes: 1,
        };
        let included: IncludedDocuments =
            included.iter().map(|(id, blocks)| (id.parse().expect("an id"), of(blocks))).collect();
        Expansion::new(&included).blocks(blocks)
    }

    #[test]
    fn texts_of_includes_beyond_their_bytes_remain_references() {
        let document = Arc::new(Document::new(vec![paragraph("A")]));
        let long = IncludedDocument { document, bytes: MAX_INCLUDED_BYTES / 4 };
        let included = IncludedDocuments::from([("a".parse().expect("an id"), long)]);
        let blocks = vec![include("a"); 6];
        let wanted = [vec![paragraph("A"); 4], vec![include("a"); 2]].concat();
        assert_eq!(Expansion::new(&included).blocks(blocks), wanted);
    }

    #[test]
    fn includes_are_replaced_at_any_level_but_not_in_themselves() {
        let quote = |block| Block::new(BlockKind::Blockquote {}, vec![Node::Block(block)]);
        let included =
            [("a", vec![paragraph("A"), include("b"), include("a")]), ("b", vec![quote(include("a"))])];
        let wanted = vec![quote(include("missing")), paragraph("A"), quote(include("a")), include("a")];
        assert_eq!(expanded(&included, vec![quote(include("missing")), include("a")]), wanted);
    }

    #[test]
    fn includes_beyond_the_bounds_remain_references() {
        let many = vec![paragraph("A"); MAX_INCLUDED_BLOCKS];
        let included = [("a", many.clone()), ("b", vec![paragraph("B")])];
        let wanted = [many, vec![include("b")]].concat();
        assert_eq!(expanded(&included, vec![include("a"), include("b")]), wanted);
        let names: Vec<String> = (0..=MAX_INCLUDE_DEPTH).map(|number| format!("n{number}")).collect();
        let chain: Vec<(&str, Vec<Block>)> =
            names.windows(2).map(|pair| (pair[0].as_str(), vec![include(&pair[1])])).collect();
        let last = [(names[MAX_INCLUDE_DEPTH].as_str(), vec![paragraph("End")])];
        let all = [chain, last.to_vec()].concat();
        assert_eq!(expanded(&all, vec![include("n1")]), [paragraph("End")]);
        assert_eq!(expanded(&all, vec![include("n0")]), [include(&names[MAX_INCLUDE_DEPTH])]);
    }
}
