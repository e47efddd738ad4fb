//! Repositories on a disk of this machine, read in place.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use docs_ports::GitError;
use git2::{ErrorClass, ErrorCode, Oid, Repository, RepositoryOpenFlags};

use crate::{
    Limits,
    cancel::Cancelled,
    checkout::{GitCheckout, GuardedRepository},
    clone::RepositoryGuards,
    failure::git_failure,
    objects,
};

/// Reads a commit of the repository in a folder without copying it.
pub(crate) fn fetch(
    folder: &Path,
    reference: &str,
    limits: Limits,
    cancelled: &Cancelled,
) -> Result<GitCheckout, GitError> {
    let repository = open(folder, reference, RepositoryOpenFlags::BARE)?;
    let commit = find(&repository, reference, limits)?;
    let commit = commit.ok_or_else(|| GitError::NoRef(reference.to_owned()))?;
    GitCheckout::read(
        GuardedRepository::new(repository, RepositoryGuards::default()),
        commit,
        limits,
        cancelled,
    )
}

/// Resolves a ref of the repository in a folder. Returns `None` if it does not exist.
pub(crate) fn commit_of(folder: &Path, reference: &str, limits: Limits) -> Result<Option<Oid>, GitError> {
    find(&open(folder, reference, RepositoryOpenFlags::BARE)?, reference, limits)
}

fn find(repository: &Repository, reference: &str, limits: Limits) -> Result<Option<Oid>, GitError> {
    let found = match repository.find_reference(reference).and_then(|found| found.resolve()) {
        Ok(found) => found,
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
        Err(error) => return Err(git_failure(&error)),
    };
    let commit = found.target().map(|id| objects::commit_at(repository, id, limits.object_bytes()));
    match commit.transpose()?.flatten() {
        Some(commit) => Ok(Some(commit)),
        None => Err(GitError::Broken(format!("`{reference}` does not resolve to a commit"))),
    }
}

/// Opens a repository for a push.
pub(crate) fn open_to_write(folder: &Path, reference: &str) -> Result<Repository, GitError> {
    open(folder, reference, RepositoryOpenFlags::empty())
}

/// Maximum size in bytes of a file that references other folders.
const MAX_LINKS: u64 = 64 * 1024;

/// Maximum number of object folders of a repository, including alternates.
const MAX_ALTERNATES: usize = 16;

/// Opens the repository in a folder: a bare one, or that of a working copy. Parent folders are not searched. References
/// out of the folder are rejected, because a user with write access to the folder could otherwise read files elsewhere
/// with the rights of the server.
fn open(folder: &Path, reference: &str, flags: RepositoryOpenFlags) -> Result<Repository, GitError> {
    let root = fs::canonicalize(folder).map_err(|_| GitError::NoRepository)?;
    let own = root.join(".git");
    let git = match fs::symlink_metadata(&own) {
        Err(_) => root.clone(),
        Ok(found) if found.is_file() => {
            let text = read_links(&own)?.unwrap_or_default();
            let named = text.trim().strip_prefix("gitdir:").ok_or(GitError::NoRepository)?.trim();
            resolve_within(&root, &root.join(named))?.ok_or(GitError::NoRepository)?
        }
        Ok(_) => resolve_within(&root, &own)?.ok_or(GitError::NoRepository)?,
    };
    let common = match read_links(&git.join("commondir"))? {
        Some(named) => resolve_within(&root, &git.join(named.trim()))?.ok_or(GitError::NoRepository)?,
        None => git.clone(),
    };
    for name in
        ["HEAD", "config", "objects", "objects/info", "objects/pack", "packed-refs", "refs", "refs/heads"]
    {
        resolve_within(&root, &common.join(name))?;
    }
    check_reference(&root, [&git, &common], reference)?;
    check_objects(&root, common.join("objects"))?;
    let flags = flags | RepositoryOpenFlags::NO_SEARCH | RepositoryOpenFlags::NO_DOTGIT;
    Repository::open_ext(&git, flags, &[] as &[&Path]).map_err(|error| match (error.class(), error.code()) {
        (_, ErrorCode::Owner) => {
            GitError::Refused("the repository belongs to another user of this machine".to_owned())
        }
        (ErrorClass::Repository | ErrorClass::Os, ErrorCode::NotFound) => GitError::NoRepository,
        _ => git_failure(&error),
    })
}

