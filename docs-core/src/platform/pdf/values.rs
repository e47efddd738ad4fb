//! The values of variables in text: a file has no visitor, so what is about one stays as it is written.

use crate::{
    content::expression::{Context, Expression, inline},
    model::{Block, Document, Fragment, InlineKind, Leaf, Node, TextNode},
};

/// Puts values in the place of expressions that read nothing but variables of these holders.
pub(super) fn fill(document: &mut Document, context: &Context, holders: &[&str]) {
    blocks(&mut document.nodes, context, holders);
}

// Functions that call themselves: documents are read to a depth of 20.
fn blocks(all: &mut [Block], context: &Context, holders: &[&str]) {
    for block in all {
        nodes(&mut block.nodes, context, holders);
        fragments(block.fragments.as_deref_mut(), context, holders);
    }
}

fn fragments(all: Option<&mut [Fragment]>, context: &Context, holders: &[&str]) {
    for fragment in all.unwrap_or_default() {
        blocks(&mut fragment.nodes, context, holders);
    }
}

fn nodes(all: &mut [Node], context: &Context, holders: &[&str]) {
    for node in all {
        match node {
            Node::Block(block) => blocks(std::slice::from_mut(block), context, holders),
            Node::Inline(element) => {
                if let InlineKind::Expression { expression } = &element.kind
                    && is_known(expression, holders)
                {
                    let value = Leaf::new(inline(expression, context), Vec::new());
                    *node = Node::Text(TextNode::new(vec![value]));
                    continue;
                }
                nodes(&mut element.nodes, context, holders);
                fragments(element.fragments.as_deref_mut(), context, holders);
            }
            Node::Text(_) => {}
        }
    }
}

fn is_known(expression: &str, holders: &[&str]) -> bool {
    Expression::parse(expression).is_ok_and(|expression| {
        let reads = expression.reads();
        reads.iter().all(|path| {
            let mut names = path.names();
            names.next().is_some_and(|holder| holders.contains(&holder)) && names.next() == Some("vars")
        })
    })
}
