//! State of an in-memory repository.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_model::hash::Hash;
use docs_ports::{Commit, GitError, RepoEntry, RepoEntryKind, Signature, blob_id};
use parking_lot::Mutex;
use tokio::sync::watch;

/// Content of a [`MemGit`](super::MemGit): the files of the default branch, other branches, and faults.
#[derive(Clone, Debug)]
pub struct MemRepository {
    /// Files by path.
    pub files: BTreeMap<String, Bytes>,
    /// Targets of symbolic links by path. A path is either a file or a link.
    pub links: BTreeMap<String, String>,
    /// Paths of executable files. Paths without a file have no effect.
    pub executables: BTreeSet<String>,
    /// The objects of Git LFS that the host offers, by their SHA-256 hash.
    pub large_objects: BTreeMap<String, Bytes>,
    /// The commit message.
    pub message: String,
    /// Refs that point to these files.
    pub refs: MemRefs,
    /// Targets of other refs.
    pub branches: BTreeMap<String, MemBranch>,
    /// Error returned by every fetch and push.
    pub failure: Option<GitError>,
    /// Errors of fetches and pushes, by URL or ref.
    pub failures: BTreeMap<String, GitError>,
    /// Faults of the next pushes, one per push.
    pub push_faults: VecDeque<MemPushFault>,
    /// The last commit pushed to these files. Ignored once a test has edited them.
    pub(super) pushed: Option<PushedCommit>,
}

/// A pushed commit. `content` is the commit id computed from only its files and message, to detect later edits.
#[derive(Clone, Debug)]
pub(super) struct PushedCommit {
    pub(super) content: String,
    pub(super) commit: Commit,
}

/// Arguments of a fetch or push.
#[derive(Debug)]
pub(super) struct RemoteRequest {
    pub(super) url: String,
    pub(super) cache_id: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct MemGitState {
    pub(super) repository: Mutex<MemRepository>,
    pub(super) asked: Mutex<Vec<RemoteRequest>>,
    pub(super) commits: Mutex<Vec<MemCommit>>,
    pub(super) fetches: AtomicUsize,
    pub(super) reads: AtomicUsize,
    pub(super) is_holding: AtomicBool,
    /// Number of held fetches and pushes.
    pub(super) held: watch::Sender<usize>,
}

impl Default for MemRepository {
    fn default() -> Self {
        let message = "A commit".to_owned();
        Self {
            files: BTreeMap::new(),
            links: BTreeMap::new(),
            executables: BTreeSet::new(),
            large_objects: BTreeMap::new(),
            message,
            refs: MemRefs::Every,
            branches: BTreeMap::new(),
            failure: None,
            failures: BTreeMap::new(),
            push_faults: VecDeque::new(),
            pushed: None,
        }
    }
}

impl MemRepository {
    /// Returns the target of a ref, if the ref exists.
    pub(super) fn branch(&self, reference: &str) -> Option<MemBranch> {
        let is_default = reference == "HEAD" && !self.refs.is_empty() || self.refs.contains(reference);
        match self.branches.get(reference) {
            Some(branch) => Some(branch.clone()),
            None => is_default.then(|| self.default_branch()),
        }
    }

    /// Returns the files of the default branch and their current commit.
    pub(super) fn default_branch(&self) -> MemBranch {
        let (files, links) = (self.files.clone(), self.links.clone());
        let executables = self.executables.clone();
        let content = content_id(&self.message, &entries(&files, &links, &executables));
        let commit = match &self.pushed {
            Some(pushed) if pushed.content == content => pushed.commit.clone(),
            _ => Commit {
                oid: content,
                message: self.message.clone(),
                committed_at: DateTime::<Utc>::UNIX_EPOCH,
            },
        };
        MemBranch { commit, files, links, executables }
    }

