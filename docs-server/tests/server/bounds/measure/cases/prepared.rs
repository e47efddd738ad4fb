//! A server with a space and a site, and requests to it.

use std::{
    collections::BTreeMap,
    path::Path,
    pin::Pin,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};

use super::{Case, PAGE, insert, text};
use crate::{
    client::{Client, id},
    hostile::serve,
    process::{TOKEN, until},
};

/// Requests to a prepared server.
pub(super) type Doing<'on> = Pin<Box<dyn Future<Output = ()> + 'on>>;
pub(super) type Step = for<'on> fn(&'on Prepared) -> Doing<'on>;

/// A server prepared with a space and a site.
pub(in super::super) struct Prepared {
    pub(super) client: Client,
    pub(super) org: String,
    pub(super) space: String,
    /// URL of the site.
    pub(super) site: String,
    site_id: String,
    /// URL of the document of a [`Case::Import`].
    served: String,
    /// Values that the first step of a case leaves for the second one.
    notes: Mutex<Vec<String>>,
    /// Folder for the repositories of a case.
    folder: TempDir,
}

impl Prepared {
    pub(in super::super) async fn new(client: Client, case: &Case) -> Self {
        let org = id(&client.get("/orgs").await["items"][0]);
        let space = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Input" })).await);
        let live = json!({ "editMode": "live" });
        client.call("PATCH", &format!("/spaces/{space}"), live).await.expect("a space that is edited");
        let new = json!({ "title": "Input", "visibility": "public", "spaces": [space] });
        let site_id = id(&client.post(&format!("/orgs/{org}/sites"), new).await);
        let shown = client.post(&format!("/orgs/{org}/sites/{site_id}/publish"), Value::Null).await;
        let site = shown["urls"]["published"].as_str().expect("an address").to_owned();
        let served = match case {
            Case::Import(_, kind, bytes) => {
                format!(
                    "{}/input",
                    serve(BTreeMap::from([("/input".to_owned(), (*kind, Arc::from(bytes())))])).await
                )
            }
            _ => String::new(),
        };
        let (notes, folder) = (Mutex::default(), TempDir::new().expect("a folder"));
        let prepared = Self { client, org, space, site, site_id, served, notes, folder };
        if let Case::Steps(before, _) = case {
            before(&prepared).await;
        }
        prepared
    }

    pub(in super::super) async fn send(&self, case: &Case) {
        match case {
            Case::Import(source, ..) => {
                let body = json!({ "url": self.served, "source": source });
                self.call("POST", &format!("/spaces/{}/content/import", self.space), body).await;
                self.read().await;
            }
            Case::Page(markdown) => {
                self.edit(vec![insert(0, &markdown())]).await;
                self.read().await;
            }
            Case::Pdf(markdown) => {
                self.edit(vec![insert(0, &markdown())]).await;
                self.read_pdf().await;
            }
            Case::Edit(changes) => self.edit(changes()).await,
            Case::Body(body) => {
                let headers = format!("authorization: Bearer {TOKEN}\r\ncontent-type: application/json");
                self.post(&format!("/v1/orgs/{}/spaces", self.org), &headers, body().as_bytes()).await;
            }
            Case::Upload(bytes) => {
                self.upload("a.bin", &bytes()).await;
            }
            Case::Specification(text) => self.publish(text()).await,
            Case::Search(query) => {
                self.edit(vec![insert(0, &text(PAGE))]).await;
                let query = query().replace(' ', "%20");
                self.client.get(&format!("/spaces/{}/search?query={query}", self.space)).await;
            }
            Case::Step(step) | Case::Steps(_, step) => step(self).await,
        }
    }

    pub(super) fn note(&self, text: &str) {
        self.notes.lock().expect("no panic").push(text.to_owned());
    }

    /// Pops the most recent value passed to `note`.
    pub(super) fn noted(&self) -> String {
        self.notes.lock().expect("no panic").pop().expect("a note")
    }

    /// Changes the content of the space through a change request.
    pub(super) async fn edit(&self, changes: Vec<Value>) {
        let request = self.new_request().await;
        self.call("POST", &format!("{request}/content"), json!({ "changes": changes })).await;
        self.call("POST", &format!("{request}/merge"), json!({})).await;
    }

