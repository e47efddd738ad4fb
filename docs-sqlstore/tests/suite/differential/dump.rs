//! A comparable dump of the entire content of a store.

use std::time::Duration;

use docs_core::store::{Key, MAX_SCAN, Mode, Scan, Txn, Value as Stored, key, topic};
use serde_json::{Value, json};

use super::nodes::Node;

/// Returns all keys and values in store order, the notifications of every topic, and all objects with the time since
/// they were last touched.
pub(super) async fn dump(node: &Node) -> Vec<Value> {
    let store = node.platform().store();
    let txn = store.begin(Mode::Read, &[]).await.expect("the store is there");
    let rows = rows(&*txn).await;
    drop(txn);
    let domains: Vec<String> = rows
        .iter()
        .filter(|(key, _)| key.starts_with("org!"))
        .filter_map(|(_, org)| Some(org.pointer("/json/domain")?.as_str()?.to_owned()))
        .collect();
    let mut all: Vec<Value> = rows.into_iter().map(|(key, value)| json!([&*key, value])).collect();
    for topic in [topic::HEAD, topic::JOBS] {
        let mut after = None;
        loop {
            let news = store.changes(topic, after, 500).await.expect("the store is there");
            all.extend(news.iter().map(|(_, key)| json!({ "topic": topic, "key": &**key })));
            let Some((last, _)) = news.last() else { break };
            after = Some(last.clone());
        }
    }
    for domain in domains {
        for untouched in [0, 3_600, 24 * 3_600, 7 * 24 * 3_600] {
            let names = objects(node, &domain, Duration::from_secs(untouched)).await;
            all.push(json!({ "domain": domain, "untouched": untouched, "objects": names }));
        }
    }
    all
}

async fn rows(txn: &dyn Txn) -> Vec<(Key, Value)> {
    let mut scan = Scan { from: "\u{1}".into(), to: "\u{10FFFF}".into(), rev: false, limit: MAX_SCAN };
    let mut rows = Vec::new();
    loop {
        let found = txn.scan(&[scan.clone()]).await.expect("the store can be read").remove(0);
        let Some((last, _)) = found.last() else { return rows };
        scan.from = key::successor(last);
        rows.extend(found.into_iter().map(|(key, value)| (key, shown(&value))));
    }
}

/// Converts a value. Records are compared by content, regardless of their encoding.
fn shown(value: &Stored) -> Value {
    let json = match value {
        Stored::Live(record) => record.to_json().expect("records are JSON"),
        Stored::Json(json) => json.clone(),
        Stored::Int(n) => return json!({ "number": n }),
        Stored::Unit => return Value::Null,
    };
    json!({ "json": serde_json::from_slice::<Value>(&json).expect("what is stored is JSON") })
}

async fn objects(node: &Node, domain: &str, untouched: Duration) -> Vec<String> {
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let page = node.objects().list(domain, after, untouched, 100).await.expect("the store is there");
        let Some(last) = page.last() else { return names };
        after = Some(*last);
        names.extend(page.iter().map(ToString::to_string));
    }
}
