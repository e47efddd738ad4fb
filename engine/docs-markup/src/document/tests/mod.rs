//! Conversion between Markdown and documents in both directions.

mod adjacent_blocks;
mod block_sources;
mod blocks;
mod bounds;
mod changes;
mod commonmark;
mod families;
mod generated;
mod inlines;
mod linear;
mod newer_data;
mod reading_view;
mod reading_view_bounds;
mod specification;

use serde_json::{Value, json};

use docs_model::Document;

use super::*;

/// Returns the JSON of the blocks of a document, without computed fields.
fn nodes(markdown: &str) -> Value {
    let mut value = serde_json::to_value(parse(markdown).nodes).unwrap();
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|name, value| match name.as_str() {
                "key" | "object" | "isVoid" => false,
                "data" => *value != json!({}),
                "marks" => *value != json!([]),
                _ => true,
            });
            map.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Returns a text node with one leaf.
fn text(text: &str) -> Value {
    json!({ "leaves": [{ "text": text }] })
}

/// Returns a paragraph with one leaf.
fn paragraph(words: &str) -> Value {
    json!({ "type": "paragraph", "nodes": [text(words)] })
}

/// Adds the empty `nodes` of blocks and inline elements without children.
fn add_empty_nodes(node: &mut Value) {
    let Value::Object(map) = node else { return };
    if map.contains_key("type") {
        map.entry("nodes").or_insert_with(|| json!([]));
    }
    for name in ["nodes", "fragments"] {
        map.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten().for_each(add_empty_nodes);
    }
}

/// Asserts that Markdown parses to this JSON, and that this JSON, sent by a client, is printed as this Markdown.
/// Empty `nodes` may be omitted in the expected JSON.
#[track_caller]
fn both_ways(markdown: &str, mut expected: Value) {
    add_empty_nodes(&mut expected);
    assert_eq!(nodes(markdown), json!([expected]), "{markdown}");
    let document = parse(markdown);
    let sent: docs_model::Document =
        serde_json::from_str(&serde_json::to_string(&document).unwrap()).unwrap();
    assert_eq!(sent, document, "{markdown}");
    assert_eq!(print(&sent).unwrap(), format!("{markdown}\n"));
    stable(markdown);
}

/// Asserts that the printed text parses to the same tree, and that printing this tree returns the same text. Returns
/// both.
#[track_caller]
fn stable(markdown: &str) -> (Document, String) {
    let document = parse(markdown);
    let written = print(&document).unwrap_or_else(|error| panic!("{markdown:?}: {error}"));
    let again = parse(&written);
    assert_eq!(again, document, "{markdown:?}\nwritten: {written:?}");
    assert_eq!(print(&again).unwrap(), written, "{markdown:?}");
    assert_eq!(update(markdown, &document).unwrap(), markdown);
    (document, written)
}
