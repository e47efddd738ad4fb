//! Parsing of inline HTML in cells, captions and aligned paragraphs.

use docs_model::{Inline, InlineKind, Leaf, Mark, Node, TextNode};

use super::{
    atoms,
    builder::{NOTE_ANCHOR, annotation},
    html::{Element, Html, unescape},
    inlines::{Rules, is_link, mark},
    targets,
};

/// Converts HTML to inline nodes. Returns `None` for unknown HTML.
pub(super) fn inlines(nodes: &[Html<'_>], rules: &mut Rules<'_>) -> Option<Vec<Node>> {
    let mut reader = RichTextReader { rules, out: Vec::new(), marks: Vec::new() };
    reader.nodes(nodes)?;
    Some(super::spelling::compact(reader.out))
}

struct RichTextReader<'r, 'n> {
    rules: &'r mut Rules<'n>,
    out: Vec<Node>,
    marks: Vec<Mark>,
}

impl RichTextReader<'_, '_> {
    fn nodes(&mut self, nodes: &[Html<'_>]) -> Option<()> {
        for node in nodes {
            match node {
                Html::Text(text) => self.text(text),
                Html::Element(element) => self.element(element)?,
            }
        }
        Some(())
    }

    /// Adds text, with the formulas in it.
    fn text(&mut self, mut text: &str) {
        while let Some((before, rest)) = text.split_once("$$") {
            let Some((formula, behind)) =
                rest.split_once("$$").filter(|(formula, _)| !formula.trim().is_empty())
            else {
                break;
            };
            self.leaf(before);
            let formula = unescape(formula).into_owned();
            self.out.push(Node::Inline(Inline::new(InlineKind::InlineMath { formula }, Vec::new())));
            text = behind;
        }
        self.leaf(text);
    }

    fn leaf(&mut self, source: &str) {
        if source.is_empty() {
            return;
        }
        self.push(Leaf {
            spelling: Some(source.to_owned()),
            ..Leaf::new(unescape(source).replace('\n', " "), self.marks.clone())
        });
    }

    fn push(&mut self, leaf: Leaf) {
        match self.out.last_mut() {
            Some(Node::Text(text)) => match text.leaves.last_mut().filter(|last| last.marks == leaf.marks) {
                Some(last) => {
                    last.text.push_str(&leaf.text);
                    let more = leaf.spelling.unwrap_or_default();
                    last.spelling.get_or_insert_default().push_str(&more);
                }
                None => text.leaves.push(leaf),
            },
            _ => self.out.push(Node::Text(TextNode::new(vec![leaf]))),
        }
    }

    fn element(&mut self, element: &Element<'_>) -> Option<()> {
        let open = &element.open;
        if open.name == "br" && open.has_only(&[]) {
            self.push(Leaf { spelling: Some(open.source.to_owned()), ..Leaf::new("\n", self.marks.clone()) });
            return Some(());
        }
        if let Some(kind) = atoms::inline(element) {
            let mut inline = Inline::new(kind, Vec::new());
            inline.spelling = Some(element.source());
            self.out.push(Node::Inline(inline));
            return Some(());
        }
        if let Some(mark) = mark(open) {
            // Within HTML, marks in HTML notation are canonical and need no spelling.
            let spelling = mark.spelling.filter(|c| *c != '<');
            self.marks.push(Mark { spelling, ..mark });
            let before = self.out.len();
            self.nodes(&element.children)?;
            if element.children.is_empty() && before == self.out.len() {
                return None;
            }
            self.marks.pop();
            return Some(());
        }
        let inner = |reader: &mut Self| {
            let mut inner =
                RichTextReader { rules: &mut *reader.rules, out: Vec::new(), marks: reader.marks.clone() };
            inner.nodes(&element.children)?;
            Some(inner.out)
        };
        let href = open.get("href");
        let inline = if is_link(open) {
            let nodes = inner(self)?;
            let title = open.get("title").map(str::to_owned);
            let mut inline = Inline::new(InlineKind::Link { target: targets::read(href?), title }, nodes);
            let count = if self.marks.is_empty() { String::new() } else { format!("^{}", self.marks.len()) };
            inline.spelling = Some(format!("{count}{}", open.source));
            inline
        } else if open.name == "a"
            && open.has("data-footnote-ref")
            && open.has_only(&["data-footnote-ref", "href"])
        {
            let label = href?.strip_prefix('#')?.strip_prefix(NOTE_ANCHOR)?.to_owned();
            let nodes = inner(self)?;
            let number = (self.rules.notes.count() + 1).to_string();
            let body = self.rules.notes.take(&label)?;
            let mut inline = annotation(nodes, body);
            inline.spelling = (number != label).then_some(label);
            inline
        } else {
            return None;
        };
        self.out.push(Node::Inline(inline));
        Some(())
    }
}
