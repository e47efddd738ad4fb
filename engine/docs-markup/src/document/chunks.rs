//! Splits Markdown into blocks, one level at a time. The content of a block is extracted and parsed separately.

use std::{cell::Cell, collections::HashMap, ops::Range, rc::Rc};

use super::{
    html::{self, DETAILS},
    lines::{self, Line, SPACE},
    marks::{
        CODE_INDENT, ItemMarker, OpenText, heading, html_end, is_closing, is_divider, is_html_block,
        is_named_block, item, underline,
    },
    memory_budget, tag_pairs, work_budget,
};
use crate::syntax::{
    html::{self as syntax, TagKind},
    tag,
};

/// An unparsed block.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    pub(super) lines: Range<usize>,
    pub(super) kind: ChunkKind<'a>,
}

#[derive(Debug)]
pub(super) enum ChunkKind<'a> {
    Paragraph,
    /// The level, the text, and `true` for a setext heading.
    Heading(u8, String, bool),
    Divider,
    /// The fence character, its count and the info string, followed by the code.
    Fence((char, usize, String), Vec<Line<'a>>),
    Indented(Vec<Line<'a>>),
    Quote(Vec<Line<'a>>),
    List(ListChunk<'a>),
    Html,
    Table,
    /// Label and body.
    Note(String, Vec<Line<'a>>),
    /// Label, destination and title.
    Definition(String, String, String),
    /// The text of the opening tag, and the lines between it and its closing tag, if there is one.
    Tag(String, Option<Range<usize>>),
    /// The lines between the `details` tags.
    Details(Range<usize>),
    Math(String),
    /// The rest of the text after the maximum number of blocks.
    Rest,
}

#[derive(Debug)]
pub(super) struct ListChunk<'a> {
    /// The bullet, or the delimiter after the number.
    pub(super) mark: char,
    /// The number of each item. Empty for bullets.
    pub(super) numbers: Vec<u64>,
    /// The lines of each item.
    pub(super) items: Vec<Vec<Line<'a>>>,
}

/// Maximum length of a link definition, in bytes.
const MAX_DEFINITION: usize = 4 * 1024;
/// Maximum number of lines in a link definition.
const MAX_DEFINITION_LINES: usize = 8;

/// Splits lines into chunks.
pub(super) fn read<'a>(lines: &[Line<'a>]) -> Vec<Chunk<'a>> {
    scan_chunks(lines).collect()
}

/// Splits lines into chunks lazily.
pub(super) fn scan_chunks<'s, 'a>(lines: &'s [Line<'a>]) -> Scanner<'s, 'a> {
    let is_read = work_budget::take(lines.iter().map(|line| &*line.text));
    let most = if is_read { memory_budget::most_chunks(lines) } else { 0 };
    Scanner {
        lines,
        matches: Rc::new(if is_read { tag_pairs::matches(lines) } else { HashMap::new() }),
        at: 0,
        most,
        left: most,
        last_table: lines.iter().rposition(|line| lines::has(&line.text, "</table>")),
        after_definition: 0,
        endless: Cell::new((0, 0)),
    }
}

/// An iterator over chunks.
pub(super) struct Scanner<'s, 'a> {
    lines: &'s [Line<'a>],
    /// Pairs of opening and closing tags, by line.
    matches: Rc<HashMap<usize, usize>>,
    at: usize,
    /// The maximum and the remaining number of chunks.
    most: usize,
    left: usize,
    /// The last line that closes a table.
    last_table: Option<usize>,
    /// The line after a definition. In Markdown, a definition is parsed as the beginning of a paragraph.
    after_definition: usize,
    /// A half-open range of lines that do not contain the end of a tag. Caching it avoids rescanning the lines for each
    /// line that may begin a tag.
    endless: Cell<(usize, usize)>,
}

