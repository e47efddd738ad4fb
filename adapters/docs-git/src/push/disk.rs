//! Pushes to a repository on a disk of this machine.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use docs_ports::{Commit, GitError, PushFiles, PushRequest};
use git2::{ErrorCode, Oid, Repository};

use super::{ParentCommit, PreparedCommit, make, update::Update};
use crate::{
    Limits,
    cancel::Cancelled,
    clone::{FetchedCommit, RepositoryGuards},
    disk,
    failure::{git_failure, no_room},
    listing, objects,
};

/// Hooks that can reject a push. Hooks are not run here, so a push to a repository with one of them is rejected.
const HOOKS: [&str; 4] = ["pre-receive", "update", "reference-transaction", "proc-receive"];

/// Pushes to the repository in a folder.
pub(crate) async fn push(
    folder: PathBuf,
    request: &PushRequest,
    limits: Limits,
    files: &mut dyn PushFiles,
) -> Result<Commit, GitError> {
    let update = Update::new(request)?;
    let (base, update, folder) = listing::blocking(move || {
        let repository = disk::open_to_write(&folder, &update.reference)?;
        check(&repository, &update)?;
        let base = match update.parent {
            Some(commit)
                if objects::commit_at(&repository, commit, limits.object_bytes())? != Some(commit) =>
            {
                return Err(GitError::Moved);
            }
            Some(commit) => Some(ParentCommit::new(FetchedCommit {
                repository,
                commit,
                held: RepositoryGuards::default(),
                cancelled: Cancelled::default(),
            })?),
            None => None,
        };
        Ok((base, update, folder))
    })
    .await?;
    let PreparedCommit { id, commit, pack } = make(base, request, limits, files).await?;
    listing::blocking(move || {
        let repository = disk::open_to_write(&folder, &update.reference)?;
        {
            let odb = repository.odb().map_err(|error| git_failure(&error))?;
            let mut objects = odb.packwriter().map_err(|error| no_room(error.message()))?;
            pack.read(|piece| objects.write_all(piece)).map_err(|error| no_room(&error.to_string()))?;
            objects.commit().map_err(|error| no_room(error.message()))?;
        }
        move_ref(&repository, &update, id)
    })
    .await?;
    Ok(commit)
}

/// Checks the preconditions of a push.
fn check(repository: &Repository, update: &Update) -> Result<(), GitError> {
    if ref_commit(repository, &update.reference)? != update.expected {
        return Err(GitError::Moved);
    }
    if let Some(clash) = clash(repository, &update.reference)? {
        return Err(GitError::rejected(&format!("the existing ref {clash} conflicts with this one")));
    }
    let head = repository.find_reference("HEAD").ok();
    let head = head.as_ref().and_then(|head| head.symbolic_target().ok().flatten());
    if !repository.is_bare() && head == Some(update.reference.as_str()) {
        return Err(GitError::rejected("the branch is checked out in the work tree of the repository"));
    }
    if let Some(hook) = refusing_hook(repository)? {
        return Err(GitError::rejected(&format!(
            "the repository has {hook}, and this server runs no hooks; push over https"
        )));
    }
    Ok(())
}

fn ref_commit(repository: &Repository, name: &str) -> Result<Option<Oid>, GitError> {
    match repository.find_reference(name) {
        Ok(found) => match found.target() {
            Some(id) => Ok(Some(id)),
            None => Err(GitError::rejected("the ref is symbolic")),
        },
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(git_failure(&error)),
    }
}

/// Returns an existing ref that conflicts with this ref, because one of the names is a parent folder of the other.
fn clash(repository: &Repository, name: &str) -> Result<Option<String>, GitError> {
    let above = name.match_indices('/').map(|(at, _)| &name[..at]);
    if let Some(above) = above.into_iter().find(|above| repository.find_reference(above).is_ok()) {
        return Ok(Some(above.to_owned()));
    }
    let mut below = repository.references_glob(&format!("{name}/*")).map_err(|error| git_failure(&error))?;
    match below.names().next() {
        None => Ok(None),
        Some(below) => Ok(Some(below.map_err(|error| git_failure(&error))?.to_owned())),
    }
}

/// Returns a hook that could reject the push.
fn refusing_hook(repository: &Repository) -> Result<Option<String>, GitError> {
    let config = repository.config().map_err(|error| git_failure(&error))?;
    if config.get_path("core.hooksPath").is_ok() {
        return Ok(Some("a configured hooks folder".to_owned()));
    }
    let folder = repository.commondir().join("hooks");
    Ok(HOOKS.iter().find(|name| is_program(&folder.join(name))).map(|name| format!("the hook {name}")))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// Updates the ref if it still points at the expected commit.
fn move_ref(repository: &Repository, update: &Update, id: Oid) -> Result<(), GitError> {
    let (name, expected) = (&update.reference, update.expected.unwrap_or(Oid::ZERO_SHA1));
    let moved = repository.reference_matching(name, id, update.expected.is_some(), expected, "push");
    match moved.map_err(|error| (error.code(), error)) {
        Ok(_) => Ok(()),
        Err((ErrorCode::Modified | ErrorCode::Exists | ErrorCode::NotFound, _)) => Err(GitError::Moved),
        Err((ErrorCode::Locked, _)) => Err(GitError::Unreachable("the ref is locked".to_owned())),
        Err((ErrorCode::InvalidSpec | ErrorCode::Directory, error)) => {
            Err(GitError::rejected(error.message()))
        }
        Err((_, error)) => Err(no_room(error.message())),
    }
}
