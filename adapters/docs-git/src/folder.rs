//! Checkouts of folders and files that are not in Git.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs, io,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_ports::{Checkout, Commit, GitError, RepoEntry, RepoEntryKind};

use crate::{
    Limits,
    listing::{self, MAX_LINK, MAX_PATH},
    meter::{Meter, file_too_large},
};

/// A folder on a disk, presented as a commit.
///
/// Entries have the object ids of Git. The commit id is the SHA-1 of the list of entries, so it changes only when a
/// path or content changes. The date of the commit is that of the newest file. Folders named `.git`, names that are not
/// UTF-8, and special files are skipped. Symbolic links are listed but never followed.
#[derive(Clone, Debug)]
pub struct FolderCheckout {
    folder: PathBuf,
    commit: Commit,
    entries: Vec<RepoEntry>,
    limits: Limits,
}

impl FolderCheckout {
    /// Lists a folder. Each file is read once to compute its id. A file that changes later can no longer be read.
    ///
    /// # Errors
    /// [`GitError::NoRepository`] if the folder does not exist; [`GitError::TooLarge`] if a file or the number of
    /// entries exceeds the limits; [`GitError::Broken`] if an entry cannot be read.
    ///
    /// # Cancel safety
    /// This method is cancel safe: it changes nothing.
    pub async fn open(folder: impl Into<PathBuf>, limits: Limits) -> Result<Self, GitError> {
        let folder = folder.into();
        listing::blocking(move || {
            let folder = match fs::canonicalize(&folder) {
                Ok(folder) if folder.is_dir() => folder,
                _ => return Err(GitError::NoRepository),
            };
            let mut lister = Lister::new(limits);
            lister.list(&folder)?;
            let mut entries = lister.entries;
            entries.sort_by(|a, b| a.path.cmp(&b.path));
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let commit = listing::commit(&entries, format!("The folder {name}"), lister.newest)?;
            Ok(Self { folder, commit, entries, limits })
        })
        .await
    }
}

#[async_trait]
impl Checkout for FolderCheckout {
    fn commit(&self) -> &Commit {
        &self.commit
    }

    fn entries(&self) -> &[RepoEntry] {
        &self.entries
    }

    async fn read(&self, path: &str) -> Result<Bytes, GitError> {
        let entry = listing::file(&self.entries, path)?.clone();
        let file = self.folder.join(path);
        let limit = self.limits.file_bytes;
        listing::blocking(move || {
            let bytes = read_file(&file, &entry.path, limit)?;
            listing::verify_unchanged(&entry, bytes)
        })
        .await
    }
}

/// Files in memory, for example embedded in a program, presented as a commit.
///
/// ```
/// use docs_ports::Checkout as _;
/// use docs_git::EmbeddedCheckout;
///
/// let files = [("README.md", "# Hello\n")];
/// let checkout = EmbeddedCheckout::new("The handbook", chrono::DateTime::UNIX_EPOCH, files)?;
/// assert_eq!(checkout.entries()[0].path, "README.md");
/// # Ok::<(), docs_ports::GitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EmbeddedCheckout {
    commit: Commit,
    entries: Vec<RepoEntry>,
    files: BTreeMap<String, Bytes>,
}

impl EmbeddedCheckout {
    /// Creates a checkout from files by path, in any order. Ids are computed as in [`FolderCheckout`].
    ///
    /// # Errors
    /// [`GitError::Broken`] if a path is duplicate or not a valid path in a repository.
    pub fn new(
        message: &str,
        committed_at: DateTime<Utc>,
        files: impl IntoIterator<Item = (impl Into<String>, impl Into<Bytes>)>,
    ) -> Result<Self, GitError> {
        let mut kept = BTreeMap::new();
        for (path, bytes) in files {
            let path = path.into();
            if path.split('/').any(|name| matches!(name, "" | "." | "..")) {
                return Err(GitError::Broken(format!("`{path}` is not a valid path in a repository")));
            }
            match kept.entry(path) {
                Entry::Vacant(entry) => _ = entry.insert(bytes.into()),
                Entry::Occupied(entry) => {
                    return Err(GitError::Broken(format!("`{}` is a duplicate", entry.key())));
                }
            }
        }
        let entry = |(path, bytes): (&String, &Bytes)| {
            Ok(RepoEntry {
                path: path.clone(),
                oid: listing::blob_id(bytes)?.to_string(),
                size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                kind: RepoEntryKind::File,
            })
        };
        let entries = kept.iter().map(entry).collect::<Result<Vec<_>, GitError>>()?;
        let commit = listing::commit(&entries, message.to_owned(), committed_at)?;
        Ok(Self { commit, entries, files: kept })
    }
}

#[async_trait]
impl Checkout for EmbeddedCheckout {
    fn commit(&self) -> &Commit {
        &self.commit
    }

