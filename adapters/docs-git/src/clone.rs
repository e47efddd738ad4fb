//! What libgit2 does in its thread: fetches one commit into a bare repository.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use docs_ports::{GitAccess, GitError};
use git2::{
    AutotagOption, Direction, ErrorClass, ErrorCode, FetchOptions, Oid, Remote, RemoteCallbacks, Repository,
    RepositoryInitOptions,
};
use tempfile::TempDir;
use tokio::sync::OwnedMutexGuard;

use crate::{
    Limits,
    address::Disk,
    checkout::{self, GitCheckout, Shared},
    line::Line,
    meter::repository_too_large,
    transport,
};

/// A commit to fetch.
pub(crate) struct Job {
    pub(crate) source: Source,
    /// The ref in full, checked.
    pub(crate) reference: String,
    pub(crate) limits: Limits,
    pub(crate) folder: CloneFolder,
    /// Set when nobody waits for the result any more.
    pub(crate) cancelled: Arc<AtomicBool>,
}

/// Where the commit comes from.
pub(crate) enum Source {
    /// From the network, by a line and under a URL that libgit2 knows.
    Network(Line, &'static str),
    /// From a disk of this machine.
    Disk(Disk),
}

/// Where the bare repository is.
pub(crate) enum CloneFolder {
    /// In a folder that goes with the checkout.
    Temporary,
    /// In a folder that is kept, and nobody else writes to meanwhile.
    Kept(PathBuf, OwnedMutexGuard<()>),
}

/// Refuses what is not the full name of a ref; `HEAD` is one that can be read only.
pub(crate) fn check_reference(reference: &str, access: GitAccess) -> Result<(), GitError> {
    if reference == "HEAD" && access == GitAccess::Fetch {
        return Ok(());
    }
    // libgit2 takes names as C has them.
    if !reference.contains('\0')
        && reference.starts_with("refs/")
        && git2::Reference::is_valid_name(reference)
    {
        Ok(())
    } else {
        Err(GitError::Ref("write the full name of a branch or a tag, like `refs/heads/main`".to_owned()))
    }
}

impl Job {
    /// Fetches the commit. A kept repository that turns out to be damaged is made anew, once.
    pub(crate) fn run(mut self) -> Result<GitCheckout, GitError> {
        match std::mem::replace(&mut self.folder, CloneFolder::Temporary) {
            CloneFolder::Temporary => {
                let folder = tempfile::Builder::new()
                    .prefix("docs-git-")
                    .tempdir()
                    .map_err(|error| no_room(&error.to_string()))?;
                let path = folder.path().to_owned();
                self.fetch(&path, Some(folder))
            }
            CloneFolder::Kept(path, _guard) => {
                trim(&path, self.limits.total_bytes)?;
                match self.fetch(&path, None) {
                    Err(GitError::Broken(reason)) if !self.cancelled.load(Ordering::Relaxed) => {
                        tracing::warn!(%reason, "a kept repository is damaged; it is fetched anew");
                        remove(&path)?;
                        self.fetch(&path, None)
                    }
                    result => result,
                }
            }
        }
    }

    fn fetch(&self, path: &Path, folder: Option<TempDir>) -> Result<GitCheckout, GitError> {
        let repository = open(path)?;
        let tip = match &self.source {
            Source::Network(line, url) => {
                transport::with_line(line.clone(), || self.download(&repository, url, Depth::One))
            }
            Source::Disk(Disk { url, path }) => {
                // The transport does not tell why it cannot open a repository.
                self.check_source(&Repository::open(path).map_err(|error| self.failure(&error))?)?;
                self.download(&repository, url, Depth::All)
            }
        }?;
        let commit = repository
            .find_object(tip, None)
            .and_then(|object| object.peel_to_commit())
            .map_err(|_| GitError::Broken(format!("`{}` does not lead to a commit", self.reference)))?
            .id();
        if folder.is_none() {
            // What a ref leads to is offered to the server the next time, so that it sends what is new only.
            let name = format!("refs/docs/{}", blake3::hash(self.reference.as_bytes()).to_hex());
            repository.reference(&name, commit, true, "fetched").map_err(|error| broken(&error))?;
        }
        GitCheckout::read(Shared::new(repository, folder), commit, self.limits)
    }

    /// Counts the files of the commit where it is: packing what is too large takes far more than refusing it. Whether
    /// the ref is there is seen when it is fetched.
    fn check_source(&self, source: &Repository) -> Result<(), GitError> {
        match source.find_reference(&self.reference).and_then(|found| found.peel_to_commit()) {
            Ok(commit) => checkout::check_size(source, &commit, self.limits),
            Err(_) => Ok(()),
        }
    }

