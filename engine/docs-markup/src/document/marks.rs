//! Block markers at the beginning of lines.

use super::{
    html,
    limits::MAX_BLOCK_DEPTH,
    lines::{self, Line, SPACE},
    tags::TemplateTag,
    work_budget,
};
use crate::syntax::html::{self as syntax, TagKind};

/// Minimum indentation of code, in columns.
pub(super) const CODE_INDENT: usize = 4;

/// Elements that extend to their end marker, even across empty lines.
const HTML_ENDS: [(&str, &str); 4] =
    [("pre", "</pre>"), ("script", "</script>"), ("style", "</style>"), ("textarea", "</textarea>")];

/// Returns the end marker of HTML at the beginning of `text`, if the HTML extends across empty lines.
pub(super) fn html_end(text: &str) -> Option<&'static str> {
    let inside = text.strip_prefix('<')?;
    if let Some((TagKind::Opening, name)) = syntax::name_at(text, 0) {
        return HTML_ENDS.iter().find(|(own, _)| name.eq_ignore_ascii_case(own)).map(|(_, end)| *end);
    }
    match inside.strip_prefix('!') {
        Some(inside) if inside.starts_with("--") => Some("-->"),
        Some(inside) if inside.starts_with("[CDATA[") => Some("]]>"),
        Some(inside) => inside.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(">"),
        None => inside.starts_with('?').then_some("?>"),
    }
}

/// Elements that begin a block.
#[rustfmt::skip] // One name per line would make the list too long.
const BLOCKS: [&str; 60] = [
    "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col",
    "colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure",
    "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr",
    "html", "iframe", "legend", "li", "link", "main", "menu", "menuitem", "nav", "noframes", "ol",
    "optgroup", "option", "p", "param", "section", "summary", "table", "tbody", "td", "tfoot", "th",
    "thead", "title", "tr", "ul",
];

pub(super) fn is_named_block(text: &str) -> bool {
    syntax::name_at(text, 0).is_some_and(|(kind, name)| {
        let rest = &text[name.len() + if kind == TagKind::Opening { 1 } else { 2 }..];
        let ends =
            rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r', '>']) || rest.starts_with("/>");
        ends && BLOCKS.iter().any(|block| name.eq_ignore_ascii_case(block))
    })
}

pub(super) fn is_html_block(text: &str) -> bool {
    is_named_block(text)
        || html::tag_at(text).is_some_and(|(_, length)| text[length..].trim_matches(SPACE).is_empty())
}

pub(super) fn is_closing(text: &str) -> bool {
    TemplateTag::read(text)
        .is_some_and(|tag| tag.name.starts_with("end") && text[tag.end..].trim_matches(SPACE).is_empty())
}

/// Parses an ATX heading into its level and text.
pub(crate) fn heading(text: &str) -> Option<(u8, &str)> {
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
    Some((u8::try_from(level).ok()?, rest))
}

/// Returns `true` if Markdown may contain heading attributes. Other text in braces is literal.
pub(crate) fn may_have_attributes(source: &str) -> bool {
    ["{#", "{.", "{ #", "{ ."].iter().any(|sign| source.contains(sign))
}

