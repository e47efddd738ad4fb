//! Kills a server during imports and exports, and again after its restart. `DOCS_CRASH_ROUNDS` sets the number of
//! rounds. [`LANES`] servers are killed in parallel, because the jobs of a killed server resume only after their lease
//! expires.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use data_encoding::BASE64;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper_util::{client::legacy::Client as Hyper, rt::TokioExecutor};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    client::{Client, id},
    git::{
        host::{Host, Moment, has_git},
        repository::{bare, check, check_unlocked, commit, commits, commits_at, files_at, git, tip},
    },
    process::{PATIENCE, Process, TOKEN, program, until},
};

/// Number of spaces that synchronize concurrently, each with its own repository. Half of them use HTTP, the others the
/// local disk.
const SPACES: usize = 4;
/// Number of pages per space.
const PAGES: usize = 24;
/// Number of servers that are killed in parallel, each with its own store and host.
const LANES: u32 = 4;

/// The time of a kill: at a step of an HTTP exchange, or some time after the request.
#[derive(Clone, Copy, Debug)]
enum Kill {
    At(Moment),
    Later,
}

/// Kills during imports, then those during exports.
const OF_IMPORTS: [Kill; 3] = [Kill::At(Moment::FetchHalf), Kill::Later, Kill::At(Moment::FetchBegins)];
const OF_EXPORTS: [Kill; 4] =
    [Kill::At(Moment::PushTaken), Kill::At(Moment::PushHalf), Kill::Later, Kill::At(Moment::PushBegins)];

fn rounds() -> u32 {
    std::env::var("DOCS_CRASH_ROUNDS").map_or(4, |text| text.parse().expect("DOCS_CRASH_ROUNDS is a number"))
}

/// A trap that triggers at a step of an exchange, and blocks the exchange until the server is dead.
#[derive(Default)]
struct Trap(Mutex<Option<Set>>);

struct Set {
    moment: Moment,
    /// Number of exchanges to let pass before triggering.
    pass: u64,
    sprung: mpsc::Sender<()>,
    dead: mpsc::Receiver<()>,
}

impl Trap {
    fn tell(&self, moment: Moment) {
        let set = {
            let mut trap = self.0.lock().expect("nobody panicked");
            match trap.as_mut() {
                Some(set) if set.moment == moment && set.pass > 0 => {
                    set.pass -= 1;
                    None
                }
                Some(set) if set.moment == moment => trap.take(),
                _ => None,
            }
        };
        if let Some(set) = set {
            set.sprung.send(()).expect("the test waits");
            // The end of the test also releases the exchange.
            let _ = set.dead.recv_timeout(PATIENCE);
        }
    }
}

/// A repository and its space.
struct Pair {
    repository: PathBuf,
    url: String,
    space: String,
}

struct World {
    _folder: TempDir,
    store: String,
    trap: Arc<Trap>,
    host: Host,
    pairs: Vec<Pair>,
    chance: u64,
}

/// Returns the files of a version. They differ from those of all other versions.
fn version(number: u32) -> BTreeMap<String, String> {
    let mut all = BTreeMap::from([("README.md".to_owned(), format!("# Home\n\nVersion {number}.\n"))]);
    let mut summary = "# Summary\n\n* [Home](README.md)\n".to_owned();
    for page in 0..PAGES {
        let filler: String =
            (0..40).map(|line| format!("Line {line} of {page}: {}.\n", number * 7919 + line)).collect();
        all.insert(format!("part/page-{page}.md"), format!("# Page {page}\n\nVersion {number}.\n\n{filler}"));
        summary.push_str(&format!("* [Page {page}](part/page-{page}.md)\n"));
    }
    all.insert("SUMMARY.md".to_owned(), summary);
    all.insert(format!(".gitbook/assets/{}", asset_name(number)), asset(number));
    all
}

/// Returns the name of a version's file that is not a page.
fn asset_name(version: u32) -> String {
    format!("notes-{version}.txt")
}

/// Returns the content of that file, which is too long to be stored inline.
fn asset(version: u32) -> String {
    (0..12_000).map(|line| format!("Note {line} of {version}.\n")).collect()
}

impl World {
    async fn new(seed: u64) -> (Self, Process) {
        let folder = tempfile::tempdir().expect("a folder");
        let trap = Arc::new(Trap::default());
        let watch = trap.clone();
        let host = Host::new(folder.path(), move |moment| watch.tell(moment));
        let store = format!("sqlite:{}", folder.path().join("docs.db").display());
        let chance = 0x9e37_79b9_7f4a_7c15 ^ (seed + 1);
        let mut world = Self { _folder: folder, store, trap, host, pairs: Vec::new(), chance };
        let server = world.start().await;
        let client = Client::new(&server.base, TOKEN);
        let org = id(&client.get("/orgs").await["items"][0]);
        for number in 0..SPACES {
            let name = format!("docs-{number}");
            let repository = bare(world._folder.path(), &name);
            commit(&repository, &version(0), "Version 0");
            let url = match number % 2 {
                0 => world.host.url(&name),
                _ => format!("file://{}", repository.display()),
            };
            let space = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": name })).await);
            world.pairs.push(Pair { repository, url, space });
        }
        world.ask(&client, "import", 0).await;
        world.ended(&client).await;
        (world, server)
    }

