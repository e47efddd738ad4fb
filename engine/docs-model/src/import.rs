//! Imports of documents, and space templates.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, ContentRef, RevisionId, Url};

/// A request to import a document or a website.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportContent {
    /// The URL of the document.
    pub url: Url,
    /// The format of the document.
    pub source: ImportContentSource,
}

/// The format of imported content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ImportContentSource {
    /// A web page and all pages of the same site below its URL.
    Website,
    /// A Word document.
    Docx,
    /// A Markdown file.
    Markdown,
    /// A single HTML page.
    Html,
    /// An archive of Markdown and HTML files, including their images.
    Zip,
    /// Confluence pages. Not supported by this platform.
    Confluence,
    /// The wiki of a GitHub repository.
    GithubWiki,
    /// Notion pages. Not supported by this platform.
    Notion,
    /// A Google Docs document. Not supported by this platform.
    GoogleDocs,
}

impl ImportContentSource {
    /// Returns the value used on the wire.
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

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImportContentResult {
    /// The revision that the import created.
    pub revision: RevisionId,
    /// The number of imported pages and files.
    pub imported_resources: u64,
    /// The number of pages and files found, including those that failed or exceeded a limit.
    pub total_resources: u64,
    /// Messages about content that was left out or changed: pages and files that could not be read, and parts of
    /// documents that pages cannot contain. The last message states the number of others. The log of the job contains
    /// the same messages.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A request to apply a template to a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApplySpaceTemplate {
    /// The id of the template.
    pub id: BoundedText<1, 64>,
    /// The parameters of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<SpaceTemplateParams>,
    /// The id or number of the change request that receives the pages. By default, the live content does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request_id: Option<String>,
}

/// The parameters of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpaceTemplateParams {
    /// The targets of the template's links, keyed by their names in the template. Unknown names are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_refs: Option<BTreeMap<String, ContentRef>>,
}