/// Maximum depth of files in an object folder: `info/commit-graphs/graph-….graph`.
const MAX_OBJECT_FILE_DEPTH: usize = 2;

/// Maximum number of symbolic refs in a chain, as in libgit2.
const MAX_SYMBOLIC: usize = 5;

/// Checks that a ref, and all refs in its chain of symbolic refs, are files in the folder.
fn check_reference(root: &Path, folders: [&Path; 2], reference: &str) -> Result<(), GitError> {
    let mut name = reference.to_owned();
    for _ in 0..=MAX_SYMBOLIC {
        let mut next = None;
        for folder in folders {
            let Some(path) = resolve_within(root, &folder.join(&name))?.filter(|path| path.is_file()) else {
                continue;
            };
            let text = read_links(&path)?.unwrap_or_default();
            next = text.strip_prefix("ref:").map(|name| name.trim().to_owned());
        }
        let Some(next) = next else { break };
        name = next;
    }
    Ok(())
}

/// Checks that no link in a folder points out of it, including links in linked folders. A folder is visited again only
/// at a lower depth.
fn check_links(root: &Path, folder: PathBuf) -> Result<(), GitError> {
    let mut seen = BTreeMap::new();
    let mut todo = vec![(folder, 0)];
    while let Some((folder, depth)) = todo.pop() {
        if seen.get(&folder).is_some_and(|seen| *seen <= depth) {
            continue;
        }
        seen.insert(folder.clone(), depth);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                continue;
            }
            Err(error) => return Err(GitError::Broken(error.to_string())),
        };
        for entry in entries {
            let (path, kind) = entry
                .and_then(|entry| Ok((entry.path(), entry.file_type()?)))
                .map_err(|error| GitError::Broken(error.to_string()))?;
            let path = if kind.is_symlink() { resolve_within(root, &path)? } else { Some(path) };
            todo.extend(
                path.filter(|_| !kind.is_file() && depth < MAX_OBJECT_FILE_DEPTH)
                    .map(|path| (path, depth + 1)),
            );
        }
    }
    Ok(())
}

/// Checks that an object folder and its alternates are inside the repository.
fn check_objects(root: &Path, objects: PathBuf) -> Result<(), GitError> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![objects];
    while let Some(objects) = todo.pop() {
        if !seen.insert(objects.clone()) {
            continue;
        }
        if seen.len() > MAX_ALTERNATES {
            return Err(GitError::TooLarge(format!(
                "must have at most {MAX_ALTERNATES} alternate object folders"
            )));
        }
        check_links(root, objects.clone())?;
        let Some(text) = read_links(&objects.join("info/alternates"))? else { continue };
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            todo.extend(resolve_within(root, &objects.join(line))?);
        }
    }
    Ok(())
}

/// Resolves links in a path that must be inside `root`. Returns `None` if the path does not exist.
fn resolve_within(root: &Path, path: &Path) -> Result<Option<PathBuf>, GitError> {
    match fs::canonicalize(path) {
        Ok(path) if path.starts_with(root) => Ok(Some(path)),
        Ok(_) => Err(GitError::Refused(
            "the repository refers to files outside of its folder; use a self-contained repository"
                .to_owned(),
        )),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(GitError::Broken(error.to_string())),
    }
}

/// Reads a file that references folders. Returns `None` if it does not exist.
fn read_links(path: &Path) -> Result<Option<String>, GitError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && found.len() <= MAX_LINKS => match fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(GitError::Broken(error.to_string())),
        },
        Ok(_) => Err(GitError::Refused(
            "the repository refers to files outside of its folder; use a self-contained repository"
                .to_owned(),
        )),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(GitError::Broken(error.to_string())),
    }
}
