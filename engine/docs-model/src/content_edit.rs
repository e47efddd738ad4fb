//! Edits of content other than pages: files, variables and reusable contents.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, DocumentInput, VariableValue, patch::deserialize_non_null};

/// The pattern of accepted Base64: groups of four characters, the last one padded and without leftover bits.
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
    /// The name of the file, without a folder.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::FILE_NAME)))]
    pub name: BoundedText<1, 256>,
    /// The address to download the file from.
    pub url: Option<super::Url>,
    /// The bytes in Base64; requires `contentType`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = BASE64)))]
    pub base64: Option<String>,
    /// Its media type: parameters other than a known charset are dropped.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = super::MediaType::PATTERN)))]
    pub content_type: Option<BoundedText<1, 255>>,
    /// A local name that pages in this request use to link to the file.
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

/// Adds a reusable content.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InsertReusableContentChange {
    /// The title, not blank.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub title: BoundedText<1, 1000>,
    pub document: DocumentInput,
}

/// A partial update of a reusable content. Omitted fields are unchanged.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateReusableContentChange {
    /// The id of the reusable content.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub reusable_content: String,
    /// The title, not blank.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub title: Option<BoundedText<1, 1000>>,
    /// A replacement for the whole content.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub document: Option<DocumentInput>,
}

/// Removes a reusable content. Includes of it then render nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeleteReusableContentChange {
    /// The id of the reusable content.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub reusable_content: String,
}
