//! Operations that read content, defined once and mounted for spaces, change requests and revisions.

use std::future::Future;

use docs_core::{
    Platform, Result,
    content::Evaluated,
    model::{
        ContentFormat, Document, FileId, List, PageId, Pages, ReusableContent, ReusableId, Revision,
        RevisionFile, RevisionId, RevisionPage, RevisionSemanticChanges, SpaceId,
    },
    platform::{
        ContentHandle, ContentOptions, ContentVersion, DocumentOptions, EntityTag, JsonAnswer, MarkdownRefs,
    },
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, MaybeAuth, PageQuery, Path, Query, Reply};
use crate::{
    conditions::ClientCache,
    response_memory::ResponseMemory,
    wire::{
        cacheable::{CacheMode, CacheableReply},
        params::Limit,
    },
};

pub(super) type Content = (LiveContent, RequestContent, RevisionContent, ContentChanges, Documents);

/// Creates the operations that read content.
pub(super) fn content(platform: &Platform) -> Content {
    (
        LiveContent(platform.clone()),
        RequestContent(platform.clone()),
        RevisionContent(platform.clone()),
        ContentChanges(platform.clone()),
        Documents(platform.clone()),
    )
}

fn content_options(metadata: Query<bool>) -> ContentOptions {
    ContentOptions { git: metadata.0.unwrap_or(true), ..ContentOptions::default() }
}

fn with_computed(shown: ContentOptions, computed: Query<bool>) -> ContentOptions {
    ContentOptions { computed: computed.0.unwrap_or(true), ..shown }
}

fn text_options(
    metadata: Query<bool>,
    format: Query<ContentFormat>,
    evaluated: Query<Evaluated>,
) -> ContentOptions {
    let (format, evaluated) = (format.0.unwrap_or_default(), evaluated.0.unwrap_or_default());
    ContentOptions { format, evaluated, ..content_options(metadata) }
}

fn with_references(
    shown: ContentOptions,
    dereferenced: Query<Dereferenced>,
    refs: Query<LinkForm>,
) -> ContentOptions {
    let dereferenced = is_dereferenced(dereferenced);
    let refs = match refs.0 {
        None => MarkdownRefs::ForReader,
        Some(LinkForm::Stable) => MarkdownRefs::Stable,
        Some(LinkForm::Relative) => MarkdownRefs::Relative,
    };
    ContentOptions { dereferenced, refs, file_for_visitors: true, ..shown }
}

fn is_dereferenced(dereferenced: Query<Dereferenced>) -> bool {
    !matches!(dereferenced.0, None | Some(Dereferenced::No))
}

/// The references that are replaced by the content they refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
enum Dereferenced {
    /// None.
    #[serde(rename = "false")]
    No,
    /// Reusable contents.
    #[serde(rename = "true")]
    All,
    /// Reusable contents.
    #[serde(rename = "reusable-contents")]
    ReusableContents,
}

/// The form of links to pages in Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LinkForm {
    /// Ids.
    Stable,
    /// Paths of files, relative to the page.
    Relative,
}

/// The schema version of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum DocumentSchema {
    /// The current version.
    Current,
    /// The next version.
    Next,
}

/// Returns a cacheable response. With a tag, the content is immutable, and it is not read if the client has cached it.
/// Without a tag, clients must revalidate the response.
async fn cacheable_by_tag<T: Send>(
    tag: Option<EntityTag>,
    known: ClientCache,
    read: impl Future<Output = Result<T>> + Send,
) -> ApiResult<CacheableReply<T>> {
    Ok(match tag {
        None => CacheableReply::new(read.await?, None, CacheMode::Revalidate),
        Some(tag) if known.has(&tag) => CacheableReply::not_modified(tag, CacheMode::Immutable),
        tag => CacheableReply::new(read.await?, tag, CacheMode::Immutable),
    })
}

/// Returns a cacheable response. Immutable content is not read if the client has cached it, and clients need not
/// revalidate it.
async fn cacheable<T: Send>(
    content: ContentHandle<'_>,
    known: ClientCache,
    read: impl Future<Output = Result<T>> + Send,
) -> ApiResult<CacheableReply<T>> {
    cacheable_by_tag(content.permanent_tag().await?, known, read).await
}

