//! Combines text, marks and elements into nodes, and records their spelling.

use std::ops::Range;

use docs_model::{Block, Fragment, Inline, InlineKind, Leaf, Mark, MarkKind, Node, TextNode};
use pulldown_cmark::{LinkType, Tag};

use super::targets;

#[derive(Default)]
pub(super) struct InlineBuilder {
    nodes: Vec<Node>,
    /// The open marks, outermost first.
    marks: Vec<Mark>,
    /// Text that is not yet part of a leaf, and its source.
    text: String,
    source: String,
    /// The end offset of the consumed source.
    at: usize,
    link: Option<OpenLink>,
    /// `true` after a link within a link, which documents cannot contain.
    has_nested_link: bool,
    image: Option<(InlineKind, LinkType, Range<usize>)>,
}

struct OpenLink {
    kind: InlineKind,
    spelling: String,
    /// The number of marks that were open at the beginning of the element.
    marks: usize,
    /// The nodes before the element.
    before: Vec<Node>,
    label: usize,
}

impl InlineBuilder {
    /// Adds text with its source range, together with unconsumed source before the range.
    pub(super) fn text(&mut self, text: &str, source: &str, range: &Range<usize>) {
        if range.is_empty() && text.is_empty() {
            return;
        }
        self.text.push_str(text);
        self.source.push_str(source.get(self.at.min(range.start)..range.end).unwrap_or_default());
        self.at = range.end;
    }

    /// Completes the current leaf.
    fn flush(&mut self) {
        if self.text.is_empty() && self.source.is_empty() {
            return;
        }
        let leaf = Leaf {
            spelling: Some(std::mem::take(&mut self.source)),
            ..Leaf::new(std::mem::take(&mut self.text), self.marks.clone())
        };
        self.push_leaf(leaf);
    }

    fn push_leaf(&mut self, leaf: Leaf) {
        match self.nodes.last_mut() {
            Some(Node::Text(text)) => text.leaves.push(leaf),
            _ => self.nodes.push(Node::Text(TextNode::new(vec![leaf]))),
        }
    }

    pub(super) fn open_mark(&mut self, mark: Mark, at: usize) {
        self.flush();
        self.marks.push(mark);
        self.at = at;
    }

    pub(super) fn close_mark(&mut self, at: usize) {
        self.flush();
        // An empty leaf preserves a mark without text.
        if !self.last_has_mark() {
            self.push_leaf(Leaf::new("", self.marks.clone()));
        }
        self.marks.pop();
        self.at = at;
    }

    /// Returns `true` if the last leaf has all open marks.
    fn last_has_mark(&self) -> bool {
        let has = |leaf: &Leaf| leaf.marks.starts_with(&self.marks);
        match self.nodes.last() {
            Some(Node::Text(text)) => text.leaves.last().is_some_and(has),
            Some(Node::Inline(inline)) => inline.spelling.as_deref().is_some_and(|s| s.starts_with('^')),
            _ => false,
        }
    }

    pub(super) fn code(&mut self, text: &str, source: &str, at: usize) {
        self.flush();
        let mut marks = self.marks.clone();
        marks.push(MarkKind::Code.into());
        self.push_leaf(Leaf { spelling: Some(source.to_owned()), ..Leaf::new(text, marks) });
        self.at = at;
    }

    /// Adds an element without child nodes.
    pub(super) fn void(&mut self, inline: Inline, source: &str, range: &Range<usize>) {
        self.flush();
        let written = &source[range.clone()];
        self.push_void(inline, written);
        self.at = range.end;
    }

    fn push_void(&mut self, mut inline: Inline, written: &str) {
        if !self.marks.is_empty() {
            let has = |leaf: &Leaf| leaf.marks == self.marks;
            let is_inside = match self.nodes.last() {
                Some(Node::Text(text)) => text.leaves.last().is_some_and(has),
                _ => false,
            };
            if !is_inside {
                self.push_leaf(Leaf::new("", self.marks.clone()));
            }
        }
        inline.spelling = prefixed_spelling(self.marks.len(), written.to_owned());
        self.nodes.push(Node::Inline(inline));
    }

    pub(super) fn open_link(&mut self, kind: InlineKind, spelling: String, label: usize) {
        self.flush();
        self.has_nested_link |= self.link.is_some();
        let before = std::mem::take(&mut self.nodes);
        self.link = Some(OpenLink { kind, spelling, marks: self.marks.len(), before, label });
        self.at = label;
    }

    /// Closes a link in Markdown syntax, whose destination and title follow the label.
    pub(super) fn close_link(&mut self, source: &str, range: &Range<usize>) {
        let Some(link) = &mut self.link else { return };
        if link.spelling.is_empty() {
            let from = self.at.max(link.label);
            let rest = source.get(from..range.end).unwrap_or_default();
            link.spelling = rest.find("](").map_or_else(String::new, |at| rest[at + 1..].to_owned());
        }
        self.end_link(range.end);
    }

    pub(super) fn close_html_link(&mut self, at: usize) {
        self.end_link(at);
    }

