//! The files of a commit in a repository.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    rc::Rc,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::DateTime;
use docs_ports::{Checkout, Commit, GitError, LargeObject, RepoEntry, RepoEntryKind};
use git2::{ObjectType, Odb, Oid, Repository, Tree};
use parking_lot::Mutex;

use crate::{
    Limits,
    cancel::{CancelOnDrop, Cancelled},
    clone::RepositoryGuards,
    failure::git_failure,
    lfs::LfsHost,
    listing::{self, MAX_LINK, MAX_PATH},
    meter::{Meter, file_too_large, folders_too_large, repository_too_large},
    objects,
};

/// The files of a commit, read on demand from the repository that it was fetched into.
///
/// Names that are not UTF-8 are skipped and logged, because paths of the platform are text.
pub(crate) struct GitCheckout {
    commit: Commit,
    entries: Vec<RepoEntry>,
    limits: Limits,
    shared: Arc<GuardedRepository>,
    /// The host of the repository, unless it is on disk.
    host: Option<LfsHost>,
}

/// A repository, with the guards that prevent its deletion while it is read.
pub(crate) struct GuardedRepository {
    opened: Mutex<Opened>,
    _held: RepositoryGuards,
}

struct Opened {
    repository: Repository,
    /// The time spent on reading files.
    spent: Duration,
}

impl GuardedRepository {
    pub(crate) fn new(repository: Repository, held: RepositoryGuards) -> Self {
        Self { opened: Mutex::new(Opened { repository, spent: Duration::ZERO }), _held: held }
    }
}

impl GitCheckout {
    /// Lists the files of a commit.
    pub(crate) fn read(
        shared: GuardedRepository,
        id: Oid,
        limits: Limits,
        cancelled: &Cancelled,
    ) -> Result<Self, GitError> {
        let (commit, entries) = {
            let repository = &shared.opened.lock().repository;
            let commit = repository.find_commit(id).map_err(|error| git_failure(&error))?;
            let committed_at = DateTime::from_timestamp(commit.time().seconds(), 0)
                .ok_or_else(|| GitError::Broken("the commit has an invalid date".to_owned()))?;
            let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
            let mut lister = Lister::new(repository, limits, cancelled)?;
            lister.list(commit.tree_id())?;
            if lister.skipped > 0 {
                tracing::warn!(commit = %id, skipped = lister.skipped, "skip names that are not UTF-8");
            }
            let mut entries = lister.entries;
            entries.sort_by(|a, b| a.path.cmp(&b.path));
            (Commit { oid: id.to_string(), message, committed_at }, entries)
        };
        Ok(Self { commit, entries, limits, shared: Arc::new(shared), host: None })
    }

    /// Sets the host that may store large objects of the repository.
    pub(crate) fn with_host(self, host: LfsHost) -> Self {
        Self { host: Some(host), ..self }
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
        let id = Oid::from_str(&entry.oid).map_err(|error| git_failure(&error))?;
        let (shared, longest) = (self.shared.clone(), self.limits.time);
        let work = CancelOnDrop::default();
        let cancelled = work.cancelled();
        listing::blocking(move || shared.opened.lock().read(id, longest, &cancelled)).await
    }

    async fn large_object(&self, object: &LargeObject) -> Result<Option<Bytes>, GitError> {
        match &self.host {
            Some(host) => host.object(object).await,
            None => Ok(None),
        }
    }
}

