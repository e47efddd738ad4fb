//! Checkouts under their own URLs.

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use docs_ports::{
    Checkout, Commit, FetchRequest, GitAccess, GitError, GitRemote, PushFiles, PushRequest, RepoEntry,
};

/// A read-only remote that serves checkouts by URL, and delegates all other URLs to another remote.
///
/// A server uses it for embedded content and for folders on its own disk. Any user who may import from a URL can import
/// these checkouts by their URL, so give private checkouts a URL that cannot be guessed.
///
/// ```
/// use docs_git::{EmbeddedCheckout, LocalRemote};
///
/// let files = [("README.md", "# Hello\n")];
/// let handbook = EmbeddedCheckout::new("The handbook", chrono::DateTime::UNIX_EPOCH, files)?;
/// let remote = LocalRemote::new().with_checkout("builtin:handbook", "refs/heads/main", handbook);
/// # Ok::<(), docs_ports::GitError>(())
/// ```
#[derive(Clone, Default)]
pub struct LocalRemote {
    checkouts: BTreeMap<String, BTreeMap<String, Arc<dyn Checkout>>>,
    otherwise: Option<Arc<dyn GitRemote>>,
}

impl LocalRemote {
    /// Creates a remote without checkouts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a checkout under a URL and a ref. The URL can be any text, and takes precedence over the other remote.
    #[must_use]
    pub fn with_checkout(mut self, url: &str, reference: &str, checkout: impl Checkout + 'static) -> Self {
        let refs = self.checkouts.entry(url.to_owned()).or_default();
        refs.insert(reference.to_owned(), Arc::new(checkout));
        self
    }

    /// Delegates all other URLs to another remote.
    #[must_use]
    pub fn or(mut self, otherwise: impl GitRemote) -> Self {
        self.otherwise = Some(Arc::new(otherwise));
        self
    }
}

#[async_trait]
impl GitRemote for LocalRemote {
    fn check(&self, url: &str, reference: &str, access: GitAccess) -> Result<(), GitError> {
        match (self.checkouts.get(url), &self.otherwise) {
            (Some(_), _) if access == GitAccess::Push => Err(read_only()),
            (Some(refs), _) if refs.contains_key(reference) => Ok(()),
            (Some(_), _) => Err(GitError::NoRef(reference.to_owned())),
            (None, Some(otherwise)) => otherwise.check(url, reference, access),
            (None, None) => Err(GitError::NoRepository),
        }
    }

    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        match (self.checkouts.get(&request.url), &self.otherwise) {
            (Some(refs), _) => match refs.get(&request.reference) {
                Some(checkout) => Ok(Box::new(SharedCheckout(checkout.clone()))),
                None => Err(GitError::NoRef(request.reference.clone())),
            },
            (None, Some(otherwise)) => otherwise.fetch(request).await,
            (None, None) => Err(GitError::NoRepository),
        }
    }

    async fn resolve(&self, request: &FetchRequest) -> Result<Option<String>, GitError> {
        match (self.checkouts.get(&request.url), &self.otherwise) {
            (Some(refs), _) => Ok(refs.get(&request.reference).map(|checkout| checkout.commit().oid.clone())),
            (None, Some(otherwise)) => otherwise.resolve(request).await,
            (None, None) => Err(GitError::NoRepository),
        }
    }

    async fn push(&self, request: &PushRequest, files: &mut dyn PushFiles) -> Result<Commit, GitError> {
        match (self.checkouts.contains_key(&request.url), &self.otherwise) {
            (true, _) => Err(read_only()),
            (false, Some(otherwise)) => otherwise.push(request, files).await,
            (false, None) => Err(GitError::NoRepository),
        }
    }
}

fn read_only() -> GitError {
    GitError::Refused("cannot push to a repository that is part of this server".to_owned())
}

impl fmt::Debug for LocalRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRemote").field("checkouts", &self.checkouts.len()).finish_non_exhaustive()
    }
}

/// A checkout shared by many fetches.
struct SharedCheckout(Arc<dyn Checkout>);

#[async_trait]
impl Checkout for SharedCheckout {
    fn commit(&self) -> &Commit {
        self.0.commit()
    }

    fn entries(&self) -> &[RepoEntry] {
        self.0.entries()
    }

    async fn read(&self, path: &str) -> Result<Bytes, GitError> {
        self.0.read(path).await
    }
}
