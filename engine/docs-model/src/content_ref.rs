//! References: what documents, link pages and settings point at.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CollectionId, FileId, PageId, ReusableId, SpaceId, UserId};

/// Something a document, a link page or a setting points at.
///
/// References are relative: without a space they mean the space they stand in, without a page the page they stand on.
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
        /// Its space, when it is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<SpaceId>,
    },
    /// A place on a page.
    Anchor {
        /// The name of the place.
        anchor: String,
        /// Its page, when it is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page: Option<PageId>,
        /// Its space, when it is another one.
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
        /// Its space, when it is another one.
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
