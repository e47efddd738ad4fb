//! Reviews of change requests, and who was asked for one.

use serde::{Deserialize, Serialize};

use super::{ChangeRequestRecord, counter};
use crate::{
    model::{ChangeRequestId, CommentId, ReviewId, ReviewStatus, RevisionId, Timestamp, UserId},
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A review. Never changed once written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReviewRecord {
    /// The id.
    pub id: ReviewId,
    /// The change request.
    pub request: ChangeRequestId,
    /// The revision that was reviewed.
    pub revision: RevisionId,
    /// Who reviewed it.
    pub reviewer: UserId,
    /// Who had asked for it.
    #[serde(default)]
    pub requested_by: Option<UserId>,
    /// What the reviewer thinks.
    pub status: ReviewStatus,
    /// The comment that came with it, which may have been deleted since.
    #[serde(default)]
    pub comment: Option<CommentId>,
    /// When it was submitted.
    pub created_at: Timestamp,
}

impl Entity for ReviewRecord {
    const KIND: &'static str = "rvw";
}

impl ReviewRecord {
    /// The key of a review.
    #[must_use]
    pub fn at(request: &ChangeRequestId, id: &ReviewId) -> Key {
        KeyBuf::new(Self::KIND).part(request.as_str()).part(id.as_str()).key()
    }

    /// The reviews of a change request, by the time they were submitted.
    #[must_use]
    pub fn of_request(request: &ChangeRequestId) -> KeyBuf {
        KeyBuf::new("rvw.t").part(request.as_str())
    }

    /// How many reviews a change request has.
    #[must_use]
    pub fn count_in(request: &ChangeRequestId) -> Key {
        counter(request.as_str(), "reviews")
    }
}

impl Indexed for ReviewRecord {
    const INDEXES: &'static [&'static str] = &["rvw.t", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.request, &self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::of_request(&self.request).time(self.created_at.time()).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit), Row::Count(Self::count_in(&self.request))]
    }
    fn owner(&self) -> Owner {
        Owner::As(ChangeRequestRecord::at(&self.request))
    }
}

/// Somebody who was asked to review a change request, and has not yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedReviewerRecord {
    /// The change request.
    pub request: ChangeRequestId,
    /// Who was asked.
    pub user: UserId,
    /// Who asked.
    pub requested_by: UserId,
    /// The revision that was active then.
    pub revision: RevisionId,
    /// When.
    pub created_at: Timestamp,
}

impl Entity for RequestedReviewerRecord {
    const KIND: &'static str = "rqr";
}

impl RequestedReviewerRecord {
    /// The key of a reviewer of a change request.
    #[must_use]
    pub fn at(request: &ChangeRequestId, user: &UserId) -> Key {
        KeyBuf::new(Self::KIND).part(request.as_str()).part(user.as_str()).key()
    }

    /// The reviewers of a change request, by the time they were asked.
    #[must_use]
    pub fn of_request(request: &ChangeRequestId) -> KeyBuf {
        KeyBuf::new("rqr.t").part(request.as_str())
    }

    /// The change requests that wait for a user.
    #[must_use]
    pub fn of_user(user: &UserId) -> KeyBuf {
        KeyBuf::new("rqr.u").part(user.as_str())
    }

    /// How many people a change request waits for.
    #[must_use]
    pub fn count_in(request: &ChangeRequestId) -> Key {
        counter(request.as_str(), "reviewers")
    }
}

impl Indexed for RequestedReviewerRecord {
    const INDEXES: &'static [&'static str] = &["rqr.t", "rqr.u", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.request, &self.user)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::of_request(&self.request).time(self.created_at.time()).part(self.user.as_str());
        let of_user = Self::of_user(&self.user).part(self.request.as_str());
        vec![
            Row::Index(row.key(), Value::Unit),
            Row::Index(of_user.key(), Value::Unit),
            Row::Count(Self::count_in(&self.request)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(ChangeRequestRecord::at(&self.request))
    }
}
