//! Comments and preformatted text with empty lines, at which Markdown ends the HTML block around them.

use std::{borrow::Cow, ops::Range};

use pulldown_cmark::{Event, Parser, Tag};

use super::{super::work_budget, options::OPTIONS, placeholders::EMPTY};
use crate::syntax::html::{self, TagKind};

/// Removes the comments with empty lines, and fills the empty lines of `pre` elements, outside of code.
pub(super) fn removed(source: Cow<'_, str>) -> Cow<'_, str> {
    let source = replaced(source, comments, |_, _| {});
    replaced(source, preformatted, fill)
}

/// Replaces parts of a text that are outside of code.
fn replaced(
    source: Cow<'_, str>,
    find: impl Fn(&str) -> Vec<Range<usize>>,
    write: impl Fn(&str, &mut String),
) -> Cow<'_, str> {
    let found = find(&source);
    if found.is_empty() {
        return source;
    }
    work_budget::step(source.len());
    let code: Vec<Range<usize>> = Parser::new_ext(&source, OPTIONS)
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_)) | Event::Code(_)))
        .map(|(_, range)| range)
        .collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for range in found {
        let before = code[..code.partition_point(|own| own.start <= range.start)].last();
        if before.is_none_or(|own| own.end <= range.start) {
            out.push_str(&source[at..range.start]);
            write(&source[range.clone()], &mut out);
            at = range.end;
        }
    }
    out.push_str(&source[at..]);
    Cow::Owned(out)
}

/// Finds the comments with empty lines.
fn comments(source: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = source[at..].find("<!--").map(|start| at + start) {
        // `<!-->` is a comment.
        let inside = start + "<!".len();
        let Some(end) = source[inside..].find("-->").map(|end| inside + end + "-->".len()) else { break };
        if has_empty_line(&source[start..end]) {
            found.push(start..end);
        }
        at = end;
    }
    found
}

/// Finds the `pre` elements with empty lines.
fn preformatted(source: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open = None;
    for (at, kind) in html::tags_of(source, "pre") {
        match (kind, open) {
            (TagKind::Opening, _) => open = Some(at),
            (TagKind::Closing, Some(start)) if has_empty_line(&source[start..at]) => {
                found.push(start..at);
                open = None;
            }
            (TagKind::Closing, _) => open = None,
        }
    }
    found
}

/// Writes text with a placeholder in each empty line.
fn fill(text: &str, out: &mut String) {
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        if number > 0 && line.trim().is_empty() {
            out.push_str(EMPTY);
        }
        out.push_str(line);
    }
}

fn has_empty_line(text: &str) -> bool {
    let mut lines = text.split('\n').skip(1).peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() && lines.peek().is_some() {
            return true;
        }
    }
    false
}
