//! The addresses of pages for search engines, for spaces, change requests and revisions.

use docs_core::{
    Platform,
    model::{PageId, PageMetaLinks, RevisionId, SpaceId},
    platform::ContentVersion,
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, MaybeAuth, Path, Reply};

#[derive(Debug)]
pub struct MetaLinks(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId", tag = "ApiTag::Content")]
impl MetaLinks {
    /// Get the canonical URL of a page of a space
    ///
    /// Returns the URL of the page on the site that publishes the space, and the pages at the same path in the variants
    /// of the space in other languages.
    #[oai(path = "/content/page/:pageId/meta-links", method = "get", operation_id = "listSpacePageMetaLinks")]
    async fn of_page(
        &self,
        auth: MaybeAuth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "pageId")] page: Path<PageId>,
    ) -> ApiResult<Reply<PageMetaLinks>> {
        let of = ContentVersion::space(space.0);
        Ok(Reply(auth.caller(&self.0).content(&of).get_page_meta_links(&page).await?))
    }

    /// Get the canonical URL of a page of a change request
    ///
    /// Returns the URL at which the page will be published, and the pages at the same path in the variants of the space
    /// in other languages.
    #[oai(
        path = "/change-requests/:changeRequestId/content/page/:pageId/meta-links",
        method = "get",
        operation_id = "listChangeRequestPageMetaLinks"
    )]
    async fn of_request_page(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "pageId")] page: Path<PageId>,
    ) -> ApiResult<Reply<PageMetaLinks>> {
        let of = ContentVersion::request(space.0, &request);
        Ok(Reply(auth.caller(&self.0).content(&of).get_page_meta_links(&page).await?))
    }

    /// Get the canonical URL of a page of a revision
    ///
    /// Returns the URL at which the page of the revision is published while the revision is the live content, and the
    /// pages at the same path in the variants of the space in other languages.
    #[oai(
        path = "/revisions/:revisionId/page/:pageId/meta-links",
        method = "get",
        operation_id = "listRevisionPageMetaLinks"
    )]
    async fn of_revision_page(
        &self,
        auth: MaybeAuth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "revisionId")] revision: Path<RevisionId>,
        #[oai(name = "pageId")] page: Path<PageId>,
    ) -> ApiResult<Reply<PageMetaLinks>> {
        let of = ContentVersion::revision(space.0, revision.0);
        Ok(Reply(auth.caller(&self.0).content(&of).get_page_meta_links(&page).await?))
    }
}
