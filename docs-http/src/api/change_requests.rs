//! Change requests.

use docs_core::{
    Platform,
    model::{
        ChangeRequest, ChangeRequestStatus, ContentAnswer, CreateChangeRequest, List, MergeResult,
        UpdateChangeRequest, UpdateContent, UpdateResult,
    },
    platform::RequestFilter,
};
use poem_openapi::{OpenApi, param::Path};

use super::{Auth, Limit, Tag, id, page};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::Query,
        payload::Strict,
        reply::{Created, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct ChangeRequests(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/change-requests", tag = "Tag::ChangeRequests")]
impl ChangeRequests {
    /// List the change requests of a space
    ///
    /// Newest first.
    #[oai(path = "/", method = "get", operation_id = "listChangeRequestsForSpace")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// Only those in this status.
        status: Query<ChangeRequestStatus>,
        /// Only those that this user changed.
        contributor: Query<String>,
        /// Only those that this user created.
        creator: Query<String>,
    ) -> Answer<Reply<List<ChangeRequest>>> {
        let space = id(&space, "space")?;
        let filter = RequestFilter { status: status.0, contributor: contributor.0, creator: creator.0 };
        let list = self.0.list_change_requests(&auth.0, &space, &filter, &page(cursor.0, limit.0)).await?;
        Ok(Reply(list.into()))
    }

    /// Create a change request
    ///
    /// It begins as a draft with the content that the space has now.
    #[oai(path = "/", method = "post", operation_id = "createChangeRequest")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        new: Strict<CreateChangeRequest>,
    ) -> Answer<Created<ChangeRequest>> {
        let request =
            idempotency.on(&self.0).create_change_request(&auth.0, &id(&space, "space")?, new.0).await?;
        let location = request.urls.location.clone();
        Ok(Created::new(request).at(location))
    }

    /// Get a change request
    ///
    /// By its id, or by its number in the space.
    #[oai(path = "/:changeRequestId", method = "get", operation_id = "getChangeRequestById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
    ) -> Answer<Reply<ChangeRequest>> {
        Ok(Reply(self.0.get_change_request(&auth.0, &id(&space, "space")?, &request).await?))
    }

    /// Change subject or status of a change request
    #[oai(path = "/:changeRequestId", method = "patch", operation_id = "updateChangeRequestById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        change: Strict<UpdateChangeRequest>,
    ) -> Answer<Reply<ChangeRequest>> {
        let space = id(&space, "space")?;
        Ok(Reply(self.0.update_change_request(&auth.0, &space, &request, change.0).await?))
    }

    /// Merge a change request
    ///
    /// Conflicts do not stop it: they are kept in the content, and the result says so.
    #[oai(path = "/:changeRequestId/merge", method = "post", operation_id = "mergeChangeRequest")]
    async fn merge(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
    ) -> Answer<Reply<MergeResult>> {
        Ok(Reply(
            idempotency.on(&self.0).merge_change_request(&auth.0, &id(&space, "space")?, &request).await?,
        ))
    }

    /// Bring a change request up to date with its space
    #[oai(path = "/:changeRequestId/update", method = "post", operation_id = "updateChangeRequest")]
    async fn pull(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
    ) -> Answer<Reply<UpdateResult>> {
        Ok(Reply(
            idempotency.on(&self.0).pull_change_request(&auth.0, &id(&space, "space")?, &request).await?,
        ))
    }

    /// Change the content of a change request
    ///
    /// 1 to 50 changes, applied in order and all or none, as one new revision.
    #[oai(path = "/:changeRequestId/content", method = "post", operation_id = "updateChangeRequestContent")]
    async fn edit(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// `false` for an answer that tells what was changed, and not the request alone.
        compat: Query<bool>,
        changes: Strict<UpdateContent>,
    ) -> Answer<Reply<ContentAnswer>> {
        let space = id(&space, "space")?;
        let done = idempotency.on(&self.0).edit_content(&auth.0, &space, &request, changes.0).await?;
        Ok(Reply(ContentAnswer::new(done, compat.0.unwrap_or(true))))
    }
}
