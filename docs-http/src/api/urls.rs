//! Resolution of published URLs.

use docs_core::{
    Platform,
    model::{PublishedUrl, ResolveUrl, ResolveVisitor, ResolvedUrl},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, MaybeAuth, Query, Reply, RequiredQuery, Strict};

#[derive(Debug)]
pub struct Urls(pub(super) Platform);

#[OpenApi(prefix_path = "/urls", tag = "ApiTag::Sites")]
impl Urls {
    /// Resolve a published address
    ///
    /// Returns the published content and a token for reading it. The request is evaluated for the visitor in the body,
    /// regardless of the caller's identity.
    #[oai(path = "/published", method = "post", operation_id = "resolvePublishedContentByUrl")]
    async fn resolve(&self, _auth: MaybeAuth, ask: Strict<ResolveUrl>) -> ApiResult<Reply<ResolvedUrl>> {
        Ok(Reply(self.0.resolve_url(&ask.0).await?))
    }

    /// Resolve a published address given in the query
    ///
    /// Use `resolvePublishedContentByUrl` to send unsigned claims.
    #[oai(path = "/published", method = "get", operation_id = "getPublishedContentByUrl", deprecated)]
    async fn find(
        &self,
        _auth: MaybeAuth,
        /// The published URL.
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
        Ok(Reply(self.0.resolve_url(&ask).await?))
    }
}
