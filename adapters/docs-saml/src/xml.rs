//! XML parsing, element lookup and text extraction.

use docs_ports::SamlRefused;
use roxmltree::{Document, Node, ParsingOptions};

use crate::{refusal::refuse, scan};

/// XML namespace of assertions.
pub(crate) const ASSERTION: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
/// XML namespace of requests and responses.
pub(crate) const PROTOCOL: &str = "urn:oasis:names:tc:SAML:2.0:protocol";
/// XML namespace of signatures.
pub(crate) const DSIG: &str = "http://www.w3.org/2000/09/xmldsig#";
/// Maximum number of nodes (elements and text) in a document.
const MAX_NODES: u32 = 10_000;

/// Parses a document that is within the limits of [`scan`].
pub(crate) fn parse(text: &str) -> Result<Document<'_>, SamlRefused> {
    scan::check(text)?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    // Parser errors quote unsigned content, so report only their position.
    Document::parse_with_options(text, options).map_err(|error| {
        let at = error.pos();
        refuse(format!("it is not XML (line {}, column {})", at.row, at.col))
    })
}

/// Returns `true` if a node is an element with this name.
pub(crate) fn is_element(node: Node<'_, '_>, namespace: &str, name: &str) -> bool {
    let tag = node.tag_name();
    node.is_element() && tag.name() == name && tag.namespace() == Some(namespace)
}

/// Returns the child elements with this name.
pub(crate) fn children<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    namespace: &'a str,
    name: &'a str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |child| is_element(*child, namespace, name))
}

/// Returns the child element with this name, if there is one. Fails if there are several.
pub(crate) fn optional_child<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    namespace: &'a str,
    name: &'a str,
) -> Result<Option<Node<'a, 'i>>, SamlRefused> {
    let mut found = children(node, namespace, name);
    let first = found.next();
    match found.next() {
        Some(_) => Err(refuse(format!("{} has more than one {name}", node.tag_name().name()))),
        None => Ok(first),
    }
}

/// Returns the child element with this name. Fails unless there is exactly one.
pub(crate) fn only_child<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    namespace: &'a str,
    name: &'a str,
) -> Result<Node<'a, 'i>, SamlRefused> {
    let missing = || refuse(format!("{} has no {name}", node.tag_name().name()));
    optional_child(node, namespace, name)?.ok_or_else(missing)
}

/// Returns the value of an attribute without a namespace.
pub(crate) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, SamlRefused> {
    let missing = || refuse(format!("{} has no {name}", node.tag_name().name()));
    node.attribute(name).ok_or_else(missing)
}

/// Returns the text of an element. Fails if the element has other children, which would split the text.
pub(crate) fn text(node: Node<'_, '_>) -> Result<String, SamlRefused> {
    let mut text = String::new();
    for child in node.children() {
        match child.text().filter(|_| child.is_text()) {
            Some(part) => text.push_str(part),
            None => return Err(refuse(format!("{} must have text content only", node.tag_name().name()))),
        }
    }
    Ok(text.trim().to_owned())
}
