//! Repositories to fetch.

use docs_git::{GitClient, Outbound};
use docs_ports::{Checkout, FetchRequest, GitError, GitRemote as _};
use git2::{Index, IndexEntry, IndexTime, ObjectType, Oid, Repository, Signature, Time};
use tempfile::TempDir;

pub(crate) const FILE: u32 = 0o100_644;
pub(crate) const LINK: u32 = 0o120_000;
pub(crate) const SUBMODULE: u32 = 0o160_000;

/// A bare repository in a folder of its own.
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

    /// One with two commits on `main`.
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

    /// Commits exactly these files, and moves the ref.
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

    /// The commit that `main` leads to.
    pub(crate) fn main(&self) -> String {
        self.repository.refname_to_id("refs/heads/main").unwrap().to_string()
    }

    pub(crate) fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub(crate) fn file_url(&self) -> String {
        format!("file://{}", self.path())
    }

    /// An object with any bytes: what Git would never write.
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

/// The error of a fetch; a checkout is no error.
pub(crate) fn error_of(result: Result<Box<dyn Checkout>, GitError>) -> GitError {
    match result {
        Ok(checkout) => panic!("fetched {}", checkout.commit().oid),
        Err(error) => error,
    }
}

/// Checks that the checkout is the newest state of a filled repository.
pub(crate) async fn assert_filled(checkout: &dyn Checkout, tip: String) {
    assert_eq!(checkout.commit().oid, tip);
    assert_eq!(checkout.commit().message, "Say hello\n\nä");
    assert_eq!(checkout.commit().committed_at.timestamp(), 1_700_000_000);
    assert_eq!(paths(checkout), ["README.md", "docs/a.md", "docs/empty.md"]);
    assert_eq!(checkout.entries()[1].size, 4);
    assert_eq!(&checkout.read("README.md").await.unwrap()[..], b"# New\n");
    assert_eq!(&checkout.read("docs/empty.md").await.unwrap()[..], b"");
}
