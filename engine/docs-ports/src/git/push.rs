//! Pushes to remote Git repositories.

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use sha1::{Digest as _, Sha1};

use super::error::GitError;

/// A push of a commit on top of another commit.
///
/// The commit contains the files of its parent without those in `removed`, and the pushed files. An existing regular
/// file keeps its mode. A symbolic link or a submodule is replaced by a regular file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRequest {
    /// The URL of the repository, as in [`FetchRequest::url`](super::FetchRequest::url). It may contain credentials.
    pub url: String,
    /// A full ref name, for example `refs/heads/main`.
    pub reference: String,
    /// The cache key of a clone, shared with fetches of the same repository.
    pub cache_id: Option<String>,
    /// The object id that the ref must currently point to, or `None` if the ref must not exist.
    pub expected: Option<String>,
    /// The object id of the parent commit, or `None` for a root commit, for example in an empty repository.
    ///
    /// If the ref exists, the parent must be the commit that the ref points to, so that a push is always a
    /// fast-forward. Otherwise, it is the commit of another ref.
    pub parent: Option<String>,
    /// The paths of files, symbolic links and submodules to remove. Missing paths and directories are ignored. A
    /// directory disappears with its last file.
    pub removed: Vec<String>,
    pub message: String,
    pub author: Signature,
    pub committer: Signature,
    /// The committer date, in whole seconds.
    pub committed_at: DateTime<Utc>,
}

/// The author or committer of a commit.
///
/// Git does not permit control characters, `<` and `>` in these fields, so an adapter removes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    pub email: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushFile {
    /// The path from the repository root, with `/` separators.
    pub path: String,
    /// The content.
    pub bytes: Bytes,
    /// `true` if a new file is executable. An existing regular file keeps its mode.
    pub is_executable: bool,
}

/// A stream of files to push, which need not be in memory at the same time.
#[async_trait]
pub trait PushFiles: Send {
    /// Returns the next file, or `None` after the last file.
    ///
    /// # Errors
    /// [`GitError::Source`] with the error of the caller. [`push`](super::GitRemote::push) then returns it unchanged
    /// and pushes nothing.
    async fn next(&mut self) -> Result<Option<PushFile>, GitError>;
}

/// Maximum length in bytes of the path of a pushed file.
pub const MAX_PUSH_PATH: usize = 4096;

/// Maximum number of components in the path of a pushed file.
const MAX_PUSH_DEPTH: usize = 256;

/// Validates the path of a file in a commit. Rejects a path that is empty, too long, outside the repository, or through
/// a `.git` directory.
///
/// # Errors
/// [`GitError::Path`].
pub fn check_push_path(path: &str) -> Result<(), GitError> {
    let wrong = |why: &str| Err(GitError::Path(format!("`{}` {why}", path.escape_debug())));
    if path.len() > MAX_PUSH_PATH {
        return Err(GitError::Path(format!("must be at most {MAX_PUSH_PATH} bytes, has {}", path.len())));
    }
    if path.split('/').count() > MAX_PUSH_DEPTH {
        return Err(GitError::Path(format!("must be in at most {} folders", MAX_PUSH_DEPTH - 1)));
    }
    if path.contains('\0') || path.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return wrong("is not a valid path in a repository");
    }
    if path.split('/').any(|name| name.eq_ignore_ascii_case(".git")) {
        return wrong("is in a folder that is reserved for Git");
    }
    Ok(())
}

/// Computes the Git object id of file content: 40 hexadecimal digits, as in [`RepoEntry::oid`](super::RepoEntry::oid).
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
    use super::{super::error::SourceError, *};

    #[test]
    fn blob_id_matches_git() {
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id(b"what is up, doc?"), "bd9dbf5aae1a3862dd1526723246b20206e5fc37");
    }

    #[test]
    fn unsafe_or_too_long_push_paths_are_rejected() {
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
    fn source_error_keeps_its_message_and_identity() {
        let error = GitError::from(SourceError::new(std::io::Error::other("gone")));
        assert_eq!(error.to_string(), "gone");
        assert_eq!(error.clone(), error);
        assert_ne!(error, GitError::from(SourceError::new(std::io::Error::other("gone"))));
    }
}
