//! A database outage while the server keeps running.

use serde_json::Value;

use crate::{
    client::Client,
    durable::{
        crash::check,
        load::{Log, SharedResources, start, stopped},
        stores::postgres,
    },
    process::{Process, TOKEN, until},
    refused::refused,
};

#[tokio::test(flavor = "multi_thread")]
async fn server_survives_a_database_restart_without_data_loss() {
    let Some(stand) = postgres().await else { return };
    let (proxy, url) = stand.through_proxy().await;
    let server = Process::start(&url).await;
    let client = Client::new(&server.base, TOKEN);
    let shared = SharedResources::new(&client).await;
    let mut logs: Vec<Log> = (0..4).map(Log::new).collect();
    for _ in 0..3 {
        let so_far = requests(&client, &shared).await;
        let workers = start(logs, &client, &shared);
        until("some load", async || requests(&client, &shared).await >= so_far + 4).await;
        proxy.cut().await;
        // During the outage, requests fail with 503 and `Retry-After`.
        until("a refusal", async || {
            let answer = client.call("GET", "/user", Value::Null).await.expect("the server runs");
            assert!(matches!(answer.status, 200 | 503), "{} {}", answer.status, answer.body);
            assert!(answer.status == 200 || answer.retry_after, "503 says when to come back");
            answer.status == 503
        })
        .await;
        logs = stopped(workers).await;
        proxy.mend().await;
        until("the database", async || {
            client.call("GET", "/user", Value::Null).await.is_ok_and(|answer| answer.status == 200)
        })
        .await;
        check(&client, &shared, &mut logs).await;
    }
    for log in &logs {
        log.imports_end(&client).await;
    }
    drop(server);
    stand.verify().await;
}

#[tokio::test]
async fn server_exits_with_an_error_if_the_store_cannot_be_opened() {
    let (said, code) = refused_store("postgres://docs:hunter2@127.0.0.1:1/docs").await;
    assert!(said.contains("127.0.0.1:1") && !said.contains("hunter2"), "{said}");
    assert_ne!(code, Some(0));
    let (said, code) = refused_store("sqlite:/nowhere/at/all/docs.db").await;
    assert!(said.contains("/nowhere/at/all"), "{said}");
    assert_ne!(code, Some(0));
    let (said, _) = refused_store("mysql://docs:hunter2@localhost/docs").await;
    assert!(
        said.contains("sqlite:PATH") && said.contains("postgres://") && !said.contains("hunter2"),
        "{said}"
    );
}

/// Starts a server that must reject its store, and returns the error message and exit code.
async fn refused_store(store: &str) -> (String, Option<i32>) {
    refused(&["--bind", "127.0.0.1:0", "--store", store]).await
}

async fn requests(client: &Client, shared: &SharedResources) -> u64 {
    client.get(&format!("/spaces/{}", shared.shared)).await["changeRequests"].as_u64().expect("a counter")
}
