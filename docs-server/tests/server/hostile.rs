//! A running server that processes hostile input: for every document, archive or repository, the process survives,
//! keeps responding to other requests, and uses bounded memory.
//!
//! `cargo test -p docs-server --test server hostile -- --nocapture` prints the outcome of each input and the memory of
//! the server.

mod small;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{Cursor, Write as _},
    path::Path,
    sync::Arc,
};

use crate::{
    client::{Client, id},
    process::{Process, TOKEN, until},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

const MB: u64 = 1_000_000;
/// Maximum memory of the server in bytes. It is above the memory of an idle server, and below the cost of each document
/// if there were no limits.
const MOST_MEMORY: u64 = 300 * MB;

/// A document to import, with the expected outcome.
struct Foreign {
    name: &'static str,
    source: &'static str,
    kind: &'static str,
    bytes: Vec<u8>,
    /// A part of the expected error message, or `None` if the import succeeds.
    refusal: Option<&'static str>,
}

/// Returns a compressed archive of files.
pub(crate) fn archive(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        writer.start_file(path, zip::write::SimpleFileOptions::default()).expect("an entry");
        writer.write_all(&bytes).expect("bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

/// Returns a tag with so many attributes that one recursive call per attribute would overflow the stack.
fn tag_with_many_attributes() -> String {
    format!("<h1>Title</h1><p>Text <a href=\"b\"{}>x</a></p>", " a=\"v\"".repeat(7_500))
}

/// Returns an archive with a table of contents whose blocks repeat text through YAML aliases.
fn aliases() -> Vec<u8> {
    let aliases = vec!["*a"; 900].join(",");
    let mut contents = String::from("* [Start](README.md)\n");
    let mut chance: u64 = 0x9e37_79b9_7f4a_7c15;
    for _ in 0..150 {
        // Each block has random text, because repeated text would compress too well.
        let noise: String = (0..32)
            .map(|_| {
                chance ^= chance << 13;
                chance ^= chance >> 7;
                chance ^= chance << 17;
                format!("{chance:016x}")
            })
            .collect();
        let text = format!("{noise}{}", "x".repeat(20_000));
        let _ = write!(contents, "* ```yaml\n  type: &a {text}\n  b: [{aliases}]\n  ```\n");
    }
    let files = [("README.md", b"# Start\n".to_vec()), ("SUMMARY.md", contents.into_bytes())];
    archive(files.map(|(path, bytes)| (path.to_owned(), bytes)))
}

/// Returns a Word document with this number of text bytes.
fn word(bytes: usize) -> Vec<u8> {
    let paragraph = format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "Some words. ".repeat(80));
    let body = paragraph.repeat(bytes / paragraph.len());
    let document = format!(
        "<w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body>{body}</w:body></w:document>"
    );
    archive([("word/document.xml".to_owned(), document.into_bytes())])
}

fn quotes() -> Vec<u8> {
    let mut text = String::from("# Quotes\n\n");
    let mut depth = 0;
    while text.len() < 900_000 {
        depth = (depth + 1) % 40;
        let _ = writeln!(text, "{}a", "> ".repeat(depth));
    }
    text.into_bytes()
}

fn pages_of_a_megabyte() -> Vec<u8> {
    let page = "Some words in a line.\n".repeat(45_000).into_bytes();
    archive((0..190).map(|number| (format!("p{number}.md"), page.clone())))
}

fn documents() -> Vec<Foreign> {
    let tag = tag_with_many_attributes();
    let html = |name, source, bytes| Foreign { name, source, kind: "text/html", bytes, refusal: None };
    let packed =
        |name, bytes, refusal| Foreign { name, source: "zip", kind: "application/zip", bytes, refusal };
    vec![
        html("a tag with 7,500 attributes, as HTML", "html", tag.clone().into_bytes()),
        html("a tag with 7,500 attributes, as a website", "website", tag.clone().into_bytes()),
        packed(
            "a tag with 7,500 attributes, in an archive",
            archive([("a.html".to_owned(), tag.into_bytes())]),
            None,
        ),
        html("300,000 elements in one another", "html", "<div>".repeat(300_000).into_bytes()),
        packed("a table of contents with aliases", aliases(), None),
        packed("190 pages of a megabyte", pages_of_a_megabyte(), Some("must be at most")),
        packed("an archive of zeros", archive([("zeros.md".to_owned(), vec![0; 90_000_000])]), Some("")),
        Foreign {
            name: "90 MB of text in a Word document",
            source: "docx",
            kind: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            bytes: word(90_000_000),
            refusal: Some(""),
        },
        Foreign {
            name: "quotes in quotes",
            source: "markdown",
            kind: "text/markdown",
            bytes: quotes(),
            refusal: None,
        },
    ]
}

/// Serves documents by path, and returns the base URL.
pub(crate) async fn serve(documents: BTreeMap<String, (&'static str, Arc<[u8]>)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("its address"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = [0; 4096];
            // The client may close the connection early.
            let length = stream.read(&mut asked).await.unwrap_or_default();
            let asked = String::from_utf8_lossy(&asked[..length]).into_owned();
            let path = asked.split(' ').nth(1).unwrap_or_default();
            let (status, (kind, bytes)) = match documents.get(path) {
                Some(document) => ("200 OK", document.clone()),
                None => ("404 Not Found", ("text/plain", Arc::from(&b"none"[..]))),
            };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                bytes.len()
            );
            if stream.write_all(head.as_bytes()).await.is_ok() {
                let _ = stream.write_all(&bytes).await;
            }
        }
    });
    base
}

