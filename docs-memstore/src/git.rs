//! An in-memory Git repository: [`MemGit`].

mod push;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_model::hash::Hash;
use docs_ports::{
    Checkout, Commit, FetchRequest, GitError, GitRemote, PushFiles, PushRequest, RepoEntry, RepoEntryKind,
    blob_id,
};
use parking_lot::Mutex;
use tokio::sync::watch;

pub use self::push::{MemBranch, MemCommit, MemPushFault, MemRefs};

/// An in-memory repository with test content, served under every URL and, by default, every ref. Clones share their
/// state.
///
/// Pushes follow the rules of Git. Object ids of files equal those of Git. Object ids of commits have the same length
/// and depend on the commit's content, but differ from those of Git.
///
/// # Example
/// ```
/// use docs_memstore::MemGit;
/// use docs_ports::{FetchRequest, GitError, GitRemote as _, PushFile, PushFiles, PushRequest, Signature};
///
/// struct NoFiles;
/// #[async_trait::async_trait]
/// impl PushFiles for NoFiles {
///     async fn next(&mut self) -> Result<Option<PushFile>, GitError> {
///         Ok(None)
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let git = MemGit::new();
/// git.put("README.md", "# Hello\n");
/// let url = "https://git.example/docs".to_owned();
/// let request = FetchRequest { url, reference: "refs/heads/main".to_owned(), cache_id: None };
/// let checkout = git.fetch(&request).await?;
/// assert_eq!(checkout.read("README.md").await?, "# Hello\n");
///
/// let expected = Some(checkout.commit().oid.clone());
/// let ada = Signature { name: "Ada".to_owned(), email: "ada@example.com".to_owned() };
/// let push = PushRequest {
///     url: request.url.clone(),
///     reference: request.reference.clone(),
///     cache_id: None,
///     parent: expected.clone(),
///     expected,
///     removed: vec!["README.md".to_owned()],
///     message: "Tidy up".to_owned(),
///     author: ada.clone(),
///     committer: ada,
///     committed_at: Default::default(),
/// };
/// git.push(&push, &mut NoFiles).await?;
/// assert!(git.fetch(&request).await?.entries().is_empty());
/// assert_eq!(git.push(&push, &mut NoFiles).await, Err(GitError::Moved));
///
/// git.edit(|repository| repository.failure = Some(GitError::Credentials));
/// assert!(matches!(git.fetch(&request).await, Err(GitError::Credentials)));
/// # Ok::<(), GitError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemGit(Arc<Shared>);

/// The content of a [`MemGit`]: the files of its default branch, and its other refs and faults.
#[derive(Clone, Debug)]
pub struct MemRepository {
    /// The files by path.
    pub files: BTreeMap<String, Bytes>,
    /// The targets of the symbolic links by path. A path is either a file or a link.
    pub links: BTreeMap<String, String>,
    /// The commit message.
    pub message: String,
    /// The refs that point to these files.
    pub refs: MemRefs,
    /// The targets of other refs.
    pub branches: BTreeMap<String, MemBranch>,
    /// An error for every fetch and every push.
    pub failure: Option<GitError>,
    /// Errors for fetches and pushes by URL or ref.
    pub failures: BTreeMap<String, GitError>,
    /// The faults of the next pushes, one each.
    pub push_faults: VecDeque<MemPushFault>,
    /// The last commit pushed to these files. Valid until a test edits them.
    pushed: Option<Pushed>,
}

/// A pushed commit with the id derived from its files and message alone.
#[derive(Clone, Debug)]
struct Pushed {
    content: String,
    commit: Commit,
}

/// The arguments of a fetch or push.
#[derive(Debug)]
struct Asked {
    url: String,
    cache_id: Option<String>,
}

#[derive(Debug, Default)]
struct Shared {
    repository: Mutex<MemRepository>,
    asked: Mutex<Vec<Asked>>,
    commits: Mutex<Vec<MemCommit>>,
    fetches: AtomicUsize,
    reads: AtomicUsize,
    is_holding: AtomicBool,
    /// Number of fetches and pushes that are held.
    held: watch::Sender<usize>,
}

impl Default for MemRepository {
    fn default() -> Self {
        let message = "A commit".to_owned();
        Self {
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            message,
            refs: MemRefs::Every,
            branches: BTreeMap::new(),
            failure: None,
            failures: BTreeMap::new(),
            push_faults: VecDeque::new(),
            pushed: None,
        }
    }
}

impl MemGit {
    /// Creates a repository without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a repository without commits. It has no refs; the first push creates one.
    #[must_use]
    pub fn empty() -> Self {
        let git = Self::new();
        git.edit(|repository| repository.refs = MemRefs::Only(BTreeSet::new()));
        git
    }

    /// Adds or replaces a file.
    pub fn put(&self, path: &str, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        self.edit(|repository| repository.files.insert(path.to_owned(), bytes));
    }

    /// Removes a file, if it exists.
    pub fn remove(&self, path: &str) {
        self.edit(|repository| repository.files.remove(path));
    }

    /// Edits the repository; later fetches see the changes.
    pub fn edit<T>(&self, change: impl FnOnce(&mut MemRepository) -> T) -> T {
        change(&mut self.0.repository.lock())
    }

