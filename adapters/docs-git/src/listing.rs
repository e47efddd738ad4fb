//! Code shared by all checkouts.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_ports::{Commit, GitError, RepoEntry, RepoEntryKind};
use git2::{ObjectType, Oid};

use crate::meter::{Meter, paths_too_long};

/// Maximum length of the path of an entry, in bytes.
pub(crate) const MAX_PATH: usize = 4096;

/// Maximum length of the target of a symbolic link, in bytes.
pub(crate) const MAX_LINK: u64 = 4096;

/// Maximum total size in bytes of the paths of all files and folders and of the targets of all symbolic links, each
/// counted as often as it occurs. An import holds several copies of them.
pub(crate) const MAX_LISTED_BYTES: u64 = 32_000_000;

/// Creates the meter of a listing.
pub(crate) fn listed_meter() -> Meter {
    Meter::with_error(MAX_LISTED_BYTES, paths_too_long)
}

/// Returns the file at a path. The entries must be sorted.
pub(crate) fn file<'a>(entries: &'a [RepoEntry], path: &str) -> Result<&'a RepoEntry, GitError> {
    entries
        .binary_search_by(|entry| entry.path.as_str().cmp(path))
        .ok()
        .and_then(|place| entries.get(place))
        .filter(|entry| entry.kind.is_file())
        .ok_or_else(|| GitError::NoSuchFile(path.to_owned()))
}

/// Runs blocking disk access on a blocking thread.
pub(crate) async fn blocking<T: Send + 'static>(
    run: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    match tokio::task::spawn_blocking(run).await {
        Ok(result) => result,
        Err(error) => Err(GitError::Broken(format!("failed to read the file: {error}"))),
    }
}

/// Returns the Git object id of a blob.
pub(crate) fn blob_id(bytes: &[u8]) -> Result<Oid, GitError> {
    Oid::hash_object(ObjectType::Blob, bytes).map_err(|error| crate::failure::git_failure(&error))
}

/// Creates a commit for files that are not in Git.
///
/// The id is the SHA-1 of the sorted list of entries with kind, object id and path. Equal files have equal ids
/// independent of their location, so an import can detect that nothing has changed.
pub(crate) fn commit(
    entries: &[RepoEntry],
    message: String,
    committed_at: DateTime<Utc>,
) -> Result<Commit, GitError> {
    let mut list = String::new();
    for RepoEntry { path, oid, kind, .. } in entries {
        let kind = match kind {
            RepoEntryKind::File => "file",
            RepoEntryKind::Executable => "executable",
            RepoEntryKind::Symlink(_) => "link",
            RepoEntryKind::Submodule => "module",
        };
        list.push_str(&format!("{kind} {oid} {path}\0"));
    }
    Ok(Commit { oid: blob_id(list.as_bytes())?.to_string(), message, committed_at })
}

pub(crate) fn too_many(limit: usize) -> GitError {
    GitError::TooLarge(format!("a repository must have at most {limit} files and folders"))
}

pub(crate) fn path_too_long() -> GitError {
    GitError::TooLarge(format!("the path of a file must be at most {MAX_PATH} bytes"))
}

/// Checks that the bytes match the listed entry.
pub(crate) fn verify_unchanged(entry: &RepoEntry, bytes: Vec<u8>) -> Result<Bytes, GitError> {
    if blob_id(&bytes)?.to_string() == entry.oid {
        Ok(Bytes::from(bytes))
    } else {
        Err(GitError::Broken(format!("the file `{}` has changed since it was listed", entry.path)))
    }
}
