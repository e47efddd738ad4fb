//! Operations on sites.

use docs_core::{
    Platform,
    model::{CreateSite, List, OrgId, PublishedSite, Site, SiteId, SiteType, TrackSiteEvents, UpdateSite},
    platform::SiteFilter,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Deleted, Empty, EmptyOk, Idempotency,
    MaybeAuth, NoContent, Optional, PageQuery, Path, Query, Reply, Strict,
};

#[derive(Debug)]
pub struct Sites(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/sites", tag = "ApiTag::Sites")]
impl Sites {
    /// List the sites of an organization
    ///
    /// Oldest first.
    #[oai(path = "/", method = "get", operation_id = "listSites")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// Restricts the list to sites that contain this space.
        space: Query<String>,
        /// Restricts the list to sites whose title contains this text, ignoring case.
        title: Query<String>,
        /// Restricts the list to published or unpublished sites.
        published: Query<bool>,
        /// Restricts the list to sites of these types.
        #[oai(name = "type")]
        types: Query<Vec<SiteType>>,
    ) -> ApiResult<Reply<List<Site>>> {
        let filter = SiteFilter {
            space: space.0,
            title: title.0,
            published: published.0,
            types: types.0.unwrap_or_default(),
        };
        Ok(Reply(auth.caller(&self.0).org(&org).sites().list(&filter, &page.0).await?.into()))
    }

    /// Create a site
    ///
    /// The new site is not published.
    #[oai(path = "/", method = "post", operation_id = "createSite")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Optional<CreateSite>,
    ) -> ApiResult<Created<Site>> {
        let site = auth.caller(&idempotency.platform(&self.0)).org(&org).sites().create(new.0).await?;
        let location = site.urls.location.clone();
        Ok(Created::new(site).with_location(location))
    }

    /// Get a site
    ///
    /// Returns the site with its visibility and published URL.
    #[oai(path = "/:siteId", method = "get", operation_id = "getSiteById")]
    async fn get(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<Site>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).get().await?))
    }

    /// Change a site
    ///
    /// Omitted fields are unchanged; `null` removes the proxy.
    #[oai(path = "/:siteId", method = "patch", operation_id = "updateSiteById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        change: Strict<UpdateSite>,
    ) -> ApiResult<Reply<Site>> {
        Ok(Reply(auth.caller(&condition.platform(&self.0)).org(&org).site(&site).update(change.0).await?))
    }

    /// Delete a site
    ///
    /// The spaces of the site are not deleted. Succeeds if the site does not exist.
    #[oai(path = "/:siteId", method = "delete", operation_id = "deleteSiteById")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&condition.platform(&self.0)).org(&org).site(&site).delete().await?;
        Ok(Empty)
    }

    /// Apply the default template to a site
    ///
    /// Adds a space to an empty site: its pages are those of the template `product-docs`. Returns 409 for a site with
    /// spaces, sections, groups or links.
    #[oai(path = "/:siteId/template", method = "post", operation_id = "applyTemplateToSite")]
    async fn template(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<EmptyOk> {
        auth.caller(&idempotency.platform(&self.0)).org(&org).site(&site).apply_template().await?;
        Ok(Empty)
    }

    /// Publish a site
    ///
    /// The audience can now read the site. Succeeds if the site is already published.
    #[oai(path = "/:siteId/publish", method = "post", operation_id = "publishSite")]
    async fn publish(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<Site>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).publish().await?))
    }

    /// Unpublish a site
    ///
    /// The site is no longer readable. Its settings are retained.
    #[oai(path = "/:siteId/unpublish", method = "post", operation_id = "unpublishSite")]
    async fn unpublish(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<Site>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).unpublish().await?))
    }

    /// Count events of the readers of a published site
    ///
    /// Page views and other events are counted by type in the metrics of the server. Nothing of an event is stored. On
    /// a site for share links, `siteShareKey` of an event grants access.
    #[oai(path = "/:siteId/insights/events", method = "post", operation_id = "trackEventsInSiteById")]
    async fn track_events(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        events: Strict<TrackSiteEvents>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).track_events(&events.0).await?;
        Ok(Empty)
    }

    /// Get all data of a published site
    ///
    /// Returns the site with its structure, customizations and scripts. Returns 404 if the site is not published.
    #[oai(path = "/:siteId/published", method = "get", operation_id = "getPublishedContentSite")]
    async fn published(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        /// Key of a share link of the site, which is included in the returned URLs.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
    ) -> ApiResult<Reply<PublishedSite>> {
        Ok(Reply(
            auth.caller(&self.0)
                .org(&org)
                .site(&site)
                .with_share_key(share_key.0.as_deref())
                .published()
                .await?,
        ))
    }
}
