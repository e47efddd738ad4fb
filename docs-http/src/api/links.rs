//! Operations on links and backlinks, for spaces and change requests.

use docs_core::{
    Platform,
    content::LinkTarget,
    model::{BrokenContext, ContentLocation, FileId, LinkList, LinkStatus, List, PageId, SpaceId},
    platform::{ContentVersion, RequestLinkFilter},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, PageQuery, Path, Query, Reply};

#[derive(Debug)]
pub struct ContentLinks(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Content")]
impl ContentLinks {
    /// List the links of a space
    ///
    /// Returns the links of all pages and reusable content, broken links first.
    #[oai(path = "/spaces/:spaceId/links", method = "get", operation_id = "listSpaceLinks")]
    async fn space_links(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        page: PageQuery,
        /// Restricts the list to links with this status.
        status: Query<LinkStatus>,
    ) -> ApiResult<Reply<LinkList>> {
        Ok(Reply(auth.caller(&self.0).space(&space).list_links(status.0, &page.0).await?))
    }

    /// List the links of a change request
    ///
    /// Returns the links that the change request adds, and those whose status it changes. `stats` covers all links of
    /// its content.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/links",
        method = "get",
        operation_id = "listChangeRequestLinks"
    )]
    async fn request_links(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        page: PageQuery,
        /// Restricts the list to links with this status.
        status: Query<LinkStatus>,
        /// Restricts the list to links that the change request adds or breaks, or to links that are broken in the
        /// space.
        #[oai(name = "brokenContext")]
        broken_context: Query<BrokenContext>,
    ) -> ApiResult<Reply<LinkList>> {
        let filter = RequestLinkFilter { status: status.0, broken_context: broken_context.0 };
        Ok(Reply(
            auth.caller(&self.0).space(&space).change_request(&request).list_links(filter, &page.0).await?,
        ))
    }

    /// List the links of a page of a space
    ///
    /// Returns the links of the page, broken links first.
    #[oai(
        path = "/spaces/:spaceId/content/page/:pageId/links",
        method = "get",
        operation_id = "listPageLinksInSpace"
    )]
    async fn page_links(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "pageId")] id_of_page: Path<PageId>,
        page: PageQuery,
        /// Restricts the list to links with this status.
        status: Query<LinkStatus>,
    ) -> ApiResult<Reply<LinkList>> {
        let of = ContentVersion::space(space.0);
        Ok(Reply(auth.caller(&self.0).content(&of).list_page_links(&id_of_page, status.0, &page.0).await?))
    }

    /// List the backlinks of a page of a space
    ///
    /// Returns each page and each reusable content block that links to the page, once.
    #[oai(
        path = "/spaces/:spaceId/content/page/:pageId/backlinks",
        method = "get",
        operation_id = "listSpacePageBacklinks"
    )]
    async fn page_backlinks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "pageId")] id_of_page: Path<PageId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<ContentLocation>>> {
        let (of, target) = (ContentVersion::space(space.0), LinkTarget::Page(id_of_page.0));
        let list = auth.caller(&self.0).content(&of).list_backlinks(&target, &page.0).await?;
        Ok(Reply(list.into()))
    }

    /// List the backlinks of a file of a space
    ///
    /// Returns each page and each reusable content block that links to the file, once.
    #[oai(
        path = "/spaces/:spaceId/content/files/:fileId/backlinks",
        method = "get",
        operation_id = "listSpaceFileBacklinks"
    )]
    async fn file_backlinks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "fileId")] id_of_file: Path<FileId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<ContentLocation>>> {
        let (of, target) = (ContentVersion::space(space.0), LinkTarget::File(id_of_file.0));
        let list = auth.caller(&self.0).content(&of).list_backlinks(&target, &page.0).await?;
        Ok(Reply(list.into()))
    }

    /// List the links of a page of a change request
    ///
    /// Returns the links of the page, broken links first.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/page/:pageId/links",
        method = "get",
        operation_id = "listPageLinksInChangeRequest"
    )]
    async fn request_page_links(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "pageId")] id_of_page: Path<PageId>,
        page: PageQuery,
        /// Restricts the list to links with this status.
        status: Query<LinkStatus>,
    ) -> ApiResult<Reply<LinkList>> {
        let of = ContentVersion::request(space.0, &request);
        Ok(Reply(auth.caller(&self.0).content(&of).list_page_links(&id_of_page, status.0, &page.0).await?))
    }

    /// List the backlinks of a page of a change request
    ///
    /// Returns each page and each reusable content block that links to the page, once.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/page/:pageId/backlinks",
        method = "get",
        operation_id = "listChangeRequestPageBacklinks"
    )]
    async fn request_page_backlinks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "pageId")] id_of_page: Path<PageId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<ContentLocation>>> {
        let (of, target) = (ContentVersion::request(space.0, &request), LinkTarget::Page(id_of_page.0));
        let list = auth.caller(&self.0).content(&of).list_backlinks(&target, &page.0).await?;
        Ok(Reply(list.into()))
    }

    /// List the backlinks of a file of a change request
    ///
    /// Returns each page and each reusable content block that links to the file, once.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/files/:fileId/backlinks",
        method = "get",
        operation_id = "listChangeRequestFileBacklinks"
    )]
    async fn request_file_backlinks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "fileId")] id_of_file: Path<FileId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<ContentLocation>>> {
        let (of, target) = (ContentVersion::request(space.0, &request), LinkTarget::File(id_of_file.0));
        let list = auth.caller(&self.0).content(&of).list_backlinks(&target, &page.0).await?;
        Ok(Reply(list.into()))
    }
}
