//! Final steps of building a view: footnote bodies.

use std::collections::HashMap;

use docs_model::{Block, Document, Fragment, Inline, InlineKind, Node};

use super::{super::memory, state::View};

/// The body of a footnote, which each reference copies.
struct NoteBody {
    body: Vec<Block>,
    /// The estimated memory of a copy.
    bytes: usize,
}

impl NoteBody {
    fn new(body: Vec<Block>) -> Self {
        let document = Document::new(body);
        Self { bytes: memory(&document), body: document.nodes }
    }
}

/// Sets the bodies of annotations that only have a label. Annotations within such a body are replaced by their text.
pub(super) fn notes(document: &mut Document, view: &mut View) {
    let bodies = std::mem::take(&mut view.notes).into_iter();
    let bodies = bodies.map(|(label, body)| (label, NoteBody::new(body))).collect();
    blocks(&mut document.nodes, &bodies, view);
}

fn blocks(all: &mut [Block], bodies: &HashMap<String, NoteBody>, view: &mut View) {
    for block in all {
        block.visit_mut(&mut |block| {
            for node in &mut block.nodes {
                if let Node::Inline(inline) = node
                    && inline.kind == (InlineKind::Annotation {})
                {
                    annotation(inline, bodies, view);
                }
            }
        });
    }
}

fn annotation(inline: &mut Inline, bodies: &HashMap<String, NoteBody>, view: &mut View) {
    if let Some(fragments) = &mut inline.fragments {
        fragments.iter_mut().for_each(|fragment| blocks(&mut fragment.nodes, bodies, view));
        return;
    }
    let label = inline.spelling.take().unwrap_or_default();
    let body = bodies.get(&label).filter(|body| view.take(body.bytes));
    let mut body = body.map(|body| body.body.clone()).unwrap_or_default();
    body.iter_mut().for_each(|block| {
        block.visit_mut(&mut |block| {
            block.key = None;
            plain(&mut block.nodes);
        });
    });
    let fragment = Fragment { fragment: None, ..Fragment::new("", body).with_kind("annotation-body") };
    inline.fragments = Some(vec![fragment]);
}

/// Replaces annotations with their text.
fn plain(nodes: &mut Vec<Node>) {
    let mut out = Vec::with_capacity(nodes.len());
    for node in std::mem::take(nodes) {
        match node {
            Node::Inline(inline) if inline.kind == (InlineKind::Annotation {}) => out.extend(inline.nodes),
            node => out.push(node),
        }
    }
    *nodes = out;
}
