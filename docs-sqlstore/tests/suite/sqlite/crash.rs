//! A process that is killed while it writes.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use docs_core::store::{Batch, FeedItem, Key, Mode, Op, Store, Value};
use docs_sqlstore::{Durability, Options, SqliteStore};

use super::{Sqlite, begin, int, put};

/// Environment variable with the database path for the process to kill.
const DATABASE: &str = "DOCS_SQLSTORE_KILLED";
const WRITERS: u64 = 4;

/// Writes until it is killed, and prints acknowledged commits. It is a test so that another test can start it as a
/// process; in a normal run of the suite, it does nothing.
#[test]
fn killed_writer_process() {
    let Some(path) = env::var_os(DATABASE) else { return };
    tokio::runtime::Runtime::new().expect("threads can be started").block_on(async {
        let store = SqliteStore::open(path, Options::new()).await.expect("the folder is there");
        let writers = (0..WRITERS).map(|w| tokio::spawn(write_on(store.clone(), w)));
        for writer in writers.collect::<Vec<_>>() {
            writer.await.expect("a writer does not fail");
        }
    });
}

async fn write_on(store: SqliteStore, w: u64) {
    for n in 0.. {
        let id = w + n * WRITERS;
        let mut ops: Vec<Op> = (0..20).map(|part| put(&format!("num!{id}!{part}"), 1)).collect();
        ops.push(Op::Add("ctr!all".into(), 1));
        // Large enough for frequent checkpoints, so that the process may be killed during one.
        ops.push(Op::Put(
            format!("cf!{w}").into(),
            Value::Json(format!("\"{}\"", "v".repeat(100_000)).into()),
        ));
        let feed = vec![FeedItem { topic: 1, key: Key::from(format!("{id}")) }];
        if let Ok(txn) = store.begin(Mode::Write, &[]).await {
            txn.commit(Batch { ops, feed }).await.expect("a writer never conflicts");
            println!("acknowledged {id}.");
        }
    }
}

/// Starts a writing process, kills it, and returns the acknowledged commits.
fn kill(path: &Path, after: usize) -> Vec<u64> {
    let mut child: Child = Command::new(env::current_exe().expect("this is a program"))
        .args(["--exact", "sqlite::crash::killed_writer_process", "--nocapture"])
        .env(DATABASE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut acknowledged = Vec::new();
    let mut listen = |count: usize| {
        for line in lines.by_ref().map_while(Result::ok) {
            let id = line.split_once("acknowledged ").and_then(|(_, rest)| rest.strip_suffix('.'));
            acknowledged.extend(id.map(|id| id.parse::<u64>().expect("an id")));
            if acknowledged.len() >= count {
                return;
            }
        }
    };
    listen(after);
    child.kill().expect("it runs");
    // Read the output printed before the kill.
    listen(usize::MAX);
    child.wait().expect("it has ended");
    acknowledged
}

#[tokio::test]
async fn acknowledged_commits_survive_a_process_kill() {
    let home = Sqlite::new();
    for round in 0..4_usize {
        let path = home.path(&format!("killed-{round}.sqlite"));
        let killed = path.clone();
        let after = 30 + 40 * round;
        let acknowledged =
            tokio::task::spawn_blocking(move || kill(&killed, after)).await.expect("it was killed");
        assert!(acknowledged.len() >= after, "it ended before it was killed: {acknowledged:?}");
        let store = SqliteStore::open(&path, home.options().durability(Durability::Normal))
            .await
            .expect("the database is sound");
        let reader = begin(&store, Mode::Read).await;
        let kept = int(&*reader, "ctr!all").await.expect("something was acknowledged");
        let fed = store.changes(1, None, 100_000).await.expect("none is needed");
        assert_eq!(i64::try_from(fed.len()), Ok(kept));
        for id in &acknowledged {
            assert!(fed.iter().any(|(_, key)| **key == id.to_string()), "commit {id} is gone");
        }
        for (_, id) in fed {
            for part in 0..20 {
                assert_eq!(int(&*reader, &format!("num!{id}!{part}")).await, Some(1), "half of commit {id}");
            }
        }
    }
}