/// Returns a value of `/proc/PID/status` in bytes, or `None` on systems other than Linux.
fn memory(server: &Process, line: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).ok()?;
    let line = status.lines().find_map(|text| text.strip_prefix(line))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Resets the peak memory of the process, and returns its current memory.
fn forget_peak(server: &Process) -> u64 {
    // If the reset is not permitted, the peak covers the whole test, and the same limit applies.
    let _ = std::fs::write(format!("/proc/{}/clear_refs", server.child.id()), "5");
    memory(server, "VmRSS:").unwrap_or_default()
}

/// Asserts that the process is still the same, responds, and stays within the memory limit.
async fn is_well(server: &mut Process, client: &Client, what: &str, before: u64) {
    assert!(server.child.try_wait().expect("a child").is_none(), "{what}: the server ended");
    client.get("/orgs").await;
    let (peak, now) = (memory(server, "VmHWM:"), memory(server, "VmRSS:"));
    let shown = [Some(before), peak, now].map(|bytes| bytes.unwrap_or_default() / MB);
    println!("{what}: {} MB before, {} MB at most, {} MB after", shown[0], shown[1], shown[2]);
    assert!(peak.is_none_or(|peak| peak < MOST_MEMORY), "{what}: {peak:?} bytes");
}

/// Runs `work` while another client sends requests. Returns the result and the number of those requests.
async fn beside_others<T>(client: &Client, work: impl Future<Output = T>) -> (T, u64) {
    let mut answered = 0;
    let others = async {
        loop {
            client.get("/user").await;
            answered += 1;
        }
    };
    let done = tokio::select! {
        done = work => done,
        never = others => never,
    };
    (done, answered)
}

async fn start(folder: &Path, worker: &str) -> (Process, Client, String) {
    let store = format!("sqlite:{}", folder.join("docs.db").display());
    let flags = ["--bind", "127.0.0.1:0", "--store", &store, "--outbound", "files", "--worker", worker];
    let server = Process::with(&flags).await;
    let client = Client::new(&server.base, TOKEN);
    let org = id(&client.get("/orgs").await["items"][0]);
    (server, client, org)
}

/// Creates a space with editable live content.
async fn space(client: &Client, org: &str) -> String {
    let new = json!({ "title": "Foreign", "editMode": "live" });
    let space = id(&client.post(&format!("/orgs/{org}/spaces"), new).await);
    let change = json!({ "editMode": "live" });
    client.call("PATCH", &format!("/spaces/{space}"), change).await.expect("an answer");
    space
}

