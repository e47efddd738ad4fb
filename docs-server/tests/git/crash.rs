//! A server that is killed while it imports and exports. `DOCS_CRASH_ROUNDS` says how often.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    client::{Client, id},
    host::{Host, Moment, has_git},
    process::{PATIENCE, Process, TOKEN, program, until},
    repository::{bare, check, commit, commits, files, git, tip},
};

/// Spaces that are synced at once, each with a repository: half of them over HTTP, the others on the disk.
const SPACES: usize = 4;
/// Pages of a space.
const PAGES: usize = 24;

/// When a server is killed: at a moment of an exchange over HTTP, or some time after it was asked.
#[derive(Clone, Copy, Debug)]
enum Kill {
    At(Moment),
    Later,
}

/// The kills of imports, and of exports.
const OF_IMPORTS: [Kill; 3] = [Kill::At(Moment::FetchHalf), Kill::Later, Kill::At(Moment::FetchBegins)];
const OF_EXPORTS: [Kill; 4] =
    [Kill::At(Moment::PushTaken), Kill::At(Moment::PushHalf), Kill::Later, Kill::At(Moment::PushBegins)];

fn rounds() -> u32 {
    std::env::var("DOCS_CRASH_ROUNDS").map_or(4, |text| text.parse().expect("DOCS_CRASH_ROUNDS is a number"))
}

/// What waits for a moment, and holds the exchange until the server is dead.
#[derive(Default)]
struct Trap(Mutex<Option<Set>>);

struct Set {
    moment: Moment,
    /// Exchanges that pass before.
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
            // The end of the test is as good.
            let _ = set.dead.recv_timeout(PATIENCE);
        }
    }
}

/// One repository with its space.
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

/// The files of a version, which no other version has.
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
    all
}

/// The same as the git program prints them.
fn trimmed(files: BTreeMap<String, String>) -> BTreeMap<String, String> {
    files.into_iter().map(|(path, text)| (path, text.trim_end().to_owned())).collect()
}