/// Returns a cacheable response with pages or documents. Computed ones can change without a new revision.
/// They may be large, so they are serialized off the async threads.
async fn cacheable_pages<T: Send>(
    content: ContentHandle<'_>,
    known: ClientCache,
    read: impl Future<Output = Result<JsonAnswer>> + Send,
) -> ApiResult<CacheableReply<T>> {
    let tag = match content.permanent_tag().await? {
        // Clients never receive this ETag for computed content, so a client that sends it has the complete response.
        Some(tag) if known.has(&tag) => Some(tag),
        Some(tag) if content.computed_tag().await?.is_none() => Some(tag),
        _ => None,
    };
    Ok(cacheable_by_tag(tag, known, read).await?.into_json_of())
}

/// Returns a complete revision, which is not read if the client has cached it. Clients must revalidate the response,
/// because the published URL and the merged change request can change.
async fn whole_revision(
    content: ContentHandle<'_>,
    known: ClientCache,
    memory: ResponseMemory,
    shown: ContentOptions,
) -> ApiResult<CacheableReply<Revision>> {
    let tag = content.revision_tag().await?;
    if let Some(tag) = tag.as_ref().filter(|tag| known.has(tag)) {
        return Ok(CacheableReply::not_modified(tag.clone(), CacheMode::Revalidate));
    }
    // Both can be newer than the ETag read above.
    let (answer, tag) = content.get_json(shown, memory.limit()).await?;
    Ok(CacheableReply::new(answer, tag, CacheMode::Revalidate).into_json_of())
}

