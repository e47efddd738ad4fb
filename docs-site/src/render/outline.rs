//! The outline of a page, below "On this page".

use std::collections::HashSet;

use docs_core::{
    model::{Block, ContentRef, Document, Node},
    platform::{SpecDetail, SpecSubject},
};

use super::{
    anchors::{fragment, method_class},
    plain::plain_text,
};
use crate::{
    html::{Html, NamedMarkup},
    references::Specs,
    words::Words,
};

/// The maximum number of headings and operations in an outline.
const MAX_HEADINGS: usize = 200;

/// The outline of a document.
#[derive(Debug)]
pub(crate) enum Outline {
    /// The outline of a document without operations; `None` if it has fewer than two headings.
    Written(Option<NamedMarkup>),
    /// The entries of a document with operations, which are shown if their specification is known.
    Entries(Vec<OutlineEntry>),
}

/// A heading or an operation in an outline.
#[derive(Debug)]
pub(crate) struct OutlineEntry {
    level: u8,
    anchor: String,
    text: String,
    /// The specification and the operation or webhook.
    operation: Option<(String, SpecSubject)>,
}

impl Outline {
    pub(crate) fn new(document: &Document, words: &Words) -> Self {
        let entries = entries(document);
        if entries.iter().any(|entry| entry.operation.is_some()) {
            return Self::Entries(entries);
        }
        let entries: Vec<&OutlineEntry> = entries.iter().collect();
        Self::Written((entries.len() > 1).then(|| write_outline(&entries, words, &Specs::default())))
    }

    /// Writes the outline with the operations of known specifications.
    pub(crate) fn write(&self, specs: &Specs, words: &Words, write: impl FnOnce(Option<&NamedMarkup>)) {
        match self {
            Self::Written(written) => write(written.as_ref()),
            Self::Entries(all) => {
                let shown: Vec<&OutlineEntry> = shown_entries(all, specs).collect();
                let is_shown = shown.len() > 1 || shown.iter().any(|entry| entry.operation.is_some());
                let outline = is_shown.then(|| write_outline(&shown, words, specs));
                write(outline.as_ref());
            }
        }
    }

    /// The list of the operations of known specifications; `None` without operations.
    pub(crate) fn operations(&self, specs: &Specs) -> Option<NamedMarkup> {
        let Self::Entries(all) = self else { return None };
        let shown: Vec<_> = shown_entries(all, specs).filter(|entry| entry.operation.is_some()).collect();
        if shown.is_empty() {
            return None;
        }
        Some(NamedMarkup::new(Html::build_markup(|html| {
            html.tags("<ul class=\"operations\">");
            for entry in shown {
                html.tags("<li>");
                entry.write(html, specs);
                html.tags("</li>");
            }
            html.tags("</ul>");
        })))
    }

    /// The approximate memory in bytes.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Written(written) => written.as_ref().map_or(0, |written| written.as_str().len()),
            Self::Entries(all) => {
                let texts = all.iter().map(|entry| 3 * entry.anchor.len() + entry.text.len());
                all.len() * size_of::<OutlineEntry>() + texts.sum::<usize>()
            }
        }
    }
}

impl OutlineEntry {
    /// Writes the entry as a link. An operation has its summary, or else its path.
    fn write(&self, html: &mut Html, specs: &Specs) {
        html.tags("<a").attribute(" href=\"", &self.href()).tags(" dir=\"auto\"");
        let Some(operation) = &self.operation else {
            html.tags(">").text(&self.text).tags("</a>");
            return;
        };
        let detail = match specs.details.get(operation).map(|detail| &**detail) {
            Some(SpecDetail::Operation(of)) => Some(of),
            _ => None,
        };
        let is_deprecated = detail.is_some_and(|of| of.deprecated);
        html.tags(if is_deprecated { " class=\"deprecated\">" } else { ">" });
        let (SpecSubject::Operation { method, .. } | SpecSubject::Webhook { method, .. }) = &operation.1
        else {
            html.tags("</a>");
            return;
        };
        html.tags("<span class=\"method ").tags(method_class(method)).tags("\">");
        html.text(&method.to_uppercase()).tags("</span> ");
        let summary = detail.and_then(|of| of.summary.as_deref());
        html.text(summary.unwrap_or(&self.text));
        if matches!(operation.1, SpecSubject::Webhook { .. }) {
            html.tags(" <span class=\"tag\">Webhook</span>");
        }
        html.tags("</a>");
    }

