//! Evaluates variables in text. A PDF has no visitor, so expressions about the visitor are not evaluated.

use crate::{
    content::expression::{Allowance, Context, Expression},
    model::{Block, Document, Fragment, InlineKind, Leaf, Node, TextNode},
};

/// Replaces expressions with their values if they only read variables of these objects.
///
/// All documents of a file share one evaluation budget. Expressions beyond it stay in source form.
pub(super) fn fill(document: &mut Document, context: &Context, holders: &[&str], allowance: &mut Allowance) {
    ExpressionFiller { context, holders, allowance }.blocks(&mut document.nodes);
}

struct ExpressionFiller<'f> {
    context: &'f Context,
    holders: &'f [&'f str],
    allowance: &'f mut Allowance,
}

// The recursion is bounded: documents are parsed to a depth of 20.
impl ExpressionFiller<'_> {
    fn blocks(&mut self, all: &mut [Block]) {
        for block in all {
            self.nodes(&mut block.nodes);
            self.fragments(block.fragments.as_deref_mut());
        }
    }

    fn fragments(&mut self, all: Option<&mut [Fragment]>) {
        for fragment in all.unwrap_or_default() {
            self.blocks(&mut fragment.nodes);
        }
    }

    fn nodes(&mut self, all: &mut [Node]) {
        for node in all {
            match node {
                Node::Block(block) => self.blocks(std::slice::from_mut(block)),
                Node::Inline(element) => {
                    if let InlineKind::Expression { expression } = &element.kind
                        && let Some(value) = self.value(expression)
                    {
                        *node = Node::Text(TextNode::new(vec![Leaf::new(value, Vec::new())]));
                        continue;
                    }
                    self.nodes(&mut element.nodes);
                    self.fragments(element.fragments.as_deref_mut());
                }
                Node::Text(_) => {}
            }
        }
    }

    fn value(&mut self, expression: &str) -> Option<String> {
        let parsed = Expression::parse_within(expression, &mut self.allowance.steps)?;
        is_known(&parsed, self.holders).then(|| self.allowance.inline(expression, self.context)).flatten()
    }
}

fn is_known(expression: &Expression, holders: &[&str]) -> bool {
    expression.reads().iter().all(|path| {
        let mut names = path.names();
        names.next().is_some_and(|holder| holders.contains(&holder)) && names.next() == Some("vars")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        content::{document, expression::Budget},
        model::Variables,
    };

    /// Fills a document with `many` copies of an expression and returns its JSON.
    fn filled(expression: &str, many: usize, allowance: &mut Allowance) -> String {
        let variables: Variables = serde_json::from_value(json!({ "word": "value" })).unwrap();
        let context = Context::default().with_space(&variables);
        let text = format!("<code class=\"expression\">{expression}</code>\n\n").repeat(many);
        let mut document = document::parse(&text);
        fill(&mut document, &context, &["space"], allowance);
        let shown: Value = serde_json::to_value(&document).unwrap();
        shown.to_string()
    }

    #[test]
    fn all_documents_of_a_file_share_one_allowance_of_steps() {
        let expression = "space.vars.word + 'x'.repeat(2000).split('').map(x => x + 1).length";
        let mut allowance = Allowance { steps: Budget(30_000), bytes: usize::MAX };
        assert!(filled(expression, 1, &mut allowance).contains("value2000"));
        let taken = 30_000 - allowance.steps.0;
        assert!(taken > 1_000);
        let (mut left, mut shown) = (allowance.steps.0, 1);
        while left >= taken {
            (left, shown) = (left - taken, shown + 1);
        }
        // The remaining expressions of all documents stay in source form.
        let (one, other) = (filled(expression, 20, &mut allowance), filled(expression, 20, &mut allowance));
        let values = one.matches("value2000").count() + other.matches("value2000").count();
        assert_eq!(values + 1, shown);
        assert_eq!(allowance.steps.0, 0);
    }

    #[test]
    fn all_documents_of_a_file_share_one_allowance_of_text() {
        let mut allowance = Allowance { steps: Budget(1_000_000), bytes: 5 * 3 + 2 };
        let (one, other) =
            (filled("space.vars.word", 2, &mut allowance), filled("space.vars.word", 2, &mut allowance));
        assert_eq!(one.matches("\"value\"").count() + other.matches("\"value\"").count(), 3);
        assert!(other.contains("space.vars.word"), "{other}");
    }
}
