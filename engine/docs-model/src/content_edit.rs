//! Edits of content that are about no page: files, variables, reusable contents.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, DocumentInput, VariableValue, patch::given};

/// Base64 as it is read: groups of four, those that end a text with padding and without bits left over.
#[cfg(feature = "schema")]
const BASE64: &str = "^([A-Za-z0-9+/]{4}|[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)*$";

/// Adds files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InsertFilesChange {
    /// The files.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = InsertFilesChange::MAX_FILES)))]
    pub files: Vec<InsertFile>,
}

impl InsertFilesChange {
    /// Most files.
    pub const MAX_FILES: usize = 20;
}

/// A file to add: exactly one of `url` and `base64`.
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
    /// Its name, without a folder.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::FILE_NAME)))]
    pub name: BoundedText<1, 256>,
    /// Where to fetch it.
    pub url: Option<super::Url>,
    /// Its bytes; `contentType` is then needed.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = BASE64)))]
    pub base64: Option<String>,
    /// Its media type: parameters other than a known charset are dropped.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = super::MediaType::PATTERN)))]
    pub content_type: Option<BoundedText<1, 255>>,
    /// A name for the file within this request, so that pages may link to it.
    #[serde(rename = "ref")]
    pub reference: Option<BoundedText<1, 256>>,
}

/// Removes files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DeleteFilesChange {
    /// The ids of the files.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = DeleteFilesChange::MAX_FILES)))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub files: Vec<String>,
}

impl DeleteFilesChange {
    /// Most files.
    pub const MAX_FILES: usize = 20;
}

/// Sets variables of the space, and removes others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateVariablesChange {
    /// The variables by name, each with its value, or `null` to remove it; others stay.
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
    /// What it says.
    pub document: DocumentInput,
}

/// Changes a reusable content; what is left out stays.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateReusableContentChange {
    /// The reusable content.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub reusable_content: String,
    /// The title, not blank.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub title: Option<BoundedText<1, 1000>>,
    /// Replaces all that it says.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub document: Option<DocumentInput>,
}

/// Removes a reusable content; what includes it is left with nothing in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeleteReusableContentChange {
    /// The reusable content.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub reusable_content: String,
}
