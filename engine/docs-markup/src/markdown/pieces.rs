//! Piecewise parsing of Markdown.
//!
//! The Markdown parser builds a tree that is many times as large as its input. The text is therefore parsed in pieces
//! that parse the same alone as within the text: each piece ends before a line that belongs to no earlier block.
//! Definitions from other pieces are supplied to the parser. A fence or HTML that continues beyond a piece is skipped
//! here.

mod cut;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fmt::Write as _,
    ops::Range,
};

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag};

pub(super) use self::cut::PIECE_BYTES;
use self::cut::{CutFinder, fence_end, html_end};

const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS);

/// The definitions that pieces may reference.
#[derive(Default)]
pub(super) struct TextDefinitions {
    /// Link definitions by lower-case name, numbered in text order. The first definition of a name takes precedence.
    links: HashMap<Box<str>, u32>,
    /// Lower-case labels of footnotes.
    notes: HashSet<Box<str>>,
    /// The maximum number of link definitions, and of footnote labels.
    most: usize,
}

impl TextDefinitions {
    pub(super) fn collect(text: &str, most: usize, piece: usize) -> Self {
        let mut known = Self { most, ..Self::default() };
        // Every definition contains this sequence.
        if text.contains("]:") {
            let mut found = Self { most, ..Self::default() };
            each(text, piece, &known, &mut |part| found.add(part));
            known = found;
        }
        known
    }

    fn add(&mut self, part: TextPart<'_>) {
        match part {
            TextPart::Definition { name, .. } if self.links.len() < self.most => {
                let number = u32::try_from(self.links.len()).unwrap_or(u32::MAX);
                self.links.entry(name.to_lowercase().into()).or_insert(number);
            }
            TextPart::Event(Event::Start(Tag::FootnoteDefinition(label)), _)
                if self.notes.len() < self.most =>
            {
                self.notes.insert(label.to_lowercase().into());
            }
            _ => {}
        }
    }

    /// Returns the number of the definition of a name.
    pub(super) fn link(&self, name: &str) -> Option<u32> {
        self.links.get(name.to_lowercase().as_str()).copied()
    }

    /// Returns the number of link definitions.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }
}

/// A part of the parsed text.
pub(super) enum TextPart<'e> {
    /// An event of the parser, with its range in the text.
    Event(Event<'e>, Range<usize>),
    /// A link definition.
    Definition { name: &'e str, span: Range<usize>, destination: &'e str },
}

/// The last block of a piece, if it is relevant to the next piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LastBlock {
    List,
    /// A table with this number of columns.
    Table(usize),
    Other,
}

/// Calls `found` with the parts of `text`. `piece` is the minimum length of a piece. Blocks with an excessive number of
/// delimiters are skipped, and so are pieces without links, definitions, tags, code and HTML.
pub(super) fn each(text: &str, piece: usize, known: &TextDefinitions, found: &mut dyn FnMut(TextPart<'_>)) {
    let mut cuts = CutFinder::new(text, piece);
    let mut at = 0;
    let mut columns = None;
    let mut sign = cut::next_sign(text, at);
    while sign < text.len() {
        let own = TextPiece { text, known, at, columns };
        let (end, last) = own.end(&mut cuts);
        let piece = text.get(at..end).unwrap_or_default();
        let is_dense = sign < end && cuts.is_dense(piece);
        at = match sign < end {
            false => end,
            // The skipped piece may end within code that continues after it.
            true if is_dense => {
                if cut::may_stay_open(piece) {
                    text.len()
                } else {
                    end
                }
            }
            true => own.read(end, found),
        };
        columns = match last {
            LastBlock::Table(columns) if at == end && !is_dense => Some(columns),
            _ => None,
        };
        if sign < at {
            sign = cut::next_sign(text, at);
        }
    }
}

/// A range of text that is parsed in one call.
struct TextPiece<'t> {
    text: &'t str,
    known: &'t TextDefinitions,
    at: usize,
    /// The number of columns of the table that continues at the beginning of the piece.
    columns: Option<usize>,
}

