//! Command-line flags, each tested on a server in a separate process.

mod files_origin;
mod first_start;
mod hosts;

use std::{
    os::unix::fs::MetadataExt as _,
    path::Path,
    pin::Pin,
    process::Output,
    task::{Context, Poll},
};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Request,
    body::{Body, Bytes, Frame},
};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::{
    git::host::{Host, has_git},
    process::{PATIENCE, Process, TOKEN, program, until},
    refused::refused,
};

const ANY: &str = "127.0.0.1:0";

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }
}

async fn ask(method: &str, url: &str, headers: &[(&str, &str)], body: Value) -> Answer {
    let mut request = Request::builder().method(method).uri(url).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    let client = Client::builder(TokioExecutor::new()).build_http();
    let answer = client.request(request.body(Full::new(body)).expect("a request")).await.expect("an answer");
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    Answer { status, headers, body: serde_json::from_slice(&body).unwrap_or_default() }
}

async fn get_any(url: &str) -> Answer {
    ask("GET", url, &[("authorization", &format!("Bearer {TOKEN}"))], Value::Null).await
}

async fn get(url: &str) -> Value {
    let answer = get_any(url).await;
    assert_eq!(answer.status, 200, "{url}: {}", answer.body);
    answer.body
}

/// Returns the URL of a search for text of the first space.
async fn search(server: &Process) -> String {
    let orgs = get(&format!("{}/v1/orgs", server.base)).await;
    let org = orgs["items"][0]["id"].as_str().expect("an id");
    format!("{}/v1/orgs/{org}/search?query=change%20request", server.base)
}

/// Waits until a search finds the first space. Searches may return 503 until the index has been built.
async fn found(server: &Process) {
    let url = search(server).await;
    until("a page of the first space", async || {
        let answer = get_any(&url).await;
        assert!(matches!(answer.status, 200 | 503), "{url}: {}", answer.body);
        answer.body["items"].as_array().is_some_and(|items| !items.is_empty())
    })
    .await;
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

#[tokio::test]
async fn search_index_is_stored_next_to_the_database_and_reused() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("docs.db");
    let store = format!("sqlite:{}", file.display());
    let server = Process::start(&store).await;
    found(&server).await;
    drop(server);
    let index = folder.path().join("docs.db.search/fulltext/index");
    // A rebuilt index would be a new folder with a different inode.
    let number = || std::fs::metadata(&index).expect("the folder of the index").ino();
    let before = number();
    let server = Process::start(&store).await;
    // The persistent index is ready at once, so the first search succeeds.
    let answer = get_any(&search(&server).await).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(!answer.body["items"].as_array().expect("a list").is_empty(), "{}", answer.body);
    assert_eq!(number(), before, "what was indexed is still there");
    drop(server);
    // A damaged index does not prevent startup.
    for file in std::fs::read_dir(&index).expect("the files of the index") {
        std::fs::write(file.expect("a file").path(), "no index").expect("damaged");
    }
    found(&Process::start(&store).await).await;
}

#[tokio::test]
async fn search_index_flag_sets_the_index_location() {
    let folder = TempDir::new().expect("a folder");
    let store = format!("sqlite:{}", folder.path().join("docs.db").display());
    let index = folder.path().join("index");
    let server = Process::with(&["--bind", ANY, "--store", &store, "--search-index", text(&index)]).await;
    found(&server).await;
    assert!(
        index.join("fulltext/index/meta.json").exists() && !folder.path().join("docs.db.search").exists()
    );
    // An index can be used by only one server.
    let (said, code) = refused(&["--bind", ANY, "--search-index", text(&index)]).await;
    assert!(said.contains("--search-index") && said.contains("in use by another process"), "{said}");
    assert_ne!(code, Some(0));
    drop(server);
    let server = Process::with(&["--bind", ANY, "--store", &store, "--search-index", "memory"]).await;
    found(&server).await;
    assert!(!folder.path().join("docs.db.search").exists());
    let file = folder.path().join("docs.db");
    let (said, _) = refused(&["--bind", ANY, "--search-index", text(&file)]).await;
    assert!(said.contains("--search-index") && said.contains("cannot store a search index"), "{said}");
}

/// A body of zeros that is generated while being sent.
struct Zeros(usize);

