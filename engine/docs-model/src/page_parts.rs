//! Parts of a page: layout, cover, variables and Git origin.

use std::{collections::BTreeMap, fmt};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ContentRef;

/// Maximum length of a string variable in characters.
pub const MAX_VARIABLE_TEXT: usize = 256;

/// The width of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PageWidth {
    /// A text column of limited width.
    #[default]
    Default,
    /// The full width.
    Wide,
}

/// The size of a page cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum CoverSize {
    /// The width of the text column.
    #[default]
    Hero,
    /// The full width of the page.
    Full,
}

/// The mask of a page cover.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum CoverMask {
    /// The whole image.
    #[default]
    None,
    /// The image fades out towards its edges.
    Radial,
}

/// The width and the visible parts of a page.
///
/// All parts are visible by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "the wire format is an object of flags")]
pub struct PageLayout {
    pub width: PageWidth,
    /// `true` if the cover is visible.
    pub cover: bool,
    pub cover_size: CoverSize,
    pub cover_mask: CoverMask,
    /// `true` if the title is visible.
    pub title: bool,
    /// `true` if the description is visible.
    pub description: bool,
    /// `true` if the table of contents of the space is visible.
    pub table_of_contents: bool,
    /// `true` if the outline of the page is visible.
    pub outline: bool,
    /// `true` if the links to the previous and the next page are visible.
    pub pagination: bool,
    /// `true` if metadata such as the time of the last change is visible.
    pub metadata: bool,
    /// `true` if tags are visible.
    pub tags: bool,
    /// `true` if the actions of the page, such as the link to its Markdown, are visible.
    pub actions: bool,
    /// `true` if headings show a link to themselves.
    pub anchors: bool,
}

impl Default for PageLayout {
    fn default() -> Self {
        Self {
            width: PageWidth::Default,
            cover: true,
            cover_size: CoverSize::Hero,
            cover_mask: CoverMask::None,
            title: true,
            description: true,
            table_of_contents: true,
            outline: true,
            pagination: true,
            metadata: true,
            tags: true,
            actions: true,
            anchors: true,
        }
    }
}

/// The image above a page.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageCover {
    /// The image: a file or a URL.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ContentRef>,
    /// The image for the dark theme.
    #[serde(rename = "refDark", default, skip_serializing_if = "Option::is_none")]
    pub reference_dark: Option<ContentRef>,
    /// The vertical offset of the image.
    #[serde(default)]
    pub y_pos: f64,
}

/// The value of a variable of a space or a page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum VariableValue {
    /// A string.
    Text(#[cfg_attr(feature = "schema", schemars(length(max = MAX_VARIABLE_TEXT)))] String),
    /// A boolean.
    Boolean(bool),
    /// A number.
    Number(serde_json::Number),
}

impl fmt::Display for VariableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Boolean(value) => value.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl From<&VariableValue> for docs_expression::Value {
    fn from(variable: &VariableValue) -> Self {
        match variable {
            VariableValue::Text(text) => Self::Text(text.as_str().into()),
            VariableValue::Boolean(value) => Self::Boolean(*value),
            VariableValue::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
        }
    }
}

/// Variables by name.
pub type Variables = BTreeMap<String, VariableValue>;

/// The Git blob of a page or a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitBlob {
    /// The object id of the blob.
    pub oid: String,
    /// The path within the repository.
    pub path: String,
    /// `true` if the file is executable in the repository; otherwise absent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

/// The Git commit from which a revision was imported or to which it was exported.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitCommit {
    /// The object id of the commit.
    pub oid: String,
    /// The commit message; empty for site visitors.
    pub message: String,
    /// `true` if the platform created the commit.
    pub created_by_platform: bool,
    /// The same value as `createdByPlatform`, under the name that clients of the original API expect.
    #[serde(rename = "createdByGitBook", default)]
    pub created_by_git_book: bool,
    /// The URL of the commit's web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The branch or tag; absent for site visitors.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// The dimensions of an image in pixels.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Dimensions {
    pub width: f64,
    pub height: f64,
}
