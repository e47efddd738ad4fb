//! Segments: conversion of text to a string with placeholders, and back.

use std::collections::{BTreeMap, BTreeSet};

use docs_model::{Inline, InlineKind, Leaf, Mark, MarkKind, Node, TextNode};

/// Opens a placeholder.
const OPEN: char = '⟦';
/// Closes a placeholder.
const CLOSE: char = '⟧';
/// Maximum number of bytes between the opening and closing character of a placeholder.
const MAX_PLACEHOLDER: usize = 12;
/// Maximum nesting depth of placeholders.
const MAX_PLACEHOLDER_DEPTH: usize = 100;

/// A segment and the content of its placeholders.
pub(super) struct ProtectedSegment {
    pub(super) segment: String,
    slots: Vec<PlaceholderContent>,
    /// The whitespace around the segment.
    lead: String,
    trail: String,
}

enum PlaceholderContent {
    /// Unchanged text, with its marks.
    Leaf(Leaf),
    /// An unchanged element.
    Inline(Box<Inline>),
    /// Words with these marks.
    Marks(Vec<Mark>),
    /// Words in this element. The stored element has no child nodes.
    Around(Box<Inline>),
}

impl ProtectedSegment {
    /// Creates the segment of the text of a block, or `None` if there is nothing to translate.
    pub(super) fn from_nodes(nodes: &[Node]) -> Option<Self> {
        let mut writer = SegmentWriter::default();
        writer.nodes(nodes)?;
        writer.finish()
    }

    /// Creates the segment of a plain text.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let mut writer = SegmentWriter::default();
        writer.text(&Leaf::new(text, Vec::new()));
        writer.finish()
    }

    /// Returns the nodes of a translation, or `None` if its placeholders differ from those of the segment.
    pub(super) fn nodes_of(&self, translation: &str) -> Option<Vec<Node>> {
        let parts = self.parts_of(translation)?;
        let mut nodes = Nodes::default();
        nodes.leaf(&self.lead, &[]);
        nodes.parts(&parts, &self.slots, &[])?;
        nodes.leaf(&self.trail, &[]);
        Some(nodes.finish())
    }

    /// Returns the plain text of a translation.
    pub(super) fn text_of(&self, translation: &str) -> Option<String> {
        let mut out = self.lead.clone();
        for part in self.parts_of(translation)? {
            match part {
                SegmentPart::Text(text) => out.push_str(&text),
                SegmentPart::Void(number) => match self.slots.get(number)? {
                    PlaceholderContent::Leaf(leaf) => out.push_str(&leaf.text),
                    _ => return None,
                },
                SegmentPart::Pair(..) => return None,
            }
        }
        out.push_str(&self.trail);
        Some(out)
    }

    fn parts_of(&self, translation: &str) -> Option<Vec<SegmentPart>> {
        if !is_translation_of(&self.segment, translation) {
            return None;
        }
        parts(translation.trim())
    }
}

/// Returns `true` if a translation has the placeholders of a segment: each exactly once, and pairs with words inside
/// and with the same nesting.
#[must_use]
pub fn is_translation_of(segment: &str, translation: &str) -> bool {
    let (Some(own), Some(other)) = (parts(segment), parts(translation.trim())) else { return false };
    let (mut wanted, mut found) = (BTreeMap::new(), BTreeMap::new());
    let has_words = !translation.trim().is_empty() && !translation.contains('\0');
    has_words
        && shape(&own, None, &mut wanted).is_some()
        && shape(&other, None, &mut found).is_some()
        && wanted == found
}

