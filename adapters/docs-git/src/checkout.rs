//! The files of a commit in a repository.

use std::{collections::HashSet, fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::DateTime;
use docs_ports::{Checkout, Commit, GitError, RepoEntry, RepoEntryKind};
use git2::{ObjectType, Odb, Oid, Repository};
use parking_lot::Mutex;

use crate::{
    Limits,
    clone::Held,
    failure::broken,
    listing::{self, MAX_LINK, MAX_PATH},
    meter::{file_too_large, repository_too_large},
    objects,
};

/// The files of a commit, read on demand from the repository that it was fetched into.
///
/// Names that are not UTF-8 are skipped and logged, because paths of the platform are text.
pub(crate) struct GitCheckout {
    commit: Commit,
    entries: Vec<RepoEntry>,
    limits: Limits,
    shared: Arc<Shared>,
}

/// A repository, with the guards that keep it in place while it is read.
pub(crate) struct Shared {
    repository: Mutex<Repository>,
    _held: Held,
}

impl Shared {
    pub(crate) fn new(repository: Repository, held: Held) -> Self {
        Self { repository: Mutex::new(repository), _held: held }
    }
}

impl GitCheckout {
    /// Lists the files of a commit.
    pub(crate) fn read(shared: Shared, id: Oid, limits: Limits) -> Result<Self, GitError> {
        let (commit, entries) = {
            let repository = shared.repository.lock();
            let commit = repository.find_commit(id).map_err(|error| broken(&error))?;
            let committed_at = DateTime::from_timestamp(commit.time().seconds(), 0)
                .ok_or_else(|| GitError::Broken("the commit has an invalid date".to_owned()))?;
            let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
            let mut lister = Lister::new(&repository, limits)?;
            lister.list(commit.tree_id())?;
            if lister.skipped > 0 {
                tracing::warn!(commit = %id, skipped = lister.skipped, "skip names that are not UTF-8");
            }
            let mut entries = lister.entries;
            entries.sort_by(|a, b| a.path.cmp(&b.path));
            (Commit { oid: id.to_string(), message, committed_at }, entries)
        };
        Ok(Self { commit, entries, limits, shared: Arc::new(shared) })
    }
}

#[async_trait]
impl Checkout for GitCheckout {
    fn commit(&self) -> &Commit {
        &self.commit
    }

    fn entries(&self) -> &[RepoEntry] {
        &self.entries
    }

    async fn read(&self, path: &str) -> Result<Bytes, GitError> {
        let entry = listing::file(&self.entries, path)?;
        if entry.size > self.limits.file_bytes {
            return Err(file_too_large(path, entry.size, self.limits.file_bytes));
        }
        let id = Oid::from_str(&entry.oid).map_err(|error| broken(&error))?;
        let shared = self.shared.clone();
        listing::blocking(move || {
            let repository = shared.repository.lock();
            let odb = repository.odb().map_err(|error| broken(&error))?;
            let object = odb.read(id).map_err(|error| broken(&error))?;
            Ok(Bytes::copy_from_slice(object.data()))
        })
        .await
    }
}

impl fmt::Debug for GitCheckout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitCheckout").field("commit", &self.commit.oid).finish_non_exhaustive()
    }
}

const FOLDER: i32 = 0o040_000;
const LINK: i32 = 0o120_000;
const SUBMODULE: i32 = 0o160_000;

struct Lister<'a> {
    repository: &'a Repository,
    odb: Odb<'a>,
    limits: Limits,
    entries: Vec<RepoEntry>,
    /// Number of files and folders visited. The same folder may occur many times, so each occurrence counts.
    visited: usize,
    skipped: usize,
    /// Files that are counted, each one once, their total size, and the folders already checked.
    counted: HashSet<Oid>,
    bytes: u64,
}

impl<'a> Lister<'a> {
    fn new(repository: &'a Repository, limits: Limits) -> Result<Self, GitError> {
        let odb = repository.odb().map_err(|error| broken(&error))?;
        let (entries, counted) = (Vec::new(), HashSet::new());
        Ok(Self { repository, odb, limits, entries, visited: 0, skipped: 0, counted, bytes: 0 })
    }

    fn list(&mut self, root: Oid) -> Result<(), GitError> {
        let mut todo = vec![(root, String::new())];
        while let Some((id, folder)) = todo.pop() {
            if self.counted.insert(id) {
                objects::check_folder(&self.odb, id, self.limits.object_bytes())?;
            }
            let tree = self.repository.find_tree(id).map_err(|error| broken(&error))?;
            for entry in &tree {
                self.visited += 1;
                if self.visited > self.limits.entries {
                    return Err(listing::too_many(self.limits.entries));
                }
                let Ok(name) = std::str::from_utf8(entry.name_bytes()) else {
                    self.skipped += 1;
                    continue;
                };
                let path = join(&folder, name)?;
                match entry.filemode_raw() & 0o170_000 {
                    FOLDER => todo.push((entry.id(), path)),
                    SUBMODULE => self.push(path, entry.id(), 0, RepoEntryKind::Submodule),
                    LINK => self.link(path, entry.id())?,
                    _ => {
                        let size = self.size(entry.id())?;
                        self.push(path, entry.id(), size, RepoEntryKind::File);
                    }
                }
            }
        }
        Ok(())
    }

    fn link(&mut self, path: String, id: Oid) -> Result<(), GitError> {
        let size = self.size(id)?;
        if size > MAX_LINK {
            return Err(GitError::Broken(format!(
                "the symbolic link `{path}` must be at most {MAX_LINK} bytes"
            )));
        }
        let target = self.odb.read(id).map_err(|error| broken(&error))?.data().to_vec();
        match String::from_utf8(target) {
            Ok(target) => self.push(path, id, size, RepoEntryKind::Symlink(target)),
            Err(_) => self.skipped += 1,
        }
        Ok(())
    }

    /// Returns the size of a file. The total size of all files is limited, independent of their compressed size.
    fn size(&mut self, id: Oid) -> Result<u64, GitError> {
        let (size, kind) = self.odb.read_header(id).map_err(|error| broken(&error))?;
        if kind != ObjectType::Blob {
            return Err(GitError::Broken("an entry of the commit is not a file".to_owned()));
        }
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        if self.counted.insert(id) {
            self.bytes = self.bytes.saturating_add(size);
        }
        if self.bytes > self.limits.total_bytes {
            return Err(repository_too_large(self.limits.total_bytes));
        }
        Ok(size)
    }

    fn push(&mut self, path: String, id: Oid, size: u64, kind: RepoEntryKind) {
        self.entries.push(RepoEntry { path, oid: id.to_string(), size, kind });
    }
}

fn join(folder: &str, name: &str) -> Result<String, GitError> {
    if name.is_empty() || matches!(name, "." | "..") || name.contains(['/', '\0']) {
        return Err(GitError::Broken("the commit has a file name that leaves the repository".to_owned()));
    }
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    if path.len() > MAX_PATH { Err(listing::path_too_long()) } else { Ok(path) }
}
