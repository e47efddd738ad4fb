//! What a site consists of: sections, groups of them, and spaces.

use docs_core::{
    Platform,
    model::{
        AddSection, AddSectionGroup, AddSectionToGroup, AddSiteSpace, List, MoveBeside, OrgId,
        SectionGroupPointer, SectionPointer, SiteId, SiteSection, SiteSectionGroup, SiteSpace,
        SiteSpacePointer, SiteStructure, SiteStructureItem, SortStructure, UpdateSection, UpdateSectionGroup,
        UpdateSiteSpace,
    },
    platform::SiteSpaceFilter,
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Reader, Tag, id};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::{Answer, ApiError},
        params::{PageQuery, Query},
        payload::Strict,
        reply::{Created, Empty, NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Structure(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/sites/:siteId", tag = "Tag::Sites")]
impl Structure {
    /// Get what a site consists of
    ///
    /// Sections and groups of them, or spaces without sections.
    #[oai(path = "/structure", method = "get", operation_id = "getSiteStructure")]
    async fn structure(
        &self,
        auth: Reader,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        /// The key of a share link of the site: it lets visitors in, and addresses lead through it.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
    ) -> Answer<Reply<SiteStructure>> {
        let (org, site) = of(&org, &site)?;
        Ok(Reply(
            auth.caller(&self.0)
                .org(&org)
                .site(&site)
                .with_share_key(share_key.0.as_deref())
                .structure()
                .await?,
        ))
    }

    /// Put a part of a site beside another
    ///
    /// A site space beside a site space, in whose section it then is; sections and groups beside each other, in the
    /// same group then.
    #[oai(path = "/structure/sort", method = "patch", operation_id = "sortSiteStructure")]
    async fn sort(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        sort: Strict<SortStructure>,
    ) -> Answer<Reply<SiteStructureItem>> {
        let (org, site) = of(&org, &site)?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).sort_structure(sort.0).await?))
    }

    /// List the spaces of a site
    ///
    /// Those that the user may see, in the order of the site.
    #[oai(path = "/site-spaces", method = "get", operation_id = "listSiteSpaces")]
    async fn places(
        &self,
        auth: Reader,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        page: PageQuery,
        /// The key of a share link of the site: it lets visitors in, and addresses lead through it.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
        /// `true` for the one that the site begins with; `false` for all others.
        default: Query<bool>,
    ) -> Answer<Reply<List<SiteSpace>>> {
        let (org, site) = of(&org, &site)?;
        Ok(Reply(
            auth.caller(&self.0)
                .org(&org)
                .site(&site)
                .with_share_key(share_key.0.as_deref())
                .spaces()
                .list(SiteSpaceFilter { default: default.0 }, &page.0)
                .await?
                .into(),
        ))
    }

    /// Add a space to a site
    ///
    /// Last in its section; without `sectionId` in the default one. The first space of a section is its default.
    #[oai(path = "/site-spaces", method = "post", operation_id = "addSpaceToSite")]
    async fn add_place(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        add: Strict<AddSiteSpace>,
    ) -> Answer<Created<SiteSpace>> {
        let (org, site) = of(&org, &site)?;
        let added =
            auth.caller(&idempotency.platform(&self.0)).org(&org).site(&site).spaces().create(add.0).await?;
        let location = self.0.urls().site_part(&org, &site, &format!("site-spaces/{}", added.id));
        Ok(Created::new(added).at(location))
    }

    /// Change a space on a site
    ///
    /// What the request leaves out stays; `null` removes the condition.
    #[oai(path = "/site-spaces/:siteSpaceId", method = "patch", operation_id = "updateSiteSpaceById")]
    async fn update_place(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSpaceId")] place: Path<String>,
        change: Strict<UpdateSiteSpace>,
    ) -> Answer<Reply<SiteSpace>> {
        let (org, site) = of(&org, &site)?;
        let place = id(&place, "site space")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).space(&place).update(change.0).await?))
    }

    /// Take a space off a site
    ///
    /// The space itself stays. One that is missing is no error.
    #[oai(path = "/site-spaces/:siteSpaceId", method = "delete", operation_id = "deleteSiteSpaceById")]
    async fn delete_place(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSpaceId")] place: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(site), Ok(place)) = (org.parse(), site.parse(), place.parse()) {
            auth.caller(&self.0).org(&org).site(&site).space(&place).delete().await?;
        }
        Ok(Empty)
    }

    /// Move a space on a site
    ///
    /// Puts it before or behind another space of the site. `sortSiteStructure` moves sections and groups as well.
    #[oai(path = "/site-spaces/:siteSpaceId/move", method = "post", operation_id = "moveSiteSpace")]
    async fn move_place(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSpaceId")] place: Path<String>,
        to: Strict<MoveBeside<SiteSpacePointer>>,
    ) -> Answer<Reply<SiteSpace>> {
        let (org, site) = of(&org, &site)?;
        let place = id(&place, "site space")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).space(&place).move_beside(to.0).await?))
    }

    /// List the sections of a site
    ///
    /// Those in groups as well.
    #[oai(path = "/sections", method = "get", operation_id = "listSiteSections")]
    async fn sections(
        &self,
        auth: Reader,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        page: PageQuery,
        /// The key of a share link of the site: it lets visitors in, and addresses lead through it.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
    ) -> Answer<Reply<List<SiteSection>>> {
        let (org, site) = of(&org, &site)?;
        Ok(Reply(
            auth.caller(&self.0)
                .org(&org)
                .site(&site)
                .with_share_key(share_key.0.as_deref())
                .sections()
                .list(&page.0)
                .await?
                .into(),
        ))
    }

    /// Add a section to a site
    ///
    /// The spaces of a site without sections move into a section of their own, which is the default.
    #[oai(path = "/sections", method = "post", operation_id = "addSectionToSite")]
    async fn add_section(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        add: Strict<AddSection>,
    ) -> Answer<Created<SiteSection>> {
        let (org, site) = of(&org, &site)?;
        let added = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .sections()
            .create(add.0)
            .await?;
        let location = self.0.urls().site_part(&org, &site, &format!("sections/{}", added.id));
        Ok(Created::new(added).at(location))
    }

    /// Change a section
    ///
    /// What the request leaves out stays; `null` removes condition, icon or description.
    #[oai(path = "/sections/:siteSectionId", method = "patch", operation_id = "updateSiteSectionById")]
    async fn update_section(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSectionId")] section: Path<String>,
        change: Strict<UpdateSection>,
    ) -> Answer<Reply<SiteSection>> {
        let (org, site) = of(&org, &site)?;
        let section = id(&section, "section")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).section(&section).update(change.0).await?))
    }

    /// Delete a section
    ///
    /// Its spaces are taken off the site; they stay themselves. A section that is missing is no error.
    #[oai(path = "/sections/:siteSectionId", method = "delete", operation_id = "deleteSiteSectionById")]
    async fn delete_section(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSectionId")] section: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(site), Ok(section)) = (org.parse(), site.parse(), section.parse()) {
            auth.caller(&self.0).org(&org).site(&site).section(&section).delete().await?;
        }
        Ok(Empty)
    }

    /// Move a section
    ///
    /// Use `sortSiteStructure` instead.
    #[oai(
        path = "/sections/:siteSectionId/move",
        method = "post",
        operation_id = "moveSiteSection",
        deprecated
    )]
    async fn move_section(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSectionId")] section: Path<String>,
        to: Strict<MoveBeside<SectionPointer>>,
    ) -> Answer<Reply<SiteSection>> {
        let (org, site) = of(&org, &site)?;
        let section = id(&section, "section")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).section(&section).move_beside(to.0).await?))
    }

    /// List the groups of sections of a site
    ///
    /// In the order of the site, each before those that lie in it.
    #[oai(path = "/section-groups", method = "get", operation_id = "listSiteSectionGroups")]
    async fn groups(
        &self,
        auth: Reader,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<SiteSectionGroup>>> {
        let (org, site) = of(&org, &site)?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).section_groups().list(&page.0).await?.into()))
    }

    /// Add a group of sections to a site
    ///
    /// Last in order, with the sections that are named moved into it.
    #[oai(path = "/section-groups", method = "post", operation_id = "addSectionGroupToSite")]
    async fn add_group(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        add: Strict<AddSectionGroup>,
    ) -> Answer<Created<SiteSectionGroup>> {
        let (org, site) = of(&org, &site)?;
        let added = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .section_groups()
            .create(add.0)
            .await?;
        let location = self.0.urls().site_part(&org, &site, &format!("section-groups/{}", added.id));
        Ok(Created::new(added).at(location))
    }

    /// Change a group of sections
    ///
    /// What the request leaves out stays; `null` removes the icon.
    #[oai(
        path = "/section-groups/:siteSectionGroupId",
        method = "patch",
        operation_id = "updateSiteSectionGroupById"
    )]
    async fn update_group(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSectionGroupId")] group: Path<String>,
        change: Strict<UpdateSectionGroup>,
    ) -> Answer<Reply<SiteSectionGroup>> {
        let (org, site) = of(&org, &site)?;
        let group = id(&group, "section group")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).section_group(&group).update(change.0).await?))
    }

    /// Delete a group of sections
    ///
    /// What is in it takes its place. A group that is missing is no error.
    #[oai(
        path = "/section-groups/:siteSectionGroupId",
        method = "delete",
        operation_id = "deleteSiteSectionGroupById"
    )]
    async fn delete_group(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSectionGroupId")] group: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(site), Ok(group)) = (org.parse(), site.parse(), group.parse()) {
            auth.caller(&self.0).org(&org).site(&site).section_group(&group).delete().await?;
        }
        Ok(Empty)
    }

    /// Move a group of sections
    ///
    /// Use `sortSiteStructure` instead.
    #[oai(
        path = "/section-groups/:siteSectionGroupId/move",
        method = "post",
        operation_id = "moveSiteSectionGroup",
        deprecated
    )]
    async fn move_group(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSectionGroupId")] group: Path<String>,
        to: Strict<MoveBeside<SectionGroupPointer>>,
    ) -> Answer<Reply<SiteSectionGroup>> {
        let (org, site) = of(&org, &site)?;
        let group = id(&group, "section group")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).section_group(&group).move_beside(to.0).await?))
    }

    /// Move a section into a group
    ///
    /// Last in order there.
    #[oai(
        path = "/section-groups/:siteSectionGroupId/sections",
        method = "post",
        operation_id = "addSectionToGroup"
    )]
    async fn gather(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSectionGroupId")] group: Path<String>,
        add: Strict<AddSectionToGroup>,
    ) -> Answer<Created<SiteSectionGroup>> {
        let (org, site) = of(&org, &site)?;
        let group = id(&group, "section group")?;
        let location = format!("section-groups/{group}/sections/{}", add.0.section_id);
        let changed = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .section_group(&group)
            .add_section(add.0)
            .await?;
        let location = self.0.urls().site_part(&org, &site, &location);
        Ok(Created::new(changed).at(location))
    }

    /// Move a section out of a group
    ///
    /// It comes to stand behind the group. A section that is not in it is no error.
    #[oai(
        path = "/section-groups/:siteSectionGroupId/sections/:siteSectionId",
        method = "delete",
        operation_id = "removeSectionFromGroup"
    )]
    async fn release(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSectionGroupId")] group: Path<String>,
        #[oai(name = "siteSectionId")] section: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(site), Ok(group), Ok(section)) =
            (org.parse(), site.parse(), group.parse(), section.parse())
        {
            auth.caller(&self.0).org(&org).site(&site).section_group(&group).remove_section(&section).await?;
        }
        Ok(Empty)
    }
}

/// The site that a path names.
fn of(org: &str, site: &str) -> Result<(OrgId, SiteId), ApiError> {
    Ok((id(org, "organization")?, id(site, "site")?))
}