impl Opened {
    /// Reads a file. Reading an object at the end of a long delta chain is slow, and many paths can share one object,
    /// so the total time of all reads is limited.
    fn read(&mut self, id: Oid, longest: Duration, cancelled: &Cancelled) -> Result<Bytes, GitError> {
        cancelled.check()?;
        if self.spent > longest {
            return Err(GitError::TooLarge(format!(
                "reading the files of a repository must take at most {} seconds",
                longest.as_secs()
            )));
        }
        let begun = Instant::now();
        let odb = self.repository.odb().map_err(|error| git_failure(&error))?;
        let object = odb.read(id).map_err(|error| git_failure(&error))?;
        let bytes = Bytes::copy_from_slice(object.data());
        self.spent = self.spent.saturating_add(begun.elapsed());
        Ok(bytes)
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
/// The mode bits of an executable file.
const EXECUTE: i32 = 0o111;

/// Maximum total size in bytes of the folders of a commit, each counted once. They are held in memory during the
/// listing.
const MAX_FOLDER_BYTES: u64 = 64_000_000;

/// Lists the files of a commit. Each object is read once, because an object at the end of a long delta chain is slow to
/// read.
struct Lister<'a> {
    repository: &'a Repository,
    odb: Odb<'a>,
    limits: Limits,
    cancelled: &'a Cancelled,
    entries: Vec<RepoEntry>,
    /// Number of files and folders visited. The same folder may occur many times, so each occurrence counts.
    visited: usize,
    skipped: usize,
    /// The sizes of files, and their total.
    sizes: HashMap<Oid, u64>,
    bytes: u64,
    folders: HashMap<Oid, Rc<Tree<'a>>>,
    folder_bytes: Meter,
    /// The total size of the paths and of the targets of symbolic links.
    listed: Meter,
    /// The targets of symbolic links. `None` for a target that is not UTF-8.
    links: HashMap<Oid, Option<String>>,
}

impl<'a> Lister<'a> {
    fn new(repository: &'a Repository, limits: Limits, cancelled: &'a Cancelled) -> Result<Self, GitError> {
        Ok(Self {
            repository,
            odb: repository.odb().map_err(|error| git_failure(&error))?,
            limits,
            cancelled,
            entries: Vec::new(),
            visited: 0,
            skipped: 0,
            sizes: HashMap::new(),
            bytes: 0,
            folders: HashMap::new(),
            folder_bytes: Meter::with_error(MAX_FOLDER_BYTES, folders_too_large),
            listed: listing::listed_meter(),
            links: HashMap::new(),
        })
    }

    fn list(&mut self, root: Oid) -> Result<(), GitError> {
        let mut todo = vec![(root, String::new())];
        while let Some((id, folder)) = todo.pop() {
            let tree = self.folder(id)?;
            for entry in &*tree {
                self.cancelled.check()?;
                self.visited += 1;
                if self.visited > self.limits.entries {
                    return Err(listing::too_many(self.limits.entries));
                }
                let Ok(name) = std::str::from_utf8(entry.name_bytes()) else {
                    self.skipped += 1;
                    continue;
                };
                let path = join(&folder, name)?;
                self.listed.add(path.len() as u64)?;
                match entry.filemode_raw() & 0o170_000 {
                    FOLDER => todo.push((entry.id(), path)),
                    SUBMODULE => self.push(path, entry.id(), 0, RepoEntryKind::Submodule),
                    LINK => self.link(path, entry.id())?,
                    _ => {
                        let size = self.size(entry.id())?;
                        let is_executable = entry.filemode_raw() & EXECUTE != 0;
                        let kind =
                            if is_executable { RepoEntryKind::Executable } else { RepoEntryKind::File };
                        self.push(path, entry.id(), size, kind);
                    }
                }
            }
        }
        Ok(())
    }

    fn folder(&mut self, id: Oid) -> Result<Rc<Tree<'a>>, GitError> {
        if let Some(tree) = self.folders.get(&id) {
            return Ok(Rc::clone(tree));
        }
        self.cancelled.check()?;
        let size = objects::check_folder(&self.odb, id, self.limits.object_bytes())?;
        self.folder_bytes.add(size)?;
        let tree = Rc::new(self.repository.find_tree(id).map_err(|error| git_failure(&error))?);
        self.folders.insert(id, Rc::clone(&tree));
        Ok(tree)
    }

