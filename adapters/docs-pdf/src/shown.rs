//! What the template draws: a tree of plain data, so that nothing a user wrote is ever read as code.

use serde::Serialize;

/// The whole book.
#[derive(Debug, Serialize)]
pub(crate) struct ShownBook {
    pub(crate) title: String,
    pub(crate) subtitle: Option<String>,
    pub(crate) lang: String,
    /// Whether the table of contents lists headings too, as a book of one page wants.
    pub(crate) headings: bool,
    pub(crate) pages: Vec<ShownPage>,
    /// The labels that exist.
    pub(crate) places: std::collections::BTreeMap<String, bool>,
}

/// A page of it.
#[derive(Debug, Serialize)]
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
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
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

/// Something to draw. The names are those the template asks for.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "t", rename_all = "lowercase")]
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
        file: String,
        w: f64,
        h: f64,
        alt: String,
        line: bool,
    },
    /// A formula.
    Math {
        c: Parts,
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
        file: String,
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

    /// A symbol of a formula: one character.
    Sym {
        v: String,
    },
    /// Upright text of a formula.
    Upright {
        v: String,
    },
    /// A named function such as `sin`; `lim` where what is below it stands under it.
    Op {
        v: String,
        lim: bool,
    },
    Frac {
        a: Parts,
        b: Parts,
    },
    Binom {
        a: Parts,
        b: Parts,
    },
    Root {
        c: Parts,
        n: Parts,
    },
    Attach {
        c: Parts,
        up: Parts,
        down: Parts,
        lim: bool,
    },
    Accent {
        c: Parts,
        v: &'static str,
    },
    /// Parts between brackets that grow with them; an empty bracket is none.
    Fence {
        c: Parts,
        l: String,
        r: String,
    },
    /// A line or brace above or below.
    Over {
        c: Parts,
        kind: &'static str,
    },
    /// Letters of another alphabet.
    Face {
        c: Parts,
        kind: &'static str,
    },
    Matrix {
        rows: Vec<Vec<Parts>>,
        l: String,
        r: String,
        align: &'static str,
    },
    /// Space, in em.
    Space {
        v: f64,
    },
}

/// Text with marks.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Style {
    pub(crate) v: String,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) bold: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) italic: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) strike: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) code: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) key: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) up: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) down: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fg: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bg: Option<&'static str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form serde asks for")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// A line of code.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) c: Parts,
    pub(crate) on: bool,
}

/// A card.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CardShown {
    pub(crate) cover: Option<Shown>,
    pub(crate) c: Parts,
}
