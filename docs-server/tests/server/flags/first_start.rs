//! Flags of the first start: the administrator, and the content.

use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::ANY;
use crate::{
    client::{Client, id},
    durable::stores::sqlite,
    process::{PATIENCE, Process, TOKEN, program},
    refused::refused,
};

async fn items(client: &Client, path: &str) -> Vec<Value> {
    client.get(path).await["items"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn first_start_without_content_has_an_organization() {
    let store = sqlite();
    for _ in 0..2 {
        let server = Process::with(&["--bind", ANY, "--store", &store.url, "--import", "none"]).await;
        let client = Client::new(&server.base, TOKEN);
        let orgs = items(&client, "/orgs").await;
        assert_eq!(orgs.len(), 1, "a restart creates nothing");
        let org = id(&orgs[0]);
        assert_eq!(items(&client, &format!("/orgs/{org}/spaces")).await, Vec::<Value>::new());
        assert_eq!(items(&client, &format!("/orgs/{org}/sites")).await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn an_empty_folder_is_an_empty_first_space() {
    let folder = TempDir::new().expect("a folder");
    let server = Process::with(&["--bind", ANY, "--import", &folder.path().display().to_string()]).await;
    let client = Client::new(&server.base, TOKEN);
    let org = id(&items(&client, "/orgs").await[0]);
    let spaces = items(&client, &format!("/orgs/{org}/spaces")).await;
    assert_eq!(spaces.len(), 1);
    let pages = format!("/spaces/{}/content/pages", id(&spaces[0]));
    assert_eq!(client.get(&pages).await["pages"], json!([]));
}

#[tokio::test]
async fn the_first_administrator_has_the_given_name_and_address() {
    let store = sqlite();
    let named = ["--admin-name", "Ada", "--admin-email", "ada@example.com"];
    let flags = ["--bind", ANY, "--store", &store.url, "--import", "none"];
    drop(Process::with(&[&flags[..], &named].concat()).await);
    // The flags have no effect on an existing store.
    let other = ["--admin-name", "Eve", "--admin-email", "eve@example.com"];
    let server = Process::with(&[&flags[..], &other].concat()).await;
    let client = Client::new(&server.base, TOKEN);
    assert_eq!(items(&client, "/orgs").await.len(), 1);
    let user = client.get("/user").await;
    assert_eq!((&user["displayName"], &user["email"]), (&json!("Ada"), &json!("ada@example.com")));
}

#[tokio::test]
async fn invalid_administrators_are_refused_with_the_flag() {
    for (flag, value, why) in
        [("--admin-email", "ada", "name@example.com"), ("--admin-email", "", "3"), ("--admin-name", "", "1")]
    {
        let (said, code) = refused(&["--bind", ANY, "--import", "none", flag, value]).await;
        assert!(said.contains(flag) && said.contains(why) && code != Some(0), "{flag} {value:?}: {said}");
    }
}

#[tokio::test]
async fn a_token_that_is_not_of_the_store_is_logged() {
    let store = sqlite();
    let flags = ["--bind", ANY, "--store", &store.url, "--import", "none"];
    drop(Process::with(&flags).await);
    let mut command = program();
    command.args(["--token", "another-token-of-the-tests"]).args(flags).stderr(Stdio::piped());
    let mut server = Process::run(&mut command).await;
    let stderr = server.child.stderr.take().expect("its log is piped");
    let stderr = tokio::process::ChildStderr::from_std(stderr).expect("a pipe");
    let mut lines = BufReader::new(stderr).lines();
    let logged = async {
        while let Some(line) = lines.next_line().await.expect("its log can be read") {
            if line.contains("DOCS_TOKEN") {
                return line;
            }
        }
        panic!("no warning");
    };
    let line = tokio::time::timeout(PATIENCE, logged).await.expect("it is logged in time");
    assert!(line.contains("WARN") && line.contains("admin token create"), "{line}");
    assert!(!line.contains("another-token"), "{line}");
}
