//! Escaping of text for Markdown, so that parsing returns the same text.

use super::{
    emoji_names, html,
    tags::{TagEndFinder, TemplateTag},
};

/// The context of inline text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InlineContext {
    /// In a paragraph, with line breaks permitted.
    Lines,
    /// On a single line, such as in a heading or a cell.
    Line,
    /// Between HTML tags.
    Html,
}

/// The context of text to escape.
#[derive(Clone, Copy, Debug)]
pub(super) struct EscapeContext {
    pub(super) context: InlineContext,
    /// `true` at the beginning of the output.
    pub(super) is_first: bool,
    /// `true` at the end of the output.
    pub(super) is_last: bool,
    /// `true` inside a label that a closing bracket would end.
    pub(super) in_label: bool,
    /// The following character, if known.
    pub(super) next: Option<char>,
}

impl EscapeContext {
    /// Creates the context of text before a character, away from the beginning and end of the output.
    pub(super) const fn before(next: char, context: InlineContext) -> Self {
        Self { context, is_first: false, is_last: false, in_label: false, next: Some(next) }
    }
}

/// Writes text with as few escapes as possible.
pub(super) fn text(out: &mut String, text: &str, around: EscapeContext) {
    out.reserve(text.len());
    let mut line_start = around.is_first && around.context == InlineContext::Lines;
    let mut is_edge = around.is_first;
    let mut ends = TagEndFinder::of(text);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let rest = &text[at..];
        let following = chars.peek().map(|(_, c)| *c);
        let next = following.or(around.next);
        let is_end = around.is_last && following.is_none();
        let mut is_tag = || ends.may_follow(at) && TemplateTag::read(rest).is_some();
        match c {
            '\n' => {
                let is_break = around.context == InlineContext::Lines && !is_end;
                out.push_str(if is_break { "\\\n" } else { "<br>" });
                (line_start, is_edge) = (is_break, is_break);
                continue;
            }
            ' ' if is_edge || is_end || (next == Some('\n') && around.context == InlineContext::Lines) => {
                out.push_str("&#x20;");
            }
            '\t' if is_edge || is_end => out.push_str("&#x9;"),
            '\r' => out.push_str("&#xD;"),
            '\0' => out.push('\u{fffd}'),
            '{' if next == Some('%') && (line_start || is_tag()) => out.push_str("\\{"),
            c if needs_escape(c, rest, next, around, line_start) => {
                out.push('\\');
                out.push(c);
            }
            '.' | ')'
                if around.context == InlineContext::Lines
                    && line_start_number(out, around.is_first)
                    && next.is_none_or(char::is_whitespace) =>
            {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        (line_start, is_edge) = (false, false);
    }
}

fn needs_escape(c: char, rest: &str, next: Option<char>, around: EscapeContext, line_start: bool) -> bool {
    let follows = |test: fn(char) -> bool| next.is_some_and(test);
    match c {
        '\\' => next.is_none_or(|next| next.is_ascii_punctuation() || next == '\n'),
        '*' | '_' | '`' => true,
        '[' => true,
        ']' => around.in_label,
        '~' => line_start || next == Some('~') || next.is_none() || !follows(char::is_whitespace),
        '<' => next.is_none_or(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
        '&' => next.is_none_or(|next| next.is_ascii_alphanumeric() || next == '#') && maybe_reference(rest),
        '!' => next.is_none_or(|next| next == '['),
        '$' => next.is_none_or(|next| next == '$'),
        ':' => rest[1..].split(':').next().is_some_and(|name| emoji_names::code(name).is_some()),
        '#' | '>' | '=' | '|' => line_start,
        '+' | '-' => {
            line_start
                && next.is_none_or(|next| next.is_whitespace() || next == c || next == '|' || next == ':')
        }
        _ => false,
    }
}

/// Returns `true` if text that begins with `&` may be a character reference.
fn maybe_reference(rest: &str) -> bool {
    let name = &rest[1..];
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(name.len());
    end == name.len() || name[end..].starts_with(';')
}

/// Returns `true` if the current output line consists only of a number so far.
fn line_start_number(out: &str, is_first: bool) -> bool {
    // Only the last bytes are inspected, because lines may be long.
    let digits = out.bytes().rev().take(10).take_while(u8::is_ascii_digit).count();
    let before = &out.as_bytes()[..out.len() - digits];
    (1..=9).contains(&digits) && before.last().map_or(is_first, |b| *b == b'\n')
}

/// Writes text without any active syntax: every special character becomes a character reference.
pub(super) fn guarded(out: &mut String, text: &str) {
    let mut chars = text.chars().peekable();
    let mut before = None;
    while let Some(c) = chars.next() {
        let is_edge = before.is_none_or(|c| c == '\n') || chars.peek().is_none_or(|c| *c == '\n');
        match c {
            '\n' => out.push_str("<br>"),
            '\0' => out.push('\u{fffd}'),
            c if c.is_ascii_punctuation()
                || c.is_ascii_control()
                || (c.is_whitespace() && (is_edge || c != ' ')) =>
            {
                out.push_str(&format!("&#x{:X};", u32::from(c)));
            }
            c if is_edge && c.is_ascii_digit() => out.push_str(&format!("&#x{:X};", u32::from(c))),
            c => out.push(c),
        }
        before = Some(c);
    }
}

/// Writes text between HTML tags.
pub(super) fn html_text(out: &mut String, text: &str) {
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push_str("<br>");
        }
        let line =
            html::text(line).replace('\0', "\u{fffd}").replace('\r', "&#xD;").replace("$$", "&#x24;&#x24;");
        out.push_str(&line);
    }
    // A formula may follow.
    if out.ends_with('$') && text.ends_with('$') {
        out.pop();
        out.push_str("&#x24;");
    }
}

/// Escapes the destination of a link.
pub(super) fn destination(url: &str) -> String {
    let is_pointed =
        url.is_empty() || url.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>'));
    let is_balanced = is_balanced(url);
    let mut out = String::with_capacity(url.len() + 2);
    let mut chars = url.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        match c {
            '\\' if next.is_none_or(|next| next.is_ascii_punctuation()) => out.push_str("\\\\"),
            '<' | '>' => out.extend(['\\', c]),
            '(' | ')' if !is_pointed && !is_balanced => out.extend(['\\', c]),
            '&' if maybe_reference(&url[at..]) => out.push_str("\\&"),
            '\n' => out.push_str("&#xA;"),
            '\r' => out.push_str("&#xD;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    if is_pointed { format!("<{out}>") } else { out }
}

/// Returns `true` if the parentheses in `text` are balanced.
pub(crate) fn is_balanced(text: &str) -> bool {
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

/// Escapes and quotes the title of a link.
pub(super) fn title(text: &str) -> String {
    let mut out = String::from("\"");
    for (at, c) in text.char_indices() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '&' if maybe_reference(&text[at..]) => out.push_str("\\&"),
            '\n' => out.push_str("&#xA;"),
            '\r' => out.push_str("&#xD;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns `true` if two texts only differ in whitespace.
pub(super) fn is_alike(a: &str, b: &str) -> bool {
    words(a).eq(words(b))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t', '\n']).filter(|word| !word.is_empty())
}
