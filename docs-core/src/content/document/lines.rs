//! Lines, and how far they are indented.

use std::{borrow::Cow, collections::HashMap};

use super::tags::Tag;

/// What counts as white space at the edges of lines.
pub(super) const SPACE: [char; 3] = [' ', '\t', '\n'];

/// A line without its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line<'a> {
    /// Its text, without what belongs to the blocks around it.
    pub(super) text: Cow<'a, str>,
    /// Which line of the whole text it is.
    pub(super) at: usize,
}

impl<'a> Line<'a> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim_matches(SPACE).is_empty()
    }

    /// How many columns of space it begins with.
    pub(super) fn indent(&self) -> usize {
        indent(&self.text)
    }

    /// The line without its first columns of space, as many as there are.
    pub(super) fn without(&self, columns: usize) -> Line<'a> {
        Line { text: strip(&self.text, columns), at: self.at }
    }

    /// The line from a byte on.
    pub(super) fn from(&self, byte: usize) -> Line<'a> {
        let text = match &self.text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[byte..]),
            Cow::Owned(text) => Cow::Owned(text[byte..].to_owned()),
        };
        Line { text, at: self.at }
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

fn strip<'a>(text: &Cow<'a, str>, columns: usize) -> Cow<'a, str> {
    let mut column = 0;
    for (at, b) in text.bytes().enumerate() {
        if column >= columns || !matches!(b, b' ' | b'\t') {
            return cut(text, at);
        }
        let width = if b == b'\t' { TAB - column % TAB } else { 1 };
        if column + width > columns {
            let rest = " ".repeat(column + width - columns);
            return Cow::Owned(rest + &text[at + 1..]);
        }
        column += width;
    }
    cut(text, text.len())
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
    let (mut lines, mut starts) = (Vec::new(), Vec::new());
    let mut start = 0;
    loop {
        let rest = &text[start..];
        let length = rest.find(['\n', '\r']).unwrap_or(rest.len());
        lines.push(Line { text: Cow::Borrowed(&rest[..length]), at: lines.len() });
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

/// Which lines belong together: from the line of an opening tag to that of its closing one. Code and comments are
/// passed over.
pub(super) fn matches(lines: &[Line<'_>]) -> HashMap<usize, usize> {
    let mut finder = Finder::default();
    let mut skip: Option<(char, usize)> = None;
    let mut in_comment = false;
    for line in lines {
        let text = content(&line.text);
        if let Some((mark, length)) = skip {
            if closes_fence(text.trim_start_matches(SPACE), mark, length) {
                skip = None;
            }
            continue;
        }
        if in_comment {
            in_comment = !text.contains("-->");
            continue;
        }
        if let Some((mark, length, _)) = fence(text) {
            skip = Some((mark, length));
            continue;
        }
        in_comment = text.starts_with("<!--") && !text.contains("-->");
        finder.line(line.at, text);
    }
    finder.found
}

/// The text of a line behind the marks of quotes and lists.
fn content(text: &str) -> &str {
    let mut rest = text.trim_start_matches(SPACE);
    loop {
        let next = rest
            .strip_prefix(['>', '*', '-', '+'])
            .filter(|next| rest.starts_with('>') || next.starts_with(' '));
        let next = next.or_else(|| {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let behind = &rest[digits..];
            (1..=9)
                .contains(&digits)
                .then(|| behind.strip_prefix(['.', ')']))
                .flatten()
                .filter(|next| next.starts_with(' '))
        });
        match next {
            Some(next) => rest = next.trim_start_matches(SPACE),
            None => return rest,
        }
    }
}

#[derive(Default)]
struct Finder {
    found: HashMap<usize, usize>,
    open: Vec<(usize, String)>,
    /// Where the tags of a name stand among those that are open; those that are no longer open are passed over.
    places: HashMap<String, Vec<(usize, usize)>>,
}

impl Finder {
    fn line(&mut self, at: usize, text: &str) {
        if let Some(text) = text.strip_prefix("{%") {
            let name = text.trim_start_matches([' ', '\t', '-']);
            let end = name.find(|c: char| c.is_whitespace() || c == '%').unwrap_or(name.len());
            match &name[..end] {
                "" => {}
                name => match name.strip_prefix("end") {
                    Some(name) if !name.is_empty() => self.close(at, name),
                    _ => self.open(at, name),
                },
            }
            return;
        }
        let lower = text.get(..9).map(str::to_ascii_lowercase).unwrap_or_default();
        if lower.starts_with("<details") && !text.contains("</details>") {
            self.open(at, "<details");
        } else if lower == "</details" || text.trim_end_matches(SPACE).ends_with("</details>") {
            self.close(at, "<details");
        }
    }

    fn open(&mut self, at: usize, name: &str) {
        self.places.entry(name.to_owned()).or_default().push((self.open.len(), at));
        self.open.push((at, name.to_owned()));
    }

    fn close(&mut self, at: usize, name: &str) {
        let Some(places) = self.places.get_mut(name) else { return };
        while let Some((place, line)) = places.pop() {
            if self.open.get(place).is_some_and(|(own, own_name)| *own == line && own_name == name) {
                self.open.truncate(place);
                self.found.insert(line, at);
                return;
            }
        }
    }
}

/// The tag at the beginning of lines, and how many lines it takes. A tag ends before an empty line.
pub(super) fn tag_lines(lines: &[Line<'_>]) -> Option<(String, usize)> {
    let first = lines.first()?;
    if !first.text.trim_start_matches(SPACE).starts_with("{%") {
        return None;
    }
    let mut text = String::new();
    for (index, line) in lines.iter().take(MAX_TAG_LINES).take_while(|line| !line.is_blank()).enumerate() {
        if index > 0 {
            text.push('\n');
        }
        text.push_str(&line.text);
        if line.text.contains("%}")
            && let Some(tag) = Tag::read(&text)
        {
            return text[tag.end..].trim_matches(SPACE).is_empty().then_some((text, index + 1));
        }
    }
    None
}

/// Most lines of a tag.
const MAX_TAG_LINES: usize = 32;