    fn end_link(&mut self, at: usize) {
        self.flush();
        let Some(link) = self.link.take() else { return };
        let nodes = std::mem::replace(&mut self.nodes, link.before);
        self.at = at;
        if let InlineKind::Link { target, title } = &link.kind
            && title.as_deref() == Some(targets::MENTION)
            && link.spelling.starts_with('(')
        {
            let label: String = nodes.iter().filter_map(label_of).collect();
            let inline = Inline::new(InlineKind::Mention { target: target.clone() }, Vec::new());
            return self.push_void(inline, &format!("[{label}]{}", link.spelling));
        }
        let mut inline = Inline::new(link.kind, nodes);
        inline.spelling = prefixed_spelling(link.marks, link.spelling);
        self.nodes.push(Node::Inline(inline));
    }

    pub(super) fn begin_image(&mut self, tag: &Tag<'_>, range: &Range<usize>) {
        self.flush();
        let Tag::Image { link_type, dest_url, title, .. } = tag else { return };
        let kind = InlineKind::InlineImage {
            target: Box::new(targets::read(dest_url)),
            dark: None,
            caption: Some(title.to_string()).filter(|title| !title.is_empty()),
            alt: None,
            size: None,
            width: None,
            height: None,
        };
        self.image = Some((kind, *link_type, range.clone()));
    }

    pub(super) fn end_image(&mut self, text: String, source: &str, range: &Range<usize>) {
        let Some((mut kind, _, _)) = self.image.take() else { return };
        if let InlineKind::InlineImage { alt, .. } = &mut kind {
            *alt = Some(text).filter(|text| !text.is_empty());
        }
        self.push_void(Inline::new(kind, Vec::new()), &source[range.clone()]);
        self.at = range.end;
    }

    /// Annotates the preceding word, or the preceding link if the link exists only for the annotation.
    pub(super) fn annotation(&mut self, body: Vec<Block>, spelling: Option<String>, at: usize) {
        let nodes = self.take_annotated();
        let mut inline = annotation(nodes, body);
        inline.spelling = prefixed_spelling(self.marks.len(), spelling.unwrap_or_default());
        self.nodes.push(Node::Inline(inline));
        self.at = at;
    }

    fn take_annotated(&mut self) -> Vec<Node> {
        self.flush();
        let is_made_for_it = |node: &Node| {
            matches!(node, Node::Inline(Inline { kind: InlineKind::Link { target: docs_model::ContentRef::Anchor { anchor, page: None, .. }, .. }, .. })
                if anchor.starts_with(NOTE_ANCHOR))
        };
        if self.nodes.last().is_some_and(is_made_for_it) {
            return match self.nodes.pop() {
                Some(Node::Inline(link)) => link.nodes,
                _ => Vec::new(),
            };
        }
        let Some(Node::Text(text)) = self.nodes.last_mut() else { return Vec::new() };
        let Some(leaf) = text.leaves.last_mut().filter(|leaf| leaf.marks == self.marks) else {
            return Vec::new();
        };
        let Some(source) = &mut leaf.spelling else { return Vec::new() };
        let start = word(&leaf.text);
        let word = leaf.text.split_off(start);
        let written = source.split_off(self::word(source));
        if word.is_empty() || written.is_empty() {
            leaf.text.push_str(&word);
            source.push_str(&written);
            return Vec::new();
        }
        let marks = leaf.marks.clone();
        if leaf.text.is_empty() {
            text.leaves.pop();
        }
        if text.leaves.is_empty() {
            self.nodes.pop();
        }
        vec![Node::Text(TextNode::new(vec![Leaf { spelling: Some(written), ..Leaf::new(word, marks) }]))]
    }

    /// Returns the nodes, or `None` if a document cannot contain them. Each leaf contains its spelling.
    pub(super) fn finish(mut self) -> Option<Vec<Node>> {
        self.flush();
        (!self.has_nested_link).then_some(self.nodes)
    }
}

/// Creates an annotation of nodes.
pub(super) fn annotation(nodes: Vec<Node>, body: Vec<Block>) -> Inline {
    let body = Fragment { fragment: None, ..Fragment::new("", body).with_kind("annotation-body") };
    Inline { fragments: Some(vec![body]), ..Inline::new(InlineKind::Annotation {}, nodes) }
}

/// Prefix of the anchors that annotated text links to.
pub(super) const NOTE_ANCHOR: &str = "user-content-fn-";

/// Returns the offset of the last word in `text`.
fn word(text: &str) -> usize {
    text.char_indices().rev().take_while(|(_, c)| !c.is_whitespace()).last().map_or(text.len(), |(at, _)| at)
}

fn label_of(node: &Node) -> Option<String> {
    let Node::Text(text) = node else { return None };
    Some(text.leaves.iter().map(|leaf| leaf.spelling.as_deref().unwrap_or(&leaf.text)).collect())
}

/// Returns the spelling of an element, prefixed with the number of enclosing marks.
fn prefixed_spelling(marks: usize, spelling: String) -> Option<String> {
    match (marks, spelling.is_empty()) {
        (0, true) => None,
        (0, false) => Some(spelling),
        (marks, _) => Some(format!("^{marks}{spelling}")),
    }
}