impl World {
    async fn new() -> (Self, Process) {
        let folder = tempfile::tempdir().expect("a folder");
        let trap = Arc::new(Trap::default());
        let watch = trap.clone();
        let host = Host::new(folder.path(), move |moment| watch.tell(moment));
        let store = format!("sqlite:{}", folder.path().join("docs.db").display());
        let mut world =
            Self { _folder: folder, store, trap, host, pairs: Vec::new(), chance: 0x9e37_79b9_7f4a_7c15 };
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
        Process::with(&["--bind", "127.0.0.1:0", "--store", &self.store, "--outbound", "files"]).await
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

    /// Changes every page of every space to a version, each space at once.
    async fn edit(&self, client: &Client, number: u32) {
        let texts = version(number);
        for pair in &self.pairs {
            let pages = pages(client, &pair.space).await;
            let change = |(page, path): &(String, String)| {
                let text = texts[path].split_once("\n\n").expect("a heading and a text").1;
                json!({ "operation": "update_page", "page": page, "document": { "markdown": text } })
            };
            let changes: Vec<Value> = pages.iter().map(change).collect();
            crate::edit(client, &pair.space, json!(changes)).await;
        }
    }

    /// Waits for the end of all jobs, which must be a good one.
    async fn ended(&self, client: &Client) {
        for pair in &self.pairs {
            let jobs = format!("/spaces/{}/jobs", pair.space);
            let mut newest = Value::Null;
            until("the end of a job", async || {
                newest = client.get(&jobs).await["items"][0].clone();
                newest["endedAt"].is_string()
            })
            .await;
            assert_eq!(newest["state"], "done", "{newest}");
        }
    }

    /// Kills a server, at the moment that was drawn.
    async fn kill(&mut self, server: Process, kill: Kill, ask: impl AsyncFnOnce(&Self)) {
        let draw = self.draw();
        match kill {
            Kill::Later => {
                ask(self).await;
                // The moment of the kill is what this test draws; nothing is waited for.
                tokio::time::sleep(Duration::from_millis(draw % 400)).await;
                drop(server);
            }
            Kill::At(moment) => {
                let ((sprung, springs), (died, dead)) = (mpsc::channel(), mpsc::channel());
                // Those over HTTP are half of all.
                let set = Set { moment, pass: draw % (SPACES as u64 / 2), sprung, dead };
                *self.trap.0.lock().expect("nobody panicked") = Some(set);
                ask(self).await;
                let sprung = tokio::task::spawn_blocking(move || springs.recv_timeout(PATIENCE)).await;
                sprung.expect("no panic").unwrap_or_else(|_| panic!("{moment:?} never came"));
                drop(server);
                // The exchange goes on without the one who asked.
                died.send(()).expect("it is held");
            }
        }
    }

    /// What the program for operators says of the store.
    fn verify(&self) {
        let output = program().args(["admin", "verify", "--store", &self.store]).output().expect("it runs");
        let said =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
    }

    /// Every repository is whole, and has all of one version.
    fn check_repositories(&self, before: &[usize], old: u32, new: u32) {
        for (pair, before) in self.pairs.iter().zip(before) {
            check(&pair.repository);
            let now = files(&pair.repository);
            let moved = commits(&pair.repository) - before;
            let expected = if moved == 0 { old } else { new };
            assert!(
                now == trimmed(version(expected)),
                "{:?}: {moved} new commits, {:?}",
                pair.repository,
                tip(&pair.repository)
            );
            assert!(moved <= 1, "{moved} commits were made");
        }
    }

    /// Every space has all of one version.
    async fn check_spaces(&self, client: &Client, may_be: &[u32]) {
        for pair in &self.pairs {
            let mut found = Vec::new();
            // An import may end while the pages are read one by one: all of them are read as one revision has them.
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
        }
    }
}

/// The pages of a space, with the paths of their files.
async fn pages(client: &Client, space: &str) -> Vec<(String, String)> {
    let content = client.get(&format!("/spaces/{space}/content")).await;
    let pages = content["pages"].as_array().expect("pages");
    let path =
        |page: &Value| page["git"]["path"].as_str().unwrap_or_else(|| panic!("a file of {page}")).to_owned();
    pages.iter().map(|page| (id(page), path(page))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_or_export_that_is_killed_is_done_once_and_whole_after_the_restart() {
    if !has_git() {
        return;
    }
    let (mut world, mut server) = World::new().await;
    for round in 0..rounds() {
        let (old, new) = (round, round + 1);
        let turn = round as usize / 2;
        let is_export = round % 2 == 0;
        let client = Client::new(&server.base, TOKEN);
        let before: Vec<usize> = world.pairs.iter().map(|pair| commits(&pair.repository)).collect();
        let kill =
            if is_export { OF_EXPORTS[turn % OF_EXPORTS.len()] } else { OF_IMPORTS[turn % OF_IMPORTS.len()] };
        match is_export {
            true => world.edit(&client, new).await,
            false => world.pairs.iter().for_each(|pair| commit(&pair.repository, &version(new), "New")),
        }
        let what = if is_export { "export" } else { "import" };
        world.kill(server, kill, async |world| world.ask(&client, what, new).await).await;
        let old_files = if is_export { old } else { new };
        world.verify();
        server = world.start().await;
        let client = Client::new(&server.base, TOKEN);
        let settled = |world: &World| world.check_repositories(&before, old_files, new);
        if is_export {
            settled(&world);
        }
        let may_be: &[u32] = if is_export { &[new] } else { &[old, new] };
        world.check_spaces(&client, may_be).await;
        world.ended(&client).await;
        world.check_spaces(&client, &[new]).await;
        settled(&world);
        for (pair, before) in world.pairs.iter().zip(&before) {
            assert_eq!(commits(&pair.repository), before + 1, "one commit, and not two");
            let dangling = git(&pair.repository, &["fsck", "--strict", "--no-reflogs"]);
            println!("round {round}: {what} killed at {kill:?}: {} {dangling}", pair.space);
        }
    }
    drop(server);
    world.verify();
}
