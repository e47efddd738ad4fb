//! One line: runs of text with marks, and how they are written.

use super::escape::{self, Start};

/// How text is marked.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Marks {
    bits: u8,
}

/// The marks, from the outermost: their bit, how Markdown writes them, and the name of their element.
const MARKS: [(u8, Option<&str>, &str); 6] = [
    (1, Some("**"), "strong"),
    (2, Some("*"), "em"),
    (4, Some("~~"), "del"),
    (8, None, "kbd"),
    (16, None, "sup"),
    (32, None, "sub"),
];

impl Marks {
    /// These marks, and the one that an element makes.
    pub(super) fn with(self, element: &str) -> Self {
        let bit = match element {
            "b" | "strong" => 1,
            "i" | "em" | "cite" | "dfn" | "var" => 2,
            "s" | "strike" | "del" => 4,
            "kbd" => 8,
            "sup" => 16,
            "sub" => 32,
            _ => 0,
        };
        Self { bits: self.bits | bit }
    }
}

/// A part of a line.
#[derive(Clone, Debug)]
pub(super) enum Run {
    Text(String, Marks),
    Code(String),
    Image {
        source: String,
        alt: String,
    },
    Link {
        to: String,
        inside: Vec<Run>,
    },
    /// The sign of a note.
    Note(String),
    Break,
}

/// Where a line stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InlineContext {
    Paragraph,
    Heading,
    /// A cell of a table, where a line cannot end.
    Cell,
}

/// A piece of the line as it is written, before it is known how marks are.
enum Piece {
    Open(usize),
    Close(usize),
    Space,
    Break,
    Written(String),
}

/// A line as Markdown.
pub(super) fn text(runs: &[Run], context: InlineContext) -> String {
    let mut writer = Writer { pieces: Vec::new(), open: Vec::new(), space: false };
    writer.runs(runs, context);
    writer.marks(Marks::default());
    write(&writer.pieces, context)
}

struct Writer {
    pieces: Vec<Piece>,
    /// The marks that are open, as places in [`MARKS`].
    open: Vec<usize>,
    /// White space was seen since the last word.
    space: bool,
}

impl Writer {
    fn runs(&mut self, runs: &[Run], context: InlineContext) {
        for run in runs {
            match run {
                Run::Text(text, marks) => self.words(text, *marks),
                Run::Code(code) if !code.is_empty() => self.written(code_span(code, context)),
                Run::Code(_) => {}
                Run::Image { source, alt } => {
                    let alt = words(alt);
                    self.written(format!("![{alt}]({source})"));
                }
                Run::Link { to, inside } => self.link(to, inside, context),
                Run::Note(name) => self.written(format!("[^{name}]")),
                Run::Break => {
                    self.marks(Marks::default());
                    self.space = false;
                    if !self.at_start() {
                        self.pieces.push(Piece::Break);
                    }
                }
            }
        }
    }

    fn link(&mut self, to: &str, inside: &[Run], context: InlineContext) {
        let label = text(
            inside,
            if context == InlineContext::Cell { InlineContext::Cell } else { InlineContext::Heading },
        );
        if label.is_empty() {
            return;
        }
        // Space at the ends of a label belongs around the link.
        self.space |=
            matches!(inside.first(), Some(Run::Text(text, _)) if text.starts_with(char::is_whitespace));
        self.written(format!("[{label}]({to})"));
        self.space |=
            matches!(inside.last(), Some(Run::Text(text, _)) if text.ends_with(char::is_whitespace));
    }

    fn words(&mut self, text: &str, marks: Marks) {
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find(char::is_whitespace).map_or(rest, |end| &rest[..end]);
            if !word.is_empty() {
                self.marks(marks);
                self.flush_space();
                self.open(marks);
                let start = if self.at_line_start() { Start::Line } else { Start::Within };
                self.pieces.push(Piece::Written(escape::word(word, start)));
            }
            let behind = &rest[word.len()..];
            rest = behind.trim_start_matches(char::is_whitespace);
            self.space |= rest.len() < behind.len();
        }
    }

    /// Something that is neither escaped nor marked.
    fn written(&mut self, text: String) {
        self.marks(Marks::default());
        self.flush_space();
        self.pieces.push(Piece::Written(text));
    }

    fn flush_space(&mut self) {
        if std::mem::take(&mut self.space) && !self.at_line_start() {
            self.pieces.push(Piece::Space);
        }
    }

    /// Closes the marks that are not wanted any more.
    fn marks(&mut self, wanted: Marks) {
        let is_wanted = |mark: &usize| MARKS.get(*mark).is_some_and(|(bit, ..)| wanted.bits & bit > 0);
        let keep = self.open.iter().take_while(|mark| is_wanted(mark)).count();
        while self.open.len() > keep {
            if let Some(mark) = self.open.pop() {
                self.pieces.push(Piece::Close(mark));
            }
        }
    }

    /// Opens the marks that are missing.
    fn open(&mut self, wanted: Marks) {
        for (mark, (bit, ..)) in MARKS.iter().enumerate() {
            if wanted.bits & bit > 0 && !self.open.contains(&mark) {
                self.open.push(mark);
                self.pieces.push(Piece::Open(mark));
            }
        }
    }

    fn at_start(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Written(_)))
    }

    fn at_line_start(&self) -> bool {
        let last = self.pieces.iter().rev().find(|piece| !matches!(piece, Piece::Open(_) | Piece::Close(_)));
        matches!(last, None | Some(Piece::Break))
    }
}

