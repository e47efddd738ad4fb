//! Text that Markdown and HTML show as it is.

use docs_markup::syntax::entity;

/// Where a word stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// First on its line, where some characters begin a list, a heading or a quotation.
    Line,
    /// Anywhere else.
    Within,
}

/// A word as Markdown that shows it.
pub(super) fn word(word: &str, start: Start) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    let characters: Vec<char> = word.chars().collect();
    let at = |at: usize| characters.get(at).copied();
    for (index, (place, c)) in word.char_indices().enumerate() {
        let before = index.checked_sub(1).and_then(at);
        let next = at(index + 1);
        let is_special = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' => true,
            // Within a word it marks nothing.
            '_' => !(before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)),
            '~' => before == Some('~') || next == Some('~'),
            '$' => before == Some('$') || next == Some('$'),
            '|' => true,
            '&' => entity::reference(&word[place..]).is_some(),
            '{' => next == Some('%'),
            _ => false,
        };
        if is_special || (start == Start::Line && begins_block(&characters, index)) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Tells whether a character would begin something other than a paragraph.
fn begins_block(word: &[char], index: usize) -> bool {
    let c = word.get(index).copied().unwrap_or_default();
    match index {
        0 => match c {
            '#' => word.iter().all(|c| *c == '#') && word.len() <= 6,
            '>' => true,
            '+' => word.len() == 1,
            '-' | '=' => word.len() == 1 || word.iter().all(|other| *other == c),
            ':' => false,
            _ => false,
        },
        _ => {
            let is_last = index + 1 == word.len();
            matches!(c, '.' | ')') && is_last && index <= 9 && word[..index].iter().all(char::is_ascii_digit)
        }
    }
}

/// Text within HTML, also within its attributes.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A tag of the platform would be read within HTML as well.
            '{' => out.push_str("&#x7b;"),
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_show_as_they_are() {
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
            assert_eq!(word(text, Start::Line), line, "{text}");
            assert_eq!(word(text, Start::Within), within, "{text}");
        }
    }
}
