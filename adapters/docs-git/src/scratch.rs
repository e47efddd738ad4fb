//! Clones that are not kept: each goes with its checkout. They lie in a folder of this process, which holds a lock in
//! it, so that those of a process that died are found and removed.

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

/// How the folder of a process begins.
const PREFIX: &str = "docs-git-";
/// The file in it that the process has locked.
const LOCK: &str = "in-use";
/// How often a folder is made anew because another process took it for one that was left.
const TRIES: usize = 8;

/// The place of clones that are not kept.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Where the folder of this process is made.
    parent: PathBuf,
    own: Mutex<Option<Arc<Own>>>,
    /// The clones that somebody still reads.
    open: Mutex<HashMap<blake3::Hash, Weak<TemporaryClone>>>,
}

/// The folder of this process.
#[derive(Debug)]
struct Own {
    folder: TempDir,
    _lock: File,
}

/// A clone, and the folder that it is in.
#[derive(Debug)]
pub(crate) struct TemporaryClone {
    folder: TempDir,
    _own: Arc<Own>,
}

impl TemporaryClone {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Scratch {
    /// In the folder of the system for what is temporary.
    pub(crate) fn of_system() -> Self {
        Self::below(env::temp_dir())
    }

    /// In a folder; what processes that died have left there is removed.
    pub(crate) fn below(parent: PathBuf) -> Self {
        sweep(&parent);
        Self { parent, own: Mutex::default(), open: Mutex::default() }
    }

    /// An empty folder for a clone.
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

    /// Notes that a clone has a commit, for who wants the same of the same repository as long as it is read.
    pub(crate) fn note(&self, source: &Source, commit: Oid, clone: &Arc<TemporaryClone>) {
        let mut open = self.open.lock();
        open.retain(|_, clone| clone.strong_count() > 0);
        open.insert(source.name(commit), Arc::downgrade(clone));
    }

    /// A clone that is read and has a commit.
    pub(crate) fn find(&self, source: &Source, commit: Oid) -> Option<Arc<TemporaryClone>> {
        self.open.lock().get(&source.name(commit)).and_then(Weak::upgrade)
    }
}

/// Where a clone comes from, and who has fetched it: others get at it by fetching it themselves.
#[derive(Debug)]
pub(crate) struct Source {
    hasher: blake3::Hasher,
}

impl Source {
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

/// Makes the folder of this process.
fn begin(parent: &Path) -> io::Result<Own> {
    docs_disk::create_folder(parent)?;
    for _ in 0..TRIES {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = docs_disk::create_new_file(&folder.path().join(LOCK))?;
        // Whoever sweeps may have it for a moment, and then the folder goes.
        if lock.try_lock().is_ok() && folder.path().join(LOCK).exists() {
            return Ok(Own { folder, _lock: lock });
        }
    }
    Err(io::Error::other("others remove the folder for clones again and again"))
}

/// Removes the folders of processes that are gone. What cannot be removed is somebody else's.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_one = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX))
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_one {
            continue;
        }
        let path = entry.path();
        let Ok(lock) = File::open(path.join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            match fs::remove_dir_all(&path) {
                Ok(()) => tracing::info!(folder = %path.display(), "clones that were left are removed"),
                Err(error) => tracing::debug!(%error, folder = %path.display(), "clones that were left stay"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_that_died_has_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        for name in ["docs-git-dead", "docs-git-other", "mine"] {
            fs::create_dir_all(at(name).join("clone")).unwrap();
        }
        for name in ["docs-git-dead", "mine"] {
            File::create(at(name).join(LOCK)).unwrap();
        }
        let living = Scratch::below(at(""));
        let clone = living.clone_folder().unwrap();
        let next = Scratch::below(at(""));
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
    fn a_clone_is_found_by_those_who_could_fetch_it_as_long_as_it_is_read() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::below(parent.path().to_owned());
        let who = |user: &str, password: &str| Credentials { user: user.into(), password: password.into() };
        let (commit, other) = (Oid::from_bytes(&[1; 20]).unwrap(), Oid::from_bytes(&[2; 20]).unwrap());
        let ada = Source::new("https://git.example/docs", Some(&who("ada", "secret")));
        let clone = scratch.clone_folder().unwrap();
        scratch.note(&ada, commit, &clone);
        assert!(scratch.find(&ada, commit).is_some() && scratch.find(&ada, other).is_none());
        for source in [
            Source::new("https://git.example/docs", None),
            Source::new("https://git.example/docs", Some(&who("ada", "other"))),
            Source::new("https://git.example/docs", Some(&who("adas", "ecret"))),
            Source::new("https://git.example/other", Some(&who("ada", "secret"))),
        ] {
            assert!(scratch.find(&source, commit).is_none());
        }
        drop(clone);
        assert!(scratch.find(&ada, commit).is_none());
    }
}
