//! Reviews of change requests, and the people who take part in one.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Comment, CommentInput, ReviewId, RevisionId, Subject, Timestamp, User, list::constants, patch::given,
};

constants! {
    /// `change-request-review`.
    ReviewObject = "change-request-review",
    /// `change-request-requested-reviewer`.
    RequestedReviewerObject = "change-request-requested-reviewer",
    /// `user`.
    ReviewerKind = "user",
}

/// What a reviewer thinks of a change request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReviewStatus {
    /// It can be merged.
    Approved,
    /// Something has to change before.
    ChangesRequested,
}

/// A review of a change request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// Always `change-request-review`.
    pub object: ReviewObject,
    /// The id.
    pub id: ReviewId,
    /// The revision that was reviewed.
    pub revision: RevisionId,
    /// Who reviewed it.
    pub reviewer: User,
    /// Who had asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<User>,
    /// What the reviewer thinks.
    pub status: ReviewStatus,
    /// The request has content that was not reviewed.
    pub outdated: bool,
    /// What the reviewer said, until that comment is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<Comment>,
    /// When it was submitted.
    pub created_at: Timestamp,
    /// The same: a review is not changed, a new one is submitted.
    pub updated_at: Timestamp,
}

/// A review to submit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SubmitReview {
    /// What the reviewer thinks.
    pub status: ReviewStatus,
    /// What the reviewer has to say: it becomes a comment of the change request.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub comment: Option<CommentInput>,
}

/// Somebody who was asked to review a change request, and has not yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RequestedReviewer {
    /// Always `change-request-requested-reviewer`.
    pub object: RequestedReviewerObject,
    /// The revision that was active when they were asked.
    pub revision: RevisionId,
    /// Who asked.
    pub requested_by: User,
    /// When.
    pub created_at: Timestamp,
    /// Always `user`.
    pub kind: ReviewerKind,
    /// Who was asked.
    pub user: User,
}

/// Whom to ask for a review.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RequestReviewers {
    /// The ids of the members, who may see the space.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = RequestReviewers::MAX_USERS)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub users: Vec<String>,
    /// The subject of the change request from now on.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub subject: Option<Subject>,
}

impl RequestReviewers {
    /// Most members.
    pub const MAX_USERS: usize = 50;
}

/// The people who were asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RequestedReviewers {
    /// Each of them once, in the order of the request.
    pub users: Vec<RequestedReviewer>,
}

/// Somebody who changed a change request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Contributor {
    /// When they last did.
    pub updated_at: Timestamp,
    /// How often they did; creating it counts.
    pub count: u64,
    /// Who.
    pub user: User,
}
