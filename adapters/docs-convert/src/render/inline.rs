//! Rendering of a line: text runs with marks.

use super::escape::{self, WordPosition};
use crate::text::{is_full, longest_run};

/// Maximum length of a formula within a line in bytes. A longer one becomes code.
const LONGEST_FORMULA: usize = 4_000;

/// Inline formatting of text, as a bit set.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Marks {
    bits: u8,
}

/// The marks, outermost first: bit, Markdown delimiter and HTML element.
const MARKS: [(u8, Option<&str>, &str); 6] = [
    (1, Some("**"), "strong"),
    (2, Some("*"), "em"),
    (4, Some("~~"), "del"),
    (8, None, "kbd"),
    (16, None, "sup"),
    (32, None, "sub"),
];

impl Marks {
    /// Adds the mark of an element.
    pub(super) fn with_element(self, element: &str) -> Self {
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

/// The context of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InlineContext {
    Paragraph,
    Heading,
    /// A table cell, which cannot contain line breaks.
    Cell,
}

/// A segment of a line, before marks are rendered as Markdown or HTML.
#[derive(Clone, Copy)]
enum LinePiece {
    Open(u8),
    Close(u8),
    Space,
    Break,
    /// Consecutive words or a non-text item. Contains the end offset in the text of the line.
    Written(u32),
}

/// Renders a line as Markdown.
pub(super) struct LineWriter {
    context: InlineContext,
    pieces: Vec<LinePiece>,
    /// The text of all words and items, without marks and the spaces in between.
    text: String,
    /// Open marks, as indices into [`MARKS`].
    open: Vec<u8>,
    /// `true` if whitespace was read since the last word.
    space: bool,
    /// A code span that may continue: some pages wrap each of its words separately.
    code: Option<String>,
    /// `true` if the line begins with whitespace; `None` while it is empty.
    starts_with_space: Option<bool>,
    ends_with_space: bool,
}

impl LineWriter {
    pub(super) const fn new(context: InlineContext) -> Self {
        Self {
            context,
            pieces: Vec::new(),
            text: String::new(),
            open: Vec::new(),
            space: false,
            code: None,
            starts_with_space: None,
            ends_with_space: false,
        }
    }

    /// Creates a writer for the label of a link in this line.
    pub(super) const fn inside_link(&self) -> Self {
        Self::new(match self.context {
            InlineContext::Cell => InlineContext::Cell,
            InlineContext::Paragraph | InlineContext::Heading => InlineContext::Heading,
        })
    }

    /// Returns `true` if the line exceeds the size of a page.
    pub(super) fn is_full(&self) -> bool {
        is_full(&self.text)
    }

    /// Writes the line, and starts a new one.
    pub(super) fn finish(&mut self, out: &mut String) {
        self.end_code();
        self.marks(Marks::default());
        write(&self.pieces, &self.text, self.context, out);
        *self = Self::new(self.context);
    }

    /// Adds text with marks.
    pub(super) fn text(&mut self, text: &str, marks: Marks) {
        self.begin(text);
        self.end_code();
        self.words(text, marks);
    }

    pub(super) fn code(&mut self, code: &str) {
        self.begin("");
        self.code.get_or_insert_default().push_str(code);
    }

    pub(super) fn image(&mut self, source: &str, alt: &str) {
        self.begin("");
        let alt = words(alt);
        self.push_raw(&format!("![{alt}]({source})"));
    }

    /// Adds a link with its label.
    pub(super) fn link(&mut self, to: &str, mut inside: Self) {
        self.begin("");
        self.end_code();
        let (starts, ends) = (inside.starts_with_space, inside.ends_with_space);
        let mut label = String::new();
        inside.finish(&mut label);
        if label.is_empty() {
            return;
        }
        // Whitespace at the ends of a label is moved outside the link.
        self.space |= starts.unwrap_or_default();
        self.push_raw(&format!("[{label}]({to})"));
        self.space |= ends;
    }

    /// Adds a formula.
    pub(super) fn formula(&mut self, tex: &str) {
        self.begin("");
        self.end_code();
        if tex.is_empty() {
            return;
        }
        // The text of a longer formula would be shown with its dollar signs.
        if tex.len() > LONGEST_FORMULA {
            return self.code(tex);
        }
        // Dollar signs next to each other would be read together.
        self.space |= self.text.ends_with('$');
        match self.context {
            // A pipe ends a table cell even within a formula.
            InlineContext::Cell => {
                let tex = tex.replace("\\|", "\\Vert ").replace('|', "\\vert ");
                self.push_raw(&format!("$${tex}$$"));
            }
            InlineContext::Paragraph | InlineContext::Heading => self.push_raw(&format!("$${tex}$$")),
        }
    }

