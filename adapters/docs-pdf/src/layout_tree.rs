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
    pub(crate) body: Vec<ShownPart>,
}

/// A part of a page: plain text, a list of parts, or a tag.
#[derive(Clone, Debug)]
pub(crate) enum ShownPart {
    Text(String),
    Parts(Vec<ShownPart>),
    Tag(Box<ShownTag>),
}

impl From<ShownTag> for ShownPart {
    fn from(tag: ShownTag) -> Self {
        Self::Tag(Box::new(tag))
    }
}

/// A list of parts, inline or blocks.
pub(crate) type ShownParts = Vec<ShownPart>;

/// A part that has its own rendering.
#[derive(Clone, Debug)]
pub(crate) enum ShownTag {
    /// Styled text.
    Styled(Style),
    /// A link to a label, to the label of its page if that does not exist, or to a URL.
    Link {
        c: ShownParts,
        to: Option<String>,
        page: Option<String>,
        url: Option<String>,
    },
    /// An inline image. With `line`, its height is that of the line.
    Glyph {
        file: u32,
        w: f64,
        h: f64,
        alt: String,
        line: bool,
    },
    Math {
        formula: Formula,
        /// Source, as the alternative text for screen readers.
        source: String,
        block: bool,
    },
    /// A footnote.
    Note {
        c: ShownParts,
    },
    Button {
        c: ShownParts,
        primary: bool,
    },
    /// A checkbox.
    Check {
        on: bool,
    },

    Par {
        c: ShownParts,
        align: &'static str,
    },
    Heading {
        c: ShownParts,
        level: usize,
        label: Option<String>,
        align: &'static str,
    },
    List {
        items: Vec<ShownParts>,
        start: Option<u64>,
    },
    Tasks {
        items: Vec<(bool, ShownParts)>,
    },
    Rule,
    Quote {
        c: ShownParts,
    },
    Hint {
        c: ShownParts,
        style: &'static str,
    },
    Code {
        title: Option<String>,
        numbers: bool,
        /// `true` if the listing must not be split between sheets.
        whole: bool,
        lines: Vec<ShownLine>,
    },
    /// An image, with its size in points.
    Image {
        file: u32,
        w: f64,
        h: f64,
        alt: String,
        caption: ShownParts,
        frame: bool,
        align: &'static str,
    },
    /// Images side by side.
    Images {
        items: ShownParts,
        align: &'static str,
    },
    /// A framed line with a link.
    Card {
        c: ShownParts,
        note: Option<String>,
    },
    /// Content with a title, such as a tab or an expandable block.
    Titled {
        title: ShownParts,
        c: ShownParts,
        kind: &'static str,
    },
    Steps {
        items: Vec<ShownParts>,
    },
    Columns {
        widths: Vec<f64>,
        items: Vec<ShownParts>,
    },
    Table {
        widths: Vec<f64>,
        aligns: Vec<&'static str>,
        head: Vec<ShownParts>,
        rows: Vec<Vec<ShownParts>>,
        size: f64,
    },
    Cards {
        across: usize,
        items: Vec<ShownCard>,
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
pub(crate) struct ShownLine {
    pub(crate) c: ShownParts,
    pub(crate) on: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct ShownCard {
    pub(crate) cover: Option<ShownPart>,
    pub(crate) c: ShownParts,
}

/// Flattens nested lists of parts.
pub(crate) fn flatten_parts(parts: &[ShownPart]) -> Vec<&ShownPart> {
    let mut out = Vec::with_capacity(parts.len());
    let mut stack: Vec<&ShownPart> = parts.iter().rev().collect();
    while let Some(part) = stack.pop() {
        match part {
            ShownPart::Parts(parts) => stack.extend(parts.iter().rev()),
            part => out.push(part),
        }
    }
    out
}
