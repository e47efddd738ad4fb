//! The plain text of a document, for search, previews and outlines.

use docs_model::{Block, BlockKind, ContentRef, Document, Inline, InlineKind, Leaf, Node, TextNode};

use super::{keys, targets::default_label};

/// A section of a document: a heading and the text below it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Section {
    /// The anchor of the heading, or `None` for the text before the first heading.
    pub anchor: Option<String>,
    /// The text of the heading.
    pub heading: Option<String>,
    /// The text below the heading, one line per block.
    pub text: String,
}

/// A heading in the outline of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineItem {
    pub level: u8,
    pub title: String,
    pub anchor: String,
    /// The key of the block.
    pub key: String,
}

/// Returns the text of a document without marks, one line per block.
#[must_use]
pub fn plain_text(document: &Document) -> String {
    let mut out = String::new();
    for block in &document.nodes {
        write(block, &mut out);
    }
    out.trim_end().to_owned()
}

/// Returns the sections of a document: one per heading at any nesting level, and one for the text before the first
/// heading.
///
/// Sections without heading and text are omitted.
#[must_use]
pub fn sections(document: &Document) -> Vec<Section> {
    let mut out = vec![Section::default()];
    for block in &document.nodes {
        part(block, &mut out);
    }
    for section in &mut out {
        section.text.truncate(section.text.trim_end().len());
    }
    out.retain(|section| section.heading.is_some() || !section.text.is_empty());
    out
}

/// Returns the headings of a document at any nesting level, in text order.
#[must_use]
pub fn outline(document: &Document) -> Vec<OutlineItem> {
    let mut out = Vec::new();
    for block in &document.nodes {
        block.visit(&mut |block| {
            if let Some((level, _)) = block.kind.heading() {
                out.push(OutlineItem {
                    level,
                    title: inline_text(&block.nodes).trim().to_owned(),
                    anchor: block.meta.as_ref().map(|meta| meta.id.clone()).unwrap_or_default(),
                    key: block.key.clone().unwrap_or_default(),
                });
            }
        });
    }
    out
}

/// Returns `true` for a block with text and without child blocks.
fn is_leaf(block: &Block) -> bool {
    block.nodes.iter().all(|node| node.as_block().is_none()) && block.fragments().is_empty()
}

fn part(block: &Block, out: &mut Vec<Section>) {
    if block.kind.heading().is_some() {
        out.push(Section {
            anchor: block.meta.as_ref().map(|meta| meta.id.clone()),
            heading: Some(inline_text(&block.nodes).trim().to_owned()),
            text: String::new(),
        });
        return;
    }
    let mut has_heading = false;
    block.visit(&mut |block| has_heading |= block.kind.heading().is_some());
    let Some(last) = out.last_mut() else { return };
    if !has_heading || is_leaf(block) {
        return write(block, &mut last.text);
    }
    write_data_texts(block, &mut last.text);
    block.children().for_each(|block| part(block, out));
}

/// Writes the text in a block's data: titles, formulas and alternative text.
fn write_data_texts(block: &Block, out: &mut String) {
    let operation;
    let text = match &block.kind {
        BlockKind::TabsItem { title, .. } | BlockKind::Code { title, .. } => title.as_deref(),
        BlockKind::Math { formula } => Some(formula.as_str()),
        BlockKind::Prompt { description, .. } => Some(description.as_str()),
        BlockKind::Image(data) => data.alt.as_deref(),
        BlockKind::Embed { url, .. } => Some(url.as_str()),
        BlockKind::OpenapiWebhook { name, .. } => Some(name.as_str()),
        BlockKind::Swagger { path, method, .. } | BlockKind::OpenapiOperation { path, method, .. } => {
            operation = format!("{} {path}", method.to_uppercase());
            Some(operation.as_str())
        }
        _ => None,
    };
    line(text.unwrap_or_default(), out);
}

fn line(text: &str, out: &mut String) {
    let text = text.trim_end();
    if !text.trim().is_empty() {
        out.push_str(text);
        out.push('\n');
    }
}

fn write(block: &Block, out: &mut String) {
    write_data_texts(block, out);
    if let BlockKind::Table(data) = &block.kind {
        let titles: Vec<&str> = data
            .view
            .columns()
            .iter()
            .filter_map(|id| data.definition.get(id))
            .map(|column| column.title.as_str())
            .collect();
        line(&titles.join(" "), out);
        for row in keys::cells(block) {
            let mut text = String::new();
            row.iter().flat_map(|fragment| &fragment.nodes).for_each(|block| write(block, &mut text));
            line(&text.split_whitespace().collect::<Vec<_>>().join(" "), out);
        }
        return;
    }
    if is_leaf(block) {
        return line(&inline_text(&block.nodes), out);
    }
    block.children().for_each(|block| write(block, out));
}

/// Returns the text of inline nodes, including the visible text of elements without child nodes.
pub(super) fn inline_text(nodes: &[Node]) -> String {
    let mut out = String::new();
    for node in nodes {
        match node {
            Node::Text(TextNode { leaves, .. }) => {
                leaves.iter().for_each(|leaf: &Leaf| out.push_str(&leaf.text));
            }
            Node::Block(block) => out.push_str(&inline_text(&block.nodes)),
            Node::Inline(inline) => write_inline_text(inline, &mut out),
        }
    }
    out
}

fn write_inline_text(inline: &Inline, out: &mut String) {
    match &inline.kind {
        InlineKind::Link { .. } | InlineKind::Annotation {} => out.push_str(&inline_text(&inline.nodes)),
        InlineKind::Emoji { code } => out.push_str(&super::emoji_names::text(code).unwrap_or_default()),
        InlineKind::InlineMath { formula } => out.push_str(formula),
        InlineKind::Button { label, .. } => out.push_str(label),
        InlineKind::InlineImage { alt, .. } => out.push_str(alt.as_deref().unwrap_or_default()),
        InlineKind::Expression { expression } => out.push_str(expression),
        InlineKind::Mention { target } => out.push_str(match (inline.spelling.as_deref(), target) {
            (Some(source), _) => mention_source(source).unwrap_or_default(),
            (None, ContentRef::Url { url }) => default_label(url),
            (None, _) => "",
        }),
        InlineKind::Icon { .. } => {}
    }
}

/// Returns the label in the source of a mention in Markdown syntax.
pub(super) fn mention_source(spelling: &str) -> Option<&str> {
    spelling.split_once('[')?.1.rsplit_once("](").map(|(label, _)| label)
}

/// Maximum number of characters in a preview.
const MAX_PREVIEW_CHARS: usize = 200;

/// Returns the text of a block as a preview.
pub(super) fn preview(block: &Block) -> String {
    let mut text = String::new();
    write(block, &mut text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_PREVIEW_CHARS) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text,
    }
}
