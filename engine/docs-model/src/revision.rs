//! Revisions of the API, with files and reusable content blocks.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ChangeRequest, GitCommit, ReusableContent, RevisionFile, RevisionId, RevisionPage, Timestamp, User,
    list::constants,
};

constants! {
    /// `revision`.
    RevisionObject = "revision",
}

/// The origin of a revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum RevisionType {
    /// Content edits, including imports.
    Edits,
    /// A merge of a change request.
    #[serde(rename_all = "camelCase")]
    Merge {
        /// The merged change request.
        merged_from: Box<ChangeRequest>,
    },
    /// A rollback of the space to an earlier revision.
    #[serde(rename_all = "camelCase")]
    Rollback {
        /// The earlier revision whose content was restored.
        restored_from: RevisionId,
    },
    /// An update of a change request from its space.
    Update,
    /// A recomputation of generated content.
    #[serde(rename_all = "camelCase")]
    Computed {
        /// The revision from which the content was computed. For a translation, a revision of the source space.
        source_revision: RevisionId,
    },
}

/// A revision: the content of a space at a point in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Always `revision`.
    pub object: RevisionObject,
    pub id: RevisionId,
    /// The revisions on which this revision is based.
    pub parents: Vec<RevisionId>,
    /// The origin of the revision.
    #[serde(flatten)]
    pub kind: RevisionType,
    /// The page tree, without page content.
    pub pages: Vec<RevisionPage>,
    pub files: Vec<RevisionFile>,
    pub reusable_contents: Vec<ReusableContent>,
    /// The tags of the space. Always empty, because the platform has no tags.
    #[serde(default)]
    pub tags: Vec<RevisionTag>,
    /// The variables of the space, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<BTreeMap<String, String>>,
    pub created_at: Timestamp,
    /// The Git commit from which the revision was imported or to which it was exported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitCommit>,
    pub urls: RevisionUrls,
}

/// A tag that pages of a revision can have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevisionTag {
    pub slug: String,
    pub label: String,
}

/// A revision in the history of a space, without content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevisionSummary {
    /// Always `revision`.
    pub object: RevisionObject,
    pub id: RevisionId,
    /// Sequential number in the history of the space, starting at 1.
    pub number: u64,
    /// The revisions on which this revision is based, the previous revision of the space first.
    pub parents: Vec<RevisionId>,
    /// The origin of the revision.
    #[serde(flatten)]
    pub kind: RevisionType,
    /// The author of the revision.
    pub created_by: User,
    pub created_at: Timestamp,
    /// The Git commit from which the revision was imported or to which it was exported, with its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitCommit>,
    pub urls: RevisionSummaryUrls,
}

/// URLs of a revision in the history of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevisionSummaryUrls {
    /// The revision in this API, with its content.
    pub location: String,
    /// The revision in the web application.
    pub app: String,
}

/// URLs of a revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevisionUrls {
    /// The revision in the web application.
    pub app: String,
    /// The published URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The published URL, if it is public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}
