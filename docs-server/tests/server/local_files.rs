//! Files that the program writes on the machine, and the lock through which processes on one store detect each other.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Output,
};

use data_encoding::BASE64;
use docs_core::store::Mode;
use docs_sqlstore::{Options, PostgresStore, SharingMode, SqliteStore};
use serde_json::json;
use tempfile::TempDir;

use crate::{
    client::{Client, id},
    durable::stores::{Stand, postgres, sqlite},
    process::{Process, TOKEN, program, until},
    refused::refused,
};

const ANY: &str = "127.0.0.1:0";

fn rebuild(store: &str) -> Output {
    let mut command = program();
    command.args(["admin", "rebuild", "--store", store]).output().expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns all paths in a folder, recursively.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(below(&path));
        }
        found.push(path);
    }
    found
}

#[tokio::test]
async fn local_files_are_for_their_owner_under_any_umask() {
    for umask in ["000", "022"] {
        let folder = TempDir::new().expect("a folder");
        let at = |name: &str| folder.path().join(name).display().to_string();
        let store = format!("sqlite:{}", at("docs.db"));
        let server =
            Process::under(umask, &["--bind", ANY, "--store", &store, "--blobs", &at("blobs/large")]).await;
        let client = Client::new(&server.base, TOKEN);
        let space = id(&client
            .get(&format!("/orgs/{}/spaces", id(&client.get("/orgs").await["items"][0])))
            .await["items"][0]);
        let requests = format!("/spaces/{space}/change-requests");
        let request = id(&client.post(&requests, json!({})).await);
        let large = BASE64.encode(&vec![7; 300_000]);
        let file = json!({ "name": "a.bin", "contentType": "application/octet-stream", "base64": large });
        let changes = json!([{ "operation": "insert_files", "files": [file] }]);
        client.post(&format!("{requests}/{request}/content"), json!({ "changes": changes })).await;
        let found = below(folder.path());
        for part in [
            "docs.db",
            "docs.db-wal",
            "docs.db.lock",
            "fulltext/index/meta.json",
            "docs.db.git",
            "blobs/large/",
        ] {
            assert!(
                found.iter().any(|path| path.display().to_string().contains(part)),
                "{part} in {found:?}"
            );
        }
        for path in found {
            let mode = fs::metadata(&path).expect("it is there").permissions().mode() & 0o777;
            let expected = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, expected, "{} has {mode:o} under umask {umask}", path.display());
        }
    }
}

#[tokio::test]
async fn a_backup_of_sqlite_is_for_its_owner() {
    let folder = TempDir::new().expect("a folder");
    let store = SqliteStore::open(folder.path().join("docs.db"), Options::new()).await.expect("it opens");
    let copy = folder.path().join("copy.db");
    store.backup(&copy).await.expect("copied");
    assert_eq!(fs::metadata(&copy).expect("it is there").permissions().mode() & 0o777, 0o600);
    SqliteStore::open(&copy, Options::new()).await.expect("it opens");
}

/// Checks that a rebuild is refused while a server runs, and succeeds after the server was killed.
async fn rebuilds_alone(stand: &Stand) {
    let server = Process::with(&["--bind", ANY, "--store", &stand.url, "--search-index", "memory"]).await;
    let output = rebuild(&stand.url);
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", said(&output));
    assert!(said(&output).contains("is in use; stop all servers"), "{}", said(&output));
    // Other commands work while the server is running.
    let users = program().args(["admin", "user", "list", "--store", &stand.url]).output().expect("it starts");
    assert!(users.status.success(), "{}", said(&users));
    drop(server);
    // The database releases the lock of a killed process with a delay.
    until("the end of the server", async || rebuild(&stand.url).status.success()).await;
}

#[tokio::test]
async fn rebuild_is_refused_beside_a_server_on_sqlite() {
    let stand = sqlite();
    rebuilds_alone(&stand).await;
    let path = stand.url.strip_prefix("sqlite:").expect("a file");
    let alone =
        SqliteStore::open(path, Options::new().sharing(SharingMode::Exclusive)).await.expect("it opens");
    for flags in
        [&["--bind", ANY, "--store", &stand.url][..], &["admin", "user", "list", "--store", &stand.url]]
    {
        let (said, code) = refused(flags).await;
        assert!(said.contains("is being rebuilt") && code != Some(0), "{said}");
    }
    drop(alone);
    Process::start(&stand.url).await;
}

#[tokio::test]
async fn rebuild_finds_the_lock_under_other_names_of_the_file() {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let url = |path: PathBuf| format!("sqlite:{}", path.display());
    let server =
        Process::with(&["--bind", ANY, "--store", &url(at("docs.db")), "--search-index", "memory"]).await;
    std::os::unix::fs::symlink(at("docs.db"), at("symbolic.db")).expect("linked");
    let output = rebuild(&url(at("symbolic.db")));
    assert!(!output.status.success() && said(&output).contains("is in use"), "{}", said(&output));
    fs::hard_link(at("docs.db"), at("hard.db")).expect("linked");
    let output = rebuild(&url(at("hard.db")));
    assert!(!output.status.success() && said(&output).contains("has hard links"), "{}", said(&output));
    drop(server);
}

#[tokio::test]
async fn rebuild_is_refused_beside_a_server_on_postgres() {
    let Some(stand) = postgres().await else { return };
    rebuilds_alone(&stand).await;
    let alone = PostgresStore::open(&stand.url, Options::new().sharing(SharingMode::Exclusive))
        .await
        .expect("it opens");
    let (said, code) = refused(&["--bind", ANY, "--store", &stand.url]).await;
    assert!(said.contains("is being rebuilt") && code != Some(0), "{said}");
    drop(alone);
    until("the store to be free", async || PostgresStore::open(&stand.url, Options::new()).await.is_ok())
        .await;
    Process::start(&stand.url).await;
}

#[tokio::test]
async fn a_lost_connection_takes_the_lock_of_postgres_again() {
    let Some(stand) = postgres().await else { return };
    let (proxy, url) = stand.through_proxy().await;
    let store = PostgresStore::open(&url, Options::new()).await.expect("it opens");
    let reads = async || docs_core::store::Store::begin(&store, Mode::Read, &[]).await.map(drop);
    reads().await.expect("it reads");
    proxy.cut().await;
    let mut alone = None;
    until("the database to notice", async || {
        alone = PostgresStore::open(&stand.url, Options::new().sharing(SharingMode::Exclusive)).await.ok();
        alone.is_some()
    })
    .await;
    proxy.mend().await;
    let refused = reads().await.expect_err("another program is alone");
    assert!(refused.to_string().contains("is being rebuilt"), "{refused}");
    drop(alone);
    until("the store to be free", async || reads().await.is_ok()).await;
    let refused = PostgresStore::open(&stand.url, Options::new().sharing(SharingMode::Exclusive)).await;
    assert!(refused.is_err_and(|why| why.to_string().contains("is in use")), "the lock is taken again");
}
