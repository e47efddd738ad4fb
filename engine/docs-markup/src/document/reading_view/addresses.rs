//! Autolinks: bare web and email addresses in text, as defined by GitHub Flavored Markdown.

use std::{borrow::Cow, ops::Range};

use pulldown_cmark::{Event, Parser, Tag};

use super::{
    super::{
        bare_addresses::{self, EMPHASIS, trimmed},
        work_budget,
    },
    options::OPTIONS,
    placeholders::OPEN,
};

/// Returns the ranges of the addresses in `text` with their link destinations, in order.
pub(super) fn find(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    if !has_candidate(text) {
        return found;
    }
    let mut end = 0;
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices() {
        let is_boundary = before.is_none_or(|b| {
            b.is_whitespace()
                || matches!(b, '*' | '_' | '~' | '(' | '"' | '\'')
                || !b.is_ascii() && (c == 'h' || !b.is_alphanumeric())
        });
        before = Some(c);
        if at < end {
            continue;
        }
        let rest = &text[at..];
        let address = match c {
            'h' | 'w' if is_boundary => web(rest).map(|(length, url)| (at..at + length, url)),
            '@' => email(text, end, at),
            _ => None,
        };
        if let Some((range, url)) = address {
            end = range.end;
            found.push((range, url));
        }
    }
    found
}

/// Escapes the signs of emphasis in the bare web addresses of Markdown, outside of code and HTML.
pub(super) fn literal(source: &str) -> Cow<'_, str> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (colon, _) in source.match_indices("://") {
        // Addresses within addresses are skipped first, because the search for the end takes time.
        if found.last().is_some_and(|last| last.end > colon) {
            continue;
        }
        if let Some(end) = bare_addresses::end(source, colon) {
            work_budget::step(end - colon);
            found.push(colon..end);
        }
    }
    found.retain(|range| source[range.clone()].contains(EMPHASIS));
    if found.is_empty() {
        return Cow::Borrowed(source);
    }
    work_budget::step(source.len());
    let events = Parser::new_ext(source, OPTIONS).into_offset_iter();
    let fixed: Vec<Range<usize>> = events
        .filter(|(event, _)| {
            matches!(
                event,
                Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock)
                    | Event::Code(_)
                    | Event::InlineHtml(_)
                    | Event::InlineMath(_)
                    | Event::DisplayMath(_)
            )
        })
        .map(|(_, range)| range)
        .collect();
    let mut out = String::with_capacity(source.len() + 2 * found.len());
    let mut at = 0;
    for range in found {
        let before = fixed[..fixed.partition_point(|own| own.start <= range.start)].last();
        if before.is_some_and(|own| own.end > range.start) {
            continue;
        }
        out.push_str(&source[at..range.start]);
        for c in source[range.clone()].chars() {
            if EMPHASIS.contains(&c) {
                out.push('\\');
            }
            out.push(c);
        }
        at = range.end;
    }
    out.push_str(&source[at..]);
    Cow::Owned(out)
}

fn has_candidate(text: &str) -> bool {
    text.contains('@') || text.contains("://") || text.contains("www.")
}

/// Returns the length and the link destination of the web address at the beginning of `text`.
fn web(text: &str) -> Option<(usize, String)> {
    let scheme = ["https://", "http://", ""].into_iter().find(|scheme| text.starts_with(scheme))?;
    let rest = &text[scheme.len()..];
    if scheme.is_empty() && !rest.starts_with("www.") {
        return None;
    }
    // A host after a scheme may have a single part, such as `localhost`.
    let domain = &rest[..domain(rest)];
    if !is_domain(domain) && (scheme.is_empty() || domain.is_empty() || domain.contains("..")) {
        return None;
    }
    let is_end = |c: char| c.is_whitespace() || c == '<' || c == OPEN || is_cjk_punctuation(c);
    let length = text.find(is_end).unwrap_or(text.len());
    let length = trimmed(&text[..length]);
    let url = if scheme.is_empty() { "http://" } else { "" };
    (length > scheme.len()).then(|| (length, format!("{url}{}", &text[..length])))
}

/// Returns `true` for the punctuation of Chinese and Japanese, which no space separates from an address.
const fn is_cjk_punctuation(c: char) -> bool {
    matches!(
        c,
        '\u{3001}'..='\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{ff01}' | '\u{ff08}'..='\u{ff09}' | '\u{ff0c}' | '\u{ff1a}'
            ..='\u{ff1b}' | '\u{ff1f}'
    )
}

fn domain(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.')).unwrap_or(text.len())
}

fn is_domain(domain: &str) -> bool {
    let domain = domain.trim_end_matches('.');
    domain.contains('.') && domain.split('.').all(|part| !part.is_empty())
}

/// Returns the email address around the `@` at `at`. The address begins at `from` or later.
fn email(text: &str, from: usize, at: usize) -> Option<(Range<usize>, String)> {
    let is_local = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'+');
    let local = text.as_bytes()[from..at].iter().rev().take_while(|b| is_local(b)).count();
    let is_host = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let host = text.as_bytes()[at + 1..].iter().take_while(|b| is_host(b)).count();
    let host = text[at + 1..at + 1 + host].trim_end_matches('.');
    let is_valid = local > 0 && is_domain(host) && !host.ends_with(['-', '_']);
    is_valid.then(|| {
        let range = at - local..at + 1 + host.len();
        let url = format!("mailto:{}", &text[range.clone()]);
        (range, url)
    })
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn addresses_end_before_punctuation() {
        for (text, expected) in [
            ("See https://example.com/foo here", "https://example.com/foo"),
            ("www.example.com.", "http://www.example.com"),
            ("(https://a.test/b_(c))", "https://a.test/b_(c)"),
            ("https://a.test/?q=1&b=2, then", "https://a.test/?q=1&b=2"),
            ("mail a.b+c@example.com.", "mailto:a.b+c@example.com"),
            ("xhttps://a.test and @name and a@b and http:// and http://.. and xwww.a.test", ""),
            ("http://localhost:3000/a.", "http://localhost:3000/a"),
            ("https://me:secret@a.test", "https://me:secret@a.test"),
            ("请看https://a.test/路径。然后", "https://a.test/路径"),
            ("（https://a.test/b），c", "https://a.test/b"),
            ("「www.a.test」、https://b.test；", "http://www.a.test https://b.test"),
            ("\"https://a.test\"", "https://a.test"),
        ] {
            let found: Vec<String> = find(text).into_iter().map(|(_, url)| url).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
