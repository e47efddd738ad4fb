//! Parser of the inline Markdown of titles.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{
    markdown::TitleText,
    syntax::html::{self, TagKind},
};

/// The parts of a line of Markdown that matter for titles: its text, first link and first anchor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Inline {
    /// The text without marks.
    pub(super) text: String,
    /// The first link.
    pub(super) link: Option<Link>,
    /// The first `id` of an `<a>` element.
    pub(super) id: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Link {
    /// The text without marks.
    pub(super) text: String,
    /// The destination without Markdown escapes.
    pub(super) destination: String,
    /// The title in quotes.
    pub(super) title: Option<String>,
}

/// Parses one line.
///
/// A destination with spaces is invalid Markdown, but common. It is accepted if the line has no other link.
pub(super) fn read(line: &str) -> Inline {
    let mut inline = strict(line);
    if inline.link.is_none() {
        inline.link = tolerant(line);
    }
    inline
}

fn strict(line: &str) -> Inline {
    let mut inline = Inline::default();
    let mut open: Option<Link> = None;
    let mut depth = 0_usize;
    let (mut text, mut label) = (TitleText::default(), TitleText::default());
    let mut add = |add: &dyn Fn(&mut TitleText), is_label: bool| {
        add(&mut text);
        if is_label {
            add(&mut label);
        }
    };
    let mut first = None;
    let mut id = None;
    for (event, range) in Parser::new_ext(line, Options::ENABLE_STRIKETHROUGH).into_offset_iter() {
        match event {
            Event::Text(part) => add(&|text| text.text(&part, &line[..range.start]), open.is_some()),
            Event::Code(part) => add(&|text| text.code(&part), open.is_some()),
            Event::SoftBreak | Event::HardBreak => add(&|text| text.text(" ", ""), open.is_some()),
            Event::InlineHtml(tag) | Event::Html(tag) => id = id.or_else(|| id_of(&tag)),
            Event::Start(Tag::Link { dest_url, title, .. }) if first.is_none() && open.is_none() => {
                open = Some(Link {
                    text: String::new(),
                    destination: dest_url.into_string(),
                    title: Some(title.into_string()).filter(|title| !title.is_empty()),
                });
            }
            Event::Start(Tag::Link { .. }) => depth += 1,
            Event::End(TagEnd::Link) if depth > 0 => depth -= 1,
            Event::End(TagEnd::Link) => first = first.or_else(|| open.take()),
            _ => {}
        }
    }
    inline.text = collapse_space(&text.finish());
    inline.id = id;
    inline.link = first.map(|link: Link| Link { text: collapse_space(&label.finish()), ..link });
    inline
}

/// Parses `[text](a path with spaces.md "title")`.
fn tolerant(line: &str) -> Option<Link> {
    let line = line.trim();
    let (text, rest) = line.strip_prefix('[')?.split_once("](")?;
    let inside = rest.strip_suffix(')')?.trim();
    let (destination, title) = match inside.strip_suffix('"').and_then(|inside| inside.split_once(" \"")) {
        Some((destination, title)) => (destination.trim(), Some(title.to_owned())),
        None => (inside, None),
    };
    let destination = destination.trim_start_matches('<').trim_end_matches('>');
    if destination.contains(['(', ')', '[', ']', '<', '>']) {
        return None;
    }
    Some(Link {
        text: strict(text).text,
        destination: destination.to_owned(),
        title: title.filter(|title| !title.is_empty()),
    })
}

fn id_of(tag: &str) -> Option<String> {
    let tag = html::tag_at(tag, 0).filter(|tag| tag.kind == TagKind::Opening && tag.is_named("a"))?;
    let id = tag.attribute("id").and_then(|id| tag.value(id))?;
    Some(id.into_owned()).filter(|id| !id.trim().is_empty())
}

/// Normalizes whitespace: single spaces, trimmed.
pub(super) fn collapse_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_lose_their_marks() {
        for (line, text) in [
            ("**Bold** _and_ `code` ~~gone~~", "Bold and code gone"),
            ("🚀 Quick start", "🚀 Quick start"),
            ("a \\* b \\_c\\_ &amp; d", "a * b _c_ & d"),
            ("<mark style=\"color:red\">Red</mark>  text", "Red text"),
            ("![alt](a.png) Title", "alt Title"),
            ("", ""),
        ] {
            assert_eq!(read(line).text, text, "{line}");
        }
    }

    #[test]
    fn links_are_found() {
        for (line, text, destination, title) in [
            ("[A](a.md)", "A", "a.md", None),
            ("[A **b**](a.md \"Short\")", "A b", "a.md", Some("Short")),
            ("[A](<a b.md>)", "A", "a b.md", None),
            ("[A](a b.md)", "A", "a b.md", None),
            ("[A](a b.md \"T t\")", "A", "a b.md", Some("T t")),
            ("[A](a%20b.md 'x')", "A", "a%20b.md", Some("x")),
            ("[A \\[x\\]](a\\_b.md)", "A [x]", "a_b.md", None),
            ("**[A](a.md)** – more [B](b.md)", "A", "a.md", None),
            ("[![i](i.png) A](a.md)", "i A", "a.md", None),
            ("<https://example.com>", "https://example.com", "https://example.com", None),
            ("[](a.md)", "", "a.md", None),
            ("[A]()", "A", "", None),
        ] {
            let link = read(line).link.unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                (link.text.as_str(), link.destination.as_str(), link.title.as_deref()),
                (text, destination, title),
                "{line}"
            );
        }
        assert_eq!(read("Just text [not a link]").link, None);
    }

    #[test]
    fn anchors_are_found() {
        let heading = read("Title <a href=\"#slug\" id=\"slug\"></a>");
        assert_eq!((heading.text.as_str(), heading.id.as_deref()), ("Title", Some("slug")));
        assert_eq!(read("Title <a href=\"#slug\"></a>").id, None);
    }
}
