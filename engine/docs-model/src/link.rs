//! Links: what content refers to, and what refers to it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ChangeRequest, Collection, List, NextPage, OpenApiSpec, Organization, ReusableContent, Revision,
    RevisionFile, RevisionPage, Space, User,
};

/// How a link stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LinkStatus {
    /// Nothing is wrong with it.
    Ok,
    /// It leads to something that is not there.
    Broken,
    /// It is an address inside of the application.
    InApp,
}

impl LinkStatus {
    /// The status as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Broken => "broken",
            Self::InApp => "in-app",
        }
    }
}

/// Whose broken links are listed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BrokenContext {
    /// Those that the change request made or broke.
    ChangeRequest,
    /// Those that the space had before.
    Space,
}

impl BrokenContext {
    /// The context as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChangeRequest => "change-request",
            Self::Space => "space",
        }
    }
}

/// What a link means for what it stands in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum LinkRelation {
    /// It leads to the target.
    #[default]
    Reference,
    /// It shows the target in place, and is incomplete without it.
    DependsOn,
}

/// The version of content that something is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum VersionContext {
    /// A revision of a space.
    Revision {
        /// The revision. Its pages, files and reusable contents are left out here: the lists are empty.
        revision: Box<Revision>,
    },
    /// A change request.
    ChangeRequest {
        /// The request.
        change_request: Box<ChangeRequest>,
    },
}

/// A place within a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum InternalLocation {
    /// A named place.
    Anchor {
        /// Its name.
        anchor: String,
    },
    /// A block.
    Node {
        /// Its key.
        node: String,
    },
}

/// Something that links lead to or stand in, with what it belongs to.
///
/// Pages come without their text and without the pages below them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ContentLocation {
    /// An address.
    Url {
        /// The address.
        url: String,
    },
    /// A file.
    File {
        /// The organization of the space.
        organization: Box<Organization>,
        /// The space it is in.
        space: Box<Space>,
        /// The version of the space's content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_context: Option<VersionContext>,
        /// The file.
        file: Box<RevisionFile>,
    },
    /// A page, or a place on it.
    Page {
        /// The organization of the space.
        organization: Box<Organization>,
        /// The space it is in.
        space: Box<Space>,
        /// The version of the space's content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_context: Option<VersionContext>,
        /// The page.
        page: Box<RevisionPage>,
        /// The place on the page.
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
        /// Its organization.
        organization: Box<Organization>,
        /// The collection.
        collection: Box<Collection>,
    },
    /// An OpenAPI specification.
    #[serde(rename = "openapi")]
    OpenApi {
        /// Its organization.
        organization: Box<Organization>,
        /// The specification.
        #[serde(rename = "openAPISpec")]
        open_api_spec: Box<OpenApiSpec>,
    },
    /// A space.
    Space {
        /// Its organization.
        organization: Box<Organization>,
        /// The space.
        space: Box<Space>,
    },
    /// A reusable content.
    ReusableContent {
        /// The organization of the space.
        organization: Box<Organization>,
        /// The space it is in.
        space: Box<Space>,
        /// The version of the space's content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_context: Option<VersionContext>,
        /// The reusable content.
        reusable_content: ReusableContent,
    },
}

/// A link: one for each thing that a page or a reusable content refers to, however often it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LinkUsage {
    /// How it stands.
    pub status: LinkStatus,
    /// What it means for what it stands in.
    pub relation: LinkRelation,
    /// Where it leads. Of a link to something that is not there, or that the caller may not see, it is the address as
    /// it is written, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_reference: Option<ContentLocation>,
    /// What it stands in.
    pub location_references: Vec<ContentLocation>,
}

/// How many links there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LinkStats {
    /// All links, whatever the filter.
    pub total: u64,
    /// Those that are broken. Of links that lead out of the content, to other spaces and to users, 5,000 are looked at
    /// for it.
    pub broken: BrokenLinks,
}

/// How many links are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BrokenLinks {
    /// All of them.
    pub total: u64,
    /// Those that the change request made or broke; told for change requests only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<u64>,
}

/// A page of a list of links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LinkList {
    /// How to get the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextPage>,
    /// How many items there are in all, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The items of this page.
    pub items: Vec<LinkUsage>,
    /// How many links there are.
    pub stats: LinkStats,
}

impl LinkList {
    /// A list with how many links there are.
    #[must_use]
    pub fn new(list: List<LinkUsage>, stats: LinkStats) -> Self {
        Self { next: list.next, count: list.count, items: list.items, stats }
    }
}
