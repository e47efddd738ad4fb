//! Each block of a parsed document and the bytes that it was parsed from.

use docs_model::{Block, Inline, InlineKind};
use proptest::prelude::*;

use super::{super::spelling, reading_view_bounds::piece, *};

/// Returns the number of annotations in a block.
fn annotations(block: &Block) -> usize {
    let mut count = 0;
    spelling::each_inline(block, &mut |inline: &Inline| {
        count += usize::from(inline.kind == (InlineKind::Annotation {}));
    });
    count
}

/// Checks that each block is verbatim, with the bytes of its source, or has the content of its source parsed alone
/// with the definitions of the whole text.
fn check_blocks(text: &str, definitions: &str) -> Result<(), TestCaseError> {
    let source = DocumentSource::new(text);
    let blocks = &source.document.nodes;
    let mut has_note = false;
    for (index, (block, range)) in blocks.iter().zip(&source.ranges).enumerate() {
        let own = &text[range.clone()];
        let is_shared = |at: usize| source.ranges.get(at).is_some_and(|other| other == range);
        // The blocks within an unknown tag have the range of the tag.
        if is_shared(index + 1) || is_shared(index.wrapping_sub(1)) {
            has_note |= annotations(block) > 0;
            continue;
        }
        if is_verbatim(block) {
            let joined: String = spelling::text_of_nodes(&block.nodes);
            let is_note = source.notes.iter().any(|note| range.start <= note.start && note.end <= range.end);
            prop_assert!(is_note || own.trim_matches('\n') == joined, "{own:?} is {joined:?} in {text:?}");
            continue;
        }
        // A repeated reference is text.
        let is_alone = !(has_note && own.contains("[^n]"));
        has_note |= annotations(block) > 0;
        if is_alone {
            let alone = parse(&format!("{own}\n\n{definitions}"));
            let first = alone.nodes.first();
            prop_assert!(
                first.is_some_and(|first| super::super::normalize::is_same(first, block)),
                "{own:?} is {block:?} in {text:?} but {first:?} alone"
            );
        }
    }
    Ok(())
}

#[test]
fn repeated_references_after_verbatim_blocks_keep_their_bytes() {
    let definitions = "[x]: /z\n\n[^n]: Last.\n";
    for heading in ["## a[^n][x]<u>in</u> {#id}", "a[^n][x] b", "a[x][^n]", "- a[^n][x]", "[x]\na[^n][x]"] {
        for first in ["{% prompt %}\n[x][^n]\n{% endprompt %}", "[x][^n]"] {
            let text = format!("{first}\n\nb\n\n{heading}\n\nc\n\n{definitions}");
            check_blocks(&text, definitions).unwrap_or_else(|error| panic!("{error}"));
            let document = parse(&text);
            let written = print(&document).expect("Markdown");
            assert!(written.contains(&format!("\n\n{heading}\n\nc")), "{text:?} becomes {written:?}");
        }
    }
}

proptest! {
    #[test]
    fn each_block_has_the_content_of_its_bytes(pieces in proptest::collection::vec(piece(), 1..8)) {
        let definitions = "[x]: /z\n\n[^n]: Last.\n";
        let pieces: Vec<String> = pieces.into_iter().filter(|piece| !piece.starts_with("[x]: /z")).collect();
        check_blocks(&(pieces.concat() + definitions), definitions)?;
    }
}
