//! Revisions as the API returns them, with files and reusable contents.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ChangeRequest, GitCommit, ReusableContent, RevisionFile, RevisionId, RevisionPage, Timestamp, User,
    Variables, list::constants,
};

constants! {
    /// `revision`.
    RevisionObject = "revision",
}

/// The origin of a revision. A merge contains its change request, a rollback the restored revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum RevisionType {
    /// Edits of content, including imports.
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
    /// A computation of content.
    Computed,
}

/// A revision: the content of a space at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Revision {
    /// Always `revision`.
    pub object: RevisionObject,
    pub id: RevisionId,
    /// The revisions that this revision is based on.
    pub parents: Vec<RevisionId>,
    /// The origin of the revision.
    #[serde(flatten)]
    pub kind: RevisionType,
    /// The tree of pages, without content.
    pub pages: Vec<RevisionPage>,
    pub files: Vec<RevisionFile>,
    pub reusable_contents: Vec<ReusableContent>,
    /// The variables of the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Variables>,
    pub created_at: Timestamp,
    /// The Git commit that the revision was imported from or exported to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitCommit>,
    pub urls: RevisionUrls,
}

/// A revision in the history of its space, without content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevisionSummary {
    /// Always `revision`.
    pub object: RevisionObject,
    pub id: RevisionId,
    /// Sequential number in the history of the space, from 1.
    pub number: u64,
    /// The revisions that this revision is based on, the previous revision of the space first.
    pub parents: Vec<RevisionId>,
    /// The origin of the revision.
    #[serde(flatten)]
    pub kind: RevisionType,
    /// The author of the revision.
    pub created_by: User,
    pub created_at: Timestamp,
    /// The Git commit that the revision was imported from or exported to, with its message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitCommit>,
    pub urls: RevisionSummaryUrls,
}

/// Addresses of a revision in the history of its space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevisionSummaryUrls {
    /// The revision in this API, with its content.
    pub location: String,
    /// The revision in the web application.
    pub app: String,
}

/// Addresses of a revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevisionUrls {
    /// The revision in the web application.
    pub app: String,
    /// The published address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The published address, if it is public.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}