impl Body for Zeros {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let length = self.0.min(65_536);
        self.0 -= length;
        Poll::Ready((length > 0).then(|| Ok(Frame::data(Bytes::from_static(&[0; 65_536]).slice(..length)))))
    }
}

/// Returns the server's peak memory in bytes, or `None` if the system does not report it.
fn peak_memory(server: &Process) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[tokio::test]
async fn large_files_stream_to_and_from_blobs_in_bounded_memory() {
    const SIZE: usize = 100_000_000;
    let folder = TempDir::new().expect("a folder");
    let (store, blobs) =
        (format!("sqlite:{}", folder.path().join("docs.db").display()), folder.path().join("blobs"));
    let server = Process::with(&["--bind", ANY, "--store", &store, "--blobs", text(&blobs)]).await;
    found(&server).await;
    let auth = format!("Bearer {TOKEN}");
    let headers = [("authorization", auth.as_str())];
    let org =
        get(&format!("{}/v1/orgs", server.base)).await["items"][0]["id"].as_str().expect("an id").to_owned();
    let space = ask("POST", &format!("{}/v1/orgs/{org}/spaces", server.base), &headers, json!({})).await;
    let space = space.body["id"].as_str().expect("an id").to_owned();
    let opened =
        ask("PATCH", &format!("{}/v1/spaces/{space}", server.base), &headers, json!({ "editMode": "live" }))
            .await;
    assert_eq!(opened.status, 200, "{}", opened.body);
    let before = peak_memory(&server);
    let client = Client::builder(TokioExecutor::new()).build_http();
    let url = format!("{}/v1/spaces/{space}/content/files?name=film.mp4", server.base);
    let request = Request::post(url).header("authorization", &auth).body(Zeros(SIZE)).expect("a request");
    let answer = client.request(request).await.expect("an answer");
    let status = answer.status();
    let file = answer.into_body().collect().await.expect("a body").to_bytes();
    assert_eq!(status, 201, "{}", String::from_utf8_lossy(&file));
    let file: Value = serde_json::from_slice(&file).expect("JSON");
    let sent = peak_memory(&server);
    let client = Client::builder(TokioExecutor::new()).build_http();
    let url = file["downloadURL"].as_str().expect("an address");
    let request = Request::get(url).body(http_body_util::Empty::<Bytes>::new()).expect("a request");
    let mut bytes = client.request(request).await.expect("an answer").into_body();
    let mut received = 0;
    while let Some(frame) = bytes.frame().await {
        received += frame.expect("a frame").data_ref().map_or(0, Bytes::len);
    }
    assert_eq!(received, SIZE);
    if let (Some(before), Some(sent), Some(read)) = (before, sent, peak_memory(&server)) {
        let mb = |bytes: u64| bytes / 1_000_000;
        eprintln!(
            "most memory: {} MB before, {} MB after the upload, {} MB after the download",
            mb(before),
            mb(sent),
            mb(read)
        );
        assert!(read.saturating_sub(before) < 60_000_000, "{before} {sent} {read}");
    }
}

/// Imports a repository into a new space.
async fn import(server: &Process, url: &str, cache_id: Option<&str>) {
    let auth = format!("Bearer {TOKEN}");
    let headers = [("authorization", auth.as_str())];
    let orgs = get(&format!("{}/v1/orgs", server.base)).await;
    let org = orgs["items"][0]["id"].as_str().expect("an id");
    let space = ask("POST", &format!("{}/v1/orgs/{org}/spaces", server.base), &headers, json!({})).await;
    let space = space.body["id"].as_str().expect("an id").to_owned();
    let mut body = json!({ "url": url, "ref": "refs/heads/main" });
    if let Some(id) = cache_id {
        body["repoCacheID"] = id.into();
    }
    let import = ask("POST", &format!("{}/v1/spaces/{space}/git/import", server.base), &headers, body).await;
    assert!(import.status < 300, "{}", import.body);
    until("the import", async || {
        let pages = get(&format!("{}/v1/spaces/{space}/content/pages", server.base)).await;
        pages["pages"].as_array().is_some_and(|pages| !pages.is_empty())
    })
    .await;
}

