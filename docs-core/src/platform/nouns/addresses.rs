//! Addresses of nouns that consist of more than one id.

use crate::{
    model::{CollectionId, ContentTarget, OrgId, RevisionId, SiteId, SpaceId},
    platform::{content::read::ContentOf, sites::site::SiteOf},
};

/// The ids of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteRef<'p> {
    pub(crate) org: &'p OrgId,
    pub(crate) site: &'p SiteId,
}

impl<'p> SiteRef<'p> {
    /// The site as read with the key of a share link, if there is one.
    pub(in crate::platform) const fn opened_with(self, share_key: Option<&'p str>) -> SiteOf<'p> {
        SiteOf { org: self.org, site: self.site, share_key }
    }
}

/// A change request, by its space and its id or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestRef<'p> {
    pub(crate) space: &'p SpaceId,
    pub(crate) request: &'p str,
}

/// Borrowed form of [`ContentOf`].
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) enum ContentAddress<'p> {
    Live(&'p SpaceId),
    Request(RequestRef<'p>),
    Revision(&'p SpaceId, &'p RevisionId),
}

/// The content that permissions apply to.
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) enum GrantTarget<'p> {
    Collection(&'p CollectionId),
    Space(&'p SpaceId),
}

impl ContentAddress<'_> {
    pub(in crate::platform) fn to_content_of(self) -> ContentOf {
        match self {
            Self::Live(space) => ContentOf::space(space.clone()),
            Self::Request(at) => ContentOf::request(at.space.clone(), at.request),
            Self::Revision(space, revision) => ContentOf::revision(space.clone(), revision.clone()),
        }
    }
}

impl GrantTarget<'_> {
    pub(in crate::platform) fn to_target(self) -> ContentTarget {
        match self {
            Self::Collection(id) => ContentTarget::Collection(id.clone()),
            Self::Space(id) => ContentTarget::Space(id.clone()),
        }
    }
}
