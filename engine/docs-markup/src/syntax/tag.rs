//! Tags: `{% name attribute="value" %}`.
//!
//! A tag ends at the first `%}` outside of quotation marks. A value is enclosed in single or double quotation marks, in
//! which `\` escapes a quotation mark or another `\`, or it is unquoted and extends to the next whitespace. `include`
//! and `if` have a value without a name.

use std::{borrow::Cow, ops::Range};

/// Maximum length of a tag, in bytes.
pub(crate) const MAX_TAG: usize = 8 * 1024;
/// Maximum number of lines in a tag.
pub const MAX_LINES: usize = 32;

/// A tag with its position in the parsed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag<'a> {
    /// The first word, such as `hint`, `endhint` or `@mermaid/diagram`.
    pub name: &'a str,
    /// The text after the name.
    rest: &'a str,
    /// The offset of `rest`.
    rest_at: usize,
    /// The offset after the tag.
    pub end: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value<'a> {
    /// The name. Empty for a value without a name.
    pub name: &'a str,
    /// The range without quotation marks, or `None` for a name without a value.
    pub range: Option<Range<usize>>,
    /// The quotation mark around the value, if any.
    pub quote: Option<char>,
}

impl<'a> Tag<'a> {
    /// Parses the tag at a position in `text`. Returns `None` if no complete tag begins there.
    ///
    /// ```
    /// use docs_markup::syntax::tag::Tag;
    /// let text = "{%- include 'a b.md' -%}";
    /// let tag = Tag::parse_at(text, 0).unwrap();
    /// let [path] = tag.values().unwrap().try_into().unwrap();
    /// assert_eq!((tag.name, &*path.text(text)), ("include", "a b.md"));
    /// ```
    #[must_use]
    pub fn parse_at(text: &'a str, start: usize) -> Option<Self> {
        Self::read_at(text, start).ok()
    }

    /// Like [`Self::parse_at`]. The error is the number of bytes that were read.
    pub(crate) fn read_at(text: &'a str, start: usize) -> Result<Self, usize> {
        let inside =
            text.get(start..).and_then(|text| text.strip_prefix("{%")).map(paragraph).ok_or(0_usize)?;
        let length = close(inside).ok_or(inside.len())?;
        Self::parse_inside(text, start + 2..start + 2 + length).ok_or(length)
    }

    /// Parses the inside of a tag. A hyphen next to a delimiter is part of the delimiter.
    fn parse_inside(text: &'a str, inside: Range<usize>) -> Option<Self> {
        let body = text.get(inside.clone())?;
        let start = inside.start + usize::from(body.starts_with('-'));
        let body = body.strip_prefix('-').unwrap_or(body);
        let body = body.strip_suffix('-').unwrap_or(body);
        let start = start + body.len() - body.trim_start().len();
        let body = body.trim();
        let length = body.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(body.len());
        let (name, rest) = body.split_at(length);
        let is_named = !name.is_empty() && !rest.starts_with('=');
        is_named.then_some(Self { name, rest, rest_at: start + length, end: inside.end + 2 })
    }

    /// Returns the condition of an `if` tag: the text after its name.
    #[must_use]
    pub fn condition(&self) -> Option<&'a str> {
        (self.name == "if").then(|| self.rest.trim())
    }

    /// Returns the values in order, or `None` if one is malformed or several have no name. An `if` tag has a condition
    /// and no values.
    #[must_use]
    pub fn values(&self) -> Option<Vec<Value<'a>>> {
        if self.condition().is_some() {
            return Some(Vec::new());
        }
        let mut values: Vec<Value<'a>> = Vec::new();
        let mut rest = self.rest.trim_start();
        while let Some(first) = rest.chars().next() {
            let at = self.rest_at + self.rest.len() - rest.len();
            if matches!(first, '"' | '\'') {
                let length = quoted(rest).filter(|_| values.iter().all(|value| !value.name.is_empty()))?;
                values.push(Value { name: "", range: Some(at + 1..at + 1 + length), quote: Some(first) });
                rest = rest[length + 2..].trim_start();
                continue;
            }
            let length = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
            let (name, behind) = rest.split_at(length);
            if name.is_empty() {
                return None;
            }
            let Some(behind) = behind.strip_prefix('=') else {
                values.push(Value { name, range: None, quote: None });
                rest = behind.trim_start();
                continue;
            };
            let at = at + length + 1;
            let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\''));
            let (range, behind) = match quote {
                Some(_) => {
                    let length = quoted(behind)?;
                    (at + 1..at + 1 + length, &behind[length + 2..])
                }
                None => {
                    let length = behind.find(char::is_whitespace).unwrap_or(behind.len());
                    (at..at + length, &behind[length..])
                }
            };
            values.push(Value { name, range: Some(range), quote });
            rest = behind.trim_start();
        }
        Some(values)
    }
}