    /// Returns the requested URLs, in order.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.0.asked.lock().iter().map(|asked| asked.url.clone()).collect()
    }

    /// Returns the requested cache keys, one for each of [`urls`](Self::urls).
    #[must_use]
    pub fn cache_ids(&self) -> Vec<Option<String>> {
        self.0.asked.lock().iter().map(|asked| asked.cache_id.clone()).collect()
    }

    /// Returns the pushed commits, in order.
    #[must_use]
    pub fn commits(&self) -> Vec<MemCommit> {
        self.0.commits.lock().clone()
    }

    /// Returns the number of fetches. Resolving a ref does not count.
    #[must_use]
    pub fn fetches(&self) -> usize {
        self.0.fetches.load(Ordering::SeqCst)
    }

    /// Returns the number of files read.
    #[must_use]
    pub fn reads(&self) -> usize {
        self.0.reads.load(Ordering::SeqCst)
    }

    /// Holds all fetches and pushes from now on: they never return.
    pub fn hold(&self) {
        self.0.is_holding.store(true, Ordering::SeqCst);
    }

    /// Waits until that many fetches and pushes are held at the same time.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait without side effects.
    pub async fn held(&self, fetches: usize) {
        // The sender lives as long as `self`, so only the number ends the wait.
        let _ = self.0.held.subscribe().wait_for(|held| *held >= fetches).await;
    }
}

impl MemRepository {
    /// Returns the target of a ref.
    fn branch(&self, reference: &str) -> Option<MemBranch> {
        let is_default = reference == "HEAD" && !self.refs.is_empty() || self.refs.contains(reference);
        match self.branches.get(reference) {
            Some(branch) => Some(branch.clone()),
            None => is_default.then(|| self.default_branch()),
        }
    }

    /// Returns the files of the default branch and their current commit.
    fn default_branch(&self) -> MemBranch {
        let (files, links) = (self.files.clone(), self.links.clone());
        let content = content_id(&self.message, &entries(&files, &links));
        let commit = match &self.pushed {
            Some(pushed) if pushed.content == content => pushed.commit.clone(),
            _ => Commit {
                oid: content,
                message: self.message.clone(),
                committed_at: DateTime::<Utc>::UNIX_EPOCH,
            },
        };
        MemBranch { commit, files, links }
    }

    /// Returns the configured error for a URL and a ref.
    fn failure_of(&self, url: &str, reference: &str) -> Option<GitError> {
        let named = || self.failures.get(url).or_else(|| self.failures.get(reference));
        self.failure.as_ref().or_else(named).cloned()
    }
}

/// Returns all entries, ordered by path.
fn entries(files: &BTreeMap<String, Bytes>, links: &BTreeMap<String, String>) -> Vec<RepoEntry> {
    let entry = |path: &String, bytes: &[u8], kind| RepoEntry {
        path: path.clone(),
        oid: blob_id(bytes),
        size: bytes.len() as u64,
        kind,
    };
    let mut entries: Vec<RepoEntry> =
        files.iter().map(|(path, bytes)| entry(path, bytes, RepoEntryKind::File)).collect();
    entries.extend(
        links
            .iter()
            .map(|(path, target)| entry(path, target.as_bytes(), RepoEntryKind::Symlink(target.clone()))),
    );
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

/// Computes a commit id from the message and the entries.
fn content_id(message: &str, entries: &[RepoEntry]) -> String {
    object_id(entries.iter().fold(Hash::of(message.as_bytes()), |before, entry| {
        Hash::of(format!("{before}{entry:?}").as_bytes())
    }))
}

fn object_id(hash: Hash) -> String {
    hash.as_bytes()[..20].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Shared {
    /// Records a request, and holds it if requested.
    async fn ask(&self, url: &str, cache_id: Option<&String>) {
        self.asked.lock().push(Asked { url: url.to_owned(), cache_id: cache_id.cloned() });
        if self.is_holding.load(Ordering::SeqCst) {
            self.held.send_modify(|held| *held += 1);
            let _held = Held(&self.held);
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl GitRemote for MemGit {
    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        self.0.ask(&request.url, request.cache_id.as_ref()).await;
        self.0.fetches.fetch_add(1, Ordering::SeqCst);
        let repository = self.edit(|repository| repository.clone());
        if let Some(failure) = repository.failure_of(&request.url, &request.reference) {
            return Err(failure);
        }
        let MemBranch { commit, files, links } = repository
            .branch(&request.reference)
            .ok_or_else(|| GitError::NoRef(request.reference.clone()))?;
        let entries = entries(&files, &links);
        Ok(Box::new(MemCheckout { commit, entries, files, shared: Arc::clone(&self.0) }))
    }

    async fn resolve(&self, request: &FetchRequest) -> Result<Option<String>, GitError> {
        self.0.ask(&request.url, request.cache_id.as_ref()).await;
        self.edit(|repository| match repository.failure_of(&request.url, &request.reference) {
            Some(failure) => Err(failure),
            None => Ok(repository.branch(&request.reference).map(|branch| branch.commit.oid)),
        })
    }

    async fn push(&self, request: &PushRequest, files: &mut dyn PushFiles) -> Result<Commit, GitError> {
        self.0.ask(&request.url, request.cache_id.as_ref()).await;
        push::push(&self.0, request, files).await
    }
}

/// Counts a held request until it is dropped.
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
