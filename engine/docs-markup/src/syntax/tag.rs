//! Tags: `{% name attribute="value" %}`.
//!
//! A tag ends at the first `%}` outside of quotes. A value stands between quotes of either kind, in which `\` goes
//! before a quote or another `\`, or without any up to white space. A value without a name is what `include` and `if`
//! have.

use std::{borrow::Cow, ops::Range};

/// Longest tag that is read.
pub(crate) const MAX_TAG: usize = 8 * 1024;
/// Most lines of a tag.
pub const MAX_LINES: usize = 32;

/// A tag, and where it stands in the text that it was read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag<'a> {
    /// Its first word, such as `hint`, `endhint` or `@mermaid/diagram`.
    pub name: &'a str,
    /// What stands behind the name.
    rest: &'a str,
    /// Where that begins.
    rest_at: usize,
    /// Where the text behind the tag begins.
    pub end: usize,
}

/// A value of a tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value<'a> {
    /// Its name; empty when it has none.
    pub name: &'a str,
    /// Where it stands, without quotes; nowhere when there is only a name.
    pub range: Option<Range<usize>>,
    /// What stands around it, if anything does.
    pub quote: Option<char>,
}

impl<'a> Tag<'a> {
    /// The tag that begins at a place of a text; `None` when none does.
    ///
    /// ```
    /// use docs_markup::syntax::tag::Tag;
    /// let text = "{%- include 'a b.md' -%}";
    /// let tag = Tag::at(text, 0).unwrap();
    /// let [path] = tag.values().unwrap().try_into().unwrap();
    /// assert_eq!((tag.name, &*path.text(text)), ("include", "a b.md"));
    /// ```
    #[must_use]
    pub fn at(text: &'a str, start: usize) -> Option<Self> {
        Self::read_at(text, start).ok()
    }

    /// The same; where no tag begins, how many bytes were looked at to see that.
    pub(crate) fn read_at(text: &'a str, start: usize) -> Result<Self, usize> {
        let inside =
            text.get(start..).and_then(|text| text.strip_prefix("{%")).map(paragraph).ok_or(0_usize)?;
        let length = close(inside).ok_or(inside.len())?;
        Self::of(text, start + 2..start + 2 + length).ok_or(length)
    }

    /// The tag with this between its marks. A hyphen beside a mark belongs to the mark.
    fn of(text: &'a str, inside: Range<usize>) -> Option<Self> {
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

    /// The condition of an `if`: all behind its name.
    #[must_use]
    pub fn condition(&self) -> Option<&'a str> {
        (self.name == "if").then(|| self.rest.trim())
    }

    /// The values in their order; `None` when one is not written as values are, or when two have no name. What an `if`
    /// has is a condition, and no values.
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
    /// What it says, given the text that the tag was read from. A name without a value says `true`.
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

/// All tags of a text that begin outside of the ranges to skip, which are ordered and do not overlap. One behind a
/// backslash is text.
pub fn tags<'a>(text: &'a str, skip: &[Range<usize>]) -> impl Iterator<Item = Tag<'a>> {
    let mut skip = skip.iter().peekable();
    // What looks like a tag again and again and is none must not be read to its end each time.
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
                if let Some(tag) = Tag::of(text, own) {
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

/// The name that a tag begins with, given what stands behind its `{%`; empty when it is on the next line. Whether the
/// tag ends is not asked.
#[must_use]
pub fn name_of(inside: &str) -> &str {
    let inside = inside.trim_start_matches([' ', '\t', '-']);
    let end = inside.find(|c: char| c.is_whitespace() || matches!(c, '=' | '%')).unwrap_or(inside.len());
    &inside[..end]
}

/// The names of all that begins like a tag, whole or not and wherever it stands: for whoever must not miss one. A name
/// may stand on the line behind, and that within a quotation; a sign that no name has ends it.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split("{%").skip(1).map(|inside| {
        let inside = inside.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '>'));
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '@');
        let end = inside.find(|c: char| !is_part(c)).unwrap_or(inside.len());
        inside[..end].trim_end_matches('-')
    })
}

/// The beginning of a text up to an empty line, as much as a tag may have.
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

/// Tells whether a text begins with a mark of a tag, and has the one that ends it, outside of quotes.
pub(crate) fn is_whole(text: &str) -> bool {
    text.strip_prefix("{%").is_some_and(|inside| close_outside_quotes(inside).is_some())
}

/// Where the `%}` is that ends a tag: outside of quotes.
fn close(inside: &str) -> Option<usize> {
    if !inside.as_bytes().iter().take(MAX_TAG).any(|b| *b == b'}') {
        return None;
    }
    if let Some(at) = close_outside_quotes(inside) {
        return Some(at);
    }
    // A quote that never closes does not take the rest of the text with it.
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

/// How long the value is in the quotes that a text begins with.
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

/// A value as it stands between quotes.
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
    fn what_is_no_tag_is_passed_over() {
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
    fn tags_that_never_end_are_read_with_bounded_work() {
        let block = format!("{}\n%}}\n", "{%\"".repeat(2_000));
        assert!(tags(&block.repeat(200), &[]).count() < 200 * 2_000);
        assert_eq!(tags(&"{%".repeat(500_000), &[]).count(), 0);
        assert_eq!(tags(&"{%\"\n".repeat(250_000), &[]).count(), 0);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\{%|%\\}|\"|'|=| |-|\\\\|\\n|include|src|if|ä|\\PC){0,80}") {
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
