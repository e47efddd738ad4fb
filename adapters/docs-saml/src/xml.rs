//! Documents as trees: how elements are found, and their texts read.

use docs_ports::SamlRefused;
use roxmltree::{Document, Node, ParsingOptions};

use crate::{refused, scan};

/// The namespace of assertions.
pub(crate) const ASSERTION: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
/// The namespace of requests and responses.
pub(crate) const PROTOCOL: &str = "urn:oasis:names:tc:SAML:2.0:protocol";
/// The namespace of signatures.
pub(crate) const DSIG: &str = "http://www.w3.org/2000/09/xmldsig#";
/// Most nodes of a tree: elements, and the texts between them.
const MAX_NODES: u32 = 10_000;

/// Reads a document that is within the bounds of [`scan`].
pub(crate) fn parse(text: &str) -> Result<Document<'_>, SamlRefused> {
    scan::check(text)?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    // Errors quote what nobody has signed: where it is suffices.
    Document::parse_with_options(text, options).map_err(|error| {
        let at = error.pos();
        refused(format!("it is not XML (line {}, column {})", at.row, at.col))
    })
}

/// Tells whether a node is this element.
pub(crate) fn is(node: Node<'_, '_>, namespace: &str, name: &str) -> bool {
    let tag = node.tag_name();
    node.is_element() && tag.name() == name && tag.namespace() == Some(namespace)
}

/// The children of an element that are this element.
pub(crate) fn children<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    namespace: &'a str,
    name: &'a str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| is(*child, namespace, name))
}

/// The child that is this element, of which there is at most one.
pub(crate) fn at_most_one<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    namespace: &'a str,
    name: &'a str,
) -> Result<Option<Node<'a, 'i>>, SamlRefused> {
    let mut found = children(node, namespace, name);
    let first = found.next();
    match found.next() {
        Some(_) => Err(refused(format!("{} has more than one {name}", node.tag_name().name()))),
        None => Ok(first),
    }
}

/// The child that is this element, of which there is exactly one.
pub(crate) fn one<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    namespace: &'a str,
    name: &'a str,
) -> Result<Node<'a, 'i>, SamlRefused> {
    let missing = || refused(format!("{} has no {name}", node.tag_name().name()));
    at_most_one(node, namespace, name)?.ok_or_else(missing)
}

/// An attribute without a namespace.
pub(crate) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, SamlRefused> {
    let missing = || refused(format!("{} has no {name}", node.tag_name().name()));
    node.attribute(name).ok_or_else(missing)
}

/// The text of an element that has nothing else: all of it, not only what stands before something else.
pub(crate) fn text(node: Node<'_, '_>) -> Result<String, SamlRefused> {
    let mut text = String::new();
    for child in node.children() {
        match child.text().filter(|_| child.is_text()) {
            Some(part) => text.push_str(part),
            None => return Err(refused(format!("{} must have text only", node.tag_name().name()))),
        }
    }
    Ok(text.trim().to_owned())
}
