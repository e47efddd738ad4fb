//! Real repositories as sites: each folder that `DOCS_TEST_REPOSITORIES` names, with colons between them, is imported
//! and read in full. Without it the test says so and does nothing.

use std::{
    collections::{BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, body::Bytes};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use url::Url;

#[expect(dead_code, reason = "other tests start the server in other ways")]
#[path = "durable/process.rs"]
mod process;

use process::{Process, until};

/// An answer: its status, where it leads, whether it is a page, and what it says.
struct Got {
    status: u16,
    location: Option<String>,
    is_page: bool,
    body: String,
}

async fn get(url: &str) -> Got {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let request = Request::builder().uri(url).body(Full::default()).expect("a request");
    let answer = client.request(request).await.expect("an answer");
    let header =
        |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (status, location) = (answer.status().as_u16(), header("location"));
    let is_page = header("content-type").is_some_and(|media| media.starts_with("text/html"));
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    Got { status, location, is_page, body: String::from_utf8_lossy(&body).into_owned() }
}

/// The addresses in a page, as they are written there.
fn addresses(page: &str) -> BTreeSet<String> {
    let parts = [" href=\"", " src=\""].into_iter().flat_map(|name| page.split(name).skip(1));
    let values = parts.filter_map(|rest| rest.split('"').next());
    values.map(|value| value.replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&")).collect()
}

/// All Markdown of a folder, in which a link that leads nowhere may have been written so.
fn source(folder: &Path) -> String {
    let (mut text, mut folders) = (String::new(), vec![PathBuf::from(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                text.push_str(&std::fs::read_to_string(path).unwrap_or_default());
            }
        }
    }
    text
}

/// Reads a site from its first page on; answers what is wrong, and how many addresses were asked for.
async fn crawl(site: &Url, source: &str) -> (Vec<String>, usize) {
    let mut waiting = VecDeque::from([(site.clone(), String::new(), String::from("the start"))]);
    let (mut seen, mut wrong) = (BTreeSet::from([site.to_string()]), Vec::new());
    while let Some((url, written, page)) = waiting.pop_front() {
        let got = get(url.as_str()).await;
        let is_in_source = !written.is_empty() && !written.starts_with('/') && source.contains(&written);
        if got.status >= 500 || (got.status >= 400 && !is_in_source) {
            wrong.push(format!("{} for {url} of {page}", got.status));
        }
        let found = if got.is_page { addresses(&got.body) } else { BTreeSet::new() };
        for written in found.into_iter().chain(got.location) {
            let Ok(mut to) = url.join(&written) else { continue };
            to.set_fragment(None);
            // Files stand beside sites on the same host; what is elsewhere is nobody's here.
            if to.origin() == site.origin() && seen.insert(to.to_string()) {
                waiting.push_back((to, written, url.to_string()));
            }
        }
    }
    (wrong, seen.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn real_repositories_are_read_in_full_without_a_broken_link_that_is_not_their_own() {
    let Some(folders) = std::env::var_os("DOCS_TEST_REPOSITORIES") else {
        return println!("skipped: DOCS_TEST_REPOSITORIES names no folders of repositories");
    };
    for folder in std::env::split_paths(&folders) {
        let name = folder.to_str().expect("a path");
        let server = Process::with(&["--bind", "127.0.0.1:0", "--import", name]).await;
        let root = format!("{}/", server.base);
        until("the site", async || get(&root).await.status == 307).await;
        let site = get(&root).await.location.expect("an address");
        let site = Url::parse(&site).expect("an address");
        let (wrong, asked) = crawl(&site, &source(&folder)).await;
        println!("{name}: {asked} addresses");
        assert!(asked > 10, "{name}: only {asked} addresses were found");
        assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    }
}