/// Parses the underline of a setext heading into its level.
pub(crate) fn underline(text: &str) -> Option<u8> {
    let mark = text.trim_matches(SPACE);
    match mark.bytes().next()? {
        b'=' => mark.bytes().all(|b| b == b'=').then_some(1),
        b'-' => mark.bytes().all(|b| b == b'-').then_some(2),
        _ => None,
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// Returns `true` for `***`, `- - -` or `___`.
pub(crate) fn is_divider(text: &str) -> bool {
    let Some(mark) = text.bytes().find(|b| !is_space(*b)).filter(|b| matches!(b, b'*' | b'-' | b'_')) else {
        return false;
    };
    // Checking the last byte first rejects lines of nested items early.
    let is_end = text.bytes().rev().find(|b| !is_space(*b)) == Some(mark);
    let mut marks = text.bytes().filter(|b| !is_space(*b));
    is_end && marks.by_ref().take(3).filter(|b| *b == mark).count() == 3 && marks.all(|b| b == mark)
}

/// The marker of a list item.
pub(super) struct ItemMarker {
    pub(super) mark: char,
    pub(super) number: Option<u64>,
    /// The byte offset of the end of the marker.
    pub(super) start: usize,
    /// The number of columns of space between the marker and the text.
    pub(super) space: usize,
    /// The column at which the lines of the item start.
    pub(super) width: usize,
    pub(super) is_empty: bool,
}

pub(super) fn item(text: &str) -> Option<ItemMarker> {
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
    let start = indent + digits + 1;
    let columns = lines::column(&text[..start]);
    let is_empty = behind.trim_matches(SPACE).is_empty();
    let bytes = behind.len() - behind.trim_start_matches([' ', '\t']).len();
    let space = lines::column(&text[..start + bytes]) - columns;
    let space = if is_empty || space > 4 { 1 } else { space };
    Some(ItemMarker { mark, number, start, space, width: columns + space, is_empty })
}

/// The state of a container, updated line by line. Determines whether a lazy line after the container may continue its
/// last line.
#[derive(Default)]
pub(super) struct OpenText {
    /// The nested containers of the last line.
    within: Vec<Container>,
    is_text: bool,
    fence: Option<(char, usize)>,
    /// An open block other than a paragraph.
    going_on: Option<GoingOn>,
    /// The number of cells in the last line, if that may be a table header.
    head: Option<usize>,
}

/// Maximum number of nested containers that are tracked.
const MAX_WITHIN: usize = 2 * MAX_BLOCK_DEPTH;

/// A block that contains other blocks.
#[derive(Clone, Copy)]
enum Container {
    Quote,
    /// A list item, with the column at which its lines start.
    Item(usize),
}

/// An open block other than a paragraph.
#[derive(Clone, Copy)]
enum GoingOn {
    /// A table, up to the next empty line or another block.
    Table,
    /// HTML, up to the next empty line.
    Html,
    /// HTML, up to an end marker.
    To(&'static str),
}

impl OpenText {
    pub(super) fn line(&mut self, text: &str) {
        let mut rest = Line::of(text);
        let known = self.within.iter().take_while(|container| step(&mut rest, **container)).count();
        if known < self.within.len() {
            if self.is_text && !rest.is_blank() && !begins(&rest) && !interrupts(&rest) {
                // A lazy continuation line.
                return self.lazy_line();
            }
            let within = std::mem::take(&mut self.within);
            *self = Self { within: within[..known].to_vec(), ..Self::default() };
        }
        if let Some((mark, length)) = self.fence {
            if lines::closes_fence(&rest.text, mark, length) {
                self.fence = None;
            }
            return;
        }
        match self.going_on {
            Some(GoingOn::To(end)) => {
                self.going_on = self.going_on.filter(|_| !rest.text.to_ascii_lowercase().contains(end));
                return;
            }
            Some(GoingOn::Html) if !rest.is_blank() => return,
            Some(GoingOn::Table) if !rest.is_blank() && !begins(&rest) && !interrupts(&rest) => return,
            Some(GoingOn::Html | GoingOn::Table) | None => self.going_on = None,
        }
        let continues = |item: ItemMarker| item.is_empty || item.number.is_some_and(|number| number != 1);
        let goes_on = self.is_text && item(&rest.text).is_some_and(continues);
        while !goes_on && begins(&rest) {
            if self.within.len() >= MAX_WITHIN {
                // Far deeper than the maximum nesting of parsed blocks.
                (self.is_text, self.head) = (false, None);
                return;
            }
            self.begin(&mut rest);
        }
        work_budget::take_containers(text, self.within.len());
        self.leaf(&rest);
    }

    /// Processes a lazy continuation line, which cannot be a table header.
    pub(super) const fn lazy_line(&mut self) {
        self.head = None;
    }

    /// Enters the container that begins on a line.
    fn begin(&mut self, rest: &mut Line<'_>) {
        (self.is_text, self.head) = (false, None);
        match item(&rest.text) {
            Some(item) => {
                *rest = rest.slice_from(item.start).dedent(item.space);
                self.within.push(Container::Item(item.width));
            }
            None => {
                step(rest, Container::Quote);
                self.within.push(Container::Quote);
            }
        }
    }

    /// Processes a line within its innermost container.
    fn leaf(&mut self, rest: &Line<'_>) {
        let was_text = std::mem::take(&mut self.is_text);
        let head = self.head.take();
        if rest.is_blank() || rest.indent() >= CODE_INDENT {
            // Code, unless it continues text.
            self.is_text = was_text && !rest.is_blank();
            return;
        }
        let rest = rest.text.trim_start_matches(SPACE);
        self.fence = lines::fence(rest).map(|(mark, length, _)| (mark, length));
        let is_underline = was_text && underline(rest).is_some();
        let is_plain = !rest.is_empty() && heading(rest).is_none() && !is_divider(rest) && !is_underline;
        if !is_plain || self.fence.is_some() || rest.starts_with("{%") {
            return;
        }
        let columns = || super::pipes::alignments(rest).map(|columns| columns.len());
        let is_html = || is_named_block(rest) || (!was_text && is_html_block(rest));
        if let Some(end) = html_end(rest) {
            let is_over = rest.to_ascii_lowercase().contains(end);
            self.going_on = (!is_over).then_some(GoingOn::To(end));
        } else if rest.starts_with('<') && is_html() {
            self.going_on = Some(GoingOn::Html);
        } else if head.is_some() && columns() == head {
            self.going_on = Some(GoingOn::Table);
        } else {
            self.is_text = true;
            self.head = rest.contains('|').then(|| super::pipes::count(rest));
        }
    }

    pub(super) fn can_continue(&self, text: &str) -> bool {
        self.is_text && self.fence.is_none() && !text.trim_matches(SPACE).is_empty()
    }
}

/// Strips the marker of a container from a line. Returns `true` if the line is in the container.
fn step(rest: &mut Line<'_>, container: Container) -> bool {
    match container {
        Container::Item(width) => {
            let is_within = rest.is_blank() || rest.indent() >= width;
            if is_within {
                *rest = rest.dedent(width);
            }
            is_within
        }
        Container::Quote => {
            let trimmed = rest.text.trim_start_matches(SPACE);
            if rest.indent() >= CODE_INDENT || !trimmed.starts_with('>') {
                return false;
            }
            let inside = rest.slice_from(rest.text.len() - trimmed.len() + 1);
            *rest = if inside.text.starts_with([' ', '\t']) { inside.dedent(1) } else { inside };
            true
        }
    }
}

/// Returns `true` if a line is a leaf block that can interrupt a paragraph.
fn interrupts(rest: &Line<'_>) -> bool {
    let text = rest.text.trim_start_matches(SPACE);
    rest.indent() < CODE_INDENT
        && (heading(text).is_some()
            || is_divider(text)
            || lines::fence(text).is_some()
            || html_end(text).is_some()
            || is_named_block(text))
}

/// Returns `true` if a line begins a quotation or a list item.
fn begins(rest: &Line<'_>) -> bool {
    let is_quote = || rest.text.trim_start_matches(SPACE).starts_with('>');
    rest.indent() < CODE_INDENT && (is_quote() || (item(&rest.text).is_some() && !is_divider(&rest.text)))
}
