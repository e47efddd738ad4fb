//! Evaluation of documents for a visitor: resolves conditions, and replaces expressions by their values.

use std::mem;

use docs_expression::{self as expression, Allowance, Budget, Claims, Context, Expression, MAX_STEPS};
use docs_markup::{document, syntax::tag};
use docs_model::{Block, BlockKind, Document, Fragment, Inline, InlineKind, Leaf, Node, TextNode, WhenEmpty};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum total number of steps for the expressions of a document. Expressions beyond this limit fail.
const MAX_DOCUMENT_STEPS: u32 = 20 * MAX_STEPS;

/// Maximum total size in bytes of the values that the expressions of a document insert. An expression whose value
/// exceeds the remaining budget is displayed in double braces, like an expression that fails.
///
/// The step limit does not bound the size, because a few steps can repeat a claim or a string of up to
/// [`expression::MAX_TEXT`] bytes.
pub const MAX_VALUE_BYTES: usize = 256 * 1024;

/// The scope of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub enum Evaluated {
    /// Nothing. Conditions and expressions are unchanged.
    #[default]
    #[serde(rename = "false")]
    No,
    /// Everything.
    #[serde(rename = "true")]
    Yes,
    /// Conditions and expressions that depend only on variables and on claims with enumerated values. The others are
    /// left to the client, which knows the visitor.
    #[serde(rename = "deterministic-only")]
    DeterministicOnly,
}

/// Evaluates a document.
///
/// A true condition is replaced by its blocks; any other condition is removed. The value of an expression is inserted
/// as text and merged with the surrounding text. An expression that fails, or whose value exceeds the budget of the
/// document, is displayed in double braces. A container that becomes empty is removed if it has no content of its own
/// (a list, an item, a quotation, a hint, a set of tabs, steps or columns). If it has a title or a fixed position (a
/// tab, a step, a column, a cell, the body of an expandable), it receives an empty paragraph.
///
/// Reusable content blocks are not expanded here. They are evaluated as separate documents.
#[must_use]
pub fn evaluate(document: &Document, mode: Evaluated, context: &Context, claims: &Claims) -> Document {
    evaluate_within(document, mode, context, claims, &mut document_allowance())
}

/// Evaluates a document like [`evaluate`], with a budget shared by several documents.
#[must_use]
pub fn evaluate_within(
    document: &Document,
    mode: Evaluated,
    context: &Context,
    claims: &Claims,
    allowance: &mut Allowance,
) -> Document {
    if mode == Evaluated::No {
        return document.clone();
    }
    run(document, Evaluator { mode, conditions: Conditions::SameAsText, context, claims, allowance })
}

/// Evaluates a document for a visitor who must not receive content that a condition hides. Conditions are resolved in
/// every mode; only expressions within text can be left to the client. A condition is false if it reads a value that
/// must not control visibility ([`Expression::is_deterministic`]).
#[must_use]
pub fn evaluate_for_visitor(
    document: &Document,
    mode: Evaluated,
    context: &Context,
    claims: &Claims,
) -> Document {
    evaluate_for_visitor_within(document, mode, context, claims, &mut document_allowance())
}

/// Evaluates a document like [`evaluate_for_visitor`], with a budget shared by several documents.
#[must_use]
pub fn evaluate_for_visitor_within(
    document: &Document,
    mode: Evaluated,
    context: &Context,
    claims: &Claims,
    allowance: &mut Allowance,
) -> Document {
    // Visitors receive the source of an expression only if their client has to evaluate it.
    let mode = if mode == Evaluated::No { Evaluated::DeterministicOnly } else { mode };
    run(document, Evaluator { mode, conditions: Conditions::Visitor, context, claims, allowance })
}

