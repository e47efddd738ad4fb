//! Bare web addresses in text. Their characters are literal: `_` and `*` within an address are not emphasis.

/// The signs of emphasis and strikethrough.
pub(super) const EMPHASIS: [char; 3] = ['*', '_', '~'];

/// Returns the end of the web address whose scheme ends at the colon at a position, or `None` if there is no address.
///
/// The address does not contain quotes, brackets or escapes, because these have a meaning of their own in Markdown.
pub(super) fn end(text: &str, colon: usize) -> Option<usize> {
    let before = text[..colon].strip_suffix("http").or_else(|| text[..colon].strip_suffix("https"))?;
    text[colon..].strip_prefix("://")?;
    let last = before.chars().next_back();
    let is_destination = before.ends_with("](") || before.ends_with(['<', '=']);
    let is_value = last.is_some_and(|c| matches!(c, '"' | '\'')) && before[..before.len() - 1].ends_with('=');
    let is_start = last.is_none_or(|c| !c.is_alphanumeric());
    if is_destination || is_value || !is_start {
        return None;
    }
    let is_part = |c: char| c.is_ascii_graphic() && !"<>`[]{}$\\|\"".contains(c) && Some(c) != mark(last);
    let rest = &text[colon..];
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    Some(colon + trimmed(&rest[..length]).max("://".len()))
}

/// Returns a mark directly before an address, which ends it.
fn mark(before: Option<char>) -> Option<char> {
    before.filter(|c| EMPHASIS.contains(c))
}

/// Returns the length of an address without trailing punctuation and unbalanced parentheses.
pub(super) fn trimmed(text: &str) -> usize {
    let count = |c| text.matches(c).count();
    let mut extra = count(')').saturating_sub(count('('));
    let mut end = text.len();
    while let Some(last) = text[..end].chars().next_back() {
        match last {
            '?' | '!' | '.' | ',' | ':' | ';' | '*' | '_' | '~' | '\'' | '"' => {}
            ')' if extra > 0 => extra -= 1,
            _ => break,
        }
        end -= last.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::end;

    #[test]
    fn addresses_end_before_signs_of_markdown() {
        for (text, expected) in [
            ("https://a.test/__init__.py", Some("https://a.test/__init__.py")),
            ("see https://a.test/_b_/*c* d", Some("see https://a.test/_b_/*c")),
            ("**https://a.test/b**: c", Some("**https://a.test/b")),
            ("*https://a.test/b*c", Some("*https://a.test/b")),
            ("(https://a.test/b_(c))", Some("(https://a.test/b_(c)")),
            ("http://localhost/`x`", Some("http://localhost/")),
            ("http://a.test/\\_b", Some("http://a.test/")),
            ("http://**", Some("http://")),
            ("xhttp://a.test", None),
            ("[a](https://a.test/_b_)", None),
            ("<https://a.test/_b_>", None),
            ("<a href=\"https://a.test/_b_\">", None),
            ("http:", None),
        ] {
            let found = text.find(':').and_then(|colon| end(text, colon)).map(|end| &text[..end]);
            assert_eq!(found, expected, "{text}");
        }
    }
}
