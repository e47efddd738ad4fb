//! Pages as they are read.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ContentRef, Document, Emoji, GitBlob, Icon, PageCover, PageId, PageLayout, Timestamp, Variables,
    list::constants,
};

constants! {
    /// `sheet`: the deprecated kind of a document page.
    SheetKind = "sheet",
    /// `group`: the deprecated kind of a group.
    GroupKind = "group",
    /// `link`: the deprecated kind of a link page.
    LinkKind = "link",
}

/// A page of a revision: a document, a group of pages, a link, or a computed subtree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum RevisionPage {
    /// A page with content.
    Document(Box<DocumentPage>),
    /// A titled group of pages.
    Group(GroupPage),
    /// A link in the tree of pages.
    Link(LinkPage),
    /// Pages that a source computes.
    Computed(ComputedPage),
}

/// What all kinds of pages have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageBase {
    /// The page's id.
    pub id: PageId,
    /// Its title.
    pub title: String,
    /// Its emoji.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emoji: Option<Emoji>,
    /// Its icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Icon>,
    /// When it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// What merges could not unite and nobody has decided yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<PageConflict>,
}

/// A field of a page that two sides set differently. It has the change request's value until it is set again.
///
/// Of the content there are no values here: its Markdown shows all sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageConflict {
    /// The field: `title`, `slug`, `document` and so on; `position` for where the page stands, `existence` when one
    /// side deleted the page.
    pub field: String,
    /// The value that the space had; absent when it had none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub current: Value,
    /// The value both came from; absent when there was none.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub base: Value,
    /// The value of the change request; absent when it removed the field.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub change_request: Value,
}

/// A page with content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DocumentPage {
    /// Id, title and times.
    #[serde(flatten)]
    pub base: PageBase,
    /// Deprecated; always `sheet`.
    pub kind: SheetKind,
    /// Addresses of the page.
    pub urls: PageUrls,
    /// The last part of its path.
    pub slug: String,
    /// Its path in the space.
    pub path: String,
    /// A short description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its content as Markdown, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markdown: Option<String>,
    /// Its content as a document, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
    /// Names its content; absent when it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_id: Option<String>,
    /// What its content is computed from, when it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<serde_json::Value>,
    /// Seeds the ids of what is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_seed: Option<String>,
    /// Its subpages.
    pub pages: Vec<RevisionPage>,
    /// The file it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
    /// How it is laid out.
    pub layout: PageLayout,
    /// Its cover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<PageCover>,
    /// The page's variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Variables>,
    /// Left out of navigation.
    pub hidden: bool,
    /// Kept out of search.
    pub no_index: bool,
    /// Kept out of search engines.
    pub no_robots_index: bool,
}

/// How the content of a page is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContentFormat {
    /// As a document tree.
    Document,
    /// As Markdown.
    #[default]
    Markdown,
}

/// Addresses of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageUrls {
    /// The page for people.
    pub app: String,
}

/// A titled group of pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GroupPage {
    /// Id, title and times.
    #[serde(flatten)]
    pub base: PageBase,
    /// Deprecated; always `group`.
    pub kind: GroupKind,
    /// The last part of its path.
    pub slug: String,
    /// Its path in the space.
    pub path: String,
    /// Left out of navigation.
    pub hidden: bool,
    /// Kept out of search.
    pub no_index: bool,
    /// Kept out of search engines.
    pub no_robots_index: bool,
    /// Its pages.
    pub pages: Vec<RevisionPage>,
}

/// A link in the tree of pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LinkPage {
    /// Id, title and times.
    #[serde(flatten)]
    pub base: PageBase,
    /// Deprecated; always `link`.
    pub kind: LinkKind,
    /// Where it leads.
    pub target: ContentRef,
    /// The address it leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
    /// Left out of navigation.
    pub hidden: bool,
}

/// Pages that a source computes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComputedPage {
    /// Id, title and times.
    #[serde(flatten)]
    pub base: PageBase,
    /// The source.
    pub computed: serde_json::Value,
}

/// The pages of a revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Pages {
    /// The tree of pages.
    pub pages: Vec<RevisionPage>,
}
