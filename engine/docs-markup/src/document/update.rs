//! Updating Markdown to a changed document: unchanged blocks keep their bytes.

use std::collections::HashMap;

use docs_model::{Block, Document};

use super::{
    comparison::is_same,
    invalid::Invalid,
    keys,
    minimal_edit::{self, Distance, SpellingMode},
    print::{Printer, readable},
    source::{DocumentSource, parse},
    write::print,
};
use crate::diff::{LineChange, changed};

/// Updates Markdown to a changed document. Blocks with unchanged content keep their bytes, and changed blocks keep
/// their spelling as far as possible. Without a change, the old text is returned.
///
/// # Errors
///
/// The errors of [`print()`](super::print()).
pub fn update(old: &str, new: &Document) -> Result<String, Invalid> {
    let mut best = by_blocks(old, new)?;
    let Some(mut far) = Distance::measure(old, &best) else { return Ok(best) };
    let mut before = None;
    for way in [SpellingMode::Spelled, SpellingMode::Canonical] {
        if far.is_least() {
            break;
        }
        let before = before.get_or_insert_with(|| DocumentSource::new(old).document);
        let Some(text) = minimal_edit::apply_changes(old, before, new, way, line_end(old)) else { continue };
        if let Some(how_far) = Distance::measure(old, &text).filter(|how_far| *how_far < far) {
            (best, far) = (text, how_far);
        }
    }
    Ok(best)
}

/// Rewrites Markdown so that it only contains what readers can see. Blocks with unchanged content keep their bytes. All
/// others are printed from scratch, so no omitted content remains.
///
/// If the document cannot be printed as Markdown that parses to it, all blocks are printed from scratch, and a block
/// that cannot be printed is replaced by its plain text.
#[must_use]
pub fn update_blocks(old: &str, new: &Document) -> String {
    by_blocks(old, new).unwrap_or_else(|_| readable(&new.nodes))
}

/// Returns the text of a new document. Unchanged blocks keep their bytes, and so does the text between two such blocks.
pub(super) fn by_blocks(old: &str, new: &Document) -> Result<String, Invalid> {
    let source = DocumentSource::new(old);
    edited(&source, old, &block_fingerprints(&source.document), new)?.map_or_else(|| print(new), Ok)
}

/// Returns a fingerprint of each block of a document, for comparing blocks.
pub(crate) fn block_fingerprints(document: &Document) -> Vec<String> {
    document.nodes.iter().map(keys::content).collect()
}

/// Returns the text of a new document that replaces a parsed one, given the fingerprints of the parsed blocks. Returns
/// `None` if the result does not parse to the document, because printed text merged with preserved text.
pub(crate) fn edited(
    source: &DocumentSource<'_>,
    old: &str,
    before: &[String],
    new: &Document,
) -> Result<Option<String>, Invalid> {
    let after = block_fingerprints(new);
    if before == after {
        return Ok(Some(old.to_owned()));
    }
    if !source.notes.is_empty() || has_notes(&new.nodes) {
        // Footnotes are numbered in text order, so the whole text can change.
        return print(new).map(Some);
    }
    let kept = unchanged_blocks(before, &after, source);
    let mut printer = Printer::new(&new.nodes);
    let mut out = Replacement { text: String::new(), end: line_end(old) };
    let mut last: Option<usize> = None;
    let mut run: Vec<&Block> = Vec::new();
    for (index, block) in new.nodes.iter().enumerate() {
        let Some(place) = kept.get(&index) else {
            run.push(block);
            continue;
        };
        flush(&mut printer, &mut run, &mut out)?;
        let range = source.ranges[*place].clone();
        // A footnote definition that a verbatim block references is kept directly after that block, regardless of the
        // position of its lines. In that case, the text between the two ranges consists of other blocks, or the first
        // range is after the second.
        let gap = last
            .filter(|last| last + 1 == *place)
            .and_then(|last| source.markdown.get(source.ranges[last].end..range.start))
            .filter(|gap| gap.chars().all(char::is_whitespace));
        match gap {
            Some(gap) => out.text.push_str(gap),
            None if out.text.is_empty() => {}
            None => out.add("\n\n"),
        }
        out.text.push_str(&source.markdown[range]);
        last = Some(*place);
        if !kept.contains_key(&(index + 1)) {
            last = None;
        }
    }
    flush(&mut printer, &mut run, &mut out)?;
    let notes = printer.notes()?;
    if !notes.is_empty() {
        out.add("\n\n");
        out.add(&notes);
    }
    out.add("\n");
    let out = out.text;
    Ok(is_same(&parse(&out), new).then_some(out))
}

/// The text that replaces an existing text.
struct Replacement {
    text: String,
    /// The line ending of the replaced text.
    end: &'static str,
}

impl Replacement {
    /// Appends new text with the line ending of the replaced text.
    fn add(&mut self, printed: &str) {
        match self.end {
            "\n" => self.text.push_str(printed),
            end => self.text.push_str(&printed.replace('\n', end)),
        }
    }
}

/// Returns the most frequent line ending of `text`.
fn line_end(text: &str) -> &'static str {
    let (pairs, all) = (text.matches("\r\n").count(), text.matches('\n').count());
    if pairs > 0 && 2 * pairs >= all { "\r\n" } else { "\n" }
}

fn flush(printer: &mut Printer, run: &mut Vec<&Block>, out: &mut Replacement) -> Result<(), Invalid> {
    if run.is_empty() {
        return Ok(());
    }
    let text = printer.sequence(run, "nodes")?;
    run.clear();
    if text.is_empty() {
        return Ok(());
    }
    if !out.text.is_empty() {
        out.add("\n\n");
    }
    out.add(&text);
    Ok(())
}

fn has_notes(blocks: &[Block]) -> bool {
    let mut found = false;
    for block in blocks {
        block.visit(&mut |block| {
            found |= block.nodes.iter().any(|node| {
                matches!(node, docs_model::Node::Inline(inline) if inline.kind == docs_model::InlineKind::Annotation {})
            });
        });
    }
    found
}

/// Maps the unchanged blocks of the new document to blocks of the old document. If lines form several blocks, either
/// all of the blocks are mapped or none.
fn unchanged_blocks(
    before: &[String],
    after: &[String],
    source: &DocumentSource<'_>,
) -> HashMap<usize, usize> {
    let mut kept = HashMap::new();
    let (mut old, mut new) = (0, 0);
    let end = LineChange { old: before.len()..before.len(), new: after.len()..after.len() };
    for change in changed(before, after).into_iter().chain([end]) {
        kept.extend((new..change.new.start).zip(old..change.old.start));
        (old, new) = (change.old.end, change.new.end);
    }
    let is_alone = |place: &usize| {
        let own = &source.ranges[*place];
        let same = |other: Option<usize>| {
            other.and_then(|other| source.ranges.get(other)).is_some_and(|range| range == own)
        };
        !same(place.checked_sub(1)) && !same(Some(place + 1))
    };
    kept.retain(|_, place| is_alone(place));
    kept
}
