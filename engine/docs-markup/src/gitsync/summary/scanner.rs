//! Scanner for the lines of a table of contents: headings, list items, and the blocks inside items.

use std::borrow::Cow;

use super::super::{BookFormat, RepoPath, report::Warnings};
use crate::document::{self, heading, is_divider, underline};

/// A heading or a list item with unparsed inline Markdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RawItem<'t> {
    /// The first line, counted from 1.
    pub(super) line: usize,
    pub(super) kind: RawKind,
    /// The inline Markdown.
    pub(super) text: Cow<'t, str>,
    /// The first fenced block inside the item.
    pub(super) block: Option<Box<Block>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RawKind {
    /// A heading of a level from 1 to 6.
    Heading(u8),
    /// A list item with the column of its bullet, counted from 0.
    Bullet(usize),
    /// A rule between items: `***`.
    Rule,
    /// A link without a bullet, which is a chapter outside of the list of mdBook.
    Chapter,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Block {
    /// The word after the fence.
    pub(super) language: String,
    /// The lines, without the indentation of the fence.
    pub(super) body: String,
}

/// Scans a table of contents. Unrecognized lines are left out with a warning.
///
/// Stops after `enough` items.
pub(super) fn read<'t>(
    text: &'t str,
    (file, format): (&RepoPath, BookFormat),
    enough: usize,
    warnings: &mut Warnings,
) -> Vec<RawItem<'t>> {
    let (items, state) = (Vec::new(), ScanState::Free);
    let mut reader = SummaryReader { file, format, warnings, items, state, paragraph: None };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (index, line) in text.lines().enumerate() {
        if reader.items.len() >= enough {
            break;
        }
        reader.line(index + 1, line);
    }
    reader.finish()
}

/// Width of a tab stop, in columns.
const TAB: usize = 4;

struct SummaryReader<'a, 't> {
    file: &'a RepoPath,
    format: BookFormat,
    warnings: &'a mut Warnings,
    items: Vec<RawItem<'t>>,
    state: ScanState,
    /// A line of text that becomes a heading if it is underlined.
    paragraph: Option<(usize, &'t str)>,
}

enum ScanState {
    /// Between blocks: text does not belong to the previous item.
    Free,
    /// Directly after an item: text continues the item.
    Item,
    /// In the front matter, which is ignored.
    FrontMatter,
    Comment,
    Fence(Fence),
}

struct Fence {
    line: usize,
    mark: char,
    length: usize,
    indent: usize,
    language: String,
    body: String,
    /// `true` if the block is inside an item.
    is_inside: bool,
}

impl<'t> SummaryReader<'_, 't> {
    fn line(&mut self, number: usize, line: &'t str) {
        match std::mem::replace(&mut self.state, ScanState::Free) {
            ScanState::FrontMatter => {
                if !matches!(line.trim_end(), "---" | "...") {
                    self.state = ScanState::FrontMatter;
                }
            }
            ScanState::Comment => self.comment(line),
            ScanState::Fence(fence) => self.fence_line(fence, line),
            state @ (ScanState::Free | ScanState::Item) => {
                self.state = state;
                self.open_line(number, line);
            }
        }
    }

    fn open_line(&mut self, number: usize, line: &'t str) {
        let (indent, rest) = split_indent(line);
        let rest = rest.trim_end();
        if number == 1 && rest == "---" {
            self.state = ScanState::FrontMatter;
        } else if rest.is_empty() {
            self.free();
        } else if rest.starts_with("<!--") {
            self.free();
            self.comment(rest);
        } else if let Some(fence) = Fence::open(number, indent, rest) {
            self.begin_fence(fence);
        } else if let Some((level, text)) = heading(rest) {
            self.free();
            self.push(number, RawKind::Heading(level), text);
        } else if let Some(level) = underline(rest).filter(|_| self.paragraph.is_some()) {
            if let Some((line, text)) = self.paragraph.take() {
                self.push(line, RawKind::Heading(level), text);
            }
        } else if is_divider(rest) {
            self.free();
            self.push(number, RawKind::Rule, "");
        } else if let Some((width, text)) = bullet(rest) {
            self.free();
            self.bullet(number, indent, width, text);
        } else if indent == 0 && self.format == BookFormat::MdBook && is_link(rest) {
            self.free();
            self.push(number, RawKind::Chapter, rest);
        } else {
            self.text(number, rest);
        }
    }