/// `--git-cache` and `--git-cache-size`, and the default cache for an SQLite store.
#[tokio::test]
async fn git_cache_keeps_repositories_by_cache_id_or_space() {
    if !has_git() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let repository = git2::Repository::init(folder.path().join("repository.git")).expect("a repository");
    let mut index = repository.index().expect("an index");
    std::fs::write(folder.path().join("repository.git/README.md"), "# Hello\n").expect("written");
    index.add_path(Path::new("README.md")).expect("added");
    let tree = repository.find_tree(index.write_tree().expect("a tree")).expect("a tree");
    let who = git2::Signature::now("Ada", "ada@example.com").expect("a name");
    repository.commit(Some("refs/heads/main"), &who, &who, "first", &tree, &[]).expect("a commit");

    let host = Host::new(folder.path(), |_| {});
    let url = host.url("repository");
    let cache = folder.path().join("cache");
    let flags = ["--bind", ANY, "--outbound", "private", "--git-cache", text(&cache)];
    let kept_in = |folder: &Path| {
        let entries = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry"));
        entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".git")).count()
    };
    let kept = || kept_in(&cache);
    let server = Process::with(&flags).await;
    // Imports without a cache id are cached per space.
    for (id, count) in [(None, 1), (Some("docs"), 2), (Some("guides"), 3), (Some("docs"), 3)] {
        import(&server, &url, id).await;
        assert_eq!(kept(), count);
    }
    let (said, _) = refused(&flags).await;
    assert!(said.contains("--git-cache") && said.contains("another server"), "{said}");
    // With a small size limit, the next fetch evicts all earlier repositories.
    drop(server);
    let small = Process::with(&[&flags[..], &["--git-cache-size", "1 kB"]].concat()).await;
    import(&small, &url, Some("news")).await;
    assert_eq!(kept(), 1);

    let (said, _) = refused(&["--bind", ANY, "--git-cache-size", "1GB"]).await;
    assert!(said.contains("--git-cache"), "{said}");
    let (said, _) = refused(&[&flags[..], &["--git-cache-size", "much"]].concat()).await;
    assert!(said.contains("--git-cache-size") && said.contains("500MB"), "{said}");
    let file = folder.path().join("repository.git/README.md");
    let (said, code) = refused(&["--bind", ANY, "--git-cache", text(&file)]).await;
    assert!(said.contains("--git-cache") && said.contains("README.md"), "{said}");
    assert_ne!(code, Some(0));

    // An SQLite store has a default cache folder, unless disabled. A second server on it runs without a cache.
    let store = format!("sqlite:{}", text(&folder.path().join("docs.db")));
    let beside = folder.path().join("docs.db.git");
    let flags = ["--bind", ANY, "--outbound", "private", "--store", &store];
    let none = Process::with(&[&flags[..], &["--git-cache", "none"]].concat()).await;
    import(&none, &url, None).await;
    assert!(!beside.exists());
    drop(none);
    let server = Process::with(&flags).await;
    import(&server, &url, None).await;
    assert_eq!(kept_in(&beside), 1);
    drop(Process::with(&flags).await);
}

#[tokio::test]
async fn cors_allows_only_the_configured_origins() {
    let server = Process::with(&[
        "--bind",
        ANY,
        "--cors-origin",
        "https://a.example.com,https://b.example.com",
        "--cors-origin",
        "http://localhost:3000",
    ])
    .await;
    let url = format!("{}/v1/user", server.base);
    for origin in ["https://a.example.com", "https://b.example.com", "http://localhost:3000"] {
        let preflight = [
            ("origin", origin),
            ("access-control-request-method", "PATCH"),
            ("access-control-request-headers", "authorization,content-type"),
        ];
        let answer = ask("OPTIONS", &url, &preflight, Value::Null).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some(origin)));
        let auth = format!("Bearer {TOKEN}");
        let answer = ask("GET", &url, &[("origin", origin), ("authorization", &auth)], Value::Null).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, Some(origin)));
    }
    let answer = ask("GET", &url, &[("origin", "https://c.example.com")], Value::Null).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (401, None));
    for wrong in
        ["a.example.com", "null", "https://a.example.com/docs", "https://*.example.com", "*,a", "https://"]
    {
        let (said, code) = refused(&["--cors-origin", wrong]).await;
        assert!(
            said.contains("--cors-origin") && said.contains("https://docs.example.com"),
            "{wrong}: {said}"
        );
        assert_ne!(code, Some(0), "{wrong}");
    }
}

