//! Nouns that belong to a site: its sections, spaces, redirects, share links and findings.

use super::{
    ExternalLinkHandle, ExternalLinks, GrantTarget, Permissions, RedirectHandle, Redirects,
    SectionGroupHandle, SectionGroups, SectionHandle, Sections, ShareLinkHandle, ShareLinks,
    SiteFindingHandle, SiteFindings, SiteHandle, SiteSpaceHandle, SiteSpaces,
};
use crate::model::{
    ExternalLinkId, RedirectId, SectionGroupId, SectionId, ShareLinkId, SiteFindingId, SiteSpaceId,
};

impl<'p> SiteHandle<'p> {
    /// Returns the site as accessed with the key of a share link.
    ///
    /// The key grants access to visitors if the audience is limited to share links. URLs in responses contain it.
    #[must_use]
    pub const fn with_share_key(self, share_key: Option<&'p str>) -> Self {
        Self { share_key, ..self }
    }

    /// Returns the explicit roles of users and teams on the site.
    #[must_use]
    pub const fn permissions(self) -> Permissions<'p> {
        Permissions { caller: self.caller, target: GrantTarget::Site(self.at) }
    }

    #[must_use]
    pub const fn sections(self) -> Sections<'p> {
        Sections { caller: self.caller, at: self.at, share_key: self.share_key }
    }

    #[must_use]
    pub const fn section(self, section: &'p SectionId) -> SectionHandle<'p> {
        SectionHandle { caller: self.caller, at: self.at, section }
    }

    #[must_use]
    pub const fn section_groups(self) -> SectionGroups<'p> {
        SectionGroups { caller: self.caller, at: self.at, share_key: self.share_key }
    }

    #[must_use]
    pub const fn section_group(self, group: &'p SectionGroupId) -> SectionGroupHandle<'p> {
        SectionGroupHandle { caller: self.caller, at: self.at, group }
    }

    #[must_use]
    pub const fn external_links(self) -> ExternalLinks<'p> {
        ExternalLinks { caller: self.caller, at: self.at }
    }

    #[must_use]
    pub const fn external_link(self, link: &'p ExternalLinkId) -> ExternalLinkHandle<'p> {
        ExternalLinkHandle { caller: self.caller, at: self.at, link }
    }

    #[must_use]
    pub const fn spaces(self) -> SiteSpaces<'p> {
        SiteSpaces { caller: self.caller, at: self.at, share_key: self.share_key }
    }

    #[must_use]
    pub const fn space(self, site_space: &'p SiteSpaceId) -> SiteSpaceHandle<'p> {
        SiteSpaceHandle { caller: self.caller, at: self.at, site_space }
    }

    #[must_use]
    pub const fn redirects(self) -> Redirects<'p> {
        Redirects { caller: self.caller, at: self.at }
    }

    #[must_use]
    pub const fn redirect(self, redirect: &'p RedirectId) -> RedirectHandle<'p> {
        RedirectHandle { caller: self.caller, at: self.at, redirect }
    }

    #[must_use]
    pub const fn share_links(self) -> ShareLinks<'p> {
        ShareLinks { caller: self.caller, at: self.at }
    }

    #[must_use]
    pub const fn share_link(self, share_link: &'p ShareLinkId) -> ShareLinkHandle<'p> {
        ShareLinkHandle { caller: self.caller, at: self.at, share_link }
    }

    #[must_use]
    pub const fn findings(self) -> SiteFindings<'p> {
        SiteFindings { caller: self.caller, at: self.at }
    }

    #[must_use]
    pub const fn finding(self, finding: &'p SiteFindingId) -> SiteFindingHandle<'p> {
        SiteFindingHandle { caller: self.caller, at: self.at, finding }
    }
}