/// Declares the operations that read content under a path prefix.
///
/// An invocation specifies the prefix, its path parameters, the content that they identify, and the id and summary of
/// each operation.
macro_rules! mount {
    (
        $(#[$doc:meta])*
        $Mount:ident at $prefix:tt with ($($name:tt as $parameter:ident: $Id:ty),+) reads $content:expr, for $auth:ty;
        $revision:tt $revision_title:tt;
        $pages:tt $pages_title:tt;
        $files:tt $files_title:tt;
        $file:tt $file_title:tt;
        $page:tt $page_title:tt;
        $path:tt $path_title:tt;
        $reusable:tt $reusable_title:tt;
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Mount(Platform);

        #[OpenApi(prefix_path = $prefix, tag = "ApiTag::Content")]
        impl $Mount {
            #[doc = $revision_title]
            ///
            /// Returns the revision with its page tree, files, reusable content and variables.
            #[oai(path = "/", method = "get", operation_id = $revision)]
            async fn revision(
                &self,
                auth: $auth,
                known: ClientCache,
                memory: ResponseMemory,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                /// `false` omits Git metadata of pages and files; `true` by default.
                metadata: Query<bool>,
                /// `false` returns computed pages as defined, instead of the pages they generate; `true` by default.
                computed: Query<bool>,
            ) -> ApiResult<CacheableReply<Revision>> {
                let of = $content;
                let shown = with_computed(content_options(metadata), computed);
                whole_revision(auth.caller(&self.0).content(&of), known, memory, shown).await
            }

            #[doc = $pages_title]
            ///
            /// Returns the page tree without page content.
            #[oai(path = "/pages", method = "get", operation_id = $pages)]
            async fn pages(
                &self,
                auth: $auth,
                known: ClientCache,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                /// `false` omits Git metadata of pages and files; `true` by default.
                metadata: Query<bool>,
                /// `false` returns computed pages as defined, instead of the pages they generate; `true` by default.
                computed: Query<bool>,
            ) -> ApiResult<CacheableReply<Pages>> {
                let of = $content;
                let content = auth.caller(&self.0).content(&of);
                let shown = with_computed(content_options(metadata), computed);
                cacheable_pages(content, known, content.list_pages_json(shown)).await
            }

            #[doc = $files_title]
            ///
            /// Each file has a download URL.
            #[oai(path = "/files", method = "get", operation_id = $files)]
            async fn files(
                &self,
                auth: $auth,
                known: ClientCache,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                page: PageQuery,
                /// `false` omits Git metadata of pages and files; `true` by default.
                metadata: Query<bool>,
                /// Accepted for compatibility; has no effect on files.
                #[oai(name = "computed")]
                _computed: Query<bool>,
            ) -> ApiResult<CacheableReply<List<RevisionFile>>> {
                let of = $content;
                let content = auth.caller(&self.0).content(&of);
                let files = async { Ok(content.list_files(content_options(metadata), &page.0).await?.into()) };
                cacheable(content, known, files).await
            }

            #[doc = $file_title]
            ///
            /// The file has a download URL.
            #[oai(path = "/files/:fileId", method = "get", operation_id = $file)]
            async fn file(
                &self,
                auth: $auth,
                known: ClientCache,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "fileId")] file: Path<FileId>,
                /// `false` omits Git metadata of pages and files; `true` by default.
                metadata: Query<bool>,
                /// Accepted for compatibility; has no effect on files.
                #[oai(name = "computed")]
                _computed: Query<bool>,
            ) -> ApiResult<CacheableReply<RevisionFile>> {
                let of = $content;
                let content = auth.caller(&self.0).content(&of);
                cacheable(content, known, content.get_file(&file, content_options(metadata))).await
            }

            #[doc = $page_title]
            ///
            /// Returns the page with its content and its subpages.
            #[oai(path = "/page/:pageId", method = "get", operation_id = $page)]
            async fn page(
                &self,
                auth: $auth,
                known: ClientCache,
                memory: ResponseMemory,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "pageId")] page: Path<PageId>,
                /// The format of the content; `markdown` by default.
                format: Query<ContentFormat>,
                /// The evaluation of conditions and expressions. Disabled by default.
                evaluated: Query<Evaluated>,
                /// `false` omits Git metadata of pages and files; `true` by default.
                metadata: Query<bool>,
                /// `false` returns computed pages as defined, instead of the pages they generate; `true` by default.
                computed: Query<bool>,
                /// `reusable-contents` or `true` replaces reusable contents by their content. Disabled by default.
                dereferenced: Query<Dereferenced>,
                /// The form of links to pages of the space in Markdown: ids (`stable`, the default) or paths of files
                /// (`relative`). Without it, visitors of sites read the page as a file: its title as a heading, paths
                /// of files, and the content of reusable contents.
                #[oai(name = "format.markdown.refs")]
                refs: Query<LinkForm>,
                /// Accepted for compatibility. Git metadata is always current.
                #[oai(name = "cachedMetadata")]
                _cached: Query<bool>,
            ) -> ApiResult<CacheableReply<RevisionPage>> {
                let of = $content;
                let content = auth.caller(&self.0).content(&of);
                let shown = with_computed(text_options(metadata, format, evaluated), computed);
                let shown = with_references(shown, dereferenced, refs);
                cacheable_pages(content, known, content.get_page_json(&page, shown, memory.limit())).await
            }

            #[doc = $path_title]
            ///
            /// The path is case-insensitive and its slashes can be written as `%2F`. If no page has the path, former
            /// paths of pages and their ancestors are resolved, then `redirects` of `.gitbook.yaml`.
            #[oai(path = "/path/:pagePath", method = "get", operation_id = $path)]
            async fn path(
                &self,
                auth: $auth,
                known: ClientCache,
                memory: ResponseMemory,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "pagePath")] path: Path<String>,
                /// The format of the content; `markdown` by default.
                format: Query<ContentFormat>,
                /// The evaluation of conditions and expressions. Disabled by default.
                evaluated: Query<Evaluated>,
                /// `false` omits Git metadata of pages and files; `true` by default.
                metadata: Query<bool>,
                /// `false` returns computed pages as defined, instead of the pages they generate; `true` by default.
                computed: Query<bool>,
                /// `reusable-contents` or `true` replaces reusable contents by their content. Disabled by default.
                dereferenced: Query<Dereferenced>,
                /// The form of links to pages of the space in Markdown: ids (`stable`, the default) or paths of files
                /// (`relative`). Without it, visitors of sites read the page as a file: its title as a heading, paths
                /// of files, and the content of reusable contents.
                #[oai(name = "format.markdown.refs")]
                refs: Query<LinkForm>,
                /// Accepted for compatibility. Git metadata is always current.
                #[oai(name = "cachedMetadata")]
                _cached: Query<bool>,
            ) -> ApiResult<CacheableReply<RevisionPage>> {
                let how = with_computed(text_options(metadata, format, evaluated), computed);
                let how = with_references(how, dereferenced, refs);
                let of = $content;
                let content = auth.caller(&self.0).content(&of);
                cacheable_pages(content, known, content.get_page_by_path_json(&path, how, memory.limit())).await
            }

            #[doc = $reusable_title]
            ///
            /// Returns the title and the document id of the reusable content.
            #[oai(path = "/reusable-contents/:reusableContentId", method = "get", operation_id = $reusable)]
            async fn reusable_content(
                &self,
                auth: $auth,
                known: ClientCache,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "reusableContentId")] reusable: Path<ReusableId>,
                /// `false` omits Git metadata; `true` by default.
                metadata: Query<bool>,
                /// Accepted for compatibility; computed content is always returned as defined.
                #[oai(name = "computed")]
                _computed: Query<bool>,
            ) -> ApiResult<CacheableReply<ReusableContent>> {
                let of = $content;
                let content = auth.caller(&self.0).content(&of);
                cacheable(content, known, content.get_reusable_content(&reusable, content_options(metadata))).await
            }
        }
    };
}

