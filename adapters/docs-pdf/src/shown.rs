//! The layout tree. It is plain data, so user content is never interpreted as code.

use crate::formula::Formula;

/// A lowered page of the book.
#[derive(Debug)]
pub(crate) struct ShownPage {
    pub(crate) label: String,
    pub(crate) level: usize,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    /// `true` if the page begins on a new sheet.
    pub(crate) fresh: bool,
    pub(crate) body: Vec<Shown>,
}

/// A part of a page: plain text, a list of parts, or a tag.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    Text(String),
    Parts(Vec<Shown>),
    Tag(Box<Tag>),
}

impl From<Tag> for Shown {
    fn from(tag: Tag) -> Self {
        Self::Tag(Box::new(tag))
    }
}

/// A list of inline content or blocks.
pub(crate) type Parts = Vec<Shown>;

/// A part with its own rendering.
#[derive(Clone, Debug)]
pub(crate) enum Tag {
    /// Styled text.
    Styled(Style),
    /// A link to a label (otherwise to its page), or to an address.
    Link {
        c: Parts,
        to: Option<String>,
        page: Option<String>,
        url: Option<String>,
    },
    /// An inline image. With `line`, it has the height of the line.
    Glyph {
        file: u32,
        w: f64,
        h: f64,
        alt: String,
        line: bool,
    },
    Math {
        formula: Formula,
        /// Alternative text for screen readers.
        source: String,
        block: bool,
    },
    /// A footnote.
    Note {
        c: Parts,
    },
    Button {
        c: Parts,
        primary: bool,
    },
    /// A checkbox.
    Check {
        on: bool,
    },

    Par {
        c: Parts,
        align: &'static str,
    },
    Heading {
        c: Parts,
        level: usize,
        label: Option<String>,
        align: &'static str,
    },
    List {
        items: Vec<Parts>,
        start: Option<u64>,
    },
    Tasks {
        items: Vec<(bool, Parts)>,
    },
    Rule,
    Quote {
        c: Parts,
    },
    Hint {
        c: Parts,
        style: &'static str,
    },
    Code {
        title: Option<String>,
        numbers: bool,
        /// `true` if the listing must not be split between sheets.
        whole: bool,
        lines: Vec<Line>,
    },
    /// An image with its size in points.
    Image {
        file: u32,
        w: f64,
        h: f64,
        alt: String,
        caption: Parts,
        frame: bool,
        align: &'static str,
    },
    /// Images side by side.
    Images {
        items: Parts,
        align: &'static str,
    },
    /// A framed line with a link.
    Card {
        c: Parts,
        note: Option<String>,
    },
    /// Content with a title, such as a tab or an expandable.
    Titled {
        title: Parts,
        c: Parts,
        kind: &'static str,
    },
    Steps {
        items: Vec<Parts>,
    },
    Columns {
        widths: Vec<f64>,
        items: Vec<Parts>,
    },
    Table {
        widths: Vec<f64>,
        aligns: Vec<&'static str>,
        head: Vec<Parts>,
        rows: Vec<Vec<Parts>>,
        size: f64,
    },
    Cards {
        across: usize,
        items: Vec<CardShown>,
    },
}

/// Styled text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Style {
    pub(crate) v: String,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) strike: bool,
    pub(crate) code: bool,
    pub(crate) key: bool,
    pub(crate) up: bool,
    pub(crate) down: bool,
    pub(crate) fg: Option<&'static str>,
    pub(crate) bg: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) c: Parts,
    pub(crate) on: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct CardShown {
    pub(crate) cover: Option<Shown>,
    pub(crate) c: Parts,
}

/// Flattens nested lists of parts.
pub(crate) fn flattened(parts: &[Shown]) -> Vec<&Shown> {
    let mut out = Vec::with_capacity(parts.len());
    let mut stack: Vec<&Shown> = parts.iter().rev().collect();
    while let Some(part) = stack.pop() {
        match part {
            Shown::Parts(parts) => stack.extend(parts.iter().rev()),
            part => out.push(part),
        }
    }
    out
}
