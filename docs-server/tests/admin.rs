//! `docs-server admin …` on a file that the platform then reads.

use std::{
    path::Path,
    process::{Command, Output},
};

use docs_core::{Actor, ErrorKind, Platform, model::OrgId, store::PageRequest};
use docs_server::StoreUrl;
use tempfile::TempDir;

fn admin(store: &str, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_docs-server"));
    command
        .arg("admin")
        .args(words)
        .args(["--store", store])
        .env_remove("DOCS_STORE")
        .env("RUST_LOG", "warn");
    command.output().expect("the server starts")
}

/// What a command prints that must work.
#[track_caller]
fn done(store: &str, words: &[&str]) -> String {
    let output = admin(store, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

/// What a command complains of that must not work.
#[track_caller]
fn refused(store: &str, words: &[&str]) -> String {
    let output = admin(store, words);
    assert!(!output.status.success() && output.stdout.is_empty(), "{words:?}");
    String::from_utf8(output.stderr).expect("text")
}

async fn platform(file: &Path) -> Platform {
    let (store, objects) = StoreUrl::Sqlite(file.to_owned()).open(None).await.expect("the file opens");
    Platform::builder(store, objects).build()
}

#[tokio::test]
async fn an_operator_makes_users_organizations_and_tokens_and_takes_tokens_back() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("docs.db");
    let store = format!("sqlite:{}", file.display());
    let store = store.as_str();
    let user = done(store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    let org = done(store, &["org", "create", "--title", "Engines", "--admin", "ADA@example.com"]);
    let of = ["--user", "ada@example.com"];
    let create = |more: &[&'static str]| done(store, &[&["token", "create"], &of[..], more].concat());
    let first = create(&["--label", "laptop"]);
    let second = create(&["--expires", "2199-12-31T00:00:00Z"]);
    let listed = done(store, &[&["token", "list"], &of[..]].concat());
    let rows: Vec<Vec<&str>> = listed.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 2, "{listed}");
    assert_eq!((rows[0][2], rows[0][3], rows[1][2]), ("never", "laptop", "2199-12-31T00:00:00.000Z"));
    assert!(!listed.contains(&first) && !listed.contains(&second), "a list shows no secrets");
    done(store, &[&["token", "revoke"], &of[..], &[rows[0][0]]].concat());

    let platform = platform(&file).await;
    let gone = platform.authenticate(&first).await.expect_err("it was revoked");
    assert_eq!(gone.kind(), ErrorKind::Unauthenticated);
    let ada = platform.authenticate(&second).await.expect("it is good");
    assert_eq!(ada.user().map(ToString::to_string), Some(user));
    let org: OrgId = org.parse().expect("an id");
    assert_eq!(platform.get_org(&ada, &org).await.expect("hers").title.as_str(), "Engines");
    let log = platform.audit_log(&Actor::Platform, &Default::default(), &PageRequest::default()).await;
    let log: Vec<_> = log.expect("listed").items.iter().map(|entry| entry.operation.clone()).collect();
    assert_eq!(log, ["token_revoke", "token_create", "token_create", "org_create", "user_create"]);
}

#[test]
fn what_is_wrong_is_said_with_the_name_of_the_flag() {
    let folder = TempDir::new().expect("a folder");
    let store = format!("sqlite:{}", folder.path().join("docs.db").display());
    done(&store, &["user", "create", "--email", "ada@example.com", "--name", "Ada"]);
    let of = ["token", "create", "--user", "ada@example.com"];
    for (words, named) in [
        (&["user", "create", "--email", "ada@example.com", "--name", "Ada"][..], "email:"),
        (&["user", "create", "--email", "eve@example.com", "--name", ""], "--name:"),
        (&["org", "create", "--title", "x", "--admin", "ada@example.com"], "--title:"),
        (
            &["org", "create", "--title", "Engines", "--admin", "eve@example.com"],
            "eve@example.com: no such user",
        ),
        (&["token", "list", "--user", "eve@example.com"], "eve@example.com: no such user"),
        (&["token", "revoke", "--user", "ada@example.com", "unknown"], "no such token"),
        (&[&of[..], &["--expires", "tomorrow"]].concat(), "--expires:"),
        (&[&of[..], &["--expires", "2001-01-01T00:00:00Z"]].concat(), "expiresAt:"),
        (&[&of[..], &["--label", &"x".repeat(51)]].concat(), "--label:"),
    ] {
        let said = refused(&store, words);
        assert!(said.contains(named), "{words:?}: {said}");
    }
    assert_eq!(done(&store, &["token", "list", "--user", "ada@example.com"]), "");
    let said = refused("memory", &["token", "list", "--user", "ada@example.com"]);
    assert!(said.contains("--store: `memory`"), "{said}");
}
