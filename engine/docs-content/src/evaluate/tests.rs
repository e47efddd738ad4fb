//! Tests of document evaluation.

use docs_model::{DocumentObject, Variables};
use serde_json::{Value, json};

use super::*;

fn claims() -> Claims {
    Claims::from_schema(&json!({ "type": "object", "properties": {
        "beta": { "type": "boolean" },
        "plan": { "type": "string", "enum": ["free", "pro"] },
        "name": { "type": "string" },
    } }))
}

fn context() -> Context {
    let variables: Variables = serde_json::from_value(json!({ "version": "2.4", "empty": "" })).unwrap();
    Context::default()
        .with_visitor(&json!({ "beta": true, "plan": "free", "name": "Ada" }), &json!({}))
        .with_space(&variables)
}

fn text(text: &str) -> Value {
    json!({ "object": "text", "leaves": [{ "object": "leaf", "text": text, "marks": [] }] })
}

fn block(kind: &str, nodes: &[Value]) -> Value {
    json!({ "object": "block", "type": kind, "isVoid": false, "data": {}, "nodes": nodes })
}

fn p(words: &str) -> Value {
    block("paragraph", &[text(words)])
}

fn when(expression: &str, nodes: &[Value]) -> Value {
    json!({ "object": "block", "type": "if", "isVoid": false, "data": { "expression": expression }, "nodes": nodes })
}

fn value(expression: &str) -> Value {
    json!({ "object": "inline", "type": "expression", "isVoid": true, "data": { "expression": expression }, "nodes": [] })
}

/// Returns the blocks of a document after evaluation.
fn run(mode: Evaluated, nodes: &[Value]) -> Value {
    let document: Document =
        serde_json::from_value(json!({ "object": "document", "data": {}, "nodes": nodes })).unwrap();
    let done = evaluate(&document, mode, &context(), &claims());
    assert_eq!(done.object, DocumentObject::Is);
    // Clients must be able to parse the result.
    let wire = serde_json::to_value(&done).unwrap();
    assert_eq!(serde_json::from_value::<Document>(wire.clone()).unwrap(), done);
    wire["nodes"].clone()
}

fn all(nodes: &[Value]) -> Value {
    run(Evaluated::Yes, nodes)
}

#[test]
fn disabled_evaluation_leaves_the_document_unchanged() {
    let nodes =
        [when("false", &[p("x")]), block("paragraph", &[text("a"), value("space.vars.version"), text("b")])];
    assert_eq!(run(Evaluated::No, &nodes), json!(nodes));
}

#[test]
fn true_conditions_become_their_blocks_and_others_are_removed() {
    let nodes = [
        p("first"),
        when("visitor.claims.beta", &[p("a"), p("b")]),
        when("visitor.claims.plan == 'pro'", &[p("c")]),
        when("visitor.claims.", &[p("broken")]),
        when("", &[p("always")]),
        p("last"),
    ];
    assert_eq!(all(&nodes), json!([p("first"), p("a"), p("b"), p("always"), p("last")]));
    assert_eq!(all(&[when("false", &[p("x")])]), json!([]));
}

#[test]
fn nested_conditions_are_evaluated() {
    let inner = |expression: &str| when(expression, &[p(expression)]);
    let nodes =
        [when("true", &[inner("1"), inner("0"), when("true", &[inner("2")])]), when("0", &[inner("1")])];
    assert_eq!(all(&nodes), json!([p("1"), p("2")]));
}

#[test]
fn evaluated_value_merges_with_adjacent_text() {
    let paragraph = block("paragraph", &[text("v"), value("space.vars.version"), text("!")]);
    assert_eq!(all(&[paragraph]), json!([p("v2.4!")]));
    let only = block("paragraph", &[value("1 + 1"), value("space.vars.empty"), value("'x'")]);
    assert_eq!(all(&[only]), json!([p("2x")]));
    assert_eq!(all(&[block("paragraph", &[value("missing")])]), json!([p("")]));
    assert_eq!(all(&[block("paragraph", &[value("1 +")])]), json!([p("{{1 +}}")]));
}

