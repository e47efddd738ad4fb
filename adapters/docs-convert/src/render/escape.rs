//! Text that Markdown and HTML show as it is.

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
    for (index, c) in characters.iter().copied().enumerate() {
        let before = index.checked_sub(1).and_then(at);
        let next = at(index + 1);
        let is_special = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' => true,
            // Within a word it marks nothing.
            '_' => !(before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)),
            '~' => before == Some('~') || next == Some('~'),
            '$' => before == Some('$') || next == Some('$'),
            '|' => true,
            '&' => is_entity(&characters[index..]),
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

/// Tells whether characters from `&` on are read as one character.
fn is_entity(rest: &[char]) -> bool {
    let name: Vec<char> = rest.iter().skip(1).take(40).copied().take_while(|c| *c != ';').collect();
    let is_closed = rest.get(name.len() + 1) == Some(&';');
    is_closed && !name.is_empty() && name.iter().all(|c| c.is_ascii_alphanumeric() || *c == '#')
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