    /// Makes sure that the object the ref leads to is there, and tells its id.
    fn download(&self, repository: &Repository, url: &str, depth: Depth) -> Result<Oid, GitError> {
        let received = Received { limit: self.limits.total_bytes, is_over: Cell::new(false) };
        let mut remote = repository.remote_anonymous(url).map_err(|error| broken(&error))?;
        let mut connection = remote
            .connect_auth(Direction::Fetch, Some(self.callbacks(&received)), None)
            .map_err(|error| self.failure(&error))?;
        let heads = connection.list().map_err(|error| self.failure(&error))?;
        let tip = heads
            .iter()
            .find(|head| head.name() == self.reference)
            .map(git2::RemoteHead::oid)
            .ok_or_else(|| GitError::NoRef(self.reference.clone()))?;
        if has_commit(repository, tip) {
            return Ok(tip);
        }
        let result = match self.transfer(connection.remote(), depth, &received) {
            // A server without shallow fetches says so before anything is sent.
            Err(error) if depth == Depth::One && is_not_shallow(&error) => {
                self.transfer(connection.remote(), Depth::All, &received)
            }
            result => result,
        };
        match result {
            Ok(()) => Ok(tip),
            Err(_) if received.is_over.get() => Err(repository_too_large(self.limits.total_bytes)),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn transfer(
        &self,
        remote: &mut Remote<'_>,
        depth: Depth,
        received: &Received,
    ) -> Result<(), git2::Error> {
        let mut options = FetchOptions::new();
        options.download_tags(AutotagOption::None).remote_callbacks(self.callbacks(received));
        if depth == Depth::One {
            options.depth(1);
        }
        remote.download(&[format!("+{}:refs/docs/fetched", self.reference)], Some(&mut options))
    }

    fn callbacks<'a>(&'a self, received: &'a Received) -> RemoteCallbacks<'a> {
        let mut callbacks = RemoteCallbacks::new();
        callbacks.transfer_progress(move |progress| {
            let bytes = u64::try_from(progress.received_bytes()).unwrap_or(u64::MAX);
            received.is_over.set(bytes > received.limit);
            !received.is_over.get() && !self.cancelled.load(Ordering::Relaxed)
        });
        callbacks
    }

    /// What a failure of libgit2 means. Its messages hold no URL but ours, and no credentials.
    fn failure(&self, error: &git2::Error) -> GitError {
        let message = error.message();
        match (error.class(), error.code()) {
            (_, ErrorCode::User) => GitError::Unreachable("the fetch was stopped".to_owned()),
            (_, ErrorCode::Owner) => {
                GitError::Refused("the repository belongs to another user of this machine".to_owned())
            }
            (ErrorClass::Repository | ErrorClass::Os, ErrorCode::NotFound) => GitError::NoRepository,
            (ErrorClass::Net, _) => match message.strip_prefix("remote error: ") {
                Some(reason) if is_refusal(reason) => GitError::NoRepository,
                Some(reason) => GitError::Broken(reason.escape_debug().to_string()),
                None => GitError::Unreachable(message.to_owned()),
            },
            (ErrorClass::Os | ErrorClass::Filesystem, _) => no_room(message),
            _ => broken(error),
        }
    }
}

/// How much of the history is fetched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    One,
    All,
}

/// What has been received, told by libgit2.
struct Received {
    limit: u64,
    is_over: Cell<bool>,
}

fn open(path: &Path) -> Result<Repository, GitError> {
    let mut options = RepositoryInitOptions::new();
    options.bare(true).mkpath(true).external_template(false);
    Repository::init_opts(path, &options).map_err(|error| match error.class() {
        ErrorClass::Os | ErrorClass::Filesystem => no_room(error.message()),
        _ => broken(&error),
    })
}

/// An object that was received completely: packs are added as a whole.
fn has_commit(repository: &Repository, tip: Oid) -> bool {
    repository
        .find_object(tip, None)
        .and_then(|object| object.peel_to_commit())
        .and_then(|it| it.tree())
        .is_ok()
}

fn is_not_shallow(error: &git2::Error) -> bool {
    error.class() == ErrorClass::Net && error.message().contains("support shallow")
}

/// The daemon says one sentence for a repository that is not there and for one that is not for everyone.
fn is_refusal(reason: &str) -> bool {
    ["access denied", "not exported", "not found", "no such"].iter().any(|words| reason.contains(words))
}

pub(crate) fn broken(error: &git2::Error) -> GitError {
    GitError::Broken(error.message().to_owned())
}

/// The disk of this server is full or locked: it may pass.
fn no_room(reason: &str) -> GitError {
    tracing::error!(reason, "a repository cannot be written");
    GitError::Unreachable("this server has no room for the repository".to_owned())
}

/// Begins anew when a kept repository has grown over the limit.
fn trim(path: &Path, limit: u64) -> Result<(), GitError> {
    if size_of(path).is_some_and(|size| size > limit) { remove(path) } else { Ok(()) }
}

fn remove(path: &Path) -> Result<(), GitError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(no_room(&error.to_string())),
        _ => Ok(()),
    }
}

/// The bytes of all files in a folder; `None` when it cannot be read, for example because it is not there yet.
fn size_of(path: &Path) -> Option<u64> {
    let mut size = 0;
    let mut todo = vec![path.to_owned()];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            if kind.is_dir() {
                todo.push(entry.path());
            } else {
                size += entry.metadata().ok()?.len();
            }
        }
    }
    Some(size)
}
