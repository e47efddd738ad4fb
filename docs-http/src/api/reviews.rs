//! Reviews of change requests, who was asked for one, and who contributed.

use docs_core::{
    Platform,
    model::{
        ContentFormat, Contributor, List, RequestReviewers, RequestedReviewer, RequestedReviewers, Review,
        SubmitReview,
    },
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::{PageQuery, Query},
        payload::Strict,
        reply::{Created, Empty, NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Reviews(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/change-requests/:changeRequestId", tag = "Tag::ChangeRequests")]
impl Reviews {
    /// List the reviews of a change request
    ///
    /// The newest first: every one that was submitted, later ones of the same reviewer included.
    #[oai(path = "/reviews", method = "get", operation_id = "getReviewsByChangeRequestId")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        /// The form of what reviewers say: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
        page: PageQuery,
    ) -> Answer<Reply<List<Review>>> {
        let space = id(&space, "space")?;
        let format = format.0.unwrap_or_default();
        Ok(Reply(
            auth.caller(&self.0)
                .space(&space)
                .change_request(&request)
                .list_reviews(format, &page.0)
                .await?
                .into(),
        ))
    }

    /// Review a change request
    ///
    /// What the reviewer says becomes a comment of the request.
    #[oai(path = "/reviews", method = "post", operation_id = "submitChangeRequestReview")]
    async fn submit(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        new: Strict<SubmitReview>,
    ) -> Answer<Created<Review>> {
        let space = id(&space, "space")?;
        let review = auth
            .caller(&idempotency.platform(&self.0))
            .space(&space)
            .change_request(&request)
            .submit_review(new.0)
            .await?;
        // A review has no address of its own: it is found among the others.
        Ok(Created::new(review).at(self.0.urls().reviews(&space, &request)))
    }

    /// List those who were asked to review a change request
    ///
    /// And who have not yet, in the order in which they were asked.
    #[oai(
        path = "/requested-reviewers",
        method = "get",
        operation_id = "getRequestedReviewersByChangeRequestId"
    )]
    async fn asked(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<RequestedReviewer>>> {
        let space = id(&space, "space")?;
        Ok(Reply(
            auth.caller(&self.0)
                .space(&space)
                .change_request(&request)
                .list_requested_reviewers(&page.0)
                .await?
                .into(),
        ))
    }

    /// Ask members to review a change request
    ///
    /// A draft becomes open by it.
    #[oai(path = "/requested-reviewers", method = "post", operation_id = "requestReviewersForChangeRequest")]
    async fn ask(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        new: Strict<RequestReviewers>,
    ) -> Answer<Reply<RequestedReviewers>> {
        let space = id(&space, "space")?;
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .space(&space)
                .change_request(&request)
                .request_reviewers(new.0)
                .await?,
        ))
    }

    /// Withdraw the request for a review of a member
    ///
    /// Somebody who was not asked is no error.
    #[oai(
        path = "/requested-reviewers/:userId",
        method = "delete",
        operation_id = "removeRequestedReviewerFromChangeRequest"
    )]
    async fn unask(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(space), Ok(user)) = (space.parse(), user.parse()) {
            auth.caller(&self.0)
                .space(&space)
                .change_request(&request)
                .remove_requested_reviewer(&user)
                .await?;
        }
        Ok(Empty)
    }

    /// List who changed a change request
    ///
    /// In the order of the first time. Creating it counts.
    #[oai(path = "/contributors", method = "get", operation_id = "getContributorsByChangeRequestId")]
    async fn contributors(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
    ) -> Answer<Reply<List<Contributor>>> {
        let space = id(&space, "space")?;
        Ok(Reply(
            auth.caller(&self.0).space(&space).change_request(&request).list_contributors().await?.into(),
        ))
    }
}
