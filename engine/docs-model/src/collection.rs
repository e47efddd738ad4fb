//! Collections.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, CollectionId, Level, OrgId, Patch, list::constants, patch::given};

constants! {
    /// `collection`.
    CollectionObject = "collection",
}

/// Title of a collection.
pub type CollectionTitle = BoundedText<0, 50>;
/// Description of a collection.
pub type CollectionDescription = BoundedText<0, 100>;

/// A collection: a folder of spaces and other collections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Collection {
    /// Always `collection`.
    pub object: CollectionObject,
    /// The id.
    pub id: CollectionId,
    /// The title.
    pub title: CollectionTitle,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<CollectionDescription>,
    /// The organization it belongs to.
    pub organization: OrgId,
    /// The collection it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CollectionId>,
    /// The level that is set for members it is not granted to by name: a role, or `inherit` for what the collection it
    /// lies in or the organization gives them; `null` hides it from them. Sent back, it changes nothing.
    pub default_level: Option<Level>,
    /// Addresses of the collection.
    pub urls: CollectionUrls,
    /// What the reader may do.
    pub permissions: CollectionPermissions,
}

/// Addresses of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CollectionUrls {
    /// The collection in this API.
    pub location: String,
    /// The collection for people.
    pub app: String,
}

/// What the reader may do with a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the wire format is an object of flags")]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct CollectionPermissions {
    pub view: bool,
    pub admin: bool,
    pub view_invite_links: bool,
    pub create: bool,
}

/// What a new collection is made of; everything may be left out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateCollection {
    /// The title; `Untitled` when absent.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<CollectionTitle>,
    /// The collection to create it in.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Option<String>,
}

/// A change of a collection; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateCollection {
    /// The title.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<CollectionTitle>,
    /// What it is for, or `null` for nothing.
    #[serde(default)]
    pub description: Patch<CollectionDescription>,
    /// A role, `inherit`, or `null` to hide it from all but administrators and its creator.
    #[serde(default)]
    pub default_level: Patch<Level>,
}

/// Where content is moved to; something has to be given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{ "required": ["parent"] }, { "required": ["position"] }])))]
pub struct MoveContent {
    /// The collection to move it to, or `null` for the top of the organization; left out, it stays where it is.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub parent: Patch<String>,
    /// Beside what it is put there; at the end when left out.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub position: Option<MovePosition>,
}

/// Beside what something is put: `before` or `after`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = crate::schema::given(&[("before", "object"), ("after", "object")]))))]
pub struct MovePosition {
    /// What it is put before.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub before: Option<Neighbour>,
    /// What it is put after.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub after: Option<Neighbour>,
}

/// A space or a collection beside which something is put.
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

/// Which organization content is transferred to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TransferContent {
    /// The id of the organization.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub organization: String,
}
