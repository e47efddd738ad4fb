//! The database file: opening, closing, backups and inspection.

use std::{fs, path::Path, sync::Arc};

use bytes::Bytes;
use docs_core::store::{Batch, FeedItem, Mode, Op, Store, StoreError, Value};
use docs_sqlstore::{OpenError, Options, SqliteStore};
use rusqlite::Connection;

use super::{Sqlite, begin, commit, int, put};

async fn refused(path: &Path) -> (OpenError, String) {
    let before = fs::read(path).ok();
    let error = SqliteStore::open(path, Options::new()).await.expect_err("the file is not fit");
    assert_eq!(fs::read(path).ok(), before, "the file was changed");
    let text = error.to_string();
    assert!(text.contains(&path.display().to_string()), "{text}");
    (error, text)
}

fn integrity(path: &Path) -> String {
    let conn = Connection::open(path).expect("the file is there");
    conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("the check runs")
}

#[tokio::test]
async fn unusable_file_is_rejected_with_advice() {
    let home = Sqlite::new();
    let folder = home.path("folder");
    fs::create_dir(&folder).expect("there is room");
    for (path, advice) in [
        (home.path("missing/a.sqlite"), "its folder does not exist; create the folder first"),
        (folder, "it is a folder; use a file in it"),
    ] {
        let (error, text) = refused(&path).await;
        assert!(matches!(error, OpenError::Unusable { .. }) && text.contains(advice), "{text}");
        assert!(!home.path("missing").exists());
    }
    let text_file = home.path("notes.txt");
    fs::write(&text_file, "no database ".repeat(1_000)).expect("there is room");
    assert!(refused(&text_file).await.1.contains("it is not an SQLite database"));
}

#[tokio::test]
async fn a_database_of_another_program_is_refused() {
    let home = Sqlite::new();
    let path = home.path("other.sqlite");
    let other = Connection::open(&path).expect("the folder is there");
    other.execute_batch("CREATE TABLE customers (name TEXT)").expect("the file is empty");
    drop(other);
    assert!(refused(&path).await.1.contains("another program"));
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused() {
    let home = Sqlite::new();
    drop(home.open("a.sqlite").await);
    let path = home.path("a.sqlite");
    let newer = Connection::open(&path).expect("the file is there");
    newer.execute_batch("INSERT INTO docs_schema VALUES (99, 'tomorrow')").expect("the table is there");
    drop(newer);
    let (error, _) = refused(&path).await;
    assert!(matches!(error, OpenError::Newer { found: 99, known: 2, .. }), "{error}");
}

#[tokio::test]
async fn a_name_that_cannot_be_a_table_is_refused() {
    let home = Sqlite::new();
    let options = Options::new().kinds(["note; DROP TABLE ix"]);
    let error =
        SqliteStore::open(home.path("a.sqlite"), options).await.expect_err("must end with a file name");
    assert!(matches!(error, OpenError::Kind(_)) && !home.path("a.sqlite").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn new_file_can_be_opened_concurrently() {
    let home = Arc::new(Sqlite::new());
    let open = (0..8).map(|_| {
        let home = home.clone();
        tokio::spawn(
            async move { commit(&home.open("a.sqlite").await, vec![Op::Add("ctr!a".into(), 1)]).await },
        )
    });
    for opened in open.collect::<Vec<_>>() {
        assert_eq!(opened.await.expect("the database can be opened"), Ok(()));
    }
    let store = home.open("a.sqlite").await;
    assert_eq!(int(&*begin(&store, Mode::Read).await, "ctr!a").await, Some(8));
}

#[tokio::test]
async fn new_record_kind_gets_a_table_on_reopen() {
    let home = Sqlite::new();
    let path = home.path("a.sqlite");
    drop(SqliteStore::open(&path, Options::new()).await.expect("the folder is there"));
    let store = SqliteStore::open(&path, Options::new().kinds(["plan"])).await.expect("the file is there");
    let plan = Value::Json(Bytes::from_static(b"{\"name\":\"big\"}"));
    commit(&store, vec![Op::Create("plan!a".into(), plan)]).await.expect("no conflict");
    let conn = Connection::open(&path).expect("the file is there");
    let name: String =
        conn.query_row("SELECT doc ->> 'name' FROM r_plan", [], |row| row.get(0)).expect("one plan");
    assert_eq!(name, "big");
}

#[tokio::test]
async fn dropping_the_last_handle_leaves_only_the_database_file() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    commit(&store, vec![put("num!a", 1)]).await.expect("no conflict");
    let (clone, open) = (store.clone(), begin(&store, Mode::Read).await);
    drop((store, clone));
    assert!(home.path("a.sqlite-wal").exists());
    assert_eq!(int(&*open, "num!a").await, Some(1));
    drop(open);
    let left: Vec<_> = fs::read_dir(home.folder.path()).expect("the folder is there").flatten().collect();
    assert_eq!(left.iter().map(fs::DirEntry::file_name).collect::<Vec<_>>(), ["a.sqlite"]);
    assert_eq!(int(&*begin(&home.open("a.sqlite").await, Mode::Read).await, "num!a").await, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn backup_is_a_consistent_snapshot_of_a_live_database() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let both = |n| vec![put("num!a", n), put("num!b", n)];
    let feed = vec![FeedItem { topic: 1, key: "a".into() }];
    begin(&store, Mode::Write).await.commit(Batch { ops: both(0), feed }).await.expect("no conflict");
    let pos = store.changes(1, None, 1).await.expect("none is needed").remove(0).0;
    store.trim(1, &pos).await.expect("it was given");
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for n in 1.. {
                if commit(&store, both(n)).await.is_err() || n > 300 {
                    return;
                }
            }
        }
    });
    for n in 0..5 {
        let path = home.path(&format!("backup-{n}.sqlite"));
        store.backup(&path).await.expect("there is room");
        assert_eq!(integrity(&path), "ok");
        let copy = home.open(&format!("backup-{n}.sqlite")).await;
        let reader = begin(&copy, Mode::Read).await;
        let numbers = (int(&*reader, "num!a").await, int(&*reader, "num!b").await);
        assert!(numbers.0.is_some() && numbers.0 == numbers.1, "{numbers:?}");
        // A position from before the backup is still valid, even if its item has been trimmed.
        assert_eq!(copy.changes(1, Some(pos.clone()), 9).await, Ok(vec![]));
    }
    writer.await.expect("the writer does not fail");
    let exists = store.backup(home.path("backup-0.sqlite")).await;
    assert!(
        matches!(&exists, Err(StoreError::Unavailable(why)) if why.contains("the file already exists")),
        "{exists:?}"
    );
    let nowhere = store.backup(home.path("missing/backup.sqlite")).await;
    assert!(matches!(&nowhere, Err(StoreError::Unavailable(why)) if why.contains("missing")), "{nowhere:?}");
    let parts = fs::read_dir(home.folder.path()).expect("the folder is there").flatten();
    assert!(!parts.into_iter().any(|file| file.file_name().to_string_lossy().contains(".part")));
}