#[test]
fn marks_of_text_around_a_value_are_preserved() {
    let bold = |text: &str| {
        json!({ "object": "text", "leaves": [
            { "object": "leaf", "text": text, "marks": [{ "object": "mark", "type": "bold" }] },
        ] })
    };
    let done = all(&[block("paragraph", &[bold("a"), value("'b'"), bold("c"), text("d")])]);
    let leaves = done[0]["nodes"][0]["leaves"].as_array().unwrap();
    let texts: Vec<_> =
        leaves.iter().map(|leaf| (leaf["text"].clone(), leaf["marks"].as_array().unwrap().len())).collect();
    assert_eq!(texts, [(json!("a"), 1), (json!("b"), 0), (json!("c"), 1), (json!("d"), 0)]);
}

#[test]
fn expressions_are_evaluated_in_links_notes_code_and_tables() {
    let link = json!({ "object": "inline", "type": "link", "isVoid": false, "nodes": [value("missing")],
        "data": { "ref": { "kind": "url", "url": "https://example.com" } } });
    let done = all(&[block("paragraph", &[link])]);
    assert_eq!(done[0]["nodes"][0]["nodes"], json!([text("")]));

    let fragment =
        |name: &str, nodes: &[Value]| json!({ "object": "fragment", "fragment": name, "nodes": nodes });
    let note = json!({ "object": "inline", "type": "annotation", "isVoid": false, "data": {}, "nodes": [value("'w'")],
        "fragments": [fragment("annotation-body", &[block("paragraph", &[value("'note'")])])] });
    let done = all(&[block("paragraph", &[note])]);
    assert_eq!(done[0]["nodes"][0]["nodes"], json!([text("w")]));
    assert_eq!(done[0]["nodes"][0]["fragments"][0]["nodes"], json!([p("note")]));

    let line = block("code-line", &[text("v="), value("space.vars.version")]);
    assert_eq!(all(&[block("code", &[line])])[0]["nodes"][0]["nodes"], json!([text("v=2.4")]));

    let expandable = json!({ "object": "block", "type": "expandable", "isVoid": true, "data": {}, "fragments": [
        fragment("expandable-title", &[block("paragraph", &[value("'title'")])]),
        fragment("expandable-body", &[when("false", &[p("x")])]),
    ] });
    let done = all(&[expandable]);
    assert_eq!(done[0]["fragments"][0]["nodes"], json!([p("title")]));
    assert_eq!(done[0]["fragments"][1]["nodes"], json!([p("")]));

    let table = json!({ "object": "block", "type": "table", "isVoid": true,
        "data": { "view": { "type": "grid", "columns": ["c"] }, "definition": {}, "records": {
            "r": { "orderIndex": "a", "values": { "c": "cell" } } } },
        "fragments": [fragment("cell", &[block("paragraph", &[value("1 / 4")])])] });
    assert_eq!(all(&[table])[0]["fragments"][0]["nodes"], json!([p("0.25")]));
}

#[test]
fn emptied_containers_are_removed_except_tab_items() {
    let hidden = || when("false", &[p("x")]);
    let list = block("list-unordered", &[block("list-item", &[hidden()])]);
    let quote = block("blockquote", &[hidden()]);
    assert_eq!(all(&[list, quote]), json!([]));

    let half = block("list-unordered", &[block("list-item", &[hidden()]), block("list-item", &[p("y")])]);
    assert_eq!(all(&[half]), json!([block("list-unordered", &[block("list-item", &[p("y")])])]));

    let tabs = block("tabs", &[block("tabs-item", &[hidden()]), block("tabs-item", &[p("y")])]);
    let shown = block("tabs", &[block("tabs-item", &[p("")]), block("tabs-item", &[p("y")])]);
    assert_eq!(all(&[tabs]), json!([shown]));

    let tabs = block("tabs", &[when("false", &[block("tabs-item", &[p("x")])])]);
    assert_eq!(all(&[tabs]), json!([]));
    let tabs = block("tabs", &[when("true", &[block("tabs-item", &[p("x")])])]);
    assert_eq!(all(&[tabs]), json!([block("tabs", &[block("tabs-item", &[p("x")])])]));
}

#[test]
fn deterministic_mode_leaves_client_side_expressions() {
    let nodes = [
        when(
            "visitor.claims.beta",
            &[block("paragraph", &[value("visitor.claims.name"), value("space.vars.version")])],
        ),
        when("visitor.claims.plan == 'pro'", &[p("pro")]),
        when("visitor.claims.name == 'Ada'", &[when("false", &[p("x")]), p("for Ada")]),
        when("visitor.claims.", &[p("broken")]),
        block("paragraph", &[value("visitor.claims."), value("visitor.claims.plan")]),
    ];
    let expected = json!([
        block("paragraph", &[value("visitor.claims.name"), text("2.4")]),
        when("visitor.claims.name == 'Ada'", &[p("for Ada")]),
        p("{{visitor.claims.}}free"),
    ]);
    assert_eq!(run(Evaluated::DeterministicOnly, &nodes), expected);
}

