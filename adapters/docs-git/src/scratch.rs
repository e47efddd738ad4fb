//! Temporary clones, deleted with their checkout. They are stored in a process folder with a locked file, so that the
//! folders of crashed processes can be detected and deleted.

use std::{
    collections::HashMap,
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use docs_web::Credentials;
use git2::Oid;
use parking_lot::Mutex;
use tempfile::TempDir;

/// Name prefix of process folders.
const FOLDER_PREFIX: &str = "docs-git-";
/// The file in a process folder that the process locks.
const LOCK_FILE: &str = "in-use";
/// Maximum number of attempts to create a folder. Another process may delete a new folder because it considers it
/// abandoned.
const MAX_CREATE_ATTEMPTS: usize = 8;

/// The location of temporary clones.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// The folder that contains the process folder.
    parent: PathBuf,
    own: Mutex<Option<Arc<ProcessFolder>>>,
    /// Clones in use.
    open: Mutex<HashMap<blake3::Hash, Weak<TemporaryClone>>>,
}

#[derive(Debug)]
struct ProcessFolder {
    folder: TempDir,
    _lock: File,
}

#[derive(Debug)]
pub(crate) struct TemporaryClone {
    folder: TempDir,
    _own: Arc<ProcessFolder>,
}

impl TemporaryClone {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Scratch {
    /// Uses the temporary folder of the system.
    pub(crate) fn system_temp() -> Self {
        Self::new(env::temp_dir())
    }

    /// Uses a parent folder, and deletes the folders of crashed processes in it.
    pub(crate) fn new(parent: PathBuf) -> Self {
        delete_orphans(&parent);
        Self { parent, own: Mutex::default(), open: Mutex::default() }
    }

    /// Creates an empty folder for a clone.
    pub(crate) fn clone_folder(&self) -> io::Result<Arc<TemporaryClone>> {
        let own = {
            let mut own = self.own.lock();
            match &*own {
                Some(own) => Arc::clone(own),
                None => Arc::clone(own.insert(Arc::new(begin(&self.parent)?))),
            }
        };
        Ok(Arc::new(TemporaryClone { folder: TempDir::new_in(own.folder.path())?, _own: own }))
    }

    /// Registers a clone by its repository and commit, so that concurrent requests for the same commit can share it.
    pub(crate) fn note(&self, source: &CloneKey, commit: Oid, clone: &Arc<TemporaryClone>) {
        let mut open = self.open.lock();
        open.retain(|_, clone| clone.strong_count() > 0);
        open.insert(source.name(commit), Arc::downgrade(clone));
    }

    /// Returns a clone in use that contains a commit.
    pub(crate) fn find(&self, source: &CloneKey, commit: Oid) -> Option<Arc<TemporaryClone>> {
        self.open.lock().get(&source.name(commit)).and_then(Weak::upgrade)
    }
}

/// The source of a clone, including the credentials that fetched it. Other users must fetch the repository themselves.
#[derive(Debug)]
pub(crate) struct CloneKey {
    hasher: blake3::Hasher,
}

impl CloneKey {
    pub(crate) fn new(identity: &str, credentials: Option<&Credentials>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("docs-git clones that are read");
        let none = Credentials { user: String::new(), password: String::new() };
        let Credentials { user, password } = credentials.unwrap_or(&none);
        for part in [identity, user, password] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self { hasher }
    }

    fn name(&self, commit: Oid) -> blake3::Hash {
        self.hasher.clone().update(commit.as_bytes()).finalize()
    }
}

/// Creates the folder of this process.
fn begin(parent: &Path) -> io::Result<ProcessFolder> {
    docs_disk::create_folder(parent)?;
    for _ in 0..MAX_CREATE_ATTEMPTS {
        let folder = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir_in(parent)?;
        let lock = docs_disk::create_new_file(&folder.path().join(LOCK_FILE))?;
        // Another process that deletes orphaned folders may hold the lock briefly, and then delete the folder.
        if lock.try_lock().is_ok() && folder.path().join(LOCK_FILE).exists() {
            return Ok(ProcessFolder { folder, _lock: lock });
        }
    }
    Err(io::Error::other("other processes keep removing the scratch folder"))
}

/// Deletes the folders of terminated processes. Folders that cannot be deleted belong to other users.
fn delete_orphans(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(FOLDER_PREFIX))
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_one {
            continue;
        }
        let path = entry.path();
        let Ok(lock) = File::open(path.join(LOCK_FILE)) else { continue };
        if lock.try_lock().is_ok() {
            match fs::remove_dir_all(&path) {
                Ok(()) => tracing::info!(folder = %path.display(), "remove clones of ended processes"),
                Err(error) => tracing::debug!(%error, folder = %path.display(), "failed to remove clones of \
                                                                                 an ended process"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_crashed_processes_are_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        for name in ["docs-git-dead", "docs-git-other", "mine"] {
            fs::create_dir_all(at(name).join("clone")).unwrap();
        }
        for name in ["docs-git-dead", "mine"] {
            File::create(at(name).join(LOCK_FILE)).unwrap();
        }
        let living = Scratch::new(at(""));
        let clone = living.clone_folder().unwrap();
        let next = Scratch::new(at(""));
        assert!(!at("docs-git-dead").exists());
        assert!(at("docs-git-other").exists() && at("mine").exists(), "what is not known to be one stays");
        assert!(clone.path().exists(), "the process lives");
        drop(living);
        assert!(clone.path().exists(), "somebody reads it");
        let path = clone.path().to_owned();
        drop(clone);
        assert!(!path.exists() && !path.parent().unwrap().exists());
        drop(next);
    }

    #[test]
    fn clones_are_shared_by_credentials_while_in_use() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path().to_owned());
        let who = |user: &str, password: &str| Credentials { user: user.into(), password: password.into() };
        let (commit, other) = (Oid::from_bytes(&[1; 20]).unwrap(), Oid::from_bytes(&[2; 20]).unwrap());
        let ada = CloneKey::new("https://git.example/docs", Some(&who("ada", "secret")));
        let clone = scratch.clone_folder().unwrap();
        scratch.note(&ada, commit, &clone);
        assert!(scratch.find(&ada, commit).is_some() && scratch.find(&ada, other).is_none());
        for source in [
            CloneKey::new("https://git.example/docs", None),
            CloneKey::new("https://git.example/docs", Some(&who("ada", "other"))),
            CloneKey::new("https://git.example/docs", Some(&who("adas", "ecret"))),
            CloneKey::new("https://git.example/other", Some(&who("ada", "secret"))),
        ] {
            assert!(scratch.find(&source, commit).is_none());
        }
        drop(clone);
        assert!(scratch.find(&ada, commit).is_none());
    }
}