    /// Adds a footnote reference.
    pub(super) fn note(&mut self, name: &str) {
        self.begin("");
        self.push_raw(&format!("[^{name}]"));
    }

    pub(super) fn line_break(&mut self) {
        self.begin("");
        self.end_code();
        self.marks(Marks::default());
        self.space = false;
        if !self.at_start() {
            self.pieces.push(LinePiece::Break);
        }
    }

    /// Records whether the added text begins or ends with whitespace.
    fn begin(&mut self, text: &str) {
        self.starts_with_space.get_or_insert(text.starts_with(char::is_whitespace));
        self.ends_with_space = text.ends_with(char::is_whitespace);
    }

    fn end_code(&mut self) {
        if let Some(code) = self.code.take().filter(|code| !code.is_empty()) {
            self.push_raw(&code_span(&code, self.context));
        }
    }

    fn words(&mut self, text: &str, marks: Marks) {
        let mut rest = text;
        while !rest.is_empty() {
            let word = rest.find(char::is_whitespace).map_or(rest, |end| &rest[..end]);
            if !word.is_empty() {
                self.marks(marks);
                self.flush_space();
                self.open(marks);
                let start = if self.at_line_start() { WordPosition::Line } else { WordPosition::Within };
                self.word(word, start);
            }
            let behind = &rest[word.len()..];
            rest = behind.trim_start_matches(char::is_whitespace);
            self.space |= rest.len() < behind.len();
        }
    }

    /// Adds a word. It is merged with directly preceding words.
    fn word(&mut self, word: &str, start: WordPosition) {
        let has_space = self.pieces.pop_if(|piece| matches!(piece, LinePiece::Space)).is_some();
        if self.pieces.pop_if(|piece| matches!(piece, LinePiece::Written(_))).is_some() {
            self.text.push_str(if has_space { " " } else { "" });
        } else {
            self.pieces.extend(has_space.then_some(LinePiece::Space));
        }
        escape::word(word, start, &mut self.text);
        self.end_piece();
    }

    fn end_piece(&mut self) {
        self.pieces.push(LinePiece::Written(u32::try_from(self.text.len()).unwrap_or(u32::MAX)));
    }

    /// Adds text without escaping and marks.
    fn push_raw(&mut self, text: &str) {
        if self.is_full() {
            return;
        }
        self.end_code();
        self.marks(Marks::default());
        self.flush_space();
        self.text.push_str(text);
        self.end_piece();
    }

    fn flush_space(&mut self) {
        if std::mem::take(&mut self.space) && !self.at_line_start() {
            self.pieces.push(LinePiece::Space);
        }
    }

    /// Closes the marks that are not in `wanted`.
    fn marks(&mut self, wanted: Marks) {
        let is_wanted = |mark: &u8| bit(*mark) & wanted.bits > 0;
        let keep = self.open.iter().take_while(|mark| is_wanted(mark)).count();
        while self.open.len() > keep {
            if let Some(mark) = self.open.pop() {
                self.pieces.push(LinePiece::Close(mark));
            }
        }
    }

    /// Opens the marks in `wanted` that are not open yet.
    fn open(&mut self, wanted: Marks) {
        for (mark, (bit, ..)) in (0_u8..).zip(&MARKS) {
            if wanted.bits & bit > 0 && !self.open.contains(&mark) {
                self.open.push(mark);
                self.pieces.push(LinePiece::Open(mark));
            }
        }
    }

    fn at_start(&self) -> bool {
        self.text.is_empty()
    }

    fn at_line_start(&self) -> bool {
        let last =
            self.pieces.iter().rev().find(|piece| !matches!(piece, LinePiece::Open(_) | LinePiece::Close(_)));
        matches!(last, None | Some(LinePiece::Break))
    }
}

fn bit(mark: u8) -> u8 {
    MARKS.get(usize::from(mark)).map_or(0, |(bit, ..)| *bit)
}

/// Escapes text that has no marks.
fn words(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        escape::word(word, WordPosition::Within, &mut out);
    }
    out
}

