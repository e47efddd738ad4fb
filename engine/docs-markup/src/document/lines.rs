//! Lines, and how far they are indented.

use std::borrow::Cow;

use super::{tags::Tag, work};
use crate::syntax::tag;

/// What counts as white space at the edges of lines.
pub(super) const SPACE: [char; 3] = [' ', '\t', '\n'];

/// A line without its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line<'a> {
    /// Its text, without what belongs to the blocks around it.
    pub(super) text: Cow<'a, str>,
    /// Which line of the whole text it is.
    pub(super) at: usize,
    /// Whether it only continues text of a container that it has no mark of, as a quotation.
    pub(super) is_lazy: bool,
}

impl<'a> Line<'a> {
    /// A line on its own.
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text: Cow::Borrowed(text), at: 0, is_lazy: false }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
    }

    /// How many columns of space it begins with.
    pub(super) fn indent(&self) -> usize {
        indent(&self.text)
    }

    /// The line without its first columns of space, as many as there are.
    pub(super) fn without(&self, columns: usize) -> Line<'a> {
        Line { text: strip(&self.text, columns), ..*self }
    }

    /// The line from a byte on. Tabs behind it reach as far as before.
    pub(super) fn from(&self, byte: usize) -> Line<'a> {
        let column = column(&self.text[..byte]);
        Line { text: moved(&self.text, byte, (column, column)), ..*self }
    }

    /// The same line where it has no mark of the container it continues.
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

/// The column behind a text.
pub(super) fn column(text: &str) -> usize {
    text.chars().fold(0, |column, c| column + if c == '\t' { TAB - column % TAB } else { 1 })
}

fn strip<'a>(text: &Cow<'a, str>, columns: usize) -> Cow<'a, str> {
    let mut column = 0;
    for (at, b) in text.bytes().enumerate() {
        if column >= columns || !matches!(b, b' ' | b'\t') {
            return moved(text, at, (column, column.min(columns)));
        }
        column += if b == b'\t' { TAB - column % TAB } else { 1 };
    }
    moved(text, text.len(), (column, column.min(columns)))
}

/// A text from a byte on, which stood at a column, with space from an earlier column on. Tabs that would reach to other
/// columns from there are written as spaces.
fn moved<'a>(text: &Cow<'a, str>, at: usize, (column, start): (usize, usize)) -> Cow<'a, str> {
    let rest = &text[at..];
    let space = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
    if column == start && (start % TAB == 0 || !space.contains('\t')) {
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

/// The lines of a text. They end with `\n`, `\r\n` or `\r`.
pub(super) fn split(text: &str) -> Vec<Line<'_>> {
    split_at(text).0
}

/// The lines of a text, and where each begins.
pub(super) fn split_at(text: &str) -> (Vec<Line<'_>>, Vec<usize>) {
    work::step(text.len());
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

/// Lines as one text.
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

/// What opens a fence: the character, how many, and the text behind them.
pub(super) fn fence(text: &str) -> Option<(char, usize, &str)> {
    let trimmed = text.trim_start_matches(SPACE);
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = trimmed.len() - trimmed.trim_start_matches(mark).len();
    let info = &trimmed[length..];
    (length >= 3 && (mark == '~' || !info.contains('`'))).then_some((mark, length, info.trim_matches(SPACE)))
}

/// Tells whether a line closes a fence.
pub(super) fn closes_fence(text: &str, mark: char, length: usize) -> bool {
    let trimmed = text.trim_matches(SPACE);
    trimmed.len() >= length && trimmed.chars().all(|c| c == mark) && indent(text) < TAB
}

/// Tells whether a line has a piece that ends with a sign which most lines have not. That sign is looked for at first:
/// in a short line any piece is compared at each of its bytes.
pub(super) fn has(text: &str, piece: &str) -> bool {
    piece.as_bytes().last().is_some_and(|last| text.as_bytes().contains(last)) && text.contains(piece)
}

/// The tag at the beginning of lines, and how many lines it takes. A tag ends before an empty line; which line is the
/// first that has an end of one is known.
pub(super) fn tag_lines(lines: &[Line<'_>], end: usize) -> Option<(String, usize)> {
    let is_alone = |behind: &str| behind.trim_matches(SPACE).is_empty();
    let first = lines.first()?;
    if end == 0 {
        if let Some(found) = Tag::read(&first.text) {
            return is_alone(&first.text[found.end..]).then(|| (first.text.to_string(), 1));
        }
        // What is no tag up to its end is none with the lines behind it.
        let start = first.text.len() - first.text.trim_start_matches(SPACE).len();
        if tag::is_whole(&first.text[start..]) {
            return None;
        }
    }
    if lines.get(..=end)?.iter().any(Line::is_blank) {
        return None;
    }
    if end > 0 {
        let text = joined(lines, end + 1);
        if let Some(found) = Tag::read(&text) {
            return is_alone(&text[found.end..]).then_some((text, end + 1));
        }
    }
    // The end that was found is within quotes.
    let mut text = joined(lines, tag::MAX_LINES);
    work::step(text.len());
    let found = Tag::read(&text)?;
    let behind = text[found.end..].split('\n').next().unwrap_or_default();
    let (length, is_alone) = (found.end + behind.len(), is_alone(behind));
    let count = 1 + text[..found.end].matches('\n').count();
    text.truncate(length);
    is_alone.then_some((text, count))
}

/// Lines as one text: at most so many, up to a blank one, and no more than a tag has.
fn joined(lines: &[Line<'_>], most: usize) -> String {
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
