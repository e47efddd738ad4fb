//! The requested update of a ref.

use docs_ports::{GitError, PushRequest};
use git2::Oid;

/// The requested update of a ref.
#[derive(Debug)]
pub(crate) struct Update {
    pub(super) reference: String,
    pub(super) expected: Option<Oid>,
    pub(crate) parent: Option<Oid>,
}

impl Update {
    pub(crate) fn new(request: &PushRequest) -> Result<Self, GitError> {
        let id = |text: &Option<String>| {
            let Some(text) = text else { return Ok(None) };
            let id = Oid::from_str(text).ok().filter(|id| text.len() == 40 && !id.is_zero());
            id.map(Some).ok_or_else(|| GitError::Ref(format!("`{}` is not a commit", text.escape_debug())))
        };
        let (expected, parent) = (id(&request.expected)?, id(&request.parent)?);
        if expected.is_some() && expected != parent {
            // The commits that the ref points at would be lost.
            return Err(GitError::Moved);
        }
        Ok(Self { reference: request.reference.clone(), expected, parent })
    }
}
