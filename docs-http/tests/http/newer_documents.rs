//! Documents with the blocks and fields of newer clients over HTTP.

use serde_json::{Value, json};

use crate::server::Server;

fn text(text: &str) -> Value {
    json!({ "object": "text", "leaves": [{ "object": "leaf", "text": text, "marks": [] }] })
}

fn block(kind: &str, data: Value, nodes: &[Value]) -> Value {
    json!({ "object": "block", "type": kind, "data": data, "nodes": nodes })
}

fn inline(kind: &str, data: Value) -> Value {
    json!({ "object": "inline", "type": kind, "data": data, "nodes": [] })
}

/// Returns a block of each kind with the fields that only newer clients have.
fn blocks() -> Vec<Value> {
    let code =
        block("code", json!({ "syntax": "md" }), &[block("code-line", json!({}), &[text("Test it.")])]);
    let paragraph = block("paragraph", json!({}), &[text("Mended.")]);
    let tag = json!({ "kind": "tag", "tag": "fix" });
    let update = block(
        "update",
        json!({ "date": "2026-01-02T00:00:00.000Z", "tags": [tag] }),
        std::slice::from_ref(&paragraph),
    );
    let ask = json!({ "label": "Ask", "kind": "primary", "size": "large", "action": { "action": "ask", "query": "Why?" } });
    let icon = inline("icon", json!({ "icon": "leaf", "color": "cyan" }));
    let tab = block("tabs-item", json!({ "title": "npm", "slug": "tool" }), std::slice::from_ref(&paragraph));
    let column = |id: &str| json!({ "id": id, "title": id, "type": "number" });
    let record = json!({ "orderIndex": "r000000", "values": { "c000": 1.0, "c001": 2.0 } });
    let table = json!({
        "view": {
            "type": "grid", "columns": ["c000", "c001"], "hideHeader": false,
            "stickyHeader": true, "stickyFirstColumn": true,
        },
        "definition": { "c000": column("c000"), "c001": column("c001") },
        "records": { "r000000": record },
        "cellMerges": [{ "anchor": { "record": "r000000", "column": "c000" }, "rowSpan": 1, "colSpan": 2 }],
        "search": true,
    });
    vec![
        block("prompt", json!({ "description": "Write a test", "defaultExpanded": "full" }), &[code]),
        block("updates", json!({ "format": "numeric" }), &[update]),
        block("paragraph", json!({}), &[text("a "), inline("button", ask), text(" "), icon]),
        block("tabs", json!({}), &[tab]),
        block("table", table, &[]),
    ]
}

/// Returns the data of all blocks and inline elements, without those that have none.
fn all_data(nodes: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for node in nodes.as_array().into_iter().flatten() {
        found.extend(Some(node["data"].clone()).filter(|data| *data != json!({}) && !data.is_null()));
        found.extend(all_data(&node["nodes"]));
    }
    found
}

#[tokio::test]
async fn documents_of_newer_clients_lose_nothing() {
    let s = Server::new().await;
    let request = s.request(&s.space().await).await;
    let document = json!({ "object": "document", "data": {}, "nodes": blocks() });
    let page = json!({ "operation": "insert_page", "title": "New", "document": { "document": document } });
    let answer = s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
    assert_eq!(answer.header("ignored-fields"), None);
    let read = s.get(&format!("{request}/content/path/new?format=document")).await["document"].clone();
    assert_eq!(all_data(&read["nodes"]), all_data(&json!(blocks())));
    // The Markdown of the page has all of it, too.
    let markdown = s.get(&format!("{request}/content/path/new?format=markdown")).await["markdown"].clone();
    let page = json!({ "operation": "insert_page", "title": "Copy", "document": { "markdown": markdown } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
    let copy = s.get(&format!("{request}/content/path/copy?format=document")).await["document"].clone();
    assert_eq!(all_data(&copy["nodes"]), all_data(&read["nodes"]));
}

#[tokio::test]
async fn invalid_fields_of_newer_documents_are_named() {
    let s = Server::new().await;
    let request = s.request(&s.space().await).await;
    let mut wide = blocks().pop().expect("a table");
    wide["data"]["cellMerges"][0]["colSpan"] = json!(51);
    let mut elsewhere = blocks().pop().expect("a table");
    elsewhere["data"]["cellMerges"][0]["anchor"]["record"] = json!("r9");
    let prompt = block("prompt", json!({ "description": "a" }), &[]);
    for (node, field) in [
        (wide, "must be a whole number from 1 to 50"),
        (elsewhere, "cellMerges[0].anchor"),
        (prompt, "a prompt"),
    ] {
        let document = json!({ "object": "document", "data": {}, "nodes": [node] });
        let page = json!({ "operation": "insert_page", "document": { "document": document } });
        let answer =
            s.ask("POST", &format!("{request}/content"), &s.admin, Some(json!({ "changes": [page] }))).await;
        let message = answer.refused(400, field);
        assert!(message.contains(field), "{message}");
    }
}
