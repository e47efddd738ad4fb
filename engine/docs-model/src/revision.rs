//! Revisions as they are read, and what they hold besides pages.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ChangeRequest, Dimensions, FileId, GitBlob, GitCommit, ReusableId, RevisionId, RevisionPage, Timestamp,
    User, Variables, list::constants,
};

constants! {
    /// `revision`.
    RevisionObject = "revision",
}

/// How a revision came to be; a merge tells of which request, a rollback to which revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum RevisionType {
    /// Edits of content, an import among them.
    Edits,
    /// A change request was merged.
    #[serde(rename_all = "camelCase")]
    Merge {
        /// The request.
        merged_from: Box<ChangeRequest>,
    },
    /// The space went back to an earlier revision.
    #[serde(rename_all = "camelCase")]
    Rollback {
        /// The revision whose content it has.
        restored_from: RevisionId,
    },
    /// A change request was brought up to date.
    Update,
    /// Made by computation.
    Computed,
}

/// A revision: the content of a space at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Always `revision`.
    pub object: RevisionObject,
    /// The revision's id.
    pub id: RevisionId,
    /// The revisions it was made from.
    pub parents: Vec<RevisionId>,
    /// How it came to be.
    #[serde(flatten)]
    pub kind: RevisionType,
    /// The tree of pages, without their content.
    pub pages: Vec<RevisionPage>,
    /// The files.
    pub files: Vec<RevisionFile>,
    /// The reusable contents.
    pub reusable_contents: Vec<ReusableContent>,
    /// The variables of the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Variables>,
    /// When it was made.
    pub created_at: Timestamp,
    /// The commit it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitCommit>,
    /// Addresses of the revision.
    pub urls: RevisionUrls,
}

/// A revision in the history of its space: who made it, when and how, without its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevisionSummary {
    /// Always `revision`.
    pub object: RevisionObject,
    /// The revision's id.
    pub id: RevisionId,
    /// Its number in the history of the space: 1, 2, 3 …
    pub number: u64,
    /// The revisions it was made from, that of the space first.
    pub parents: Vec<RevisionId>,
    /// How it came to be.
    #[serde(flatten)]
    pub kind: RevisionType,
    /// Who made it.
    pub created_by: User,
    /// When it was made.
    pub created_at: Timestamp,
    /// The commit it came from, with its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitCommit>,
    /// Addresses of the revision.
    pub urls: RevisionSummaryUrls,
}

/// Addresses of a revision in the history of its space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevisionSummaryUrls {
    /// The revision in this API, with its content.
    pub location: String,
    /// The revision for people.
    pub app: String,
}

/// Addresses of a revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevisionUrls {
    /// The revision for people.
    pub app: String,
    /// Where it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// Where it is published to everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}

/// A file of a revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevisionFile {
    /// The file's id.
    pub id: FileId,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// Where its bytes are.
    #[serde(rename = "downloadURL")]
    pub download_url: String,
    /// Its size in bytes.
    pub size: u64,
    /// The size of the picture, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// The file of the repository it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
}

/// Content that pages include.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReusableContent {
    /// The id.
    pub id: ReusableId,
    /// Its title.
    pub title: String,
    /// Names its content; absent when it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// What it is computed from, when it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<serde_json::Value>,
    /// Seeds the ids of what is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_seed: Option<String>,
    /// The file it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
}
