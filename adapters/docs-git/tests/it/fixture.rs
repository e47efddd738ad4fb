//! Repositories for tests.

use std::{collections::VecDeque, io, net::IpAddr, path::Path, process::Command};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::DateTime;
use docs_git::{GitClient, Outbound, Resolve};
use docs_ports::{
    Checkout, Commit, FetchRequest, GitError, GitRemote as _, PushFile, PushFiles, PushRequest,
};
use git2::{Index, IndexEntry, IndexTime, ObjectType, Oid, Repository, Signature, Time};
use tempfile::TempDir;

pub(crate) const FILE: u32 = 0o100_644;
pub(crate) const LINK: u32 = 0o120_000;
pub(crate) const SUBMODULE: u32 = 0o160_000;

/// A bare repository in a temporary folder.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) repository: Repository,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(folder.path()).unwrap();
        Self { folder, repository }
    }

    /// Creates a repository with two commits on `main`.
    pub(crate) fn filled() -> Self {
        let fixture = Self::new();
        let first = fixture.commit("refs/heads/main", &[(b"README.md", FILE, b"# Old\n")], &[]);
        let files: &[(&[u8], u32, &[u8])] = &[
            (b"README.md", FILE, b"# New\n"),
            (b"docs/a.md", FILE, b"# A\n"),
            (b"docs/empty.md", FILE, b""),
        ];
        fixture.commit("refs/heads/main", files, &[first]);
        fixture
    }

    /// Commits exactly these files and updates the ref.
    pub(crate) fn commit(&self, reference: &str, files: &[(&[u8], u32, &[u8])], parents: &[Oid]) -> Oid {
        let mut index = Index::new().unwrap();
        for (path, mode, content) in files {
            let id = match *mode {
                SUBMODULE => Oid::from_bytes(&[7; 20]).unwrap(),
                _ => self.repository.blob(content).unwrap(),
            };
            index.add(&entry(path, *mode, id)).unwrap();
        }
        let tree = self.repository.find_tree(index.write_tree_to(&self.repository).unwrap()).unwrap();
        let parents: Vec<_> = parents.iter().map(|id| self.repository.find_commit(*id).unwrap()).collect();
        let author = Signature::new("A", "a@example.com", &Time::new(1_700_000_000, 60)).unwrap();
        let id = self
            .repository
            .commit(None, &author, &author, "Say hello\n\nä", &tree, &parents.iter().collect::<Vec<_>>())
            .unwrap();
        self.repository.reference(reference, id, true, "test").unwrap();
        id
    }

    /// Returns the commit of `main`.
    pub(crate) fn main(&self) -> String {
        self.repository.refname_to_id("refs/heads/main").unwrap().to_string()
    }

    pub(crate) fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub(crate) fn file_url(&self) -> String {
        format!("file://{}", self.path())
    }

    /// Writes an object with arbitrary bytes, including invalid ones.
    pub(crate) fn raw(&self, kind: ObjectType, bytes: &[u8]) -> Oid {
        self.repository.odb().unwrap().write(kind, bytes).unwrap()
    }
}

fn entry(path: &[u8], mode: u32, id: Oid) -> IndexEntry {
    IndexEntry {
        ctime: IndexTime::new(0, 0),
        mtime: IndexTime::new(0, 0),
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.to_owned(),
    }
}

pub(crate) fn client() -> GitClient {
    GitClient::new(Outbound::Files).unwrap()
}

pub(crate) fn request(url: &str, reference: &str) -> FetchRequest {
    FetchRequest { url: url.to_owned(), reference: reference.to_owned(), cache_id: None }
}

pub(crate) async fn fetch(url: &str, reference: &str) -> Result<Box<dyn Checkout>, GitError> {
    client().fetch(&request(url, reference)).await
}

pub(crate) fn paths(checkout: &dyn Checkout) -> Vec<&str> {
    checkout.entries().iter().map(|entry| entry.path.as_str()).collect()
}

/// Returns the error of a fetch. Panics if the fetch succeeded.
pub(crate) fn error_of(result: Result<Box<dyn Checkout>, GitError>) -> GitError {
    match result {
        Ok(checkout) => panic!("fetched {}", checkout.commit().oid),
        Err(error) => error,
    }
}