mount! {
    /// The live content of a space.
    LiveContent at "/spaces/:spaceId/content" with ("spaceId" as space: SpaceId) reads ContentVersion::space(space.0), for MaybeAuth;
    "getCurrentRevision" "Get the latest revision of a space";
    "listPages" "List the pages of a space";
    "listFiles" "List the files of a space";
    "getFileById" "Get a file of a space";
    "getPageById" "Get a page of a space";
    "getPageByPath" "Get a page of a space by its path";
    "getReusableContentById" "Get a reusable content of a space";
}

mount! {
    /// The content of a change request.
    RequestContent at "/spaces/:spaceId/change-requests/:changeRequestId/content"
        with ("spaceId" as space: SpaceId, "changeRequestId" as request: String)
        reads ContentVersion::request(space.0, &request), for Auth;
    "getRevisionOfChangeRequestById" "Get the latest revision of a change request";
    "listPagesInChangeRequest" "List the pages of a change request";
    "listFilesInChangeRequestById" "List the files of a change request";
    "getFileInChangeRequestById" "Get a file of a change request";
    "getPageInChangeRequestById" "Get a page of a change request";
    "getPageInChangeRequestByPath" "Get a page of a change request by its path";
    "getReusableContentInChangeRequestById" "Get a reusable content of a change request";
}

mount! {
    /// The content of any revision of a space or of its change requests.
    RevisionContent at "/spaces/:spaceId/revisions/:revisionId"
        with ("spaceId" as space: SpaceId, "revisionId" as revision: RevisionId)
        reads ContentVersion::revision(space.0, revision.0), for MaybeAuth;
    "getRevisionById" "Get a revision";
    "listPagesInRevisionById" "List the pages of a revision";
    "listFilesInRevisionById" "List the files of a revision";
    "getFileInRevisionById" "Get a file of a revision";
    "getPageInRevisionById" "Get a page of a revision";
    "getPageInRevisionByPath" "Get a page of a revision by its path";
    "getReusableContentInRevisionById" "Get a reusable content of a revision";
}

#[derive(Debug)]
pub struct ContentChanges(Platform);

