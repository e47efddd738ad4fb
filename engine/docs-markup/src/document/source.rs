//! Markdown with the byte ranges of its blocks, so that unchanged blocks keep their bytes.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use docs_model::{Block, Document};

use super::{
    Invalid,
    close::{self, Distance, Way},
    keys, lines,
    print::Printer,
    weight, whole,
    work::Reading,
};
use crate::diff::{Change, changed};

/// Characters that end lines.
const LINE_ENDS: [char; 2] = ['\n', '\r'];

/// Markdown and its document.
#[derive(Debug)]
pub struct Source<'a> {
    /// The Markdown, with each NUL replaced by U+FFFD.
    pub markdown: Cow<'a, str>,
    /// The parsed document.
    pub document: Document,
    /// The byte range of each block of the document, without the end of its last line. Blocks made from the same lines
    /// have the same range. The ranges are in text order, except those of footnote definitions referenced only by a
    /// verbatim block: these are blocks directly after it.
    pub ranges: Vec<Range<usize>>,
    /// The byte ranges of the footnote definitions that annotations reference.
    pub notes: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    /// Parses Markdown.
    #[must_use]
    pub fn new(markdown: &'a str) -> Self {
        let owned = markdown.contains('\0').then(|| markdown.replace('\0', "\u{fffd}"));
        match owned {
            Some(owned) => {
                let Source { document, ranges, notes, .. } = Self::of(&owned);
                Self { document, ranges, notes, markdown: Cow::Owned(owned) }
            }
            None => Self::of(markdown),
        }
    }

    /// Creates the source of a text that is one verbatim paragraph.
    fn kept(markdown: &str, offset: usize) -> Source<'_> {
        let start =
            offset + markdown[offset..].len() - markdown[offset..].trim_start_matches(LINE_ENDS).len();
        let end = start + markdown[start..].trim_end_matches(LINE_ENDS).len();
        let text = markdown[start..end].replace("\r\n", "\n").replace('\r', "\n");
        let (blocks, ranges) = match text.trim().is_empty() {
            true => (Vec::new(), Vec::new()),
            false => (vec![whole::paragraph_as_it_is(text)], std::iter::once(start..end).collect()),
        };
        let mut document = Document::new(blocks);
        keys::assign(&mut document);
        Source { markdown: Cow::Borrowed(markdown), document, ranges, notes: Vec::new() }
    }

    fn of<'t>(markdown: &'t str) -> Source<'t> {
        let body = super::without_mark(markdown);
        let offset = markdown.len() - body.len();
        let (body, offset) = match weight::is_all_lines(body) {
            false => (body, offset),
            true => {
                // A verbatim paragraph has no line endings around it, so they do not count towards the limit.
                let behind = body.trim_start_matches(LINE_ENDS);
                let text = behind.trim_end_matches(LINE_ENDS);
                if weight::is_all_lines(text) {
                    return Self::kept(markdown, offset);
                }
                (text, offset + body.len() - behind.len())
            }
        };
        let _reading = Reading::begin(body.len());
        let (lines, starts) = lines::split_at(body);
        let starts: Vec<usize> = starts.into_iter().map(|start| start + offset).collect();
        let text = whole::text(&lines);
        let bytes = |range: &Range<usize>| {
            let last = range.end.saturating_sub(1);
            let end = starts.get(last).map_or(markdown.len(), |start| start + lines[last].text.len());
            starts.get(range.start).copied().unwrap_or(markdown.len())..end
        };
        let ranges = text.lines.iter().map(bytes).collect();
        let notes = text.notes.iter().map(|note| bytes(&note.lines)).collect();
        let mut document = Document::new(text.blocks);
        keys::assign(&mut document);
        Source { markdown: Cow::Borrowed(markdown), document, ranges, notes }
    }
}

