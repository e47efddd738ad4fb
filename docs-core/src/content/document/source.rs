//! Markdown with the places of its blocks, so that what does not change keeps its bytes.

use std::{collections::HashMap, ops::Range};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{
    Invalid, keys,
    lines::{self, Line},
    print::{self, Printer},
    read,
};
use crate::model::{Block, Document};

/// Markdown and the document it is.
#[derive(Debug)]
pub struct Source<'a> {
    /// The Markdown.
    pub markdown: &'a str,
    /// The document.
    pub document: Document,
    /// The bytes of each block of the document, without the end of its last line. Blocks that were made from the same
    /// lines have the same.
    pub ranges: Vec<Range<usize>>,
    /// The bytes of the notes that annotations refer to.
    pub notes: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    /// Reads Markdown.
    #[must_use]
    pub fn new(markdown: &'a str) -> Self {
        let lines = lines::split(super::without_mark(markdown));
        let offset = markdown.len() - super::without_mark(markdown).len();
        let starts = starts(&lines, markdown, offset);
        let text = read::text(&lines);
        let bytes = |range: &Range<usize>| {
            let last = range.end.saturating_sub(1);
            let end = starts.get(last).map_or(markdown.len(), |start| start + lines[last].text.len());
            starts.get(range.start).copied().unwrap_or(markdown.len())..end
        };
        let ranges = text.lines.iter().map(bytes).collect();
        let notes = text.notes.iter().map(bytes).collect();
        let mut document = Document::new(text.blocks);
        keys::assign(&mut document);
        Self { markdown, document, ranges, notes }
    }
}

/// Where each line begins.
fn starts(lines: &[Line<'_>], markdown: &str, offset: usize) -> Vec<usize> {
    let mut at = offset;
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        out.push(at);
        at += line.text.len();
        at += markdown[at..].find('\n').map_or(0, |length| length + 1);
    }
    out
}

/// The text of a new document: blocks that say what they said keep their bytes, and so does what stands between two
/// such blocks.
pub(super) fn update(old: &str, new: &Document) -> Result<String, Invalid> {
    let source = Source::new(old);
    let before: Vec<String> = source.document.nodes.iter().map(keys::content).collect();
    let after: Vec<String> = new.nodes.iter().map(keys::content).collect();
    if before == after {
        return Ok(old.to_owned());
    }
    if !source.notes.is_empty() || has_notes(&new.nodes) {
        // Notes have numbers in the order of the text, so that all of it changes.
        return print::document(new);
    }
    let kept = kept(&before, &after, &source);
    let mut printer = Printer::new(&new.nodes);
    let mut out = String::new();
    let mut last: Option<usize> = None;
    let mut run: Vec<&Block> = Vec::new();
    for (index, block) in new.nodes.iter().enumerate() {
        let Some(place) = kept.get(&index) else {
            run.push(block);
            continue;
        };
        flush(&mut printer, &mut run, &mut out)?;
        let range = source.ranges[*place].clone();
        let gap = last.filter(|last| last + 1 == *place).map(|last| source.ranges[last].end..range.start);
        match gap {
            Some(gap) => out.push_str(&old[gap]),
            None if out.is_empty() => {}
            None => out.push_str("\n\n"),
        }
        out.push_str(&old[range]);
        last = Some(*place);
        if kept.get(&(index + 1)).is_none() {
            last = None;
        }
    }
    flush(&mut printer, &mut run, &mut out)?;
    let notes = printer.notes()?;
    if !notes.is_empty() {
        out.push_str("\n\n");
        out.push_str(&notes);
    }
    out.push('\n');
    // Side by side, what was printed and what was kept may read as one.
    if super::is_same(&super::parse(&out), new) { Ok(out) } else { print::document(new) }
}

fn flush(printer: &mut Printer, run: &mut Vec<&Block>, out: &mut String) -> Result<(), Invalid> {
    if run.is_empty() {
        return Ok(());
    }
    let text = printer.sequence(run, "nodes")?;
    run.clear();
    if text.is_empty() {
        return Ok(());
    }
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(&text);
    Ok(())
}

fn has_notes(blocks: &[Block]) -> bool {
    let mut found = false;
    for block in blocks {
        keys::visit(block, &mut |block| {
            found |= block.nodes.iter().any(|node| {
                matches!(node, crate::model::Node::Inline(inline) if inline.kind == crate::model::InlineKind::Annotation {})
            });
        });
    }
    found
}

/// Which blocks of the new document are which of the old one. Lines that are several blocks are kept as a whole.
fn kept(before: &[String], after: &[String], source: &Source<'_>) -> HashMap<usize, usize> {
    let mut kept = HashMap::new();
    for op in capture_diff_slices(Algorithm::Myers, before, after) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            kept.extend((0..len).map(|step| (new_index + step, old_index + step)));
        }
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