    fn href(&self) -> String {
        match &self.operation {
            Some(_) => fragment(&self.anchor),
            None => format!("#{}", self.anchor),
        }
    }
}

/// Returns the headings, and the operations of known specifications, each once.
fn shown_entries<'e>(all: &'e [OutlineEntry], specs: &'e Specs) -> impl Iterator<Item = &'e OutlineEntry> {
    let mut seen = HashSet::new();
    all.iter().filter(move |entry| match &entry.operation {
        Some(operation) => specs.details.contains_key(operation) && seen.insert(entry.anchor.as_str()),
        None => true,
    })
}

fn write_outline(entries: &[&OutlineEntry], words: &Words, specs: &Specs) -> NamedMarkup {
    let title = words.on_this_page;
    NamedMarkup::new(Html::build_markup(|html| {
        html.tags("<nav class=\"outline\"").attribute(" aria-label=\"", title);
        html.tags("><p class=\"head\">").text(title).tags("</p><ul>");
        for entry in entries {
            html.tags(match entry.level {
                1 => "<li class=\"level-1\">",
                2 => "<li class=\"level-2\">",
                _ => "<li class=\"level-3\">",
            });
            entry.write(html, specs);
            html.tags("</li>");
        }
        html.tags("</ul></nav>");
    }))
}

/// Returns the headings with an anchor and text, and the operations, at any depth, at most [`MAX_HEADINGS`].
fn entries(document: &Document) -> Vec<OutlineEntry> {
    let mut found = Vec::new();
    let mut stack: Vec<&Block> = document.nodes.iter().rev().collect();
    while let Some(block) = stack.pop() {
        if found.len() >= MAX_HEADINGS {
            break;
        }
        match block.kind.heading() {
            Some((level, data)) => {
                let anchor = block.meta.as_ref().map(|meta| meta.id.as_str()).or(data.id.as_deref());
                let text = plain_text(&block.nodes);
                if let Some(anchor) = anchor.filter(|_| !text.trim().is_empty()) {
                    found.push(OutlineEntry { level, anchor: anchor.to_owned(), text, operation: None });
                }
            }
            None => {
                found.extend(operation_entry(block));
                stack.extend(block.nodes.iter().rev().filter_map(|node| match node {
                    Node::Block(block) => Some(block),
                    Node::Inline(_) | Node::Text(_) => None,
                }));
            }
        }
    }
    found
}

/// Returns the entry of a block that shows an operation or a webhook.
fn operation_entry(block: &Block) -> Option<OutlineEntry> {
    let (ContentRef::OpenApi { spec }, subjects) = SpecSubject::from_block(&block.kind)? else { return None };
    let subject = subjects.into_iter().next()?;
    let text = match &subject {
        SpecSubject::Operation { path: name, .. } | SpecSubject::Webhook { name, .. } => name.clone(),
        _ => return None,
    };
    let anchor = subject.anchor();
    Some(OutlineEntry { level: 1, anchor, text, operation: Some((spec.clone(), subject)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_beyond_the_bound_are_left_out() {
        let count = |all: usize| {
            let text: String = (0..all).map(|number| format!("# Heading {number}\n\n")).collect();
            entries(&docs_core::content::document::parse(&text)).len()
        };
        let counts = [MAX_HEADINGS - 1, MAX_HEADINGS, MAX_HEADINGS + 1].map(count);
        assert_eq!(counts, [MAX_HEADINGS - 1, MAX_HEADINGS, MAX_HEADINGS]);
    }
}
