//! References to content from documents, link pages and settings.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CollectionId, FileId, PageId, ReusableId, SpaceId, UserId};

/// A reference to content or to a web URL.
///
/// References are relative: an absent space or page is the one that contains the reference.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ContentRef {
    /// A web URL.
    Url {
        /// The URL.
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
        /// The space of the page; absent if it is the current space.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<SpaceId>,
    },
    /// An anchor on a page.
    Anchor {
        /// The name of the anchor.
        anchor: String,
        /// The page of the anchor; absent if it is the current page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page: Option<PageId>,
        /// The space of the page; absent if it is the current space.
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
    /// A reusable content block.
    ReusableContent {
        /// The id of the block.
        reusable_content: ReusableId,
        /// The space of the block; absent if it is the current space.
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
