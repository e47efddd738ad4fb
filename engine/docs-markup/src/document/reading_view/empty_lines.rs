//! Comments and preformatted text with empty lines, at which Markdown ends the HTML block around them.

use std::{borrow::Cow, ops::Range};

use super::{
    code_ranges::{code_ranges, is_within, preformatted},
    placeholders::EMPTY,
};

/// Removes the comments with empty lines, and fills the empty lines of `pre` elements, outside of code.
pub(super) fn removed(source: Cow<'_, str>) -> Cow<'_, str> {
    let mut comments = comments(&source);
    if !comments.is_empty() {
        let code = code_ranges(&source);
        comments.retain(|range| !is_within(&code, range.start));
    }
    let source = replaced(source, &comments, |_, _| {});
    let may_have = source.contains("</pre") || source.contains("</PRE");
    if !may_have || !has_empty_line(&source) {
        return source;
    }
    let mut elements = preformatted(&source, &code_ranges(&source));
    elements.retain(|range| has_empty_line(&source[range.clone()]));
    replaced(source, &elements, fill)
}

/// Replaces parts of a text.
fn replaced<'s>(
    source: Cow<'s, str>,
    found: &[Range<usize>],
    write: impl Fn(&str, &mut String),
) -> Cow<'s, str> {
    if found.is_empty() {
        return source;
    }
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for range in found {
        out.push_str(&source[at..range.start]);
        write(&source[range.clone()], &mut out);
        at = range.end;
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
