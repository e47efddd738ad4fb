//! Tests that require internals: a full disk, and a read-only file.

use docs_store::{Batch, Key, Mode, Op, Store, StoreError, StoreResult, Txn as _, Value};
use rusqlite::{Connection, OpenFlags};

use super::{OpenFailure, SqliteSession, SqliteStore, SqliteTxn, file::File};
use crate::{OpenError, Options};

/// Limits the number of pages of the file to simulate a full disk; `None` removes the limit.
async fn set_room(store: &SqliteStore, pages: Option<i64>) {
    let mut lease =
        store.shared.pool(Mode::Write).lease(tokio::time::Instant::now()).await.expect("nobody writes");
    lease
        .run(|conn| {
            Ok(conn.pragma_update(None, "max_page_count", pages.unwrap_or(i64::from(u32::MAX) - 1))?)
        })
        .expect("the pragma is set");
}

async fn commit(store: &SqliteStore, op: Op) -> StoreResult<()> {
    let txn = store.begin(Mode::Write, &[]).await?;
    txn.commit(Batch { ops: vec![Op::Put("num!last".into(), Value::Int(1)), op], feed: vec![] }).await
}

fn big(n: usize) -> Op {
    let json = format!("\"{}\"", "v".repeat(100_000));
    Op::Create(format!("cf!{n:03}").into(), Value::Json(json.into()))
}

async fn count(store: &SqliteStore, keys: usize) -> usize {
    let keys: Vec<Key> = (0..keys).map(|n| Key::from(format!("cf!{n:03}"))).collect();
    let reader = store.begin(Mode::Read, &[]).await.expect("reading needs no room");
    reader.get(&keys).await.expect("reading needs no room").iter().flatten().count()
}

/// A rejected commit applies nothing.
#[tokio::test]
async fn full_disk_rejects_commits_and_recovers_with_free_space() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let store =
        SqliteStore::open(folder.path().join("a.sqlite"), Options::new()).await.expect("it can be opened");
    set_room(&store, Some(200)).await;
    let mut written = 0;
    let full = loop {
        match commit(&store, big(written)).await {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 100, "the disk never gets full");
    };
    assert!(matches!(&full, StoreError::Unavailable(why) if why.contains("free some space")), "{full:?}");
    for _ in 0..3 {
        assert_eq!(commit(&store, big(written)).await, Err(full.clone()));
        assert_eq!(count(&store, written + 1).await, written);
    }
    // Free space within the file: the pages of deleted rows are reused.
    commit(&store, Op::Delete("cf!000".into())).await.expect("deleting needs no room");
    commit(&store, big(written)).await.expect("there is room");
    assert_eq!(commit(&store, big(written + 1)).await, Err(full));
    set_room(&store, None).await;
    commit(&store, big(written + 1)).await.expect("there is room");
    assert_eq!(count(&store, written + 2).await, written + 1);
}

#[tokio::test]
async fn connection_is_replaced_after_losing_write_access() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let store =
        SqliteStore::open(folder.path().join("a.sqlite"), Options::new()).await.expect("it can be opened");
    let broken: StoreResult<()> = store
        .shared
        .write(|conn| {
            conn.pragma_update(None, "query_only", true)?;
            Ok(conn.execute_batch("DELETE FROM ix")?)
        })
        .await;
    assert!(
        matches!(&broken, Err(StoreError::Unavailable(why)) if why.contains("write access")),
        "{broken:?}"
    );
    commit(&store, big(0)).await.expect("the next connection may write");
}

#[tokio::test]
async fn transaction_ends_when_sqlite_rolls_it_back() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let store =
        SqliteStore::open(folder.path().join("a.sqlite"), Options::new()).await.expect("it can be opened");
    for mode in [Mode::Read, Mode::Write] {
        let session = SqliteSession::begin(store.shared.clone(), mode).await.expect("nobody is in front");
        let failed: StoreResult<()> = session.run(|conn| {
            conn.execute_batch("ROLLBACK")?;
            Err(StoreError::Unavailable("the disk failed".to_owned()).into())
        });
        assert!(failed.is_err());
        let txn = Box::new(SqliteTxn(session));
        // A read transaction cannot conflict.
        let over = |result: StoreResult<()>| match mode {
            Mode::Read => assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}"),
            Mode::Write => assert_eq!(result, Err(StoreError::Conflict)),
        };
        over(txn.get(&[Key::from("num!a")]).await.map(drop));
        over(txn.commit(Batch::default()).await);
        // Its connection is free again.
        commit(&store, Op::Delete("num!a".into())).await.expect("nobody is in front");
    }
}

#[test]
fn a_read_only_file_is_refused() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("a.sqlite");
    let options = Options::new();
    let (file, layout) =
        (File::new(&path, &options).expect("a path"), options.layout().expect("the platform's kinds"));
    drop(file.open(&layout).expect("the folder is there"));
    let read_only =
        Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("the file is there");
    match file.prepare(&read_only, &layout) {
        Err(OpenFailure::Refused(OpenError::Unusable { why, .. })) => {
            assert!(why.contains("needs write access"));
        }
        other => panic!("{other:?}"),
    }
}