    async fn start(&self) -> Process {
        let flags = ["--bind", "127.0.0.1:0", "--store", &self.store, "--outbound", "files"];
        // A short lease, because the jobs of a killed server resume only after it expires.
        Process::with(&[&flags[..], &["--job-lease", "3"]].concat()).await
    }

    fn draw(&mut self) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        self.chance
    }

    async fn ask(&self, client: &Client, what: &str, number: u32) {
        for pair in &self.pairs {
            let mut body = json!({ "url": pair.url, "ref": "refs/heads/main" });
            if what == "export" {
                body["commitMessage"] = json!(format!("Version {number}"));
            }
            client.post(&format!("/spaces/{}/git/{what}", pair.space), body).await;
        }
    }

    /// Changes every page of every space to a version, with one change request per space.
    async fn edit(&self, client: &Client, number: u32) {
        let texts = version(number);
        for pair in &self.pairs {
            let pages = pages(client, &pair.space).await;
            let change = |(page, path): &(String, String)| {
                let text = texts[path].split_once("\n\n").expect("a heading and a text").1;
                json!({ "operation": "update_page", "page": page, "document": { "markdown": text } })
            };
            let mut changes: Vec<Value> = pages.iter().map(change).collect();
            let there = client.get(&format!("/spaces/{}/content/files", pair.space)).await;
            let there: Vec<String> = there["items"].as_array().expect("files").iter().map(id).collect();
            let new = json!({ "name": asset_name(number), "contentType": "text/plain",
                "base64": BASE64.encode(asset(number).as_bytes()) });
            changes.push(json!({ "operation": "delete_files", "files": there }));
            changes.push(json!({ "operation": "insert_files", "files": [new] }));
            crate::git::edit(client, &pair.space, json!(changes)).await;
        }
    }

    /// Waits until all jobs have finished, and asserts that they succeeded.
    async fn ended(&self, client: &Client) {
        for pair in &self.pairs {
            let jobs = format!("/spaces/{}/jobs", pair.space);
            let mut newest = Value::Null;
            until("result of job", async || {
                newest = client.get(&jobs).await["items"][0].clone();
                newest["endedAt"].is_string()
            })
            .await;
            assert_eq!(newest["state"], "done", "{newest}");
        }
    }

    /// Kills a server at the chosen time.
    async fn kill(&mut self, server: Process, kill: Kill, ask: impl AsyncFnOnce(&Self)) {
        let draw = self.draw();
        match kill {
            Kill::Later => {
                ask(self).await;
                // A random delay before the kill, instead of waiting for an event.
                tokio::time::sleep(Duration::from_millis(draw % 400)).await;
                drop(server);
            }
            Kill::At(moment) => {
                let ((sprung, springs), (died, dead)) = (mpsc::channel(), mpsc::channel());
                // Half of the spaces synchronize over HTTP.
                let set = Set { moment, pass: draw % (SPACES as u64 / 2), sprung, dead };
                *self.trap.0.lock().expect("nobody panicked") = Some(set);
                ask(self).await;
                let sprung = tokio::task::spawn_blocking(move || springs.recv_timeout(PATIENCE)).await;
                sprung.expect("no panic").unwrap_or_else(|_| panic!("{moment:?} never came"));
                drop(server);
                // The exchange continues without a client.
                died.send(()).expect("it is held");
            }
        }
    }

    /// Asserts that `docs-server admin verify` finds no differences in the store.
    fn verify(&self) {
        let output = program().args(["admin", "verify", "--store", &self.store]).output().expect("it runs");
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }

    /// Asserts that every repository is complete and contains exactly one version.
    fn check_repositories(&self, before: &[usize], old: u32, new: u32) {
        for (pair, before) in self.pairs.iter().zip(before) {
            check(&pair.repository);
            // A push may arrive during the check, so everything is read from one commit.
            let tip = tip(&pair.repository).expect("a commit");
            let now = files_at(&pair.repository, &tip);
            let moved = commits_at(&pair.repository, &tip) - before;
            let expected = if moved == 0 { old } else { new };
            assert!(now == version(expected), "{:?}: {moved} new commits, {tip}", pair.repository);
            assert!(moved <= 1, "{moved} commits were made");
        }
    }

    /// Asserts that every space contains exactly one version.
    async fn check_spaces(&self, client: &Client, may_be: &[u32]) {
        for pair in &self.pairs {
            let mut found = Vec::new();
            // An import may finish during the check, so all pages are read from one revision.
            let revision = id(&client.get(&format!("/spaces/{}/content", pair.space)).await);
            for (page, path) in pages(client, &pair.space).await {
                let path_of =
                    format!("/spaces/{}/revisions/{revision}/page/{page}?format=markdown", pair.space);
                let text = client.get(&path_of).await["markdown"].as_str().unwrap_or_default().to_owned();
                let is = |number: &&u32| {
                    version(**number)[&path]
                        .split_once("\n\n")
                        .is_some_and(|(_, body)| body.trim() == text.trim())
                };
                found.push(may_be.iter().find(is).copied().unwrap_or_else(|| panic!("{path}: {text}")));
            }
            assert_eq!(found.len(), PAGES + 1);
            assert!(found.iter().all(|number| *number == found[0]), "{}: {found:?}", pair.space);
            let files = client.get(&format!("/spaces/{}/revisions/{revision}/files", pair.space)).await;
            let files = files["items"].as_array().expect("files");
            assert_eq!(files.len(), 1, "{files:?}");
            assert_eq!(files[0]["name"], asset_name(found[0]), "the file is of the version of the pages");
            let bytes = download(files[0]["downloadURL"].as_str().expect("an address")).await;
            assert!(bytes == asset(found[0]), "{} of {}", asset_name(found[0]), pair.space);
        }
    }

    /// Kills a server during imports or exports, and again after its restart. Checks all data after each kill and at
    /// the end.
    async fn round(&mut self, server: Process, round: u32, old: u32) -> Process {
        let (new, turn, is_export) = (old + 1, round as usize / 2, round.is_multiple_of(2));
        let client = Client::new(&server.base, TOKEN);
        let before: Vec<usize> = self.pairs.iter().map(|pair| commits(&pair.repository)).collect();
        let kill =
            if is_export { OF_EXPORTS[turn % OF_EXPORTS.len()] } else { OF_IMPORTS[turn % OF_IMPORTS.len()] };
        match is_export {
            true => self.edit(&client, new).await,
            false => self.pairs.iter().for_each(|pair| commit(&pair.repository, &version(new), "New")),
        }
        let what = if is_export { "export" } else { "import" };
        self.kill(server, kill, async |world| world.ask(&client, what, new).await).await;
        let old_files = if is_export { old } else { new };
        let may_be: &[u32] = if is_export { &[new] } else { &[old, new] };
        let mut server = self.restart(&before, old_files, new, may_be).await;
        let pause = Duration::from_millis(self.draw() % 400);
        // A random delay before the kill, instead of waiting for an event.
        tokio::time::sleep(pause).await;
        drop(server);
        server = self.restart(&before, old_files, new, may_be).await;
        let client = Client::new(&server.base, TOKEN);
        self.ended(&client).await;
        self.check_spaces(&client, &[new]).await;
        self.check_repositories(&before, old_files, new);
        for (pair, before) in self.pairs.iter().zip(&before) {
            assert_eq!(commits(&pair.repository), before + 1, "one commit, and not two");
            check_unlocked(&pair.repository);
            let dangling = git(&pair.repository, &["fsck", "--strict", "--no-reflogs"]);
            println!(
                "round {round}: {what} killed at {kill:?}, then after {pause:?}: {} {dangling}",
                pair.space
            );
        }
        server
    }

    /// Starts a server after a kill, and checks that no partial state exists.
    async fn restart(&self, before: &[usize], old: u32, new: u32, may_be: &[u32]) -> Process {
        self.verify();
        let server = self.start().await;
        self.check_repositories(before, old, new);
        self.check_spaces(&Client::new(&server.base, TOKEN), may_be).await;
        server
    }
}