// Only variables and claims with enumerated values may control visibility.
#[test]
fn visitor_conditions_on_nondeterministic_values_are_false() {
    let nodes = [
        when("visitor.claims.beta", &[p("beta"), when("visitor.claims.name == 'Ada'", &[p("x")])]),
        when("visitor.claims.name == 'Ada'", &[p("x")]),
        when("visitor.claims.name != 'Bob' || true", &[p("x")]),
        when("!visitor.claims.undeclared", &[p("x")]),
        when("space.vars.version == '2.4' && visitor.claims.plan == 'free'", &[p("known")]),
        when("", &[block("paragraph", &[value("visitor.claims.name")])]),
    ];
    let document: Document =
        serde_json::from_value(json!({ "object": "document", "data": {}, "nodes": nodes })).unwrap();
    for (mode, name) in [
        (Evaluated::No, block("paragraph", &[value("visitor.claims.name")])),
        (Evaluated::DeterministicOnly, block("paragraph", &[value("visitor.claims.name")])),
        (Evaluated::Yes, p("Ada")),
    ] {
        let done = evaluate_for_visitor(&document, mode, &context(), &claims());
        let done = serde_json::to_value(&done).unwrap();
        assert_eq!(done["nodes"], json!([p("beta"), p("known"), name]), "{mode:?}");
    }
}

// Expressions up to the limit are replaced by their values.
#[test]
fn expressions_beyond_the_document_step_limit_fail() {
    let costly = "'x'.repeat(9999).split('').map(x => x).length";
    let many: Vec<Value> = (0..200).map(|_| block("paragraph", &[value(costly)])).collect();
    let done = all(&many);
    assert_eq!(done[0], p("9999"));
    assert_eq!(done[199], p(&format!("{{{{{costly}}}}}")));
}

#[test]
fn values_beyond_the_bytes_of_a_document_are_shown_as_source() {
    let (large, small) = ("'&'.repeat(100000)", "1 + 1");
    let at = |number: usize| value(if number.is_multiple_of(2) { large } else { small });
    let many: Vec<Value> = (0..600).map(|number| block("paragraph", &[at(number)])).collect();
    let done = all(&many);
    let texts: Vec<&str> =
        (0..600).filter_map(|at| done[at]["nodes"][0]["leaves"][0]["text"].as_str()).collect();
    let fitting = MAX_VALUE_BYTES / 100_000;
    for (number, text) in texts.iter().enumerate().step_by(2) {
        let expected = if number / 2 < fitting { "&".repeat(100_000) } else { format!("{{{{{large}}}}}") };
        assert!(*text == expected, "{number}");
    }
    // Smaller values still fit.
    assert!(texts.iter().skip(1).step_by(2).all(|text| *text == "2"));
}

#[test]
fn values_of_claims_take_the_bytes_of_a_document_too() {
    let claim = "x".repeat(3_000);
    let context = Context::default().with_visitor(&json!({}), &json!({ "x": claim }));
    let many: Vec<Value> = (0..2_000).map(|_| value("visitor.claims.unsigned.x")).collect();
    let nodes = [block("paragraph", &many)];
    let document = json!({ "object": "document", "data": {}, "nodes": nodes });
    let document: Document = serde_json::from_value(document).unwrap();
    let done = evaluate_for_visitor(&document, Evaluated::Yes, &context, &claims());
    let shown = serde_json::to_string(&done).unwrap();
    assert_eq!(shown.matches(&claim).count(), MAX_VALUE_BYTES / 3_000);
}

#[test]
fn evaluation_mode_parses_from_its_name() {
    let mode = |text: &str| serde_json::from_value::<Evaluated>(text.into()).ok();
    assert_eq!(mode("true"), Some(Evaluated::Yes));
    assert_eq!(mode("false"), Some(Evaluated::No));
    assert_eq!(mode("deterministic-only"), Some(Evaluated::DeterministicOnly));
    assert_eq!(mode("yes"), None);
}