/// Splits a segment at its placeholders, for translators that do not preserve them. Returns the texts between the
/// placeholders, and a function that joins their translations.
///
/// ```
/// use docs_markup::translate::placeholder_free;
/// let (texts, join) = placeholder_free("Read ⟦1⟧the guide⟦/1⟧.");
/// assert_eq!(texts, ["Read", "the guide"]);
/// assert_eq!(join(&["Lies".to_owned(), "die Anleitung".to_owned()]), "Lies ⟦1⟧die Anleitung⟦/1⟧.");
/// ```
pub fn placeholder_free(segment: &str) -> (Vec<String>, impl Fn(&[String]) -> String + use<>) {
    let mut pieces: Vec<(String, bool)> = Vec::new();
    let mut push = |text: &str, is_text: bool| {
        if !text.is_empty() {
            pieces.push((text.to_owned(), is_text));
        }
    };
    let mut rest = segment;
    while !rest.is_empty() {
        let (text, after) = rest.split_at(rest.find(OPEN).unwrap_or(rest.len()));
        let words = text.trim();
        if words.chars().any(char::is_alphabetic) {
            let start = text.len() - text.trim_start().len();
            push(&text[..start], false);
            push(words, true);
            push(&text[start + words.len()..], false);
        } else {
            push(text, false);
        }
        let end = after.find(CLOSE).map_or(after.len(), |end| end + CLOSE.len_utf8());
        push(&after[..end], false);
        rest = &after[end..];
    }
    let texts = pieces.iter().filter(|(_, is_text)| *is_text).map(|(text, _)| text.clone()).collect();
    let join = move |translations: &[String]| {
        let mut translations = translations.iter();
        let piece = |(text, is_text): &(String, bool)| match is_text {
            true => translations.next().map_or_else(|| text.clone(), |text| unbracketed(text)),
            false => text.clone(),
        };
        pieces.iter().map(piece).collect()
    };
    (texts, join)
}

/// Removes placeholder characters from `text`.
fn unbracketed(text: &str) -> String {
    text.trim().replace([OPEN, CLOSE], "")
}

/// Returns the words of nodes, without marks.
#[must_use]
pub fn words(nodes: &[Node]) -> String {
    let mut out = String::new();
    for node in nodes {
        match node {
            Node::Text(text) => text.leaves.iter().for_each(|leaf| out.push_str(&leaf.text)),
            Node::Inline(inline) => out.push_str(&words(&inline.nodes)),
            Node::Block(_) => {}
        }
    }
    out
}

#[derive(Debug, PartialEq, Eq)]
enum SegmentPart {
    Text(String),
    /// A placeholder, with its index from 0.
    Void(usize),
    /// A pair of placeholders around parts.
    Pair(usize, Vec<SegmentPart>),
}

/// A parsed placeholder.
enum Placeholder {
    Opens(usize),
    Closes(usize),
}

/// Parses a segment. Returns `None` for invalid placeholders.
fn parts(segment: &str) -> Option<Vec<SegmentPart>> {
    let mut tokens: Vec<(Option<Placeholder>, &str)> = Vec::new();
    let mut rest = segment;
    while let Some(at) = rest.find([OPEN, CLOSE]) {
        let (text, after) = rest.split_at(at);
        tokens.push((None, text));
        let inner = after.strip_prefix(OPEN)?;
        let end = inner.find(CLOSE).filter(|end| *end <= MAX_PLACEHOLDER)?;
        tokens.push((Some(placeholder(&inner[..end])?), ""));
        rest = &inner[end + CLOSE.len_utf8()..];
    }
    tokens.push((None, rest));
    let closed: BTreeSet<usize> = tokens
        .iter()
        .filter_map(|(token, _)| match token {
            Some(Placeholder::Closes(number)) => Some(*number),
            _ => None,
        })
        .collect();
    let mut open: Vec<(usize, Vec<SegmentPart>)> = Vec::new();
    let mut current = Vec::new();
    for (token, text) in &tokens {
        match token {
            None if text.is_empty() => {}
            None => current.push(SegmentPart::Text((*text).to_owned())),
            Some(Placeholder::Opens(_)) if open.len() == MAX_PLACEHOLDER_DEPTH => return None,
            Some(Placeholder::Opens(number)) if closed.contains(number) => {
                open.push((*number, std::mem::take(&mut current)));
            }
            Some(Placeholder::Opens(number)) => current.push(SegmentPart::Void(*number)),
            Some(Placeholder::Closes(number)) => {
                let (opened, before) = open.pop()?;
                let inner = std::mem::replace(&mut current, before);
                if opened != *number {
                    return None;
                }
                current.push(SegmentPart::Pair(opened, inner));
            }
        }
    }
    open.is_empty().then_some(current)
}

fn placeholder(text: &str) -> Option<Placeholder> {
    let (closes, digits) = match text.trim().strip_prefix('/') {
        Some(digits) => (true, digits.trim()),
        None => (false, text.trim()),
    };
    let number = digits.parse::<usize>().ok()?.checked_sub(1)?;
    Some(if closes { Placeholder::Closes(number) } else { Placeholder::Opens(number) })
}

/// The properties of placeholders by index: whether the placeholder is a pair, whether it contains words, and the
/// enclosing pair.
type PlaceholderShapes = BTreeMap<usize, (bool, bool, Option<usize>)>;