#[OpenApi(tag = "ApiTag::Content")]
impl ContentChanges {
    /// List the changes of a change request
    ///
    /// Compares the change request with the revision of the space that it is based on.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/changes",
        method = "get",
        operation_id = "getChangeRequestChanges"
    )]
    async fn request_changes(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// Maximum number of changes in the response. The default is small.
        limit: Query<Limit>,
    ) -> ApiResult<Reply<RevisionSemanticChanges>> {
        let limit = limit.0.map(|limit| limit.0);
        Ok(Reply(
            auth.caller(&self.0)
                .content(&ContentVersion::request(space.0, &request))
                .list_changes(limit)
                .await?,
        ))
    }

    /// List the changes of a revision
    ///
    /// Compares the revision with its parent. The parent of a merge is the previous revision of the space, the parent
    /// of an update is the previous revision of the change request.
    #[oai(
        path = "/spaces/:spaceId/revisions/:revisionId/changes",
        method = "get",
        operation_id = "getRevisionSemanticChanges"
    )]
    async fn revision_changes(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "revisionId")] revision: Path<RevisionId>,
        /// Accepted for compatibility; changes contain no Git metadata.
        #[oai(name = "metadata")]
        _metadata: Query<bool>,
        /// Accepted for compatibility; computed pages are always compared as defined.
        #[oai(name = "computed")]
        _computed: Query<bool>,
        /// Maximum number of changes in the response. The default is small.
        limit: Query<Limit>,
    ) -> ApiResult<Reply<RevisionSemanticChanges>> {
        let limit = limit.0.map(|limit| limit.0);
        Ok(Reply(
            auth.caller(&self.0)
                .content(&ContentVersion::revision(space.0, revision.0))
                .list_changes(limit)
                .await?,
        ))
    }
}

#[derive(Debug)]
pub struct Documents(Platform);

#[OpenApi(tag = "ApiTag::Content")]
impl Documents {
    /// Get a document
    ///
    /// Accepts the document id of a page or of reusable content. The document with a given id never changes.
    #[oai(path = "/spaces/:spaceId/documents/:documentId", method = "get", operation_id = "getDocumentById")]
    async fn document(
        &self,
        auth: MaybeAuth,
        known: ClientCache,
        memory: ResponseMemory,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "documentId")] document: Path<String>,
        /// Accepted for compatibility; both versions are identical.
        #[oai(name = "schema")]
        _schema: Query<DocumentSchema>,
    ) -> ApiResult<CacheableReply<Document>> {
        let space = auth.caller(&self.0).space(&space);
        let read = space.get_document_json(&document, memory.limit());
        Ok(cacheable_by_tag(None, known, read).await?.into_json_of())
    }

    /// Get the document of a page of a revision
    ///
    /// Returns a document tree. Pages without content, for example links, have no document.
    #[oai(
        path = "/spaces/:spaceId/revisions/:revisionId/page/:pageId/document",
        method = "get",
        operation_id = "getPageDocumentInRevisionById"
    )]
    async fn page_document(
        &self,
        auth: MaybeAuth,
        known: ClientCache,
        memory: ResponseMemory,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "revisionId")] revision: Path<RevisionId>,
        #[oai(name = "pageId")] page: Path<PageId>,
        /// The evaluation of conditions and expressions. Disabled by default.
        evaluated: Query<Evaluated>,
        /// `reusable-contents` or `true` replaces reusable contents by their content. Disabled by default.
        dereferenced: Query<Dereferenced>,
    ) -> ApiResult<CacheableReply<Document>> {
        let of = ContentVersion::revision(space.0, revision.0);
        let content = auth.caller(&self.0).content(&of);
        let evaluated = evaluated.0.unwrap_or_default();
        let shown = DocumentOptions { evaluated, dereferenced: is_dereferenced(dereferenced) };
        cacheable_pages(content, known, content.get_page_document_json(&page, shown, memory.limit())).await
    }

    /// Get the document of a reusable content of a revision
    ///
    /// Returns a document tree.
    #[oai(
        path = "/spaces/:spaceId/revisions/:revisionId/reusable-contents/:reusableContentId/document",
        method = "get",
        operation_id = "getReusableContentDocumentInRevisionById"
    )]
    async fn reusable_document(
        &self,
        auth: MaybeAuth,
        known: ClientCache,
        memory: ResponseMemory,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "revisionId")] revision: Path<RevisionId>,
        #[oai(name = "reusableContentId")] reusable: Path<ReusableId>,
        /// The evaluation of conditions and expressions. Disabled by default.
        evaluated: Query<Evaluated>,
    ) -> ApiResult<CacheableReply<Document>> {
        let of = ContentVersion::revision(space.0, revision.0);
        let content = auth.caller(&self.0).content(&of);
        let evaluated = evaluated.0.unwrap_or_default();
        let read = content.get_reusable_document_json(&reusable, evaluated, memory.limit());
        cacheable_pages(content, known, read).await
    }
}
