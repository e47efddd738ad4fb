//! Splitting a document into segments for a translator, and building the translated document.
//!
//! A segment is the text of one block, or one string of a block's data. Placeholders represent the parts that must not
//! change: `⟦1⟧` for code, formulas, expressions, HTML, images and URLs, `⟦2⟧words⟦/2⟧` for words in a link or with a
//! mark. Equal documents have equal segments in the same order.

mod protect;

use docs_model::{
    Block, BlockContent, BlockKind, Document, Fragment, Inline, InlineKind, Node, TableColumnKind,
    check_page_size,
};

use crate::{
    document::{DocumentSource, Invalid, block_fingerprints, edited, is_verbatim, parse, print},
    slug::heading_anchor,
};

use protect::ProtectedSegment;
pub use protect::{is_translation_of, placeholder_free, words};

/// Returns the translatable segments of a document, in text order.
///
/// ```
/// use docs_markup::{document::parse, translate::segments};
/// let document = parse("# Start\n\nRead [the **guide**](https://example.com) or run `make`.\n\n```\nmake\n```\n");
/// let found = segments(&document);
/// assert_eq!(found, ["Start", "Read ⟦1⟧the ⟦2⟧guide⟦/2⟧⟦/1⟧ or run ⟦3⟧."]);
/// ```
#[must_use]
pub fn segments(document: &Document) -> Vec<String> {
    let mut found = Vec::new();
    let mut document = document.clone();
    SegmentVisitor {
        act: &mut |segment| {
            found.push(segment.to_owned());
            None
        },
    }
    .blocks(&mut document.nodes);
    found
}

/// Returns the document with translated segments. A segment without a translation, or whose translation lacks a
/// placeholder, remains unchanged.
///
/// Headings keep their anchors.
///
/// ```
/// use docs_markup::{document::{parse, print}, translate::translate_document};
/// let document = parse("# Start\n\nRun `make`.\n");
/// let german = translate_document(&document, |segment| match segment {
///     "Start" => Some("Anfang".to_owned()),
///     _ => Some("Führe ⟦1⟧ aus.".to_owned()),
/// });
/// assert_eq!(print(&german).unwrap(), "# Anfang <a href=\"#start\" id=\"start\"></a>\n\nFühre `make` aus.\n");
/// ```
#[must_use]
pub fn translate_document(
    document: &Document,
    mut translation: impl FnMut(&str) -> Option<String>,
) -> Document {
    let mut document = document.clone();
    SegmentVisitor { act: &mut translation }.blocks(&mut document.nodes);
    document
}

/// Translates Markdown like [`translate_document`]. Blocks without translated segments keep their bytes. Blocks that
/// cannot be printed with their translation remain unchanged, and so does the whole text if its translation exceeds the
/// maximum size of a page.
#[must_use]
pub fn translated_markdown(markdown: &str, mut translation: impl FnMut(&str) -> Option<String>) -> String {
    let mut source = DocumentSource::new(markdown);
    let before = block_fingerprints(&source.document);
    // Only one tree exists at a time; of the previous tree, only the block fingerprints are retained.
    let mut after = std::mem::replace(&mut source.document, Document::new(Vec::new()));
    SegmentVisitor { act: &mut translation }.blocks(&mut after.nodes);
    let written = written(&source, markdown, &before, after);
    written.ok().filter(|text| check_page_size(text).is_ok()).unwrap_or_else(|| markdown.to_owned())
}

/// Returns the text of a document that replaces a parsed one, with those new blocks that can be printed.
fn written(
    source: &DocumentSource<'_>,
    markdown: &str,
    before: &[String],
    mut after: Document,
) -> Result<String, Invalid> {
    if let Ok(Some(text)) = edited(source, markdown, before, &after) {
        return Ok(text);
    }
    let lost = without_print(before, &mut after);
    if !lost.is_empty() {
        let mut old = parse(markdown);
        for at in lost {
            if let (Some(old), Some(new)) = (old.nodes.get_mut(at), after.nodes.get_mut(at)) {
                std::mem::swap(old, new);
            }
        }
        drop(old);
        if let Some(text) = edited(source, markdown, before, &after)? {
            return Ok(text);
        }
    }
    print(&after)
}

/// Returns the indices of changed blocks that cannot be printed.
fn without_print(before: &[String], after: &mut Document) -> Vec<usize> {
    let now = block_fingerprints(after);
    let is_new = |at: &usize| before.get(*at) != now.get(*at);
    let mut prints = |at: usize| {
        // Each block is printed as a separate document, without copying it.
        let Some(block) = after.nodes.get_mut(at) else { return true };
        let mut alone =
            Document::new(vec![std::mem::replace(block, Block::new(BlockKind::Divider {}, Vec::new()))]);
        let prints = print(&alone).is_ok();
        alone.nodes.pop().into_iter().for_each(|own| *block = own);
        prints
    };
    (0..now.len()).filter(is_new).filter(|at| !prints(*at)).collect()
}

