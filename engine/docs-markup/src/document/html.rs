//! The HTML elements of pages: parsing to a tree, and printing.

use std::{borrow::Cow, ops::Range};

use super::work_budget;
use crate::syntax::{
    entity,
    html::{self, HtmlTag, TagKind},
};

#[derive(Clone, PartialEq, Debug)]
pub(super) enum TagToken<'a> {
    Open(OpeningTag<'a>),
    /// A closing tag with its name in lower case.
    Close(String),
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct OpeningTag<'a> {
    /// The name, in lower case.
    pub(super) name: String,
    /// Attribute names in lower case, and values with character references resolved.
    pub(super) attributes: Vec<(String, Option<Cow<'a, str>>)>,
    /// The source text of the tag.
    pub(super) source: &'a str,
    /// `true` if the element has no content.
    pub(super) is_void: bool,
}

/// Maximum nesting depth.
const MAX_HTML_DEPTH: usize = 24;
/// The name of the element for expandable content.
pub(super) const DETAILS: &str = "details";

impl OpeningTag<'_> {
    /// Returns the value of an attribute, or an empty string for an attribute without a value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_deref().unwrap_or_default())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.attributes.iter().any(|(own, _)| own == name)
    }

    /// Returns `true` if the tag has no attributes except these.
    pub(super) fn has_only(&self, names: &[&str]) -> bool {
        self.attributes.iter().all(|(own, _)| names.contains(&own.as_str()))
    }
}

impl<'a> From<HtmlTag<'a>> for TagToken<'a> {
    fn from(tag: HtmlTag<'a>) -> Self {
        let name = tag.name.to_ascii_lowercase();
        if tag.kind == TagKind::Closing {
            return Self::Close(name);
        }
        let own = |it: &html::Attribute<'a>| (it.name.to_ascii_lowercase(), tag.value(it));
        let attributes = tag.attributes.iter().map(own).collect();
        Self::Open(OpeningTag { name, attributes, source: tag.source(), is_void: tag.is_void() })
    }
}

/// Parses the tag at the beginning of `text`, and returns it with its length. Only accepts tags that Markdown
/// recognizes.
pub(super) fn tag_at(text: &str) -> Option<(TagToken<'_>, usize)> {
    let tag = html::strict_tag_at(text, 0)?;
    let length = tag.range.end;
    Some((TagToken::from(tag), length))
}

/// Returns `true` if `text` begins with a tag of an element, even if the tag is unterminated.
pub(super) fn begins(text: &str, kind: TagKind, name: &str) -> bool {
    html::name_at(text, 0).is_some_and(|(own, found)| own == kind && found.eq_ignore_ascii_case(name))
}

/// Returns the range of the first closing tag of an element after a position.
pub(super) fn closing(text: &str, from: usize, name: &str) -> Option<Range<usize>> {
    let mut places = text[from..].match_indices("</").map(|(at, _)| from + at);
    places.find_map(|at| {
        let (_, own) = html::name_at(text, at).filter(|(_, own)| own.eq_ignore_ascii_case(name))?;
        let behind = text[at + 2 + own.len()..].trim_start();
        behind.starts_with('>').then(|| at..text.len() - behind.len() + 1)
    })
}

/// Returns `true` if `text` ends with a closing tag of an element, ignoring trailing whitespace.
pub(super) fn ends_with_closing(text: &str, name: &str) -> bool {
    let text = text.trim_end();
    text.rfind("</").is_some_and(|at| is_closing_alone(&text[at..], name))
}