impl Value<'_> {
    /// Returns the value, given the text that the tag was parsed from. A name without a value is `true`.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(range) = self.range.clone() else { return Cow::Borrowed("true") };
        let written = text.get(range).unwrap_or_default();
        if self.quote.is_some() && written.contains('\\') {
            Cow::Owned(unescaped(written))
        } else {
            Cow::Borrowed(written)
        }
    }
}

/// Iterates over the tags in `text` that begin outside of the skipped ranges, which must be sorted and disjoint. A tag
/// after a backslash is text.
pub fn tags<'a>(text: &'a str, skip: &[Range<usize>]) -> impl Iterator<Item = Tag<'a>> {
    let mut skip = skip.iter().peekable();
    // Repeated text that resembles tags must not be scanned to its end each time.
    let mut left = 32 * text.len() + 8 * MAX_TAG;
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(start) = text[at..].find("{%").map(|offset| at + offset) {
            at = start + 2;
            while skip.next_if(|range| range.end <= start).is_some() {}
            if let Some(range) = skip.peek().filter(|range| range.start <= start) {
                at = at.max(range.end);
                continue;
            }
            let backslashes = text[..start].bytes().rev().take_while(|byte| *byte == b'\\').count();
            if backslashes % 2 == 1 {
                continue;
            }
            let inside = paragraph(&text[at..]);
            if let Some(length) = close(inside) {
                let own = at..at + length;
                at += length + 2;
                if let Some(tag) = Tag::parse_inside(text, own) {
                    return Some(tag);
                }
            } else if left < inside.len() {
                at = text.len();
            } else {
                left -= inside.len();
            }
        }
        None
    })
}

/// Returns the name at the beginning of a tag, given the text after its `{%`, without checking that the tag ends. Empty
/// if the name is on the next line.
#[must_use]
pub fn name_of(inside: &str) -> &str {
    let inside = inside.trim_start_matches([' ', '\t', '-']);
    let end = inside.find(|c: char| c.is_whitespace() || matches!(c, '=' | '%')).unwrap_or(inside.len());
    &inside[..end]
}

/// Iterates over the names after every `{%`, even in incomplete tags, for callers that must not miss a tag. A name may
/// be on the line after `{%`, even behind quotation markers. It ends at the first character that is invalid in a name.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split("{%").skip(1).map(|inside| {
        let inside = inside.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '>'));
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '@');
        let end = inside.find(|c: char| !is_part(c)).unwrap_or(inside.len());
        inside[..end].trim_end_matches('-')
    })
}

/// Returns the prefix of `text` up to an empty line, limited to the maximum length of a tag.
fn paragraph(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(MAX_TAG + 2)];
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').take(MAX_LINES).enumerate() {
        if number > 0 && line.trim().is_empty() {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

/// Returns `true` if `text` begins with `{%` and contains a closing `%}` outside of quotation marks.
pub(crate) fn is_whole(text: &str) -> bool {
    text.strip_prefix("{%").is_some_and(|inside| close_outside_quotes(inside).is_some())
}

/// Returns the position of the `%}` that ends a tag, outside of quotation marks.
fn close(inside: &str) -> Option<usize> {
    if !inside.as_bytes().iter().take(MAX_TAG).any(|b| *b == b'}') {
        return None;
    }
    if let Some(at) = close_outside_quotes(inside) {
        return Some(at);
    }
    // An unclosed quotation mark does not absorb the rest of the text.
    let line = inside.split('\n').next()?;
    line.bytes()
        .zip(line.bytes().skip(1))
        .take(MAX_TAG)
        .position(|pair| pair == (b'%', b'}'))
        .filter(|at| *at > 0)
}

fn close_outside_quotes(inside: &str) -> Option<usize> {
    let is_expression = name_of(inside.trim_start_matches(['-', ' ', '\t', '\n', '\r'])) == "if";
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
            (None, '\'') if is_expression || before == '=' || before.is_whitespace() => quote = Some(c),
            _ => {}
        }
        before = c;
    }
    None
}

