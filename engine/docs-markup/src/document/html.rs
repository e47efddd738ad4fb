//! A reader for the HTML that stands in pages.

use std::borrow::Cow;

use htmlize::unescape_attribute;

/// A piece of HTML. Together the pieces of a text are the text.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'a> {
    /// What stands between tags, comments included.
    Text(&'a str),
    /// An opening tag.
    Open(Open<'a>),
    /// A closing tag: its name in lower case, and its text.
    Close(String, &'a str),
}

/// An opening tag.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Open<'a> {
    /// Its name, in lower case.
    pub(super) name: String,
    /// Names in lower case, and values with their character references resolved.
    pub(super) attributes: Vec<(String, Option<Cow<'a, str>>)>,
    /// Its text.
    pub(super) source: &'a str,
    /// Whether it has no content.
    pub(super) is_void: bool,
}

/// Longest tag that is read.
const MAX_TAG: usize = 8 * 1024;
/// Most space in a closing tag.
const MAX_SPACE: usize = 64;
/// Deepest nesting that is read.
const MAX_DEPTH: usize = 24;

impl Open<'_> {
    /// The value of an attribute; empty when it has none.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_deref().unwrap_or_default())
    }

    /// Tells whether an attribute is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|(own, _)| own == name)
    }

    /// Tells whether it has no attributes but these.
    pub(super) fn has_only(&self, names: &[&str]) -> bool {
        self.attributes.iter().all(|(own, _)| names.contains(&own.as_str()))
    }
}

/// The tag that a text begins with, and its length.
pub(super) fn tag_at(text: &str) -> Option<(Token<'_>, usize)> {
    let rest = text.strip_prefix('<')?;
    if let Some(rest) = rest.strip_prefix('/') {
        let length = name_length(rest)?;
        let end = rest[length..].bytes().take(MAX_SPACE).position(|b| b == b'>')?;
        if !rest[length..length + end].trim().is_empty() {
            return None;
        }
        let length_all = 2 + length + end + 1;
        return Some((Token::Close(rest[..length].to_ascii_lowercase(), &text[..length_all]), length_all));
    }
    let length = name_length(rest)?;
    let name = rest[..length].to_ascii_lowercase();
    let mut attributes = Vec::new();
    let mut at = 1 + length;
    loop {
        let space = text[at..].len() - text[at..].trim_start().len();
        let here = &text[at + space..];
        if at > MAX_TAG {
            return None;
        }
        if let Some(is_closed) = end_of_tag(here) {
            let end = at + space + if is_closed { 2 } else { 1 };
            let is_void = is_closed || VOID.contains(&name.as_str());
            return Some((Token::Open(Open { name, attributes, source: &text[..end], is_void }), end));
        }
        if space == 0 {
            return None;
        }
        let (attribute, length) = attribute(here)?;
        attributes.push(attribute);
        at += space + length;
    }
}

/// Elements that have no content.
const VOID: [&str; 6] = ["br", "hr", "img", "input", "source", "wbr"];

fn end_of_tag(text: &str) -> Option<bool> {
    if text.starts_with('>') {
        return Some(false);
    }
    text.starts_with("/>").then_some(true)
}

fn name_length(text: &str) -> Option<usize> {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    Some(text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(text.len()))
}

type Attribute<'a> = (String, Option<Cow<'a, str>>);

fn attribute(text: &str) -> Option<(Attribute<'_>, usize)> {
    let stop = |c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/' | '<' | '"' | '\'' | '`');
    let length = text.find(stop).unwrap_or(text.len());
    if length == 0 {
        return None;
    }
    let name = text[..length].to_ascii_lowercase();
    let behind = text[length..].trim_start();
    let Some(value) = behind.strip_prefix('=') else { return Some(((name, None), length)) };
    let value = value.trim_start();
    let start = text.len() - value.len();
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let end = value[1..].find(quote).filter(|end| *end < MAX_TAG)?;
        return Some(((name, Some(unescape_attribute(&value[1..=end]))), start + end + 2));
    }
    let end = value
        .find(|c: char| c.is_whitespace() || matches!(c, '>' | '<' | '"' | '\'' | '`' | '='))
        .unwrap_or(value.len());
    (end > 0).then(|| ((name, Some(unescape_attribute(&value[..end]))), start + end))
}

/// The pieces of a text.
pub(super) fn tokens(html: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(open) = html[at..].find('<').map(|found| at + found) {
        if html[open..].starts_with("<!--") {
            at = html[open + 4..].find("-->").map_or(html.len(), |end| open + 4 + end + 3);
            continue;
        }
        let Some((token, length)) = tag_at(&html[open..]) else {
            at = open + 1;
            continue;
        };
        if open > start {
            out.push(Token::Text(&html[start..open]));
        }
        out.push(token);
        at = open + length;
        start = at;
    }
    if start < html.len() {
        out.push(Token::Text(&html[start..]));
    }
    out
}

/// An element or a text.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Html<'a> {
    /// Text, with its character references.
    Text(&'a str),
    /// An element.
    Element(Element<'a>),
}

impl Html<'_> {
    /// It as text.
    pub(super) fn source(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Element(element) => element.source(),
        }
    }
}

/// An element.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Element<'a> {
    /// Its tag.
    pub(super) open: Open<'a>,
    /// What it holds.
    pub(super) children: Vec<Html<'a>>,
}

