//! References to versions of a space's content.

use crate::{
    model::{RevisionId, SpaceId},
    store::ListIdentity,
};

/// A reference to one version of a space's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentVersion {
    pub space: SpaceId,
    pub version: Version,
}

impl ContentVersion {
    /// The live content of a space.
    #[must_use]
    pub const fn space(space: SpaceId) -> Self {
        Self { space, version: Version::Live }
    }

    /// The content of a change request, by id or number.
    #[must_use]
    pub fn request(space: SpaceId, request: &str) -> Self {
        Self { space, version: Version::Request(request.to_owned()) }
    }

    #[must_use]
    pub const fn revision(space: SpaceId, revision: RevisionId) -> Self {
        Self { space, version: Version::Revision(revision) }
    }

    /// Returns the id or number of the change request, if this refers to one.
    pub(in crate::platform) fn request_name(&self) -> Option<&str> {
        match &self.version {
            Version::Request(name) => Some(name),
            Version::Live | Version::Revision(_) => None,
        }
    }

    /// Adds the version to a list identity, so that a cursor is valid only for this version.
    pub(in crate::platform) fn identify(&self, list: ListIdentity) -> ListIdentity {
        let list = list.with_part("space", &self.space);
        match &self.version {
            Version::Live => list,
            Version::Request(name) => list.with_part("request", name),
            Version::Revision(id) => list.with_part("revision", id),
        }
    }
}

/// A version of a space's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// The current revision.
    Live,
    /// The latest revision of a change request, by id or number.
    Request(String),
    /// An immutable revision of the space or of one of its change requests.
    Revision(RevisionId),
}