#[tokio::test]
async fn organizations_per_user_limits_their_creation() {
    for (most, expected) in [("0", 403), ("1", 409)] {
        let server = Process::with(&["--bind", ANY, "--organizations-per-user", most]).await;
        let auth = format!("Bearer {TOKEN}");
        let mut statuses = Vec::new();
        for title in ["One", "Two"] {
            let (url, new) = (format!("{}/v1/orgs", server.base), json!({ "title": title }));
            statuses.push(ask("POST", &url, &[("authorization", auth.as_str())], new).await.status);
        }
        assert_eq!(statuses.last(), Some(&expected), "{most}: {statuses:?}");
        assert_eq!(statuses.contains(&201), most == "1", "{most}: {statuses:?}");
    }
}

#[tokio::test]
async fn rate_limit_trusts_only_configured_proxies() {
    let server =
        Process::with(&["--bind", ANY, "--rate-limit", "2", "--trusted-proxies", "10.0.0.0/8,127.0.0.1"])
            .await;
    let plain = Process::with(&["--bind", ANY, "--rate-limit", "2"]).await;
    let mut answers = (Vec::new(), Vec::new());
    for n in 0..4 {
        let from = format!("198.51.100.{n}, 10.0.0.1");
        let headers = [("x-forwarded-for", from.as_str())];
        answers.0.push(ask("GET", &format!("{}/v1/user", server.base), &headers, Value::Null).await.status);
        answers.1.push(ask("GET", &format!("{}/v1/user", plain.base), &headers, Value::Null).await.status);
    }
    assert_eq!(answers.0, [401; 4], "four clients");
    assert!(answers.1.contains(&429), "one client, whatever it says: {:?}", answers.1);
    let (said, _) = refused(&["--trusted-proxies", "proxy.example.com"]).await;
    assert!(said.contains("--trusted-proxies") && said.contains("10.0.0.0/8"), "{said}");
}

#[tokio::test]
async fn rate_limit_covers_site_pages_and_mcp_messages() {
    let server = Process::with(&["--bind", ANY, "--rate-limit", "2"]).await;
    let root = format!("{}/", server.base);
    until("the site", async || ask("GET", &root, &[], Value::Null).await.status == 307).await;
    let site = ask("GET", &root, &[], Value::Null).await.header("location").expect("an address").to_owned();
    until("a refusal", async || ask("GET", &site, &[], Value::Null).await.status == 429).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let headers = [("accept", "application/json, text/event-stream")];
    let agents = format!("{}/~site/mcp", site.trim_end_matches('/'));
    until("a refusal", async || ask("POST", &agents, &headers, list.clone()).await.status == 429).await;
}

#[tokio::test]
async fn printed_address_is_reachable() {
    for (bind, host) in
        [("localhost:0", "localhost"), ("0.0.0.0:0", "localhost"), ("127.0.0.1:0", "127.0.0.1")]
    {
        let server = Process::with(&["--bind", bind]).await;
        assert!(server.base.starts_with(&format!("http://{host}:")), "{}", server.base);
        let orgs = get(&format!("{}/v1/orgs", server.base)).await;
        let url = orgs["items"][0]["urls"]["location"].as_str().expect("an address").to_owned();
        assert!(url.starts_with(&server.base), "{url}");
        get(&url).await;
    }
    let (said, code) = refused(&["--bind", "localhost"]).await;
    assert!(said.contains("--bind") && said.contains("localhost:4000") && code != Some(0), "{said}");
}

