//! Links in content, and backlinks to content.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ChangeRequest, Collection, List, NextPage, OpenApiSpec, Organization, ReusableContent, Revision,
    RevisionFile, RevisionPage, Space, User,
};

/// The state of a link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LinkStatus {
    /// The target exists.
    Ok,
    /// The target does not exist.
    Broken,
    /// The target is a URL of the web application.
    InApp,
}

impl LinkStatus {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Broken => "broken",
            Self::InApp => "in-app",
        }
    }
}

/// A filter for broken links of a change request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BrokenContext {
    /// Links that the change request added or broke.
    ChangeRequest,
    /// Links that were already broken in the space.
    Space,
}

impl BrokenContext {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChangeRequest => "change-request",
            Self::Space => "space",
        }
    }
}

/// The relation of a link to its target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum LinkRelation {
    /// The link refers to the target.
    #[default]
    Reference,
    /// The content embeds the target and is incomplete without it.
    DependsOn,
}

/// The version of the content that contains an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum VersionContext {
    /// A revision of a space.
    Revision {
        /// The revision, with empty lists of pages, files and reusable content blocks.
        revision: Box<Revision>,
    },
    /// A change request.
    ChangeRequest {
        /// The change request.
        change_request: Box<ChangeRequest>,
    },
}

/// A location on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum InternalLocation {
    /// An anchor.
    Anchor {
        /// The name of the anchor.
        anchor: String,
    },
    /// A block.
    Node {
        /// The key of the block.
        node: String,
    },
}

/// The source or target of a link, with its parent resources.
///
/// Pages are returned without content and subpages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ContentLocation {
    /// A URL.
    Url {
        /// The URL.
        url: String,
    },
    /// A file.
    File {
        /// The organization of the space.
        organization: Box<Organization>,
        /// The space that contains the file.
        space: Box<Space>,
        /// The version of the space's content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_context: Option<VersionContext>,
        /// The file.
        file: Box<RevisionFile>,
    },
    /// A page or a location on it.
    Page {
        /// The organization of the space.
        organization: Box<Organization>,
        /// The space that contains the page.
        space: Box<Space>,
        /// The version of the space's content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_context: Option<VersionContext>,
        /// The page.
        page: Box<RevisionPage>,
        /// The location on the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        internal_location: Option<InternalLocation>,
    },
    /// A user.
    User {
        /// The user.
        user: User,
    },
    /// A collection.
    Collection {
        /// The organization of the collection.
        organization: Box<Organization>,
        /// The collection.
        collection: Box<Collection>,
    },
    /// An OpenAPI specification.
    #[serde(rename = "openapi")]
    OpenApi {
        /// The organization of the specification.
        organization: Box<Organization>,
        /// The specification.
        #[serde(rename = "openAPISpec")]
        open_api_spec: Box<OpenApiSpec>,
    },
    /// A space.
    Space {
        /// The organization of the space.
        organization: Box<Organization>,
        /// The space.
        space: Box<Space>,
    },
    /// A reusable content block.
    ReusableContent {
        /// The organization of the space.
        organization: Box<Organization>,
        /// The space that contains the block.
        space: Box<Space>,
        /// The version of the space's content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_context: Option<VersionContext>,
        /// The block.
        reusable_content: ReusableContent,
    },
}

/// A link. Several references to the same target from the same page or reusable content block count as one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LinkUsage {
    pub status: LinkStatus,
    /// The relation between the source and the target.
    pub relation: LinkRelation,
    /// The target. If it does not exist or is not visible to the caller, its URL as written in the source, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_reference: Option<ContentLocation>,
    /// The source of the link.
    pub location_references: Vec<ContentLocation>,
}

/// Link counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LinkStats {
    /// The total number of links, independent of filters.
    pub total: u64,
    /// The number of broken links. Only the first 5,000 links to other spaces and to users are checked.
    pub broken: BrokenLinks,
}

/// Broken link counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BrokenLinks {
    pub total: u64,
    /// The number of links added or broken by the change request; present only for change requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<u64>,
}

/// A page of a list of links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LinkList {
    /// The position of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextPage>,
    /// The total number of items, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The items of this page.
    pub items: Vec<LinkUsage>,
    /// The link counts of the content.
    pub stats: LinkStats,
}

impl LinkList {
    /// Creates a list with link counts.
    #[must_use]
    pub fn new(list: List<LinkUsage>, stats: LinkStats) -> Self {
        Self { next: list.next, count: list.count, items: list.items, stats }
    }
}