pub(super) fn code_span(code: &str, context: InlineContext) -> String {
    let fence = "`".repeat(longest_run(code, '`') + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    // A pipe ends a table cell even within code.
    let code = if context == InlineContext::Cell { code.replace('|', "\\|") } else { code.to_owned() };
    format!("{fence}{pad}{code}{pad}{fence}")
}

/// Writes a line. Marks whose delimiters Markdown would not recognize are written as HTML.
fn write(pieces: &[LinePiece], text: &str, context: InlineContext, out: &mut String) {
    let as_html = html_marks(pieces, text);
    let begin = out.len();
    let end = pieces.iter().rposition(|piece| matches!(piece, LinePiece::Written(_) | LinePiece::Close(_)));
    let mut start = 0;
    for (at, piece) in pieces.iter().enumerate().take(end.map_or(0, |end| end + 1)) {
        match piece {
            LinePiece::Space => out.push(' '),
            LinePiece::Break => out.push_str(match context {
                InlineContext::Paragraph => "\\\n",
                InlineContext::Heading => " ",
                InlineContext::Cell => "<br>",
            }),
            LinePiece::Written(end) => {
                let end = place(*end);
                let own = text.get(std::mem::replace(&mut start, end)..end).unwrap_or_default();
                // An exclamation mark before a link would turn it into an image.
                if own.starts_with('[') && out.len() > begin && out.ends_with('!') {
                    out.pop();
                    out.push_str("\\!");
                }
                out.push_str(own);
            }
            LinePiece::Open(mark) | LinePiece::Close(mark) => {
                let Some((_, signs, element)) = MARKS.get(usize::from(*mark)) else { continue };
                let slash = if matches!(piece, LinePiece::Close(_)) { "/" } else { "" };
                match signs.filter(|_| !as_html.get(at).copied().unwrap_or_default()) {
                    Some(signs) => out.push_str(signs),
                    None => out.push_str(&format!("<{slash}{element}>")),
                }
            }
        }
    }
}

fn place(end: u32) -> usize {
    usize::try_from(end).unwrap_or(usize::MAX)
}

/// Determines the marks that must be written as HTML: those between a letter and punctuation, and those directly after
/// the end of another mark.
fn html_marks(pieces: &[LinePiece], text: &str) -> Vec<bool> {
    let mut as_html = vec![false; pieces.len()];
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut written = 0;
    for (at, piece) in pieces.iter().enumerate() {
        let before = || char_before(&pieces[..at], &text[..written]);
        let behind = || char_after(&pieces[at + 1..], &text[written..]);
        match piece {
            LinePiece::Open(_) => {
                let follows = at.checked_sub(1).and_then(|last| pieces.get(last));
                let is_clear = !matches!(follows, Some(LinePiece::Close(_)))
                    && (!behind().is_some_and(is_punctuation) || before().is_none_or(is_punctuation));
                open.push((at, is_clear));
            }
            LinePiece::Close(_) => {
                let Some((start, is_clear)) = open.pop() else { continue };
                let ends = !before().is_some_and(is_punctuation) || behind().is_none_or(is_punctuation);
                if !(is_clear && ends) {
                    for place in [start, at] {
                        if let Some(place) = as_html.get_mut(place) {
                            *place = true;
                        }
                    }
                }
            }
            LinePiece::Written(end) => written = place(*end).min(text.len()),
            LinePiece::Space | LinePiece::Break => {}
        }
    }
    as_html
}

/// Returns the character directly before a position, given the preceding segments and text. `None` after whitespace and
/// at the start of the line.
fn char_before(pieces: &[LinePiece], text: &str) -> Option<char> {
    let last =
        pieces.iter().rev().find(|piece| !matches!(piece, LinePiece::Open(_) | LinePiece::Close(_)))?;
    text.chars().next_back().filter(|_| matches!(last, LinePiece::Written(_)))
}

/// Returns the character directly after a position, given the following segments and text. `None` before whitespace and
/// at the end of the line.
fn char_after(pieces: &[LinePiece], text: &str) -> Option<char> {
    let next = pieces.iter().find(|piece| !matches!(piece, LinePiece::Open(_) | LinePiece::Close(_)))?;
    text.chars().next().filter(|_| matches!(next, LinePiece::Written(_)))
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace()
}
