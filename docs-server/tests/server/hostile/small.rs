//! Small archives of a few hundred bytes whose tables of contents expand to many pages.

use serde_json::{Value, json};

use super::*;

/// Maximum memory of the server in bytes, in excess of the idle server.
const MOST_ABOVE_IDLE: u64 = 300 << 20;
/// Number of entries in the tables of contents.
const ENTRIES: usize = 19_900;

fn contents(text: String) -> Vec<u8> {
    archive([("SUMMARY.md".to_owned(), text.into_bytes())])
}

fn archives() -> Vec<Vec<u8>> {
    let title = "x".repeat(95);
    let deep = |number: usize| format!("{}* {title}\n", "  ".repeat(number % 33));
    let block = "* ```yaml\n  type: builtin:openapi\n  dependencies:\n    spec:\n      ref: {kind: openapi, spec: api}\n  ```\n";
    vec![
        contents("* a\n".repeat(ENTRIES)),
        contents((0..ENTRIES).map(deep).collect()),
        contents(block.repeat(200)),
    ]
}

/// Publishes a specification with many tags.
async fn specification(client: &Client, org: &str) {
    let tags: Vec<Value> = (0..2_000).map(|number| json!({ "name": format!("t{number}") })).collect();
    let text =
        json!({ "openapi": "3.1.0", "info": { "title": "x", "version": "1" }, "tags": tags, "paths": {} });
    let put = json!({ "source": { "text": text.to_string() } });
    let path = format!("/orgs/{org}/openapi/api");
    client.call("PUT", &path, put).await.expect("put");
    until("the specification", async || client.get(&path).await["processingState"] == "complete").await;
}

fn assert_memory(server: &Process, what: &str, idle: u64) {
    let peak = memory(server, "VmHWM:").unwrap_or_default();
    println!("{what}: {} MB at rest, {} MB at most", idle / MB, peak / MB);
    assert!(peak < idle + MOST_ABOVE_IDLE, "{what}: {peak} bytes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_archives_of_many_pages_take_bounded_memory() {
    let archives = archives();
    let served = archives.iter().enumerate();
    let served = served
        .map(|(n, bytes)| (format!("/{n}"), ("application/zip", Arc::from(bytes.as_slice()))))
        .collect();
    let base = serve(served).await;
    let folder = TempDir::new().expect("a folder");
    let (server, client, org) = start(folder.path(), "self").await;
    specification(&client, &org).await;
    let idle = forget_peak(&server);
    let import = async |n: usize| {
        let space = space(&client, &org).await;
        let request = json!({ "url": format!("{base}/{n}"), "source": "zip" });
        let path = format!("/spaces/{space}/content/import");
        // Six large commits one after the other may take longer than a commit waits for others.
        until("the import", async || {
            let answer = client.call("POST", &path, request.clone()).await.expect("an answer");
            assert!(matches!(answer.status, 201 | 503), "archive {n}: {:?}", answer.body);
            answer.status == 201
        })
        .await;
        space
    };
    for (n, bytes) in archives.iter().enumerate() {
        let what = format!("an archive of {} bytes", bytes.len());
        let (space, others) = beside_others(&client, import(n)).await;
        assert!(others > 0, "{what}: nobody else was answered");
        let read = async { client.get(&format!("/spaces/{space}/content/pages")).await };
        let (pages, others) = beside_others(&client, read).await;
        assert!(others > 0 && pages["pages"].as_array().is_some_and(|pages| !pages.is_empty()), "{what}");
        assert_memory(&server, &what, idle);
    }
    let six = async { tokio::join!(import(0), import(0), import(0), import(0), import(0), import(0)) };
    let (_, others) = beside_others(&client, six).await;
    println!("six at once: {others} requests of others");
    assert_memory(&server, "six at once", idle);
}