    /// Returns the error configured for a URL or a ref.
    pub(super) fn find_failure(&self, url: &str, reference: &str) -> Option<GitError> {
        let named = || self.failures.get(url).or_else(|| self.failures.get(reference));
        self.failure.as_ref().or_else(named).cloned()
    }
}

/// Returns all entries, ordered by path.
pub(super) fn entries(
    files: &BTreeMap<String, Bytes>,
    links: &BTreeMap<String, String>,
    executables: &BTreeSet<String>,
) -> Vec<RepoEntry> {
    let entry = |path: &String, bytes: &[u8], kind| RepoEntry {
        path: path.clone(),
        oid: blob_id(bytes),
        size: bytes.len() as u64,
        kind,
    };
    let kind = |path: &String| match executables.contains(path) {
        true => RepoEntryKind::Executable,
        false => RepoEntryKind::File,
    };
    let mut entries: Vec<RepoEntry> =
        files.iter().map(|(path, bytes)| entry(path, bytes, kind(path))).collect();
    entries.extend(
        links
            .iter()
            .map(|(path, target)| entry(path, target.as_bytes(), RepoEntryKind::Symlink(target.clone()))),
    );
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

/// Computes a commit id from the message and the entries.
pub(super) fn content_id(message: &str, entries: &[RepoEntry]) -> String {
    object_id(entries.iter().fold(Hash::compute(message.as_bytes()), |before, entry| {
        Hash::compute(format!("{before}{entry:?}").as_bytes())
    }))
}

pub(super) fn object_id(hash: Hash) -> String {
    hash.as_bytes()[..20].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl MemGitState {
    /// Records a request, and holds it if holding is enabled.
    pub(super) async fn record_request(&self, url: &str, cache_id: Option<&String>) {
        self.asked.lock().push(RemoteRequest { url: url.to_owned(), cache_id: cache_id.cloned() });
        if self.is_holding.load(Ordering::SeqCst) {
            self.held.send_modify(|held| *held += 1);
            let _held = HeldRequestGuard(&self.held);
            std::future::pending::<()>().await;
        }
    }
}

/// The refs that point to the files of a [`MemRepository`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MemRefs {
    /// `HEAD` and all refs, except those with a separate branch.
    Every,
    /// These refs, and `HEAD` if there are any. A repository without refs has no commits.
    Only(BTreeSet<String>),
}

/// The target of a ref.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemBranch {
    pub commit: Commit,
    /// Files by path.
    pub files: BTreeMap<String, Bytes>,
    /// Targets of symbolic links by path.
    pub links: BTreeMap<String, String>,
    /// Paths of executable files.
    pub executables: BTreeSet<String>,
}

/// A pushed commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemCommit {
    /// URL that was pushed to.
    pub url: String,
    /// Ref that was pushed to.
    pub reference: String,
    /// Id of the parent commit.
    pub parent: Option<String>,
    pub author: Signature,
    pub committer: Signature,
    /// Paths of the pushed files, in order.
    pub written: Vec<String>,
    /// Removed paths that existed.
    pub removed: Vec<String>,
    /// The commit with all of its files.
    pub branch: MemBranch,
}

/// A fault of a push to a [`MemGit`](super::MemGit).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MemPushFault {
    /// The host is unreachable; nothing is pushed.
    Unreachable,
    /// The push succeeds but its response is lost, so that it fails as if the host were unreachable.
    AnswerLost,
    /// The host rejects the push with this message.
    Rejected(String),
    /// A concurrent push adds this file, given by path and content, to the target of the ref.
    Overtaken(String, Bytes),
}

impl MemRefs {
    pub(super) fn contains(&self, reference: &str) -> bool {
        match self {
            Self::Every => true,
            Self::Only(refs) => refs.contains(reference),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Only(refs) if refs.is_empty())
    }
}

/// Counts a held request until it is dropped.
struct HeldRequestGuard<'g>(&'g watch::Sender<usize>);

impl Drop for HeldRequestGuard<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|held| *held -= 1);
    }
}