impl TextPiece<'_> {
    /// Returns the end of the piece, and its last block if the piece ends within it.
    fn end(&self, cuts: &mut CutFinder<'_>) -> (usize, LastBlock) {
        let apart = cuts.next_boundary(self.at);
        let Some(within) = cuts.next_continuation(self.at).filter(|within| *within < apart) else {
            return (apart, LastBlock::Other);
        };
        let is_dense = cuts.is_dense(self.text.get(self.at..within).unwrap_or_default());
        match if is_dense { LastBlock::Other } else { self.last(within) } {
            LastBlock::List if cut::is_item(&self.text[within..]) => (within, LastBlock::List),
            LastBlock::Table(columns) if self.text[within..].starts_with('|') => {
                (within, LastBlock::Table(columns))
            }
            _ => (apart, LastBlock::Other),
        }
    }

    /// Returns the parser input: the piece up to a position, after a prefix that makes it parse as it does within the
    /// text. The prefix contains the referenced footnotes and the header of a continued table.
    fn markdown(&self, end: usize) -> Cow<'_, str> {
        let own = self.text.get(self.at..end).unwrap_or_default();
        let mut before = String::new();
        let mut seen = HashSet::new();
        let labels = own.split("[^").skip(1).filter_map(|rest| rest.split(']').next());
        for label in labels.filter(|_| !self.known.notes.is_empty()) {
            let lower = label.to_lowercase();
            if self.known.notes.contains(lower.as_str()) && seen.insert(lower) {
                // Writing to a string does not fail.
                let _ = write!(before, "[^{label}]: a\n\n");
            }
        }
        if !before.is_empty() {
            before.push_str("***\n");
        }
        if let Some(columns) = self.columns {
            let _ = writeln!(before, "|{}\n|{}", "a|".repeat(columns), "-|".repeat(columns));
        }
        if before.is_empty() { Cow::Borrowed(own) } else { Cow::Owned(before + own) }
    }

    /// Returns the last block if the piece ends at a position.
    fn last(&self, end: usize) -> LastBlock {
        let markdown = self.markdown(end);
        let (mut depth, mut last) = (0_usize, LastBlock::Other);
        for event in Parser::new_ext(&markdown, OPTIONS) {
            match event {
                Event::Start(tag) => {
                    if depth == 0 {
                        last = match tag {
                            Tag::List(_) => LastBlock::List,
                            Tag::Table(columns) => LastBlock::Table(columns.len()),
                            _ => LastBlock::Other,
                        };
                    }
                    depth += 1;
                }
                Event::End(_) => depth -= 1,
                _ if depth == 0 => last = LastBlock::Other,
                _ => {}
            }
        }
        last
    }

    /// Reports the parts up to a position. Returns the start of the next piece.
    fn read(&self, end: usize, found: &mut dyn FnMut(TextPart<'_>)) -> usize {
        let markdown = self.markdown(end);
        let before = markdown.len() - (end - self.at);
        let place = |range: Range<usize>| {
            (range.start >= before).then(|| range.start - before + self.at..range.end - before + self.at)
        };
        let mut resolve = |link: BrokenLink<'_>| {
            self.known.link(&link.reference).map(|_| (CowStr::from(""), CowStr::from("")))
        };
        let parser = Parser::new_with_broken_link_callback(&markdown, OPTIONS, Some(&mut resolve));
        for (name, definition) in parser.reference_definitions().iter() {
            if let Some(span) = place(definition.span.clone()) {
                found(TextPart::Definition { name, span, destination: &definition.dest });
            }
        }
        let mut depth = 0_usize;
        let mut going_on = None;
        let mut html = end;
        for (event, range) in parser.into_offset_iter() {
            let range = place(range);
            match &event {
                Event::Start(tag) => {
                    if let Some(range) = range.clone().filter(|_| depth == 0) {
                        going_on = self.continuation_end(tag, range, end);
                    }
                    depth += 1;
                }
                Event::End(_) => depth -= 1,
                Event::Html(_) => html = range.as_ref().map_or(html, |range| range.end),
                _ => {}
            }
            let Some(mut range) = range else { continue };
            match (&event, going_on) {
                (Event::Start(Tag::CodeBlock(_)), Some(behind)) => range.end = behind,
                (Event::End(pulldown_cmark::TagEnd::HtmlBlock), Some(behind)) => {
                    found(TextPart::Event(Event::Html(CowStr::from("")), html..behind));
                }
                _ => {}
            }
            found(TextPart::Event(event, range));
        }
        going_on.unwrap_or(end)
    }

    /// Returns the end of the last block of the piece, if it is after the end of the piece.
    fn continuation_end(&self, tag: &Tag<'_>, range: Range<usize>, end: usize) -> Option<usize> {
        let is_last = self.text.get(range.end..end).is_none_or(|rest| rest.trim().is_empty());
        if !is_last || end == self.text.len() {
            return None;
        }
        let behind = match tag {
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => fence_end(self.text, range.start),
            Tag::HtmlBlock => html_end(self.text, range.start),
            _ => return None,
        };
        (behind > end).then_some(behind)
    }
}
