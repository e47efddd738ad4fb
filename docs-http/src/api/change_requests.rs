//! Operations on change requests.

use docs_core::{
    Platform,
    model::{
        ChangeRequest, ChangeRequestOrder, ChangeRequestStatus, ContentAnswer, CreateChangeRequest, List,
        MergeResult, OrgId, SpaceId, UpdateChangeRequest, UpdateContent, UpdateResult,
    },
    platform::{OrgRequestFilter, RequestFilter},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Idempotency, PageQuery, Path, Preferred,
    Query, Reply, ReturnPreference, Strict,
};

#[derive(Debug)]
pub struct ChangeRequests(pub(super) Platform);

#[OpenApi(tag = "ApiTag::ChangeRequests")]
impl ChangeRequests {
    /// List the change requests of an organization
    ///
    /// Returns the change requests of the spaces that the caller can see: space by space, newest first within a space,
    /// or those changed most recently first with `orderBy=updatedAt`.
    #[oai(
        path = "/orgs/:organizationId/change-requests",
        method = "get",
        operation_id = "listChangeRequestsForOrganization"
    )]
    async fn list_in_org(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// Restricts the list to change requests with these statuses; `open` by default.
        status: Query<Vec<ChangeRequestStatus>>,
        /// Restricts the list to change requests that this user created.
        creator: Query<String>,
        /// Restricts the list to change requests that this user changed.
        contributor: Query<String>,
        /// Restricts the list to change requests with a pending review request for this user.
        #[oai(name = "requestedReviewer")]
        requested_reviewer: Query<String>,
        /// Restricts the list to change requests of the spaces of this site.
        site: Query<String>,
        /// Restricts the list to change requests of this space.
        space: Query<String>,
        /// Restricts the list to change requests of this topic of a site. The platform has no topics, so the list is
        /// empty.
        topic: Query<String>,
        /// `createdAt`: space by space, most recently created first. `updatedAt`: most recently changed first, across
        /// spaces.
        #[oai(name = "orderBy")]
        order: Query<ChangeRequestOrder>,
    ) -> ApiResult<Reply<List<ChangeRequest>>> {
        let filter = OrgRequestFilter {
            order: order.0.unwrap_or_default(),
            statuses: status.0.unwrap_or_else(|| vec![ChangeRequestStatus::Open]),
            creator: creator.0,
            contributor: contributor.0,
            requested_reviewer: requested_reviewer.0,
            site: site.0,
            space: space.0,
            topic: topic.0,
        };
        Ok(Reply(auth.caller(&self.0).org(&org).list_change_requests(&filter, &page.0).await?.into()))
    }

    /// List the change requests of a space
    ///
    /// Newest first, unless `orderBy` is `updatedAt`.
    #[oai(
        path = "/spaces/:spaceId/change-requests",
        method = "get",
        operation_id = "listChangeRequestsForSpace"
    )]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        page: PageQuery,
        /// Restricts the list to change requests with this status.
        status: Query<ChangeRequestStatus>,
        /// Restricts the list to change requests that this user changed.
        contributor: Query<String>,
        /// Restricts the list to change requests that this user created.
        creator: Query<String>,
        /// Restricts the list to change requests with a pending review request for this user.
        #[oai(name = "requestedReviewer")]
        requested_reviewer: Query<String>,
        /// Restricts the list to change requests of this topic of a site. The platform has no topics, so the list is
        /// empty.
        topic: Query<String>,
        /// Order of the list: most recently created first, or most recently changed first.
        #[oai(name = "orderBy")]
        order: Query<ChangeRequestOrder>,
    ) -> ApiResult<Reply<List<ChangeRequest>>> {
        let filter = RequestFilter {
            status: status.0,
            contributor: contributor.0,
            creator: creator.0,
            requested_reviewer: requested_reviewer.0,
            topic: topic.0,
            order: order.0.unwrap_or_default(),
        };
        let list = auth.caller(&self.0).space(&space).change_requests().list(&filter, &page.0).await?;
        Ok(Reply(list.into()))
    }

    /// Create a change request
    ///
    /// The change request starts as a draft with the current content of the space.
    #[oai(path = "/spaces/:spaceId/change-requests", method = "post", operation_id = "createChangeRequest")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        new: Strict<CreateChangeRequest>,
    ) -> ApiResult<Created<ChangeRequest>> {
        let request =
            auth.caller(&idempotency.platform(&self.0)).space(&space).change_requests().create(new.0).await?;
        let location = request.urls.location.clone();
        Ok(Created::new(request).with_location(location))
    }

    /// Get a change request
    ///
    /// Accepts the id, or the number within the space.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId",
        method = "get",
        operation_id = "getChangeRequestById"
    )]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
    ) -> ApiResult<Reply<ChangeRequest>> {
        Ok(Reply(auth.caller(&self.0).space(&space).change_request(&request).get().await?))
    }

    /// Change subject or status of a change request
    ///
    /// Omitted fields are unchanged. The status of a merged change request cannot be changed.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId",
        method = "patch",
        operation_id = "updateChangeRequestById"
    )]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "Prefer")] preference: ReturnPreference,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        change: Strict<UpdateChangeRequest>,
    ) -> ApiResult<Preferred<Reply<ChangeRequest>>> {
        let platform = condition.platform(&self.0);
        let changed = auth.caller(&platform).space(&space).change_request(&request).update(change.0).await?;
        Ok(preference.apply(Reply(changed)))
    }

    /// Merge a change request
    ///
    /// Conflicts do not prevent the merge: they are stored in the content, and `result` is `conflicts`.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/merge",
        method = "post",
        operation_id = "mergeChangeRequest"
    )]
    async fn merge(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
    ) -> ApiResult<Reply<MergeResult>> {
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .space(&space)
                .change_request(&request)
                .merge()
                .await?,
        ))
    }

    /// Bring a change request up to date with its space
    ///
    /// Merges the latest content of the space into the change request. Conflicts do not prevent the update: they are
    /// stored in the content, and `result` is `conflicts`.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/update",
        method = "post",
        operation_id = "updateChangeRequest"
    )]
    async fn pull(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
    ) -> ApiResult<Reply<UpdateResult>> {
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0)).space(&space).change_request(&request).pull().await?,
        ))
    }

    /// Change the content of a change request
    ///
    /// Edits pages, files, variables and reusable content. The edits are applied in order, as a single transaction, and
    /// create one revision. If an edit is invalid, the request fails and the error names the invalid field.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/content",
        method = "post",
        operation_id = "updateChangeRequestContent"
    )]
    async fn edit(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// `false` includes the effects of the edits in the response. By default, the response contains only the change
        /// request.
        compat: Query<bool>,
        changes: Strict<UpdateContent>,
    ) -> ApiResult<Reply<ContentAnswer>> {
        let done = auth
            .caller(&condition.platform(&idempotency.platform(&self.0)))
            .space(&space)
            .change_request(&request)
            .edit(changes.0)
            .await?;
        let answer = if compat.0.unwrap_or(true) {
            ContentAnswer::compatible(done)
        } else {
            ContentAnswer::update(done)
        };
        Ok(Reply(answer))
    }
}
