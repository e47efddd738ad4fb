//! Reviews of change requests, reviewers and contributors.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Comment, CommentInput, Document, ReviewId, RevisionId, Subject, Timestamp, User, UserUrls,
    list::constants, patch::deserialize_non_null,
};

constants! {
    /// `change-request-review`.
    ReviewObject = "change-request-review",
    /// `change-request-requested-reviewer`.
    RequestedReviewerObject = "change-request-requested-reviewer",
    /// `user`.
    ReviewerKind = "user",
    /// `edit`.
    ContributorAction = "edit",
}

/// The verdict of a review.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReviewStatus {
    /// The change request can be merged.
    Approved,
    /// Changes are required before the merge.
    ChangesRequested,
}

/// A review of a change request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// Always `change-request-review`.
    pub object: ReviewObject,
    pub id: ReviewId,
    /// The reviewed revision.
    pub revision: RevisionId,
    pub reviewer: User,
    /// The user who requested the review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<User>,
    /// The verdict.
    pub status: ReviewStatus,
    /// `true` if the content changed after the review.
    pub outdated: bool,
    /// The reviewer's comment, unless it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<Comment>,
    /// Time of submission.
    pub created_at: Timestamp,
    /// Equal to `createdAt`, because reviews are immutable.
    pub updated_at: Timestamp,
    pub urls: UserUrls,
}

/// A review to submit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SubmitReview {
    /// The verdict.
    pub status: ReviewStatus,
    /// A comment, which is added to the comments of the change request.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub comment: Option<CommentInput>,
}

/// A user whose review was requested and is pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RequestedReviewer {
    /// Always `change-request-requested-reviewer`.
    pub object: RequestedReviewerObject,
    /// The revision that was current when the review was requested.
    pub revision: RevisionId,
    /// The user who requested the review.
    pub requested_by: User,
    pub created_at: Timestamp,
    /// Always `user`.
    pub kind: ReviewerKind,
    /// The requested reviewer.
    pub user: User,
}

/// A request for reviews.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RequestReviewers {
    /// The ids of members who can see the space.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = RequestReviewers::MAX_USERS)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub users: Vec<String>,
    /// A new subject for the change request.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub subject: Option<Subject>,
    /// A new description for the change request. An empty document removes it.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub description: Option<Document>,
}

impl RequestReviewers {
    /// Maximum number of members in a request.
    pub const MAX_USERS: usize = 50;
}

/// The requested reviewers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RequestedReviewers {
    /// The reviewers in the order of the requests, without duplicates.
    pub users: Vec<RequestedReviewer>,
}

/// A user who contributed to a change request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Contributor {
    /// Time of the user's last change.
    pub updated_at: Timestamp,
    /// The number of the user's changes, including the creation of the change request.
    pub count: u64,
    pub user: User,
    /// Always `edit`: users who only commented are not contributors.
    pub action_type: ContributorAction,
}
