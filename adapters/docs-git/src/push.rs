//! Pushes of one commit, whose files are read one at a time.
//!
//! Pushes are implemented without libgit2. The commit and its new objects are known, so no search for common history is
//! needed, and only objects missing in the repository are packed. See `decisions/0025-git-push.md`.

mod answers;
mod disk;
mod pack;
mod tree;
pub(crate) mod update;
mod web;

use std::time::Duration;

use chrono::DateTime;
use docs_ports::{Commit, GitError, PushFiles, PushRequest, Signature, check_push_path};
use docs_web::{Dialer, Guard};
use git2::{ObjectType, Oid, Repository};

use self::{
    pack::{Pack, PackWriter},
    tree::{FolderChanges, NewFile, TreeEditor},
    web::Receiver,
};
use crate::{
    Limits, address,
    clone::{FetchedCommit, RepositoryGuards},
    failure::git_failure,
    listing,
    meter::{file_too_large, repository_too_large},
    web::HttpSession,
};

pub(crate) use self::{disk::push as to_disk, update::Update};

/// The parent of the commit to push.
pub(crate) struct ParentCommit {
    repository: Repository,
    tree: Oid,
    _held: RepositoryGuards,
}

/// A commit that is ready to be sent.
struct PreparedCommit {
    id: Oid,
    commit: Commit,
    pack: Pack,
}

/// The connection settings and limits of a push over HTTP.
pub(crate) struct PushTransport {
    pub(crate) guard: Guard,
    pub(crate) dialer: Dialer,
    pub(crate) limits: Limits,
}

impl ParentCommit {
    /// Creates the base from a fetched commit.
    pub(crate) fn new(fetched: FetchedCommit) -> Result<Self, GitError> {
        let FetchedCommit { repository, commit, held, .. } = fetched;
        let tree = repository.find_commit(commit).map_err(|error| git_failure(&error))?.tree_id();
        Ok(Self { repository, tree, _held: held })
    }
}

/// Pushes over HTTP. `base` is polled only after the server has accepted the preconditions of the push.
pub(crate) async fn to_web(
    address: address::Web,
    way: PushTransport,
    request: &PushRequest,
    files: &mut dyn PushFiles,
    base: impl Future<Output = Result<Option<ParentCommit>, GitError>>,
) -> Result<Commit, GitError> {
    let update = Update::new(request)?;
    let Limits { time, idle, .. } = way.limits;
    let session = HttpSession::new(address, way.guard, way.dialer, way.limits);
    let mut receiver = Receiver::new(session, time, idle);
    let check = async { Ok((receiver.check(&update).await?, base.await?)) };
    let (found, base) = with_time_limit(time, check).await?;
    let made = make(base, request, way.limits, files).await?;
    with_time_limit(time, receiver.send(&found, &update, made.id, made.pack)).await?;
    Ok(made.commit)
}

/// Limits the network time. The time to produce the files is not limited here.
async fn with_time_limit<T>(
    time: Duration,
    work: impl Future<Output = Result<T, GitError>>,
) -> Result<T, GitError> {
    let late = || GitError::Unreachable(format!("the push exceeded its limit of {} seconds", time.as_secs()));
    tokio::time::timeout(time, work).await.map_err(|_| late())?
}

/// Reads all files and creates the commit.
async fn make(
    base: Option<ParentCommit>,
    request: &PushRequest,
    limits: Limits,
    files: &mut dyn PushFiles,
) -> Result<PreparedCommit, GitError> {
    let mut pack = PackWriter::new()?;
    let mut changes = FolderChanges::default();
    let mut counter = Counter::new(limits);
    for path in &request.removed {
        counter.add(path, 0)?;
        changes.remove(path)?;
    }
    while let Some(file) = files.next().await? {
        check_push_path(&file.path)?;
        counter.add(&file.path, file.bytes.len() as u64)?;
        let added = listing::blocking(move || {
            let id = pack.add(ObjectType::Blob, &file.bytes)?;
            Ok((pack, file.path, NewFile { id, is_executable: file.is_executable }))
        });
        let (path, new);
        (pack, path, new) = added.await?;
        changes.put(&path, new)?;
    }
    let request = request.clone();
    listing::blocking(move || finish(base.as_ref(), &request, &changes, pack, limits)).await
}

/// Creates the trees and the commit.
fn finish(
    base: Option<&ParentCommit>,
    request: &PushRequest,
    changes: &FolderChanges,
    mut pack: PackWriter,
    limits: Limits,
) -> Result<PreparedCommit, GitError> {
    let mut editor = TreeEditor {
        repository: base.map(|base| &base.repository),
        pack: &mut pack,
        limit: limits.object_bytes(),
    };
    let tree = match editor.edit(base.map(|base| base.tree), changes, "")? {
        Some(tree) => tree,
        None => pack.add(ObjectType::Tree, &[])?,
    };
    let message = request.message.replace('\0', "");
    let seconds = request.committed_at.timestamp().max(0);
    let parent = request.parent.as_ref().map(|id| format!("parent {id}\n")).unwrap_or_default();
    let (author, committer) = (person(&request.author), person(&request.committer));
    let bytes = format!(
        "tree {tree}\n{parent}author {author} {seconds} +0000\ncommitter {committer} {seconds} +0000\n\n{message}"
    );
    let id = pack.add(ObjectType::Commit, bytes.as_bytes())?;
    let committed_at = DateTime::from_timestamp(seconds, 0).unwrap_or_default();
    Ok(PreparedCommit {
        id,
        commit: Commit { oid: id.to_string(), message, committed_at },
        pack: pack.finish()?,
    })
}

/// Formats a person for a commit. Git requires a name, and permits neither angle brackets nor line breaks in the name
/// and e-mail address.
fn person(signature: &Signature) -> String {
    let clean = |text: &str| {
        let text: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
        // Git strips these characters at both ends.
        text.trim_matches(|c: char| c.is_whitespace() || ".,:;\"\\'".contains(c)).to_owned()
    };
    let (name, email) = (clean(&signature.name), clean(&signature.email));
    let name = [name.as_str(), email.as_str()].into_iter().find(|it| !it.is_empty()).unwrap_or("unknown");
    format!("{name} <{email}>")
}

/// Applies the limits of a fetch to the files of a push.
struct Counter {
    limits: Limits,
    files: usize,
    bytes: u64,
}

impl Counter {
    const fn new(limits: Limits) -> Self {
        Self { limits, files: 0, bytes: 0 }
    }

    /// Counts an added file or a removed path.
    fn add(&mut self, path: &str, bytes: u64) -> Result<(), GitError> {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.files > self.limits.entries {
            return Err(listing::too_many(self.limits.entries));
        }
        if bytes > self.limits.file_bytes {
            return Err(file_too_large(path, bytes, self.limits.file_bytes));
        }
        if self.bytes > self.limits.total_bytes {
            return Err(repository_too_large(self.limits.total_bytes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_sanitized_for_commit_headers() {
        for (name, email, expected) in [
            ("Ada Lovelace", "ada@example.com", "Ada Lovelace <ada@example.com>"),
            (" Ada\n<x>\0 ", "a<b>@c\n", "Adax <ab@c>"),
            ("", "ada@example.com", "ada@example.com <ada@example.com>"),
            ("...", "", "unknown <>"),
        ] {
            let signature = Signature { name: name.to_owned(), email: email.to_owned() };
            assert_eq!(person(&signature), expected);
        }
    }
}
