//! Operations on reviews, requested reviewers and contributors of change requests.

use docs_core::{
    Platform,
    model::{
        ContentFormat, Contributor, List, RequestReviewers, RequestedReviewer, RequestedReviewers, Review,
        ReviewId, SpaceId, SubmitReview,
    },
    platform::ReviewQuery,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Created, Deleted, Empty, Idempotency, NoContent, OrgMember,
    PageQuery, Path, Query, Reply, Strict,
};

#[derive(Debug)]
pub struct Reviews(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/change-requests/:changeRequestId", tag = "ApiTag::ChangeRequests")]
impl Reviews {
    /// List the reviews of a change request
    ///
    /// Returns all submitted reviews, newest first, including repeated reviews by the same reviewer.
    #[oai(path = "/reviews", method = "get", operation_id = "getReviewsByChangeRequestId")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// Format of the comments: Markdown (the default) or a document tree.
        format: Query<ContentFormat>,
        /// Restricts the list to reviews of earlier content (`true`) or of the current content (`false`).
        outdated: Query<bool>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<Review>>> {
        let query = ReviewQuery { outdated: outdated.0, format: format.0.unwrap_or_default() };
        Ok(Reply(
            auth.caller(&self.0)
                .space(&space)
                .change_request(&request)
                .list_reviews(query, &page.0)
                .await?
                .into(),
        ))
    }

    /// Get a review of a change request
    ///
    /// A review is outdated if the content has changed since.
    #[oai(path = "/reviews/:reviewId", method = "get", operation_id = "getChangeRequestReviewById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "reviewId")] review: Path<ReviewId>,
        /// Format of the comment: Markdown (the default) or a document tree.
        format: Query<ContentFormat>,
    ) -> ApiResult<Reply<Review>> {
        let format = format.0.unwrap_or_default();
        Ok(Reply(
            auth.caller(&self.0).space(&space).change_request(&request).get_review(&review, format).await?,
        ))
    }

    /// Review a change request
    ///
    /// The reviewer's comment is added to the comments of the change request.
    #[oai(path = "/reviews", method = "post", operation_id = "submitChangeRequestReview")]
    async fn submit(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        new: Strict<SubmitReview>,
    ) -> ApiResult<Created<Review>> {
        let review = auth
            .caller(&idempotency.platform(&self.0))
            .space(&space)
            .change_request(&request)
            .submit_review(new.0)
            .await?;
        // A review has no URL of its own, so `Location` refers to the list of reviews.
        Ok(Created::new(review).with_location(self.0.urls().reviews(&space, &request)))
    }

    /// List the requested reviewers of a change request
    ///
    /// Returns the reviewers whose review is pending, in the order in which they were requested.
    #[oai(
        path = "/requested-reviewers",
        method = "get",
        operation_id = "getRequestedReviewersByChangeRequestId"
    )]
    async fn list_requested(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<RequestedReviewer>>> {
        Ok(Reply(
            auth.caller(&self.0)
                .space(&space)
                .change_request(&request)
                .list_requested_reviewers(&page.0)
                .await?
                .into(),
        ))
    }

    /// Request reviews of a change request
    ///
    /// A draft becomes open.
    #[oai(path = "/requested-reviewers", method = "post", operation_id = "requestReviewersForChangeRequest")]
    async fn request_reviewers(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        new: Strict<RequestReviewers>,
    ) -> ApiResult<Reply<RequestedReviewers>> {
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .space(&space)
                .change_request(&request)
                .request_reviewers(new.0)
                .await?,
        ))
    }

    /// Withdraw the request for a member's review
    ///
    /// Succeeds if no review by the member was requested.
    #[oai(
        path = "/requested-reviewers/:userId",
        method = "delete",
        operation_id = "removeRequestedReviewerFromChangeRequest"
    )]
    async fn remove_requested(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId, Deleted>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "userId")] user: Path<OrgMember, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).space(&space).change_request(&request).remove_requested_reviewer(&user).await?;
        Ok(Empty)
    }

    /// List the contributors of a change request
    ///
    /// Ordered by the first contribution. Creating the change request counts as a contribution.
    #[oai(path = "/contributors", method = "get", operation_id = "getContributorsByChangeRequestId")]
    async fn contributors(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "changeRequestId")] request: Path<String>,
    ) -> ApiResult<Reply<List<Contributor>>> {
        Ok(Reply(
            auth.caller(&self.0).space(&space).change_request(&request).list_contributors().await?.into(),
        ))
    }
}
