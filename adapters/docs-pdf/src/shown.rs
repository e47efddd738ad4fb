//! What is laid out: a tree of plain data, so that nothing a user wrote is ever read as code.

use crate::formula::Formula;

/// A page of the book.
#[derive(Debug)]
pub(crate) struct ShownPage {
    pub(crate) label: String,
    pub(crate) level: usize,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    /// Whether it begins on a new sheet.
    pub(crate) fresh: bool,
    pub(crate) body: Vec<Shown>,
}

/// A part of a page: text as it is, several parts, or something to draw.
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

/// A list of text or blocks; nothing else is so often optional.
pub(crate) type Parts = Vec<Shown>;

/// Something to draw.
#[derive(Clone, Debug)]
pub(crate) enum Tag {
    /// Text with marks.
    Styled(Style),
    /// A link: to a label, or its page where there is no such label; or to an address.
    Link {
        c: Parts,
        to: Option<String>,
        page: Option<String>,
        url: Option<String>,
    },
    /// A picture within text; `line` as high as the line.
    Glyph {
        file: u32,
        w: f64,
        h: f64,
        alt: String,
        line: bool,
    },
    /// A formula.
    Math {
        formula: Formula,
        /// What those hear who do not see it.
        source: String,
        block: bool,
    },
    /// A note at the foot of the sheet.
    Note {
        c: Parts,
    },
    /// A button.
    Button {
        c: Parts,
        primary: bool,
    },
    /// A box, checked or not.
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
        /// Whether all of it stands on one sheet.
        whole: bool,
        lines: Vec<Line>,
    },
    /// A picture with its size in points.
    Image {
        file: u32,
        w: f64,
        h: f64,
        alt: String,
        caption: Parts,
        frame: bool,
        align: &'static str,
    },
    /// Pictures beside one another.
    Images {
        items: Parts,
        align: &'static str,
    },
    /// A framed line that leads somewhere.
    Card {
        c: Parts,
        note: Option<String>,
    },
    /// Something with a title: a tab, an expandable.
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

/// Text with marks.
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

/// A line of code.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) c: Parts,
    pub(crate) on: bool,
}

/// A card.
#[derive(Clone, Debug)]
pub(crate) struct CardShown {
    pub(crate) cover: Option<Shown>,
    pub(crate) c: Parts,
}
