//! Oversized repositories, imported by a running server. The server keeps responding to other requests with bounded
//! memory, and the import succeeds or fails with a reason. `DOCS_HOSTILE_FILES` and `DOCS_HOSTILE_BYTES` set the size
//! of the repositories.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    client::{Client, id},
    git::{
        host::{Host, has_git},
        repository::bare,
    },
    process::{Process, TOKEN, until},
};

/// Maximum memory of the server in kB.
const MOST_MEMORY: u64 = 400_000;
/// Maximum response time for other requests during the import.
const PATIENCE_OF_OTHERS: Duration = Duration::from_secs(5);

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

/// Commits files with `git fast-import`.
fn fill(repository: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut child = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("git runs");
    let mut to = BufWriter::new(child.stdin.take().expect("its input is piped"));
    let head = "commit refs/heads/main\ncommitter Bea <bea@example.com> 1700000000 +0000\ndata 5\nBegin\n";
    to.write_all(head.as_bytes()).and_then(|()| write(&mut to)).and_then(|()| to.flush()).expect("written");
    drop(to);
    assert!(child.wait().expect("git ends").success());
}

fn small_files(to: &mut dyn Write, count: u64) -> io::Result<()> {
    for file in 0..count {
        let (folder, text) = (file / 100, format!("# Page {file}\n\nText of {file}.\n"));
        // Most files are not pages, so that the page limit of a space is not reached.
        let path = match file % 25 {
            0 => format!("part-{folder}/page-{file}.md"),
            _ => format!(".gitbook/assets/{folder}/note-{file}.txt"),
        };
        write!(to, "M 100644 inline {path}\ndata {}\n{text}\n", text.len())?;
    }
    Ok(())
}

fn zeros(to: &mut dyn Write, bytes: u64) -> io::Result<()> {
    write!(to, "M 100644 inline README.md\ndata 8\n# Start\n\n")?;
    write!(to, "M 100644 inline .gitbook/assets/zeros.bin\ndata {bytes}\n")?;
    io::copy(&mut io::Read::take(io::repeat(0), bytes), to)?;
    to.write_all(b"\n")
}

/// Returns the peak memory of a server in kB, or `None` if the system does not report it.
fn most_memory(server: &Process) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Imports from a URL. Returns the finished job, and the longest response time of other requests meanwhile.
async fn import(client: &Client, url: &str) -> (Value, Duration) {
    let org = id(&client.get("/orgs").await["items"][0]);
    let space = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Docs" })).await);
    let body = json!({ "url": url, "ref": "refs/heads/main" });
    client.post(&format!("/spaces/{space}/git/import"), body).await;
    let (mut job, mut longest) = (Value::Null, Duration::ZERO);
    until("the end of the import", async || {
        let asked = Instant::now();
        client.get("/orgs").await;
        longest = longest.max(asked.elapsed());
        job = client.get(&format!("/spaces/{space}/jobs")).await["items"][0].clone();
        job["endedAt"].is_string()
    })
    .await;
    (job, longest)
}

#[tokio::test(flavor = "multi_thread")]
async fn server_stays_responsive_during_oversized_git_imports() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (count, bytes) = (number("DOCS_HOSTILE_FILES", 2_000), number("DOCS_HOSTILE_BYTES", 200_000_000));
    let (many, large) = (bare(folder.path(), "many"), bare(folder.path(), "large"));
    fill(&many, |to| small_files(to, count));
    fill(&large, |to| zeros(to, bytes));
    let host = Host::new(folder.path(), |_| ());
    for (name, repository) in [("many", &many), ("large", &large)] {
        for url in [format!("file://{}", repository.display()), host.url(name)] {
            let store =
                format!("sqlite:{}", folder.path().join(format!("{name}-{}.db", url.len())).display());
            let flags = ["--bind", "127.0.0.1:0", "--store", &store, "--outbound", "files"];
            let server = Process::with(&flags).await;
            let client = Client::new(&server.base, TOKEN);
            let began = Instant::now();
            let (job, longest) = import(&client, &url).await;
            let memory = most_memory(&server);
            println!(
                "{name}: {} {} after {:?}; others waited {longest:?}; VmHWM {memory:?} kB",
                job["state"],
                job["error"],
                began.elapsed()
            );
            match name {
                "many" => assert_eq!(job["state"], "done", "{job}"),
                _ => {
                    let said = job["error"].as_str().unwrap_or_default();
                    assert!(job["state"] == "failed" && said.contains("must be at most"), "{job}");
                }
            }
            assert!(longest < PATIENCE_OF_OTHERS, "others waited {longest:?}");
            assert!(memory.is_none_or(|memory| memory < MOST_MEMORY), "{memory:?} kB");
            client.get("/orgs").await;
        }
    }
}
