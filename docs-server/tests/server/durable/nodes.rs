//! Two servers sharing one database.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::{
    client::{Client, id},
    durable::{
        crash::check,
        load::{Log, SharedResources},
        stores::postgres,
    },
    process::{Process, TOKEN},
};

/// Each server can read the other's writes, and continues the jobs of a killed one.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_a_database_and_survive_each_other() {
    let Some(stand) = postgres().await else { return };
    let first = Process::start(&stand.url).await;
    let second = Process::start(&stand.url).await;
    let one = Client::new(&first.base, TOKEN);
    let two = one.at(&second.base);
    let shared = SharedResources::new(&one).await;

    // Each acknowledged write is immediately visible on the other server.
    let mut spaces = BTreeSet::new();
    for n in 0..40 {
        let (writer, reader) = if n % 2 == 0 { (&one, &two) } else { (&two, &one) };
        let title = format!("Space {n}");
        let path = format!("/orgs/{}/spaces", shared.org);
        let space = id(&writer.post(&path, json!({ "title": title })).await);
        assert_eq!(reader.get(&format!("/spaces/{space}")).await["title"], title.as_str());
        spaces.insert(space);
    }

    // The pages of one listing are read from both servers alternately.
    let (mut seen, mut next, mut turn) = (BTreeSet::new(), String::new(), 0);
    loop {
        let client = if turn % 2 == 0 { &one } else { &two };
        let page = client.get(&format!("/orgs/{}/spaces?limit=7{next}", shared.org)).await;
        for space in page["items"].as_array().expect("a list") {
            assert!(seen.insert(id(space)), "a space is listed twice");
        }
        turn += 1;
        match page["next"]["page"].as_str() {
            Some(cursor) => next = format!("&page={cursor}"),
            None => break,
        }
    }
    assert!(spaces.is_subset(&seen) && turn > 5);

    // Imports are requested from both servers. One is killed while it runs jobs.
    for (n, space) in spaces.iter().enumerate() {
        let client = if n % 2 == 0 { &one } else { &two };
        let body = json!({ "url": docs_server::HANDBOOK_URL, "ref": docs_server::MAIN_REF });
        client.post(&format!("/spaces/{space}/git/import"), body).await;
    }
    let mut logs: Vec<Log> = (0..4).map(Log::new).collect();
    for _ in 0..12 {
        for (n, log) in logs.iter_mut().enumerate() {
            log.step(if n % 2 == 0 { &one } else { &two }, &shared).await.expect("both servers run");
        }
    }
    let address = first.base.trim_start_matches("http://").to_owned();
    drop(first);
    assert!(TcpStream::connect(address).await.is_err(), "it listens no more");
    check(&two, &shared, &mut logs).await;
    for space in &spaces {
        // Each import creates one revision, whichever server completes it.
        crate::process::until(&format!("the import into {space}"), async || {
            let pages: Value = two.get(&format!("/spaces/{space}/content/pages")).await;
            !pages["pages"].as_array().expect("pages").is_empty()
        })
        .await;
    }
    drop(second);
    for space in &spaces {
        assert_eq!(stand.imports(space).await, 1, "{space}");
    }
    stand.verify().await;
}
