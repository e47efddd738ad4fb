//! Imports of documents, and templates.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, ContentRef, RevisionId, Url};

/// What is imported from where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportContent {
    /// Where it is.
    pub url: Url,
    /// What it is.
    pub source: ImportContentSource,
}

/// What is imported.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImportContentSource {
    /// A page on the web, and pages of the same site below it.
    Website,
    /// A Word document.
    Docx,
    /// A Markdown file.
    Markdown,
    /// An HTML page, alone.
    Html,
    /// An archive of Markdown and HTML files with what they show.
    Zip,
    /// Pages of Confluence; not imported by this platform.
    Confluence,
    /// The wiki of a repository on GitHub.
    GithubWiki,
    /// Pages of Notion; not imported by this platform.
    Notion,
    /// A document of Google Docs; not imported by this platform.
    GoogleDocs,
}

impl ImportContentSource {
    /// The word for it in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Website => "website",
            Self::Docx => "docx",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Zip => "zip",
            Self::Confluence => "confluence",
            Self::GithubWiki => "github-wiki",
            Self::Notion => "notion",
            Self::GoogleDocs => "google-docs",
        }
    }
}

/// What came of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportContentResult {
    /// The revision that the import made.
    pub revision: RevisionId,
    /// How many pages and files it has from the import.
    pub imported_resources: u64,
    /// How many pages and files were found, those included that could not be imported or were beyond a limit.
    pub total_resources: u64,
}

/// Which template to apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApplySpaceTemplate {
    /// The template.
    pub id: BoundedText<1, 64>,
    /// What it is filled in with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<SpaceTemplateParams>,
}

/// What a template is filled in with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpaceTemplateParams {
    /// Where links of the template lead, by the names that the template has for them. Names it does not have are
    /// ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_refs: Option<BTreeMap<String, ContentRef>>,
}