/// Collects the ids of all document pages in a tree.
fn documents_in(pages: &Value, out: &mut Vec<String>) {
    for page in pages.as_array().into_iter().flatten() {
        if page["type"] == "document" {
            out.push(id(page));
        }
        documents_in(&page["pages"], out);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_survives_hostile_documents_within_memory_limit() {
    let documents = documents();
    let served = documents.iter().enumerate();
    let served = served
        .map(|(n, foreign)| (format!("/{n}"), (foreign.kind, Arc::from(foreign.bytes.as_slice()))))
        .collect();
    let base = serve(served).await;
    for worker in ["self", "none"] {
        let folder = TempDir::new().expect("a folder");
        let (mut server, client, org) = start(folder.path(), worker).await;
        for (n, foreign) in documents.iter().enumerate() {
            // Without a worker, a Word document of this size may use that much memory in the server process.
            if worker == "none" && foreign.source == "docx" {
                continue;
            }
            let what = format!("{}, worker {worker}", foreign.name);
            let space = space(&client, &org).await;
            let before = forget_peak(&server);
            let request = json!({ "url": format!("{base}/{n}"), "source": foreign.source });
            let import = async {
                client.call("POST", &format!("/spaces/{space}/content/import"), request).await.expect(&what)
            };
            let (answer, others) = beside_others(&client, import).await;
            let message = answer.body["error"]["message"].as_str().unwrap_or_default();
            match foreign.refusal {
                None => assert_eq!(answer.status, 201, "{what}: {message}"),
                Some(part) => {
                    assert!((400..500).contains(&answer.status), "{what}: {} {message}", answer.status);
                    assert!(message.contains(part), "{what}: {message}");
                }
            }
            println!("{what}: {} {message} ({others} requests of others)", answer.status);
            let mut pages = Vec::new();
            documents_in(&client.get(&format!("/spaces/{space}/content/pages")).await["pages"], &mut pages);
            for page in pages.iter().take(3) {
                let path = format!("/spaces/{space}/content/page/{page}?format=document");
                let (read, _) = beside_others(&client, client.call("GET", &path, Value::Null)).await;
                assert_eq!(read.expect(&what).status, 200, "{what}");
            }
            is_well(&mut server, &client, &what, before).await;
        }
    }
}

/// Creates a repository with an oversized page, and thirty large files that compress to almost nothing.
fn repository(folder: &Path) -> String {
    let path = folder.join("foreign.git");
    let repository = git2::Repository::init_bare(&path).expect("a repository");
    let mut tree = repository.treebuilder(None).expect("a tree");
    let mut put = |name: &str, blob: git2::Oid| {
        tree.insert(name, blob, 0o100_644).expect("an entry");
    };
    let links: String = (0..30).map(|number| format!("[{number}](zeros-{number}.bin)\n")).collect();
    put("README.md", repository.blob(format!("# Start\n\n{links}").as_bytes()).expect("a blob"));
    put("huge.md", repository.blob(&vec![b'a'; 99_000_000]).expect("a blob"));
    let zeros = repository.blob(&vec![0; 90_000_000]).expect("a blob");
    (0..30).for_each(|number| put(&format!("zeros-{number}.bin"), zeros));
    let tree = repository.find_tree(tree.write().expect("a tree")).expect("the tree");
    let who = git2::Signature::new("Ada", "ada@example.com", &git2::Time::new(0, 0)).expect("a signature");
    repository.commit(Some("refs/heads/main"), &who, &who, "Begin", &tree, &[]).expect("a commit");
    format!("file://{}", path.display())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oversized_files_in_a_repository_fail_only_the_import() {
    let folder = TempDir::new().expect("a folder");
    let (mut server, client, org) = start(folder.path(), "self").await;
    let url = repository(folder.path());
    let space = space(&client, &org).await;
    let before = forget_peak(&server);
    let import = async {
        let request = json!({ "url": url, "ref": "refs/heads/main" });
        client.post(&format!("/spaces/{space}/git/import"), request).await;
        let mut job = Value::Null;
        until("the end of the import", async || {
            job = client.get(&format!("/spaces/{space}/jobs")).await["items"][0].clone();
            job["endedAt"].is_string()
        })
        .await;
        job
    };
    let (job, others) = beside_others(&client, import).await;
    println!("30 files of 90 MB and a page of 99 MB: {job} ({others} requests of others)");
    assert_eq!(job["state"], "failed", "{job}");
    let error = job["error"].as_str().unwrap_or_default();
    assert!(error.contains("files") && error.contains("at most"), "{job}");
    is_well(&mut server, &client, "30 files of 90 MB and a page of 99 MB", before).await;
}
