//! What is written to Git repositories outside.

use std::{error::Error, fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use sha1::{Digest as _, Sha1};

use super::GitError;

/// What is pushed: a commit on top of another one.
///
/// The commit has the files of its parent, without those that are `removed` and with those that come with the push. A
/// file that was there keeps its mode where it is one; a symbolic link or a submodule that a file is pushed to becomes
/// a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRequest {
    /// The repository, as in [`FetchRequest::url`](super::FetchRequest::url). May hold credentials.
    pub url: String,
    /// The ref in full, like `refs/heads/main`.
    pub reference: String,
    /// A name under which a clone may be kept for the next time: that of fetches of the same repository.
    pub cache_id: Option<String>,
    /// The object id that the ref must point at for the push to happen; `None`: the ref must not exist yet.
    pub expected: Option<String>,
    /// The object id of the commit that the new one is made on; `None`: it has no parent, as in an empty repository.
    ///
    /// Where the ref exists, this is what it points at: a push is always a fast-forward. Where it does not, this is
    /// what another ref points at.
    pub parent: Option<String>,
    /// The paths of files, symbolic links and submodules that are taken out. What is not there is passed over, and so
    /// is a folder: it goes with the last file in it.
    pub removed: Vec<String>,
    /// The message of the commit.
    pub message: String,
    /// Who wrote what is pushed.
    pub author: Signature,
    /// Who commits it.
    pub committer: Signature,
    /// When it is committed, to the second.
    pub committed_at: DateTime<Utc>,
}

/// Who wrote a commit, or committed it.
///
/// Git keeps no control characters and no `<` and `>` in either of the two: an adapter leaves them out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The address for mail.
    pub email: String,
}

/// A file that is pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushFile {
    /// Its path from the root of the repository, `/` between its parts.
    pub path: String,
    /// What it holds.
    pub bytes: Bytes,
}

/// Files that are pushed, one after the other, so that not all of them are in memory at once.
#[async_trait]
pub trait PushFiles: Send {
    /// The next file; `None` after the last.
    ///
    /// # Errors
    /// [`GitError::Source`], with the reason of whoever pushes: it comes back from
    /// [`push`](super::GitRemote::push) as it is, and nothing is pushed.
    async fn next(&mut self) -> Result<Option<PushFile>, GitError>;
}

/// Why the files of a push could not be read: the reason of whoever pushes, to be taken out again.
///
/// Two are equal when they are clones of one.
///
/// ```
/// use docs_ports::{GitError, SourceError};
///
/// let error = GitError::from(SourceError::new(std::io::Error::other("the disk is gone")));
/// let GitError::Source(reason) = error else { unreachable!() };
/// assert_eq!(reason.downcast_ref::<std::io::Error>().map(|it| it.to_string()).as_deref(), Some("the disk is gone"));
/// ```
#[derive(Clone)]
pub struct SourceError(Arc<dyn Error + Send + Sync>);

/// Longest path of a file that is pushed, in bytes.
pub const MAX_PUSH_PATH: usize = 4096;

/// Most parts of such a path.
const MAX_PUSH_DEPTH: usize = 256;

impl SourceError {
    /// Keeps a reason.
    #[must_use]
    pub fn new(reason: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(reason))
    }

    /// The reason, when it is of this type.
    #[must_use]
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl From<SourceError> for GitError {
    fn from(reason: SourceError) -> Self {
        Self::Source(reason)
    }
}

impl PartialEq for SourceError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SourceError {}

impl fmt::Debug for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Refuses what cannot be the path of a file in a commit: one that is empty, too long or leads elsewhere, and every
/// path through a folder of Git's own.
///
/// # Errors
/// [`GitError::Path`].
pub fn check_push_path(path: &str) -> Result<(), GitError> {
    let wrong = |why: &str| Err(GitError::Path(format!("`{}` {why}", path.escape_debug())));
    if path.len() > MAX_PUSH_PATH {
        return Err(GitError::Path(format!(
            "at most {MAX_PUSH_PATH} bytes are allowed, one has {}",
            path.len()
        )));
    }
    if path.split('/').count() > MAX_PUSH_DEPTH {
        return Err(GitError::Path(format!("a file may be in at most {} folders", MAX_PUSH_DEPTH - 1)));
    }
    if path.contains('\0') || path.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return wrong("is not a path in a repository");
    }
    if path.split('/').any(|name| name.eq_ignore_ascii_case(".git")) {
        return wrong("is in a folder that Git keeps for itself");
    }
    Ok(())
}

/// The object id that Git gives to the bytes of a file: 40 hexadecimal digits, as in
/// [`RepoEntry::oid`](super::RepoEntry::oid).
///
/// ```
/// assert_eq!(docs_ports::blob_id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
/// ```
#[must_use]
pub fn blob_id(bytes: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_has_the_id_that_git_gives_it() {
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id(b"what is up, doc?"), "bd9dbf5aae1a3862dd1526723246b20206e5fc37");
    }

    #[test]
    fn a_path_leads_to_a_file_of_the_repository() {
        for path in ["a", "a/b.md", ".gitbook.yaml", "a b/ä.md", "...", ".gitignore"] {
            assert_eq!(check_push_path(path), Ok(()), "{path}");
        }
        assert_eq!(check_push_path(&vec!["a"; MAX_PUSH_DEPTH].join("/")), Ok(()));
        let deep = vec!["a"; MAX_PUSH_DEPTH + 1].join("/");
        let long = "a".repeat(MAX_PUSH_PATH + 1);
        for path in [
            "",
            "/a",
            "a/",
            "a//b",
            "..",
            "a/../b",
            "./a",
            "a\0b",
            ".git/config",
            "a/.GIT/hooks/x",
            &long,
            &deep,
        ] {
            assert!(matches!(check_push_path(path), Err(GitError::Path(_))), "{path}");
        }
    }

    #[test]
    fn the_reason_of_the_caller_comes_back_as_it_was() {
        let error = GitError::from(SourceError::new(std::io::Error::other("gone")));
        assert_eq!(error.to_string(), "gone");
        assert_eq!(error.clone(), error);
        assert_ne!(error, GitError::from(SourceError::new(std::io::Error::other("gone"))));
    }
}
