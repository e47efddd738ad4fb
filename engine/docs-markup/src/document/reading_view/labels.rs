//! Link and footnote definitions of a document.

use std::collections::{HashMap, HashSet};

use docs_model::{BlockKind, Document, InlineKind, Node};
use pulldown_cmark::{Event, Parser, Tag};

use super::{
    super::{inlines::label, print, spelling, work_budget},
    options::OPTIONS,
    tags,
};

/// The definitions that apply to the whole document.
#[derive(Default)]
pub(super) struct Labels {
    /// Destinations and titles of links, by normalized label.
    pub(super) links: HashMap<String, (String, String)>,
    /// The normalized labels of footnotes.
    pub(super) notes: HashSet<String>,
    /// The footnote labels of the annotations, in text order.
    pub(super) annotations: Vec<String>,
    /// The names of unknown tags that have a closing tag.
    pub(super) paired_tags: HashSet<String>,
}

impl Labels {
    /// Collects the definitions in verbatim blocks, and the labels of annotations.
    pub(super) fn of(document: &Document) -> Self {
        let mut labels = Self::default();
        let mut numbers = print::Labels::default();
        for block in &document.nodes {
            numbers.number(block);
            spelling::each_inline(block, &mut |inline| {
                if inline.kind == (InlineKind::Annotation {}) {
                    let at = labels.annotations.len();
                    labels
                        .annotations
                        .push(numbers.notes.get(at).map(|own| own.0.clone()).unwrap_or_default());
                }
            });
            block.visit(&mut |block| {
                let leaves = block.nodes.iter().flat_map(|node| match node {
                    Node::Text(text) => text.leaves.as_slice(),
                    _ => &[],
                });
                leaves.for_each(|leaf| tags::closing_names(&leaf.text, &mut labels.paired_tags));
                if spelling::is_verbatim(block) {
                    labels.add(&spelling::text_of_nodes(&block.nodes));
                } else if matches!(block.kind, BlockKind::Paragraph { .. }) {
                    // A definition directly after another one can be a paragraph.
                    let source = source(&block.nodes);
                    if source.starts_with('[') {
                        labels.add(&source);
                    }
                }
            });
        }
        labels.notes.extend(labels.annotations.iter().map(|name| label(name)));
        labels
    }

    fn add(&mut self, source: &str) {
        if !source.contains("]:") {
            return;
        }
        work_budget::step(source.len());
        let parser = Parser::new_ext(source, OPTIONS);
        for (name, definition) in parser.reference_definitions().iter() {
            let title = definition.title.as_deref().unwrap_or_default().to_owned();
            self.links.entry(label(name)).or_insert_with(|| (definition.dest.to_string(), title));
        }
        if source.contains("[^") {
            for event in parser {
                if let Event::Start(Tag::FootnoteDefinition(name)) = event {
                    self.notes.insert(label(&name));
                }
            }
        }
    }
}

/// Returns the source of the text at the beginning of inline nodes. It is empty for text that is printed with escapes.
fn source(nodes: &[Node]) -> String {
    let Some(Node::Text(text)) = nodes.first() else { return String::new() };
    if text.leaves.first().is_none_or(|leaf| leaf.spelling.is_none()) {
        return String::new();
    }
    text.leaves.iter().map(|leaf| leaf.spelling.as_deref().unwrap_or(&leaf.text)).collect()
}