/// Returns the unconditional parts of a document.
pub(crate) fn unconditional_content(document: &Document) -> Document {
    let (context, claims) = (&Context::default(), &Claims::default());
    // With a budget of zero steps, every condition is false.
    let allowance = &mut Allowance { steps: Budget(0), bytes: 0 };
    let (mode, conditions) = (Evaluated::No, Conditions::Visitor);
    run(document, Evaluator { mode, conditions, context, claims, allowance })
}

/// Returns the budget of a document: the steps for its expressions and conditions, and the bytes for its values.
#[must_use]
pub const fn document_allowance() -> Allowance {
    Allowance { steps: Budget(MAX_DOCUMENT_STEPS), bytes: MAX_VALUE_BYTES }
}

fn run(document: &Document, mut evaluator: Evaluator<'_>) -> Document {
    let mut document = document.clone();
    document.nodes = evaluator.blocks(document.nodes);
    document
}

struct Evaluator<'e> {
    /// The evaluation mode for expressions within text.
    mode: Evaluated,
    conditions: Conditions,
    context: &'e Context,
    claims: &'e Claims,
    allowance: &'e mut Allowance,
}

/// The evaluation mode of conditions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conditions {
    /// Conditions are evaluated in the same mode as expressions.
    SameAsText,
    /// All conditions are resolved for a visitor.
    Visitor,
}

impl Evaluator<'_> {
    /// Returns `true` if an expression is left to the client. An expression that cannot be parsed is not.
    fn is_left_to_client(&mut self, text: &str) -> bool {
        match self.mode {
            Evaluated::No => true,
            Evaluated::Yes => false,
            Evaluated::DeterministicOnly => {
                let expression = Expression::parse_within(text, &mut self.allowance.steps);
                expression.is_some_and(|expression| !expression.is_deterministic(self.claims))
            }
        }
    }

    /// Returns the value of a condition, or `None` if it is left to the client.
    fn evaluate_condition(&mut self, text: &str) -> Option<bool> {
        if self.conditions == Conditions::SameAsText {
            let decides = !self.is_left_to_client(text);
            return decides
                .then(|| expression::condition_within(text, self.context, &mut self.allowance.steps));
        }
        let (context, claims) = (self.context, self.claims);
        if expression::is_blank(text) {
            return Some(true);
        }
        let steps = &mut self.allowance.steps;
        let condition = Expression::parse_within(text, steps);
        Some(
            condition
                .is_some_and(|condition| expression::is_visible_within(&condition, context, claims, steps)),
        )
    }

    fn blocks(&mut self, blocks: Vec<Block>) -> Vec<Block> {
        let nodes = self.nodes(blocks.into_iter().map(Node::Block).collect());
        // Blocks evaluate to blocks, except for a condition that directly contains text.
        nodes.into_iter().map(into_block).collect()
    }

    fn nodes(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut done = Vec::with_capacity(nodes.len());
        let leaves_none = self.conditions == Conditions::Visitor || self.mode == Evaluated::Yes;
        let mut undecided = UndecidedConditions::default();
        for node in nodes {
            match node {
                Node::Block(block) if leaves_none && undecided.is_undecided(&block) => {}
                Node::Block(block) => self.block(block, &mut done),
                Node::Inline(inline) => self.inline(inline, &mut done),
                Node::Text(text) => push_text(&mut done, text),
            }
        }
        done
    }

    fn block(&mut self, mut block: Block, done: &mut Vec<Node>) {
        if let BlockKind::If { expression } = &block.kind {
            match self.evaluate_condition(expression) {
                None => {
                    block.nodes = self.nodes(block.nodes);
                    done.push(Node::Block(block));
                }
                Some(true) => done.extend(self.nodes(block.nodes)),
                Some(false) => {}
            }
            return;
        }
        let was_empty = block.nodes.is_empty();
        block.nodes = self.nodes(block.nodes);
        self.fragments(&mut block.fragments);
        if block.nodes.is_empty() && !was_empty {
            match block.kind.form().when_empty {
                WhenEmpty::Removed => return,
                WhenEmpty::Paragraph => block.nodes.push(Node::Block(paragraph(vec![empty_text()]))),
                WhenEmpty::Text => block.nodes.push(empty_text()),
            }
        }
        done.push(Node::Block(block));
    }

    fn fragments(&mut self, fragments: &mut Option<Vec<Fragment>>) {
        for fragment in fragments.iter_mut().flatten() {
            let was_empty = fragment.nodes.is_empty();
            fragment.nodes = self.blocks(mem::take(&mut fragment.nodes));
            if fragment.nodes.is_empty() && !was_empty {
                fragment.nodes.push(paragraph(vec![empty_text()]));
            }
        }
    }

    fn inline(&mut self, mut inline: Inline, done: &mut Vec<Node>) {
        if let InlineKind::Expression { expression } = &inline.kind {
            if self.is_left_to_client(expression) {
                done.push(Node::Inline(inline));
                return;
            }
            let value = self.allowance.inline(expression, self.context);
            let value = value.unwrap_or_else(|| expression::inline_source(expression));
            if !value.is_empty() {
                let text = TextNode::new(vec![Leaf::new(value, Vec::new())]);
                push_text(done, TextNode { key: inline.key, ..text });
            }
            return;
        }
        let was_empty = inline.nodes.is_empty();
        inline.nodes = self.nodes(inline.nodes);
        if inline.nodes.is_empty() && !was_empty {
            inline.nodes.push(empty_text());
        }
        self.fragments(&mut inline.fragments);
        done.push(Node::Inline(inline));
    }
}

