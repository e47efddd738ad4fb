//! What a line begins with, and what that means.

use std::borrow::Cow;

use super::{
    html,
    lines::{self, Line, SPACE},
    tags::Tag,
};

/// The first column of code that is indented.
pub(super) const CODE: usize = 4;

/// What begins HTML that goes on until its end, empty lines included.
pub(super) const HTML_ENDS: [(&str, &str); 7] = [
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
    ("<textarea", "</textarea>"),
    ("<!--", "-->"),
    ("<?", "?>"),
    ("<![cdata[", "]]>"),
];

/// Elements that begin a block.
const BLOCKS: [&str; 60] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

pub(super) fn is_named_block(text: &str) -> bool {
    let name = text.trim_start_matches('<').trim_start_matches('/');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let is_ended = name[end..].chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, '>' | '/'));
    is_ended && end <= 10 && BLOCKS.contains(&name[..end].to_ascii_lowercase().as_str())
}

pub(super) fn is_html_block(text: &str) -> bool {
    is_named_block(text)
        || html::tag_at(text).is_some_and(|(_, length)| text[length..].trim_matches(SPACE).is_empty())
}

pub(super) fn is_closing(text: &str) -> bool {
    Tag::read(text)
        .is_some_and(|tag| tag.name.starts_with("end") && text[tag.end..].trim_matches(SPACE).is_empty())
}

/// Level and text of a heading.
pub(super) fn heading(text: &str) -> Option<(u8, String)> {
    let trimmed = text.trim_matches(SPACE);
    let level = trimmed.len() - trimmed.trim_start_matches('#').len();
    let rest = &trimmed[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim_matches(SPACE);
    let bare = rest.trim_end_matches('#');
    let rest =
        if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end_matches(SPACE) } else { rest };
    Some((u8::try_from(level).ok()?, rest.to_owned()))
}

pub(super) fn is_divider(text: &str) -> bool {
    let trimmed = text.trim_matches(SPACE);
    let Some(mark) = trimmed.chars().next().filter(|c| matches!(c, '*' | '-' | '_')) else { return false };
    trimmed.chars().filter(|c| *c == mark).count() >= 3
        && trimmed.chars().all(|c| c == mark || matches!(c, ' ' | '\t'))
}

/// The beginning of an item.
pub(super) struct Item {
    pub(super) mark: char,
    pub(super) number: Option<u64>,
    /// Where its text begins.
    pub(super) start: usize,
    /// The column its lines begin at.
    pub(super) width: usize,
    pub(super) is_empty: bool,
}

pub(super) fn item(text: &str) -> Option<Item> {
    let trimmed = text.trim_start_matches(SPACE);
    let indent = text.len() - trimmed.len();
    let digits = trimmed.len() - trimmed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mark = trimmed[digits..].chars().next()?;
    let number = match (digits, mark) {
        (0, '*' | '-' | '+') => None,
        (1..=9, '.' | ')') => Some(trimmed[..digits].parse().ok()?),
        _ => return None,
    };
    let behind = &trimmed[digits + 1..];
    if !behind.is_empty() && !behind.starts_with([' ', '\t']) {
        return None;
    }
    let columns = Line { text: Cow::Borrowed(text), at: 0 }.indent() + digits + 1;
    let is_empty = behind.trim_matches(SPACE).is_empty();
    let space = Line { text: Cow::Borrowed(behind), at: 0 }.indent();
    let bytes = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    let (space, bytes) = if is_empty || space > 4 { (1, behind.len().min(1)) } else { (space, bytes) };
    Some(Item { mark, number, start: indent + digits + 1 + bytes, width: columns + space, is_empty })
}

/// Whether the last line of a container is text that a line outside may continue.
#[derive(Default)]
pub(super) struct OpenText {
    is_text: bool,
    fence: Option<(char, usize)>,
}

impl OpenText {
    pub(super) fn line(&mut self, text: &str) {
        if let Some((mark, length)) = self.fence {
            if lines::closes_fence(text, mark, length) {
                self.fence = None;
            }
            self.is_text = false;
            return;
        }
        let mut rest = text.trim_start_matches(SPACE);
        while let Some(next) = rest
            .strip_prefix('>')
            .map(|rest| rest.trim_start_matches(SPACE))
            .or_else(|| item(rest).map(|item| rest[item.start..].trim_start_matches(SPACE)))
        {
            rest = next;
        }
        self.fence = lines::fence(rest).map(|(mark, length, _)| (mark, length));
        let is_plain = !rest.is_empty() && heading(rest).is_none() && !is_divider(rest);
        self.is_text = is_plain
            && self.fence.is_none()
            && !rest.starts_with("{%")
            && !rest.starts_with("</")
            && !rest.starts_with('|');
    }

    pub(super) fn may_go_on(&self, text: &str) -> bool {
        self.is_text && self.fence.is_none() && !text.trim_matches(SPACE).is_empty()
    }
}