    fn link(&mut self, path: String, id: Oid) -> Result<(), GitError> {
        let size = self.size(id)?;
        if size > MAX_LINK {
            return Err(GitError::Broken(format!(
                "the symbolic link `{path}` must be at most {MAX_LINK} bytes"
            )));
        }
        let target = match self.links.entry(id) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(place) => {
                let object = self.odb.read(id).map_err(|error| git_failure(&error))?;
                place.insert(String::from_utf8(object.data().to_vec()).ok()).clone()
            }
        };
        match target {
            Some(target) => {
                self.listed.add(target.len() as u64)?;
                self.push(path, id, size, RepoEntryKind::Symlink(target));
            }
            None => self.skipped += 1,
        }
        Ok(())
    }

    /// Returns the size of a file. The total uncompressed size of all files is limited.
    fn size(&mut self, id: Oid) -> Result<u64, GitError> {
        if let Some(size) = self.sizes.get(&id) {
            return Ok(*size);
        }
        let (size, kind) = self.odb.read_header(id).map_err(|error| git_failure(&error))?;
        if kind != ObjectType::Blob {
            return Err(GitError::Broken("an entry of the commit is not a file".to_owned()));
        }
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        self.sizes.insert(id, size);
        self.bytes = self.bytes.saturating_add(size);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::MAX_LISTED_BYTES;

    fn repository() -> (tempfile::TempDir, Repository, Oid) {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init_bare(folder.path()).unwrap();
        let tree = {
            let blob = repository.blob(b"x").unwrap();
            let mut tree = repository.treebuilder(None).unwrap();
            tree.insert("a.md", blob, 0o100_644).unwrap();
            tree.write().unwrap()
        };
        (folder, repository, tree)
    }

    #[test]
    fn listing_ends_when_its_future_is_dropped() {
        let (_folder, repository, tree) = repository();
        let work = CancelOnDrop::default();
        let cancelled = work.cancelled();
        let list = || Lister::new(&repository, Limits::default(), &cancelled).unwrap().list(tree);
        assert_eq!(list(), Ok(()));
        drop(work);
        assert_eq!(list(), Err(crate::cancel::cancelled()));
    }

    #[test]
    fn reading_ends_when_its_future_is_dropped_or_its_time_is_spent() {
        let (_folder, repository, _) = repository();
        let id = listing::blob_id(b"x").unwrap();
        let mut opened = Opened { repository, spent: Duration::ZERO };
        let minute = Duration::from_secs(60);
        assert_eq!(opened.read(id, minute, &Cancelled::default()), Ok(Bytes::from_static(b"x")));
        assert!(opened.spent > Duration::ZERO);
        opened.spent = Duration::from_secs(61);
        let error = opened.read(id, minute, &Cancelled::default()).unwrap_err();
        assert!(matches!(&error, GitError::TooLarge(why) if why.ends_with("60 seconds")), "{error:?}");
        let work = CancelOnDrop::default();
        let cancelled = work.cancelled();
        drop(work);
        assert_eq!(opened.read(id, minute, &cancelled), Err(crate::cancel::cancelled()));
    }

    #[test]
    fn folders_have_a_limit_in_total() {
        let (_folder, repository, tree) = repository();
        let cancelled = Cancelled::default();
        let mut lister = Lister::new(&repository, Limits::default(), &cancelled).unwrap();
        lister.folder_bytes = Meter::with_error(10, folders_too_large);
        assert!(matches!(lister.list(tree), Err(GitError::TooLarge(why)) if why.contains("folders")));
    }

    /// Writes a folder with 100 entries of one object.
    fn hundred(repository: &Repository, id: Oid, mode: i32) -> Oid {
        let mut tree = repository.treebuilder(None).unwrap();
        for at in 0..100 {
            tree.insert(at.to_string(), id, mode).unwrap();
        }
        tree.write().unwrap()
    }

    fn list_error(repository: &Repository, root: Oid) -> String {
        let cancelled = Cancelled::default();
        let mut lister = Lister::new(repository, Limits::default(), &cancelled).unwrap();
        let error = lister.list(root).unwrap_err();
        let bytes: usize = lister.entries.iter().map(|entry| entry.path.len()).sum();
        assert!(bytes as u64 <= MAX_LISTED_BYTES, "{bytes} bytes");
        error.to_string()
    }

    #[test]
    fn paths_below_shared_folders_have_a_limit_in_total() {
        let (_folder, repository, _) = repository();
        let blob = repository.blob(b"x").unwrap();
        let files = hundred(&repository, blob, 0o100_644);
        let mut root = hundred(&repository, files, FOLDER);
        for _ in 0..15 {
            let mut tree = repository.treebuilder(None).unwrap();
            tree.insert("d".repeat(255), root, FOLDER).unwrap();
            root = tree.write().unwrap();
        }
        let error = list_error(&repository, root);
        assert!(error.ends_with("must be at most 32 MB in total"), "{error}");
    }

    #[test]
    fn shared_targets_of_symbolic_links_have_a_limit_in_total() {
        let (_folder, repository, _) = repository();
        let target = repository.blob("t".repeat(4_000).as_bytes()).unwrap();
        let links = hundred(&repository, target, LINK);
        let error = list_error(&repository, hundred(&repository, links, FOLDER));
        assert!(error.contains("targets of symbolic links"), "{error}");
    }
}
