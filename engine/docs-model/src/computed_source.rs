//! Requests that generate pages and documents from an OpenAPI specification.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{BoundedText, ReusableContent, RevisionFile, RevisionPage, list::constants};

constants! {
    /// `builtin:openapi`.
    ComputedSourceType = "builtin:openapi",
    /// `openapi`.
    SpecRefKind = "openapi",
    /// `by-tag`.
    PageGrouping = "by-tag",
}

/// The seed from which the ids of generated pages are derived. The ids of a computed page are derived from its
/// `computedSeed`.
pub type ComputedSeed = BoundedText<0, 512>;

/// The pages to generate from an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ComputeRevision {
    /// The source of a computed page, as in its field `computed`.
    pub source: RevisionSource,
    /// The seed from which the ids of the pages are derived.
    pub seed: ComputedSeed,
}

/// The document to generate from an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ComputeDocument {
    /// The source of a generated page, as in its field `computed`.
    pub source: DocumentSource,
    /// The seed from which the ids of linked pages are derived.
    pub seed: ComputedSeed,
}

/// The source of a computed page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevisionSource {
    /// Always `builtin:openapi`.
    #[serde(rename = "type")]
    pub kind: ComputedSourceType,
    /// The pages to generate.
    pub props: RevisionProps,
    /// The specification.
    pub dependencies: SpecDependencies,
}

/// The pages that are generated in addition to those of the tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevisionProps {
    /// Adds a page with the schemas.
    pub models: bool,
    /// Adds a page with a link to the document of a public specification.
    #[serde(default)]
    pub download_link: Option<bool>,
    /// Adds a page about the specification as a whole.
    #[serde(default)]
    pub overview: Option<bool>,
    /// Adds a parent page for each group of tags.
    #[serde(default)]
    pub tag_groups: Option<bool>,
    /// Always `by-tag`.
    #[serde(default)]
    pub grouping: Option<PageGrouping>,
}

/// The source of a generated page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DocumentSource {
    /// Always `builtin:openapi`.
    #[serde(rename = "type")]
    pub kind: ComputedSourceType,
    /// The content of the document.
    pub props: DocumentProps,
    /// The specification.
    pub dependencies: SpecDependencies,
}

/// The content of a generated document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DocumentProps {
    /// The kind of content.
    pub doc: GeneratedDocument,
    /// The name of the tag or group; the path of the operation, or the name of the webhook; `overview` or `download`.
    /// Required except for `models`.
    #[serde(default)]
    pub page: Option<BoundedText<1, 2048>>,
    /// The method of the operation in lower case, or `hook` for a webhook. Required for `operation`.
    #[serde(default)]
    pub method: Option<GeneratedMethod>,
    /// Accepted for compatibility; the specification states if an operation is deprecated.
    #[serde(default)]
    pub deprecated: Option<bool>,
}

/// The kind of content of a generated document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GeneratedDocument {
    /// The schemas.
    Models,
    /// The specification as a whole, a download link, or a group or tag without operations.
    Info,
    /// A tag with its operations.
    Operations,
    /// A tag with its operations.
    Tag,
    /// One operation or webhook.
    Operation,
}

/// The method of an operation, or `hook` for a webhook with any method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names of HTTP methods")]
pub enum GeneratedMethod {
    Get,
    Post,
    Put,
    Delete,
    Patch,
    Options,
    Head,
    Trace,
    /// A webhook.
    Hook,
}

impl GeneratedMethod {
    /// Returns the name in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Delete => "delete",
            Self::Patch => "patch",
            Self::Options => "options",
            Self::Head => "head",
            Self::Trace => "trace",
            Self::Hook => "hook",
        }
    }
}

/// The dependencies of a source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpecDependencies {
    /// The specification.
    pub spec: SpecDependency,
}

/// A reference to a specification of the organization.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpecDependency {
    /// The specification.
    #[serde(rename = "ref")]
    pub reference: SpecRef,
    /// Accepted for compatibility; the latest version of the specification is used.
    #[serde(default)]
    pub value: Option<Value>,
}

/// A reference to a specification.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpecRef {
    /// Always `openapi`.
    pub kind: SpecRefKind,
    /// The slug of the specification.
    pub spec: BoundedText<1, 256>,
}

/// The pages generated from an OpenAPI specification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ComputedRevision {
    /// The pages without their content. Empty if the caller sees no such specification, and before it is processed.
    pub pages: Vec<RevisionPage>,
    /// Always empty.
    pub files: Vec<RevisionFile>,
    /// Always empty.
    pub reusable_contents: Vec<ReusableContent>,
}
