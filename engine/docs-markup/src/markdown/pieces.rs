//! Markdown one piece at a time.
//!
//! The parser of Markdown keeps a tree of all that it is given, many times as large as the text. So it is given pieces
//! that are read alone as they are read within the text: up to a line that stands in no block before it. What a piece
//! refers to and other pieces define is told to it; a fence or HTML that goes on behind a piece is passed over here.

mod cut;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    fmt::Write as _,
    ops::Range,
};

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag};

pub(super) use self::cut::PIECE;
use self::cut::{Cuts, fence_end, html_end};

const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS);

/// What the pieces of a text refer to, wherever it is defined.
#[derive(Default)]
pub(super) struct Known {
    /// The definitions of links by their names in lower case, numbered in the order they stand in. Of several with a
    /// name the first counts.
    links: HashMap<Box<str>, u32>,
    /// The labels of notes in lower case.
    notes: HashSet<Box<str>>,
    /// Most of each.
    most: usize,
}

impl Known {
    /// Finds what a text defines.
    pub(super) fn of(text: &str, most: usize, piece: usize) -> Self {
        let mut known = Self { most, ..Self::default() };
        // Without this nothing is defined.
        if text.contains("]:") {
            let mut found = Self { most, ..Self::default() };
            each((text, piece), &known, &mut |part| found.add(part));
            known = found;
        }
        known
    }

    fn add(&mut self, part: Part<'_>) {
        match part {
            Part::Definition { name, .. } if self.links.len() < self.most => {
                let number = u32::try_from(self.links.len()).unwrap_or(u32::MAX);
                self.links.entry(name.to_lowercase().into()).or_insert(number);
            }
            Part::Event(Event::Start(Tag::FootnoteDefinition(label)), _) if self.notes.len() < self.most => {
                self.notes.insert(label.to_lowercase().into());
            }
            _ => {}
        }
    }

    /// The number of the definition of a name.
    pub(super) fn link(&self, name: &str) -> Option<u32> {
        self.links.get(name.to_lowercase().as_str()).copied()
    }

    /// How many definitions there are.
    pub(super) fn len(&self) -> usize {
        self.links.len()
    }
}

/// A part of a text.
pub(super) enum Part<'e> {
    /// An event of the parser, and where in the text it is.
    Event(Event<'e>, Range<usize>),
    /// A definition of a link.
    Definition { name: &'e str, span: Range<usize>, destination: &'e str },
}

/// The block that a piece ends with, as far as it matters what follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    List,
    /// A table of so many columns.
    Table(usize),
    Other,
}

/// Tells the parts of a text, given the least length of a piece. Blocks that have far more signs than text has are left
/// out.
pub(super) fn each((text, piece): (&str, usize), known: &Known, found: &mut dyn FnMut(Part<'_>)) {
    let mut cuts = Cuts::new(text, piece);
    let mut at = 0;
    let mut columns = None;
    while at < text.len() {
        let own = Piece { text, known, at, columns };
        let (end, last) = own.end(&mut cuts);
        let piece = text.get(at..end).unwrap_or_default();
        if cuts.is_dense(piece) {
            // It may have begun code that goes on behind it.
            at = if cut::may_stay_open(piece) { text.len() } else { end };
            columns = None;
            continue;
        }
        at = own.read(end, found);
        columns = match last {
            Last::Table(columns) if at == end => Some(columns),
            _ => None,
        };
    }
}

/// What is given to the parser at once.
struct Piece<'t> {
    text: &'t str,
    known: &'t Known,
    at: usize,
    /// The columns of the table whose rows it begins with.
    columns: Option<usize>,
}

impl Piece<'_> {
    /// Where it ends, and what the last block is, where it ends within it.
    fn end(&self, cuts: &mut Cuts<'_>) -> (usize, Last) {
        let apart = cuts.apart(self.at);
        let Some(within) = cuts.within(self.at).filter(|within| *within < apart) else {
            return (apart, Last::Other);
        };
        let is_dense = cuts.is_dense(self.text.get(self.at..within).unwrap_or_default());
        match if is_dense { Last::Other } else { self.last(within) } {
            Last::List if cut::is_item(&self.text[within..]) => (within, Last::List),
            Last::Table(columns) if self.text[within..].starts_with('|') => (within, Last::Table(columns)),
            _ => (apart, Last::Other),
        }
    }

    /// The piece up to a place, behind what makes the parser read it as it is read within the text: the notes that it
    /// refers to, and the head of the table that it goes on with.
    fn markdown(&self, end: usize) -> Cow<'_, str> {
        let own = self.text.get(self.at..end).unwrap_or_default();
        let mut before = String::new();
        let mut seen = HashSet::new();
        let labels = own.split("[^").skip(1).filter_map(|rest| rest.split(']').next());
        for label in labels.filter(|_| !self.known.notes.is_empty()) {
            let lower = label.to_lowercase();
            if self.known.notes.contains(lower.as_str()) && seen.insert(lower) {
                // Writing to a text does not fail.
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

    /// The last block, if the piece ends at a place.
    fn last(&self, end: usize) -> Last {
        let markdown = self.markdown(end);
        let (mut depth, mut last) = (0_usize, Last::Other);
        for event in Parser::new_ext(&markdown, OPTIONS) {
            match event {
                Event::Start(tag) => {
                    if depth == 0 {
                        last = match tag {
                            Tag::List(_) => Last::List,
                            Tag::Table(columns) => Last::Table(columns.len()),
                            _ => Last::Other,
                        };
                    }
                    depth += 1;
                }
                Event::End(_) => depth -= 1,
                _ if depth == 0 => last = Last::Other,
                _ => {}
            }
        }
        last
    }

    /// Tells the parts up to a place; answers where what follows begins.
    fn read(&self, end: usize, found: &mut dyn FnMut(Part<'_>)) -> usize {
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
                found(Part::Definition { name, span, destination: &definition.dest });
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
                        going_on = self.goes_on(tag, range, end);
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
                    found(Part::Event(Event::Html(CowStr::from("")), html..behind));
                }
                _ => {}
            }
            found(Part::Event(event, range));
        }
        going_on.unwrap_or(end)
    }

    /// Where a block that the piece ends with ends in the text, if that is behind the piece.
    fn goes_on(&self, tag: &Tag<'_>, range: Range<usize>, end: usize) -> Option<usize> {
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
