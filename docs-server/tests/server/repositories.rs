//! Real repositories as sites. Each folder in the colon-separated `DOCS_TEST_REPOSITORIES` is imported and read
//! completely. If the variable is not set, the test prints a message and does not run.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, body::Bytes};
use hyper_util::{client::legacy, rt::TokioExecutor};
use serde_json::Value;
use url::Url;

use crate::{
    client::{Client, id},
    process::{Process, TOKEN, until},
};

/// A response: status, location, media type and body.
struct Got {
    status: u16,
    location: Option<String>,
    media: String,
    body: String,
}

async fn get(url: &str) -> Got {
    let client = legacy::Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let request = Request::builder().uri(url).body(Full::default()).expect("a request");
    let answer = client.request(request).await.expect("an answer");
    let header =
        |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (status, location) = (answer.status().as_u16(), header("location"));
    let media = header("content-type").unwrap_or_default();
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    Got { status, location, media, body: String::from_utf8_lossy(&body).into_owned() }
}

/// Returns the unescaped URLs in all attributes with this name on a page.
fn addresses<'a>(page: &'a str, attribute: &'a str) -> impl Iterator<Item = String> + 'a {
    let values = page.split(attribute).skip(1).filter_map(|rest| rest.split('"').next());
    values.map(|value| value.replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&"))
}

/// The Markdown of a repository, which may itself contain broken links.
struct Source {
    folder: PathBuf,
    /// Source files of pages, keyed by the path of the page on the site.
    pages: BTreeMap<String, PathBuf>,
    /// The content root.
    root: PathBuf,
    contents: String,
    /// Source files with their contents.
    files: Vec<(PathBuf, String)>,
}

impl Source {
    fn read(folder: &Path) -> Self {
        let config = std::fs::read_to_string(folder.join(".gitbook.yaml")).unwrap_or_default();
        let root = config.lines().find_map(|line| line.strip_prefix("root:")).map_or("", str::trim);
        let root = folder.join(root);
        let (mut files, mut folders) = (Vec::new(), vec![PathBuf::from(folder)]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
                let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
                if kind.is_dir() && entry.file_name() != ".git" {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    files.push((path, text));
                }
            }
        }
        let contents = std::fs::read_to_string(root.join("SUMMARY.md")).unwrap_or_default();
        Self { folder: folder.to_owned(), pages: BTreeMap::new(), root, contents, files }
    }

    /// Records the source files of these pages and their descendants.
    fn learn(&mut self, pages: &Value) {
        for page in pages.as_array().into_iter().flatten() {
            if let (Some(path), Some(file)) = (page["path"].as_str(), page["git"]["path"].as_str()) {
                self.pages.insert(path.to_owned(), self.folder.join(file));
            }
            self.learn(&page["pages"]);
        }
    }

    /// Returns `true` if a link on a page is already broken in the source: its target does not exist, or is a text file
    /// that the table of contents does not list and that therefore is not a page.
    fn leads_nowhere(&self, written: &str, page: &str) -> bool {
        let is_there = |file: &Path| {
            let from = if written.starts_with('/') { Some(self.root.as_path()) } else { file.parent() };
            let from = Url::from_directory_path(from.expect("a folder")).expect("a folder");
            let to = from.join(written.trim_start_matches('/')).ok().and_then(|url| url.to_file_path().ok());
            let Some(to) = to.filter(|to| to.exists()) else { return false };
            let listed = to.strip_prefix(&self.root).unwrap_or(&to).to_string_lossy().replace(' ', "%20");
            !listed.ends_with(".md") || self.contents.replace(' ', "%20").contains(&listed)
        };
        let all = || self.files.iter().filter(|(_, text)| text.contains(written)).map(|(file, _)| file);
        // The text of an included file is not in the file of the page.
        let own = self.pages.get(page).filter(|page| all().any(|file| file == *page));
        let mut writers = all().filter(|file| own.is_none_or(|own| own == *file));
        !written.is_empty() && writers.any(|file| !is_there(file))
    }
}

/// The result of crawling a site.
#[derive(Default)]
struct Found {
    pages: usize,
    addresses: usize,
    pictures: BTreeSet<String>,
    /// Placeholders for images that cannot be shown.
    missing: Vec<String>,
    /// Links that are also broken in the source.
    gone: BTreeSet<String>,
    wrong: Vec<String>,
}

/// Crawls a site from its start page.
async fn crawl(site: &Url, source: &Source) -> Found {
    let mut waiting = VecDeque::from([(site.clone(), String::new(), String::from("the start"))]);
    let mut found = Found::default();
    let mut seen = BTreeSet::from([site.to_string()]);
    while let Some((url, written, page)) = waiting.pop_front() {
        let got = get(url.as_str()).await;
        let path = page.strip_prefix(site.as_str()).unwrap_or_default();
        if got.status >= 400 && got.status < 500 && source.leads_nowhere(&written, path) {
            found.gone.insert(format!("{written} of {path}"));
        } else if got.status >= 400 {
            found.wrong.push(format!("{} for {url} of {page}", got.status));
        } else if found.pictures.contains(url.as_str()) && !got.media.starts_with("image/") {
            found.wrong.push(format!("{} is no picture: {url} of {page}", got.media));
        }
        let mut next: Vec<String> = got.location.into_iter().collect();
        if got.media.starts_with("text/html") {
            found.pages += usize::from(got.status == 200);
            next.extend(addresses(&got.body, " href=\"").chain(addresses(&got.body, " src=\"")));
            let missing = got.body.split("<span class=\"missing\">").skip(1);
            let missing = missing.filter_map(|rest| rest.split('<').next());
            found.missing.extend(missing.map(|text| format!("{url}: {text}")));
            let pictures = got.body.split("<img ").skip(1).filter_map(|tag| addresses(tag, "src=\"").next());
            let pictures = pictures.filter_map(|src| url.join(&src).ok());
            found.pictures.extend(pictures.filter(|to| to.origin() == site.origin()).map(String::from));
        }
        for written in next {
            let Ok(mut to) = url.join(&written) else { continue };
            to.set_fragment(None);
            // Files are served from the same host as sites. Other hosts are not crawled.
            if to.origin() == site.origin() && seen.insert(to.to_string()) {
                let written = written.split('#').next().unwrap_or_default().to_owned();
                waiting.push_back((to, written, url.to_string()));
            }
        }
    }
    found.addresses = seen.len();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn real_repositories_get_no_additional_broken_links() {
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
        let client = Client::new(&server.base, TOKEN);
        let org = id(&client.get("/orgs").await["items"][0]);
        let space = id(&client.get(&format!("/orgs/{org}/spaces")).await["items"][0]);
        let mut source = Source::read(&folder);
        source.learn(&client.get(&format!("/spaces/{space}/content/pages")).await["pages"]);
        let found = crawl(&site, &source).await;
        println!(
            "{name}: {} addresses, {} pages, {} pictures; {} links of the source lead nowhere: {:?}; not shown: {:?}",
            found.addresses,
            found.pages,
            found.pictures.len(),
            found.gone.len(),
            found.gone,
            found.missing
        );
        assert!(found.addresses > 10, "{name}: only {} addresses were found", found.addresses);
        assert!(found.wrong.is_empty(), "{name}:\n{}", found.wrong.join("\n"));
    }
}
