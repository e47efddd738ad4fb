//! Collections, and the tree of collections and spaces.

use serde::{Deserialize, Serialize};

use super::{counter, text};
use crate::{
    model::{
        CollectionDescription, CollectionId, CollectionTitle, ContentTarget, DefaultLevel, OrgId, Rank,
        Timestamp, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, StoreError, StoreResult, Value, key},
};

/// A collection: a folder of spaces and other collections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectionRecord {
    /// The id.
    pub id: CollectionId,
    /// The organization it belongs to.
    pub organization: OrgId,
    /// The collection it is in.
    #[serde(default)]
    pub parent: Option<CollectionId>,
    /// Its place among what it lies beside.
    pub rank: Rank,
    /// The title.
    pub title: CollectionTitle,
    /// What it is for.
    #[serde(default)]
    pub description: Option<CollectionDescription>,
    /// What members who have no grant of their own may do with what it contains.
    #[serde(default)]
    pub default_level: DefaultLevel,
    /// Who created it.
    pub created_by: UserId,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Entity for CollectionRecord {
    const KIND: &'static str = "col";
}

impl CollectionRecord {
    /// The key of a collection.
    #[must_use]
    pub fn at(id: &CollectionId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The collections of an organization that are closed: their default level gives nobody anything.
    #[must_use]
    pub fn closed_in(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("col.c").part(organization.as_str())
    }

    /// How many collections an organization has.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "collections")
    }
}

impl Indexed for CollectionRecord {
    const INDEXES: &'static [&'static str] = &["col.c", CHILDREN, "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let parent = Parent::of(&self.organization, self.parent.as_ref());
        let mut rows = child_rows(parent, &self.rank, &ContentTarget::Collection(self.id.clone()));
        rows.push(Row::Count(Self::count_in(&self.organization)));
        if self.default_level == DefaultLevel::Nobody {
            let closed = Self::closed_in(&self.organization).part(self.id.as_str());
            rows.push(Row::Index(closed.key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// Class of the rows that lead from a parent to what is in it.
pub(super) const CHILDREN: &str = "kid";

/// What collections and spaces lie in: a collection, or an organization itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent<'a> {
    /// The top of an organization.
    Top(&'a OrgId),
    /// A collection.
    In(&'a CollectionId),
}

impl<'a> Parent<'a> {
    /// The parent that a record names.
    #[must_use]
    pub fn of(organization: &'a OrgId, parent: Option<&'a CollectionId>) -> Self {
        parent.map_or(Self::Top(organization), Self::In)
    }

    fn id(self) -> &'a str {
        match self {
            Self::Top(id) => id.as_str(),
            Self::In(id) => id.as_str(),
        }
    }

    /// What is in the parent, in order.
    #[must_use]
    pub fn children(self) -> KeyBuf {
        KeyBuf::new(CHILDREN).part(self.id())
    }

    /// Where something of this rank stands in the parent.
    #[must_use]
    pub fn child(self, rank: &Rank, id: &str) -> Key {
        self.children().part(rank.as_str()).part(id).key()
    }

    /// How much is in the parent, deleted spaces left out.
    #[must_use]
    pub fn count(self) -> Key {
        counter(self.id(), "children")
    }
}

/// What a row that leads to a collection or a space holds.
pub(super) fn kind_of(target: &ContentTarget) -> Value {
    text(match target {
        ContentTarget::Collection(_) => "collection",
        ContentTarget::Space(_) => "space",
    })
}

/// Reads a row that leads to a collection or a space, such as one of [`Parent::children`].
///
/// # Errors
/// [`StoreError::Corrupt`].
pub fn target_of(row: &(Key, Value)) -> StoreResult<ContentTarget> {
    let corrupt = || StoreError::Corrupt(format!("`{}` names nothing", row.0));
    let id = key::last_segment(&row.0);
    let Value::Json(kind) = &row.1 else { return Err(corrupt()) };
    match &**kind {
        br#""collection""# => id.parse().map(ContentTarget::Collection).map_err(|_| corrupt()),
        br#""space""# => id.parse().map(ContentTarget::Space).map_err(|_| corrupt()),
        _ => Err(corrupt()),
    }
}

/// The rows of something that lies in a parent.
pub(super) fn child_rows(parent: Parent<'_>, rank: &Rank, child: &ContentTarget) -> Vec<Row> {
    vec![Row::Index(parent.child(rank, child.id()), kind_of(child)), Row::Count(parent.count())]
}