    fn bullet(&mut self, number: usize, indent: usize, width: usize, text: &'t str) {
        match Fence::open(number, indent + width, text) {
            Some(fence) => {
                self.push(number, RawKind::Bullet(indent), "");
                self.begin_fence(fence);
            }
            None => {
                self.push(number, RawKind::Bullet(indent), text);
                self.state = ScanState::Item;
            }
        }
    }

    fn text(&mut self, number: usize, text: &'t str) {
        match (&self.state, self.items.last_mut()) {
            (ScanState::Item, Some(item)) => {
                let own = item.text.to_mut();
                own.push(' ');
                own.push_str(text);
            }
            _ => {
                self.drop_paragraph();
                self.paragraph = Some((number, text));
            }
        }
    }

    fn comment(&mut self, line: &str) {
        self.state = if line.contains("-->") { ScanState::Free } else { ScanState::Comment };
    }

    fn begin_fence(&mut self, mut fence: Fence) {
        self.drop_paragraph();
        let inside = self.items.last().is_some_and(|item| match item.kind {
            RawKind::Bullet(indent) => fence.indent > indent,
            RawKind::Heading(_) | RawKind::Rule | RawKind::Chapter => false,
        });
        fence.is_inside = inside;
        self.state = ScanState::Fence(fence);
    }

    fn fence_line(&mut self, mut fence: Fence, line: &str) {
        if fence.is_closed_by(line) {
            self.close(fence);
        } else {
            fence.body.push_str(without_indent(line, fence.indent));
            fence.body.push('\n');
            self.state = ScanState::Fence(fence);
        }
    }

    fn close(&mut self, fence: Fence) {
        self.state = ScanState::Free;
        let Fence { line, language, body, is_inside, .. } = fence;
        match self.items.last_mut() {
            Some(item) if is_inside && item.block.is_none() => {
                item.block = Some(Box::new(Block { language, body }));
            }
            _ => self.warnings.push(self.file, Some(line), "skipped block that belongs to no list item"),
        }
    }

    fn push(&mut self, line: usize, kind: RawKind, text: &'t str) {
        self.items.push(RawItem { line, kind, text: Cow::Borrowed(text), block: None });
    }

    fn free(&mut self) {
        self.drop_paragraph();
        self.state = ScanState::Free;
    }

    fn drop_paragraph(&mut self) {
        if let Some((line, _)) = self.paragraph.take() {
            self.warnings.push(self.file, Some(line), "skipped line that is not a heading or a list item");
        }
    }

    fn finish(mut self) -> Vec<RawItem<'t>> {
        match std::mem::replace(&mut self.state, ScanState::Free) {
            ScanState::Fence(fence) => {
                self.warnings.push(self.file, Some(fence.line), "the block is not closed");
                self.close(fence);
            }
            ScanState::Comment => self.warnings.push(self.file, None, "the comment is not closed"),
            ScanState::Free | ScanState::Item | ScanState::FrontMatter => {}
        }
        self.drop_paragraph();
        self.items
    }
}

