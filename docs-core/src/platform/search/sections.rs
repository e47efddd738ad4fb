//! The indexed text of a page by headings.

use crate::{
    content::{UndecidedConditions, document},
    model::{Block, BlockKind, Node},
    ports::search::Section,
};

/// Splits the text of a page by headings. Conditional content is omitted, because the index also serves visitors and
/// cannot evaluate their conditions.
pub(super) fn split_sections(markdown: &str) -> Vec<Section> {
    let mut document = document::parse(markdown);
    remove_conditional(&mut document.nodes);
    let sections = document::sections(&document::reading_view(&document)).into_iter();
    sections.map(|it| Section { anchor: it.anchor, heading: it.heading, text: it.text }).collect()
}

/// Removes conditional blocks, and conditional content from the others.
fn remove_conditional(blocks: &mut Vec<Block>) {
    let mut undecided = UndecidedConditions::default();
    blocks.retain(|block| !undecided.is_undecided(block) && !matches!(block.kind, BlockKind::If { .. }));
    blocks.iter_mut().for_each(without_conditions);
}

/// Removes conditional content from a block. The depth of documents is bounded.
fn without_conditions(block: &mut Block) {
    let mut undecided = UndecidedConditions::default();
    block.nodes.retain(|node| match node {
        Node::Block(block) => !undecided.is_undecided(block) && !matches!(block.kind, BlockKind::If { .. }),
        _ => true,
    });
    for node in &mut block.nodes {
        if let Node::Block(block) = node {
            without_conditions(block);
        }
    }
    for fragment in block.fragments.iter_mut().flatten() {
        remove_conditional(&mut fragment.nodes);
    }
}

#[cfg(test)]
mod tests {
    use super::split_sections;

    #[test]
    fn indexed_text_contains_no_markup() {
        let text = "See [<u>it</u>][a]. <!-- hidden -->\n\n[a]: /pages/p\n\n## <a id=\"x\"></a>StepOutcome {#next}\n\n\
                    > [!NOTE]\n> <b class=\"x\">Mind</b>\n\n{% if true %}\nSecret\n{% endif %}\n";
        let sections = split_sections(text);
        let found: Vec<_> = sections.iter().map(|own| (own.anchor.as_deref(), own.text.as_str())).collect();
        assert_eq!(found, [(None, "See it."), (Some("next"), "Mind")]);
    }
}