/// Returns the text of a new document as [`update`] prints it, or one with fewer changes to the old text.
pub(super) fn update_closely(old: &str, new: &Document) -> Result<String, Invalid> {
    let mut best = update(old, new)?;
    let Some(mut far) = Distance::between(old, &best) else { return Ok(best) };
    let mut before = None;
    for way in [Way::Spelled, Way::Usual] {
        if far.is_least() {
            break;
        }
        let before = before.get_or_insert_with(|| Source::new(old).document);
        let Some(text) = close::written(old, (before, new), (way, line_end(old))) else { continue };
        if let Some(how_far) = Distance::between(old, &text).filter(|how_far| *how_far < far) {
            (best, far) = (text, how_far);
        }
    }
    Ok(best)
}

/// Returns the text of a new document. Unchanged blocks keep their bytes, and so does the text between two such blocks.
pub(super) fn update(old: &str, new: &Document) -> Result<String, Invalid> {
    let source = Source::new(old);
    edited((&source, old), &said(&source.document), new)?.map_or_else(|| super::print(new), Ok)
}

/// Returns a fingerprint of each block of a document, for comparing blocks.
pub(super) fn said(document: &Document) -> Vec<String> {
    document.nodes.iter().map(keys::content).collect()
}

/// Returns the text of a new document that replaces a parsed one, of which only the fingerprints of the blocks are
/// needed. Returns `None` if the result does not read as the document because printed and preserved text merged.
pub(super) fn edited(
    (source, old): (&Source<'_>, &str),
    before: &[String],
    new: &Document,
) -> Result<Option<String>, Invalid> {
    let after = said(new);
    if before == after {
        return Ok(Some(old.to_owned()));
    }
    if !source.notes.is_empty() || has_notes(&new.nodes) {
        // Footnotes are numbered in text order, so all of the text changes.
        return super::print(new).map(Some);
    }
    let kept = kept(before, &after, source);
    let mut printer = Printer::new(&new.nodes);
    let mut out = Written { text: String::new(), end: line_end(old) };
    let mut last: Option<usize> = None;
    let mut run: Vec<&Block> = Vec::new();
    for (index, block) in new.nodes.iter().enumerate() {
        let Some(place) = kept.get(&index) else {
            run.push(block);
            continue;
        };
        flush(&mut printer, &mut run, &mut out)?;
        let range = source.ranges[*place].clone();
        // A footnote definition that is referenced by a verbatim block is kept directly after that block, regardless of
        // the position of its lines. The text between the two ranges is then other blocks, or it is after the first
        // range and before the second.
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
    Ok(super::is_same(&super::parse(&out), new).then_some(out))
}

/// The text that replaces another one.
struct Written {
    text: String,
    /// The line ending of the replaced text.
    end: &'static str,
}

impl Written {
    /// Appends new text, with the line ending of the replaced text.
    fn add(&mut self, printed: &str) {
        match self.end {
            "\n" => self.text.push_str(printed),
            end => self.text.push_str(&printed.replace('\n', end)),
        }
    }
}

/// Returns the most frequent line ending of a text.
fn line_end(text: &str) -> &'static str {
    let (pairs, all) = (text.matches("\r\n").count(), text.matches('\n').count());
    if pairs > 0 && 2 * pairs >= all { "\r\n" } else { "\n" }
}

fn flush(printer: &mut Printer, run: &mut Vec<&Block>, out: &mut Written) -> Result<(), Invalid> {
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
        keys::visit(block, &mut |block| {
            found |= block.nodes.iter().any(|node| {
                matches!(node, docs_model::Node::Inline(inline) if inline.kind == docs_model::InlineKind::Annotation {})
            });
        });
    }
    found
}

/// Maps the unchanged blocks of the new document to blocks of the old one. Lines that form several blocks are kept as a
/// whole.
fn kept(before: &[String], after: &[String], source: &Source<'_>) -> HashMap<usize, usize> {
    let mut kept = HashMap::new();
    let (mut old, mut new) = (0, 0);
    let end = Change { old: before.len()..before.len(), new: after.len()..after.len() };
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
