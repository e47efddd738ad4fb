//! Pages of the API.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ContentRef, Document, Emoji, GitBlob, Icon, PageCover, PageId, PageLayout, Timestamp, Variables,
    list::constants,
};

constants! {
    /// `sheet`: the deprecated `kind` of a document page.
    SheetKind = "sheet",
    /// `group`: the deprecated `kind` of a group.
    GroupKind = "group",
    /// `link`: the deprecated `kind` of a link page.
    LinkKind = "link",
}

/// A page of a revision: a document, a group, a link or a computed subtree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum RevisionPage {
    /// A page with content.
    Document(Box<DocumentPage>),
    /// A titled group of pages.
    Group(GroupPage),
    /// A link in the page tree.
    Link(LinkPage),
    /// Pages generated from a source.
    Computed(ComputedPage),
}

impl RevisionPage {
    /// Returns the fields common to all pages.
    #[must_use]
    pub fn base(&self) -> &PageBase {
        match self {
            Self::Document(page) => &page.base,
            Self::Group(page) => &page.base,
            Self::Link(page) => &page.base,
            Self::Computed(page) => &page.base,
        }
    }
}

/// The fields common to all pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageBase {
    pub id: PageId,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emoji: Option<Emoji>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Icon>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// Unresolved merge conflicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<PageConflict>,
}

/// A field that both sides of a merge changed to different values. It has the value of the change request until it is
/// set again.
///
/// A conflict in the content has no values here, because the Markdown contains all versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageConflict {
    /// The conflicting field, for example `title`, `slug` or `document`. `position` is the position of the page in the
    /// page tree. `existence` means that one side deleted the page.
    pub field: String,
    /// The value in the space; absent if the field was not set.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub current: Value,
    /// The value in the common ancestor; absent if the field was not set.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub base: Value,
    /// The value in the change request; absent if the change request removed it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub change_request: Value,
}

/// A page with content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DocumentPage {
    /// Id, title and times of the page.
    #[serde(flatten)]
    pub base: PageBase,
    /// Deprecated; always `sheet`.
    pub kind: SheetKind,
    pub urls: PageUrls,
    /// The last segment of the path.
    pub slug: String,
    /// The path within the space.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The content as Markdown, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// The content as a document tree, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
    /// The id of the content; absent if the page is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<String>,
    /// The source of generated content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<serde_json::Value>,
    /// The seed from which the ids of generated content are derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_seed: Option<String>,
    pub pages: Vec<RevisionPage>,
    /// The repository file from which the page was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
    pub layout: PageLayout,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<PageCover>,
    /// The variables of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Variables>,
    /// `true` if the page is hidden from navigation.
    pub hidden: bool,
    /// `true` if the page is excluded from the platform's search.
    pub no_index: bool,
    /// `true` if web search engines are asked not to index the page.
    pub no_robots_index: bool,
    /// The tags of the page. Always empty, because the platform has no tags.
    #[serde(default)]
    pub tags: Vec<PageTag>,
}

/// A tag of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageTag {
    pub tag: ContentRef,
}

/// The format of page content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContentFormat {
    /// A document tree.
    Document,
    /// Markdown text.
    #[default]
    Markdown,
}

/// URLs of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageUrls {
    /// The page in the web application.
    pub app: String,
}

/// A titled group of pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GroupPage {
    /// Id, title and times of the group.
    #[serde(flatten)]
    pub base: PageBase,
    /// Deprecated; always `group`.
    pub kind: GroupKind,
    /// The last segment of the path.
    pub slug: String,
    /// The path within the space.
    pub path: String,
    /// `true` if the group is hidden from navigation.
    pub hidden: bool,
    /// `true` if the group is excluded from the platform's search.
    pub no_index: bool,
    /// `true` if web search engines are asked not to index the group.
    pub no_robots_index: bool,
    /// The pages of the group.
    pub pages: Vec<RevisionPage>,
}

/// A link in the page tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LinkPage {
    /// Id, title and times of the link.
    #[serde(flatten)]
    pub base: PageBase,
    /// Deprecated; always `link`.
    pub kind: LinkKind,
    /// The target of the link.
    pub target: ContentRef,
    /// The URL of the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
    /// `true` if the link is hidden from navigation.
    pub hidden: bool,
}

/// Pages generated from a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComputedPage {
    /// Id, title and times of the page.
    #[serde(flatten)]
    pub base: PageBase,
    /// The source from which the pages are generated.
    pub computed: serde_json::Value,
}

/// The pages of a revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Pages {
    /// The page tree.
    pub pages: Vec<RevisionPage>,
}
