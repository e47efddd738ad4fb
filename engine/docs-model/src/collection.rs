//! Collections: folders of spaces and other collections.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, CollectionId, Level, OrgId, Patch, list::constants, patch::deserialize_non_null};

constants! {
    /// `collection`.
    CollectionObject = "collection",
}

/// Title of a collection. May be empty.
pub type CollectionTitle = BoundedText<0, 50>;
/// Description of a collection. May be empty.
pub type CollectionDescription = BoundedText<0, 100>;

/// A collection: a folder of spaces and other collections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Collection {
    /// Always `collection`.
    pub object: CollectionObject,
    pub id: CollectionId,
    pub title: CollectionTitle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<CollectionDescription>,
    /// The organization that owns the collection.
    pub organization: OrgId,
    /// The parent collection; absent at the top level of the organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CollectionId>,
    /// The access level of members without a grant of their own: a role, `inherit` for the level of the parent
    /// collection or organization, or `null` for no access. The returned value can be sent back without effect.
    pub default_level: Option<Level>,
    pub urls: CollectionUrls,
    /// The caller's permissions for the collection.
    pub permissions: CollectionPermissions,
}

/// URLs of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CollectionUrls {
    /// The collection in this API.
    pub location: String,
    /// The collection in the web application.
    pub app: String,
}

/// The caller's permissions for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the wire format is an object of flags")]
pub struct CollectionPermissions {
    pub view: bool,
    pub admin: bool,
    pub view_invite_links: bool,
    pub create: bool,
}

/// A new collection. All fields are optional.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateCollection {
    /// The title; `Untitled` by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<CollectionTitle>,
    /// The parent collection; the top level of the organization by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Option<String>,
}

/// A partial update of a collection. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateCollection {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<CollectionTitle>,
    /// The description; `null` removes it.
    #[serde(default)]
    pub description: Patch<CollectionDescription>,
    /// The default access level: a role, `inherit`, or `null` to hide the collection from everyone except
    /// administrators and its creator.
    #[serde(default)]
    pub default_level: Patch<Level>,
}

/// The destination of a move. At least one field is required.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{ "required": ["parent"] }, { "required": ["position"] }])))]
pub struct MoveContent {
    /// The destination collection, or `null` for the top level of the organization. The parent is unchanged by default.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Patch<String>,
    /// The position among the new siblings. The item is moved to the end by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub position: Option<MovePosition>,
}

/// A position relative to a sibling: either `before` or `after`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = crate::schema::one_of_required(&[("before", "object"), ("after", "object")]))))]
pub struct MovePosition {
    /// The sibling that follows.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub before: Option<Neighbour>,
    /// The sibling that precedes.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub after: Option<Neighbour>,
}

/// A space or a collection to which a position is relative.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Neighbour {
    /// A space.
    Space {
        /// The id of the space.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        space: String,
    },
    /// A collection.
    Collection {
        /// The id of the collection.
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        collection: String,
    },
}

/// The destination of a transfer to another organization.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TransferContent {
    /// The id of the destination organization.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub organization: String,
}
