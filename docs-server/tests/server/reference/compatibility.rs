//! The operations of published clients: served, or the reason for not serving them.

use docs_http::openapi::{ClientOperation, client_operations};
use serde_json::Value;

use super::{Table, code};

const PAGE: &str = "compatibility.md";

pub(super) fn tables(document: &Value) -> Vec<Table> {
    let served = served_operations(document);
    let is_served = |operation: &ClientOperation| {
        served.contains(&format!("{} {}", operation.method, shape(operation.path)))
    };
    let row = |operation: &ClientOperation| {
        let answer =
            if is_served(operation) { "yes".to_owned() } else { format!("no: {}", operation.reason()) };
        vec![code(operation.id), code(format!("{} {}", operation.method, operation.path)), answer]
    };
    let table = |heading, is_current| {
        let listed = client_operations().iter().filter(|operation| operation.is_current == is_current);
        Table::new(PAGE, heading, &["Operation", "Request", "Served"], &listed.map(row).collect::<Vec<_>>())
    };
    vec![table("Operations of the newest client", true), table("Operations of older clients only", false)]
}

/// Returns the served operations as methods with paths.
fn served_operations(document: &Value) -> Vec<String> {
    let paths = document["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, operations)| {
        let methods = operations.as_object().expect("operations").keys();
        methods.map(move |method| format!("{} {}", method.to_uppercase(), shape(path)))
    });
    operations.collect()
}

/// Returns a path without the names of its parameters.
fn shape(path: &str) -> String {
    let segments = path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}