    fn entries(&self) -> &[RepoEntry] {
        &self.entries
    }

    async fn read(&self, path: &str) -> Result<Bytes, GitError> {
        self.files.get(path).cloned().ok_or_else(|| GitError::NoSuchFile(path.to_owned()))
    }
}

struct Lister {
    limits: Limits,
    entries: Vec<RepoEntry>,
    visited: usize,
    /// The total size of the paths and of the targets of symbolic links.
    listed: Meter,
    newest: DateTime<Utc>,
}

impl Lister {
    fn new(limits: Limits) -> Self {
        let (entries, listed) = (Vec::new(), listing::listed_meter());
        Self { limits, entries, visited: 0, listed, newest: DateTime::UNIX_EPOCH }
    }

    fn list(&mut self, root: &Path) -> Result<(), GitError> {
        let mut todo = vec![(root.to_owned(), String::new())];
        while let Some((folder, prefix)) = todo.pop() {
            for entry in fs::read_dir(&folder).map_err(|error| unreadable_error(&prefix, &error))? {
                let entry = entry.map_err(|error| unreadable_error(&prefix, &error))?;
                self.visited += 1;
                if self.visited > self.limits.entries {
                    return Err(listing::too_many(self.limits.entries));
                }
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                    tracing::warn!(folder = %folder.display(), "skip name that is not UTF-8");
                    continue;
                };
                let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
                if path.len() > MAX_PATH {
                    return Err(listing::path_too_long());
                }
                self.listed.add(path.len() as u64)?;
                let kind = entry.file_type().map_err(|error| unreadable_error(&path, &error))?;
                if name == ".git" {
                    // A Git folder, or the `.git` file of a worktree.
                } else if kind.is_dir() {
                    todo.push((entry.path(), path));
                } else if kind.is_symlink() {
                    self.link(&entry.path(), path)?;
                } else if kind.is_file() {
                    self.file(&entry, path)?;
                } else {
                    tracing::warn!(path, "skip entry that is not a file or folder");
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, entry: &fs::DirEntry, path: String) -> Result<(), GitError> {
        let bytes = read_file(&entry.path(), &path, self.limits.file_bytes)?;
        if let Ok(changed) = entry.metadata().and_then(|metadata| metadata.modified()) {
            self.newest = self.newest.max(DateTime::from(changed));
        }
        let kind = if is_executable(entry) { RepoEntryKind::Executable } else { RepoEntryKind::File };
        self.push(path, &bytes, kind)
    }

    fn link(&mut self, file: &Path, path: String) -> Result<(), GitError> {
        let target = fs::read_link(file).map_err(|error| unreadable_error(&path, &error))?;
        match target.to_str() {
            Some(target) if target.len() as u64 <= MAX_LINK => {
                self.listed.add(target.len() as u64)?;
                self.push(path, target.as_bytes(), RepoEntryKind::Symlink(target.to_owned()))
            }
            _ => {
                tracing::warn!(path, "skip symbolic link with an invalid target");
                Ok(())
            }
        }
    }

    fn push(&mut self, path: String, bytes: &[u8], kind: RepoEntryKind) -> Result<(), GitError> {
        let oid = listing::blob_id(bytes)?.to_string();
        self.entries.push(RepoEntry {
            path,
            oid,
            size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            kind,
        });
        Ok(())
    }
}

#[cfg(unix)]
fn is_executable(entry: &fs::DirEntry) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    entry.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

/// Other file systems do not record the mode of a file in a repository.
#[cfg(not(unix))]
fn is_executable(_entry: &fs::DirEntry) -> bool {
    false
}

/// Reads a file. A symbolic link that has replaced it is not followed.
fn read_file(file: &Path, path: &str, limit: u64) -> Result<Vec<u8>, GitError> {
    let metadata = fs::symlink_metadata(file).map_err(|error| unreadable_error(path, &error))?;
    if !metadata.is_file() {
        return Err(GitError::NoSuchFile(path.to_owned()));
    }
    if metadata.len() > limit {
        return Err(file_too_large(path, metadata.len(), limit));
    }
    fs::read(file).map_err(|error| unreadable_error(path, &error))
}

fn unreadable_error(path: &str, error: &io::Error) -> GitError {
    GitError::Broken(format!("`{path}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_folder_have_a_limit_in_total() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("abcd"), "x").unwrap();
        fs::create_dir(folder.path().join("efgh")).unwrap();
        let list = |bytes| {
            let listed = Meter::with_error(bytes, crate::meter::paths_too_long);
            Lister { listed, ..Lister::new(Limits::default()) }.list(folder.path())
        };
        assert_eq!(list(8), Ok(()));
        assert!(matches!(list(7), Err(GitError::TooLarge(why)) if why.contains("paths")));
    }
}
