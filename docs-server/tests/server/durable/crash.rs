//! Kills the server at random times.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

use crate::{
    client::Client,
    durable::{
        load::{Log, SharedResources, start, stopped, titles},
        stores::{Stand, postgres, sqlite},
    },
    process::{Process, TOKEN},
};

const WORKERS: u32 = 6;

/// Returns how often a server is killed.
fn rounds() -> u32 {
    std::env::var("DOCS_CRASH_ROUNDS").map_or(4, |text| text.parse().expect("DOCS_CRASH_ROUNDS is a number"))
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_server_on_sqlite_loses_no_acknowledged_write() {
    survives(&sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_server_on_postgres_loses_no_acknowledged_write() {
    if let Some(stand) = postgres().await {
        survives(&stand).await;
    }
}

async fn survives(stand: &Stand) {
    let mut server = Process::start(&stand.url).await;
    let client = Client::new(&server.base, TOKEN);
    let shared = SharedResources::new(&client).await;
    let mut logs: Vec<Log> = (0..WORKERS).map(Log::new).collect();
    let mut chance = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..rounds() {
        let client = client.at(&server.base);
        let workers = start(logs, &client, &shared);
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        // A random delay before the kill, instead of waiting for an event.
        tokio::time::sleep(Duration::from_millis(50 + chance % 650)).await;
        drop(server);
        logs = stopped(workers).await;
        stand.verify().await;
        server = Process::start(&stand.url).await;
        check(&client.at(&server.base), &shared, &mut logs).await;
        let acknowledged: u32 = logs.iter().map(|log| log.acknowledged).sum();
        println!("round {round}: {acknowledged} writes acknowledged so far, none lost");
    }
    let client = client.at(&server.base);
    for log in &logs {
        log.imports_end(&client).await;
    }
    drop(server);
    stand.verify().await;
}

/// Checks that all acknowledged writes are present and that no write is partial.
pub(crate) async fn check(client: &Client, shared: &SharedResources, logs: &mut [Log]) {
    let pages = titles(&client.get(&format!("/spaces/{}/content/pages", shared.shared)).await);
    for log in logs {
        log.check(client, shared, &pages).await;
    }
    let requests = client.all(&format!("/spaces/{}/change-requests", shared.shared)).await;
    let numbers: BTreeSet<u64> = requests.iter().filter_map(|r| r["number"].as_u64()).collect();
    assert!(numbers.iter().copied().eq(1..=requests.len() as u64), "numbers have gaps: {numbers:?}");
    let space: Value = client.get(&format!("/spaces/{}", shared.shared)).await;
    assert_eq!(space["changeRequests"], requests.len(), "the counter is the count");
}