/// Returns the length of the quoted value at the beginning of `text`.
fn quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut escaped = false;
    text[1..].char_indices().find_map(|(at, c)| {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return Some(at);
        }
        None
    })
}

/// Resolves escaped quotation marks and backslashes. Any other backslash is literal.
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

/// Escapes a value for use in quotation marks.
#[must_use]
pub fn escaped(value: &str, quote: char) -> String {
    value.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<(&str, Vec<(&str, String)>)> {
        let mut out = Vec::new();
        for tag in tags(text, &[]) {
            let values = tag.values().unwrap_or_default();
            let values = values.iter().map(|value| (value.name, value.text(text).into_owned()));
            out.push((tag.name, values.collect()));
        }
        out
    }

    fn tag<'a>(name: &'a str, values: &[(&'a str, &str)]) -> (&'a str, Vec<(&'a str, String)>) {
        (name, values.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
    }

    #[test]
    fn tags_are_found_with_their_values() {
        assert_eq!(
            read("{% include \"a b.md\" %} x {%file src=\"b.pdf\" title=\"50 %} off\"%}\n{% endfile %}"),
            [
                tag("include", &[("", "a b.md")]),
                tag("file", &[("src", "b.pdf"), ("title", "50 %} off")]),
                tag("endfile", &[]),
            ]
        );
        assert_eq!(read("{% embed\n url='x'\n%}"), [tag("embed", &[("url", "x")])]);
        assert_eq!(
            read("{% file src=a.pdf title=\"\\\"a\\\" \\\\ \\b\" wide %}"),
            [tag("file", &[("src", "a.pdf"), ("title", "\"a\" \\ \\b"), ("wide", "true")])]
        );
        assert_eq!(read("{%- include 'a.md' -%}"), [tag("include", &[("", "a.md")])]);
        assert_eq!(read("\\\\{% b %}{% c %}"), [tag("b", &[]), tag("c", &[])]);
        let text = "ä {% x y=\"ö\" %}";
        let found = tags(text, &[]).next().expect("a tag");
        assert_eq!(found.end, text.len());
        assert_eq!(&text[found.values().unwrap()[0].range.clone().unwrap()], "ö");
    }

    #[test]
    fn invalid_and_escaped_tags_are_skipped() {
        for text in [
            "\\{% include \"a\" %}",
            "{% include \"a\" ",
            "{% include\n\n \"a\" %}",
            "{% include\n \t\n \"a\" %}",
            "{%",
            "%}",
            "{%}",
            "{%-%}",
            "{%--%}",
            "{% %}",
            "{% =x %}",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
        assert_eq!(tags("`{% a \"x\" %}` {% b %} `{% c %}`", &[0..13, 22..31]).count(), 1);
        for text in ["{% a =x %}", "{% a \"b %}", "{% a b=\"c %}"] {
            assert!(tags(text, &[]).all(|tag| tag.values().is_none()), "{text}");
        }
    }

    #[test]
    fn unclosed_tags_take_bounded_work() {
        let block = format!("{}\n%}}\n", "{%\"".repeat(2_000));
        assert!(tags(&block.repeat(200), &[]).count() < 200 * 2_000);
        assert_eq!(tags(&"{%".repeat(500_000), &[]).count(), 0);
        assert_eq!(tags(&"{%\"\n".repeat(250_000), &[]).count(), 0);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(\\{%|%\\}|\"|'|=| |-|\\\\|\\n|include|src|if|ä|\\PC){0,80}") {
            for tag in tags(&text, &[]) {
                let is_whole = text.get(..tag.end).is_some_and(|text| text.ends_with("%}"));
                prop_assert!(is_whole);
                for value in tag.values().unwrap_or_default() {
                    prop_assert!(value.range.is_none_or(|range| text.get(range).is_some()));
                }
            }
        }
    }
}
