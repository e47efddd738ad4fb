//! Records of revisions and change requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{SpaceRecord, counter};
use crate::{
    model::{
        ChangeRequestId, ChangeRequestLinks, ChangeRequestStatus, GitCommit, PageId, RevisionId, SpaceId,
        Subject, Timestamp, UserId,
    },
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// The operation that created a revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevisionKind {
    /// Content edits, including imports.
    Edits,
    Merge(ChangeRequestId),
    /// An update of a change request with the current content of its space.
    Update,
    /// A rollback of the space to this revision.
    Rollback(RevisionId),
    /// The result of translating another space.
    Computed,
}

/// A revision. Immutable once stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RevisionRecord {
    pub id: RevisionId,
    pub space: SpaceId,
    /// Position in the history of the space: 1, 2, 3 and so on, without gaps. `None` for revisions that were never
    /// live: those of change requests, and standalone imports.
    #[serde(default)]
    pub number: Option<u64>,
    pub parents: Vec<RevisionId>,
    /// Root hash of the content.
    pub root: Hash,
    pub kind: RevisionKind,
    /// The revision that a computed revision was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_from: Option<RevisionId>,
    pub created_at: Timestamp,
    pub by: UserId,
    /// The imported commit, if any.
    #[serde(default)]
    pub git: Option<GitCommit>,
    /// Pages with merge conflicts, at most [`RevisionRecord::MAX_CONFLICTS`].
    #[serde(default)]
    pub conflicts: Vec<PageId>,
}

impl Entity for RevisionRecord {
    const KIND: &'static str = "rev";
}

impl RevisionRecord {
    /// Maximum number of conflicting pages listed in a revision.
    pub const MAX_CONFLICTS: usize = 1_000;

    /// Creates an edit revision that has no parents and was never live. Callers override other fields.
    #[must_use]
    pub fn new(id: RevisionId, space: SpaceId, root: Hash, created_at: Timestamp, by: UserId) -> Self {
        Self {
            id,
            space,
            number: None,
            parents: Vec::new(),
            root,
            kind: RevisionKind::Edits,
            computed_from: None,
            created_at,
            by,
            git: None,
            conflicts: Vec::new(),
        }
    }

    #[must_use]
    pub fn key_for(space: &SpaceId, id: &RevisionId) -> Key {
        Self::by_space(space).part(id.as_str()).key()
    }

    /// Prefix of the keys of all revisions of a space, including those of its change requests.
    #[must_use]
    pub fn by_space(space: &SpaceId) -> KeyBuf {
        KeyBuf::new(Self::KIND).part(space.as_str())
    }

    /// Index of the revisions that were live in a space, by revision number.
    #[must_use]
    pub fn history(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("rev.h").part(space.as_str())
    }
}

