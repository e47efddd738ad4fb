//! Tags: `{% name attribute="value" %}`.

use std::borrow::Cow;

/// A tag taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Tag<'a> {
    /// Its first word, such as `hint`, `endhint` or `@mermaid/diagram`.
    pub(super) name: &'a str,
    /// The value that stands without a name, as an `include` and an `if` have.
    pub(super) bare: Option<Cow<'a, str>>,
    /// Names and values in their order.
    pub(super) attributes: Vec<(&'a str, Cow<'a, str>)>,
    /// Where the text behind it begins.
    pub(super) end: usize,
}

/// Longest tag that is read.
const MAX_TAG: usize = 8 * 1024;

impl<'a> Tag<'a> {
    /// The tag that a text begins with, spaces passed over.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let start = text.len() - text.trim_start_matches([' ', '\t']).len();
        let inside = text[start..].strip_prefix("{%")?;
        let length = close(inside)?;
        let body = &inside[..length];
        let end = start + 2 + length + 2;
        let trimmed = body.trim();
        let name_end = trimmed.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(trimmed.len());
        let (name, rest) = trimmed.split_at(name_end);
        if name.is_empty() || rest.starts_with('=') {
            return None;
        }
        let mut tag = Self { name, bare: None, attributes: Vec::new(), end };
        if name == "if" {
            tag.bare = Some(Cow::Borrowed(rest.trim()));
        } else {
            tag.values(rest)?;
        }
        Some(tag)
    }

    fn values(&mut self, text: &'a str) -> Option<()> {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            if matches!(first, '"' | '\'') {
                let (value, behind) = quoted(rest)?;
                if self.bare.replace(value).is_some() {
                    return None;
                }
                rest = behind.trim_start();
                continue;
            }
            let length = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
            let (name, behind) = rest.split_at(length);
            if name.is_empty() {
                return None;
            }
            let Some(behind) = behind.strip_prefix('=') else {
                self.attributes.push((name, Cow::Borrowed("true")));
                rest = behind.trim_start();
                continue;
            };
            let (value, behind) = if behind.starts_with(['"', '\'']) {
                quoted(behind)?
            } else {
                let length = behind.find(char::is_whitespace).unwrap_or(behind.len());
                (Cow::Borrowed(&behind[..length]), &behind[length..])
            };
            self.attributes.push((name, value));
            rest = behind.trim_start();
        }
        Some(())
    }

    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| &**value)
    }

    /// The value of an attribute as a text of its own.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// Whether an attribute says yes; nothing when it is absent or says neither.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.parse().ok()
    }
}

/// Where the `%}` is that ends a tag: outside of quotes.
fn close(inside: &str) -> Option<usize> {
    if !inside.as_bytes().iter().take(MAX_TAG).any(|b| *b == b'}') {
        return None;
    }
    let is_expression = inside.trim_start().starts_with("if ");
    let mut quote = None;
    let mut escaped = false;
    let mut before = ' ';
    for (at, c) in inside.char_indices().take_while(|(at, _)| *at < MAX_TAG) {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '}') if before == '%' && at > 0 => return Some(at - 1),
            (None, '"') => quote = Some(c),
            (None, '\'') if is_expression || before == '=' || before == ' ' => quote = Some(c),
            _ => {}
        }
        before = c;
    }
    // A quote that never closes does not take the rest of the text with it.
    let line = inside.split('\n').next()?;
    line.bytes()
        .zip(line.bytes().skip(1))
        .take(MAX_TAG)
        .position(|pair| pair == (b'%', b'}'))
        .filter(|at| *at > 0)
}

/// A value in quotes and the text behind it.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let quote = text.chars().next()?;
    let inside = &text[1..];
    let mut escaped = false;
    let mut has_escapes = false;
    for (at, c) in inside.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            (escaped, has_escapes) = (true, true);
        } else if c == quote {
            let value = &inside[..at];
            let value = if has_escapes { Cow::Owned(unescaped(value)) } else { Cow::Borrowed(value) };
            return Some((value, &inside[at + 1..]));
        }
    }
    None
}

/// Only quotes and backslashes are escaped; any other backslash is itself.
fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && matches!(next, '"' | '\'' | '\\') => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

/// ` name="value"`.
pub(super) fn attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    out.push_str(&escaped(value));
    out.push('"');
}

/// A value as it stands between double quotes.
pub(super) fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tags_are_taken_apart() {
        let tag =
            Tag::read("  {% code title=\"a \\\"b\\\" %} c\" lineNumbers=\"true\" wide %} rest").unwrap();
        assert_eq!((tag.name, tag.get("title")), ("code", Some("a \"b\" %} c")));
        assert_eq!(
            (tag.flag("lineNumbers"), tag.flag("wide"), tag.flag("x")),
            (Some(true), Some(true), None)
        );
        assert_eq!(Tag::read("{% include \"a.md\" %}").unwrap().bare.as_deref(), Some("a.md"));
        let tag = Tag::read("{% if visitor.x == \"a %} b\" && '%}' %}").unwrap();
        assert_eq!(tag.bare.as_deref(), Some("visitor.x == \"a %} b\" && '%}'"));
        assert_eq!(Tag::read("{% file src='a.pdf' %}").unwrap().get("src"), Some("a.pdf"));
        assert_eq!(Tag::read("{% embed\n  url=\"x\"\n%}").unwrap().get("url"), Some("x"));
    }

    #[test]
    fn what_is_no_tag_is_none() {
        for text in ["", "{%", "{%}", "{% %}", "{% hint", "x {% hint %}", "{% a \"b\" \"c\" %}", "{% =x %}"] {
            assert_eq!(Tag::read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_value_is_written_so_that_it_reads_back(value in "\\PC*") {
            let mut text = String::from("{% x");
            attribute(&mut text, "a", &value);
            text.push_str(" %}");
            let tag = Tag::read(&text).unwrap();
            prop_assert_eq!(tag.get("a"), Some(value.as_str()));
        }

        #[test]
        fn no_text_panics(text in "(\\{%|%\\}|\"|'|=| |\\\\|\\n|if|a|ä|\\PC){0,60}") {
            if let Some(tag) = Tag::read(&text) {
                prop_assert!(text.get(tag.end..).is_some());
            }
        }
    }
}