/// Collects the properties of placeholders. Returns `None` for a duplicate.
fn shape(parts: &[SegmentPart], within: Option<usize>, found: &mut PlaceholderShapes) -> Option<()> {
    for part in parts {
        let (number, how) = match part {
            SegmentPart::Text(_) => continue,
            // Placeholders for unchanged parts may move, because word order differs between languages.
            SegmentPart::Void(number) => (*number, (false, false, None)),
            SegmentPart::Pair(number, inner) => {
                shape(inner, Some(*number), found)?;
                let is_blank =
                    |part: &SegmentPart| matches!(part, SegmentPart::Text(text) if text.trim().is_empty());
                (*number, (true, !inner.iter().all(is_blank), within))
            }
        };
        if found.insert(number, how).is_some() {
            return None;
        }
    }
    Some(())
}

/// A builder of a segment.
#[derive(Default)]
struct SegmentWriter {
    out: String,
    slots: Vec<PlaceholderContent>,
    has_words: bool,
}

impl SegmentWriter {
    /// Writes nodes. Returns `None` if one of them is a block.
    fn nodes(&mut self, nodes: &[Node]) -> Option<()> {
        for node in nodes {
            match node {
                Node::Text(text) => text.leaves.iter().for_each(|leaf| self.leaf(leaf)),
                Node::Inline(inline) => self.inline(inline)?,
                Node::Block(_) => return None,
            }
        }
        Some(())
    }

    fn leaf(&mut self, leaf: &Leaf) {
        let stays = leaf.marks.iter().any(|mark| matches!(mark.kind, MarkKind::Code | MarkKind::Keyboard));
        if stays {
            self.void(PlaceholderContent::Leaf(leaf.clone()));
        } else if leaf.marks.is_empty() || leaf.text.trim().is_empty() {
            self.text(leaf);
        } else {
            let number = self.open(PlaceholderContent::Marks(leaf.marks.clone()));
            self.text(leaf);
            self.close(number);
        }
    }

    fn inline(&mut self, inline: &Inline) -> Option<()> {
        match inline.kind {
            InlineKind::Link { .. } | InlineKind::Annotation {} if !inline.nodes.is_empty() => {
                let empty = Inline { nodes: Vec::new(), ..inline.clone() };
                let number = self.open(PlaceholderContent::Around(Box::new(empty)));
                self.nodes(&inline.nodes)?;
                self.close(number);
            }
            _ => self.void(PlaceholderContent::Inline(Box::new(inline.clone()))),
        }
        Some(())
    }

    /// Writes text. Apparent URLs, tags and expressions in it become placeholders.
    fn text(&mut self, leaf: &Leaf) {
        let mut rest = leaf.text.as_str();
        let mut closers = CloserSearch::default();
        while !rest.is_empty() {
            let Some((at, length)) = find_unchanged(rest, &mut closers) else { break };
            self.plain(&rest[..at]);
            let kept = &rest[at..at + length];
            // Verbatim HTML remains HTML and does not become visible text.
            let is_raw = kept.starts_with('<')
                && leaf.spelling.as_ref().is_some_and(|spelling| spelling.contains(kept));
            let spelling = is_raw.then(|| kept.to_owned());
            self.void(PlaceholderContent::Leaf(Leaf { spelling, ..Leaf::new(kept, leaf.marks.clone()) }));
            rest = &rest[at + length..];
        }
        self.plain(rest);
    }

    fn plain(&mut self, text: &str) {
        self.has_words |= text.chars().any(char::is_alphabetic);
        self.out.push_str(text);
    }

    fn void(&mut self, slot: PlaceholderContent) {
        self.open(slot);
    }

    fn open(&mut self, slot: PlaceholderContent) -> usize {
        self.slots.push(slot);
        self.out.push_str(&format!("{OPEN}{}{CLOSE}", self.slots.len()));
        self.slots.len()
    }

    fn close(&mut self, number: usize) {
        self.out.push_str(&format!("{OPEN}/{number}{CLOSE}"));
    }

    fn finish(self) -> Option<ProtectedSegment> {
        let segment = self.out.trim();
        let start = self.out.len() - self.out.trim_start().len();
        let (lead, trail) = (self.out[..start].to_owned(), self.out[start + segment.len()..].to_owned());
        self.has_words.then(|| ProtectedSegment {
            segment: segment.to_owned(),
            slots: self.slots,
            lead,
            trail,
        })
    }
}