/// Text without marks, escaped.
fn words(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&escape::word(word, Start::Within));
    }
    out
}

fn code_span(code: &str, context: InlineContext) -> String {
    let fence = "`".repeat(super::longest_run(code, '`') + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    // A line of a table ends a cell even within code.
    let code = if context == InlineContext::Cell { code.replace('|', "\\|") } else { code.to_owned() };
    format!("{fence}{pad}{code}{pad}{fence}")
}

/// Writes the pieces. A mark whose signs Markdown would not read as such is written as HTML.
fn write(pieces: &[Piece], context: InlineContext) -> String {
    let mut out = String::new();
    let as_html = html_marks(pieces);
    let end = pieces.iter().rposition(|piece| matches!(piece, Piece::Written(_) | Piece::Close(_)));
    for (at, piece) in pieces.iter().enumerate().take(end.map_or(0, |end| end + 1)) {
        match piece {
            Piece::Space => out.push(' '),
            Piece::Break => out.push_str(match context {
                InlineContext::Paragraph => "\\\n",
                InlineContext::Heading => " ",
                InlineContext::Cell => "<br>",
            }),
            Piece::Written(text) => {
                // An exclamation mark before a link would make it a picture.
                if text.starts_with('[') && out.ends_with('!') {
                    out.pop();
                    out.push_str("\\!");
                }
                out.push_str(text);
            }
            Piece::Open(mark) | Piece::Close(mark) => {
                let Some((_, signs, element)) = MARKS.get(*mark) else { continue };
                let slash = if matches!(piece, Piece::Close(_)) { "/" } else { "" };
                match signs.filter(|_| !as_html.get(at).copied().unwrap_or_default()) {
                    Some(signs) => out.push_str(signs),
                    None => out.push_str(&format!("<{slash}{element}>")),
                }
            }
        }
    }
    out
}

/// Which pieces that open and close marks have to be HTML: those with a letter on one side and punctuation on the
/// other, and those right behind the end of another mark.
fn html_marks(pieces: &[Piece]) -> Vec<bool> {
    let mut as_html = vec![false; pieces.len()];
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let (before, behind) = (before(pieces, at), behind(pieces, at));
        match piece {
            Piece::Open(_) => {
                let follows = at.checked_sub(1).and_then(|last| pieces.get(last));
                let is_clear = !matches!(follows, Some(Piece::Close(_)))
                    && (!behind.is_some_and(is_punctuation) || before.is_none_or(is_punctuation));
                open.push((at, is_clear));
            }
            Piece::Close(_) => {
                let Some((start, is_clear)) = open.pop() else { continue };
                let ends = !before.is_some_and(is_punctuation) || behind.is_none_or(is_punctuation);
                if !(is_clear && ends) {
                    for place in [start, at] {
                        if let Some(place) = as_html.get_mut(place) {
                            *place = true;
                        }
                    }
                }
            }
            _ => {}
        }
    }
    as_html
}

/// The character before a piece; none where white space or nothing is.
fn before(pieces: &[Piece], at: usize) -> Option<char> {
    let last = pieces[..at].iter().rev().find(|piece| !matches!(piece, Piece::Open(_) | Piece::Close(_)))?;
    match last {
        Piece::Written(text) => text.chars().next_back(),
        _ => None,
    }
}

/// The character behind a piece; none where white space or nothing is.
fn behind(pieces: &[Piece], at: usize) -> Option<char> {
    let next = pieces[at + 1..].iter().find(|piece| !matches!(piece, Piece::Open(_) | Piece::Close(_)))?;
    match next {
        Piece::Written(text) => text.chars().next(),
        _ => None,
    }
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace()
}
