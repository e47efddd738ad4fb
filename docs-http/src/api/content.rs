//! Content as it is read: one implementation, mounted for spaces and for change requests.

use docs_core::{
    Platform,
    model::{List, Pages, Revision, RevisionFile, RevisionPage},
    platform::{ContentOf, Shown},
};
use poem_openapi::{OpenApi, param::Path};

use super::{Auth, Limit, Tag, id, page};
use crate::wire::{
    error::{Answer, ApiError},
    params::Query,
    reply::Reply,
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Content(pub(super) Platform);

/// How the content of a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// A document tree.
    Document,
    /// Markdown.
    Markdown,
}

pub(super) fn live(space: &str) -> Answer<ContentOf> {
    Ok(ContentOf::space(id(space, "space")?))
}

pub(super) fn of_request(space: &str, request: &str) -> Answer<ContentOf> {
    Ok(ContentOf::request(id(space, "space")?, request))
}

fn shown(metadata: Query<bool>) -> Shown {
    Shown { git: metadata.0.unwrap_or(true) }
}

fn markdown_only(format: Query<Format>) -> Answer<()> {
    match format.0 {
        None | Some(Format::Markdown) => Ok(()),
        Some(Format::Document) => Err(ApiError::invalid("format: this server answers `markdown` only")),
    }
}

#[OpenApi(tag = "Tag::Content")]
impl Content {
    /// Get the latest revision of a space
    #[oai(path = "/spaces/:spaceId/content", method = "get", operation_id = "getCurrentRevision")]
    async fn revision(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<Revision>> {
        Ok(Reply(self.0.get_revision(&auth.0, &live(&space)?, shown(metadata)).await?))
    }

    /// List the pages of a space
    ///
    /// As a tree, without their content.
    #[oai(path = "/spaces/:spaceId/content/pages", method = "get", operation_id = "listPages")]
    async fn pages(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<Pages>> {
        Ok(Reply(self.0.list_pages(&auth.0, &live(&space)?, shown(metadata)).await?))
    }

    /// List the files of a space
    #[oai(path = "/spaces/:spaceId/content/files", method = "get", operation_id = "listFiles")]
    async fn files(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<List<RevisionFile>>> {
        let list =
            self.0.list_files(&auth.0, &live(&space)?, shown(metadata), &page(cursor.0, limit.0)).await?;
        Ok(Reply(list.into()))
    }

    /// Get a file of a space
    #[oai(path = "/spaces/:spaceId/content/files/:fileId", method = "get", operation_id = "getFileById")]
    async fn file(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "fileId")] file: Path<String>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<RevisionFile>> {
        let file = id(&file, "file")?;
        Ok(Reply(self.0.get_file(&auth.0, &live(&space)?, &file, shown(metadata)).await?))
    }

    /// Get a page of a space
    ///
    /// With its Markdown and the pages below it.
    #[oai(path = "/spaces/:spaceId/content/page/:pageId", method = "get", operation_id = "getPageById")]
    async fn page(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "pageId")] page: Path<String>,
        /// Only `markdown` is answered.
        format: Query<Format>,
        /// Accepted for clients that send it: expressions are answered as they were written.
        #[oai(name = "evaluated")]
        _evaluated: Query<bool>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<RevisionPage>> {
        markdown_only(format)?;
        let page = id(&page, "page")?;
        Ok(Reply(self.0.get_page(&auth.0, &live(&space)?, &page, shown(metadata)).await?))
    }

    /// Get a page of a space by its path
    #[oai(path = "/spaces/:spaceId/content/path/:pagePath", method = "get", operation_id = "getPageByPath")]
    async fn path(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "pagePath")] path: Path<String>,
        /// Only `markdown` is answered.
        format: Query<Format>,
        /// Accepted for clients that send it: expressions are answered as they were written.
        #[oai(name = "evaluated")]
        _evaluated: Query<bool>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<RevisionPage>> {
        markdown_only(format)?;
        Ok(Reply(self.0.get_page_by_path(&auth.0, &live(&space)?, &path, shown(metadata)).await?))
    }

    /// Get the latest revision of a change request
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content",
        method = "get",
        operation_id = "getRevisionOfChangeRequestById"
    )]
    async fn request_revision(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<Revision>> {
        Ok(Reply(self.0.get_revision(&auth.0, &of_request(&space, &request)?, shown(metadata)).await?))
    }

    /// List the pages of a change request
    ///
    /// As a tree, without their content.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/pages",
        method = "get",
        operation_id = "listPagesInChangeRequest"
    )]
    async fn request_pages(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<Pages>> {
        Ok(Reply(self.0.list_pages(&auth.0, &of_request(&space, &request)?, shown(metadata)).await?))
    }

    /// List the files of a change request
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/files",
        method = "get",
        operation_id = "listFilesInChangeRequestById"
    )]
    async fn request_files(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<List<RevisionFile>>> {
        let list = self
            .0
            .list_files(&auth.0, &of_request(&space, &request)?, shown(metadata), &page(cursor.0, limit.0))
            .await?;
        Ok(Reply(list.into()))
    }

    /// Get a file of a change request
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/files/:fileId",
        method = "get",
        operation_id = "getFileInChangeRequestById"
    )]
    async fn request_file(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "fileId")] file: Path<String>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<RevisionFile>> {
        let file = id(&file, "file")?;
        Ok(Reply(self.0.get_file(&auth.0, &of_request(&space, &request)?, &file, shown(metadata)).await?))
    }

    /// Get a page of a change request
    ///
    /// With its Markdown and the pages below it.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/page/:pageId",
        method = "get",
        operation_id = "getPageInChangeRequestById"
    )]
    async fn request_page(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "pageId")] page: Path<String>,
        /// Only `markdown` is answered.
        format: Query<Format>,
        /// Accepted for clients that send it: expressions are answered as they were written.
        #[oai(name = "evaluated")]
        _evaluated: Query<bool>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<RevisionPage>> {
        markdown_only(format)?;
        let page = id(&page, "page")?;
        Ok(Reply(self.0.get_page(&auth.0, &of_request(&space, &request)?, &page, shown(metadata)).await?))
    }

    /// Get a page of a change request by its path
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content/path/:pagePath",
        method = "get",
        operation_id = "getPageInChangeRequestByPath"
    )]
    async fn request_path(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "pagePath")] path: Path<String>,
        /// Only `markdown` is answered.
        format: Query<Format>,
        /// Accepted for clients that send it: expressions are answered as they were written.
        #[oai(name = "evaluated")]
        _evaluated: Query<bool>,
        /// `false` leaves out what Git knows of pages and files.
        metadata: Query<bool>,
        /// Accepted for clients that send it: this server computes no content, so nothing changes.
        #[oai(name = "computed")]
        _computed: Query<bool>,
    ) -> Answer<Reply<RevisionPage>> {
        markdown_only(format)?;
        Ok(Reply(
            self.0.get_page_by_path(&auth.0, &of_request(&space, &request)?, &path, shown(metadata)).await?,
        ))
    }
}