/// With a path in the base URL, the server responds both with and without that path.
#[tokio::test]
async fn base_url_path_is_served_and_in_document_and_addresses() {
    // The server listens on one address and advertises another in its base URL.
    let port = TcpListener::bind(ANY).await.expect("a port").local_addr().expect("it is known").port();
    let (bind, base) = (format!("127.0.0.1:{port}"), format!("http://localhost:{port}/docs-api"));
    let server = Process::with(&["--bind", &bind, "--base-url", &format!("{base}/")]).await;
    assert_eq!(server.base, base);
    // A proxy may strip the path or forward it unchanged.
    for root in [format!("http://{bind}"), format!("http://{bind}/docs-api")] {
        let document = get(&format!("{root}/openapi.json")).await;
        assert_eq!(document["servers"], json!([{ "url": format!("{base}/v1") }]), "{root}");
        let orgs = get(&format!("{root}/v1/orgs")).await;
        assert!(text_of(&orgs["items"][0]["urls"]["location"]).starts_with(&format!("{base}/v1/orgs/")));
        get(text_of(&orgs["items"][0]["urls"]["location"])).await;
        assert_eq!(ask("GET", &format!("{root}/healthz"), &[], Value::Null).await.status, 200);
        assert_eq!(ask("GET", &format!("{root}/docs"), &[], Value::Null).await.status, 200);
        assert_eq!(ask("GET", &format!("{root}/v1/nothing"), &[], Value::Null).await.status, 404);
    }
    for (wrong, said_of_it) in [
        ("docs.example.com", "https://docs.example.com"),
        ("http://0.0.0.0:4000", "localhost:4000"),
        ("http://[::]:4000", "localhost:4000"),
        ("https://example.com/docs-api?x", "`?`"),
    ] {
        let (said, code) = refused(&["--bind", ANY, "--base-url", wrong]).await;
        assert!(said.contains("--base-url") && said.contains(said_of_it) && code != Some(0), "{said}");
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().expect("text")
}

#[tokio::test]
async fn wildcard_bind_logs_the_default_base_url_at_start() {
    // The invalid store stops the server after it has logged its base URL.
    let folder = TempDir::new().expect("a folder");
    let none = format!("sqlite:{}", folder.path().join("nowhere/docs.db").display());
    for (flags, is_said) in [
        (vec!["--bind", "0.0.0.0:0"], true),
        (vec!["--bind", "0.0.0.0:0", "--base-url", "https://docs.example.com"], false),
        (vec!["--bind", ANY], false),
    ] {
        let (said, _) = refused(&[&flags[..], &["--store", &none]].concat()).await;
        assert_eq!(said.contains("http://localhost:") && said.contains("--base-url"), is_said, "{said}");
        assert!(!said.contains("http://0.0.0.0"), "{said}");
    }
}

#[tokio::test]
async fn health_command_reports_the_server_at_the_bind_address() {
    let health = async |bind: &str| -> Output {
        let mut command = tokio::process::Command::from(program());
        let output = command.args(["health", "--bind", bind]).kill_on_drop(true).output();
        tokio::time::timeout(PATIENCE, output).await.expect("it ends").expect("it starts")
    };
    let server = Process::with(&["--bind", ANY]).await;
    let at = server.base.trim_start_matches("http://").to_owned();
    let port = at.rsplit(':').next().expect("a port");
    for bind in [at.as_str(), &format!("0.0.0.0:{port}"), &format!("localhost:{port}")] {
        // Retried, because a busy machine may exceed the short timeout of the health command.
        until(&format!("an answer at {bind}"), async || {
            let output = health(bind).await;
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains("ok")
        })
        .await;
    }
    drop(server);
    for bind in [at.as_str(), ANY] {
        let output = health(bind).await;
        assert!(!output.status.success() && !output.stderr.is_empty(), "{bind}");
    }
}

#[tokio::test]
async fn required_tls_rejects_a_database_without_tls() {
    let listener = TcpListener::bind(ANY).await.expect("a port");
    let port = listener.local_addr().expect("it is known").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 8];
            // The client may close the connection early.
            let _ = stream.read_exact(&mut request).await;
            let _ = stream.write_all(b"N").await;
        }
    });
    for options in ["sslmode=require", "sslmode=verify-full&sslrootcert=system"] {
        let store = format!("postgres://docs:hunter2@127.0.0.1:{port}/docs?{options}");
        let (said, code) = refused(&["--bind", ANY, "--store", &store]).await;
        assert!(said.contains("does not support TLS") && said.contains("sslmode"), "{said}");
        assert!(!said.contains("hunter2") && code != Some(0), "{said}");
    }
    let store =
        format!("postgres://docs:hunter2@127.0.0.1:{port}/docs?sslmode=verify-ca&sslrootcert=/nowhere");
    let (said, _) = refused(&["--bind", ANY, "--store", &store]).await;
    assert!(said.contains("--store") && said.contains("sslrootcert /nowhere"), "{said}");
}