impl<'a> Iterator for Scanner<'_, 'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let start = self.at + self.lines.get(self.at..)?.iter().position(|line| !line.is_blank())?;
        self.at = start;
        if self.left == 0 {
            let end = self.lines.iter().rposition(|line| !line.is_blank()).map_or(start, |last| last + 1);
            self.at = self.lines.len();
            return Some(Chunk { lines: start..end, kind: ChunkKind::Rest });
        }
        self.left -= 1;
        let kind = self.chunk();
        self.at = self.at.max(start + 1);
        Some(Chunk { lines: start..self.at, kind })
    }
}

impl<'s, 'a> Scanner<'s, 'a> {
    /// Returns the lines being split.
    pub(super) const fn lines(&self) -> &'s [Line<'a>] {
        self.lines
    }

    /// Restarts at the first line, and reuses the computed tag pairs.
    pub(super) fn restart(&self) -> Self {
        let left = if work_budget::take(self.lines.iter().map(|line| &*line.text)) { self.most } else { 0 };
        let (matches, endless) = (Rc::clone(&self.matches), Cell::new((0, 0)));
        Self { matches, at: 0, left, after_definition: 0, endless, ..*self }
    }

    fn chunk(&mut self) -> ChunkKind<'a> {
        let line = &self.lines[self.at];
        let text = &*line.text;
        if self.at > 0 && self.after_definition == self.at && !self.starts_block(self.at) {
            let kind = self.note().or_else(|| self.definition());
            return kind.unwrap_or_else(|| self.paragraph());
        }
        if line.indent() >= CODE_INDENT {
            return self.indented();
        }
        if let Some(kind) = self.tag().or_else(|| self.fence()).or_else(|| self.math()) {
            return kind;
        }
        if let Some((level, text)) = heading(text) {
            self.at += 1;
            return ChunkKind::Heading(level, text.to_owned(), false);
        }
        if is_divider(text) {
            self.at += 1;
            return ChunkKind::Divider;
        }
        if text.trim_start_matches(SPACE).starts_with('>') {
            return self.quote();
        }
        if item(text).is_some() {
            return self.list();
        }
        if let Some(kind) =
            self.html().or_else(|| self.note()).or_else(|| self.definition()).or_else(|| self.table())
        {
            return kind;
        }
        self.paragraph()
    }

    fn indented(&mut self) -> ChunkKind<'a> {
        let start = self.at;
        let mut end = start;
        while let Some(line) =
            self.lines.get(self.at).filter(|line| line.is_blank() || line.indent() >= CODE_INDENT)
        {
            self.at += 1;
            if !line.is_blank() {
                end = self.at;
            }
        }
        self.at = end;
        ChunkKind::Indented(self.lines[start..end].iter().map(|line| line.dedent(CODE_INDENT)).collect())
    }

    fn tag(&mut self) -> Option<ChunkKind<'a>> {
        let (text, count) = self.tag_at(self.at)?;
        let first = self.at;
        self.at += count;
        let Some(close) = self.matches.get(&self.lines[first].at) else {
            return Some(ChunkKind::Tag(text, None));
        };
        let rest = &self.lines[self.at..];
        let offset = rest.partition_point(|line| line.at < *close);
        let is_closed = rest.get(offset).is_some_and(|line| line.at == *close && is_closing(&line.text));
        if !is_closed {
            return Some(ChunkKind::Tag(text, None));
        }
        let inside = self.at..self.at + offset;
        self.at += offset + 1;
        Some(ChunkKind::Tag(text, Some(inside)))
    }

    fn fence(&mut self) -> Option<ChunkKind<'a>> {
        let line = &self.lines[self.at];
        let (mark, length, info) = lines::fence(&line.text)?;
        let opening = (mark, length, info.to_owned());
        let indent = line.indent();
        let rest = &self.lines[self.at + 1..];
        let end = rest.iter().position(|line| lines::closes_fence(&line.text, mark, length));
        let code: Vec<Line<'a>> =
            rest[..end.unwrap_or(rest.len())].iter().map(|line| line.dedent(indent)).collect();
        self.at += 1 + code.len() + usize::from(end.is_some());
        Some(ChunkKind::Fence(opening, code))
    }

    /// Parses `$$` on separate lines, or around a formula on a single line.
    fn math(&mut self) -> Option<ChunkKind<'a>> {
        let text = self.lines[self.at].text.trim_matches(SPACE);
        let rest = text.strip_prefix("$$")?;
        if let Some(formula) = rest
            .strip_suffix("$$")
            .filter(|formula| !formula.trim_matches(SPACE).is_empty() && !formula.contains("$$"))
        {
            let next = self.at + 1;
            if self.lines.get(next).is_none_or(Line::is_blank) || self.ends_paragraph(next) {
                self.at += 1;
                return Some(ChunkKind::Math(formula.to_owned()));
            }
            return None;
        }
        if !rest.is_empty() {
            return None;
        }
        let body = &self.lines[self.at + 1..];
        let length = body
            .iter()
            .take_while(|line| !line.is_blank())
            .position(|line| line.text.trim_matches(SPACE) == "$$")?;
        let formula = lines::join(&body[..length]);
        if formula.trim_matches(SPACE).is_empty() || formula.contains("$$") {
            return None;
        }
        self.at += length + 2;
        Some(ChunkKind::Math(formula))
    }

    fn quote(&mut self) -> ChunkKind<'a> {
        let mut inside: Vec<Line<'a>> = Vec::new();
        let mut open = OpenText::default();
        while let Some(line) = self.lines.get(self.at) {
            let trimmed = line.text.trim_start_matches(SPACE);
            if line.indent() < CODE_INDENT && !line.is_lazy && trimmed.starts_with('>') {
                let start = line.text.len() - trimmed.len() + 1;
                let rest = line.slice_from(start);
                let rest = if rest.text.starts_with([' ', '\t']) { rest.dedent(1) } else { rest };
                open.line(&rest.text);
                inside.push(rest);
            } else if open.can_continue(&line.text) && !self.ends_lazy(self.at) {
                open.lazy_line();
                inside.push(line.lazy());
            } else {
                break;
            }
            self.at += 1;
        }
        ChunkKind::Quote(inside)
    }

    fn list(&mut self) -> ChunkKind<'a> {
        let mut list = ListChunk { mark: ' ', numbers: Vec::new(), items: Vec::new() };
        let mut end = self.at;
        while let Some(line) = self.lines.get(self.at) {
            if line.is_blank() {
                self.at += 1;
                continue;
            }
            let Some(item) =
                item(&line.text).filter(|_| line.indent() < CODE_INDENT && !is_divider(&line.text))
            else {
                break;
            };
            if !list.items.is_empty()
                && (item.mark != list.mark || item.number.is_some() == list.numbers.is_empty())
            {
                break;
            }
            list.mark = item.mark;
            list.numbers.extend(item.number);
            let lines = self.item(&item);
            list.items.push(lines);
            end = self.at;
        }
        self.at = end;
        ChunkKind::List(list)
    }

    /// Consumes the lines of the item that begins at the current line.
    fn item(&mut self, item: &ItemMarker) -> Vec<Line<'a>> {
        let first = self.lines[self.at].slice_from(item.start).dedent(item.space);
        let mut open = OpenText::default();
        open.line(&first.text);
        let starts_blank = first.is_blank();
        let mut inside = vec![first];
        self.at += 1;
        let mut end = self.at;
        while let Some(line) = self.lines.get(self.at) {
            if line.is_blank() {
                if starts_blank && inside.len() == 1 {
                    break;
                }
                inside.push(line.dedent(item.width));
                open.line("");
            } else if line.indent() >= item.width && !line.is_lazy {
                let line = line.dedent(item.width);
                open.line(&line.text);
                inside.push(line);
                end = self.at + 1;
            } else if open.can_continue(&line.text) && !self.ends_lazy(self.at) {
                open.lazy_line();
                inside.push(line.lazy());
                end = self.at + 1;
            } else {
                break;
            }
            self.at += 1;
        }
        let blanks = self.at - end;
        inside.truncate(inside.len().saturating_sub(blanks));
        self.at = end;
        inside
    }

    fn html(&mut self) -> Option<ChunkKind<'a>> {
        let line = &self.lines[self.at];
        let text = line.text.trim_start_matches(SPACE);
        if !text.starts_with('<') {
            return None;
        }
        let lower = text.get(..10).unwrap_or(text).to_ascii_lowercase();
        if html::begins(text, TagKind::Opening, DETAILS)
            && let Some(close) = self.matches.get(&line.at)
        {
            let rest = &self.lines[self.at..];
            let offset = rest.partition_point(|line| line.at < *close);
            let is_close = |line: &Line<'_>| {
                line.at == *close && html::is_closing_alone(line.text.trim_matches(SPACE), DETAILS)
            };
            if offset > 0 && rest.get(offset).is_some_and(is_close) {
                let inside = self.at..self.at + offset;
                self.at += offset + 1;
                return Some(ChunkKind::Details(inside));
            }
        }
        let end = html_end(text);
        let is_table = lower.starts_with("<table") && self.last_table.is_some_and(|last| last >= self.at);
        let end = if is_table { Some("</table>") } else { end };
        if let Some(end) = end {
            while let Some(line) = self.lines.get(self.at) {
                self.at += 1;
                if line.text.to_ascii_lowercase().contains(end) {
                    break;
                }
            }
            return Some(ChunkKind::Html);
        }
        if !is_html_block(text) {
            return None;
        }
        let mut is_preformatted = false;
        while let Some(line) = self.lines.get(self.at).filter(|_| !self.is_tag(self.at)) {
            if line.is_blank() {
                let end = if is_preformatted { self.preformatted_end() } else { None };
                let Some(end) = end else { break };
                self.at = end;
                continue;
            }
            let last = syntax::tags_of(&line.text, "pre").last();
            is_preformatted = last.map_or(is_preformatted, |(_, kind)| kind == TagKind::Opening);
            self.at += 1;
        }
        Some(ChunkKind::Html)
    }

    /// Returns the line that closes an open `pre` element, unless another one begins before it.
    fn preformatted_end(&self) -> Option<usize> {
        let mut rest = self.lines.iter().enumerate().skip(self.at);
        let (at, kind) = rest.find_map(|(at, line)| {
            work_budget::step(line.text.len());
            syntax::tags_of(&line.text, "pre").next().map(|(_, kind)| (at, kind))
        })?;
        (kind == TagKind::Closing).then_some(at)
    }

    fn is_tag(&self, at: usize) -> bool {
        self.tag_at(at).is_some()
    }

    /// Returns the tag that begins on a line, and its number of lines.
    fn tag_at(&self, at: usize) -> Option<(String, usize)> {
        self.lines.get(at).filter(|line| line.text.trim_start_matches(SPACE).starts_with("{%"))?;
        let (from, to) = self.endless.get();
        let (from, start) = if (from..=to).contains(&at) { (from, to) } else { (at, at) };
        let most = self.lines.len().min(at + tag::MAX_LINES);
        let end = (start..most).find(|line| {
            let text = &self.lines[*line].text;
            work_budget::step(text.len());
            lines::has(text, "%}")
        });
        self.endless.set((from, end.unwrap_or(most.max(start))));
        // A cached end may be beyond the limit.
        let end = end?;
        lines::tag_lines(&self.lines[at..], end - at)
    }

    fn note(&mut self) -> Option<ChunkKind<'a>> {
        let line = &self.lines[self.at];
        let start = line.text.len() - line.text.trim_start_matches(SPACE).len();
        let rest = line.text[start..].strip_prefix("[^")?;
        let label = rest
            .split(']')
            .next()
            .filter(|label| !label.is_empty() && !label.contains(char::is_whitespace))?;
        rest[label.len()..].strip_prefix("]:")?;
        let label = label.to_owned();
        let first = line.slice_from(start + 2 + label.len() + 2);
        let mut inside = vec![first.dedent(1)];
        self.at += 1;
        let mut end = self.at;
        while let Some(line) = self.lines.get(self.at) {
            let goes_on = line.indent() >= CODE_INDENT
                || (!line.is_blank()
                    && end == self.at
                    && !self.starts_block(self.at)
                    && !starts_definition(&line.text));
            if !line.is_blank() && !goes_on {
                break;
            }
            inside.push(line.dedent(CODE_INDENT));
            self.at += 1;
            if !line.is_blank() {
                end = self.at;
            }
        }
        inside.truncate(inside.len() - (self.at - end));
        self.at = end;
        Some(ChunkKind::Note(label, inside))
    }

    /// Parses `[label]: destination "title"`, on one line or several.
    fn definition(&mut self) -> Option<ChunkKind<'a>> {
        if !self.lines[self.at].text.trim_start_matches(SPACE).starts_with('[') {
            return None;
        }
        let rest = self.lines[self.at..].iter().take(MAX_DEFINITION_LINES);
        let own: Vec<&str> = rest.take_while(|line| !line.is_blank()).map(|line| &*line.text).collect();
        // The definition may be indented like a code block if it follows another definition.
        let text = own.join("\n");
        let text = text.trim_start_matches(SPACE);
        if !text.contains("]:") {
            return None;
        }
        let text = &text[..text.floor_char_boundary(MAX_DEFINITION)];
        let parser = pulldown_cmark::Parser::new(text);
        let mut all = parser.reference_definitions().iter();
        let (label, definition) = all.find(|(_, it)| text[..it.span.start].trim_matches(SPACE).is_empty())?;
        let kind = ChunkKind::Definition(
            label.to_owned(),
            definition.dest.to_string(),
            definition.title.as_deref().unwrap_or_default().to_owned(),
        );
        self.at += text[..definition.span.end].trim_end_matches(SPACE).split('\n').count();
        self.after_definition = self.at;
        Some(kind)
    }

    fn table(&mut self) -> Option<ChunkKind<'a>> {
        if !self.starts_table(self.at) {
            return None;
        }
        self.at += 2;
        while self.lines.get(self.at).is_some_and(is_row) && !self.ends_lazy(self.at) {
            self.at += 1;
        }
        Some(ChunkKind::Table)
    }

    /// Returns `true` if a line and the next one are the header and the delimiter row of a table.
    fn starts_table(&self, at: usize) -> bool {
        let (head, Some(rule)) = (&self.lines[at], self.lines.get(at + 1)) else { return false };
        let may_be = head.text.contains('|') && is_row(head) && rule.text.contains('-');
        may_be
            && rule.indent() < CODE_INDENT
            && !rule.is_lazy
            && super::pipes::alignments(&rule.text)
                .is_some_and(|columns| columns.len() == super::pipes::count(&head.text))
    }

    fn paragraph(&mut self) -> ChunkKind<'a> {
        let start = self.at;
        self.at += 1;
        while let Some(line) = self.lines.get(self.at).filter(|line| !line.is_blank()) {
            let trimmed = line.text.trim_matches(SPACE);
            let may_underline = line.indent() < CODE_INDENT && !line.is_lazy;
            if let Some(level) = underline(trimmed).filter(|_| may_underline) {
                let text = lines::join(&self.lines[start..self.at]);
                self.at += 1;
                return ChunkKind::Heading(level, text, true);
            }
            if self.ends_paragraph(self.at) {
                break;
            }
            self.at += 1;
        }
        ChunkKind::Paragraph
    }

    /// Returns `true` if a line cannot be a lazy continuation of text in a container.
    fn ends_lazy(&self, at: usize) -> bool {
        let line = &self.lines[at];
        self.starts_block(at) || (line.indent() < CODE_INDENT && !line.is_lazy && item(&line.text).is_some())
    }

    /// Returns `true` if a line ends the paragraph before it.
    fn ends_paragraph(&self, at: usize) -> bool {
        let line = &self.lines[at];
        let has_pipes = || {
            line.text.trim_matches(SPACE).starts_with('|')
                || self.lines.get(at + 1).is_some_and(|rule| rule.text.contains('|'))
        };
        let is_table = || line.text.contains('|') && has_pipes() && self.starts_table(at);
        line.indent() < CODE_INDENT && is_table() || self.starts_block(at)
    }

    /// Like [`Self::ends_paragraph`], but ignores tables, which cannot interrupt lazily continued text.
    fn starts_block(&self, at: usize) -> bool {
        let line = &self.lines[at];
        let text = &*line.text;
        if line.indent() >= CODE_INDENT || line.is_lazy {
            return false;
        }
        let trimmed = text.trim_start_matches(SPACE);
        let is_item =
            || item(text).is_some_and(|item| !item.is_empty && item.number.is_none_or(|number| number == 1));
        trimmed.starts_with('>')
            || heading(text).is_some()
            || is_divider(text)
            || lines::fence(text).is_some()
            || is_item()
            || (trimmed.starts_with('<') && (is_named_block(trimmed) || html_end(trimmed).is_some()))
            || (trimmed.starts_with("{%") && self.is_tag(at))
            || (trimmed == "$$" && self.is_formula(at))
    }

    fn is_formula(&self, at: usize) -> bool {
        self.lines[at + 1..]
            .iter()
            .take_while(|line| !line.is_blank())
            .take(64)
            .any(|line| line.text.trim_matches(SPACE) == "$$")
    }
}