/// Returns the segment of a title or other plain text, or `None` if there is nothing to translate.
#[must_use]
pub fn text_segment(text: &str) -> Option<String> {
    ProtectedSegment::from_text(text).map(|protected| protected.segment)
}

/// Returns the translation of a plain text, or the text itself if the translation is invalid.
#[must_use]
pub fn translated_text(text: &str, translation: impl FnOnce(&str) -> Option<String>) -> String {
    let Some(protected) = ProtectedSegment::from_text(text) else { return text.to_owned() };
    let translation = translation(&protected.segment);
    translation.and_then(|translation| protected.text_of(&translation)).unwrap_or_else(|| text.to_owned())
}

/// A traversal of a document. The callback receives a segment and may return its translation.
struct SegmentVisitor<'a> {
    act: &'a mut dyn FnMut(&str) -> Option<String>,
}

impl SegmentVisitor<'_> {
    fn blocks(&mut self, blocks: &mut [Block]) {
        blocks.iter_mut().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &mut Block) {
        // A verbatim block may contain any content.
        if is_verbatim(block) || matches!(block.kind, BlockKind::Code { .. }) {
            return;
        }
        self.data(&mut block.kind);
        if block.kind.form().content == BlockContent::Text {
            let anchor = block.meta.as_ref().map(|meta| meta.id.clone());
            if self.nodes(&mut block.nodes)
                && let (Some(anchor), Some(id)) = (anchor, explicit_anchor(&mut block.kind))
                && id.is_none()
                && heading_anchor(&words(&block.nodes)) != anchor
            {
                *id = Some(anchor);
            }
            self.fragments(block.fragments.as_deref_mut().unwrap_or_default());
        } else {
            block.children_mut().for_each(|block| self.block(block));
        }
    }

    fn fragments(&mut self, fragments: &mut [Fragment]) {
        fragments.iter_mut().for_each(|fragment| self.blocks(&mut fragment.nodes));
    }

    /// Translates the strings in a block's data.
    fn data(&mut self, kind: &mut BlockKind) {
        match kind {
            BlockKind::TabsItem { title: Some(title), .. } => self.text(title),
            BlockKind::Prompt { description, .. } => self.text(description),
            BlockKind::Image(image) => image.alt.iter_mut().for_each(|alt| self.text(alt)),
            BlockKind::Table(table) => {
                for column in table.definition.values_mut() {
                    let before = column.title.clone();
                    self.text(&mut column.title);
                    if column.title != before {
                        column.spelling = None;
                    }
                    if let TableColumnKind::Select { options, .. } = &mut column.kind {
                        options.iter_mut().for_each(|option| self.text(&mut option.label));
                    }
                }
            }
            _ => {}
        }
    }

    /// Translates the text of a block, then the text of the elements in it. Returns `true` if the text of the block was
    /// translated.
    fn nodes(&mut self, nodes: &mut Vec<Node>) -> bool {
        let mut is_new = false;
        if let Some(protected) = ProtectedSegment::from_nodes(nodes)
            && let Some(translation) = (self.act)(&protected.segment)
            && let Some(new) = protected.nodes_of(&translation)
        {
            *nodes = new;
            is_new = true;
        }
        self.inlines(nodes);
        is_new
    }

    fn inlines(&mut self, nodes: &mut [Node]) {
        for node in nodes {
            if let Node::Inline(inline) = node {
                self.inline(inline);
            }
        }
    }

    fn inline(&mut self, inline: &mut Inline) {
        match &mut inline.kind {
            InlineKind::Link { title: Some(title), .. } => self.text(title),
            InlineKind::InlineImage { caption, alt, .. } => {
                caption.iter_mut().chain(alt).for_each(|text| self.text(text));
            }
            InlineKind::Button { label, .. } => self.text(label),
            _ => {}
        }
        self.inlines(&mut inline.nodes);
        self.fragments(inline.fragments.as_deref_mut().unwrap_or_default());
    }

    /// Translates a string in the data of a block or element.
    fn text(&mut self, text: &mut String) {
        let new = translated_text(text, |segment| (self.act)(segment));
        if new != *text {
            *text = new;
        }
    }
}

/// Returns the explicit anchor of a heading.
fn explicit_anchor(kind: &mut BlockKind) -> Option<&mut Option<String>> {
    match kind {
        BlockKind::Heading1(data) | BlockKind::Heading2(data) | BlockKind::Heading3(data) => {
            Some(&mut data.id)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
