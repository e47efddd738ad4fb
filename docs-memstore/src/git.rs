//! A Git repository in memory: [`MemGit`].

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_model::hash::Hash;
use docs_ports::{Checkout, Commit, FetchRequest, GitError, GitRemote, RepoEntry, RepoEntryKind};
use parking_lot::Mutex;
use tokio::sync::watch;

/// A repository in memory that has what a test puts into it, under every URL and every ref. Clones are the same.
///
/// Its object ids are as long as those of Git and change when what they name does, but Git would give others.
///
/// # Example
/// ```
/// use docs_memstore::MemGit;
/// use docs_ports::{FetchRequest, GitError, GitRemote as _};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let git = MemGit::new();
/// git.put("README.md", "# Hello\n");
/// let url = "https://git.example/docs".to_owned();
/// let request = FetchRequest { url, reference: "refs/heads/main".to_owned(), cache_id: None };
/// let checkout = git.fetch(&request).await?;
/// assert_eq!(checkout.read("README.md").await?, "# Hello\n");
///
/// git.edit(|repository| repository.failure = Some(GitError::Credentials));
/// assert!(matches!(git.fetch(&request).await, Err(GitError::Credentials)));
/// # Ok::<(), GitError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemGit(Arc<Shared>);

/// What a [`MemGit`] has.
#[derive(Clone, Debug)]
pub struct MemRepository {
    /// The files by their paths.
    pub files: BTreeMap<String, Bytes>,
    /// The targets of the symbolic links by their paths, which are none of a file.
    pub links: BTreeMap<String, String>,
    /// The message of the commit.
    pub message: String,
    /// What every fetch fails with, where there is something.
    pub failure: Option<GitError>,
    /// What fetches of a URL, or of a ref, fail with.
    pub failures: BTreeMap<String, GitError>,
}

#[derive(Debug, Default)]
struct Shared {
    repository: Mutex<MemRepository>,
    urls: Mutex<Vec<String>>,
    reads: AtomicUsize,
    is_holding: AtomicBool,
    /// The fetches that wait.
    held: watch::Sender<usize>,
}

impl Default for MemRepository {
    fn default() -> Self {
        let message = "A commit".to_owned();
        Self {
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            message,
            failure: None,
            failures: BTreeMap::new(),
        }
    }
}

impl MemGit {
    /// A repository without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces it.
    pub fn put(&self, path: &str, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        self.edit(|repository| repository.files.insert(path.to_owned(), bytes));
    }

    /// Removes a file, where there is one.
    pub fn remove(&self, path: &str) {
        self.edit(|repository| repository.files.remove(path));
    }

    /// Changes what later fetches find.
    pub fn edit<T>(&self, change: impl FnOnce(&mut MemRepository) -> T) -> T {
        change(&mut self.0.repository.lock())
    }

    /// The URLs that were asked for, in order.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.0.urls.lock().clone()
    }

    /// How many files were read.
    #[must_use]
    pub fn reads(&self) -> usize {
        self.0.reads.load(Ordering::SeqCst)
    }

    /// Leaves all fetches from here on without an answer.
    pub fn hold(&self) {
        self.0.is_holding.store(true, Ordering::SeqCst);
    }

    /// Waits until that many fetches are held at the same time.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait and changes nothing.
    pub async fn held(&self, fetches: usize) {
        // The sender lives as long as `self`, so the wait ends by the number alone.
        let _ = self.0.held.subscribe().wait_for(|held| *held >= fetches).await;
    }
}

impl MemRepository {
    /// The files of the commit that it is now.
    fn snapshot(&self) -> (Commit, Vec<RepoEntry>) {
        let entry = |path: &String, bytes: &[u8], kind| RepoEntry {
            path: path.clone(),
            oid: object_id(Hash::of(bytes)),
            size: bytes.len() as u64,
            kind,
        };
        let mut entries: Vec<RepoEntry> =
            self.files.iter().map(|(path, bytes)| entry(path, bytes, RepoEntryKind::File)).collect();
        entries.extend(
            self.links
                .iter()
                .map(|(path, target)| entry(path, target.as_bytes(), RepoEntryKind::Symlink(target.clone()))),
        );
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let all = entries.iter().fold(Hash::of(self.message.as_bytes()), |before, entry| {
            Hash::of(format!("{before}{entry:?}").as_bytes())
        });
        let (oid, message) = (object_id(all), self.message.clone());
        (Commit { oid, message, committed_at: DateTime::<Utc>::UNIX_EPOCH }, entries)
    }
}

fn object_id(hash: Hash) -> String {
    hash.as_bytes()[..20].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[async_trait]
impl GitRemote for MemGit {
    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        self.0.urls.lock().push(request.url.clone());
        if self.0.is_holding.load(Ordering::SeqCst) {
            self.0.held.send_modify(|held| *held += 1);
            let _held = Held(&self.0.held);
            return std::future::pending().await;
        }
        let repository = self.edit(|repository| repository.clone());
        let failures = &repository.failures;
        let named = || failures.get(&request.url).or_else(|| failures.get(&request.reference));
        if let Some(failure) = repository.failure.as_ref().or_else(named) {
            return Err(failure.clone());
        }
        let (commit, entries) = repository.snapshot();
        Ok(Box::new(MemCheckout { commit, entries, files: repository.files, shared: Arc::clone(&self.0) }))
    }
}

/// A fetch that waits until it is dropped.
struct Held<'g>(&'g watch::Sender<usize>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|held| *held -= 1);
    }
}

struct MemCheckout {
    commit: Commit,
    entries: Vec<RepoEntry>,
    files: BTreeMap<String, Bytes>,
    shared: Arc<Shared>,
}

#[async_trait]
impl Checkout for MemCheckout {
    fn commit(&self) -> &Commit {
        &self.commit
    }

    fn entries(&self) -> &[RepoEntry] {
        &self.entries
    }

    async fn read(&self, path: &str) -> Result<Bytes, GitError> {
        self.shared.reads.fetch_add(1, Ordering::SeqCst);
        self.files.get(path).cloned().ok_or_else(|| GitError::NoSuchFile(path.to_owned()))
    }
}
