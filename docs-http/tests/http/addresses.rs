//! Every URL in a response starts with the configured public base URL, including its path.

use std::collections::BTreeSet;

use docs_http::HttpConfig;
use poem::http::Method;
use serde_json::Value;

use crate::{
    matrix::ready,
    refusals::{World, bearer},
    server::Server,
};

const BASES: [&str; 3] =
    ["https://docs.example", "https://docs.example/docs-api", "http://docs.example:8080/a/b.c"];

/// Collects the URLs of the server in a response.
fn addresses(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.contains("docs.example") && text.contains("://") => {
            found.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| addresses(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| addresses(field, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_returned_url_starts_with_the_base_url() {
    for base in BASES {
        let w = World::at(base).await;
        let (start, admin) = (w.s.store.save(), bearer(&w.s.admin));
        let (mut handed_out, mut read) = (BTreeSet::new(), BTreeSet::new());
        for op in w.ops().iter().filter(|op| op.method != "DELETE") {
            w.s.store.rewind(&start);
            ready(&w, op).await;
            let answer = w.send(op, &w.path(op), Some(&admin)).await;
            let mut found = BTreeSet::new();
            addresses(&answer.body, &mut found);
            for header in ["location", "link", "content-location"] {
                let said = answer.header(header);
                // A `Link` value has parameters after its URL.
                found.extend(said.map(|said| {
                    said.strip_prefix('<').and_then(|said| said.split('>').next()).unwrap_or(said).to_owned()
                }));
            }
            if op.method == "GET" {
                read.extend(found.iter().cloned());
            }
            handed_out.extend(found);
        }
        let root = format!("{base}/");
        for address in &handed_out {
            assert!(address.starts_with(&root) && !address[root.len()..].contains("//"), "{base}: {address}");
        }
        for part in ["v1/orgs/", "v1/spaces/", "app/s/", "files/", "sites/docs/", "saml/", "v1/users/"] {
            let start = format!("{root}{part}");
            assert!(
                handed_out.iter().any(|address| address.starts_with(&start)),
                "{start} is not among them"
            );
        }
        // The URLs must resolve after a proxy has stripped the path prefix.
        w.s.store.rewind(&start);
        let is_served =
            |address: &&String| ["v1/", "files/"].iter().any(|part| address[root.len()..].starts_with(part));
        for address in read.iter().filter(is_served) {
            let ask = || async {
                let request = w.s.client.request(Method::GET, &address[base.len()..]);
                let request = request.header("authorization", &admin).header("prefer", "respond-async");
                request.send().await.0.status().as_u16()
            };
            let mut status = ask().await;
            if status == 202 {
                // A pending PDF file must be complete before it can be read.
                w.s.platform.settle().await.expect("settled");
                status = ask().await;
            }
            // Some resources have only write methods and are read through their list.
            assert!([200, 405].contains(&status), "{address}: {status}");
        }
    }
}

#[tokio::test]
async fn document_has_the_api_path_or_configured_server_url() {
    for (base, given, expected) in [
        (BASES[0], None, "/v1"),
        (BASES[1], None, "/docs-api/v1"),
        (BASES[2], None, "/a/b.c/v1"),
        (BASES[1], Some("https://docs.example/docs-api/v1"), "https://docs.example/docs-api/v1"),
    ] {
        let s = Server::at(base).await;
        let config = HttpConfig { server_url: given.map(str::to_owned), ..HttpConfig::default() };
        let app = docs_http::routes(&s.platform, config).expect("routes");
        let document: Value = serde_json::from_str(app.document()).expect("JSON");
        assert_eq!(document["servers"], serde_json::json!([{ "url": expected }]), "{base}");
    }
}
