//! Published addresses.

use docs_core::{
    Platform,
    model::{PublishedUrl, ResolveUrl, ResolveVisitor, ResolvedUrl},
};
use poem_openapi::OpenApi;

use super::{Reader, Tag};
use crate::wire::{
    error::Answer,
    params::{Query, RequiredQuery},
    payload::Strict,
    reply::Reply,
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Urls(pub(super) Platform);

#[OpenApi(prefix_path = "/urls", tag = "Tag::Sites")]
impl Urls {
    /// Resolve a published address
    ///
    /// What is published there, and a token that it is read with. Whoever asks is nobody but the visitor that the body
    /// tells of.
    #[oai(path = "/published", method = "post", operation_id = "resolvePublishedContentByUrl")]
    async fn resolve(&self, _auth: Reader, ask: Strict<ResolveUrl>) -> Answer<Reply<ResolvedUrl>> {
        Ok(Reply(self.0.resolve_url(&ask.0).await?))
    }

    /// Resolve a published address, named in the query
    ///
    /// Claims that anybody can make are sent in the body of the other form.
    #[oai(path = "/published", method = "get", operation_id = "getPublishedContentByUrl", deprecated)]
    async fn find(
        &self,
        _auth: Reader,
        /// The address.
        url: RequiredQuery<PublishedUrl>,
        /// A token that is signed with the site's key.
        #[oai(name = "visitorAuthToken")]
        token: Query<String>,
        /// Whether a visitor whose token is not valid is sent on to where they sign in, instead of an error.
        #[oai(name = "redirectOnError")]
        redirect_on_error: Query<bool>,
    ) -> Answer<Reply<ResolvedUrl>> {
        let visitor = ResolveVisitor { jwt_token: token.0, unsigned_claims: None };
        let ask = ResolveUrl { url: url.0, redirect_on_error: redirect_on_error.0, visitor: Some(visitor) };
        Ok(Reply(self.0.resolve_url(&ask).await?))
    }
}
