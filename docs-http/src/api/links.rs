//! Links and backlinks: one implementation, mounted for spaces and for change requests.

use docs_core::{
    Platform,
    content::LinkTarget,
    model::{BrokenContext, ContentLocation, LinkList, LinkStatus, List},
    platform::RequestLinkFilter,
};
use poem_openapi::{OpenApi, param::Path};

use super::{
    Auth, Limit, Tag,
    content::{live, of_request},
    id, page,
};
use crate::wire::{error::Answer, params::Query, reply::Reply};

/// Operations of this noun.
#[derive(Debug)]
pub struct Links(pub(super) Platform);

#[OpenApi(tag = "Tag::Content")]
impl Links {
    /// List the links of a space
    ///
    /// What its pages and reusable contents refer to, broken links first.
    #[oai(path = "/spaces/:spaceId/links", method = "get", operation_id = "listSpaceLinks")]
    async fn space_links(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// Only links that stand so.
        status: Query<LinkStatus>,
    ) -> Answer<Reply<LinkList>> {
        let space = id(&space, "space")?;
        let page = page(cursor.0, limit.0);
        Ok(Reply(self.0.list_space_links(&auth.0, &space, status.0, &page).await?))
    }

    /// List the links of a change request
    ///
    /// Those that it adds, or that stand otherwise because of it. `stats` tells of all links of its content.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/links",
        method = "get",
        operation_id = "listChangeRequestLinks"
    )]
    async fn request_links(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// Only links that stand so.
        status: Query<LinkStatus>,
        /// Only broken links: those that the request made or broke, or those that its content has from the space.
        #[oai(name = "brokenContext")]
        broken_context: Query<BrokenContext>,
    ) -> Answer<Reply<LinkList>> {
        let space = id(&space, "space")?;
        let filter = RequestLinkFilter { status: status.0, broken_context: broken_context.0 };
        let page = page(cursor.0, limit.0);
        Ok(Reply(self.0.list_request_links(&auth.0, (&space, &request), filter, &page).await?))
    }

    /// List the links of a page of a space
    ///
    /// What the page refers to, broken links first.
    #[oai(
        path = "/spaces/:spaceId/content/page/:pageId/links",
        method = "get",
        operation_id = "listPageLinksInSpace"
    )]
    async fn page_links(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "pageId")] id_of_page: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// Only links that stand so.
        status: Query<LinkStatus>,
    ) -> Answer<Reply<LinkList>> {
        let (of, id) = (live(&space)?, id(&id_of_page, "page")?);
        let page = page(cursor.0, limit.0);
        Ok(Reply(self.0.list_page_links(&auth.0, &of, &id, (status.0, &page)).await?))
    }

    /// List what links to a page of a space
    ///
    /// Each page and reusable content once.
    #[oai(
        path = "/spaces/:spaceId/content/page/:pageId/backlinks",
        method = "get",
        operation_id = "listSpacePageBacklinks"
    )]
    async fn page_backlinks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "pageId")] id_of_page: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<ContentLocation>>> {
        let (of, target) = (live(&space)?, LinkTarget::Page(id(&id_of_page, "page")?));
        let list = self.0.list_backlinks(&auth.0, &of, &target, &page(cursor.0, limit.0)).await?;
        Ok(Reply(list.into()))
    }

    /// List what links to a file of a space
    ///
    /// Each page and reusable content once.
    #[oai(
        path = "/spaces/:spaceId/content/files/:fileId/backlinks",
        method = "get",
        operation_id = "listSpaceFileBacklinks"
    )]
    async fn file_backlinks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "fileId")] id_of_file: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<ContentLocation>>> {
        let (of, target) = (live(&space)?, LinkTarget::File(id(&id_of_file, "file")?));
        let list = self.0.list_backlinks(&auth.0, &of, &target, &page(cursor.0, limit.0)).await?;
        Ok(Reply(list.into()))
    }

    /// List the links of a page of a change request
    ///
    /// What the page refers to, broken links first.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/page/:pageId/links",
        method = "get",
        operation_id = "listPageLinksInChangeRequest"
    )]
    async fn request_page_links(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "pageId")] id_of_page: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// Only links that stand so.
        status: Query<LinkStatus>,
    ) -> Answer<Reply<LinkList>> {
        let (of, id) = (of_request(&space, &request)?, id(&id_of_page, "page")?);
        let page = page(cursor.0, limit.0);
        Ok(Reply(self.0.list_page_links(&auth.0, &of, &id, (status.0, &page)).await?))
    }

    /// List what links to a page of a change request
    ///
    /// Each page and reusable content once.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/page/:pageId/backlinks",
        method = "get",
        operation_id = "listChangeRequestPageBacklinks"
    )]
    async fn request_page_backlinks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "pageId")] id_of_page: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<ContentLocation>>> {
        let (of, target) = (of_request(&space, &request)?, LinkTarget::Page(id(&id_of_page, "page")?));
        let list = self.0.list_backlinks(&auth.0, &of, &target, &page(cursor.0, limit.0)).await?;
        Ok(Reply(list.into()))
    }

    /// List what links to a file of a change request
    ///
    /// Each page and reusable content once.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/files/:fileId/backlinks",
        method = "get",
        operation_id = "listChangeRequestFileBacklinks"
    )]
    async fn request_file_backlinks(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "fileId")] id_of_file: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<ContentLocation>>> {
        let (of, target) = (of_request(&space, &request)?, LinkTarget::File(id(&id_of_file, "file")?));
        let list = self.0.list_backlinks(&auth.0, &of, &target, &page(cursor.0, limit.0)).await?;
        Ok(Reply(list.into()))
    }
}
