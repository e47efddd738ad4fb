//! Reading and writing the small grammars around a destination.

use std::ops::Range;

/// An attribute: its name and the bytes of its value, without the quotes.
#[derive(Debug)]
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) value: Range<usize>,
    /// What stands around the value, if anything does.
    pub(super) quote: Option<char>,
}

/// The bytes of the destination of a Markdown link that starts at or behind `at`.
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

/// Where the first character stands that ends something and has no backslash before it.
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

/// A destination as Markdown writes it: characters that would end it are percent-encoded.
pub(super) fn destination(text: &str) -> String {
    let balanced = {
        let mut depth = 0i64;
        let fits = text.chars().all(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth >= 0
        });
        fits && depth == 0
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let code = match c {
            ' ' => "%20",
            '<' => "%3C",
            '>' => "%3E",
            '\\' => "%5C",
            '|' => "%7C",
            '(' if !balanced => "%28",
            ')' if !balanced => "%29",
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

/// A value for between quotes that are there, or with quotes where there are none.
pub(super) fn attribute(text: &str, quote: Option<char>) -> String {
    let code = if quote == Some('\'') { "&#39;" } else { "&quot;" };
    let value = text.replace('&', "&amp;").replace(quote.unwrap_or('"'), code);
    let value = value.replace('<', "&lt;").replace('>', "&gt;");
    if quote.is_some() { value } else { format!("\"{value}\"") }
}

/// The attributes of all tags in a range of HTML, comments left out.
pub(super) fn html_attributes(text: &str, range: Range<usize>) -> Vec<Attribute<'_>> {
    let mut out = Vec::new();
    let Some(html) = text.get(..range.end) else { return out };
    let mut at = range.start;
    while let Some(start) = html[at..].find('<').map(|found| at + found) {
        at = start + 1;
        if html[start..].starts_with("<!--") {
            at = html[start..].find("-->").map_or(html.len(), |found| start + found + 3);
            continue;
        }
        let name = html[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(0);
        if name > 0 {
            at = attributes(html, at + name, '>', &mut out);
        }
    }
    out
}

/// Reads `name="value"` pairs up to the end of a tag; answers where that is.
fn attributes<'a>(text: &'a str, from: usize, end: char, out: &mut Vec<Attribute<'a>>) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/').len();
        let rest = &text[at..];
        match rest.chars().next() {
            None => return at,
            Some(c) if c == end => return at + 1,
            _ => {}
        }
        let stop = |c: char| c.is_whitespace() || matches!(c, '=' | '/') || c == end;
        let length = rest.find(stop).unwrap_or(rest.len());
        let name = &rest[..length];
        at += length;
        let Some(value) = text[at..].strip_prefix('=') else {
            // A character that starts no name: go on behind it.
            at += if length == 0 { text[at..].chars().next().map_or(0, char::len_utf8) } else { 0 };
            continue;
        };
        at += 1;
        match value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            Some(quote) => {
                let Some(length) = value[1..].find(quote) else { return text.len() };
                out.push(Attribute { name, value: at + 1..at + 1 + length, quote: Some(quote) });
                at += length + 2;
            }
            None => {
                let length = value.find(|c: char| c.is_whitespace() || c == end).unwrap_or(value.len());
                if length > 0 {
                    out.push(Attribute { name, value: at..at + length, quote: None });
                }
                at += length;
            }
        }
    }
}