/// Closing delimiters of tags and expressions that do not occur in the rest of the text, so that at most one search for
/// each fails.
#[derive(Default)]
struct CloserSearch {
    missing: Vec<&'static str>,
}

impl CloserSearch {
    /// Returns the length of the text up to the end of a closing delimiter. Within one search, each text must be a
    /// suffix of the previous one.
    fn find_closer(&mut self, text: &str, closer: &'static str) -> Option<usize> {
        if self.missing.contains(&closer) {
            return None;
        }
        let found = text.find(closer);
        if found.is_none() {
            self.missing.push(closer);
        }
        found.map(|found| found + closer.len())
    }
}

/// Returns the position and length of the first unchanged part of `text`: a URL, a tag, an expression, a line break, or
/// a placeholder character.
fn find_unchanged(text: &str, closers: &mut CloserSearch) -> Option<(usize, usize)> {
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices() {
        let rest = &text[at..];
        let length = match c {
            OPEN | CLOSE | '\n' => Some(c.len_utf8()),
            '<' if is_tag(rest) => closers.find_closer(rest, ">"),
            '{' if rest.starts_with("{{") => closers.find_closer(rest, "}}"),
            '{' if rest.starts_with("{%") => closers.find_closer(rest, "%}"),
            'h' | 'm' if before.is_none_or(|before| !before.is_alphanumeric()) && is_address(rest) => {
                let address = rest.split(char::is_whitespace).next().unwrap_or_default();
                Some(address.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']).len())
            }
            _ => None,
        };
        if let Some(length) = length {
            return Some((at, length));
        }
        before = Some(c);
    }
    None
}

fn is_tag(text: &str) -> bool {
    text[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!')
}

fn is_address(text: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| text.starts_with(scheme))
}

/// A builder of nodes that merges adjacent texts.
#[derive(Default)]
struct Nodes {
    done: Vec<Node>,
    leaves: Vec<Leaf>,
}

impl Nodes {
    fn leaf(&mut self, text: &str, marks: &[Mark]) {
        if text.is_empty() {
            return;
        }
        match self.leaves.last_mut() {
            Some(last) if last.marks == marks && last.spelling.is_none() => last.text.push_str(text),
            _ => self.leaves.push(Leaf::new(text, marks.to_vec())),
        }
    }

    fn parts(&mut self, parts: &[SegmentPart], slots: &[PlaceholderContent], marks: &[Mark]) -> Option<()> {
        for part in parts {
            match part {
                SegmentPart::Text(text) => self.words(text, marks),
                SegmentPart::Void(number) => match slots.get(*number)? {
                    PlaceholderContent::Leaf(leaf) => self.leaves.push(leaf.clone()),
                    PlaceholderContent::Inline(inline) => self.inline(Inline::clone(inline)),
                    PlaceholderContent::Marks(_) | PlaceholderContent::Around(_) => return None,
                },
                SegmentPart::Pair(number, inner) => match slots.get(*number)? {
                    PlaceholderContent::Marks(marks) => self.parts(inner, slots, marks)?,
                    PlaceholderContent::Around(inline) => {
                        let mut nodes = Self::default();
                        nodes.parts(inner, slots, &[])?;
                        self.inline(Inline { nodes: nodes.finish(), ..Inline::clone(inline) });
                    }
                    PlaceholderContent::Leaf(_) | PlaceholderContent::Inline(_) => return None,
                },
            }
        }
        Some(())
    }

    /// Adds text with marks. Surrounding whitespace gets no marks, because Markdown cannot represent that.
    fn words(&mut self, text: &str, marks: &[Mark]) {
        let words = text.trim();
        if marks.is_empty() || words.is_empty() {
            return self.leaf(text, &[]);
        }
        let start = text.len() - text.trim_start().len();
        self.leaf(&text[..start], &[]);
        self.leaf(words, marks);
        self.leaf(&text[start + words.len()..], &[]);
    }

    fn inline(&mut self, inline: Inline) {
        self.flush();
        self.done.push(Node::Inline(inline));
    }

    fn flush(&mut self) {
        if !self.leaves.is_empty() {
            self.done.push(Node::Text(TextNode::new(std::mem::take(&mut self.leaves))));
        }
    }

    fn finish(mut self) -> Vec<Node> {
        self.flush();
        self.done
    }
}
