//! An in-memory Git repository: [`MemGit`].

mod push;
mod repository;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering},
};

use async_trait::async_trait;
use bytes::Bytes;
use docs_ports::{
    Checkout, Commit, FetchRequest, GitError, GitRemote, LargeObject, PushFiles, PushRequest, RepoEntry,
};

use self::repository::{MemGitState, entries};

pub use self::repository::{MemBranch, MemCommit, MemPushFault, MemRefs, MemRepository};

/// An in-memory repository with test content, served at every URL and, by default, under every ref. Clones share their
/// state.
///
/// Pushes follow the rules of Git. File object ids are those of Git. Commit ids have the same format as Git's and
/// depend on the content of the commit, but differ from those of Git.
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
pub struct MemGit(Arc<MemGitState>);

impl MemGit {
    /// Creates a repository without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a repository without commits and refs. The first push creates a ref.
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

    /// Edits the repository. Later fetches see the changes.
    pub fn edit<T>(&self, change: impl FnOnce(&mut MemRepository) -> T) -> T {
        change(&mut self.0.repository.lock())
    }

    /// Returns the requested URLs in order.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.0.asked.lock().iter().map(|asked| asked.url.clone()).collect()
    }

    /// Returns the requested cache ids, one for each of [`urls`](Self::urls).
    #[must_use]
    pub fn cache_ids(&self) -> Vec<Option<String>> {
        self.0.asked.lock().iter().map(|asked| asked.cache_id.clone()).collect()
    }

    /// Returns the pushed commits in order.
    #[must_use]
    pub fn commits(&self) -> Vec<MemCommit> {
        self.0.commits.lock().clone()
    }

    /// Returns the number of fetches. Resolving a ref is not a fetch.
    #[must_use]
    pub fn fetches(&self) -> usize {
        self.0.fetches.load(Ordering::SeqCst)
    }

    /// Returns the number of files read.
    #[must_use]
    pub fn reads(&self) -> usize {
        self.0.reads.load(Ordering::SeqCst)
    }

    /// Holds all further fetches and pushes: they never return.
    pub fn hold(&self) {
        self.0.is_holding.store(true, Ordering::SeqCst);
    }

    /// Waits until at least `fetches` fetches and pushes are held at the same time.
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait without side effects.
    pub async fn wait_until_held(&self, fetches: usize) {
        // `self` owns the sender, so the wait ends only when the number is reached.
        let _ = self.0.held.subscribe().wait_for(|held| *held >= fetches).await;
    }
}

#[async_trait]
impl GitRemote for MemGit {
    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        self.0.record_request(&request.url, request.cache_id.as_ref()).await;
        self.0.fetches.fetch_add(1, Ordering::SeqCst);
        let repository = self.edit(|repository| repository.clone());
        if let Some(failure) = repository.find_failure(&request.url, &request.reference) {
            return Err(failure);
        }
        let large_objects = repository.large_objects.clone();
        let MemBranch { commit, files, links, executables } = repository
            .branch(&request.reference)
            .ok_or_else(|| GitError::NoRef(request.reference.clone()))?;
        let entries = entries(&files, &links, &executables);
        Ok(Box::new(MemCheckout { commit, entries, files, large_objects, shared: Arc::clone(&self.0) }))
    }

    async fn resolve(&self, request: &FetchRequest) -> Result<Option<String>, GitError> {
        self.0.record_request(&request.url, request.cache_id.as_ref()).await;
        self.edit(|repository| match repository.find_failure(&request.url, &request.reference) {
            Some(failure) => Err(failure),
            None => Ok(repository.branch(&request.reference).map(|branch| branch.commit.oid)),
        })
    }

    async fn push(&self, request: &PushRequest, files: &mut dyn PushFiles) -> Result<Commit, GitError> {
        self.0.record_request(&request.url, request.cache_id.as_ref()).await;
        push::push(&self.0, request, files).await
    }
}

struct MemCheckout {
    commit: Commit,
    entries: Vec<RepoEntry>,
    files: BTreeMap<String, Bytes>,
    large_objects: BTreeMap<String, Bytes>,
    shared: Arc<MemGitState>,
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

    async fn large_object(&self, object: &LargeObject) -> Result<Option<Bytes>, GitError> {
        Ok(self.large_objects.get(&object.oid).cloned())
    }
}