impl Fence {
    fn open(line: usize, indent: usize, text: &str) -> Option<Self> {
        let (mark, length, info) = document::fence(text)?;
        let language = info.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        Some(Self { line, mark, length, indent, language, body: String::new(), is_inside: false })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// Returns `true` for a line that begins with a link.
pub(in crate::gitsync) fn is_link(text: &str) -> bool {
    text.starts_with('[') && text.contains("](") && text.ends_with(')')
}

/// Returns the start column of the text in a line, and the text.
pub(in crate::gitsync) fn split_indent(line: &str) -> (usize, &str) {
    let mut column = 0;
    for (at, c) in line.char_indices() {
        match c {
            ' ' => column += 1,
            '\t' => column += TAB - column % TAB,
            _ => return (column, &line[at..]),
        }
    }
    (column, "")
}

/// Removes up to `columns` columns of leading whitespace from a line.
fn without_indent(line: &str, columns: usize) -> &str {
    let mut column = 0;
    for (at, c) in line.char_indices() {
        match c {
            _ if column >= columns => return &line[at..],
            ' ' => column += 1,
            '\t' => column += TAB - column % TAB,
            _ => return &line[at..],
        }
    }
    ""
}

/// Returns the width of a bullet including the following space, and the text of the item.
pub(in crate::gitsync) fn bullet(text: &str) -> Option<(usize, &str)> {
    let rest = text.strip_prefix(['*', '-', '+']).or_else(|| {
        let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let count = text.len() - digits.len();
        digits.strip_prefix(['.', ')']).filter(|_| (1..=9).contains(&count))
    })?;
    let content = rest.trim_start_matches([' ', '\t']);
    (content.is_empty() || content.len() < rest.len()).then(|| (text.len() - content.len(), content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Vec<RawItem<'_>>, Vec<String>) {
        let mut warnings = Warnings::default();
        let items = read(
            text,
            (&RepoPath::new("SUMMARY.md").unwrap(), BookFormat::Native),
            usize::MAX,
            &mut warnings,
        );
        (items, warnings.finish().iter().map(ToString::to_string).collect())
    }

    fn outline(text: &str) -> Vec<(RawKind, String)> {
        let (items, warnings) = parse(text);
        assert_eq!(warnings, Vec::<String>::new(), "{text}");
        items.into_iter().map(|item| (item.kind, item.text.into_owned())).collect()
    }

    #[test]
    fn headings_and_bullets_are_found() {
        use RawKind::{Bullet, Heading, Rule};
        assert_eq!(
            outline(
                "\u{feff}# Table\r\n\r\n* a\r\n  - b\n\t+ c\n\n## Group ##\n1. d\n 12) e\n***\n<!-- no -->\n# C#\n"
            ),
            [
                (Heading(1), "Table".to_owned()),
                (Bullet(0), "a".to_owned()),
                (Bullet(2), "b".to_owned()),
                (Bullet(4), "c".to_owned()),
                (Heading(2), "Group".to_owned()),
                (Bullet(0), "d".to_owned()),
                (Bullet(1), "e".to_owned()),
                (Rule, String::new()),
                (Heading(1), "C#".to_owned()),
            ]
        );
    }

    #[test]
    fn setext_headings_and_wrapped_lines_are_scanned() {
        use RawKind::{Bullet, Heading};
        assert_eq!(
            outline(
                "---\ntitle: x\n---\nSummary\n===\n\nPart\n---\n* [a\n  b](c.md)\n<!--\n* hidden\n-->\n* d\n"
            ),
            [
                (Heading(1), "Summary".to_owned()),
                (Heading(2), "Part".to_owned()),
                (Bullet(0), "[a b](c.md)".to_owned()),
                (Bullet(0), "d".to_owned()),
            ]
        );
    }

    #[test]
    fn code_blocks_are_attached_to_their_list_item() {
        let (items, warnings) =
            parse("* ```yaml\n  a: 1\n  b:\n    c: 2\n  ```\n* [x](y)\n\n  ~~~ YAML\n  d\n  ~~~\n");
        assert_eq!(warnings, Vec::<String>::new());
        let blocks: Vec<_> = items.into_iter().filter_map(|item| item.block).collect();
        assert_eq!(*blocks[0], Block { language: "yaml".to_owned(), body: "a: 1\nb:\n  c: 2\n".to_owned() });
        assert_eq!(*blocks[1], Block { language: "yaml".to_owned(), body: "d\n".to_owned() });
    }

    #[test]
    fn unrecognized_lines_are_reported_with_their_number() {
        let (items, warnings) = parse("Some text\nmore\n\n* a\n\nbehind\n\n```\nx\n```\n* b\n  ```\nopen\n");
        assert_eq!(items.len(), 2);
        assert_eq!(
            warnings,
            [
                "SUMMARY.md:1: skipped line that is not a heading or a list item",
                "SUMMARY.md:2: skipped line that is not a heading or a list item",
                "SUMMARY.md:6: skipped line that is not a heading or a list item",
                "SUMMARY.md:8: skipped block that belongs to no list item",
                "SUMMARY.md:12: the block is not closed",
            ]
        );
    }
}
