//! Tests of documents and other parts of a page.

use docs_model::{BlockTag, ContentRef, Document, PageCover, PageLayout, VariableValue, Variables};
use serde_json::{Value, json};

#[test]
fn document_wire_format_round_trips() {
    let text =
        |text: &str| json!({ "object": "text", "leaves": [{ "object": "leaf", "text": text, "marks": [] }] });
    let wire = json!({ "object": "document", "data": { "schemaVersion": 8 }, "nodes": [
        { "object": "block", "type": "heading-1", "key": "a", "isVoid": false, "data": { "id": "start" },
          "nodes": [text("Start")], "meta": { "id": "start" } },
        { "object": "block", "type": "paragraph", "isVoid": false, "data": {}, "nodes": [
            { "object": "inline", "type": "link", "isVoid": false, "nodes": [text("here")],
              "data": { "ref": { "kind": "url", "url": "https://example.com" } } },
            { "object": "text", "leaves": [{ "object": "leaf", "text": "x", "marks": [
                { "object": "mark", "type": "bold" },
                { "object": "mark", "type": "color", "data": { "text": "$primary", "background": "default" } },
            ] }] },
        ] },
        { "object": "block", "type": "divider", "isVoid": true, "data": {}, "nodes": [] },
    ] });
    let document: Document = serde_json::from_value(wire.clone()).expect("a document");
    assert_eq!(serde_json::to_value(&document).expect("JSON"), wire);
}

#[test]
fn default_data_is_optional_and_void_blocks_are_known() {
    let wire = json!({ "object": "document", "data": {}, "nodes": [
        { "object": "block", "type": "divider" },
        { "object": "block", "type": "paragraph", "nodes": [] },
    ] });
    let document: Document = serde_json::from_value(wire).expect("a document");
    assert!(document.nodes[0].is_void && !document.nodes[1].is_void);
}

#[test]
fn unknown_block_type_error_states_the_type() {
    let wire =
        json!({ "object": "document", "data": {}, "nodes": [{ "object": "block", "type": "carousel" }] });
    let error = serde_json::from_value::<Document>(wire).expect_err("no such block").to_string();
    assert!(error.contains("carousel"), "{error}");
}

#[test]
fn tag_names_round_trip() {
    for (name, tag) in BlockTag::names() {
        assert_eq!(BlockTag::from_name(name), Some(tag), "{name}");
        assert_eq!(BlockTag::from_name(tag.name()), Some(tag), "{name}");
    }
    assert_eq!(BlockTag::from_name("@mermaid/diagram"), Some(BlockTag::Integration));
    for name in ["", "endhint", "hin", "Hint", "a@b"] {
        assert_eq!(BlockTag::from_name(name), None, "{name}");
    }
}

fn round_trip(wire: &Value) {
    let read: ContentRef = serde_json::from_value(wire.clone()).expect("a reference");
    assert_eq!(serde_json::to_value(&read).expect("JSON"), *wire);
}

#[test]
fn reference_wire_format_round_trips() {
    round_trip(&json!({ "kind": "url", "url": "https://example.com" }));
    round_trip(&json!({ "kind": "file", "file": "f1" }));
    round_trip(&json!({ "kind": "page", "page": "p1" }));
    round_trip(&json!({ "kind": "page", "page": "p1", "space": "s1" }));
    round_trip(&json!({ "kind": "anchor", "anchor": "top", "page": "p1", "space": "s1" }));
    round_trip(&json!({ "kind": "user", "user": "u1" }));
    round_trip(&json!({ "kind": "collection", "collection": "c1" }));
    round_trip(&json!({ "kind": "space", "space": "s1" }));
    round_trip(&json!({ "kind": "reusable-content", "reusableContent": "r1", "space": "s1" }));
    round_trip(&json!({ "kind": "openapi", "spec": "petstore" }));
}

#[test]
fn a_reference_of_an_unknown_kind_is_refused() {
    assert!(serde_json::from_value::<ContentRef>(json!({ "kind": "team", "team": "t" })).is_err());
    assert!(serde_json::from_value::<ContentRef>(json!({ "kind": "page", "page": "a b" })).is_err());
}

#[test]
fn layout_shows_everything_by_default() {
    let layout: PageLayout = serde_json::from_value(json!({ "outline": false })).unwrap();
    assert_eq!(layout, PageLayout { outline: false, ..PageLayout::default() });
    assert_eq!(
        serde_json::to_value(PageLayout::default()).unwrap(),
        json!({
            "width": "default", "cover": true, "coverSize": "hero", "coverMask": "none", "title": true, "description": true,
            "tableOfContents": true, "outline": true, "pagination": true, "metadata": true,
            "tags": true, "actions": true, "anchors": true
        })
    );
}

#[test]
fn variables_keep_their_type() {
    let wire = json!({ "a": "1", "b": 1, "c": true, "d": 1.5 });
    let read: Variables = serde_json::from_value(wire.clone()).unwrap();
    assert_eq!(read["a"], VariableValue::Text("1".into()));
    assert_eq!(serde_json::to_value(read).unwrap(), wire);
}

#[test]
fn cover_position_defaults_to_zero() {
    let cover: PageCover = serde_json::from_value(json!({ "ref": { "kind": "file", "file": "f" } })).unwrap();
    assert_eq!(
        serde_json::to_value(cover).unwrap(),
        json!({ "ref": { "kind": "file", "file": "f" }, "yPos": 0.0 })
    );
}

#[test]
fn a_mark_accepts_empty_data_and_rejects_other_data() {
    let mark = |value| serde_json::from_value::<docs_model::Mark>(value);
    for kind in ["bold", "italic", "strikethrough", "code", "keyboard", "superscript", "subscript"] {
        let plain = mark(json!({ "object": "mark", "type": kind })).expect("a mark");
        for data in [json!({}), json!(null)] {
            assert_eq!(mark(json!({ "object": "mark", "type": kind, "data": data })).expect("a mark"), plain);
        }
        assert_eq!(serde_json::to_value(plain).expect("JSON"), json!({ "object": "mark", "type": kind }));
        let error = mark(json!({ "type": kind, "data": { "a": 1 } })).expect_err("rejected").to_string();
        assert_eq!(error, format!("data: must be empty for a mark of the type `{kind}`"));
    }
    let error = mark(json!({ "type": "blink", "data": {} })).expect_err("rejected").to_string();
    assert!(error.starts_with("unknown variant `blink`"), "{error}");
    for color in [json!({ "type": "color" }), json!({ "type": "color", "data": {} })] {
        assert_eq!(mark(color).expect_err("rejected").to_string(), "missing field `text`");
    }
}
