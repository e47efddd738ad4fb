//! Access to objects that libgit2 loads into memory. Their size is checked first.

use docs_ports::GitError;
use git2::{ErrorCode, ObjectType, Odb, Oid, Repository};

use crate::{failure::git_failure, meter::object_too_large};

/// Maximum length of a chain of tags.
const MAX_TAGS: usize = 16;

/// Peels an object to a commit. Returns `None` if the object does not exist or has another type.
///
/// # Errors
/// [`GitError::TooLarge`] if the object exceeds the limit, [`GitError::Broken`] if it cannot be read.
pub(crate) fn commit_at(repository: &Repository, id: Oid, limit: u64) -> Result<Option<Oid>, GitError> {
    let odb = repository.odb().map_err(|error| git_failure(&error))?;
    let mut id = id;
    for _ in 0..MAX_TAGS {
        match header(&odb, id, limit)?.map(|(_, kind)| kind) {
            Some(ObjectType::Commit) => return Ok(Some(id)),
            Some(ObjectType::Tag) => {
                id = repository.find_tag(id).map_err(|error| git_failure(&error))?.target_id();
            }
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Checks that a folder exists and is not too large to be read. Returns its size in bytes.
pub(crate) fn check_folder(odb: &Odb<'_>, id: Oid, limit: u64) -> Result<u64, GitError> {
    match header(odb, id, limit)? {
        Some((size, ObjectType::Tree)) => Ok(size),
        _ => Err(GitError::Broken("a folder of the commit is missing or not a folder".to_owned())),
    }
}

/// Returns the size and the type of an object. The size of blobs is not limited, because only their header is read.
fn header(odb: &Odb<'_>, id: Oid, limit: u64) -> Result<Option<(u64, ObjectType)>, GitError> {
    match odb.read_header(id).map(|(size, kind)| (u64::try_from(size).unwrap_or(u64::MAX), kind)) {
        Ok((size, kind)) if kind != ObjectType::Blob && size > limit => Err(object_too_large(limit)),
        Ok(found) => Ok(Some(found)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(git_failure(&error)),
    }
}
