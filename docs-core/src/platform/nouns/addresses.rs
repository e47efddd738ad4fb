//! Identifiers of nouns that consist of more than one id.

use crate::{
    model::{CollectionId, CommentId, OrgId, PermissionTarget, RevisionId, SiteId, SpaceId},
    platform::kernel::{content_version::ContentVersion, request::Right},
};

/// The ids that identify a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteRef<'p> {
    pub(crate) org: &'p OrgId,
    pub(crate) site: &'p SiteId,
}

impl<'p> SiteRef<'p> {
    /// Returns the site with the key of a share link, if any.
    pub(in crate::platform) const fn with_share_key(self, share_key: Option<&'p str>) -> SharedSiteRef<'p> {
        SharedSiteRef { org: self.org, site: self.site, share_key }
    }
}

/// A change request, identified by its space and its id or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestRef<'p> {
    pub(crate) space: &'p SpaceId,
    pub(crate) request: &'p str,
}

/// Borrowed form of [`ContentVersion`].
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) enum ContentAddress<'p> {
    Live(&'p SpaceId),
    Request(RequestRef<'p>),
    Revision(&'p SpaceId, &'p RevisionId),
}

/// The resource on which permissions are granted.
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) enum GrantTarget<'p> {
    Collection(&'p CollectionId),
    Space(&'p SpaceId),
    Site(SiteRef<'p>),
}

impl ContentAddress<'_> {
    pub(in crate::platform) fn to_content_version(self) -> ContentVersion {
        match self {
            Self::Live(space) => ContentVersion::space(space.clone()),
            Self::Request(at) => ContentVersion::request(at.space.clone(), at.request),
            Self::Revision(space, revision) => ContentVersion::revision(space.clone(), revision.clone()),
        }
    }
}

impl GrantTarget<'_> {
    pub(in crate::platform) fn to_target(self) -> PermissionTarget {
        match self {
            Self::Collection(id) => PermissionTarget::Collection(id.clone()),
            Self::Space(id) => PermissionTarget::Space(id.clone()),
            Self::Site(at) => PermissionTarget::Site(at.site.clone()),
        }
    }
}

impl Right {
    /// Returns the right to manage a site.
    pub(in crate::platform) fn for_site(at: SiteRef<'_>) -> Self {
        Self::Site(at.org.clone(), at.site.clone())
    }
}

/// Identifies a comment and its replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The commented content.
    pub of: ContentVersion,
    pub comment: CommentId,
}

/// The site to read, with the share link key of the request.
#[derive(Clone, Copy, Debug)]
pub(in crate::platform) struct SharedSiteRef<'a> {
    pub org: &'a OrgId,
    pub site: &'a SiteId,
    /// The key of a share link of the site. It grants access to visitors, and URLs in responses contain it. An invalid
    /// key has no effect.
    pub share_key: Option<&'a str>,
}

impl<'a> From<SiteRef<'a>> for SharedSiteRef<'a> {
    fn from(SiteRef { org, site }: SiteRef<'a>) -> Self {
        Self { org, site, share_key: None }
    }
}
