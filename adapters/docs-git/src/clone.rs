//! The work of the libgit2 thread: fetches one commit into a bare repository.

use std::{
    cell::Cell,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use docs_ports::{GitAccess, GitError};
use docs_web::Credentials;
use git2::{
    AutotagOption, Direction, ErrorClass, ErrorCode, FetchOptions, Oid, Remote, RemoteCallbacks, Repository,
    RepositoryInitOptions,
};

use crate::{
    Limits,
    bridge::NetworkHandle,
    cache::{self, CachedRepository, Lease},
    cancel::{Cancelled, cancelled},
    failure::{git_failure, no_room},
    meter::repository_too_large,
    objects, redact,
    scratch::{CloneKey, Scratch, TemporaryClone},
    transport,
};

/// A fetch of one commit.
pub(crate) struct Job {
    /// The connection to the source, and its URL in libgit2.
    pub(crate) line: NetworkHandle,
    pub(crate) url: &'static str,
    pub(crate) wanted: CommitSelector,
    pub(crate) history: History,
    pub(crate) limits: Limits,
    /// Credentials, to redact from the server's messages.
    pub(crate) credentials: Option<Credentials>,
    pub(crate) source: CloneKey,
    pub(crate) cancelled: Cancelled,
}

/// The commit to fetch.
#[derive(Clone, Debug)]
pub(crate) enum CommitSelector {
    /// The commit of a ref, given by its full, validated name.
    Ref(String),
    /// A specific commit that a ref of the repository points at.
    Commit(Oid),
}

/// The commits to fetch in addition to the wanted one.
#[derive(Clone, Debug)]
pub(crate) enum History {
    /// Fetches up to [`SHALLOW_DEPTH`] commits if an earlier commit is present. The flag is set while they are
    /// received, and remains set if receiving them fails.
    Recent(Arc<AtomicBool>),
    /// Fetches no further commits if the server supports shallow fetches.
    Omitted,
}

impl History {
    fn set_receiving(&self, receiving: bool) {
        if let Self::Recent(flag) = self {
            flag.store(receiving, Ordering::SeqCst);
        }
    }
}

/// The location of the bare repository.
pub(crate) enum CloneFolder {
    /// In a folder that is deleted with the checkout.
    Temporary(Arc<Scratch>),
    /// In the cache, with exclusive write access.
    Cached(CachedRepository),
}

pub(crate) struct FetchedCommit {
    pub(crate) repository: Repository,
    pub(crate) commit: Oid,
    pub(crate) held: RepositoryGuards,
    pub(crate) cancelled: Cancelled,
}

/// Guards that prevent the deletion of a repository while it is read.
#[derive(Debug, Default)]
pub(crate) struct RepositoryGuards {
    _temporary: Option<Arc<TemporaryClone>>,
    _lease: Option<Arc<Lease>>,
}

/// Validates the full name of a ref. `HEAD` is valid for reading only.
pub(crate) fn check_reference(reference: &str, access: GitAccess) -> Result<(), GitError> {
    if reference == "HEAD" && access == GitAccess::Fetch {
        return Ok(());
    }
    // libgit2 takes names as C strings.
    if !reference.contains('\0')
        && reference.starts_with("refs/")
        && git2::Reference::is_valid_name(reference)
    {
        Ok(())
    } else {
        Err(GitError::Ref("must be the full name of a branch or a tag, like `refs/heads/main`".to_owned()))
    }
}

impl Job {
    /// Fetches the commit and reads it. A damaged cached repository is recreated, at most once.
    pub(crate) fn run<T>(
        self,
        folder: CloneFolder,
        read: impl Fn(FetchedCommit) -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        match folder {
            CloneFolder::Temporary(scratch) => {
                let known = match self.wanted {
                    CommitSelector::Commit(commit) => scratch.find(&self.source, commit),
                    CommitSelector::Ref(_) => None,
                };
                let clone = match known {
                    Some(clone) => clone,
                    None => scratch.clone_folder().map_err(|error| no_room(&error.to_string()))?,
                };
                let held = RepositoryGuards { _temporary: Some(Arc::clone(&clone)), _lease: None };
                let fetched = self.fetch(clone.path(), held)?;
                docs_disk::restrict(clone.path()).map_err(|error| no_room(&error.to_string()))?;
                scratch.note(&self.source, fetched.commit, &clone);
                read(fetched)
            }
            CloneFolder::Cached(CachedRepository { path, lease, lock }) => {
                let lease = Arc::new(lease);
                let held = || RepositoryGuards { _temporary: None, _lease: Some(Arc::clone(&lease)) };
                lease.begin(&path, self.limits.total_bytes)?;
                let result = match self.keep(&path, held()).and_then(&read) {
                    Err(GitError::Broken(reason)) if !self.cancelled.is_set() => {
                        tracing::warn!(%reason, "discard damaged cached repository and fetch it again");
                        cache::remove(&path)?;
                        lease.begin(&path, self.limits.total_bytes)?;
                        self.keep(&path, held()).and_then(&read)
                    }
                    result => result,
                };
                drop(lock);
                lease.make_room();
                result
            }
        }
    }

    fn fetch(&self, path: &Path, held: RepositoryGuards) -> Result<FetchedCommit, GitError> {
        let repository = open(path)?;
        let tip = transport::with_network(self.line.clone(), || self.download(&repository))?;
        let commit = objects::commit_at(&repository, tip, self.limits.object_bytes())?;
        let commit = commit.ok_or_else(|| match &self.wanted {
            CommitSelector::Ref(reference) => {
                GitError::Broken(format!("`{reference}` does not resolve to a commit"))
            }
            CommitSelector::Commit(id) => GitError::Broken(format!("`{id}` is not a commit")),
        })?;
        Ok(FetchedCommit { repository, commit, held, cancelled: self.cancelled.clone() })
    }

    /// Fetches into a cached repository. The commit of the ref is recorded and offered to the server at the next fetch,
    /// so that the server sends new objects only.
    fn keep(&self, path: &Path, held: RepositoryGuards) -> Result<FetchedCommit, GitError> {
        let fetched = self.fetch(path, held)?;
        if let Some(name) = self.cached_ref_name() {
            let kept = fetched.repository.reference(&name, fetched.commit, true, "fetched");
            kept.map_err(|error| git_failure(&error))?;
        }
        // libgit2 creates packs that every user of the machine can read.
        docs_disk::restrict(path).map_err(|error| no_room(&error.to_string()))?;
        Ok(fetched)
    }

    /// Returns the ref in a cached repository that records the last commit of the wanted ref.
    fn cached_ref_name(&self) -> Option<String> {
        match &self.wanted {
            CommitSelector::Ref(reference) => {
                Some(format!("refs/docs/{}", blake3::hash(reference.as_bytes()).to_hex()))
            }
            CommitSelector::Commit(_) => None,
        }
    }

    /// Returns the history depth to fetch. For a previously fetched ref, the depth probably covers the new commits.
    fn depth(&self, repository: &Repository) -> Depth {
        let is_kept = |name: &String| repository.refname_to_id(name).is_ok();
        match (&self.history, self.cached_ref_name().filter(is_kept)) {
            (History::Recent(_), Some(_)) => Depth::Recent,
            (History::Omitted, _) | (_, None) => Depth::Single,
        }
    }

    /// Fetches the wanted object if it is missing, and returns its id.
    fn download(&self, repository: &Repository) -> Result<Oid, GitError> {
        if let CommitSelector::Commit(id) = self.wanted
            && self.has_commit(repository, id)?
        {
            return Ok(id);
        }
        let received = TransferProgress { limit: self.limits.total_bytes, is_over: Cell::new(false) };
        let mut remote = repository.remote_anonymous(self.url).map_err(|error| git_failure(&error))?;
        let mut connection = remote
            .connect_auth(Direction::Fetch, Some(self.callbacks(&received)), None)
            .map_err(|error| self.failure(&error))?;
        let heads = connection.list().map_err(|error| self.failure(&error))?;
        let (name, tip) = self.wanted.find(heads)?;
        if self.has_commit(repository, tip)? {
            return Ok(tip);
        }
        let depth = self.depth(repository);
        let result = match self.transfer(connection.remote(), &name, depth, &received) {
            // Missing support for shallow fetches is reported before anything is sent.
            Err(error) if is_not_shallow(&error) => {
                self.transfer(connection.remote(), &name, Depth::All, &received)
            }
            result => result,
        };
        match result {
            Ok(()) => Ok(tip),
            Err(_) if received.is_over.get() => Err(repository_too_large(self.limits.total_bytes)),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Returns `true` if a commit was received completely. Packs are added atomically, so checking its tree is
    /// sufficient.
    fn has_commit(&self, repository: &Repository, tip: Oid) -> Result<bool, GitError> {
        let Some(commit) = objects::commit_at(repository, tip, self.limits.object_bytes())? else {
            return Ok(false);
        };
        let odb = repository.odb().map_err(|error| git_failure(&error))?;
        let tree = repository.find_commit(commit).map_err(|error| git_failure(&error))?.tree_id();
        Ok(odb.exists(tree))
    }

    fn transfer(
        &self,
        remote: &mut Remote<'_>,
        name: &str,
        depth: Depth,
        received: &TransferProgress,
    ) -> Result<(), git2::Error> {
        let mut options = FetchOptions::new();
        options.download_tags(AutotagOption::None).remote_callbacks(self.callbacks(received));
        match depth {
            Depth::Single => drop(options.depth(1)),
            Depth::Recent => drop(options.depth(SHALLOW_DEPTH)),
            Depth::All => {}
        }
        self.history.set_receiving(depth == Depth::Recent);
        remote.download(&[format!("+{name}:refs/docs/fetched")], Some(&mut options))?;
        self.history.set_receiving(false);
        Ok(())
    }

    fn callbacks<'a>(&'a self, received: &'a TransferProgress) -> RemoteCallbacks<'a> {
        let mut callbacks = RemoteCallbacks::new();
        callbacks.transfer_progress(move |progress| {
            let bytes = u64::try_from(progress.received_bytes()).unwrap_or(u64::MAX);
            received.is_over.set(bytes > received.limit);
            !received.is_over.get() && !self.cancelled.is_set()
        });
        callbacks
    }

    /// Converts an error of libgit2. Its messages contain only internal URLs, and no credentials.
    fn failure(&self, error: &git2::Error) -> GitError {
        let message = error.message();
        match (error.class(), error.code()) {
            (_, ErrorCode::User) => cancelled(),
            (ErrorClass::Repository | ErrorClass::Os, ErrorCode::NotFound) => GitError::NoRepository,
            (ErrorClass::Net, _) => match message.strip_prefix("remote error: ") {
                Some(reason) => refusal(&redact::text(self.credentials.as_ref(), reason)),
                None => GitError::Unreachable(message.to_owned()),
            },
            (ErrorClass::Os | ErrorClass::Filesystem, _) => no_room(message),
            _ => git_failure(error),
        }
    }
}

impl CommitSelector {
    /// Returns the ref to fetch and the object that it points at.
    fn find(&self, heads: &[git2::RemoteHead<'_>]) -> Result<(String, Oid), GitError> {
        let found = |is_it: &dyn Fn(&git2::RemoteHead<'_>) -> bool| {
            heads.iter().find(|head| is_it(head)).map(|head| (head.name().to_owned(), head.oid()))
        };
        match self {
            Self::Ref(reference) => {
                found(&|head| head.name() == reference).ok_or_else(|| GitError::NoRef(reference.clone()))
            }
            // Targets of annotated tags are listed under names that cannot be requested.
            Self::Commit(id) => {
                found(&|head| head.oid() == *id && !head.name().ends_with("^{}")).ok_or(GitError::Moved)
            }
        }
    }
}

/// The history depth of a fetch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Single,
    Recent,
    All,
}

/// Number of commits fetched when an earlier commit is present. A server omits known objects only if the earlier commit
/// is among them.
const SHALLOW_DEPTH: i32 = 20;

/// Progress of a transfer, as reported by libgit2.
struct TransferProgress {
    limit: u64,
    is_over: Cell<bool>,
}

fn open(path: &Path) -> Result<Repository, GitError> {
    let mut options = RepositoryInitOptions::new();
    options.bare(true).mkpath(true).external_template(false);
    Repository::init_opts(path, &options).map_err(|error| match error.class() {
        ErrorClass::Os | ErrorClass::Filesystem => no_room(error.message()),
        _ => git_failure(&error),
    })
}

fn is_not_shallow(error: &git2::Error) -> bool {
    error.class() == ErrorClass::Net && error.message().contains("support shallow")
}

/// Converts the message of a server that declines to list its refs.
///
/// Some hosts send the same message for missing and for inaccessible repositories.
pub(crate) fn refusal(reason: &str) -> GitError {
    match ["access denied", "not exported", "not found", "no such"].iter().any(|it| reason.contains(it)) {
        true => GitError::NoRepository,
        false => GitError::Broken(reason.escape_debug().to_string()),
    }
}
