//! Files and reusable contents of a revision.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Dimensions, FileId, GitBlob, ReusableId};

/// A file of a revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevisionFile {
    pub id: FileId,
    pub name: String,
    pub content_type: String,
    /// Download address of the file.
    #[serde(rename = "downloadURL")]
    pub download_url: String,
    /// The size in bytes.
    pub size: u64,
    /// The dimensions, if the file is an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// The repository file of an imported file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
}

/// Content that pages include.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReusableContent {
    pub id: ReusableId,
    pub title: String,
    /// The id of its document; absent if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The source of generated content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<serde_json::Value>,
    /// The seed of the ids of generated content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_seed: Option<String>,
    /// The repository file of imported content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
}