/// Tracks conditions in verbatim Markdown, whose results cannot be determined. The block that opens such a condition
/// and all blocks up to its end are undecided.
#[derive(Debug, Default)]
pub struct UndecidedConditions {
    open: usize,
}

impl UndecidedConditions {
    /// Returns `true` if a block may be subject to such a condition. Must be called for all blocks in order.
    pub fn is_undecided(&mut self, block: &Block) -> bool {
        let was_open = self.open > 0;
        if !document::is_verbatim(block) {
            return was_open;
        }
        let text = plain(&block.nodes);
        let mut has_any = false;
        for name in tag::names(&text) {
            match name {
                "if" => (has_any, self.open) = (true, self.open + 1),
                "endif" => (has_any, self.open) = (true, self.open.saturating_sub(1)),
                _ => {}
            }
        }
        was_open || has_any
    }
}

/// Returns the text of nodes without marks.
pub(crate) fn plain(nodes: &[Node]) -> String {
    let text = |node: &Node| match node {
        Node::Text(text) => text.leaves.iter().map(|leaf| leaf.text.as_str()).collect(),
        Node::Inline(inline) => plain(&inline.nodes),
        Node::Block(block) => plain(&block.nodes),
    };
    nodes.iter().map(text).collect::<String>()
}

fn paragraph(nodes: Vec<Node>) -> Block {
    Block::new(BlockKind::Paragraph { align: None }, nodes)
}

fn empty_text() -> Node {
    Node::Text(TextNode::new(vec![Leaf::new("", Vec::new())]))
}

fn into_block(node: Node) -> Block {
    match node {
        Node::Block(block) => block,
        other => paragraph(vec![other]),
    }
}

/// Appends text and merges it with the preceding text.
fn push_text(done: &mut Vec<Node>, text: TextNode) {
    let Some(Node::Text(before)) = done.last_mut() else {
        done.push(Node::Text(text));
        return;
    };
    // Empty text is only a placeholder.
    for leaf in text.leaves.into_iter().filter(|leaf| !leaf.text.is_empty()) {
        match before.leaves.last_mut() {
            Some(last) if last.marks == leaf.marks => last.text.push_str(&leaf.text),
            Some(last) if last.text.is_empty() => *last = leaf,
            _ => before.leaves.push(leaf),
        }
    }
}

#[cfg(test)]
mod tests;
