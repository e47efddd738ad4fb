//! Comments with empty lines, at which Markdown ends the HTML block around a comment.

use std::{borrow::Cow, ops::Range};

use pulldown_cmark::{Event, Parser, Tag};

use super::{super::work_budget, options::OPTIONS};

/// Removes the comments with empty lines outside of code.
pub(super) fn removed(source: Cow<'_, str>) -> Cow<'_, str> {
    let mut found: Vec<Range<usize>> = Vec::new();
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
            at = range.end;
        }
    }
    out.push_str(&source[at..]);
    Cow::Owned(out)
}

fn has_empty_line(comment: &str) -> bool {
    let mut lines = comment.split('\n').skip(1).peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() && lines.peek().is_some() {
            return true;
        }
    }
    false
}