/// Returns `true` if `text` consists of exactly one closing tag of an element.
pub(super) fn is_closing_alone(text: &str, name: &str) -> bool {
    closing(text, 0, name) == Some(0..text.len())
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Html<'a> {
    /// Text with unresolved character references.
    Text(&'a str),
    Element(Element<'a>),
}

impl Html<'_> {
    /// Returns the source text.
    pub(super) fn source(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Element(element) => element.source(),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Element<'a> {
    pub(super) open: OpeningTag<'a>,
    pub(super) children: Vec<Html<'a>>,
}

impl<'a> Element<'a> {
    pub(super) fn name(&self) -> &str {
        &self.open.name
    }

    /// Returns the source text.
    pub(super) fn source(&self) -> String {
        let mut out = self.open.source.to_owned();
        self.children.iter().for_each(|child| out.push_str(&child.source()));
        if !self.open.is_void {
            out.push_str(&format!("</{}>", self.name()));
        }
        out
    }

    /// Returns the child elements, or `None` if there is text between them.
    pub(super) fn elements(&self) -> Option<Vec<&Element<'a>>> {
        elements(&self.children)
    }

    /// Returns the text content, with resolved character references.
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

/// Returns the elements among nodes, or `None` if there is text between them.
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

/// Parses the elements of `source`. Returns `None` for a missing closing tag, a tag that Markdown does not recognize, a
/// comment, or excessive nesting.
pub(super) fn tree(source: &str) -> Option<Vec<Html<'_>>> {
    work_budget::step(source.len());
    let mut open: Vec<Element<'_>> = Vec::new();
    let mut nodes: Vec<Html<'_>> = Vec::new();
    for token in html::tokens(source, 0..source.len()) {
        let tag = match token {
            html::HtmlToken::Comment(_) => return None,
            html::HtmlToken::Text(range) => {
                let siblings = open.last_mut().map_or(&mut nodes, |parent| &mut parent.children);
                siblings.push(Html::Text(&source[range]));
                continue;
            }
            html::HtmlToken::Tag(tag) => TagToken::from(Some(tag).filter(|tag| tag.is_strict)?),
        };
        let element = match tag {
            TagToken::Open(tag) if tag.is_void => Element { open: tag, children: Vec::new() },
            TagToken::Open(tag) => {
                open.push(Element { open: tag, children: Vec::new() });
                if open.len() > MAX_HTML_DEPTH {
                    return None;
                }
                continue;
            }
            TagToken::Close(name) => open.pop().filter(|element| element.open.name == name)?,
        };
        open.last_mut().map_or(&mut nodes, |parent| &mut parent.children).push(Html::Element(element));
    }
    open.is_empty().then_some(nodes)
}

/// Resolves the character references of `text`.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    entity::decode(text)
}

/// Escapes text between tags.
pub(super) fn text(text: &str) -> String {
    text.replace('&', "&#x26;").replace('<', "&#x3C;")
}

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
    fn html_elements_are_parsed_into_a_tree() {
        let nodes = tree("<figure><img src=\"a&#x26;b\" alt=''><figcaption>x</figcaption></figure>").unwrap();
        let [Html::Element(figure)] = nodes.as_slice() else { panic!("{nodes:?}") };
        let inside = figure.elements().unwrap();
        assert_eq!((inside[0].open.get("src"), inside[0].open.get("alt")), (Some("a&b"), Some("")));
        assert_eq!(inside[1].text(), "x");
    }

    #[test]
    fn named_and_numeric_character_references_are_decoded() {
        let nodes = tree(
            "<p title='?a&ouml;&CounterClockwiseContourIntegral;&x=1&copy=2&nope;'>&Auml;&mdash;&#x1F680;</p>",
        );
        let Some([Html::Element(p)]) = nodes.as_deref() else { panic!("{nodes:?}") };
        assert_eq!(p.open.get("title"), Some("?aö∳&x=1&copy=2&nope;"));
        assert_eq!(p.text(), "Ä—🚀");
    }

    #[test]
    fn comments_and_tags_invalid_in_markdown_yield_no_tree() {
        for html in [
            "<p>a <!-- b --></p>",
            "<p>a <!DOCTYPE b></p>",
            "<p>a <? b ?></p>",
            "<p>a <img src=\"a\"alt=\"b\"></p>",
            "<p>a <img/src=a></p>",
        ] {
            assert_eq!(tree(html), None, "{html}");
        }
        assert_eq!(tree("1 < 2 <3 &lt;"), Some(vec![Html::Text("1 < 2 <3 &lt;")]));
    }

    #[test]
    fn tag_names_match_case_insensitively() {
        assert_eq!(closing("a</b></A ></a>", 0, "a"), Some(5..10));
        assert_eq!(closing("a</ab>", 0, "a"), None);
        assert!(is_closing_alone("</Details>", DETAILS) && !is_closing_alone("</details>x", DETAILS));
        assert!(ends_with_closing("x</details> ", DETAILS) && !ends_with_closing("</details> x", DETAILS));
        assert!(begins("<details open", TagKind::Opening, DETAILS));
        assert!(!begins("<detailsx", TagKind::Opening, DETAILS));
    }

    #[test]
    fn unbalanced_tags_yield_no_element_tree() {
        for html in ["<b>", "</b>", "<b><i></b></i>", "<b"] {
            assert!(tree(html).is_none_or(|nodes| nodes == [Html::Text(html)]), "{html}");
        }
        assert!(tree(&"<b>".repeat(100_000)).is_none());
    }

    proptest! {
        #[test]
        fn escaped_attributes_and_text_round_trip(value in "\\PC*") {
            let mut tag = String::from("<a");
            write_attribute(&mut tag, "b", &value);
            tag.push('>');
            let Some((TagToken::Open(open), length)) = tag_at(&tag) else { panic!("{tag}") };
            prop_assert_eq!(length, tag.len());
            prop_assert_eq!(open.get("b"), Some(value.as_str()));
            let escaped = text(&value);
            prop_assert_eq!(&*unescape(&escaped), value.as_str());
        }
    }
}
