//! Revisions and change requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{SpaceRecord, counter};
use crate::{
    model::{
        ChangeRequestId, ChangeRequestStatus, GitCommit, PageId, RevisionId, SpaceId, Subject, Timestamp,
        UserId,
    },
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// How a revision came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevisionKind {
    /// Edits of content, an import among them.
    Edits,
    /// This change request was merged.
    Merge(ChangeRequestId),
    /// A change request was brought up to date.
    Update,
    /// The space went back to this revision.
    Rollback(RevisionId),
    /// A translation of another space made it.
    Computed,
}

/// A revision. Never changed once written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RevisionRecord {
    /// The id.
    pub id: RevisionId,
    /// The space.
    pub space: SpaceId,
    /// Its place in the history of the space: 1, 2, 3 … without gaps. Revisions that were never live have none: those
    /// of change requests, and imports that stand alone.
    #[serde(default)]
    pub number: Option<u64>,
    /// The revisions it was made from.
    pub parents: Vec<RevisionId>,
    /// The root of its content.
    pub root: Hash,
    /// How it came to be.
    pub kind: RevisionKind,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub by: UserId,
    /// The commit it came from.
    #[serde(default)]
    pub git: Option<GitCommit>,
    /// Pages on which both sides of a merge could not be kept apart; at most 1,000 are named.
    #[serde(default)]
    pub conflicts: Vec<PageId>,
}

impl Entity for RevisionRecord {
    const KIND: &'static str = "rev";
}

impl RevisionRecord {
    /// Most pages that a revision names as conflicting.
    pub const MAX_CONFLICTS: usize = 1_000;

    /// A revision by edits without parents, which was never live; what is different of another is said where it is
    /// made.
    #[must_use]
    pub fn new(id: RevisionId, space: SpaceId, root: Hash, created_at: Timestamp, by: UserId) -> Self {
        Self {
            id,
            space,
            number: None,
            parents: Vec::new(),
            root,
            kind: RevisionKind::Edits,
            created_at,
            by,
            git: None,
            conflicts: Vec::new(),
        }
    }

    /// The key of a revision.
    #[must_use]
    pub fn at(space: &SpaceId, id: &RevisionId) -> Key {
        Self::of_space(space).part(id.as_str()).key()
    }

    /// All revisions of a space and its change requests.
    #[must_use]
    pub fn of_space(space: &SpaceId) -> KeyBuf {
        KeyBuf::new(Self::KIND).part(space.as_str())
    }

    /// The revisions that were the live content of a space, by number.
    #[must_use]
    pub fn history_of(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("rev.h").part(space.as_str())
    }
}

impl Indexed for RevisionRecord {
    const INDEXES: &'static [&'static str] = &["rev.h"];
    fn key(&self) -> Key {
        Self::at(&self.space, &self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = |number| Self::history_of(&self.space).number(number).part(self.id.as_str());
        self.number.map(|number| Row::Index(row(number).key(), Value::Unit)).into_iter().collect()
    }
    fn owner(&self) -> Owner {
        Owner::As(SpaceRecord::at(&self.space))
    }
}

/// A change request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeRequestRecord {
    /// The id.
    pub id: ChangeRequestId,
    /// The space.
    pub space: SpaceId,
    /// 1, 2, 3 … within the space, without gaps.
    pub number: u64,
    /// Where it stands.
    pub status: ChangeRequestStatus,
    /// What it is about.
    pub subject: Subject,
    /// The agent task it implements.
    #[serde(default)]
    pub agent_task: Option<String>,
    /// Who created it.
    pub created_by: UserId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it, or its content, last changed.
    pub updated_at: Timestamp,
    /// Its active revision.
    pub head: RevisionId,
    /// The root of that revision's content.
    pub root: Hash,
    /// The space's revision it was created from.
    pub initial: RevisionId,
    /// The space's revision it was last brought up to date with.
    #[serde(default)]
    pub ancestor: Option<RevisionId>,
    /// The root of the space's revision it is based on.
    pub base_root: Hash,
    /// The revision that came of its merge.
    #[serde(default)]
    pub merged: Option<RevisionId>,
    /// Who changed its content, at most [`ChangeRequestRecord::MAX_CONTRIBUTORS`].
    #[serde(default)]
    pub contributors: Vec<UserId>,
    /// How often each contributor did, and when last. Those of before this was kept are missing.
    #[serde(default)]
    pub contributions: BTreeMap<UserId, Contribution>,
}

/// What somebody contributed to a change request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// How often; creating the request counts.
    pub count: u64,
    /// When last.
    pub at: Timestamp,
}

impl Entity for ChangeRequestRecord {
    const KIND: &'static str = "crq";
}

impl ChangeRequestRecord {
    /// Most people that a request names as its contributors.
    pub const MAX_CONTRIBUTORS: usize = 500;

    /// Notes that somebody changed the request.
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

    /// The key of a change request.
    #[must_use]
    pub fn at(id: &ChangeRequestId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The change requests of a space, by number.
    #[must_use]
    pub fn of_space(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("crq.n").part(space.as_str())
    }

    /// Leads from a number to its change request.
    #[must_use]
    pub fn by_number(space: &SpaceId, number: u64) -> Key {
        Self::of_space(space).number(number).key()
    }

    /// The change requests of a space in a status, by number.
    #[must_use]
    pub fn in_status(space: &SpaceId, status: ChangeRequestStatus) -> KeyBuf {
        KeyBuf::new("crq.s").part(space.as_str()).part(status.as_str())
    }

    /// The change requests of a space that a user contributed to, by number.
    #[must_use]
    pub fn by_contributor(space: &SpaceId, user: &UserId) -> KeyBuf {
        KeyBuf::new("crq.c").part(space.as_str()).part(user.as_str())
    }

    /// The number that the space's last change request got.
    #[must_use]
    pub fn last_number(space: &SpaceId) -> Key {
        KeyBuf::new("num").part("crq").part(space.as_str()).key()
    }

    /// How many change requests a space has, in all or in a status.
    #[must_use]
    pub fn count_in(space: &SpaceId, status: Option<ChangeRequestStatus>) -> Key {
        match status {
            None => counter(space.as_str(), "crq"),
            Some(status) => counter(space.as_str(), &format!("crq.{}", status.as_str())),
        }
    }

    /// The revision of the space that the request is based on.
    #[must_use]
    pub fn base(&self) -> &RevisionId {
        self.ancestor.as_ref().unwrap_or(&self.initial)
    }
}

impl Indexed for ChangeRequestRecord {
    const INDEXES: &'static [&'static str] = &["crq.n", "crq.s", "crq.c", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = super::text(self.id.as_str());
        let mut rows = vec![
            Row::Unique(Self::by_number(&self.space, self.number), id.clone()),
            Row::Index(Self::in_status(&self.space, self.status).number(self.number).key(), id.clone()),
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
        Owner::As(SpaceRecord::at(&self.space))
    }
}

/// Reads the id that a row leads to.
///
/// # Errors
/// [`StoreError::Corrupt`](crate::store::StoreError::Corrupt) when the row holds none.
pub fn linked_id<T: serde::de::DeserializeOwned>(value: &Value) -> crate::store::StoreResult<T> {
    match value {
        Value::Json(json) => serde_json::from_slice(json)
            .map_err(|e| crate::store::StoreError::Corrupt(format!("a row leads to no id: {e}"))),
        _ => Err(crate::store::StoreError::Corrupt("a row leads to no id".into())),
    }
}
