//! Markdown source: front matter, title and links. The text is preserved unchanged, except for rewritten link
//! destinations.

mod emoji;
mod front;
mod links;
mod pieces;
mod scan;
#[cfg(test)]
mod tests;

use std::ops::Range;

use docs_model::MAX_PAGE_BYTES;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::PagePatch;

pub(crate) use self::links::rewrite_sites;
pub use self::{
    emoji::leading_emoji,
    front::{CoverSource, FrontMatter, MAX_BYTES as MAX_FRONT_MATTER_BYTES, cover_of, web_reference},
    links::{LinkKind, LinkRole, LinkSite, MAX_LINKS, Resolution, links, links_and_specs, rewrite_links},
};

/// The heading that contains the title of its page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heading {
    /// The text without marks, anchors and the leading emoji.
    pub title: String,
    /// The leading emoji.
    pub emoji: Option<String>,
}

/// The parts of a Markdown file.
#[derive(Clone, PartialEq, Debug)]
pub struct PageSource<'a> {
    /// The parsed front matter. Empty if there is none or it is invalid.
    pub front: FrontMatter,
    /// The YAML between the fences, verbatim.
    pub yaml: Option<&'a str>,
    /// The leading `# Title`.
    pub heading: Option<Heading>,
    /// The text after front matter and heading, unchanged, starting at its first non-blank line.
    pub body: &'a str,
    /// The problems found, one sentence each.
    pub warnings: Vec<String>,
}

impl PageSource<'_> {
    /// Returns the fields of the page from front matter and heading.
    ///
    /// The heading takes precedence over the title in the front matter, which is then stored in `extra`. A page has
    /// either an emoji or an icon: if the front matter has an icon, the emoji remains in the title. The cover is not
    /// included, because it must be looked up first.
    #[must_use]
    pub fn fields(&self) -> PagePatch {
        let mut fields = self.front.fields.clone();
        let Some(heading) = &self.heading else { return fields };
        let has_icon = matches!(fields.icon, Some(Some(_)));
        let title = match &heading.emoji {
            Some(emoji) if has_icon => format!("{emoji} {}", heading.title),
            _ => heading.title.clone(),
        };
        if !has_icon && heading.emoji.is_some() {
            fields.emoji = Some(heading.emoji.clone());
        }
        if let Some(other) = fields.title.replace(title).filter(|other| *other != heading.title) {
            fields.extra.get_or_insert_default().insert("title".to_owned(), other.into());
        }
        fields
    }
}

/// Splits a Markdown file into front matter, leading title and text.
///
/// This never fails. Front matter that is not YAML results in a page without metadata and a warning.
///
/// ```
/// use docs_markup::markdown::parse_page;
/// let page = parse_page("---\ndescription: How to start\n---\n\n# 🚀 Start\n\nHello *there*.\n");
/// let heading = page.heading.unwrap();
/// assert_eq!((heading.title.as_str(), heading.emoji.as_deref()), ("Start", Some("🚀")));
/// assert_eq!(page.front.fields.description, Some(Some("How to start".to_owned())));
/// assert_eq!(page.body, "Hello *there*.\n");
/// ```
#[must_use]
pub fn parse_page(markdown: &str) -> PageSource<'_> {
    let mut warnings = Vec::new();
    let (yaml, rest) = split_front(markdown);
    let front = yaml.map(|yaml| front::parse(yaml, &mut warnings)).unwrap_or_default();
    let rest = without_blank_lines(rest);
    let (heading, body) = match split_heading(rest) {
        Some((heading, body)) => (Some(heading), without_blank_lines(body)),
        None => (None, rest),
    };
    PageSource { front, yaml, heading, body, warnings }
}

/// Splits the file of a reusable content block into front matter and text. A heading is part of the text.
#[must_use]
pub fn parse_include(markdown: &str) -> PageSource<'_> {
    let mut warnings = Vec::new();
    let (yaml, rest) = split_front(markdown);
    let front = yaml.map(|yaml| front::parse(yaml, &mut warnings)).unwrap_or_default();
    PageSource { front, yaml, heading: None, body: without_blank_lines(rest), warnings }
}