/// Downloads a file.
async fn download(url: &str) -> Bytes {
    let client = Hyper::builder(TokioExecutor::new()).build_http();
    let request = hyper::Request::get(url).body(Empty::<Bytes>::new()).expect("a request");
    let answer = client.request(request).await.expect("an answer");
    assert_eq!(answer.status(), 200, "{url}");
    answer.into_body().collect().await.expect("a body").to_bytes()
}

/// Returns the pages of a space with their file paths.
async fn pages(client: &Client, space: &str) -> Vec<(String, String)> {
    let content = client.get(&format!("/spaces/{space}/content")).await;
    let pages = content["pages"].as_array().expect("pages");
    let path =
        |page: &Value| page["git"]["path"].as_str().unwrap_or_else(|| panic!("a file of {page}")).to_owned();
    pages.iter().map(|page| (id(page), path(page))).collect()
}

/// Runs the rounds of a lane one after another on one store.
async fn lane(lane: u32) {
    let (mut world, mut server) = World::new(lane.into()).await;
    for (old, round) in (lane..rounds()).step_by(LANES as usize).enumerate() {
        server = world.round(server, round, u32::try_from(old).expect("few rounds")).await;
    }
    drop(server);
    world.verify();
}

#[test]
fn killed_import_or_export_completes_once_after_restart() {
    if !has_git() {
        return;
    }
    std::thread::scope(|scope| {
        for number in 0..LANES.min(rounds()) {
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
                runtime.expect("a runtime").block_on(lane(number));
            });
        }
    });
}
