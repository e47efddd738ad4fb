//! OpenAPI specifications of an organization, and their versions.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::RawValue;

use super::{
    OpenApiSpecId, OpenApiSpecVersionId, Timestamp, Url, change_request::part, formed_text::formed_text,
    list::constants,
};

/// Most bytes of a specification that a request brings as text.
pub const MAX_SPEC_TEXT: usize = 10_000_000;

formed_text! {
    /// The slug of an OpenAPI specification, unique in its organization.
    OpenApiSpecSlug(1, 100, is_slug, "words of lower-case letters and digits with one `-` between them",
        { "pattern": "^[a-z0-9]+(?:-[a-z0-9]+)*$" }),
}

fn is_slug(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.split('-').all(is_word)
}

constants! {
    /// `openapi-spec`.
    OpenApiSpecObject = "openapi-spec",
    /// `openapi-spec-version`.
    OpenApiSpecVersionObject = "openapi-spec-version",
}

/// How far the processing of an OpenAPI specification is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SpecProcessingState {
    /// It waits to be fetched and read.
    Pending,
    /// It is fetched and read.
    Progress,
    /// It was processed, or could not be: then there is an error code.
    Complete,
}

/// Why an OpenAPI specification could not be processed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SpecErrorCode {
    /// Its host, or that of a file that it refers to, took too long to answer.
    FetchTimeout,
    /// It, or a file that it refers to, could not be fetched.
    FetchError,
    /// It is no OpenAPI specification that can be read.
    ParseError,
}

/// What a file of an OpenAPI specification is written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpecFormat {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// Who may read an OpenAPI specification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SpecVisibility {
    /// Members of the organization.
    #[default]
    Private,
    /// Anybody who has its public link.
    Public,
}

/// Something that went wrong with an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpecProcessingError {
    /// What is wrong, and where: a line where it is known, and a JSON pointer.
    pub message: String,
    /// What kind of error it is.
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
    /// The id.
    pub id: OpenApiSpecId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed or processed.
    pub updated_at: Timestamp,
    /// The slug, by which content refers to it.
    pub slug: OpenApiSpecSlug,
    /// Where it is fetched from; absent for one that was given as text.
    #[serde(default, rename = "sourceURL", skip_serializing_if = "Option::is_none")]
    pub source_url: Option<Url>,
    /// How far its processing is.
    pub processing_state: SpecProcessingState,
    /// Who may read it.
    pub visibility: SpecVisibility,
    /// The latest version; absent until one was processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_version: Option<OpenApiSpecVersionId>,
    /// When it was last processed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_processed_at: Option<Timestamp>,
    /// Why it could not be processed the last time; the latest version is then an earlier one, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_process_error_code: Option<SpecErrorCode>,
    /// What was found wrong the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_processed_errors: Option<Vec<SpecProcessingError>>,
    /// What the caller may do with it.
    pub permissions: OpenApiSpecPermissions,
    /// Addresses of it.
    pub urls: OpenApiSpecUrls,
}

/// What the caller may do with an OpenAPI specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecPermissions {
    /// Read it.
    pub view: bool,
    /// Change and delete it.
    pub edit: bool,
}

/// Addresses of an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecUrls {
    /// The specification in this API.
    pub location: String,
    /// The specification for people.
    pub app: String,
    /// The document of the latest version, for anybody. Present while the specification is public and has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// A version of an OpenAPI specification. It never changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenApiSpecVersion {
    /// Always `openapi-spec-version`.
    pub object: OpenApiSpecVersionObject,
    /// The id.
    pub id: OpenApiSpecVersionId,
    /// When it was created.
    pub created_at: Timestamp,
    /// Where its document is, byte for byte as it was given, without a token: for as long as whom the address was made
    /// for may read the specification.
    pub url: String,
    /// Addresses of it.
    pub urls: OpenApiSpecVersionUrls,
}

/// Addresses of a version of an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecVersionUrls {
    /// The version in this API.
    pub location: String,
}

/// The content of a version of an OpenAPI specification.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenApiSpecContent {
    /// Its files by their names, the document that it begins with first. Each has `filename`; `dir`, the folder where
    /// relative references in it start; `isEntrypoint`; `references`, the names of the files that it refers to; and
    /// `specification`, the file as JSON.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub filesystem: Box<RawValue>,
    /// Where its document is, byte for byte as it was given.
    pub url: String,
}

/// What an OpenAPI specification is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecSource {
    /// Fetched from this address, and again every few hours.
    Url(Url),
    /// This text: JSON or YAML.
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
            "description": "What an OpenAPI specification is made from: an address, or the text itself.",
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
                            "description": "The specification itself: JSON or YAML.",
                        },
                    },
                    "required": ["text"],
                },
            ],
        })
    }
}

/// What a new OpenAPI specification is made of.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateOpenApiSpec {
    /// The slug, by which content refers to it.
    pub slug: OpenApiSpecSlug,
    /// What it is made from.
    pub source: SpecSource,
}

/// What an OpenAPI specification is to be made from, whether or not it is there.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PutOpenApiSpec {
    /// What it is made from.
    pub source: SpecSource,
}

/// A change of an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateOpenApiSpec {
    /// Who may read it.
    pub visibility: SpecVisibility,
}
