//! Parsing and printing of link destinations, tag values and HTML attribute values.

use std::ops::Range;

use crate::{document::is_balanced, syntax::tag};

/// Returns the range of the destination of a Markdown link that starts at or after `at`.
pub(super) fn destination_at(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    let start = at + (rest.len() - rest.trim_start().len());
    let rest = &text[start..];
    if let Some(inside) = rest.strip_prefix('<') {
        let end = unescaped(inside, |c, _| c == '>')?;
        return Some(start + 1..start + 1 + end);
    }
    let mut depth = 0usize;
    let end = unescaped(rest, |c, _| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth == 0 => true,
        ')' => {
            depth -= 1;
            false
        }
        c => c.is_whitespace(),
    })
    .unwrap_or(rest.len());
    Some(start..start + end)
}

/// Returns the position of the first terminating character that is not escaped by a backslash.
fn unescaped(text: &str, mut ends: impl FnMut(char, usize) -> bool) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if ends(c, at) {
            return Some(at);
        }
    }
    None
}

/// Prints a Markdown destination. Characters that would end it are percent-encoded.
pub(super) fn destination(text: &str) -> String {
    let is_balanced = is_balanced(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let code = match c {
            ' ' => "%20",
            '<' => "%3C",
            '>' => "%3E",
            '\\' => "%5C",
            '|' => "%7C",
            '(' if !is_balanced => "%28",
            ')' if !is_balanced => "%29",
            c if c.is_control() || c.is_whitespace() => "%20",
            c => {
                out.push(c);
                continue;
            }
        };
        out.push_str(code);
    }
    out
}

/// Prints a tag value in its existing quotation marks, or adds quotation marks if there are none.
pub(super) fn value(text: &str, quote: Option<char>) -> String {
    match quote {
        Some(quote) => tag::escaped(text, quote),
        None => format!("\"{}\"", tag::escaped(text, '"')),
    }
}

/// Prints an HTML attribute value in its existing quotation marks, or adds quotation marks if there are none.
pub(super) fn attribute(text: &str, quote: Option<char>) -> String {
    let code = if quote == Some('\'') { "&#39;" } else { "&quot;" };
    let value = text.replace('&', "&amp;").replace(quote.unwrap_or('"'), code);
    let value = value.replace('<', "&lt;").replace('>', "&gt;");
    if quote.is_some() { value } else { format!("\"{value}\"") }
}
