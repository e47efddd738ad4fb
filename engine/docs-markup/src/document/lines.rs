//! Lines and their indentation.

use std::borrow::Cow;

use super::{tags::TemplateTag, work_budget};
use crate::syntax::tag;

/// Whitespace at the edges of lines.
pub(super) const SPACE: [char; 3] = [' ', '\t', '\n'];

/// A line without its line ending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line<'a> {
    /// The text, without the markers of enclosing blocks.
    pub(super) text: Cow<'a, str>,
    /// The index of the line in the whole text.
    pub(super) at: usize,
    /// `true` for a lazy continuation line, which continues the text of a container, such as a quotation, without its
    /// marker.
    pub(super) is_lazy: bool,
}

impl<'a> Line<'a> {
    /// Creates a line outside of any container.
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), at: 0, is_lazy: false }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
    }

    /// Returns the number of columns of leading whitespace.
    pub(super) fn indent(&self) -> usize {
        indent(&self.text)
    }

    /// Removes up to `columns` columns of leading whitespace.
    pub(super) fn dedent(&self, columns: usize) -> Line<'a> {
        Line { text: strip(&self.text, columns), ..*self }
    }

    /// Returns the line starting at a byte offset. Later tabs keep their width.
    pub(super) fn slice_from(&self, byte: usize) -> Line<'a> {
        let column = column(&self.text[..byte]);
        Line { text: shift_text(&self.text, byte, column, column), ..*self }
    }

    /// Returns the line as a lazy continuation line.
    pub(super) fn lazy(&self) -> Line<'a> {
        Line { is_lazy: true, ..self.clone() }
    }
}

const TAB: usize = 4;

fn indent(text: &str) -> usize {
    let mut columns = 0;
    for b in text.bytes() {
        match b {
            b' ' => columns += 1,
            b'\t' => columns += TAB - columns % TAB,
            _ => break,
        }
    }
    columns
}

/// Returns the column after `text`.
pub(super) fn column(text: &str) -> usize {
    text.chars().fold(0, |column, c| column + if c == '\t' { TAB - column % TAB } else { 1 })
}

fn strip<'a>(text: &Cow<'a, str>, columns: usize) -> Cow<'a, str> {
    let mut column = 0;
    for (at, b) in text.bytes().enumerate() {
        if column >= columns || !matches!(b, b' ' | b'\t') {
            return shift_text(text, at, column, column.min(columns));
        }
        column += if b == b'\t' { TAB - column % TAB } else { 1 };
    }
    shift_text(text, text.len(), column, column.min(columns))
}

/// Returns the suffix of `text` that starts at byte `at` in column `column`, with its leading whitespace moved to the
/// earlier column `start`. Tabs whose width would change are replaced by spaces.
fn shift_text<'a>(text: &Cow<'a, str>, at: usize, column: usize, start: usize) -> Cow<'a, str> {
    let rest = &text[at..];
    let space = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
    if column == start && (start.is_multiple_of(TAB) || !space.contains('\t')) {
        return cut(text, at);
    }
    let end = space.chars().fold(column, |column, c| column + if c == '\t' { TAB - column % TAB } else { 1 });
    Cow::Owned(" ".repeat(end - start) + &rest[space.len()..])
}

fn cut<'a>(text: &Cow<'a, str>, at: usize) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[at..]),
        Cow::Owned(text) => Cow::Owned(text[at..].to_owned()),
    }
}

/// Splits `text` into lines, which end with `\n`, `\r\n` or `\r`.
pub(super) fn split(text: &str) -> Vec<Line<'_>> {
    split_at(text).0
}

