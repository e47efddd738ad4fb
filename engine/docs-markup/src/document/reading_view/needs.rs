//! Detection of markup that was preserved as text.

use docs_model::{
    Block, BlockKind, Document, Inline, InlineKind, Leaf, MarkKind, Node, TableColumn, TextNode,
};

use super::{
    super::{marks::may_have_attributes, print::split_outer_marks, spelling::is_verbatim},
    addresses, dialects,
    placeholders::NO_CHARACTER,
};

/// Returns `true` if the reading view differs from the document.
pub(super) fn document(document: &Document) -> bool {
    let mut is_needed = false;
    for block in &document.nodes {
        block.visit(&mut |block| is_needed = is_needed || self::block(block));
        if is_needed {
            break;
        }
    }
    is_needed || document_notes(document)
}

/// Returns `true` if a block in the body of an annotation needs a view.
fn document_notes(document: &Document) -> bool {
    document.parts().any(|part| match part {
        docs_model::DocumentPart::Block(block) => self::block(block),
        docs_model::DocumentPart::Inline(_) => false,
    })
}

/// Returns `true` if the block itself needs a view, regardless of its descendants.
fn block(block: &Block) -> bool {
    is_verbatim(block)
        || match &block.kind {
            BlockKind::Code { syntax, title, .. } => {
                syntax
                    .as_deref()
                    .is_some_and(|syntax| dialects::fence(syntax).0 != syntax || syntax == "math")
                    || title.as_deref().is_some_and(|title| has_code(title) || is_escaped(title))
            }
            BlockKind::TabsItem { title: Some(title), .. } => is_escaped(title) || nodes(&block.nodes),
            BlockKind::CodeLine { .. } => false,
            BlockKind::Blockquote {} => dialects::alert(block).is_some(),
            BlockKind::Table(data) => data.definition.values().any(is_title_markup),
            BlockKind::Heading1(_) | BlockKind::Heading2(_) | BlockKind::Heading3(_) => {
                nodes(&block.nodes) || has_attributes(&block.nodes)
            }
            _ => nodes(&block.nodes),
        }
}

/// Returns `true` for a column whose title may contain HTML, tags or footnote references.
pub(super) fn is_title_markup(column: &TableColumn) -> bool {
    ["[^", "<", "{%"].iter().any(|sign| column.title.contains(sign))
}

/// Returns `true` if the title of a code block contains a code span.
pub(super) fn has_code(title: &str) -> bool {
    title.matches('`').nth(1).is_some()
}

/// Characters that older exports escape in titles.
const ESCAPED: [char; 11] = ['(', ')', '[', ']', '_', '*', '#', '<', '>', '`', '~'];

/// Returns `true` if a title contains escaped punctuation, such as `Install \(Linux\)`.
pub(super) fn is_escaped(title: &str) -> bool {
    title.match_indices('\\').any(|(at, _)| title[at + 1..].starts_with(ESCAPED))
}

/// Returns a title without the backslashes of its escaped punctuation.
pub(super) fn unescaped(title: &str) -> String {
    let mut out = String::with_capacity(title.len());
    let mut parts = title.split('\\');
    out.extend(parts.next());
    for part in parts {
        if !part.starts_with(ESCAPED) {
            out.push('\\');
        }
        out.push_str(part);
    }
    out
}

/// Returns `true` if a heading ends with attributes, such as `{#id}`.
pub(super) fn has_attributes(nodes: &[Node]) -> bool {
    let Some(Node::Text(TextNode { leaves, .. })) = nodes.last() else { return false };
    leaves.last().is_some_and(|leaf| leaf.marks.is_empty() && attributes(&leaf.text))
}

/// Returns `true` if a line ends with attributes.
fn attributes(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with('}') && line.rfind('{').is_some_and(|at| may_have_attributes(&line[at..]))
}

/// Returns `true` if inline nodes contain markup that was preserved as text.
pub(super) fn nodes(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Text(text) => text.leaves.iter().any(leaf),
        Node::Inline(inline) => self::inline(inline),
        Node::Block(_) => false,
    })
}

fn inline(inline: &Inline) -> bool {
    match inline.kind {
        InlineKind::Annotation {} => inline.nodes.is_empty() || nodes(&inline.nodes),
        InlineKind::Link { .. } => {
            label(&inline.nodes) || note_name(inline).is_some() || inline.nodes.iter().any(is_annotation)
        }
        _ => false,
    }
}

/// Returns `true` for annotated text.
pub(super) fn is_annotation(node: &Node) -> bool {
    matches!(node, Node::Inline(inline) if inline.kind == (InlineKind::Annotation {}))
}

/// Returns `true` if the label of a link contains markup that was preserved as text.
pub(super) fn label(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Text(text) => text.leaves.iter().any(|leaf| !is_code(leaf) && is_marked_up(leaf)),
        _ => false,
    })
}

/// Returns the label of the possible footnote reference that is the whole label of a link, as in `[^note](/url)`.
pub(super) fn note_name(link: &Inline) -> Option<&str> {
    let [Node::Text(TextNode { leaves, .. })] = link.nodes.as_slice() else { return None };
    let [leaf] = leaves.as_slice() else { return None };
    let (marks, notation) = split_outer_marks(link.spelling.as_deref());
    let is_markdown = leaf.marks.len() == marks && notation != "a";
    leaf.text.strip_prefix('^').filter(|name| is_markdown && !name.is_empty())
}

fn is_code(leaf: &Leaf) -> bool {
    leaf.marks.iter().any(|mark| mark.kind == MarkKind::Code)
}

fn leaf(leaf: &Leaf) -> bool {
    !is_code(leaf) && (is_marked_up(leaf) || !addresses::find(&leaf.text).is_empty())
}

fn is_marked_up(leaf: &Leaf) -> bool {
    // The parser escapes a repeated footnote reference in some contexts.
    leaf.text.contains("[^")
        || leaf.text.contains(NO_CHARACTER)
        || leaf.spelling.as_deref().is_some_and(|source| source.contains(['<', '[']) || source.contains("{%"))
}
