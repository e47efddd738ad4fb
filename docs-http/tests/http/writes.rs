//! Every write operation of the document, on a store that becomes unavailable immediately after the write is stored.

use docs_memstore::FaultPlan;
use serde_json::Value;

use crate::{
    matrix::ready,
    refusals::{Op, World, bearer},
    server::Answer,
};

/// Sends the request as an administrator of both organizations, or as the user whose account it changes.
async fn ask(w: &World, op: &Op) -> Answer {
    let token = if op.id == "updateUserById" { &w.s.admin } else { &w.s.both };
    w.send(op, &w.path(op), Some(&bearer(token))).await
}

/// Returns the paths of all fields in a response. Responses about the same kind of resource have the same paths.
fn names(body: &Value) -> Vec<String> {
    fn walk(value: &Value, at: &str, names: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| walk(value, &format!("{at}.{name}"), names));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, &format!("{at}[]"), names)),
            _ => names.push(at.to_owned()),
        }
    }
    let mut found = Vec::new();
    walk(body, "", &mut found);
    found
}

#[tokio::test]
async fn write_returns_its_resource_without_reads_after_commit() {
    let w = World::new().await;
    let start = w.s.store.save();
    let mut failed = Vec::new();
    let mut wrote = 0;
    for op in w.ops().iter().filter(|op| op.method != "GET") {
        w.s.store.rewind(&start);
        ready(&w, op).await;
        let ready = w.s.store.save();
        let before = w.s.faults.applied();
        let undisturbed = ask(&w, op).await;
        assert!(undisturbed.status < 400, "{}: {undisturbed:?}", op.id);
        let after = w.s.faults.applied();
        if after == before {
            continue;
        }
        wrote += 1;
        w.s.store.rewind(&ready);
        w.s.faults.set_plan(FaultPlan::none().with_outage_after(after + (after - before)));
        let answer = ask(&w, op).await;
        w.s.faults.set_plan(FaultPlan::none());
        if (answer.status, names(&answer.body)) != (undisturbed.status, names(&undisturbed.body)) {
            failed.push(format!("{}: {} {}", op.id, answer.status, answer.body));
            continue;
        }
        // The response equals that of a later read.
        let location = answer.body["urls"]["location"].as_str();
        if let Some(path) = location.and_then(|at| at.strip_prefix("https://docs.example")) {
            let read = w.s.ask("GET", path, &w.s.both, None).await;
            // Parts of a site have paths for updating and deleting, but can be read only as part of the site.
            let is_part = ["/sections/", "/site-spaces/"].iter().any(|part| path.contains(part));
            if is_part && read.status == 405 {
                continue;
            }
            // Reading a revision returns all of its content, which a rollback does not.
            let is_same = match op.id.as_str() {
                "rollbackSpaceToRevision" => {
                    ["id", "type", "createdAt"].iter().all(|field| answer.body[*field] == read.body[*field])
                }
                _ => read.body == answer.body,
            };
            if read.status != 200 || !is_same {
                failed.push(format!("{}: answers {} for {}", op.id, answer.body, read.body));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {wrote} writes:\n{}", failed.len(), failed.join("\n"));
    assert!(wrote > 60, "only {wrote} operations wrote anything");
}
