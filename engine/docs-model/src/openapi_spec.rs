//! OpenAPI specifications of an organization, and their versions.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::RawValue;

use super::{
    OpenApiSpecId, OpenApiSpecVersionId, Timestamp, Url, formed_text::formed_text, list::constants,
    typed_value::part,
};

/// Maximum size in bytes of a specification that a request contains as text.
pub const MAX_SPEC_TEXT: usize = 10_000_000;

formed_text! {
    /// The slug of an OpenAPI specification, unique within the organization.
    ///
    /// Letters of both cases are equal.
    OpenApiSpecSlug(1, 100, is_slug, "words of letters and digits with one `-` between them",
        { "pattern": "^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$" }),
}

fn is_slug(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    text.split('-').all(is_word)
}

constants! {
    /// `openapi-spec`.
    OpenApiSpecObject = "openapi-spec",
    /// `openapi-spec-version`.
    OpenApiSpecVersionObject = "openapi-spec-version",
}

/// The processing state of an OpenAPI specification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SpecProcessingState {
    /// Waiting to be fetched and parsed.
    Pending,
    /// Being fetched and parsed.
    Progress,
    /// Processed, successfully or with an error code.
    Complete,
}

/// The reason an OpenAPI specification could not be processed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SpecErrorCode {
    /// Fetching the specification or a referenced file timed out.
    FetchTimeout,
    /// The specification or a referenced file could not be fetched.
    FetchError,
    /// The document is not a supported OpenAPI specification.
    ParseError,
}

/// The format of an OpenAPI specification file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpecFormat {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// The visibility of an OpenAPI specification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SpecVisibility {
    /// Visible to members of the organization.
    #[default]
    Private,
    /// Visible to anyone with the public link.
    Public,
}

/// A problem found in an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpecProcessingError {
    /// A description of the problem and its location: the line, if known, and a JSON pointer.
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<SpecErrorCode>,
}

/// An OpenAPI specification of an organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenApiSpec {
    /// Always `openapi-spec`.
    pub object: OpenApiSpecObject,
    pub id: OpenApiSpecId,
    pub created_at: Timestamp,
    /// Time of the last change or of the last processing.
    pub updated_at: Timestamp,
    /// The slug by which content refers to the specification.
    pub slug: OpenApiSpecSlug,
    /// The URL from which the specification is fetched; absent if it was submitted as text.
    #[serde(default, rename = "sourceURL", skip_serializing_if = "Option::is_none")]
    pub source_url: Option<Url>,
    pub processing_state: SpecProcessingState,
    pub visibility: SpecVisibility,
    /// The latest version; absent until processing first succeeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_version: Option<OpenApiSpecVersionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_processed_at: Option<Timestamp>,
    /// The error of the last processing. In this case, the latest version comes from an earlier, successful processing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_process_error_code: Option<SpecErrorCode>,
    /// The problems found by the last processing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_processed_errors: Option<Vec<SpecProcessingError>>,
    /// The number of problems found by the last processing.
    pub last_processed_error_count: u64,
    /// The caller's permissions for the specification.
    pub permissions: OpenApiSpecPermissions,
    pub urls: OpenApiSpecUrls,
}

/// The caller's permissions for an OpenAPI specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecPermissions {
    /// The caller can read the specification.
    pub view: bool,
    /// The caller can change and delete the specification.
    pub edit: bool,
}

/// URLs of an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecUrls {
    /// The specification in this API.
    pub location: String,
    /// The specification in the web application.
    pub app: String,
    /// The public URL of the latest version's document; present if the specification is public and has a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// A version of an OpenAPI specification. Versions are immutable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenApiSpecVersion {
    /// Always `openapi-spec-version`.
    pub object: OpenApiSpecVersionObject,
    pub id: OpenApiSpecVersionId,
    pub created_at: Timestamp,
    /// The URL of the unmodified document. It requires no token and is valid as long as the user to whom it was issued
    /// can read the specification.
    pub url: String,
    pub urls: OpenApiSpecVersionUrls,
}

/// URLs of an OpenAPI specification version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecVersionUrls {
    /// The version in this API.
    pub location: String,
}

/// The content of an OpenAPI specification version.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecContent {
    /// The files by name, the entry document first. Each file has `filename`; `dir`, the base directory of its relative
    /// references; `isEntrypoint`; `references`, the names of the files it references; and `specification`, the file as
    /// JSON. With the token of a visitor of a site, the files are an array.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Value", extend("type" = ["object", "array"], "additionalProperties" = true)))]
    pub filesystem: Box<RawValue>,
    /// The URL of the unmodified document.
    pub url: String,
    pub urls: OpenApiSpecContentUrls,
}

/// URLs of the content of an OpenAPI specification version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecContentUrls {
    /// The URL from which the specification is fetched, or the URL of the unmodified document if it was submitted as
    /// text.
    pub source: String,
    /// The public URL of the latest version's document, or `null` if the specification is private.
    pub public: Option<String>,
}

/// The unmodified entry document of an OpenAPI specification version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecRawContent {
    pub text: String,
    pub format: SpecTextFormat,
}

/// The format of a document of an OpenAPI specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SpecTextFormat {
    Json,
    Yaml,
}

/// The source of an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecSource {
    /// A URL. The specification is fetched again every few hours.
    Url(Url),
    /// The specification as JSON or YAML text.
    Text(String),
}

impl<'de> Deserialize<'de> for SpecSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Forms {
            url: Option<Url>,
            text: Option<String>,
        }
        let forms: Forms = part(serde_json::Value::deserialize(deserializer)?)?;
        match (forms.url, forms.text) {
            (Some(url), None) => Ok(Self::Url(url)),
            (None, Some(text)) if text.is_empty() => Err(D::Error::custom("`text` must not be empty")),
            (None, Some(text)) if text.len() > MAX_SPEC_TEXT => Err(D::Error::custom(format_args!(
                "`text` must be at most {MAX_SPEC_TEXT} bytes, has {}; give a `url`",
                text.len()
            ))),
            (None, Some(text)) => Ok(Self::Text(text)),
            (Some(_), Some(_)) => Err(D::Error::custom("must have `url` or `text`, not both")),
            (None, None) => Err(D::Error::custom(
                "must have `url`, an absolute http or https URL, or `text`, the specification itself",
            )),
        }
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for SpecSource {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SpecSource".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let url = generator.subschema_for::<Url>();
        let left_out = serde_json::json!({ "type": "null" });
        json_schema!({
            "description": "Source of an OpenAPI specification: a URL or its text.",
            "oneOf": [
                { "type": "object", "properties": { "url": url, "text": left_out }, "required": ["url"] },
                {
                    "type": "object",
                    "properties": {
                        "url": left_out,
                        "text": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": MAX_SPEC_TEXT,
                            "description": "The specification as JSON or YAML.",
                        },
                    },
                    "required": ["text"],
                },
            ],
        })
    }
}

/// A new OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateOpenApiSpec {
    /// The slug by which content refers to the specification.
    pub slug: OpenApiSpecSlug,
    pub source: SpecSource,
}

/// The source of an OpenAPI specification to create or replace.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PutOpenApiSpec {
    pub source: SpecSource,
}

/// An update of an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateOpenApiSpec {
    pub visibility: SpecVisibility,
}