    /// Creates a change request, and returns its path.
    pub(super) async fn new_request(&self) -> String {
        let requests = format!("/spaces/{}/change-requests", self.space);
        format!("{requests}/{}", id(&self.client.post(&requests, json!({})).await))
    }

    /// Sends an API request, and prints the response if it is an error.
    pub(super) async fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let answer = self.client.call(method, path, body).await.expect("the server answers");
        if answer.status >= 300 {
            let shown = path.get(..60).unwrap_or(path);
            println!("    {method} {shown}: {} {}", answer.status, answer.body["error"]["message"]);
        }
        answer.body
    }

    /// Reads the page tree, and the first page as Markdown, as a document, and on the site.
    async fn read(&self) {
        let content = format!("/spaces/{}/content", self.space);
        let pages = self.client.get(&format!("{content}/pages")).await;
        if let Some(page) = pages["pages"].as_array().and_then(|pages| pages.first()) {
            for form in ["markdown", "document"] {
                self.call("GET", &format!("{content}/page/{}?format={form}", id(page)), Value::Null).await;
            }
        }
        self.fetch(&self.site).await;
    }

    pub(super) async fn read_pdf(&self) {
        let link = self.client.get(&format!("/spaces/{}/pdf", self.space)).await;
        let url = link["url"].as_str().expect("an address");
        // The server responds with 503 until the file is rendered.
        for _ in 0..10 {
            if !self.fetch(url).await.starts_with("HTTP/1.1 503") {
                break;
            }
        }
    }

    /// Serves one document, and returns its URL.
    pub(super) async fn serve_file(&self, kind: &'static str, bytes: Vec<u8>) -> String {
        format!("{}/input", serve(BTreeMap::from([("/input".to_owned(), (kind, Arc::from(bytes)))])).await)
    }

    /// Serves a document, and returns the body of an import request for it.
    pub(super) async fn served(&self, source: &str, kind: &'static str, bytes: Vec<u8>) -> Value {
        json!({ "url": self.serve_file(kind, bytes).await, "source": source })
    }

    pub(super) async fn import(&self, source: &str, kind: &'static str, bytes: Vec<u8>) {
        let body = self.served(source, kind, bytes).await;
        self.call("POST", &format!("/spaces/{}/content/import", self.space), body).await;
    }

    /// Creates another space, and returns its import path.
    pub(super) async fn new_space(&self) -> String {
        let new = json!({ "title": "Another" });
        let space = id(&self.client.post(&format!("/orgs/{}/spaces", self.org), new).await);
        self.call("PATCH", &format!("/spaces/{space}"), json!({ "editMode": "live" })).await;
        format!("/spaces/{space}/content/import")
    }

    /// Creates a repository with a commit that adds files to one folder, and returns its URL.
    pub(super) fn repository<P: AsRef<str>>(&self, files: &[(P, Vec<u8>)]) -> String {
        let number = fs_entries(self.folder.path());
        let path = self.folder.path().join(format!("{number}.git"));
        let repository = git2::Repository::init_bare(&path).expect("a repository");
        let mut index = git2::Index::new().expect("an index");
        for (name, bytes) in files {
            let id = repository.blob(bytes).expect("a blob");
            let zero = git2::IndexTime::new(0, 0);
            let entry = git2::IndexEntry {
                ctime: zero,
                mtime: zero,
                dev: 0,
                ino: 0,
                mode: 0o100_644,
                uid: 0,
                gid: 0,
                file_size: 0,
                id,
                flags: 0,
                flags_extended: 0,
                path: name.as_ref().as_bytes().to_vec(),
            };
            index.add(&entry).expect("an entry");
        }
        let tree = repository.find_tree(index.write_tree_to(&repository).expect("a tree")).expect("the tree");
        let who =
            git2::Signature::new("Ada", "ada@example.com", &git2::Time::new(0, 0)).expect("a signature");
        repository.commit(Some("refs/heads/main"), &who, &who, "Begin", &tree, &[]).expect("a commit");
        format!("file://{}", path.display())
    }

    /// Imports a repository, and waits for the job.
    pub(super) async fn import_repository(&self, url: &str) {
        let request = json!({ "url": url, "ref": "refs/heads/main" });
        self.call("POST", &format!("/spaces/{}/git/import", self.space), request).await;
        self.job_ends().await;
    }

    /// Waits for the latest job of the space.
    pub(super) async fn job_ends(&self) {
        let mut job = Value::Null;
        until("the end of the job", async || {
            job = self.client.get(&format!("/spaces/{}/jobs?limit=1", self.space)).await["items"][0].clone();
            job["endedAt"].is_string()
        })
        .await;
        if job["state"] != "done" {
            println!("    {} {}", job["state"], job["error"]);
        }
    }

    /// Uploads a file, and returns its id.
    pub(super) async fn upload(&self, name: &str, bytes: &[u8]) -> String {
        let path = format!("/v1/spaces/{}/content/files?name={name}", self.space);
        let headers = format!("authorization: Bearer {TOKEN}\r\ncontent-type: application/octet-stream");
        let answer = self.post(&path, &headers, bytes).await;
        let body =
            answer.windows(4).position(|end| end == b"\r\n\r\n").map_or(&[][..], |at| &answer[at + 4..]);
        serde_json::from_slice::<Value>(body).ok().map(|file| id(&file)).unwrap_or_default()
    }

    pub(super) async fn publish(&self, text: String) {
        self.publish_from(json!({ "text": text })).await;
    }

    /// Publishes a specification that sites for everybody show, and waits until it has been processed.
    pub(super) async fn publish_from(&self, source: Value) {
        let path = format!("/orgs/{}/openapi/input", self.org);
        self.call("PUT", &path, json!({ "source": source })).await;
        self.call("PATCH", &path, json!({ "visibility": "public" })).await;
        until("the end of the round", async || {
            let state = self.client.get(&path).await["processingState"].clone();
            ["complete", "error"].iter().any(|end| state == *end)
        })
        .await;
        let state = self.client.get(&path).await["processingState"].clone();
        if state != "complete" {
            println!("    {state}");
        }
    }

    /// Returns the path of the site in the API.
    pub(super) fn site_path(&self) -> String {
        format!("/orgs/{}/sites/{}", self.org, self.site_id)
    }

    pub(super) fn authority(&self) -> &str {
        self.client.base.trim_start_matches("http://")
    }

    /// Calls a tool of the site as an agent does.
    pub(super) async fn agent(&self, tool: &str, arguments: Value) {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } });
        let path = format!("{}~site/mcp", self.site.trim_start_matches(&self.client.base));
        let headers = "accept: application/json, text/event-stream\r\ncontent-type: application/json";
        self.post(&path, headers, message.to_string().as_bytes()).await;
    }

    /// Requests a URL of the server and returns the whole response.
    pub(super) async fn fetch(&self, url: &str) -> String {
        let path = url.trim_start_matches(&self.client.base);
        let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.authority());
        String::from_utf8_lossy(&self.exchange(1, head.as_bytes()).await).into_owned()
    }

    /// Requests a path with a cookie and reads the whole response.
    pub(super) async fn read_as(&self, path: &str, cookie: &str) {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncookie: {cookie}\r\n\r\n",
            self.authority()
        );
        self.exchange(1, request.as_bytes()).await;
    }

    /// Posts a body and reads the whole response.
    pub(super) async fn post(&self, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{headers}\r\ncontent-length: {}\r\n\r\n",
            self.authority(),
            body.len()
        );
        self.exchange(1, &[head.as_bytes(), body].concat()).await
    }

    /// Sends bytes from `127.0.0.number` on a new connection, and reads until the server closes it.
    pub(super) async fn exchange(&self, number: u8, bytes: &[u8]) -> Vec<u8> {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(([127, 0, 0, number], 0).into()).expect("an address of this machine");
        let server = self.authority().parse().expect("an address");
        let stream: TcpStream = socket.connect(server).await.expect("a connection");
        let (mut reader, mut writer) = stream.into_split();
        let mut answer = Vec::new();
        // The server may reject a body before it is complete.
        let (read, _) = tokio::join!(reader.read_to_end(&mut answer), writer.write_all(bytes));
        if ![&b"HTTP/1.1 2"[..], b"HTTP/1.1 3"].iter().any(|fine| answer.starts_with(fine)) {
            let status = String::from_utf8_lossy(&answer[..answer.len().min(12)]);
            let request = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).replace("\r\n", " ");
            println!("    {request}: {status}, {} bytes, {read:?}", answer.len());
        }
        answer
    }
}

/// Returns the number of entries in a folder.
fn fs_entries(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("a folder").count()
}