#[tokio::test]
async fn sql_views_show_spaces_members_and_sites() {
    let home = Sqlite::new();
    let store = home.open("a.sqlite").await;
    let record =
        |key: &str, json: &str| Op::Put(key.into(), Value::Json(Bytes::copy_from_slice(json.as_bytes())));
    let ops = vec![
        record("usr!u1", r#"{"id":"u1","display_name":"Ada","email":"ada@example.com"}"#),
        record("org!o1", r#"{"id":"o1","title":"Engines"}"#),
        record(
            "mem!o1!u1",
            r#"{"organization":"o1","user":"u1","role":"admin","joined_at":"2025-01-01T00:00:00Z"}"#,
        ),
        record(
            "mem!o1!u2",
            r#"{"organization":"o1","user":"u2","role":null,"joined_at":"2025-01-01T00:00:00Z"}"#,
        ),
        record("spc!s1", r#"{"id":"s1","title":"Guide","organization":"o1","deleted_at":null}"#),
        record("spc!s2", r#"{"id":"s2","title":"Draft","organization":"o1"}"#),
        record(
            "spc!s3",
            r#"{"id":"s3","title":"Gone","organization":"o1","deleted_at":"2025-01-02T00:00:00Z"}"#,
        ),
        record(
            "site!t0",
            r#"{"id":"t0","title":"New","organization":"o1","visibility":"public","published":false}"#,
        ),
        record(
            "site!t1",
            r#"{"id":"t1","title":"Docs","organization":"o1","visibility":"unlisted","published":true}"#,
        ),
        Op::Put("ssp.s!s1!t0!p0".into(), Value::Unit),
        Op::Put("ssp.s!s1!t1!p1".into(), Value::Unit),
        Op::Put("ssp.s!s3!t1!p3".into(), Value::Unit),
    ];
    commit(&store, ops).await.expect("no conflict");
    let conn = Connection::open(store.path()).expect("the file is there");
    let rows = |sql: &str| -> Vec<String> {
        let mut select = conn.prepare(sql).expect("the view is there");
        let row = |row: &rusqlite::Row<'_>| row.get(0);
        select.query_map([], row).expect("the view can be read").flatten().collect()
    };
    let spaces =
        "SELECT concat_ws(' ', id, title, organization, visibility, deleted_at) FROM v_space ORDER BY id";
    assert_eq!(
        rows(spaces),
        ["s1 Guide o1 unlisted", "s2 Draft o1 private", "s3 Gone o1 private 2025-01-02T00:00:00Z"]
    );
    let members =
        "SELECT concat_ws(' ', organization_title, user, email, name, role) FROM v_member ORDER BY user";
    assert_eq!(rows(members), ["Engines u1 ada@example.com Ada admin", "Engines u2"]);
    let sites =
        "SELECT concat_ws(' ', id, title, organization, visibility, published) FROM v_site ORDER BY id";
    assert_eq!(rows(sites), ["t0 New o1 public 0", "t1 Docs o1 unlisted 1"]);
}
