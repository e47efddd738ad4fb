//! Remote Git repositories: [`GitRemote`].

mod error;
mod push;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};

pub use self::{
    error::{GitError, SourceError},
    push::{MAX_PUSH_PATH, PushFile, PushFiles, PushRequest, Signature, blob_id, check_push_path},
};

/// A request to fetch a ref.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// The URL of the repository. The scheme is https, http or, if the adapter permits it, file. It may contain
    /// credentials.
    pub url: String,
    /// A full ref name, for example `refs/heads/main`, or `HEAD` for the default branch.
    pub reference: String,
    /// The cache key of a clone that later fetches can reuse.
    pub cache_id: Option<String>,
}

/// A commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The object id: 40 hexadecimal digits.
    pub oid: String,
    pub message: String,
    /// The committer date.
    pub committed_at: DateTime<Utc>,
}

/// The kind of a tree entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoEntryKind {
    File,
    /// An executable file.
    Executable,
    /// A symbolic link with its target, unresolved.
    Symlink(String),
    Submodule,
}

impl RepoEntryKind {
    /// Returns `true` for a regular file, executable or not.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self, Self::File | Self::Executable)
    }
}

/// An entry of a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoEntry {
    /// The path from the repository root, with `/` separators.
    pub path: String,
    /// The object id of the content.
    pub oid: String,
    /// The size in bytes.
    pub size: u64,
    pub kind: RepoEntryKind,
}

/// The files of a commit.
#[async_trait]
pub trait Checkout: Send + Sync {
    fn commit(&self) -> &Commit;

    /// All entries except directories, ordered by path.
    fn entries(&self) -> &[RepoEntry];

    /// Reads a file by its path.
    ///
    /// # Errors
    /// [`GitError::NoSuchFile`] when it does not exist; [`GitError::Broken`] when the repository is damaged.
    async fn read(&self, path: &str) -> Result<Bytes, GitError>;

    /// Downloads an object of Git LFS, which the host stores outside the repository. Returns `None` if the host does
    /// not offer it. The default implementation offers none.
    ///
    /// # Errors
    /// [`GitError::TooLarge`] for an object over the size limit of a file; [`GitError::Broken`] when the bytes differ
    /// from the object; otherwise as [`GitRemote::fetch`].
    async fn large_object(&self, _object: &LargeObject) -> Result<Option<Bytes>, GitError> {
        Ok(None)
    }
}

/// An object of Git LFS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeObject {
    /// The SHA-256 hash of the bytes: 64 hexadecimal digits.
    pub oid: String,
    /// The size in bytes.
    pub size: u64,
}

/// The access to a ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitAccess {
    /// Read, by [`GitRemote::fetch`].
    Fetch,
    /// Update, by [`GitRemote::push`].
    Push,
}

/// A client for remote Git repositories.
///
/// An adapter enforces the URL schemes and network addresses that its configuration permits.
#[async_trait]
pub trait GitRemote: Send + Sync + 'static {
    /// Validates the arguments of [`fetch`](GitRemote::fetch) or [`push`](GitRemote::push) without connecting: the URL,
    /// its scheme and network address, and the full ref name.
    ///
    /// # Errors
    /// [`GitError::Url`], [`GitError::Refused`], [`GitError::Ref`].
    fn check(&self, _url: &str, _reference: &str, _access: GitAccess) -> Result<(), GitError> {
        Ok(())
    }

    /// Fetches the tree of a ref. A repository without commits has no refs, including `HEAD`.
    ///
    /// # Errors
    /// Any [`GitError`] except those of a push. Messages never contain credentials of the URL.
    ///
    /// # Cancel safety
    /// Dropping the future has no side effects except on the cache.
    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError>;

    /// Returns the commit that a ref points to, without its files, or `None` if the ref does not exist. The default
    /// implementation fetches, incrementally if the request has a cache key. An adapter that can query refs at lower
    /// cost should override it.
    ///
    /// # Errors
    /// See [`fetch`](GitRemote::fetch).
    async fn resolve(&self, request: &FetchRequest) -> Result<Option<String>, GitError> {
        match self.fetch(request).await {
            Ok(checkout) => Ok(Some(checkout.commit().oid.clone())),
            Err(GitError::NoRef(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a commit with the given files and moves a ref to it, atomically. Returns the commit as a fetch would.
    ///
    /// A push that fails with [`GitError::Unreachable`] may have succeeded if only the response was lost. A later fetch
    /// then finds the commit.
    ///
    /// # Errors
    /// [`GitError::Moved`] if the ref does not point to the expected commit; [`GitError::Rejected`] if the host rejects
    /// the push; [`GitError::Path`] for an invalid file path; [`GitError::Source`] if the files cannot be read; and the
    /// errors of a fetch. Messages never contain credentials of the URL.
    ///
    /// # Cancel safety
    /// If the future is dropped, the push is performed completely or not at all.
    async fn push(&self, request: &PushRequest, files: &mut dyn PushFiles) -> Result<Commit, GitError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejection_reason_is_sanitized_to_one_bounded_line() {
        for (text, words) in [
            ("", "no reason given"),
            (" pre-receive hook\ndeclined\r\n", "pre-receive hook declined"),
            ("\u{1b}[1;31mno\u{1b}[0m pushes\u{7}\u{0}on Fridays\u{1b}[", "no pushes on Fridays"),
            ("a\u{1b}b \u{9b}31m", "a b 31m"),
        ] {
            assert_eq!(GitError::rejected(text), GitError::Rejected(words.to_owned()), "{text:?}");
        }
        for (text, length) in [("ä".repeat(5000), 2000), ("ä ".repeat(5000), 2000), ("ä".repeat(2000), 2000)]
        {
            let GitError::Rejected(words) = GitError::rejected(&text) else { panic!() };
            assert_eq!(words.chars().count(), length);
        }
    }
}
