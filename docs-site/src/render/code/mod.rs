//! Code blocks, with line markup and syntax highlighting.

#[cfg(test)]
mod hostile;
mod languages;
mod lexer;

use docs_core::model::{Block, BlockKind, Leaf, Node, TextNode};
use maud::Markup;

use self::lexer::{CodeToken, CodeTokenKind, tokenize};
use super::{NodePosition, Renderer, inline::write_marked, plain::plain_text};
use crate::html::Html;

/// The display options of a code block.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodeOptions<'c> {
    pub(super) syntax: Option<&'c str>,
    pub(super) title: Option<&'c str>,
    pub(super) wraps: bool,
    pub(super) is_numbered: bool,
    pub(super) is_full: bool,
}

/// The position in the code and the tokens that follow it.
struct Cursor<'r> {
    at: usize,
    runs: &'r [CodeToken],
}

impl Renderer<'_> {
    /// Writes a code block line by line.
    pub(super) fn write_code(&self, html: &mut Html, block: &Block, look: CodeOptions<'_>, at: NodePosition) {
        let language = look.syntax.map(|syntax| format!("language-{syntax}"));
        let mut class = "code".to_owned();
        for (is_on, name) in
            [(look.wraps, " wraps"), (look.is_numbered, " numbered"), (look.is_full, " full")]
        {
            if is_on {
                class.push_str(name);
            }
        }
        let found = match look.syntax {
            Some(syntax) => tokenize(&text_of(block), syntax),
            None => Vec::new(),
        };
        let mut cursor = Cursor { at: 0, runs: &found };
        // Code must not affect the direction of the surrounding text.
        html.tags("<figure").attribute(" class=\"", &class).tags(" dir=\"ltr\">");
        if let Some(title) = look.title {
            html.tags("<figcaption>").text(title).tags("</figcaption>");
        }
        html.tags("<pre tabindex=\"0\"><code").attribute_if(" class=\"", language.as_deref()).tags(">");
        for node in &block.nodes {
            let (nodes, is_on) = code_line(node);
            html.tags(if is_on { "<span class=\"line on\">" } else { "<span class=\"line\">" });
            self.write_line(html, nodes, &mut cursor, at);
            html.tags("\n</span>");
        }
        html.tags("</code></pre></figure>");
    }

    /// Renders plain text as a code block.
    pub(super) fn code_text(&self, text: &str, syntax: &str, title: Option<&str>) -> Markup {
        let line = |line: &str| Node::Text(TextNode::new(vec![Leaf::new(line, Vec::new())]));
        let block = Block::new(BlockKind::Paragraph { align: None }, text.lines().map(line).collect());
        let look =
            CodeOptions { syntax: Some(syntax), title, wraps: false, is_numbered: false, is_full: false };
        Html::build_markup(|html| self.write_code(html, &block, look, NodePosition::default()))
    }

    fn write_line(&self, html: &mut Html, nodes: &[Node], cursor: &mut Cursor<'_>, at: NodePosition) {
        for node in nodes {
            match node {
                Node::Text(text) => text.leaves.iter().for_each(|leaf| write_highlighted(html, leaf, cursor)),
                // Other elements within code, such as annotations, are not highlighted.
                other => {
                    cursor.at += plain_text(std::slice::from_ref(other)).len();
                    self.write_inlines(html, std::slice::from_ref(other), at);
                }
            }
        }
        cursor.at += 1;
    }
}

/// Returns the text of a code block, with a line feed after each line.
fn text_of(block: &Block) -> String {
    let mut text = String::new();
    for node in &block.nodes {
        for node in code_line(node).0 {
            match node {
                Node::Text(of) => of.leaves.iter().for_each(|leaf| text.push_str(&leaf.text)),
                other => text.push_str(&plain_text(std::slice::from_ref(other))),
            }
        }
        text.push('\n');
    }
    text
}

/// Returns the content of a code line, and `true` if it is highlighted.
fn code_line(node: &Node) -> (&[Node], bool) {
    match node {
        Node::Block(Block { kind: BlockKind::CodeLine { highlighted }, nodes, .. }) => {
            (nodes, *highlighted == Some(true))
        }
        node => (std::slice::from_ref(node), false),
    }
}

/// Writes a text leaf, split at token boundaries.
fn write_highlighted(html: &mut Html, leaf: &Leaf, cursor: &mut Cursor<'_>) {
    let (start, end) = (cursor.at, cursor.at + leaf.text.len());
    cursor.at = end;
    write_marked(html, leaf, |html| {
        let plain = |html: &mut Html, from: usize, to: usize| {
            html.text(leaf.text.get(from - start..to - start).unwrap_or_default());
        };
        let mut done = start;
        while let Some((run, later)) = cursor.runs.split_first() {
            if run.start >= end {
                break;
            }
            let (from, to) = (run.start.max(done), run.end.min(end));
            plain(html, done, from);
            if to > from {
                html.tags("<span class=\"").tags(class(run.kind)).tags("\">");
                plain(html, from, to);
                html.tags("</span>");
            }
            done = to.max(done);
            if run.end > end {
                break;
            }
            cursor.runs = later;
        }
        plain(html, done, end);
    });
}

/// Returns the CSS class of a token kind.
const fn class(kind: CodeTokenKind) -> &'static str {
    match kind {
        CodeTokenKind::Comment => "c-c",
        CodeTokenKind::Text => "c-s",
        CodeTokenKind::Value => "c-v",
        CodeTokenKind::Keyword => "c-k",
        CodeTokenKind::Type => "c-t",
        CodeTokenKind::Function => "c-f",
        CodeTokenKind::Name => "c-n",
        CodeTokenKind::Added => "c-a",
        CodeTokenKind::Removed => "c-r",
        CodeTokenKind::Note => "c-m",
    }
}

#[cfg(test)]
mod tests;
