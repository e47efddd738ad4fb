//! The end of the server process after SIGTERM while background jobs run.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::timeout};

use crate::{
    client::{Client, id},
    process::{PATIENCE, Process, TOKEN, until},
};

/// Stop timeout of the systemd unit: `TimeoutStopSec` in `packaging/docs-server.service`.
const STOP_TIMEOUT: Duration = Duration::from_secs(35);

/// Starts a server on an SQLite database in a folder. The long job lease prevents a restarted server from taking over
/// jobs.
async fn start(folder: &tempfile::TempDir) -> Process {
    let store = format!("sqlite:{}", folder.path().join("docs.db").display());
    let flags = ["--bind", "127.0.0.1:0", "--store", &store, "--outbound", "files", "--job-lease", "3600"];
    Process::with(&flags).await
}

/// Requests an import into a new space, and returns the path of the job.
async fn import(server: &Process, url: &str) -> String {
    let client = Client::new(&server.base, TOKEN);
    let org = id(&client.get("/orgs").await["items"][0]);
    let space = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Docs" })).await);
    let body = json!({ "url": url, "ref": "refs/heads/main" });
    client.post(&format!("/spaces/{space}/git/import"), body).await;
    let jobs = client.get(&format!("/spaces/{space}/jobs")).await;
    format!("/spaces/{space}/jobs/{}", id(&jobs["items"][0]))
}

async fn get_job(server: &Process, path: &str) -> Value {
    Client::new(&server.base, TOKEN).get(path).await
}

/// Sends SIGTERM to a server and waits until its process ends.
async fn terminate(mut server: Process) {
    let pid = i32::try_from(server.child.id()).ok().and_then(Pid::from_raw).expect("a process id");
    let stopped = Instant::now();
    kill_process(pid, Signal::TERM).expect("the signal is sent");
    let mut ended = None;
    until("the end of the server", async || {
        ended = server.child.try_wait().expect("a state");
        ended.is_some()
    })
    .await;
    assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
    assert!(stopped.elapsed() < STOP_TIMEOUT, "{:?}", stopped.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_leaves_a_job_that_hangs_to_the_next_start() {
    let folder = tempfile::tempdir().expect("a folder");
    // A Git host that accepts connections and sends nothing.
    let host = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/docs.git", host.local_addr().expect("an address"));
    let server = start(&folder).await;
    let path = import(&server, &url).await;
    let first = timeout(PATIENCE, host.accept()).await.expect("the job runs").expect("a connection");
    terminate(server).await;
    drop(first);
    let server = start(&folder).await;
    let _second = timeout(PATIENCE, host.accept()).await.expect("the job runs again").expect("a connection");
    let job = get_job(&server, &path).await;
    assert_eq!(job["state"], "running", "{job}");
    let log = job["log"].to_string();
    assert!(log.contains("the server stopped before the job ended"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_ends_a_server_whose_job_blocks_a_thread() {
    let folder = tempfile::tempdir().expect("a folder");
    let repository = folder.path().join("docs.git");
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).arg(&repository).status();
        done.is_ok_and(|status| status.success())
    };
    if !git(&["init", "--quiet", "--bare", "--initial-branch=main"]) {
        eprintln!("sigterm_ends_a_server_whose_job_blocks_a_thread was not run: there is no git program");
        return;
    }
    // Opening a named pipe blocks the thread until another process writes to it.
    let refs = repository.join("packed-refs");
    assert!(Command::new("mkfifo").arg(&refs).status().expect("mkfifo runs").success());
    let server = start(&folder).await;
    let path = import(&server, &format!("file://{}", repository.display())).await;
    until("the start of the job", async || get_job(&server, &path).await["state"] == "running").await;
    terminate(server).await;
    fs::remove_file(refs).expect("the pipe is removed");
    let server = start(&folder).await;
    until("the end of the job", async || get_job(&server, &path).await["endedAt"].is_string()).await;
}
