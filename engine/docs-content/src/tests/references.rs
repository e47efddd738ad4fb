//! Tests that documents and links parse references consistently.

use docs_markup::{document::parse, reference::destination};
use docs_model::{ContentRef, Inline, InlineKind, Node};

use crate::links::referred;

/// Returns the target of a link in a document.
fn in_document(destination: &str) -> ContentRef {
    let document = parse(&format!("[x](<{destination}>)\n"));
    let link = document.nodes[0].nodes.iter().find_map(|node| match node {
        Node::Inline(Inline { kind: InlineKind::Link { target, .. }, .. }) => Some(target.clone()),
        _ => None,
    });
    link.expect("a link")
}

/// A destination of each form.
const FORMS: [&str; 12] = [
    "/pages/p1",
    "/pages/p1#a",
    "/files/f",
    "/reusable-content/r",
    "#a.b",
    "/users/u",
    "/collections/c",
    "/openapi/petstore",
    "/spaces/s",
    "/spaces/s/pages/p",
    "/spaces/s/pages/p#x",
    "/spaces/s/reusable-content/r",
];

#[test]
fn documents_and_links_parse_and_write_equal_references() {
    for text in FORMS {
        let target = in_document(text);
        assert!(!matches!(target, ContentRef::Url { .. }), "{text}");
        assert_eq!(referred(text).as_ref(), Some(&target), "{text}");
        assert_eq!(destination(&target), text);
    }
}

#[test]
fn documents_and_links_parse_other_destinations_as_urls() {
    for text in [
        "/pages/",
        "/pages/a b",
        "/spaces/s/x",
        "/spaces/s/files/f",
        "/spaces/s/pages/p/q",
        "/openapi/",
        "/nothing/x",
        "a.md",
        "https://x.y/#z",
    ] {
        let url = ContentRef::Url { url: text.to_owned() };
        assert_eq!(in_document(text), url, "{text}");
        assert_eq!(referred(text), Some(url), "{text}");
    }
}
