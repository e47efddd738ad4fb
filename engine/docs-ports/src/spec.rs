//! Parsing of OpenAPI specifications: [`SpecReader`].

use async_trait::async_trait;
use bytes::Bytes;
pub use docs_model::SpecFormat;
use serde::{Deserialize, Serialize};

/// Maximum total size in bytes of the files of a specification.
pub const MAX_SPEC_BYTES: usize = 20_000_000;
/// Maximum number of problems reported for a specification.
pub const MAX_SPEC_PROBLEMS: usize = 50;

/// A file of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpecFile {
    /// The absolute URL by which other files reference this file; empty for text without a URL.
    pub location: String,
    /// The URL after redirects, if it differs from the location. Relative references are resolved against it or, if it
    /// is absent, against the location.
    pub base: Option<String>,
    /// The content: JSON or YAML.
    pub bytes: Bytes,
}

/// The files of a specification that have been loaded so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecFiles {
    /// The root document.
    pub entry: SpecFile,
    /// The referenced files, by location.
    pub others: Vec<SpecFile>,
}

/// The result of parsing a specification.
#[derive(Clone, PartialEq, Debug)]
pub struct ReadSpec {
    /// The outline of the specification. It lacks operations of path items in missing files.
    pub outline: SpecOutline,
    /// The problems found. A specification with problems cannot be published.
    pub problems: Vec<SpecProblem>,
    /// The absolute URLs of missing referenced files, without duplicates.
    pub missing: Vec<String>,
    /// The parsed files: the entry document, then the others in the order of [`SpecFiles::others`].
    pub files: Vec<ReadSpecFile>,
}

/// The result of parsing a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadSpecFile {
    pub format: SpecFormat,
    /// The content converted to JSON, or `None` if it already is JSON.
    pub json: Option<Bytes>,
    /// The absolute URLs of referenced files, without duplicates.
    pub references: Vec<String>,
}

/// A problem of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SpecProblem {
    /// The message for the user.
    pub message: String,
    /// The location as a JSON pointer; empty for the whole document.
    pub pointer: String,
    /// The 1-based line, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// The outline of a specification, from which its pages are generated.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecOutline {
    /// The OpenAPI version, for example `3.1.0`.
    pub openapi: String,
    pub title: String,
    /// The version of the specified API.
    pub version: String,
    /// The description in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The server URLs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// The tags in the order of the `tags` array, followed by those that only occur in operations, in order of
    /// occurrence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<SpecTag>,
    /// The operations, in document order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<SpecOperation>,
    /// The webhooks, in document order. The `path` of a webhook is its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<SpecOperation>,
    /// The schema names, in document order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemas: Vec<String>,
    /// The contact, the license, the terms of service and further documentation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<SpecLink>,
    /// The security schemes, in document order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<SpecScheme>,
    /// The groups of tags, from `x-tagGroups`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<SpecTagGroup>,
}

/// A link of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecLink {
    pub text: String,
    /// The address, not validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// A security scheme of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecScheme {
    pub name: String,
    /// The type, for example `oauth2`.
    pub kind: String,
    /// The description in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The other fields with their values. Those of a flow of OAuth 2 have its name as a prefix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(String, String)>,
    /// The scopes with their descriptions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<(String, String)>,
}

/// A group of tags.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecTagGroup {
    pub name: String,
    /// The names of the tags.
    pub tags: Vec<String>,
}

/// A tag of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecTag {
    pub name: String,
    /// The title of the tag's page, from `x-page-title` or `x-displayName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The icon of the tag's page, from `x-page-icon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The summary of the tag's page, from `x-page-description`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The text of the tag's page, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The parent tag, from `x-parent` or `parent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The page with further documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs: Option<SpecLink>,
}

/// An operation or a webhook of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecOperation {
    /// The HTTP method in lowercase.
    pub method: String,
    /// The path, or the name of the webhook.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// The summary, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The tag names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default)]
    pub deprecated: bool,
}

/// A parser for OpenAPI specifications: Swagger 2.0, OpenAPI 3.0 and 3.1, in JSON and YAML.
///
/// The result depends only on the files: a reader neither fetches nor stores anything. It limits its own time and
/// memory, because a specification may be malicious. Parsing may be CPU-bound, so an adapter must not block the
/// runtime.
#[async_trait]
pub trait SpecReader: Send + Sync + 'static {
    /// Parses the loaded files of a specification.
    ///
    /// # Errors
    /// [`SpecError`]. The problems of a document that can be parsed are part of the result.
    ///
    /// # Cancel safety
    /// No side effects.
    async fn read(&self, files: SpecFiles) -> Result<ReadSpec, SpecError>;
}

/// The reason a specification could not be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The specification exceeds a size limit, or parsing it exceeded the time or memory limit. The message is intended
    /// for the user.
    #[error("{0}")]
    TooLarge(String),
    /// The reader failed for a reason unrelated to the specification.
    #[error("failed to read the specification: {0}")]
    Failed(String),
}
