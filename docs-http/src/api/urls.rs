//! Resolution of published URLs.

use docs_core::{
    Platform,
    model::{ContentByUrl, Embed, PublishedUrl, ResolveUrl, ResolveVisitor, ResolvedUrl, SpaceId},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, MaybeAuth, Path, Query, Reply, RequiredQuery, Strict};

#[derive(Debug)]
pub struct Urls(pub(super) Platform);

#[OpenApi(prefix_path = "/urls", tag = "ApiTag::Sites")]
impl Urls {
    /// Resolve a published address
    ///
    /// Returns the published content and a token for reading it. A published URL is resolved for the visitor in the
    /// body, regardless of the caller's identity. The preview URL of a site is resolved for a caller with the token of
    /// a member who has access to the site, or with the token that `getSitePublishingPreviewById` returned.
    #[oai(path = "/published", method = "post", operation_id = "resolvePublishedContentByUrl")]
    async fn resolve(&self, auth: MaybeAuth, ask: Strict<ResolveUrl>) -> ApiResult<Reply<ResolvedUrl>> {
        Ok(Reply(auth.caller(&self.0).resolve_url(&ask.0).await?))
    }

    /// Resolve a published address given in the query
    ///
    /// Use `resolvePublishedContentByUrl` to send unsigned claims.
    #[oai(path = "/published", method = "get", operation_id = "getPublishedContentByUrl", deprecated)]
    async fn find(
        &self,
        auth: MaybeAuth,
        /// The published URL, or the preview URL of a site.
        url: RequiredQuery<PublishedUrl>,
        /// A token signed with the site's key.
        #[oai(name = "visitorAuthToken")]
        token: Query<String>,
        /// `true` returns the sign-in URL if the visitor's token is invalid. By default, the request fails.
        #[oai(name = "redirectOnError")]
        redirect_on_error: Query<bool>,
    ) -> ApiResult<Reply<ResolvedUrl>> {
        let visitor = ResolveVisitor { jwt_token: token.0, unsigned_claims: None };
        let ask = ResolveUrl { url: url.0, redirect_on_error: redirect_on_error.0, visitor: Some(visitor) };
        Ok(Reply(auth.caller(&self.0).resolve_url(&ask).await?))
    }

    /// Find the content at a URL
    ///
    /// Returns the collection, or the space with its change request and page, at a URL of the application or of a
    /// published site. Returns 404 for other URLs, and for content that is not visible to the caller.
    #[oai(path = "/content", method = "get", operation_id = "getContentByUrl")]
    async fn content(
        &self,
        auth: Auth,
        /// The URL of the content.
        url: RequiredQuery<PublishedUrl>,
    ) -> ApiResult<Reply<ContentByUrl>> {
        Ok(Reply(auth.caller(&self.0).find_content(&url.0).await?))
    }

    /// Describe an embedded URL
    ///
    /// Returns the title of the content at the URL, if it is content of the platform that is visible to the caller.
    /// The web page at another URL is fetched for its title, description and site, and cached for an hour. If there is
    /// none, the title is the URL without scheme, query and fragment. Visitors of sites cause no fetch.
    #[oai(path = "/embed", method = "get", operation_id = "getEmbedByUrl")]
    async fn embed(
        &self,
        auth: Auth,
        /// The embedded URL.
        url: RequiredQuery<PublishedUrl>,
    ) -> ApiResult<Reply<Embed>> {
        Ok(Reply(auth.caller(&self.0).embed(&url.0).await?))
    }
}

#[derive(Debug)]
pub struct SpaceEmbeds(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Content")]
impl SpaceEmbeds {
    /// Describe a URL that is embedded in a space
    ///
    /// Returns the title of the content at the URL, if it is content of the platform that is visible to the caller.
    /// The web page at another URL is fetched for its title, description and site, and cached for an hour. If there is
    /// none, the title is the URL without scheme, query and fragment. Visitors of sites cause no fetch.
    #[oai(path = "/spaces/:spaceId/embed", method = "get", operation_id = "getEmbedByUrlInSpace")]
    async fn embed(
        &self,
        auth: MaybeAuth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        /// The embedded URL.
        url: RequiredQuery<PublishedUrl>,
    ) -> ApiResult<Reply<Embed>> {
        Ok(Reply(auth.caller(&self.0).space(&space).embed(&url.0).await?))
    }
}
