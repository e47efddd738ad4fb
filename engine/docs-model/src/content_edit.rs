//! Edits of content other than pages: files, variables and reusable content blocks.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, DocumentInput, Title, VariableValue, patch::deserialize_non_null};

/// Pattern of padded Base64 in which the unused bits of the last group are zero.
#[cfg(feature = "schema")]
const BASE64: &str = "^([A-Za-z0-9+/]{4}|[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)*$";

/// Adds files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InsertFilesChange {
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = InsertFilesChange::MAX_FILES)))]
    pub files: Vec<InsertFile>,
}

impl InsertFilesChange {
    /// Maximum number of files in one edit.
    pub const MAX_FILES: usize = 20;
}

/// A file to add, with exactly one of `url` and `base64`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [
    { "required": ["url"], "properties": { "url": { "type": "string" }, "base64": { "type": "null" } } },
    { "required": ["base64", "contentType"], "properties": {
        "base64": { "type": "string" }, "contentType": { "type": "string" }, "url": { "type": "null" },
    } },
])))]
#[serde(rename_all = "camelCase")]
pub struct InsertFile {
    /// The name of the file, without a path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::FILE_NAME)))]
    pub name: BoundedText<1, 256>,
    /// The URL to download the file from.
    pub url: Option<super::Url>,
    /// The content of the file in Base64. Requires `contentType`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = BASE64)))]
    pub base64: Option<String>,
    /// The media type of the file. Parameters other than a known charset are dropped.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = super::MediaType::PATTERN)))]
    pub content_type: Option<BoundedText<1, 255>>,
    /// A local name by which pages in this request refer to the file.
    #[serde(rename = "ref")]
    pub reference: Option<BoundedText<1, 256>>,
}

/// Removes files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DeleteFilesChange {
    /// The ids of the files.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = DeleteFilesChange::MAX_FILES)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub files: Vec<String>,
}

impl DeleteFilesChange {
    /// Maximum number of files in one edit.
    pub const MAX_FILES: usize = 20;
}

/// Sets and removes variables of the space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateVariablesChange {
    /// The variables by name. A value sets the variable, `null` removes it; other variables are unchanged.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub variables: BTreeMap<String, Option<VariableValue>>,
}

/// Adds a reusable content block.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InsertReusableContentChange {
    /// The title. It must not be blank.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub title: Title,
    pub document: DocumentInput,
}

/// A partial update of a reusable content block. Omitted fields are unchanged.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateReusableContentChange {
    /// The id of the block.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub reusable_content: String,
    /// The title. It must not be blank.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub title: Option<Title>,
    /// The new content, replacing all of it.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub document: Option<DocumentInput>,
}

/// Removes a reusable content block. Its remaining references render nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeleteReusableContentChange {
    /// The id of the block.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub reusable_content: String,
}
