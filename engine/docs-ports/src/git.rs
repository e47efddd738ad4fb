//! Git repositories outside: [`GitRemote`].

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};

/// What is wanted of a repository.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// The repository: an https, http or git URL, or a file URL where the adapter allows it. May hold credentials.
    pub url: String,
    /// The ref in full, like `refs/heads/main`.
    pub reference: String,
    /// A name under which the clone may be kept for the next time.
    pub cache_id: Option<String>,
}

/// A commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its object id: 40 hexadecimal digits.
    pub oid: String,
    /// Its message.
    pub message: String,
    /// When it was committed.
    pub committed_at: DateTime<Utc>,
}

/// What an entry of a commit's tree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoEntryKind {
    /// A file.
    File,
    /// A symbolic link with its target as it is written, unresolved.
    Symlink(String),
    /// Another repository.
    Submodule,
}

/// An entry of a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoEntry {
    /// Its path from the root of the repository, `/` between its parts.
    pub path: String,
    /// The object id of its bytes.
    pub oid: String,
    /// Its size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: RepoEntryKind,
}

/// The files of one commit.
#[async_trait]
pub trait Checkout: Send + Sync {
    /// The commit.
    fn commit(&self) -> &Commit;

    /// All its entries, folders excluded, ordered by path.
    fn entries(&self) -> &[RepoEntry];

    /// Reads a file by its path.
    ///
    /// # Errors
    /// [`GitError::NoSuchFile`] when there is none; [`GitError::Broken`] when the repository is damaged.
    async fn read(&self, path: &str) -> Result<Bytes, GitError>;
}

/// Reads Git repositories that are somewhere else.
///
/// An adapter guards what it connects to: which schemes and addresses are allowed is its configuration.
#[async_trait]
pub trait GitRemote: Send + Sync + 'static {
    /// Refuses what [`fetch`](GitRemote::fetch) would refuse without connecting to anything: a URL that is none, a
    /// scheme or an address that is not allowed, a ref that is no full name.
    ///
    /// # Errors
    /// [`GitError::Url`], [`GitError::Refused`], [`GitError::Ref`].
    fn check(&self, _request: &FetchRequest) -> Result<(), GitError> {
        Ok(())
    }

    /// Fetches the tree of a ref.
    ///
    /// # Errors
    /// Every kind of [`GitError`]. No message holds the URL's credentials.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing behind but a cache.
    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError>;
}

/// Why a repository could not be read. The texts are for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The URL is not one, or of a scheme that is not allowed.
    #[error("url: {0}")]
    Url(String),
    /// The URL leads where this server must not connect.
    #[error("url: {0}")]
    Refused(String),
    /// The host could not be reached, or broke off: may pass.
    #[error("the repository could not be reached: {0}")]
    Unreachable(String),
    /// The host wants other credentials.
    #[error("the repository refused the credentials")]
    Credentials,
    /// There is no repository at the URL.
    #[error("there is no repository at this URL")]
    NoRepository,
    /// The ref is not the full name of one.
    #[error("ref: {0}")]
    Ref(String),
    /// The repository has no such ref.
    #[error("ref: the repository has no `{0}`")]
    NoRef(String),
    /// There is no such file in the commit.
    #[error("the commit has no file `{0}`")]
    NoSuchFile(String),
    /// The repository, or a file, is larger than a limit.
    #[error("{0}")]
    TooLarge(String),
    /// The repository is damaged.
    #[error("the repository cannot be read: {0}")]
    Broken(String),
}

impl GitError {
    /// Tells whether trying again later may help.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}
