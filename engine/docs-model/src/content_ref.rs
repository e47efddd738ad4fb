//! References from documents, link pages and settings to content.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CollectionId, FileId, PageId, ReusableId, SpaceId, UserId};

/// A reference to content or to an address on the web.
///
/// References are relative: without a space they refer to the space, and without a page to the page, that contains
/// them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ContentRef {
    /// An address on the web.
    Url {
        /// The address.
        url: String,
    },
    /// A file of the same space.
    File {
        /// The file.
        file: FileId,
    },
    /// A page.
    Page {
        /// The page.
        page: PageId,
        /// Its space, if it differs from the space of the reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<SpaceId>,
    },
    /// An anchor on a page.
    Anchor {
        /// The name of the anchor.
        anchor: String,
        /// Its page, if it differs from the page of the reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page: Option<PageId>,
        /// Its space, if it differs from the space of the reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<SpaceId>,
    },
    /// A user.
    User {
        /// The user.
        user: UserId,
    },
    /// A collection.
    Collection {
        /// The collection.
        collection: CollectionId,
    },
    /// A space.
    Space {
        /// The space.
        space: SpaceId,
    },
    /// A reusable content.
    ReusableContent {
        /// The reusable content.
        reusable_content: ReusableId,
        /// Its space, if it differs from the space of the reference.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<SpaceId>,
    },
    /// An OpenAPI specification of the organization.
    #[serde(rename = "openapi")]
    OpenApi {
        /// The slug of the specification.
        spec: String,
    },
}
