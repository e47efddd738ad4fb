//! Pushes: one commit, the files of which come one after the other.
//!
//! Git's own way to push is not that of libgit2: a commit and the objects that are new with it are known here, so
//! nothing has to be searched for, and nothing is packed that the repository has. See `decisions/0025-git-push.md`.

mod answers;
mod disk;
mod pack;
mod tree;
mod web;

use std::time::Duration;

use chrono::DateTime;
use docs_ports::{Commit, GitError, PushFiles, PushRequest, Signature, check_push_path};
use docs_web::{Dialer, Guard};
use git2::{ObjectType, Oid, Repository};

use self::{
    pack::{Pack, PackWriter},
    tree::{Changes, TreeEditor},
    web::Receiver,
};
use crate::{
    Limits, address,
    clone::{Fetched, Held},
    listing,
    meter::{file_too_large, repository_too_large},
    web::Session,
};

pub(crate) use self::disk::push as to_disk;

/// The move of a ref that is wanted.
#[derive(Debug)]
pub(crate) struct Update {
    reference: String,
    expected: Option<Oid>,
    pub(crate) parent: Option<Oid>,
}

/// The commit that the new one is made on.
pub(crate) struct Base {
    repository: Repository,
    tree: Oid,
    _held: Held,
}

/// A commit that is ready to be pushed.
struct Made {
    id: Oid,
    commit: Commit,
    pack: Pack,
}

/// How a push over HTTP connects, and what it may cost.
pub(crate) struct Way {
    pub(crate) guard: Guard,
    pub(crate) dialer: Dialer,
    pub(crate) limits: Limits,
}

impl Update {
    pub(crate) fn new(request: &PushRequest) -> Result<Self, GitError> {
        let id = |text: &Option<String>| {
            let Some(text) = text else { return Ok(None) };
            let id = Oid::from_str(text).ok().filter(|id| text.len() == 40 && !id.is_zero());
            id.map(Some).ok_or_else(|| GitError::Ref(format!("`{}` names no commit", text.escape_debug())))
        };
        let (expected, parent) = (id(&request.expected)?, id(&request.parent)?);
        if expected.is_some() && expected != parent {
            // What the ref points at would be lost.
            return Err(GitError::Moved);
        }
        Ok(Self { reference: request.reference.clone(), expected, parent })
    }
}

impl Base {
    /// The files of a commit that was fetched.
    pub(crate) fn new(fetched: Fetched) -> Result<Self, GitError> {
        let Fetched { repository, commit, held } = fetched;
        let tree = repository.find_commit(commit).map_err(|error| crate::clone::broken(&error))?.tree_id();
        Ok(Self { repository, tree, _held: held })
    }
}

/// Pushes over HTTP. `base` is asked for once it is known that the push can happen.
pub(crate) async fn to_web(
    address: address::Web,
    way: Way,
    request: &PushRequest,
    files: &mut dyn PushFiles,
    base: impl Future<Output = Result<Option<Base>, GitError>>,
) -> Result<Commit, GitError> {
    let update = Update::new(request)?;
    let Limits { time, idle, .. } = way.limits;
    let session = Session::new(address, way.guard, way.dialer, way.limits);
    let mut receiver = Receiver::new(session, time, idle);
    let check = async { Ok((receiver.check(&update).await?, base.await?)) };
    let (found, base) = within(time, check).await?;
    let made = make(base, request, way.limits, files).await?;
    within(time, receiver.send(&found, &update, made.id, made.pack)).await?;
    Ok(made.commit)
}

/// Bounds what the network takes. How long the files take is the business of who gives them.
async fn within<T>(time: Duration, work: impl Future<Output = Result<T, GitError>>) -> Result<T, GitError> {
    let late = || GitError::Unreachable(format!("pushing took longer than {} seconds", time.as_secs()));
    tokio::time::timeout(time, work).await.map_err(|_| late())?
}

/// Takes all files, and makes the commit.
async fn make(
    base: Option<Base>,
    request: &PushRequest,
    limits: Limits,
    files: &mut dyn PushFiles,
) -> Result<Made, GitError> {
    let mut pack = PackWriter::new()?;
    let mut changes = Changes::default();
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
            Ok((pack, file.path, id))
        });
        let (path, id);
        (pack, path, id) = added.await?;
        changes.put(&path, id)?;
    }
    let request = request.clone();
    listing::blocking(move || finish(base.as_ref(), &request, &changes, (pack, limits))).await
}

/// Makes the trees and the commit.
fn finish(
    base: Option<&Base>,
    request: &PushRequest,
    changes: &Changes,
    (mut pack, limits): (PackWriter, Limits),
) -> Result<Made, GitError> {
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
    Ok(Made { id, commit: Commit { oid: id.to_string(), message, committed_at }, pack: pack.finish()? })
}

/// A person as a commit names them. Git wants a name, and neither `<` nor `>` nor a new line in either part.
fn person(signature: &Signature) -> String {
    let clean = |text: &str| {
        let text: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
        // What Git cuts off at both ends.
        text.trim_matches(|c: char| c.is_whitespace() || ".,:;\"\\'".contains(c)).to_owned()
    };
    let (name, email) = (clean(&signature.name), clean(&signature.email));
    let name = [name.as_str(), email.as_str()].into_iter().find(|it| !it.is_empty()).unwrap_or("unknown");
    format!("{name} <{email}>")
}

/// Bounds the files of a push as those of a fetch.
struct Counter {
    limits: Limits,
    files: usize,
    bytes: u64,
}

impl Counter {
    const fn new(limits: Limits) -> Self {
        Self { limits, files: 0, bytes: 0 }
    }

    /// Counts a file, or a path that is taken out.
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
    fn a_person_is_written_as_git_reads_it() {
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