/// Splits `text` into lines, and returns them with their byte offsets.
pub(super) fn split_at(text: &str) -> (Vec<Line<'_>>, Vec<usize>) {
    work_budget::step(text.len());
    let count = 1 + text.bytes().filter(|b| matches!(b, b'\n' | b'\r')).count();
    let (mut lines, mut starts) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut start = 0;
    loop {
        let rest = &text[start..];
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        lines.push(Line { at: lines.len(), ..Line::of(&rest[..length]) });
        starts.push(start);
        let end = match rest.as_bytes().get(length..length + 2) {
            Some(b"\r\n") => 2,
            _ if length < rest.len() => 1,
            _ => return (lines, starts),
        };
        start += length + end;
    }
}

/// Joins lines into one text.
pub(super) fn join(lines: &[Line<'_>]) -> String {
    let mut out = String::with_capacity(lines.iter().map(|line| line.text.len() + 1).sum());
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&line.text);
    }
    out
}

/// Parses the opening of a fence: the character, its count, and the info string.
pub(crate) fn fence(text: &str) -> Option<(char, usize, &str)> {
    let trimmed = text.trim_start_matches(SPACE);
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = trimmed.len() - trimmed.trim_start_matches(mark).len();
    let info = &trimmed[length..];
    (length >= 3 && (mark == '~' || !info.contains('`'))).then_some((mark, length, info.trim_matches(SPACE)))
}

/// Returns `true` if a line closes a fence.
pub(super) fn closes_fence(text: &str, mark: char, length: usize) -> bool {
    let trimmed = text.trim_matches(SPACE);
    trimmed.len() >= length && trimmed.chars().all(|c| c == mark) && indent(text) < TAB
}

/// Returns `true` if a line contains a substring whose last byte is rare. That byte is searched first, because a
/// substring search in a short line compares the substring at each byte.
pub(super) fn has(text: &str, piece: &str) -> bool {
    piece.as_bytes().last().is_some_and(|last| text.as_bytes().contains(last)) && text.contains(piece)
}

/// Parses the tag at the beginning of the lines, and returns it with its number of lines. A tag ends before an empty
/// line. `end` is the first line that contains the end of a tag.
pub(super) fn tag_lines(lines: &[Line<'_>], end: usize) -> Option<(String, usize)> {
    let is_alone = |behind: &str| behind.trim_matches(SPACE).is_empty();
    let first = lines.first()?;
    if end == 0 {
        if let Some(found) = TemplateTag::read(&first.text) {
            return is_alone(&first.text[found.end..]).then(|| (first.text.to_string(), 1));
        }
        // If the tag ends on the first line but is invalid, further lines cannot make it valid.
        let start = first.text.len() - first.text.trim_start_matches(SPACE).len();
        if tag::is_whole(&first.text[start..]) {
            return None;
        }
    }
    if lines.get(..=end)?.iter().any(Line::is_blank) {
        return None;
    }
    if end > 0 {
        let text = join_lines(lines, end + 1);
        if let Some(found) = TemplateTag::read(&text) {
            return is_alone(&text[found.end..]).then_some((text, end + 1));
        }
    }
    // The tag end that was found is within quotation marks.
    let mut text = join_lines(lines, tag::MAX_LINES);
    work_budget::step(text.len());
    let found = TemplateTag::read(&text)?;
    let behind = text[found.end..].split('\n').next().unwrap_or_default();
    let (length, is_alone) = (found.end + behind.len(), is_alone(behind));
    let count = 1 + text[..found.end].matches('\n').count();
    text.truncate(length);
    is_alone.then_some((text, count))
}

/// Joins at most `most` lines, up to a blank line, and up to the maximum length of a tag.
fn join_lines(lines: &[Line<'_>], most: usize) -> String {
    let mut text = String::new();
    let length = lines.first().map_or(0, Line::indent) + tag::MAX_TAG + 4;
    for (index, line) in lines.iter().take(most).take_while(|line| !line.is_blank()).enumerate() {
        if text.len() >= length {
            break;
        }
        if index > 0 {
            text.push('\n');
        }
        text.push_str(&line.text);
    }
    text
}

/// Removes leading byte order marks from `text`.
pub(super) fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}