impl<'a> Element<'a> {
    pub(super) fn name(&self) -> &str {
        &self.open.name
    }

    /// It as text.
    pub(super) fn source(&self) -> String {
        let mut out = self.open.source.to_owned();
        self.children.iter().for_each(|child| out.push_str(&child.source()));
        if !self.open.is_void {
            out.push_str(&format!("</{}>", self.name()));
        }
        out
    }

    /// The elements it holds; `None` when there is text between them.
    pub(super) fn elements(&self) -> Option<Vec<&Element<'a>>> {
        elements(&self.children)
    }

    /// All its text, character references resolved.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        collect(&self.children, &mut out);
        out
    }
}

fn collect(nodes: &[Html<'_>], out: &mut String) {
    for node in nodes {
        match node {
            Html::Text(text) => out.push_str(&unescape(text)),
            Html::Element(element) => collect(&element.children, out),
        }
    }
}

/// The elements among nodes; `None` when there is text between them.
pub(super) fn elements<'n, 'a>(nodes: &'n [Html<'a>]) -> Option<Vec<&'n Element<'a>>> {
    let mut out = Vec::new();
    for node in nodes {
        match node {
            Html::Element(element) => out.push(element),
            Html::Text(text) if text.trim().is_empty() => {}
            Html::Text(_) => return None,
        }
    }
    Some(out)
}

/// The elements of a text; `None` when a tag is not closed where it should be, or the nesting is too deep.
pub(super) fn tree(html: &str) -> Option<Vec<Html<'_>>> {
    let mut open: Vec<Element<'_>> = Vec::new();
    let mut nodes: Vec<Html<'_>> = Vec::new();
    for token in tokens(html) {
        let node = match token {
            Token::Text(text) if text.contains("<!--") => return None,
            Token::Text(text) => Html::Text(text),
            Token::Open(tag) if tag.is_void => Html::Element(Element { open: tag, children: Vec::new() }),
            Token::Open(tag) => {
                open.push(Element { open: tag, children: Vec::new() });
                if open.len() > MAX_DEPTH {
                    return None;
                }
                continue;
            }
            Token::Close(name, _) => {
                let element = open.pop().filter(|element| element.open.name == name)?;
                Html::Element(element)
            }
        };
        open.last_mut().map_or(&mut nodes, |parent| &mut parent.children).push(node);
    }
    open.is_empty().then_some(nodes)
}

/// Resolves the character references of a text.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    htmlize::unescape(text)
}

/// Text as it stands between tags.
pub(super) fn text(text: &str) -> String {
    text.replace('&', "&#x26;").replace('<', "&#x3C;")
}

/// ` name="value"`.
pub(super) fn write_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    for c in value.chars() {
        match c {
            '&' => out.push_str("&#x26;"),
            '<' => out.push_str("&#x3C;"),
            '"' => out.push_str("&#x22;"),
            '\n' => out.push_str("&#xA;"),
            '\r' => out.push_str("&#xD;"),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elements_are_read() {
        let nodes = tree("<figure><img src=\"a&#x26;b\" alt=''><figcaption>x</figcaption></figure>").unwrap();
        let [Html::Element(figure)] = nodes.as_slice() else { panic!("{nodes:?}") };
        let inside = figure.elements().unwrap();
        assert_eq!((inside[0].open.get("src"), inside[0].open.get("alt")), (Some("a&b"), Some("")));
        assert_eq!(inside[1].text(), "x");
    }

    #[test]
    fn every_name_of_a_character_is_resolved() {
        let nodes = tree(
            "<p title='?a&ouml;&CounterClockwiseContourIntegral;&x=1&copy=2&nope;'>&Auml;&mdash;&#x1F680;</p>",
        );
        let Some([Html::Element(p)]) = nodes.as_deref() else { panic!("{nodes:?}") };
        assert_eq!(p.open.get("title"), Some("?aö∳&x=1&copy=2&nope;"));
        assert_eq!(p.text(), "Ä—🚀");
    }

    #[test]
    fn what_is_not_closed_has_no_tree() {
        for html in ["<b>", "</b>", "<b><i></b></i>", "<b"] {
            assert!(tree(html).is_none_or(|nodes| nodes == [Html::Text(html)]), "{html}");
        }
        assert!(tree(&"<b>".repeat(100_000)).is_none());
    }

    proptest! {
        #[test]
        fn tokens_are_the_text(html in "(<|>|=|\"|'|/|!--|-->|img|src|</b>|<b>| |\\n|&amp;|ä|\\PC){0,60}") {
            let all: String = tokens(&html).iter().map(|token| match token {
                Token::Text(text) => *text,
                Token::Open(open) => open.source,
                Token::Close(_, text) => *text,
            }).collect();
            prop_assert_eq!(all, html);
        }

        #[test]
        fn values_are_written_so_that_they_read_back(value in "\\PC*") {
            let mut tag = String::from("<a");
            write_attribute(&mut tag, "b", &value);
            tag.push('>');
            let Some((Token::Open(open), length)) = tag_at(&tag) else { panic!("{tag}") };
            prop_assert_eq!(length, tag.len());
            prop_assert_eq!(open.get("b"), Some(value.as_str()));
            let escaped = text(&value);
            prop_assert_eq!(&*unescape(&escaped), value.as_str());
        }
    }
}