/// The byte ranges of the parts of a page file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PageParts {
    /// The YAML between the fences.
    pub(crate) yaml: Option<Range<usize>>,
    /// The end of the front matter, including its closing fence, or the start of the text if there is none.
    pub(crate) front_end: usize,
    /// The leading heading, including its line break.
    pub(crate) heading: Option<Range<usize>>,
    /// The start offset of the body.
    pub(crate) body: usize,
}

impl PageParts {
    /// Returns the parts of `markdown` from the result of [`parse_page`].
    pub(crate) fn from_source(markdown: &str, source: &PageSource<'_>) -> Self {
        let (yaml, rest) = split_front(markdown);
        let front_end = markdown.len() - rest.len();
        let yaml = yaml.map(|yaml| {
            // The YAML begins after the first line.
            let start = markdown.find('\n').map_or(markdown.len(), |end| end + 1);
            start..start + yaml.len()
        });
        let heading = source.heading.as_ref().and_then(|_| {
            let rest = without_blank_lines(rest);
            let (_, behind) = split_heading(rest)?;
            Some(markdown.len() - rest.len()..markdown.len() - behind.len())
        });
        Self { yaml, front_end, heading, body: markdown.len() - source.body.len() }
    }
}

/// Splits `markdown` into front matter and the rest.
///
/// Front matter begins at the first byte (after a byte order mark) with a line of three hyphens, and ends with another
/// such line or a line of three dots. Without an end, there is no front matter.
#[must_use]
pub fn split_front(markdown: &str) -> (Option<&str>, &str) {
    let text = markdown.strip_prefix('\u{feff}').unwrap_or(markdown);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---" && line.ends_with('\n')) else {
        return (None, text);
    };
    let start = first.len();
    let mut end = start;
    for line in lines {
        let next = end + line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return (Some(&text[start..end]), &text[next..]);
        }
        end = next;
    }
    (None, text)
}

/// Maximum length in bytes of the lines of a title heading. A longer heading is treated as text.
const MAX_HEADING_BYTES: usize = 4 << 10;
/// Maximum number of bytes for the fences of front matter and the blank lines of a page file.
const SEPARATOR_BYTES: usize = 1 << 10;

/// Maximum size of a page file in bytes: text of [`MAX_PAGE_BYTES`] with front matter and a title of the maximum size.
/// In a larger file, the text is too long, or the front matter is ignored.
pub const MAX_PAGE_FILE_BYTES: u64 =
    (MAX_PAGE_BYTES + MAX_FRONT_MATTER_BYTES + MAX_HEADING_BYTES + SEPARATOR_BYTES) as u64;

/// Splits off the leading level 1 heading.
fn split_heading(text: &str) -> Option<(Heading, &str)> {
    // A heading ends at the first blank line, and a longer title is not accepted, so the rest need not be parsed.
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() || end + line.len() > MAX_HEADING_BYTES {
            break;
        }
        end += line.len();
    }
    let mut title = String::new();
    for (event, range) in Parser::new(&text[..end]).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level: pulldown_cmark::HeadingLevel::H1, .. }) => {}
            Event::Text(part) | Event::Code(part) => title.push_str(&part),
            Event::SoftBreak | Event::HardBreak => title.push(' '),
            Event::End(TagEnd::Heading(_)) => {
                let heading = heading_of(title.trim())?;
                return Some((heading, &text[range.end..]));
            }
            // Marks and links are replaced by their content. Anchors are ignored.
            Event::Start(
                Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. },
            )
            | Event::End(
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image,
            )
            | Event::InlineHtml(_) => {}
            _ => return None,
        }
    }
    None
}

fn heading_of(text: &str) -> Option<Heading> {
    let (emoji, rest) = match leading_emoji(text) {
        Some((emoji, rest)) if !rest.trim().is_empty() => (Some(emoji.to_owned()), rest.trim()),
        _ => (None, text),
    };
    (!rest.is_empty()).then(|| Heading { title: rest.to_owned(), emoji })
}

pub(crate) fn without_blank_lines(text: &str) -> &str {
    let mut rest = text;
    while let Some(line) = rest.split_inclusive('\n').next().filter(|line| line.trim().is_empty()) {
        rest = &rest[line.len()..];
    }
    rest
}
