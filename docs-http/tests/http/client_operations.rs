//! Operations that published clients know and the server does not serve.

use std::{collections::BTreeMap, path::Path};

use docs_http::openapi::client_operations;

use crate::{
    contract::{Contract, other_documents},
    server::Server,
};

/// Replaces the parameters of a path.
pub(crate) fn with_parameters(path: &str, value: impl Fn(&str) -> String) -> String {
    let segments = path.split('/').map(|segment| match segment.strip_prefix('{') {
        Some(name) => value(name.trim_end_matches('}')),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns the text of the list for the configured documents. Operations that the last one lacks are former ones.
fn expected_list() -> Option<String> {
    let mut lines: BTreeMap<(String, String), String> = BTreeMap::new();
    let documents = other_documents();
    for (age, (_, document)) in documents.iter().rev().enumerate() {
        for (path, operations) in document["paths"].as_object().expect("paths") {
            for (method, operation) in operations.as_object().expect("operations") {
                let shape = with_parameters(path, |_| "{}".to_owned());
                let (method, id) = (method.to_uppercase(), operation["operationId"].as_str().expect("an id"));
                let age = if age == 0 { "current" } else { "former" };
                lines
                    .entry((shape, method.clone()))
                    .or_insert_with(|| format!("{method} {path} {id} {age}\n"));
            }
        }
    }
    (!documents.is_empty()).then(|| lines.into_values().collect())
}

#[test]
fn list_of_client_operations_matches_the_documents() {
    let Some(expected) = expected_list() else {
        return println!("skipped: DOCS_TEST_CONTRACT names no documents");
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/openapi/client_operations.txt");
    if std::env::var_os("DOCS_REFERENCE").is_some_and(|what| what == "write") {
        std::fs::write(&file, &expected).expect("the list can be written");
    }
    let listed = std::fs::read_to_string(&file).expect("the list");
    assert!(listed == expected, "run this test with DOCS_REFERENCE=write, and review {}", file.display());
}

#[tokio::test]
async fn unserved_client_operations_return_501_with_their_name() {
    let s = Server::new().await;
    let ours = Contract::of(s.document);
    let mut unserved = 0;
    for operation in client_operations() {
        let path = format!("/v1{}", with_parameters(operation.path, |_| "x".to_owned()));
        if ours.operation(operation.method, &path).is_some() {
            continue;
        }
        unserved += 1;
        let answer = s.ask(operation.method, &path, &s.admin, None).await;
        // A page with a block of an integration is shown without the block if its integration does not exist.
        let status = if operation.path == "/integrations/{integrationName}/render" { 404 } else { 501 };
        let message = answer.refused(status, &path);
        assert!(message.starts_with(&format!("`{}` is not served: ", operation.id)), "{message}");
    }
    assert!(unserved > 50, "{unserved}");
}

#[tokio::test]
async fn other_methods_of_unserved_paths_are_unknown() {
    let s = Server::new().await;
    s.ask("PUT", "/v1/ads/sites", &s.admin, None).await.refused(404, "no operation of a client");
    s.ask("GET", "/v1/ads/pages", &s.admin, None).await.refused(404, "no path of a client");
    let allowed = s.ask("PUT", "/v1/user", &s.admin, None).await;
    allowed.refused(405, "a served path");
}