#[tokio::test]
async fn rejected_secrets_are_not_printed() {
    for (flag, value) in
        [("--token", "hunter2"), ("--secret", "hunter2"), ("--store", "mysql://docs:hunter2@localhost/docs")]
    {
        let (said, code) = refused(&[flag, value]).await;
        assert!(said.contains(flag) && !said.contains("hunter2"), "{said}");
        assert_ne!(code, Some(0));
    }
}

#[tokio::test]
async fn root_redirects_to_the_handbook_site() {
    let server = Process::with_handbook(&["--bind", ANY]).await;
    let base = &server.base;
    until("the site", async || ask("GET", &format!("{base}/"), &[], Value::Null).await.status == 307).await;
    let root = ask("GET", &format!("{base}/"), &[], Value::Null).await;
    let site = root.header("location").expect("an address").to_owned();
    assert!(site.starts_with(&format!("{base}/sites/")), "{site}");
    let page = ask("GET", &site, &[], Value::Null).await;
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(ask("GET", &format!("{site}quick-start"), &[], Value::Null).await.status, 200);
    let robots = ask("GET", &format!("{base}/robots.txt"), &[], Value::Null).await;
    assert_eq!((robots.status, robots.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert_eq!(
        ask("GET", &format!("{base}/docs"), &[], Value::Null).await.status,
        200,
        "the explorer is there too"
    );
}

#[tokio::test]
async fn startup_output_prints_the_handbook_url() {
    let mut child = tokio::process::Command::from(program());
    child.args(["--token", TOKEN, "--bind", ANY]).stdout(std::process::Stdio::piped()).kill_on_drop(true);
    let mut child = child.spawn().expect("the server starts");
    let mut said = String::new();
    let mut output = child.stdout.take().expect("its output is piped");
    let mut bytes = [0; 1024];
    while !said.contains("first space") {
        let read =
            tokio::time::timeout(PATIENCE, output.read(&mut bytes)).await.expect("in time").expect("text");
        assert!(read > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    let url = said.lines().next().and_then(|line| line.strip_prefix("Read the handbook: "));
    assert!(url.is_some_and(|url| url.starts_with("http://127.0.0.1:") && url.ends_with('/')), "{said}");
    assert!(said.lines().any(|line| line.contains("first site") && line.contains("/sites/")), "{said}");
}

#[tokio::test]
async fn incomplete_translator_flags_are_rejected_without_the_key() {
    let url = "http://127.0.0.1:1";
    for (flags, flag) in [
        (&["--translator", "openai", "--translator-url", url][..], "--translator-model"),
        (&["--translator", "openai", "--translator-model", "m"], "--translator-url"),
        (&["--translator", "libretranslate"], "--translator-url"),
        (&["--translator", "libretranslate", "--translator-url", "nowhere"], "--translator-url"),
        (
            &["--translator", "libretranslate", "--translator-url", url, "--translator-model", "m"],
            "--translator-model",
        ),
        (&["--translator-url", url], "--translator-url"),
        (&["--translator-key", "hunter2"], "--translator-key"),
        (&["--translator-key", "hunter2 hunter2"], "--translator-key"),
        (&["--translator", "babelfish"], "--translator"),
    ] {
        let all = [&["--bind", ANY], flags].concat();
        let (said, code) = refused(&all).await;
        assert!(said.contains(flag) && !said.contains("hunter2"), "{flags:?}: {said}");
        assert_ne!(code, Some(0), "{flags:?}");
    }
}

#[tokio::test]
async fn connection_flags_limit_connections() {
    let flags = ["--bind", ANY, "--max-connections", "3", "--max-connections-per-address", "1"];
    let server = Process::with(&flags).await;
    let address = server.base.trim_start_matches("http://");
    let mut first = tokio::net::TcpStream::connect(address).await.expect("a connection");
    get(&format!("{}/healthz", server.base)).await;
    let ended = tokio::time::timeout(PATIENCE, first.read(&mut [0])).await.expect("in time");
    assert!(ended.is_ok_and(|read| read == 0), "the second connection of an address ends the first");
    for flag in ["--max-connections", "--max-connections-per-address"] {
        let (said, code) = refused(&[flag, "0"]).await;
        assert!(said.contains(flag), "{said}");
        assert_ne!(code, Some(0));
    }
}
