//! Empty list items and hints.

use docs_model::{Block, BlockKind, Document, Node};

use super::keys;

/// Adds an empty paragraph to each list item and hint that has no content, because front ends read its first block.
/// Printing the document gives the same Markdown as before.
///
/// ```
/// use docs_markup::document::{fill_empty_blocks, parse, print};
/// let mut document = parse("* one\n*\n");
/// fill_empty_blocks(&mut document);
/// assert_eq!(print(&document)?, "* one\n*\n");
/// # Ok::<(), docs_markup::document::Invalid>(())
/// ```
pub fn fill_empty_blocks(document: &mut Document) {
    let mut is_changed = false;
    for block in &mut document.nodes {
        block.visit_mut(&mut |block| {
            let has_blocks = matches!(block.kind, BlockKind::ListItem { .. } | BlockKind::Hint { .. });
            if has_blocks && block.nodes.is_empty() {
                let empty = Block::new(BlockKind::Paragraph { align: None }, Vec::new());
                block.nodes.push(Node::Block(empty));
                is_changed = true;
            }
        });
    }
    if is_changed {
        keys::assign_missing(document);
    }
}

#[cfg(test)]
mod tests {
    use docs_model::HintStyle;

    use super::*;
    use crate::document::{parse, print};

    /// Returns the only block of a block.
    fn only(block: &Block) -> &Block {
        match block.nodes.as_slice() {
            [Node::Block(only)] => only,
            nodes => panic!("one block: {nodes:?}"),
        }
    }

    #[test]
    fn empty_items_and_hints_get_a_paragraph_with_a_key() {
        let source = "1. one\n2.\n";
        let mut document = parse(source);
        document.nodes.push(Block::new(BlockKind::Hint { style: HintStyle::Info, icon: None }, Vec::new()));
        fill_empty_blocks(&mut document);
        let [list, hint] = document.nodes.as_slice() else { panic!("two blocks: {document:?}") };
        let items: Vec<&Block> = list.children().collect();
        assert_eq!(items.len(), 2);
        for block in [only(items[1]), only(hint)] {
            assert_eq!((&block.kind, block.nodes.len()), (&BlockKind::Paragraph { align: None }, 0));
            assert!(block.key.is_some());
        }
        assert_eq!(only(items[0]).nodes.len(), 1, "an item with text is unchanged");
        let before = document.clone();
        fill_empty_blocks(&mut document);
        assert_eq!(document, before, "nothing is left to fill");
        document.nodes.pop();
        assert_eq!(print(&document).expect("printed"), source);
    }
}
