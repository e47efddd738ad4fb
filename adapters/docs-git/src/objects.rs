//! Objects of a repository that libgit2 reads as a whole: their size is asked for before.

use docs_ports::GitError;
use git2::{ErrorCode, ObjectType, Odb, Oid, Repository};

use crate::{clone::broken, meter::object_too_large};

/// Most tags of which one leads to the next.
const MAX_TAGS: usize = 16;

/// The commit that an object is, or that a tag leads to; `None` for an object that is not there, or that is neither.
///
/// # Errors
/// [`GitError::TooLarge`] for one that is larger than a limit, [`GitError::Broken`] for one that cannot be read.
pub(crate) fn commit_at(repository: &Repository, id: Oid, limit: u64) -> Result<Option<Oid>, GitError> {
    let odb = repository.odb().map_err(|error| broken(&error))?;
    let mut id = id;
    for _ in 0..MAX_TAGS {
        match kind(&odb, id, limit)? {
            Some(ObjectType::Commit) => return Ok(Some(id)),
            Some(ObjectType::Tag) => {
                id = repository.find_tag(id).map_err(|error| broken(&error))?.target_id();
            }
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// Refuses a folder that is too large to be read.
pub(crate) fn check_folder(odb: &Odb<'_>, id: Oid, limit: u64) -> Result<(), GitError> {
    match kind(odb, id, limit)? {
        Some(ObjectType::Tree) => Ok(()),
        _ => Err(GitError::Broken("a folder of the commit is not there, or is none".to_owned())),
    }
}

/// What an object is. A file may have any size: only the front of it was read.
fn kind(odb: &Odb<'_>, id: Oid, limit: u64) -> Result<Option<ObjectType>, GitError> {
    match odb.read_header(id) {
        Ok((_, ObjectType::Blob)) => Ok(Some(ObjectType::Blob)),
        Ok((size, _)) if u64::try_from(size).is_ok_and(|size| size > limit) => Err(object_too_large(limit)),
        Ok((_, kind)) => Ok(Some(kind)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(broken(&error)),
    }
}
