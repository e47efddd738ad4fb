//! Files and reusable content blocks of a revision.

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
    /// The download URL of the file.
    #[serde(rename = "downloadURL")]
    pub download_url: String,
    /// The size in bytes.
    pub size: u64,
    /// The dimensions, if the file is an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// The repository file from which the file was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
}

/// A reusable content block, which pages can include.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReusableContent {
    pub id: ReusableId,
    pub title: String,
    /// The id of its document; absent if the block is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The source of a computed block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<serde_json::Value>,
    /// The seed from which the ids of generated content are derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_seed: Option<String>,
    /// The repository file from which the block was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
}
