//! Operations on the structure of a site: sections, section groups and site spaces.

use docs_core::{
    Platform,
    model::{
        AddExternalLink, AddSection, AddSectionGroup, AddSectionToGroup, AddSiteSpace, DuplicateSiteSpace,
        ExternalLinkId, List, MoveBeside, OrgId, SectionGroupId, SectionGroupPointer, SectionId,
        SectionPointer, SiteExternalLink, SiteId, SiteSection, SiteSectionGroup, SiteSpace, SiteSpaceId,
        SiteSpacePointer, SiteStructure, SiteStructureItem, SortStructure, UpdateExternalLink, UpdateSection,
        UpdateSectionGroup, UpdateSiteSpace,
    },
    platform::SiteSpaceFilter,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Created, Deleted, Empty, Idempotency, MaybeAuth, NoContent,
    Optional, PageQuery, Path, Preferred, Query, Reply, ReturnPreference, Strict,
};

#[derive(Debug)]
pub struct Structure(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/sites/:siteId", tag = "ApiTag::Sites")]
impl Structure {
    /// Get the structure of a site
    ///
    /// Returns the sections and section groups, or the site spaces if there are no sections.
    #[oai(path = "/structure", method = "get", operation_id = "getSiteStructure")]
    async fn structure(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        /// Key of a share link of the site. It grants access to visitors, and is included in the returned URLs.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
    ) -> ApiResult<Reply<SiteStructure>> {
        Ok(Reply(
            auth.caller(&self.0)
                .org(&org)
                .site(&site)
                .with_share_key(share_key.0.as_deref())
                .structure()
                .await?,
        ))
    }

    /// Move an item of the structure of a site
    ///
    /// A site space is placed next to another site space and joins that one's section. A section or group is placed
    /// next to a section or group and joins that one's parent group.
    #[oai(path = "/structure/sort", method = "patch", operation_id = "sortSiteStructure")]
    async fn sort(
        &self,
        auth: Auth,
        #[oai(name = "Prefer")] preference: ReturnPreference,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        sort: Strict<SortStructure>,
    ) -> ApiResult<Preferred<Reply<SiteStructureItem>>> {
        let moved = auth.caller(&self.0).org(&org).site(&site).sort_structure(sort.0).await?;
        Ok(preference.apply(Reply(moved)))
    }

    /// List the spaces of a site
    ///
    /// Returns the site spaces that the caller can see, in display order.
    #[oai(path = "/site-spaces", method = "get", operation_id = "listSiteSpaces")]
    async fn places(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
        /// Key of a share link of the site. It grants access to visitors, and is included in the returned URLs.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
        /// `true` returns only the default site space, `false` all others.
        default: Query<bool>,
    ) -> ApiResult<Reply<List<SiteSpace>>> {
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
    /// The space becomes the last one of the given section, or of the default section without `sectionId`. The first
    /// space of a section is its default space. `"spaceId": null` creates an empty space.
    #[oai(path = "/site-spaces", method = "post", operation_id = "addSpaceToSite")]
    async fn add_place(
        &self,
        auth: Auth,
        #[oai(name = "Prefer")] preference: ReturnPreference,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        add: Strict<AddSiteSpace>,
    ) -> ApiResult<Preferred<Created<SiteSpace>>> {
        let added =
            auth.caller(&idempotency.platform(&self.0)).org(&org).site(&site).spaces().create(add.0).await?;
        let location = self.0.urls().site_part(&org, &site, &format!("site-spaces/{}", added.id));
        Ok(preference.apply(Created::new(added).with_location(location)))
    }

    /// Change a space on a site
    ///
    /// Omitted fields are unchanged; `null` removes the condition or the title.
    #[oai(path = "/site-spaces/:siteSpaceId", method = "patch", operation_id = "updateSiteSpaceById")]
    async fn update_place(
        &self,
        auth: Auth,
        #[oai(name = "Prefer")] preference: ReturnPreference,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSpaceId")] place: Path<SiteSpaceId>,
        change: Strict<UpdateSiteSpace>,
    ) -> ApiResult<Preferred<Reply<SiteSpace>>> {
        let changed = auth.caller(&self.0).org(&org).site(&site).space(&place).update(change.0).await?;
        Ok(preference.apply(Reply(changed)))
    }

    /// Remove a space from a site
    ///
    /// The space itself is not deleted. Succeeds if the site space does not exist.
    #[oai(path = "/site-spaces/:siteSpaceId", method = "delete", operation_id = "deleteSiteSpaceById")]
    async fn delete_place(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
        #[oai(name = "siteSpaceId")] place: Path<SiteSpaceId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).space(&place).delete().await?;
        Ok(Empty)
    }

    /// Copy a space on a site
    ///
    /// Copies the space and adds the copy to the site, after the original and with its condition and customization. If
    /// the original is the only space of its section, the copy is in a new section after that one.
    #[oai(path = "/site-spaces/:siteSpaceId/duplicate", method = "post", operation_id = "duplicateSiteSpace")]
    async fn duplicate_place(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSpaceId")] place: Path<SiteSpaceId>,
        request: Optional<DuplicateSiteSpace>,
    ) -> ApiResult<Created<SiteSpace>> {
        let copy = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .space(&place)
            .duplicate(request.0)
            .await?;
        let location = copy.urls.location.clone();
        Ok(Created::new(copy).with_location(location))
    }

    /// Move a space on a site
    ///
    /// Places the space before or after another space of the site, or at the end of its section. `sortSiteStructure`
    /// can also move sections and groups.
    #[oai(path = "/site-spaces/:siteSpaceId/move", method = "post", operation_id = "moveSiteSpace")]
    async fn move_place(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSpaceId")] place: Path<SiteSpaceId>,
        to: Optional<MoveBeside<SiteSpacePointer>>,
    ) -> ApiResult<Reply<SiteSpace>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).space(&place).move_beside(to.0).await?))
    }

    /// List the sections of a site
    ///
    /// Includes sections in groups.
    #[oai(path = "/sections", method = "get", operation_id = "listSiteSections")]
    async fn sections(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
        /// Key of a share link of the site. It grants access to visitors, and is included in the returned URLs.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
    ) -> ApiResult<Reply<List<SiteSection>>> {
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
    /// On a site without sections, the existing spaces move into a new default section. `"spaceId": null` creates an
    /// empty space for the section.
    #[oai(path = "/sections", method = "post", operation_id = "addSectionToSite")]
    async fn add_section(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        add: Strict<AddSection>,
    ) -> ApiResult<Created<SiteSection>> {
        let added = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .sections()
            .create(add.0)
            .await?;
        let location = self.0.urls().site_part(&org, &site, &format!("sections/{}", added.id));
        Ok(Created::new(added).with_location(location))
    }

    /// Change a section
    ///
    /// Omitted fields are unchanged; `null` removes the condition, icon or description, and moves the section out of
    /// its groups.
    #[oai(path = "/sections/:siteSectionId", method = "patch", operation_id = "updateSiteSectionById")]
    async fn update_section(
        &self,
        auth: Auth,
        #[oai(name = "Prefer")] preference: ReturnPreference,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSectionId")] section: Path<SectionId>,
        change: Strict<UpdateSection>,
    ) -> ApiResult<Preferred<Reply<SiteSection>>> {
        let changed = auth.caller(&self.0).org(&org).site(&site).section(&section).update(change.0).await?;
        Ok(preference.apply(Reply(changed)))
    }

    /// Delete a section
    ///
    /// The section's spaces are removed from the site but not deleted. Succeeds if the section does not exist.
    #[oai(path = "/sections/:siteSectionId", method = "delete", operation_id = "deleteSiteSectionById")]
    async fn delete_section(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
        #[oai(name = "siteSectionId")] section: Path<SectionId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).section(&section).delete().await?;
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
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSectionId")] section: Path<SectionId>,
        to: Optional<MoveBeside<SectionPointer>>,
    ) -> ApiResult<Reply<SiteSection>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).section(&section).move_beside(to.0).await?))
    }

    /// List the groups of sections of a site
    ///
    /// Returns the groups in display order, each group before its children.
    #[oai(path = "/section-groups", method = "get", operation_id = "listSiteSectionGroups")]
    async fn groups(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<SiteSectionGroup>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).section_groups().list(&page.0).await?.into()))
    }

    /// Add a group of sections to a site
    ///
    /// The group is added at the end. The given sections move into it.
    #[oai(path = "/section-groups", method = "post", operation_id = "addSectionGroupToSite")]
    async fn add_group(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        add: Strict<AddSectionGroup>,
    ) -> ApiResult<Created<SiteSectionGroup>> {
        let added = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .section_groups()
            .create(add.0)
            .await?;
        let location = self.0.urls().site_part(&org, &site, &format!("section-groups/{}", added.id));
        Ok(Created::new(added).with_location(location))
    }

    /// Change a group of sections
    ///
    /// Omitted fields are unchanged; `null` removes the icon, and moves the group out of its parent groups.
    #[oai(
        path = "/section-groups/:siteSectionGroupId",
        method = "patch",
        operation_id = "updateSiteSectionGroupById"
    )]
    async fn update_group(
        &self,
        auth: Auth,
        #[oai(name = "Prefer")] preference: ReturnPreference,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSectionGroupId")] group: Path<SectionGroupId>,
        change: Strict<UpdateSectionGroup>,
    ) -> ApiResult<Preferred<Reply<SiteSectionGroup>>> {
        let changed =
            auth.caller(&self.0).org(&org).site(&site).section_group(&group).update(change.0).await?;
        Ok(preference.apply(Reply(changed)))
    }

    /// Delete a group of sections
    ///
    /// The children of the group take its position. Succeeds if the group does not exist.
    #[oai(
        path = "/section-groups/:siteSectionGroupId",
        method = "delete",
        operation_id = "deleteSiteSectionGroupById"
    )]
    async fn delete_group(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
        #[oai(name = "siteSectionGroupId")] group: Path<SectionGroupId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).section_group(&group).delete().await?;
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
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSectionGroupId")] group: Path<SectionGroupId>,
        to: Optional<MoveBeside<SectionGroupPointer>>,
    ) -> ApiResult<Reply<SiteSectionGroup>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).section_group(&group).move_beside(to.0).await?))
    }

    /// Move a section into a group
    ///
    /// The section becomes the last child of the group.
    #[oai(
        path = "/section-groups/:siteSectionGroupId/sections",
        method = "post",
        operation_id = "addSectionToGroup"
    )]
    async fn gather(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSectionGroupId")] group: Path<SectionGroupId>,
        add: Strict<AddSectionToGroup>,
    ) -> ApiResult<Created<SiteSectionGroup>> {
        let location = format!("section-groups/{}/sections/{}", group.0, add.0.section_id);
        let changed = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .section_group(&group)
            .add_section(add.0)
            .await?;
        let location = self.0.urls().site_part(&org, &site, &location);
        Ok(Created::new(changed).with_location(location))
    }

    /// Move a section out of a group
    ///
    /// The section is placed after the group. Succeeds if the section is not in the group.
    #[oai(
        path = "/section-groups/:siteSectionGroupId/sections/:siteSectionId",
        method = "delete",
        operation_id = "removeSectionFromGroup"
    )]
    async fn release(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
        #[oai(name = "siteSectionGroupId")] group: Path<SectionGroupId, Deleted>,
        #[oai(name = "siteSectionId")] section: Path<SectionId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).section_group(&group).remove_section(&section).await?;
        Ok(Empty)
    }

    /// Add an external link to a site
    ///
    /// The link is added at the end of the site or of the group `parent`, next to sections and groups. A site without
    /// sections has no external links.
    #[oai(path = "/external-links", method = "post", operation_id = "addExternalLinkToSite")]
    async fn add_link(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        add: Strict<AddExternalLink>,
    ) -> ApiResult<Created<SiteExternalLink>> {
        let added = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .external_links()
            .create(add.0)
            .await?;
        let location = self.0.urls().site_part(&org, &site, &format!("external-links/{}", added.id));
        Ok(Created::new(added).with_location(location))
    }

    /// Change an external link
    ///
    /// Omitted fields are unchanged; `null` removes a value, and moves the link out of its groups.
    #[oai(
        path = "/external-links/:siteExternalLinkId",
        method = "patch",
        operation_id = "updateSiteExternalLinkById"
    )]
    async fn update_link(
        &self,
        auth: Auth,
        #[oai(name = "Prefer")] preference: ReturnPreference,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteExternalLinkId")] link: Path<ExternalLinkId>,
        change: Strict<UpdateExternalLink>,
    ) -> ApiResult<Preferred<Reply<SiteExternalLink>>> {
        let changed =
            auth.caller(&self.0).org(&org).site(&site).external_link(&link).update(change.0).await?;
        Ok(preference.apply(Reply(changed)))
    }

    /// Delete an external link
    ///
    /// Succeeds if the link does not exist.
    #[oai(
        path = "/external-links/:siteExternalLinkId",
        method = "delete",
        operation_id = "deleteSiteExternalLinkById"
    )]
    async fn delete_link(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
        #[oai(name = "siteExternalLinkId")] link: Path<ExternalLinkId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).external_link(&link).delete().await?;
        Ok(Empty)
    }
}
