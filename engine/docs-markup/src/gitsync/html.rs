//! A scanner for the tags and attributes of HTML.

use std::ops::Range;

/// An attribute of a tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Attribute {
    /// The name of the tag, in lower case.
    pub(super) tag: String,
    /// The name of the attribute, in lower case.
    pub(super) name: String,
    /// Where its value is, without quotes.
    pub(super) value: Range<usize>,
}

/// Longest tag that is read. What is longer holds embedded data and no path.
const MAX_TAG: usize = 8 * 1024;

/// All attributes with a value of all opening tags. Comments, scripts and styles are passed over.
pub(super) fn attributes(html: &str) -> Vec<Attribute> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = find(html, at, "<") {
        at = start + 1;
        if html[at..].starts_with("!--") {
            at = find(html, at, "-->").unwrap_or(html.len());
            continue;
        }
        let name_end = end_of(html, at, |c| c.is_ascii_alphanumeric() || c == '-');
        if name_end == at || !html.as_bytes()[at].is_ascii_alphabetic() {
            continue;
        }
        let tag = html[at..name_end].to_ascii_lowercase();
        let Some((mut attributes, end)) = read_tag(html, name_end, start) else { continue };
        at = end;
        if tag == "script" || tag == "style" {
            at = find_closing(html, at, &tag);
            continue;
        }
        for attribute in &mut attributes {
            attribute.tag.clone_from(&tag);
        }
        found.append(&mut attributes);
    }
    found
}

/// Reads a tag from behind its name; yields its attributes and where it ends. `None` when it does not end.
fn read_tag(html: &str, from: usize, start: usize) -> Option<(Vec<Attribute>, usize)> {
    let mut attributes = Vec::new();
    let mut at = from;
    while at - start <= MAX_TAG {
        at = end_of(html, at, |c| c.is_whitespace() || c == '/');
        if html[at..].starts_with('>') {
            return Some((attributes, at + 1));
        }
        let name_end = end_of(html, at, |c| !c.is_whitespace() && !matches!(c, '=' | '>' | '/' | '<'));
        if name_end == at && !html[at..].starts_with('=') {
            return None;
        }
        let name = html[at..name_end].to_ascii_lowercase();
        at = end_of(html, name_end, char::is_whitespace);
        if !html[at..].starts_with('=') {
            continue;
        }
        at = end_of(html, at + 1, char::is_whitespace);
        let value = read_value(html, at)?;
        let is_quoted = value.start > at;
        at = value.end + usize::from(is_quoted);
        attributes.push(Attribute { tag: String::new(), name, value });
    }
    None
}

/// The value of an attribute, without its quotes.
fn read_value(html: &str, at: usize) -> Option<Range<usize>> {
    let rest = &html[at..];
    match rest.chars().next()? {
        quote @ ('"' | '\'') => {
            let start = at + 1;
            find(html, start, quote.encode_utf8(&mut [0; 4])).map(|end| start..end)
        }
        _ => Some(at..end_of(html, at, |c| !c.is_whitespace() && c != '>')),
    }
}

/// Where the closing tag of a name begins; the end of the text when it never closes.
fn find_closing(html: &str, from: usize, tag: &str) -> usize {
    let mut at = from;
    while let Some(close) = find(html, at, "</") {
        at = close + 2;
        if html.as_bytes()[at..]
            .get(..tag.len())
            .is_some_and(|name| name.eq_ignore_ascii_case(tag.as_bytes()))
        {
            return close;
        }
    }
    html.len()
}

fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    text.get(from..)?.find(what).map(|at| from + at)
}

/// Where the run of characters that starts at `from` ends.
fn end_of(text: &str, from: usize, belongs: impl Fn(char) -> bool) -> usize {
    text[from..].find(|c| !belongs(c)).map_or(text.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(html: &str) -> Vec<(String, String, String)> {
        attributes(html).into_iter().map(|it| (it.tag, it.name, html[it.value].to_owned())).collect()
    }

    #[test]
    fn attributes_are_found() {
        let tuple = |tag: &str, name: &str, value: &str| (tag.to_owned(), name.to_owned(), value.to_owned());
        assert_eq!(
            read("<figure><IMG\n SRC=\"a b.png\" alt='x > y' width=3 hidden><a href=c.md>t</a></figure>"),
            [
                tuple("img", "src", "a b.png"),
                tuple("img", "alt", "x > y"),
                tuple("img", "width", "3"),
                tuple("a", "href", "c.md")
            ]
        );
        assert_eq!(read("<img src=\"a.png\"/><img src = 'b.png' />").len(), 2);
        assert_eq!(read("<img src=\"\">"), [tuple("img", "src", "")]);
    }

    #[test]
    fn what_is_no_tag_is_passed_over() {
        for html in [
            "<!-- <img src=\"a.png\"> -->",
            "<script>var x = '<img src=\"a.png\">'</script>",
            "a < b src=\"c\" >",
            "</a href=\"x\">",
            "<img src=\"a.png",
            "<a href",
            "<",
        ] {
            assert_eq!(read(html), [], "{html}");
        }
        assert_eq!(read("<!-- never closed <img src=\"a.png\">"), []);
        assert_eq!(read("<style>x</style><img src=\"a.png\">").len(), 1);
    }

    proptest! {
        #[test]
        fn no_text_panics(html in "(<|>|=|\"|'|/|!--|-->|img|src|script| |\\n|ä|\\PC){0,80}") {
            for attribute in attributes(&html) {
                prop_assert!(html.get(attribute.value).is_some());
            }
        }
    }
}