/// Checks that the checkout is the latest commit of a filled repository.
pub(crate) async fn assert_filled(checkout: &dyn Checkout, tip: String) {
    assert_eq!(checkout.commit().oid, tip);
    assert_eq!(checkout.commit().message, "Say hello\n\nä");
    assert_eq!(checkout.commit().committed_at.timestamp(), 1_700_000_000);
    assert_eq!(paths(checkout), ["README.md", "docs/a.md", "docs/empty.md"]);
    assert_eq!(checkout.entries()[1].size, 4);
    assert_eq!(&checkout.read("README.md").await.unwrap()[..], b"# New\n");
    assert_eq!(&checkout.read("docs/empty.md").await.unwrap()[..], b"");
}

/// Returns incompressible bytes.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    };
    (0..count).map(next).collect()
}

/// The files of a push.
pub(crate) struct Files(pub(crate) VecDeque<Result<PushFile, GitError>>);

#[async_trait]
impl PushFiles for Files {
    async fn next(&mut self) -> Result<Option<PushFile>, GitError> {
        self.0.pop_front().transpose()
    }
}

pub(crate) fn file(path: &str, bytes: impl Into<Bytes>) -> PushFile {
    PushFile { path: path.to_owned(), bytes: bytes.into(), is_executable: false }
}

/// Creates files from paths and text.
pub(crate) fn files(files: &[(&str, &'static str)]) -> Files {
    Files(files.iter().map(|(path, text)| Ok(file(path, *text))).collect())
}

/// Creates a push to `main` with `tip` as the parent. Without a tip, the ref must not exist in the repository.
pub(crate) fn push_on(url: &str, tip: Option<&str>) -> PushRequest {
    let signature =
        |name: &str, email: &str| docs_ports::Signature { name: name.into(), email: email.into() };
    PushRequest {
        url: url.to_owned(),
        reference: "refs/heads/main".to_owned(),
        cache_id: None,
        expected: tip.map(str::to_owned),
        parent: tip.map(str::to_owned),
        removed: Vec::new(),
        message: "Write\n\nä".to_owned(),
        author: signature("Ada", "ada@example.com"),
        committer: signature("A bot", "bot@example.com"),
        committed_at: DateTime::from_timestamp(1_700_000_000, 999).unwrap(),
    }
}

pub(crate) async fn push(request: &PushRequest, files: &mut Files) -> Result<Commit, GitError> {
    client().push(request, files).await
}

/// Runs concurrent pushes, and returns the commits of the successful ones. The others must fail with a retryable error.
pub(crate) async fn pushed_at_once(count: usize, request: &PushRequest, text: &str) -> Vec<String> {
    let pushes: Vec<_> = (0..count)
        .map(|number| {
            let request = request.clone();
            let mut one = Files([Ok(file("a.md", format!("{text} {number}")))].into());
            tokio::spawn(async move { push(&request, &mut one).await })
        })
        .collect();
    let mut won = Vec::new();
    for result in pushes {
        match result.await.unwrap() {
            Ok(commit) => won.push(commit.oid),
            Err(error) => assert!(error.may_pass(), "{error:?}"),
        }
    }
    won
}

/// A resolver that resolves every host to this machine.
pub(crate) struct Inside;

#[async_trait]
impl Resolve for Inside {
    async fn resolve(&self, _host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec!["127.0.0.1".parse().unwrap()])
    }
}

impl Fixture {
    /// Returns the commit of `main`, if it exists.
    pub(crate) fn tip(&self) -> Option<String> {
        // Reopened, because other processes have written to it.
        let repository = Repository::open_bare(self.folder.path()).unwrap();
        repository.refname_to_id("refs/heads/main").ok().map(|id| id.to_string())
    }

    /// Lists all entries of a commit with git: mode, id and path.
    pub(crate) fn listed(&self, commit: &str) -> Vec<String> {
        let output = self.git(&["ls-tree", "-r", "--format=%(objectmode) %(objectname) %(path)", commit]);
        output.lines().map(str::to_owned).collect()
    }

    /// Runs a git command, which must succeed, and returns its output.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git_in(self.folder.path(), arguments)
    }
}

/// Runs a git command in a bare repository, and returns its output.
pub(crate) fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("--git-dir").arg(folder).args(arguments).output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// Updates `main` to another commit, like a concurrent push.
pub(crate) fn overtake(folder: &Path) {
    let tip = git_in(folder, &["rev-parse", "main"]);
    let who = ["-c", "user.name=B", "-c", "user.email=b@example.com"];
    let commit = ["commit-tree", "-m", "x", "-p", tip.trim(), "main^{tree}"];
    let other = git_in(folder, &[&who[..], &commit].concat());
    git_in(folder, &["update-ref", "refs/heads/main", other.trim()]);
}