/// Returns `true` if a line begins a footnote or link definition, which ends the definition before it.
fn starts_definition(text: &str) -> bool {
    let Some(rest) = text.trim_start_matches(SPACE).strip_prefix('[') else { return false };
    let is_label = |label: &str| !label.trim_matches(SPACE).is_empty() && !label.contains(['[', ']']);
    rest.starts_with('^')
        || rest
            .split_once("]:")
            .is_some_and(|(label, target)| is_label(label) && !target.trim_matches(SPACE).is_empty())
}

/// Returns `true` if a line can be a table row.
fn is_row(line: &Line<'_>) -> bool {
    !line.is_blank() && line.text.trim_matches(SPACE) != "|"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_scan_reuses_tag_pairs() {
        let text = "{% hint %}\na\n{% endhint %}\n{% a b='c' ***\n".repeat(9);
        let lines = lines::split(&text);
        let (mut first, again) = (scan_chunks(&lines), scan_chunks(&lines).restart());
        assert_eq!(first.matches.len(), 9);
        assert!(Rc::ptr_eq(&first.matches, &first.restart().matches));
        assert!(first.by_ref().map(|chunk| chunk.lines).eq(again.map(|chunk| chunk.lines)));
    }

    /// Returns `true` if `text` begins with a link definition.
    fn is_definition(text: &str) -> bool {
        let lines = lines::split(text);
        matches!(read(&lines).first(), Some(Chunk { kind: ChunkKind::Definition(..), .. }))
    }

    #[test]
    fn definitions_beyond_their_bounds_are_text() {
        let of_bytes =
            |bytes: usize| is_definition(&format!("[a]: <{}>", "x".repeat(bytes - "[a]: <>".len())));
        assert_eq!([MAX_DEFINITION, MAX_DEFINITION + 1].map(of_bytes), [true, false]);
        // The label spans all lines.
        let of_lines = |count: usize| is_definition(&format!("[a{}]: /x", "\nb".repeat(count - 1)));
        assert_eq!([MAX_DEFINITION_LINES, MAX_DEFINITION_LINES + 1].map(of_lines), [true, false]);
    }
}
