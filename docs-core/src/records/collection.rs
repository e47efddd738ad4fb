//! Collections, and the tree of collections and spaces.

use serde::{Deserialize, Serialize};

use super::{counter, text};
use crate::{
    model::{
        CollectionDescription, CollectionId, CollectionTitle, DefaultLevel, OrgId, Rank, SpaceId, Timestamp,
        UserId,
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
        let place = Place::of(&self.organization, self.parent.as_ref());
        let mut rows = child_rows(place, &self.rank, &Child::Collection(self.id.clone()));
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

/// Class of the rows that lead from a place to what is in it.
pub(super) const CHILDREN: &str = "kid";

/// What collections and spaces lie in: a collection, or an organization itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// The top of an organization.
    Top(&'a OrgId),
    /// A collection.
    In(&'a CollectionId),
}

impl<'a> Place<'a> {
    /// The place that a parent names.
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

    /// What is in the place, in order.
    #[must_use]
    pub fn children(self) -> KeyBuf {
        KeyBuf::new(CHILDREN).part(self.id())
    }

    /// Where something of this rank stands in the place.
    #[must_use]
    pub fn child(self, rank: &Rank, id: &str) -> Key {
        self.children().part(rank.as_str()).part(id).key()
    }

    /// How much is in the place, deleted spaces left out.
    #[must_use]
    pub fn count(self) -> Key {
        counter(self.id(), "children")
    }
}

/// What lies in a collection, or in an organization itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Child {
    /// A collection.
    Collection(CollectionId),
    /// A space.
    Space(SpaceId),
}

impl Child {
    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Collection(id) => id.as_str(),
            Self::Space(id) => id.as_str(),
        }
    }

    /// What a row that leads to it holds.
    pub(super) fn kind(&self) -> Value {
        text(match self {
            Self::Collection(_) => "collection",
            Self::Space(_) => "space",
        })
    }

    /// Reads a row that leads to something, such as one of [`Place::children`].
    ///
    /// # Errors
    /// [`StoreError::Corrupt`].
    pub fn of_row(row: &(Key, Value)) -> StoreResult<Self> {
        let corrupt = || StoreError::Corrupt(format!("`{}` names nothing", row.0));
        let id = key::last_segment(&row.0);
        let Value::Json(kind) = &row.1 else { return Err(corrupt()) };
        match &**kind {
            br#""collection""# => id.parse().map(Self::Collection).map_err(|_| corrupt()),
            br#""space""# => id.parse().map(Self::Space).map_err(|_| corrupt()),
            _ => Err(corrupt()),
        }
    }
}

/// The rows of something that lies in a place.
pub(super) fn child_rows(place: Place<'_>, rank: &Rank, child: &Child) -> Vec<Row> {
    vec![Row::Index(place.child(rank, child.id()), child.kind()), Row::Count(place.count())]
}
