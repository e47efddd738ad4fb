//! Escaping of text for Markdown and HTML.

use docs_markup::syntax::{entity, tag};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordPosition {
    /// At the start of a line, where some characters begin a list, heading or quotation.
    Line,
    /// Anywhere else.
    Within,
}

/// Appends a word, escaped for Markdown.
pub(super) fn word(word: &str, start: WordPosition, out: &mut String) {
    let mut before = None;
    let mut characters = word.char_indices().peekable();
    while let Some((place, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let is_special = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' => true,
            // An underscore within a word does not begin emphasis.
            '_' => !(before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)),
            '~' => before == Some('~') || next == Some('~'),
            '$' => before == Some('$') || next == Some('$'),
            '|' => true,
            '&' => entity::reference(&word[place..]).is_some(),
            '{' => next == Some('%'),
            _ => false,
        };
        if is_special || (start == WordPosition::Line && begins_block(word, place, c)) {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
}

/// Returns `true` if a character at this position begins a block other than a paragraph.
fn begins_block(word: &str, place: usize, c: char) -> bool {
    match (place, c) {
        (0, '#') => word.len() <= 6 && word.bytes().all(|b| b == b'#'),
        (0, '>') => true,
        (0, '+') => word.len() == 1,
        (0, '-' | '=') => word.chars().all(|other| other == c),
        (1..=9, '.' | ')') => place + 1 == word.len() && word.bytes().take(place).all(|b| b.is_ascii_digit()),
        _ => false,
    }
}

/// Escapes text for HTML, including attribute values.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Tags of the platform are also recognized within HTML.
            '{' => out.push_str("&#x7b;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Escapes text for a value of a tag, in quotation marks.
pub(super) fn tag_value(text: &str) -> String {
    tag::escaped(text, '"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_syntax_in_words_is_escaped_only_where_needed() {
        for (text, line, within) in [
            ("plain", "plain", "plain"),
            ("a*b", "a\\*b", "a\\*b"),
            ("snake_case", "snake_case", "snake_case"),
            ("_x_", "\\_x\\_", "\\_x\\_"),
            ("#", "\\#", "#"),
            ("#1", "#1", "#1"),
            (">", "\\>", ">"),
            ("-", "\\-", "-"),
            ("---", "\\---", "---"),
            ("-x", "-x", "-x"),
            ("1.", "1\\.", "1."),
            ("2)", "2\\)", "2)"),
            ("1.5", "1.5", "1.5"),
            ("&amp;", "\\&amp;", "\\&amp;"),
            ("a&b", "a&b", "a&b"),
            ("&nothing;&x;", "&nothing;&x;", "&nothing;&x;"),
            ("a&ouml;&#228;", "a\\&ouml;\\&#228;", "a\\&ouml;\\&#228;"),
            ("<script>", "\\<script>", "\\<script>"),
            ("{%", "\\{%", "\\{%"),
            ("$$x$$", "\\$\\$x\\$\\$", "\\$\\$x\\$\\$"),
            ("[x]", "\\[x\\]", "\\[x\\]"),
        ] {
            for (start, expected) in [(WordPosition::Line, line), (WordPosition::Within, within)] {
                let mut out = String::new();
                word(text, start, &mut out);
                assert_eq!(out, expected, "{text}");
            }
        }
    }
}
