//! The document contains an example of every operation: an accepted request and its response. The examples are
//! recorded: with `DOCS_EXAMPLES=write`, this test calls each operation and writes its request and response to the
//! file.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{contract::Contract, matrix::ready, refusals::World};

/// Path of the examples file.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/examples.json");

/// Maximum length of an example in characters, to keep the document readable.
const MOST: usize = 16_000;

/// Truncates the list of a response to one item.
fn shortened(mut answer: Value) -> Value {
    if let Some(items) = answer.get_mut("items").and_then(Value::as_array_mut) {
        items.truncate(1);
    }
    answer
}

async fn recorded() -> BTreeMap<String, Value> {
    let w = World::new().await;
    let saved = w.s.store.save();
    let mut examples = BTreeMap::new();
    for op in w.ops() {
        w.s.store.rewind(&saved);
        ready(&w, &op).await;
        let answer = w.send(&op, &w.path(&op), Some(&w.may(&op))).await;
        assert!(answer.status < 300, "{}: {answer:?}", op.id);
        let mut example = json!({});
        if let Some(body) = op.body {
            example["body"] = body;
        }
        if !answer.body.is_null() {
            example["answer"] = shortened(answer.body);
        }
        if example != json!({}) {
            examples.insert(op.id, example);
        }
    }
    examples
}

/// Formats the examples with one line per operation.
fn written(examples: &BTreeMap<String, Value>) -> String {
    let lines: Vec<String> =
        examples.iter().map(|(id, example)| format!("  {}: {example}", Value::from(id.as_str()))).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

#[tokio::test]
async fn every_operation_has_an_example_valid_for_its_schema() {
    if std::env::var("DOCS_EXAMPLES").is_ok_and(|how| how == "write") {
        std::fs::write(FILE, written(&recorded().await)).expect("written");
        return;
    }
    let document = crate::server::Server::new().await.document;
    let contract = Contract::of(document);
    let mut wrong = Vec::new();
    let mut look = |what: String, media: &Value| {
        let Some(example) = media.get("example") else { return wrong.push(format!("{what} has no example")) };
        let faults = contract.faults_of(&media["schema"], example);
        wrong.extend(faults.into_iter().map(|fault| format!("{what}: {fault}")));
        if example.to_string().len() > MOST {
            wrong.push(format!("{what} has {} characters", example.to_string().len()));
        }
    };
    for operations in document["paths"].as_object().expect("paths").values() {
        for operation in operations.as_object().expect("operations").values() {
            let id = operation["operationId"].as_str().expect("an id");
            if let Some(media) = operation["requestBody"]["content"].get("application/json") {
                look(format!("the request of {id}"), media);
            }
            let responses = operation["responses"].as_object().expect("responses");
            let done = responses.iter().find(|(status, _)| status.starts_with('2')).expect("it can be done");
            if let Some(media) = done.1["content"].get("application/json") {
                look(format!("the answer of {id}"), media);
            }
        }
    }
    assert!(wrong.is_empty(), "write them anew with DOCS_EXAMPLES=write: {wrong:#?}");
}
