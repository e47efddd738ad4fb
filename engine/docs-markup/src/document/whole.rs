//! A whole text, read so that its blocks read the same together when they are written.

use std::ops::Range;

use docs_model::{Block, Leaf, Node, TextNode};

use super::{
    keys,
    lines::{self, Line},
    print,
    read::{self, SETTLING, Text, VERBATIM, paragraph, verbatim},
    weight, work,
};

/// Reads a whole text. Blocks that do not read the same beside the others are kept as they are, and where that does not
/// help the whole text is.
pub(super) fn text(lines: &[Line<'_>]) -> Text {
    settled(lines).unwrap_or_else(|| as_it_is(lines))
}

/// Tells whether a block, alone in a text, does not read the same when it is written.
pub(super) fn is_unsettled(block: &Block) -> bool {
    let blocks = std::slice::from_ref(block);
    print::document(blocks).map_or(true, |written| read::text(&lines::split(&written)).blocks != blocks)
}

fn settled(lines: &[Line<'_>]) -> Option<Text> {
    let mut kept: Vec<usize> = Vec::new();
    for _ in 0..=MAX_KEPT {
        let mut text = read::text(lines);
        if work::is_used_up() {
            return None;
        }
        if text.is_usual {
            return Some(text);
        }
        // Notes that are referred to elsewhere cannot be given back.
        if !kept.is_empty() && !text.notes.is_empty() {
            return None;
        }
        for place in &kept {
            keep(&mut text, *place, lines)?;
        }
        match settle(text)? {
            Ok(text) => return Some(text),
            Err(place) => kept.push(place),
        }
    }
    None
}

/// Most blocks that are kept as they are because they do not read the same beside others.
const MAX_KEPT: usize = 3;

/// Writes and reads blocks until they read the same, or tells the first block that does not. There is one tree at a
/// time: of the one before, hashes are left.
fn settle(mut text: Text) -> Option<Result<Text, usize>> {
    for _ in 0..SETTLING {
        let written = print::document(&text.blocks).ok()?;
        if weight::is_all_lines(&written) {
            return None;
        }
        let own: Vec<_> = text.blocks.iter().map(keys::digests).collect();
        text.blocks = Vec::new();
        text.blocks = read::text(&lines::split(super::without_mark(&written))).blocks;
        if work::is_used_up() {
            return None;
        }
        let again: Vec<_> = text.blocks.iter().map(keys::digests).collect();
        if own == again {
            return Some(Ok(text));
        }
        let same = own.iter().zip(&again).take_while(|(own, again)| own.0 == again.0).count();
        if same < own.len() || same < again.len() {
            return Some(Err(same.min(own.len().saturating_sub(1))));
        }
        // What they say is the same: only spellings differ.
    }
    None
}

/// Keeps a block, and all that were made from the same lines, as it is. `None` when it is already.
fn keep(text: &mut Text, place: usize, lines: &[Line<'_>]) -> Option<()> {
    let own: Range<usize> = text.lines.get(place)?.clone();
    let start = text.lines.iter().position(|range| *range == own)?;
    let end = text.lines.iter().rposition(|range| *range == own)? + 1;
    if end - start == 1 && print::is_verbatim(text.blocks.get(start)?) {
        return None;
    }
    text.blocks.splice(start..end, [verbatim(&lines[own.clone()])]);
    text.lines.splice(start..end, [own]);
    Some(())
}

/// All lines as one paragraph that is kept as it is, without the empty lines around it.
fn as_it_is(lines: &[Line<'_>]) -> Text {
    let start = lines.iter().position(|line| !line.is_blank()).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !line.is_blank()).map_or(start, |last| last + 1);
    let written = lines::join(&lines[start..end]);
    let (all, notes, is_usual) = (start..end, Vec::new(), false);
    // Without the empty lines it may read the same.
    let own = lines::split(&written);
    if own.len() < lines.len()
        && !work::is_used_up()
        && let Some(text) = settled(&own)
    {
        let ranges = vec![all; text.blocks.len()];
        return Text { blocks: text.blocks, lines: ranges, notes, is_usual };
    }
    Text { blocks: vec![paragraph_as_it_is(written)], lines: vec![all], notes, is_usual }
}

/// A paragraph that is Markdown, kept as it is.
pub(super) fn paragraph_as_it_is(text: String) -> Block {
    let mut block = paragraph(vec![Node::Text(TextNode::new(vec![Leaf::new(text, Vec::new())]))]);
    block.spelling = Some(VERBATIM.to_owned());
    block
}
