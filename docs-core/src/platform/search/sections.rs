//! The indexed text of a page by headings.

use crate::{
    content::{UndecidedConditions, document},
    model::{Block, BlockKind, Node},
    ports::search::Section,
};

/// Maximum number of sections of a page in the index. Further headings are text of the last section.
const MAX_PAGE_SECTIONS: usize = 2_000;

/// Splits the text of a page by headings. Conditional content is omitted, because the index also serves visitors and
/// cannot evaluate their conditions.
pub(super) fn split_sections(markdown: &str) -> Vec<Section> {
    let mut document = document::parse(markdown);
    remove_conditional(&mut document.nodes);
    let mut sections = document::sections(&document::reading_view(&document)).into_iter();
    let section = |it: document::Section| Section { anchor: it.anchor, heading: it.heading, text: it.text };
    let mut indexed: Vec<Section> = sections.by_ref().take(MAX_PAGE_SECTIONS).map(section).collect();
    if let Some(last) = indexed.last_mut() {
        for text in sections.flat_map(|it| [it.heading.unwrap_or_default(), it.text]) {
            last.text.push('\n');
            last.text.push_str(&text);
        }
    }
    indexed
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
    use super::{MAX_PAGE_SECTIONS, split_sections};

    #[test]
    fn headings_beyond_the_bound_are_text() {
        let text: String =
            (0..MAX_PAGE_SECTIONS + 2).map(|number| format!("# h{number}\n\nt{number}\n\n")).collect();
        let sections = split_sections(&text);
        assert_eq!(sections.len(), MAX_PAGE_SECTIONS);
        let last = sections.last().expect("a section");
        assert_eq!(last.heading.as_deref(), Some("h1999"));
        assert_eq!(last.text, "t1999\nh2000\nt2000\nh2001\nt2001");
    }

    #[test]
    fn indexed_text_contains_no_markup() {
        let text = "See [<u>it</u>][a]. <!-- hidden -->\n\n[a]: /pages/p\n\n## <a id=\"x\"></a>StepOutcome {#next}\n\n\
                    > [!NOTE]\n> <b class=\"x\">Mind</b>\n\n{% if true %}\nSecret\n{% endif %}\n";
        let sections = split_sections(text);
        let found: Vec<_> = sections.iter().map(|own| (own.anchor.as_deref(), own.text.as_str())).collect();
        assert_eq!(found, [(None, "See it."), (Some("next"), "Mind")]);
    }
}
