//! Records of reviews of change requests, and of requested reviewers.

use serde::{Deserialize, Serialize};

use super::{ChangeRequestRecord, counter};
use crate::{
    model::{ChangeRequestId, CommentId, ReviewId, ReviewStatus, RevisionId, Timestamp, UserId},
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A review. Immutable once stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewRecord {
    pub id: ReviewId,
    pub request: ChangeRequestId,
    pub revision: RevisionId,
    pub reviewer: UserId,
    /// The user who requested the review.
    #[serde(default)]
    pub requested_by: Option<UserId>,
    /// The verdict of the reviewer.
    pub status: ReviewStatus,
    /// The comment submitted with the review, which may have been deleted since.
    #[serde(default)]
    pub comment: Option<CommentId>,
    pub created_at: Timestamp,
}

impl Entity for ReviewRecord {
    const KIND: &'static str = "rvw";
}

impl ReviewRecord {
    #[must_use]
    pub fn key_for(request: &ChangeRequestId, id: &ReviewId) -> Key {
        KeyBuf::new(Self::KIND).part(request.as_str()).part(id.as_str()).key()
    }

    /// Index of the reviews of a change request, by time.
    #[must_use]
    pub fn by_request(request: &ChangeRequestId) -> KeyBuf {
        KeyBuf::new("rvw.t").part(request.as_str())
    }

    /// Counter of the reviews of a change request.
    #[must_use]
    pub fn count_in(request: &ChangeRequestId) -> Key {
        counter(request.as_str(), "reviews")
    }
}

impl Indexed for ReviewRecord {
    const INDEXES: &'static [&'static str] = &["rvw.t", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.request, &self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_request(&self.request).time(self.created_at.time()).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit), Row::Count(Self::count_in(&self.request))]
    }
    fn owner(&self) -> Owner {
        Owner::As(ChangeRequestRecord::key_for(&self.request))
    }
}

/// A pending request for a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedReviewerRecord {
    pub request: ChangeRequestId,
    pub user: UserId,
    /// The user who requested the review.
    pub requested_by: UserId,
    /// The head revision when the review was requested.
    pub revision: RevisionId,
    pub created_at: Timestamp,
}

impl Entity for RequestedReviewerRecord {
    const KIND: &'static str = "rqr";
}

impl RequestedReviewerRecord {
    /// The key of a review request.
    #[must_use]
    pub fn key_for(request: &ChangeRequestId, user: &UserId) -> Key {
        KeyBuf::new(Self::KIND).part(request.as_str()).part(user.as_str()).key()
    }

    /// Index of the requested reviewers of a change request, by request time.
    #[must_use]
    pub fn by_request(request: &ChangeRequestId) -> KeyBuf {
        KeyBuf::new("rqr.t").part(request.as_str())
    }

    /// Index of the change requests awaiting a review by a user.
    #[must_use]
    pub fn by_user(user: &UserId) -> KeyBuf {
        KeyBuf::new("rqr.u").part(user.as_str())
    }

    /// Counter of the requested reviewers of a change request.
    #[must_use]
    pub fn count_in(request: &ChangeRequestId) -> Key {
        counter(request.as_str(), "reviewers")
    }
}

impl Indexed for RequestedReviewerRecord {
    const INDEXES: &'static [&'static str] = &["rqr.t", "rqr.u", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.request, &self.user)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_request(&self.request).time(self.created_at.time()).part(self.user.as_str());
        let of_user = Self::by_user(&self.user).part(self.request.as_str());
        vec![
            Row::Index(row.key(), Value::Unit),
            Row::Index(of_user.key(), Value::Unit),
            Row::Count(Self::count_in(&self.request)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(ChangeRequestRecord::key_for(&self.request))
    }
}
