//! The nouns that a site leads to: its sections, spaces, redirects and share links.

use super::{
    RedirectHandle, Redirects, SectionGroupHandle, SectionGroups, SectionHandle, Sections, ShareLinkHandle,
    ShareLinks, SiteHandle, SiteSpaceHandle, SiteSpaces,
};
use crate::model::{RedirectId, SectionGroupId, SectionId, ShareLinkId, SiteSpaceId};

impl<'p> SiteHandle<'p> {
    /// The site as somebody sees it who has the key of a share link: it lets visitors in where the audience is people
    /// with such a link, and addresses lead through it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::{OrgId, SiteId}, platform::Visitor};
    /// # async fn example(platform: &Platform, org: &OrgId, site: &SiteId, key: &str) -> Result<()> {
    /// let visitor = Visitor::anonymous().with_share_key(key);
    /// let site = platform.as_visitor(&visitor).org(org).site(site).with_share_key(Some(key));
    /// println!("{:?}", site.published().await?.site.urls.published);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn with_share_key(self, share_key: Option<&'p str>) -> Self {
        Self { share_key, ..self }
    }

    /// The sections.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let sections = me.org(org).site(site).sections().list(&PageRequest::default()).await?;
    /// println!("{} sections", sections.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn sections(self) -> Sections<'p> {
        Sections { caller: self.caller, at: self.at, share_key: self.share_key }
    }

    /// A section.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SectionId, SiteId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, section: &SectionId) -> Result<()> {
    /// println!("deleted: {}", me.org(org).site(site).section(section).delete().await?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn section(self, section: &'p SectionId) -> SectionHandle<'p> {
        SectionHandle { caller: self.caller, at: self.at, section }
    }

    /// The groups of sections.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let groups = me.org(org).site(site).section_groups().list(&PageRequest::default()).await?;
    /// println!("{} groups", groups.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn section_groups(self) -> SectionGroups<'p> {
        SectionGroups { caller: self.caller, at: self.at, share_key: self.share_key }
    }

    /// A group of sections.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SectionGroupId, SiteId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, group: &SectionGroupId) -> Result<()> {
    /// println!("deleted: {}", me.org(org).site(site).section_group(group).delete().await?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn section_group(self, group: &'p SectionGroupId) -> SectionGroupHandle<'p> {
        SectionGroupHandle { caller: self.caller, at: self.at, group }
    }

    /// The spaces on it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let spaces = me.org(org).site(site).spaces().list(Default::default(), &PageRequest::default()).await?;
    /// println!("{} spaces", spaces.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn spaces(self) -> SiteSpaces<'p> {
        SiteSpaces { caller: self.caller, at: self.at, share_key: self.share_key }
    }

    /// A space on it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId, SiteSpaceId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, site_space: &SiteSpaceId,
    /// # ) -> Result<()> {
    /// println!("{:?}", me.org(org).site(site).space(site_space).get_customization().await?.title);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn space(self, site_space: &'p SiteSpaceId) -> SiteSpaceHandle<'p> {
        SiteSpaceHandle { caller: self.caller, at: self.at, site_space }
    }

    /// The redirects.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let redirects = me.org(org).site(site).redirects().list(&PageRequest::default()).await?;
    /// println!("{} redirects", redirects.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn redirects(self) -> Redirects<'p> {
        Redirects { caller: self.caller, at: self.at }
    }

    /// A redirect.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, RedirectId, SiteId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, redirect: &RedirectId) -> Result<()> {
    /// println!("deleted: {}", me.org(org).site(site).redirect(redirect).delete().await?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn redirect(self, redirect: &'p RedirectId) -> RedirectHandle<'p> {
        RedirectHandle { caller: self.caller, at: self.at, redirect }
    }

    /// The share links.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let links = me.org(org).site(site).share_links().list(&PageRequest::default()).await?;
    /// println!("{} links", links.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn share_links(self) -> ShareLinks<'p> {
        ShareLinks { caller: self.caller, at: self.at }
    }

    /// A share link.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, ShareLinkId, SiteId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, link: &ShareLinkId) -> Result<()> {
    /// println!("deleted: {}", me.org(org).site(site).share_link(link).delete().await?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn share_link(self, share_link: &'p ShareLinkId) -> ShareLinkHandle<'p> {
        ShareLinkHandle { caller: self.caller, at: self.at, share_link }
    }
}
