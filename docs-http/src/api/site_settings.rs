//! What is set on a site besides its structure.

use docs_core::{
    Platform,
    model::{
        CreateShareLink, CreateSiteRedirect, Customization, CustomizationOverride, List, PublishingAuth,
        RedirectSource, ResolvedRedirect, ShareLink, SiteAdaptiveSchema, SiteRedirect, TemplateConditions,
        UpdateAdaptiveSchema, UpdatePublishingAuth, UpdateShareLink, UpdateSiteRedirect,
    },
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Reader, Tag, id};
use crate::{
    conditions::Condition,
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::{PageQuery, Query, RequiredQuery},
        payload::Strict,
        reply::{Created, Empty, NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct SiteSettings(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/sites/:siteId", tag = "Tag::Sites")]
impl SiteSettings {
    /// Get how a site looks
    ///
    /// Complete: what was never set is as it is by default.
    #[oai(path = "/customization", method = "get", operation_id = "getSiteCustomizationById")]
    async fn customization(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        /// Accepted for clients that send it: nothing is masked.
        #[oai(name = "unmasked")]
        _unmasked: Query<bool>,
    ) -> Answer<Reply<Customization>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).get_customization().await?))
    }

    /// Set how a site looks
    ///
    /// As a whole: it takes the place of all that was set before.
    #[oai(path = "/customization", method = "put", operation_id = "updateSiteCustomizationById")]
    async fn set_customization(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        look: Strict<Customization>,
    ) -> Answer<Reply<Customization>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(
            auth.caller(&condition.platform(&self.0)).org(&org).site(&site).set_customization(look.0).await?,
        ))
    }

    /// Get how a space on a site looks
    ///
    /// It looks as the site does, but for what was set on the space.
    #[oai(
        path = "/site-spaces/:siteSpaceId/customization",
        method = "get",
        operation_id = "getSiteSpaceCustomizationById"
    )]
    async fn place_customization(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSpaceId")] place: Path<String>,
        /// Accepted for clients that send it: nothing is masked.
        #[oai(name = "unmasked")]
        _unmasked: Query<bool>,
    ) -> Answer<Reply<Customization>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        let place = id(&place, "site space")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).space(&place).get_customization().await?))
    }

    /// Change how a space on a site differs from the site
    ///
    /// What the request leaves out stays; what it says `null` of is as on the site again.
    #[oai(
        path = "/site-spaces/:siteSpaceId/customization",
        method = "patch",
        operation_id = "overrideSiteSpaceCustomizationById"
    )]
    async fn override_customization(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSpaceId")] place: Path<String>,
        change: Strict<CustomizationOverride>,
    ) -> Answer<Reply<Customization>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        let id_of_place = id(&place, "site space")?;
        let platform = condition.platform(&self.0);
        let place = auth.caller(&platform).org(&org).site(&site).space(&id_of_place);
        Ok(Reply(place.override_customization(change.0).await?))
    }

    /// Make a space on a site look as the site
    ///
    /// What was set on the space is gone. One that has nothing of its own is no error.
    #[oai(
        path = "/site-spaces/:siteSpaceId/customization",
        method = "delete",
        operation_id = "deleteSiteSpaceCustomizationById"
    )]
    async fn delete_customization(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteSpaceId")] place: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(site), Ok(place)) = (org.parse(), site.parse(), place.parse()) {
            auth.caller(&condition.platform(&self.0))
                .org(&org)
                .site(&site)
                .space(&place)
                .delete_customization()
                .await?;
        }
        Ok(Empty)
    }

    /// List the share links of a site
    ///
    /// The oldest first, each with the address that it opens.
    #[oai(path = "/share-links", method = "get", operation_id = "listSiteShareLinks")]
    async fn share_links(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<ShareLink>>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).share_links().list(&page.0).await?.into()))
    }

    /// Create a share link
    ///
    /// Whoever has its address may read the site, where the site is published to holders of share links.
    #[oai(path = "/share-links", method = "post", operation_id = "createSiteShareLink")]
    async fn create_share_link(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        new: Strict<CreateShareLink>,
    ) -> Answer<Created<ShareLink>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        let link = auth
            .caller(&idempotency.platform(&self.0))
            .org(&org)
            .site(&site)
            .share_links()
            .create(new.0)
            .await?;
        let location = self.0.urls().share_link(&org, &site, &link.id);
        Ok(Created::new(link).at(location))
    }

    /// Change a share link
    ///
    /// What the request leaves out stays.
    #[oai(path = "/share-links/:shareLinkId", method = "patch", operation_id = "updateSiteShareLinkById")]
    async fn update_share_link(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "shareLinkId")] link: Path<String>,
        change: Strict<UpdateShareLink>,
    ) -> Answer<Reply<ShareLink>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        let link = id(&link, "share link")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).share_link(&link).update(change.0).await?))
    }

    /// Delete a share link
    ///
    /// Its key opens nothing any more. A link that is missing is no error.
    #[oai(path = "/share-links/:shareLinkId", method = "delete", operation_id = "deleteSiteShareLinkById")]
    async fn delete_share_link(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "shareLinkId")] link: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(site), Ok(link)) = (org.parse(), site.parse(), link.parse()) {
            auth.caller(&self.0).org(&org).site(&site).share_link(&link).delete().await?;
        }
        Ok(Empty)
    }

    /// Get how visitors of a site prove who they are
    ///
    /// A site that has no signing key yet is given one.
    #[oai(path = "/publishing/auth", method = "get", operation_id = "getSitePublishingAuthById")]
    async fn auth(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
    ) -> Answer<Reply<PublishingAuth>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).get_publishing_auth().await?))
    }

    /// Change how visitors of a site prove who they are
    ///
    /// What the request leaves out stays, the signing key too.
    #[oai(path = "/publishing/auth", method = "patch", operation_id = "updateSitePublishingAuthById")]
    async fn update_auth(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        change: Strict<UpdatePublishingAuth>,
    ) -> Answer<Reply<PublishingAuth>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(
            auth.caller(&condition.platform(&self.0))
                .org(&org)
                .site(&site)
                .update_publishing_auth(change.0)
                .await?,
        ))
    }

    /// Give a site another signing key
    ///
    /// Tokens that were signed with the key before are refused from here on.
    #[oai(
        path = "/publishing/auth/regenerate",
        method = "post",
        operation_id = "regenerateSitePublishingAuthById"
    )]
    async fn regenerate_auth(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
    ) -> Answer<Reply<PublishingAuth>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
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
    /// The newest first.
    #[oai(path = "/redirects", method = "get", operation_id = "listSiteRedirects")]
    async fn redirects(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<SiteRedirect>>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).redirects().list(&page.0).await?.into()))
    }

    /// Create a redirect
    ///
    /// From a path of the site, which no other redirect begins at, to what the site shows.
    #[oai(path = "/redirects", method = "post", operation_id = "createSiteRedirect")]
    async fn create_redirect(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        new: Strict<CreateSiteRedirect>,
    ) -> Answer<Created<SiteRedirect>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Created::new(
            auth.caller(&idempotency.platform(&self.0))
                .org(&org)
                .site(&site)
                .redirects()
                .create(new.0)
                .await?,
        ))
    }

    /// Change a redirect
    ///
    /// What the request leaves out stays.
    #[oai(path = "/redirects/:siteRedirectId", method = "patch", operation_id = "updateSiteRedirectById")]
    async fn update_redirect(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteRedirectId")] redirect: Path<String>,
        change: Strict<UpdateSiteRedirect>,
    ) -> Answer<Reply<SiteRedirect>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        let redirect = id(&redirect, "redirect")?;
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).redirect(&redirect).update(change.0).await?))
    }

    /// Delete a redirect
    ///
    /// A redirect that is missing is no error.
    #[oai(path = "/redirects/:siteRedirectId", method = "delete", operation_id = "deleteSiteRedirectById")]
    async fn delete_redirect(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        #[oai(name = "siteRedirectId")] redirect: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(site), Ok(redirect)) = (org.parse(), site.parse(), redirect.parse()) {
            auth.caller(&self.0).org(&org).site(&site).redirect(&redirect).delete().await?;
        }
        Ok(Empty)
    }

    /// Find the redirect of a path, and where it leads
    ///
    /// A path that no redirect begins at is not found, nor one that leads to what is gone.
    #[oai(path = "/redirect", method = "get", operation_id = "getSiteRedirectBySource")]
    async fn redirect(
        &self,
        auth: Reader,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        /// The key of a share link of the site: the address then leads through the link.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
        /// A path on the site.
        source: RequiredQuery<RedirectSource>,
    ) -> Answer<Reply<ResolvedRedirect>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        let site = auth.caller(&self.0).org(&org).site(&site).with_share_key(share_key.0.as_deref());
        Ok(Reply(site.resolve_redirect(&source.0).await?))
    }

    /// Get the adaptive schema of a site
    ///
    /// A site has none until one is set.
    #[oai(path = "/adaptive-schema", method = "get", operation_id = "getSiteAdaptiveSchema")]
    async fn adaptive_schema(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
    ) -> Answer<Reply<SiteAdaptiveSchema>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).get_adaptive_schema().await?))
    }

    /// Set the adaptive schema of a site
    ///
    /// It says which claims about visitors count, and of which type they are.
    #[oai(path = "/adaptive-schema", method = "put", operation_id = "updateSiteAdaptiveSchema")]
    async fn set_adaptive_schema(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        new: Strict<UpdateAdaptiveSchema>,
    ) -> Answer<Reply<SiteAdaptiveSchema>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(
            auth.caller(&condition.platform(&self.0))
                .org(&org)
                .site(&site)
                .set_adaptive_schema(new.0)
                .await?,
        ))
    }

    /// List conditions that follow from the adaptive schema
    ///
    /// Ready to use, one for each value that the schema knows of a claim.
    #[oai(
        path = "/adaptive-schema/template-conditions",
        method = "get",
        operation_id = "listSiteAdaptiveTemplateConditions"
    )]
    async fn template_conditions(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
    ) -> Answer<Reply<TemplateConditions>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).template_conditions().await?))
    }
}