impl Indexed for RevisionRecord {
    const INDEXES: &'static [&'static str] = &["rev.h"];
    fn key(&self) -> Key {
        Self::key_for(&self.space, &self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = |number| Self::history(&self.space).number(number).part(self.id.as_str());
        self.number.map(|number| Row::Index(row(number).key(), Value::Unit)).into_iter().collect()
    }
    fn owner(&self) -> Owner {
        Owner::As(SpaceRecord::key_for(&self.space))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeRequestRecord {
    pub id: ChangeRequestId,
    pub space: SpaceId,
    /// Number within the space: 1, 2, 3 and so on, without gaps.
    pub number: u64,
    pub status: ChangeRequestStatus,
    pub subject: Subject,
    /// The description, a document as JSON. Empty if there is none.
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub links: ChangeRequestLinks,
    /// The agent task implemented by this request.
    #[serde(default)]
    pub agent_task: Option<String>,
    pub created_by: UserId,
    pub created_at: Timestamp,
    /// The time of the last change to the request or its content.
    pub updated_at: Timestamp,
    pub head: RevisionId,
    /// Root hash of the content of `head`.
    pub root: Hash,
    /// The revision of the space that it was created from.
    pub initial: RevisionId,
    /// The revision of the space that it was last updated with.
    #[serde(default)]
    pub ancestor: Option<RevisionId>,
    /// Root hash of the space revision that it is based on.
    pub base_root: Hash,
    /// The revision created by merging it.
    #[serde(default)]
    pub merged: Option<RevisionId>,
    /// Users who changed its content, at most [`ChangeRequestRecord::MAX_CONTRIBUTORS`].
    #[serde(default)]
    pub contributors: Vec<UserId>,
    /// Contributions by user. Contributors from before the introduction of this field are missing.
    #[serde(default)]
    pub contributions: BTreeMap<UserId, Contribution>,
}

/// The contributions of one user to a change request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// Number of contributions, including the creation of the request.
    pub count: u64,
    /// The time of the last contribution.
    pub at: Timestamp,
}

impl Entity for ChangeRequestRecord {
    const KIND: &'static str = "crq";
}

impl ChangeRequestRecord {
    /// Maximum number of contributors listed in a change request.
    pub const MAX_CONTRIBUTORS: usize = 500;

    /// Records a contribution. If there are already [`ChangeRequestRecord::MAX_CONTRIBUTORS`] contributors, new ones
    /// are ignored.
    pub fn contribute(&mut self, by: &UserId, at: Timestamp) {
        if !self.contributors.contains(by) {
            if self.contributors.len() >= Self::MAX_CONTRIBUTORS {
                return;
            }
            self.contributors.push(by.clone());
        }
        let seen = self.contributions.entry(by.clone()).or_insert(Contribution { count: 0, at });
        seen.count += 1;
        seen.at = at;
    }

    #[must_use]
    pub fn key_for(id: &ChangeRequestId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the change requests of a space, by number.
    #[must_use]
    pub fn by_space(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("crq.n").part(space.as_str())
    }

    /// Index key of the change request with this number.
    #[must_use]
    pub fn by_number(space: &SpaceId, number: u64) -> Key {
        Self::by_space(space).number(number).key()
    }

    /// Index of the change requests of a space with a given status, by number.
    #[must_use]
    pub fn by_status(space: &SpaceId, status: ChangeRequestStatus) -> KeyBuf {
        KeyBuf::new("crq.s").part(space.as_str()).part(status.as_str())
    }

    /// Index of the change requests in a space to which a user contributed, by number.
    #[must_use]
    pub fn by_contributor(space: &SpaceId, user: &UserId) -> KeyBuf {
        KeyBuf::new("crq.c").part(space.as_str()).part(user.as_str())
    }

    /// Index of the change requests of a space, by the time of their last change.
    #[must_use]
    pub fn by_update(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("crq.u").part(space.as_str())
    }

    /// Key of the last change request number assigned in a space.
    #[must_use]
    pub fn last_number(space: &SpaceId) -> Key {
        KeyBuf::new("num").part("crq").part(space.as_str()).key()
    }

    /// Counter of the change requests of a space, in total or with a given status.
    #[must_use]
    pub fn count_in(space: &SpaceId, status: Option<ChangeRequestStatus>) -> Key {
        match status {
            None => counter(space.as_str(), "crq"),
            Some(status) => counter(space.as_str(), &format!("crq.{}", status.as_str())),
        }
    }

    /// The revision of the space that the change request is based on.
    #[must_use]
    pub fn base(&self) -> &RevisionId {
        self.ancestor.as_ref().unwrap_or(&self.initial)
    }
}

impl Indexed for ChangeRequestRecord {
    const INDEXES: &'static [&'static str] = &["crq.n", "crq.s", "crq.c", "crq.u", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = super::text(self.id.as_str());
        let updated = Self::by_update(&self.space).time(self.updated_at.time()).number(self.number);
        let mut rows = vec![
            Row::Index(updated.key(), id.clone()),
            Row::Unique(Self::by_number(&self.space, self.number), id.clone()),
            Row::Index(Self::by_status(&self.space, self.status).number(self.number).key(), id.clone()),
            Row::Count(Self::count_in(&self.space, None)),
            Row::Count(Self::count_in(&self.space, Some(self.status))),
        ];
        for user in &self.contributors {
            let key = Self::by_contributor(&self.space, user).number(self.number).key();
            rows.push(Row::Index(key, id.clone()));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::As(SpaceRecord::key_for(&self.space))
    }
}

/// Parses the id contained in an index row.
///
/// # Errors
/// [`StoreError::Corrupt`](crate::store::StoreError::Corrupt) if the row contains no id.
pub fn linked_id<T: serde::de::DeserializeOwned>(value: &Value) -> crate::store::StoreResult<T> {
    match value {
        Value::Json(json) => serde_json::from_slice(json)
            .map_err(|e| crate::store::StoreError::Corrupt(format!("a row contains no id: {e}"))),
        _ => Err(crate::store::StoreError::Corrupt("a row contains no id".into())),
    }
}
