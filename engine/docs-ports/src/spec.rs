//! OpenAPI specifications as outlines: [`SpecReader`].

use async_trait::async_trait;
use bytes::Bytes;
pub use docs_model::SpecFormat;
use serde::{Deserialize, Serialize};

/// Most bytes of a specification, of all its files together.
pub const MAX_SPEC_BYTES: usize = 20_000_000;
/// Most problems that are told of a specification.
pub const MAX_SPEC_PROBLEMS: usize = 50;

/// A file of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpecFile {
    /// Where it is: an absolute URL, by which others refer to it. Empty for a text without an address.
    pub location: String,
    /// Where it was in the end, where that is elsewhere; relative references in it start there. Otherwise they start at
    /// its location.
    pub base: Option<String>,
    /// Its bytes: JSON or YAML.
    pub bytes: Bytes,
}

/// A specification as far as it is at hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecFiles {
    /// The document that it begins with.
    pub entry: SpecFile,
    /// Files that it refers to, at their locations.
    pub others: Vec<SpecFile>,
}

/// What was read of a specification.
#[derive(Clone, PartialEq, Debug)]
pub struct ReadSpec {
    /// Its outline. Operations of path items in files that are missing are not in it.
    pub outline: SpecOutline,
    /// What is wrong with it: with any of these it cannot be published.
    pub problems: Vec<SpecProblem>,
    /// The files that it refers to and that are not at hand, as absolute URLs, each once.
    pub missing: Vec<String>,
    /// Its files, the entry first, then in the order of [`SpecFiles::others`].
    pub files: Vec<ReadSpecFile>,
}

/// What was read of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadSpecFile {
    /// What it is written in.
    pub format: SpecFormat,
    /// The same as JSON; `None` where it is JSON already.
    pub json: Option<Bytes>,
    /// The files that it refers to, as absolute URLs, each once.
    pub references: Vec<String>,
}

/// Something that is wrong with a specification.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SpecProblem {
    /// What is wrong, for the user.
    pub message: String,
    /// Where: a JSON pointer. Empty for the document as a whole.
    pub pointer: String,
    /// The line, from 1, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// What pages are made of: the outline of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecOutline {
    /// The version of OpenAPI that it is written in, for example `3.1.0`.
    pub openapi: String,
    /// Its title.
    pub title: String,
    /// Its own version.
    pub version: String,
    /// What it says of itself, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where the service is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// The tags, in the order of the array `tags`; then those that only operations name, as they come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<SpecTag>,
    /// The operations, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<SpecOperation>,
    /// The webhooks, in the order of the document; their `path` is their name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<SpecOperation>,
    /// The names of the schemas, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemas: Vec<String>,
}

/// A tag of a specification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecTag {
    /// Its name.
    pub name: String,
    /// The title of its page, from `x-page-title` or `x-displayName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The icon of its page, from `x-page-icon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The summary of its page, from `x-page-description`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The text of its page, in Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The tag above it, from `x-parent` or `parent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// An operation of a specification, or a webhook.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SpecOperation {
    /// The method, in lower case.
    pub method: String,
    /// The path, or the name of the webhook.
    pub path: String,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// What it does, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The names of its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it is deprecated.
    #[serde(default)]
    pub deprecated: bool,
}

/// Reads OpenAPI specifications: Swagger 2.0, OpenAPI 3.0 and 3.1, in JSON and YAML.
///
/// The answer depends on the files alone: nothing is fetched, nothing is kept. A reader bounds its own work, so that no
/// specification, whoever made it, takes long or much memory; reading may block, so an adapter sees to it that it does
/// not block the runtime.
#[async_trait]
pub trait SpecReader: Send + Sync + 'static {
    /// Reads a specification as far as its files are at hand.
    ///
    /// # Errors
    /// [`SpecError`]; problems of a document that could be read at all are in the answer.
    ///
    /// # Cancel safety
    /// Nothing is left behind.
    async fn read(&self, files: SpecFiles) -> Result<ReadSpec, SpecError>;
}

/// Why a specification cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// It is larger than a limit, or takes more time or memory than it may. The text is for the user.
    #[error("{0}")]
    TooLarge(String),
    /// The reader failed, whatever the specification is.
    #[error("the specification could not be read: {0}")]
    Failed(String),
}
