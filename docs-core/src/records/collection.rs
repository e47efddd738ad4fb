//! Records of collections, and the tree of collections and spaces.

use serde::{Deserialize, Serialize};

use super::{counter, text};
use crate::{
    model::{
        CollectionDescription, CollectionId, CollectionTitle, ContentTarget, DefaultLevel, OrgId, Rank,
        Timestamp, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, StoreError, StoreResult, Value, key},
};

/// A collection, which is a folder of spaces and other collections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollectionRecord {
    pub id: CollectionId,
    pub organization: OrgId,
    /// The parent collection, or `None` at the top level of the organization.
    #[serde(default)]
    pub parent: Option<CollectionId>,
    /// The position among siblings.
    pub rank: Rank,
    pub title: CollectionTitle,
    #[serde(default)]
    pub description: Option<CollectionDescription>,
    /// The default role on its contents for members without a grant.
    #[serde(default)]
    pub default_level: DefaultLevel,
    pub created_by: UserId,
    pub created_at: Timestamp,
}

impl Entity for CollectionRecord {
    const KIND: &'static str = "col";
}

impl CollectionRecord {
    #[must_use]
    pub fn key_for(id: &CollectionId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the closed collections of an organization, whose default level hides content from members.
    #[must_use]
    pub fn closed_by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("col.c").part(organization.as_str())
    }

    /// Counter of the collections of an organization.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "collections")
    }
}

impl Indexed for CollectionRecord {
    const INDEXES: &'static [&'static str] = &["col.c", CHILDREN, "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let parent = Parent::new(&self.organization, self.parent.as_ref());
        let mut rows = child_rows(parent, &self.rank, &ContentTarget::Collection(self.id.clone()));
        rows.push(Row::Count(Self::count_in(&self.organization)));
        if self.default_level == DefaultLevel::Nobody {
            let closed = Self::closed_by_org(&self.organization).part(self.id.as_str());
            rows.push(Row::Index(closed.key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// Key class of the index from a parent to its children.
pub(super) const CHILDREN: &str = "kid";

/// The parent of a collection or space: a collection, or the organization itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent<'a> {
    /// The top level of an organization.
    Top(&'a OrgId),
    In(&'a CollectionId),
}

impl<'a> Parent<'a> {
    /// Returns the parent for the `parent` field of a record.
    #[must_use]
    pub fn new(organization: &'a OrgId, parent: Option<&'a CollectionId>) -> Self {
        parent.map_or(Self::Top(organization), Self::In)
    }

    fn id(self) -> &'a str {
        match self {
            Self::Top(id) => id.as_str(),
            Self::In(id) => id.as_str(),
        }
    }

    /// Index of the children, in order of their position.
    #[must_use]
    pub fn children(self) -> KeyBuf {
        KeyBuf::new(CHILDREN).part(self.id())
    }

    /// Index key of a child with this rank and id.
    #[must_use]
    pub fn child(self, rank: &Rank, id: &str) -> Key {
        self.children().part(rank.as_str()).part(id).key()
    }

    /// Counter of the children, excluding deleted spaces.
    #[must_use]
    pub fn count(self) -> Key {
        counter(self.id(), "children")
    }
}

/// Returns the value of an index row that references a collection or a space.
fn kind_value(target: &ContentTarget) -> Value {
    text(match target {
        ContentTarget::Collection(_) => "collection",
        ContentTarget::Space(_) => "space",
    })
}

/// Parses an index row that references a collection or a space, such as a row of [`Parent::children`].
///
/// # Errors
/// [`StoreError::Corrupt`].
pub fn parse_target(row: &(Key, Value)) -> StoreResult<ContentTarget> {
    let corrupt = || StoreError::Corrupt(format!("the row `{}` refers to no content", row.0));
    let id = key::last_segment(&row.0);
    let Value::Json(kind) = &row.1 else { return Err(corrupt()) };
    match &**kind {
        br#""collection""# => id.parse().map(ContentTarget::Collection).map_err(|_| corrupt()),
        br#""space""# => id.parse().map(ContentTarget::Space).map_err(|_| corrupt()),
        _ => Err(corrupt()),
    }
}

/// Returns the index rows of a child of `parent`.
pub(super) fn child_rows(parent: Parent<'_>, rank: &Rank, child: &ContentTarget) -> Vec<Row> {
    vec![Row::Index(parent.child(rank, child.id()), kind_value(child)), Row::Count(parent.count())]
}
