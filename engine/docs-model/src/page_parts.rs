//! The parts of a page: layout, cover, variables, and where Git keeps it.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ContentRef;

/// Most characters of a variable's text.
pub const MAX_VARIABLE_TEXT: usize = 256;

/// How wide a page is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PageWidth {
    /// A column that reads well.
    #[default]
    Default,
    /// The whole width.
    Wide,
}

/// How large the cover of a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum CoverSize {
    /// Within the column.
    #[default]
    Hero,
    /// Across the whole width.
    Full,
}

/// Which parts of a page are shown, and how wide.
///
/// Everything is shown unless a page says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PageLayout {
    /// The width.
    pub width: PageWidth,
    /// Shows the cover.
    pub cover: bool,
    /// The size of the cover.
    pub cover_size: CoverSize,
    /// Shows the title.
    pub title: bool,
    /// Shows the description.
    pub description: bool,
    /// Shows the table of contents of the space.
    pub table_of_contents: bool,
    /// Shows the outline of the page.
    pub outline: bool,
    /// Shows the links to the previous and the next page.
    pub pagination: bool,
    /// Shows when the page was changed, and the like.
    pub metadata: bool,
}

impl Default for PageLayout {
    fn default() -> Self {
        Self {
            width: PageWidth::Default,
            cover: true,
            cover_size: CoverSize::Hero,
            title: true,
            description: true,
            table_of_contents: true,
            outline: true,
            pagination: true,
            metadata: true,
        }
    }
}

/// The picture above a page.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PageCover {
    /// The picture: a file or an address.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ContentRef>,
    /// The picture in the dark theme.
    #[serde(rename = "refDark", default, skip_serializing_if = "Option::is_none")]
    pub reference_dark: Option<ContentRef>,
    /// How far the picture is moved up or down.
    #[serde(default)]
    pub y_pos: f64,
}

/// The value of a variable of a space or a page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum VariableValue {
    /// A text.
    Text(#[cfg_attr(feature = "schema", schemars(length(max = MAX_VARIABLE_TEXT)))] String),
    /// Yes or no.
    Boolean(bool),
    /// A number.
    Number(serde_json::Number),
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

/// Where Git keeps a page or a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitBlob {
    /// The object id of the blob.
    pub oid: String,
    /// The path in the repository.
    pub path: String,
}

/// The Git commit a revision was made from or written to.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitCommit {
    /// The object id of the commit.
    pub oid: String,
    /// The message; blank for visitors of a site.
    pub message: String,
    /// Tells whether the platform made the commit, as opposed to a person.
    pub created_by_platform: bool,
    /// The same under the name that clients of the original API know.
    #[serde(rename = "createdByGitBook", default)]
    pub created_by_git_book: bool,
    /// Where the commit can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The branch or tag; absent for visitors of a site.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// The size of a picture in pixels.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Dimensions {
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}
