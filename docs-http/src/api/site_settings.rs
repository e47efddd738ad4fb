//! Operations on site settings other than the structure.

use docs_core::{
    Platform,
    model::{
        BulkRedirectResults, BulkUpsertSiteRedirects, CreateShareLink, CreateSiteRedirect, Customization,
        CustomizationOverride, List, OrgId, PreviewSite, PublishedUrl, PublishingAuth, RedirectId,
        RedirectOrder, RedirectSource, ResolvedRedirect, ShareLink, ShareLinkId, SiteAdaptiveSchema, SiteId,
        SitePreviewUrl, SiteRedirect, SiteSpaceId, TemplateConditions, UpdateAdaptiveSchema,
        UpdatePublishingAuth, UpdateShareLink, UpdateSiteRedirect,
    },
    platform::RedirectFilter,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Deleted, Empty, Idempotency, MaybeAuth,
    NoContent, PageQuery, Path, Query, Reply, RequiredQuery, Strict,
};
use crate::wire::{error::ApiError, rison::parse_object};

#[derive(Debug)]
pub struct SiteSettings(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/sites/:siteId", tag = "ApiTag::Sites")]
impl SiteSettings {
    /// Get the customization of a site
    ///
    /// Returns the complete customization, with default values for settings that were never changed.
    #[oai(path = "/customization", method = "get", operation_id = "getSiteCustomizationById")]
    async fn customization(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        /// Accepted for compatibility; no values are masked.
        #[oai(name = "unmasked")]
        _unmasked: Query<bool>,
    ) -> ApiResult<Reply<Customization>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).get_customization().await?))
    }

    /// Set the customization of a site
    ///
    /// Replaces the complete customization.
    #[oai(path = "/customization", method = "put", operation_id = "updateSiteCustomizationById")]
    async fn set_customization(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        look: Strict<Customization>,
    ) -> ApiResult<Reply<Customization>> {
        Ok(Reply(
            auth.caller(&condition.platform(&self.0)).org(&org).site(&site).set_customization(look.0).await?,
        ))
    }

    /// Get the customization of a space on a site
    ///
    /// Returns the customization of the site with the overrides of the space applied.
    #[oai(
        path = "/site-spaces/:siteSpaceId/customization",
        method = "get",
        operation_id = "getSiteSpaceCustomizationById"
    )]
    async fn place_customization(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSpaceId")] place: Path<SiteSpaceId>,
        /// Accepted for compatibility; no values are masked.
        #[oai(name = "unmasked")]
        _unmasked: Query<bool>,
    ) -> ApiResult<Reply<Customization>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).space(&place).get_customization().await?))
    }

    /// Override the customization of a site for a space
    ///
    /// Omitted fields are unchanged; `null` removes the override of a value.
    #[oai(
        path = "/site-spaces/:siteSpaceId/customization",
        method = "patch",
        operation_id = "overrideSiteSpaceCustomizationById"
    )]
    async fn override_customization(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteSpaceId")] place: Path<SiteSpaceId>,
        change: Strict<CustomizationOverride>,
    ) -> ApiResult<Reply<Customization>> {
        let id_of_place = place.0;
        let platform = condition.platform(&self.0);
        let place = auth.caller(&platform).org(&org).site(&site).space(&id_of_place);
        Ok(Reply(place.override_customization(change.0).await?))
    }

    /// Remove the customization overrides of a space on a site
    ///
    /// The space then uses the customization of the site. Succeeds if there are no overrides.
    #[oai(
        path = "/site-spaces/:siteSpaceId/customization",
        method = "delete",
        operation_id = "deleteSiteSpaceCustomizationById"
    )]
    async fn delete_customization(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
        #[oai(name = "siteSpaceId")] place: Path<SiteSpaceId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&condition.platform(&self.0))
            .org(&org)
            .site(&site)
            .space(&place)
            .delete_customization()
            .await?;
        Ok(Empty)
    }

    /// List the share links of a site
    ///
    /// Returns each link with its URL, oldest first.
    #[oai(path = "/share-links", method = "get", operation_id = "listSiteShareLinks")]
    async fn share_links(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
        /// Returns only the links whose name contains this text, ignoring case, and the link with this key.
        search: Query<String>,
    ) -> ApiResult<Reply<List<ShareLink>>> {
        let links = auth.caller(&self.0).org(&org).site(&site).share_links();
        Ok(Reply(links.list(search.0.as_deref(), &page.0).await?.into()))
    }

    /// Create a share link
    ///
    /// Anyone with the URL of the link can read the site while its visibility is `share-link`.
    #[oai(path = "/share-links", method = "post", operation_id = "createSiteShareLink")]
    async fn create_share_link(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        new: Strict<CreateShareLink>,
    ) -> ApiResult<Created<ShareLink>> {
        let link = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .share_links()
            .create(new.0)
            .await?;
        let location = self.0.urls().share_link(&org, &site, &link.id);
        Ok(Created::new(link).with_location(location))
    }

    /// Change a share link
    ///
    /// Omitted fields are unchanged.
    #[oai(path = "/share-links/:shareLinkId", method = "patch", operation_id = "updateSiteShareLinkById")]
    async fn update_share_link(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "shareLinkId")] link: Path<ShareLinkId>,
        change: Strict<UpdateShareLink>,
    ) -> ApiResult<Reply<ShareLink>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).share_link(&link).update(change.0).await?))
    }

    /// Delete a share link
    ///
    /// The key of the link becomes invalid. Succeeds if the link does not exist.
    #[oai(path = "/share-links/:shareLinkId", method = "delete", operation_id = "deleteSiteShareLinkById")]
    async fn delete_share_link(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
        #[oai(name = "shareLinkId")] link: Path<ShareLinkId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).share_link(&link).delete().await?;
        Ok(Empty)
    }

    /// Get the visitor authentication of a site
    ///
    /// Creates a signing key if the site has none.
    #[oai(path = "/publishing/auth", method = "get", operation_id = "getSitePublishingAuthById")]
    async fn auth(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<PublishingAuth>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).get_publishing_auth().await?))
    }

    /// Get a preview URL of a site
    ///
    /// Returns a URL that shows the site as it would be published, for an hour and without further credentials: the
    /// spaces that you may read, even if the site is not published. Change requests and revisions are below the URLs of
    /// their spaces, at `~/changes/` and their number and at `~/revisions/` and their id. `token` in the URL is also a
    /// bearer token for reading the site in this API.
    #[oai(path = "/publishing/preview", method = "get", operation_id = "getSitePublishingPreviewById")]
    async fn preview(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        /// The space that the URL opens, by its id on the site. By default, it opens the default space.
        #[oai(name = "siteSpace")]
        site_space: Query<SiteSpaceId>,
        /// The claims of the visitor whose view is previewed, as an object in Rison. Unsigned claims are under
        /// `unsigned`.
        claims: Query<String>,
        /// `false` hides drafts of sections and spaces.
        draft: Query<bool>,
        /// A URL of the site, or of its preview, that the URL opens. Must not be combined with `siteSpace`.
        target: Query<PublishedUrl>,
    ) -> ApiResult<Reply<SitePreviewUrl>> {
        let claims = claims.0.as_deref().map(parse_object).transpose();
        let claims = claims.map_err(|why| ApiError::invalid(format!("claims: {why}")))?;
        let asked = PreviewSite { site_space: site_space.0, claims, draft: draft.0, target: target.0 };
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).preview(&asked).await?))
    }

    /// Change the visitor authentication of a site
    ///
    /// Omitted fields are unchanged. The signing key is not changed.
    #[oai(path = "/publishing/auth", method = "patch", operation_id = "updateSitePublishingAuthById")]
    async fn update_auth(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        change: Strict<UpdatePublishingAuth>,
    ) -> ApiResult<Reply<PublishingAuth>> {
        Ok(Reply(
            auth.caller(&condition.platform(&self.0))
                .org(&org)
                .site(&site)
                .update_publishing_auth(change.0)
                .await?,
        ))
    }

    /// Regenerate the signing key of a site
    ///
    /// Tokens signed with the previous key become invalid.
    #[oai(
        path = "/publishing/auth/regenerate",
        method = "post",
        operation_id = "regenerateSitePublishingAuthById"
    )]
    async fn regenerate_auth(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<PublishingAuth>> {
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .org(&org)
                .site(&site)
                .regenerate_publishing_auth()
                .await?,
        ))
    }

    /// List the redirects of a site
    ///
    /// Returns the live redirects, or the drafts with `draft=true`.
    #[oai(path = "/redirects", method = "get", operation_id = "listSiteRedirects")]
    async fn redirects(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
        /// Returns only the redirects whose source contains this text, ignoring case.
        search: Query<String>,
        /// `true` returns the drafts instead of the live redirects.
        draft: Query<bool>,
        /// The order: `createdAt`, newest first, by default.
        #[oai(name = "orderBy")]
        order: Query<RedirectOrder>,
    ) -> ApiResult<Reply<List<SiteRedirect>>> {
        let filter = RedirectFilter {
            search: search.0,
            draft: draft.0.unwrap_or_default(),
            order: order.0.unwrap_or_default(),
        };
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).redirects().list(&filter, &page.0).await?.into()))
    }

    /// Create a redirect
    ///
    /// Redirects a path of the site to a section, a space, a page or a URL. A path can have one live redirect and one
    /// draft. A source that ends with `*` applies to all paths that begin with the text before it.
    #[oai(path = "/redirects", method = "post", operation_id = "createSiteRedirect")]
    async fn create_redirect(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        new: Strict<CreateSiteRedirect>,
    ) -> ApiResult<Created<SiteRedirect>> {
        Ok(Created::new(
            auth.caller(&idempotency.platform(&self.0))
                .org(&org)
                .site(&site)
                .redirects()
                .create(new.0)
                .await?,
        ))
    }

    /// Create, change, delete and publish redirects
    ///
    /// Each item applies to the redirect with its source: `destination` creates or replaces the live redirect, or the
    /// draft with the intent `draft`, and `null` deletes it. The intent `publish` makes the draft live, in place of the
    /// live redirect with its source. The items are applied in order and independently of each other; a rejected item
    /// has a result with the status `error`. The changes are stored in batches, so if a request fails, repeat it.
    #[oai(path = "/redirects", method = "put", operation_id = "bulkUpsertSiteRedirects")]
    async fn set_redirects(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        changes: Strict<BulkUpsertSiteRedirects>,
    ) -> ApiResult<Reply<BulkRedirectResults>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).redirects().bulk_upsert(changes.0).await?))
    }

    /// Change a redirect
    ///
    /// Omitted fields are unchanged.
    #[oai(path = "/redirects/:siteRedirectId", method = "patch", operation_id = "updateSiteRedirectById")]
    async fn update_redirect(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteRedirectId")] redirect: Path<RedirectId>,
        change: Strict<UpdateSiteRedirect>,
    ) -> ApiResult<Reply<SiteRedirect>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).redirect(&redirect).update(change.0).await?))
    }

    /// Delete a redirect
    ///
    /// Succeeds if the redirect does not exist.
    #[oai(path = "/redirects/:siteRedirectId", method = "delete", operation_id = "deleteSiteRedirectById")]
    async fn delete_redirect(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "siteId")] site: Path<SiteId, Deleted>,
        #[oai(name = "siteRedirectId")] redirect: Path<RedirectId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).redirect(&redirect).delete().await?;
        Ok(Empty)
    }

    /// Resolve the redirect of a path
    ///
    /// Returns 404 if no live redirect applies to the path, or if its destination no longer exists.
    #[oai(path = "/redirect", method = "get", operation_id = "getSiteRedirectBySource")]
    async fn redirect(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        /// Key of a share link of the site, which is included in the returned URL.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
        /// Path on the site.
        source: RequiredQuery<RedirectSource>,
    ) -> ApiResult<Reply<ResolvedRedirect>> {
        let site = auth.caller(&self.0).org(&org).site(&site).with_share_key(share_key.0.as_deref());
        Ok(Reply(site.resolve_redirect(&source.0).await?))
    }

    /// Get the adaptive schema of a site
    ///
    /// Returns 404 until a schema is set.
    #[oai(path = "/adaptive-schema", method = "get", operation_id = "getSiteAdaptiveSchema")]
    async fn adaptive_schema(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<SiteAdaptiveSchema>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).get_adaptive_schema().await?))
    }

    /// Set the adaptive schema of a site
    ///
    /// The schema defines which visitor claims are used, and their types.
    #[oai(path = "/adaptive-schema", method = "put", operation_id = "updateSiteAdaptiveSchema")]
    async fn set_adaptive_schema(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        new: Strict<UpdateAdaptiveSchema>,
    ) -> ApiResult<Reply<SiteAdaptiveSchema>> {
        Ok(Reply(
            auth.caller(&condition.platform(&self.0))
                .org(&org)
                .site(&site)
                .set_adaptive_schema(new.0)
                .await?,
        ))
    }

    /// List conditions derived from the adaptive schema
    ///
    /// Returns a condition for each value that the schema enumerates for a claim.
    #[oai(
        path = "/adaptive-schema/template-conditions",
        method = "get",
        operation_id = "listSiteAdaptiveTemplateConditions"
    )]
    async fn template_conditions(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<Reply<TemplateConditions>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).template_conditions().await?))
    }
}
