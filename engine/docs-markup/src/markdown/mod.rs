//! Markdown source: front matter, title and links. The text is preserved unchanged, except for rewritten link
//! destinations.

mod front;
mod heading;
mod leading_emoji;
mod links;
mod pieces;
mod problems;
mod scan;
#[cfg(test)]
mod tests;
mod title_text;

use std::{borrow::Cow, ops::Range};

use docs_model::MAX_PAGE_BYTES;

use self::{
    front::FrontBlock,
    heading::{MAX_HEADING_BYTES, find_title},
};
pub use self::{
    front::{CoverSource, FrontMatter, MAX_BYTES as MAX_FRONT_MATTER_BYTES, cover_of, web_reference},
    heading::Heading,
    leading_emoji::leading_emoji,
    links::{LinkKind, LinkRole, LinkSite, MAX_LINKS, Resolution, links, links_and_specs, rewrite_links},
    problems::text_problems,
};
pub(crate) use self::{
    heading::{stored_prelude, without_blank_lines},
    links::rewrite_sites,
    title_text::TitleText,
};
use crate::{PagePatch, directives::title_line, gitsync::BookFormat};

/// Maximum number of bytes for the fences of front matter and the blank lines of a page file.
const SEPARATOR_BYTES: usize = 1 << 10;

/// Maximum size of a page file in bytes: text of [`MAX_PAGE_BYTES`] with front matter and a title of the maximum size.
/// In a larger file, the text is too long, or the front matter is ignored.
pub const MAX_PAGE_FILE_BYTES: u64 =
    (MAX_PAGE_BYTES + MAX_FRONT_MATTER_BYTES + MAX_HEADING_BYTES + SEPARATOR_BYTES) as u64;

/// The parts of a Markdown file.
#[derive(Clone, PartialEq, Debug)]
pub struct PageSource<'a> {
    /// The parsed front matter. Empty if there is none.
    pub front: FrontMatter,
    /// The YAML between the fences, verbatim.
    pub yaml: Option<&'a str>,
    /// The leading `# Title`.
    pub heading: Option<Heading>,
    /// The text without front matter and heading, from its first nonblank line. Comments, link definitions and
    /// unreadable front matter before the heading are part of it.
    pub body: Cow<'a, str>,
    /// The unusable parts, one sentence each.
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
            let extra = fields.extra.get_or_insert_default();
            extra.change(|fields| drop(fields.insert("title".to_owned(), other.into())));
        }
        fields
    }

    /// Returns the fields of a page in a repository: like [`fields`](Self::fields). In a repository of mdBook,
    /// `{{#title …}}` in the first line of the text is the title if there is no other.
    #[must_use]
    pub fn repository_fields(&self, format: BookFormat) -> PagePatch {
        let mut fields = self.fields();
        if fields.title.is_none() && format == BookFormat::MdBook {
            fields.title = title_line(&self.body).map(|(title, _)| title.to_owned());
        }
        fields
    }
}

/// Splits a Markdown file into front matter, leading title and text.
///
/// This never fails: front matter that is not a YAML map is part of the text. If it resembles a map, there is a
/// warning.
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
    let FrontSplit { page, rest, unreadable } = read_front(markdown);
    let Some(title) = find_title(rest, unreadable) else { return page };
    let after = without_blank_lines(&rest[title.range.end..]);
    let body = match &rest[title.prelude] {
        "" => Cow::Borrowed(after),
        prelude => Cow::Owned(format!("{}{after}", stored_prelude(prelude))),
    };
    PageSource { heading: Some(title.heading), body, ..page }
}

/// Splits the file of a reusable content block into front matter and text. A heading is part of the text.
#[must_use]
pub fn parse_include(markdown: &str) -> PageSource<'_> {
    read_front(markdown).page
}

/// A file split into front matter and text.
struct FrontSplit<'a> {
    /// The page without its heading.
    page: PageSource<'a>,
    /// The text with its leading blank lines.
    rest: &'a str,
    /// The length of the unreadable front matter that the text begins with.
    unreadable: usize,
}

fn read_front(markdown: &str) -> FrontSplit<'_> {
    let mut warnings = Vec::new();
    let (block, rest) = front_block(markdown);
    let all = without_mark(markdown);
    let length = all.len() - rest.len();
    let (front, yaml, rest, unreadable) = match block.map(|yaml| front::parse(yaml, &mut warnings)) {
        Some(FrontBlock::Map(front)) => (*front, block, rest, 0),
        Some(FrontBlock::Unreadable) => (FrontMatter::default(), None, all, length),
        Some(FrontBlock::Text) | None => (FrontMatter::default(), None, all, 0),
    };
    let body = Cow::Borrowed(without_blank_lines(rest));
    let page = PageSource { front, yaml, heading: None, body, warnings };
    FrontSplit { page, rest, unreadable }
}

/// The byte ranges of the parts of a page file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PageParts {
    /// The YAML between the fences.
    pub(crate) yaml: Option<Range<usize>>,
    /// The end of the front matter, including its closing fence, or the start of the text if there is none.
    pub(crate) front_end: usize,
    /// The part of the text before the heading: comments, link definitions and unreadable front matter.
    pub(crate) prelude: Range<usize>,
    /// The leading heading, including its line break.
    pub(crate) heading: Option<Range<usize>>,
    /// The start of the text after the heading.
    pub(crate) body: usize,
}

impl PageParts {
    /// Returns the parts of `markdown` from the result of [`parse_page`].
    pub(crate) fn from_source(markdown: &str, source: &PageSource<'_>) -> Self {
        let FrontSplit { rest, unreadable, .. } = read_front(markdown);
        let front_end = markdown.len() - rest.len();
        let yaml = source.yaml.map(|yaml| {
            // The YAML begins after the first line.
            let start = markdown.find('\n').map_or(markdown.len(), |end| end + 1);
            start..start + yaml.len()
        });
        let title = source.heading.as_ref().and_then(|_| find_title(rest, unreadable));
        let start = |text: &str| markdown.len() - without_blank_lines(text).len();
        let moved = |range: Range<usize>| front_end + range.start..front_end + range.end;
        match title {
            Some(title) => Self {
                yaml,
                front_end,
                body: start(&rest[title.range.end..]),
                prelude: moved(title.prelude),
                heading: Some(moved(title.range)),
            },
            None => Self { yaml, front_end, prelude: front_end..front_end, heading: None, body: start(rest) },
        }
    }
}

/// Splits `markdown` into front matter and the rest.
///
/// Front matter starts at the first byte (after a byte order mark) with a line of three hyphens, and ends with such a
/// line or a line of three dots. If the end is missing or the lines are not a YAML map, there is no front matter,
/// because a horizontal rule looks like its first line.
#[must_use]
pub fn split_front(markdown: &str) -> (Option<&str>, &str) {
    match front_block(markdown) {
        (Some(yaml), rest) if front::is_map(yaml) => (Some(yaml), rest),
        _ => (None, without_mark(markdown)),
    }
}

/// Splits off the lines between front matter fences, whether or not they are valid YAML.
fn front_block(markdown: &str) -> (Option<&str>, &str) {
    let text = without_mark(markdown);
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

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
