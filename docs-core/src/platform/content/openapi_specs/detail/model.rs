//! The parts of a specification in a form for readers, and their display limits.

use std::sync::Arc;

/// A part of a specification that a page shows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShownSpec {
    pub spec: String,
    /// The part that is shown.
    pub subject: SpecSubject,
    /// Its content in the latest version.
    pub detail: Arc<SpecDetail>,
}

/// The part of a specification that a block shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpecSubject {
    Operation {
        /// The method, in lower case.
        method: String,
        path: String,
    },
    Webhook {
        /// The method, in lower case.
        method: String,
        name: String,
    },
    /// The schema with this name.
    Schema(String),
}

impl SpecSubject {
    /// The anchor of the subject on a page of a site. The anchors of headings contain no slash.
    #[must_use]
    pub fn anchor(&self) -> String {
        let anchor = match self {
            Self::Operation { method, path } if path.starts_with('/') => format!("{method}{path}"),
            Self::Operation { method, path: name } => format!("{method}/{name}"),
            Self::Webhook { method, name } => format!("webhook/{method}/{name}"),
            Self::Schema(name) => format!("schema/{name}"),
        };
        anchor.chars().map(|c| if c.is_whitespace() || c.is_control() { '-' } else { c }).collect()
    }
}

/// The content of a part of a specification.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SpecDetail {
    /// An operation or a webhook.
    Operation(Box<OperationDetail>),
    Schema(Box<BodyDetail>),
}

/// An operation or a webhook. Descriptions are Markdown.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OperationDetail {
    pub operation_id: Option<String>,
    /// A summary in one line.
    pub summary: Option<String>,
    pub description: Option<String>,
    pub deprecated: bool,
    /// The servers of the innermost object that has some.
    pub servers: Vec<ServerDetail>,
    /// The alternatives for authentication. The schemes of an alternative are required together; an alternative without
    /// schemes needs no authentication. Empty if the specification does not mention authentication.
    pub security: Vec<Vec<SchemeDetail>>,
    /// The parameters, up to the display limit.
    pub parameters: Vec<ParameterDetail>,
    /// The body of the request.
    pub request: Option<RequestDetail>,
    /// The responses, up to the display limit.
    pub responses: Vec<ResponseDetail>,
    /// The requests that the service sends as a result of this operation.
    pub callbacks: Vec<CallbackDetail>,
    /// A page with further documentation.
    pub external_docs: Option<ExternalDocsDetail>,
    /// The sample requests that the specification contains.
    pub samples: SampleDetails,
    /// `true` if parts are left out because of a limit.
    pub is_cut: bool,
}

/// A page with further documentation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExternalDocsDetail {
    pub address: String,
    pub description: Option<String>,
}

/// The sample requests of an operation in its specification.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SampleDetails {
    /// The samples, shown before generated ones. A generated sample in the same language is not shown.
    Given(Vec<CodeSampleDetail>),
    /// The specification turns sample requests off.
    Off,
}

impl Default for SampleDetails {
    fn default() -> Self {
        Self::Given(Vec::new())
    }
}

/// A sample request of a specification.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CodeSampleDetail {
    pub language: String,
    /// The title, if it differs from the language.
    pub label: Option<String>,
    pub source: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerDetail {
    /// The address with the defaults of its variables. It is relative only if the address of the specification is
    /// unknown.
    pub url: String,
    /// The address with the names of its variables in braces, if it has some.
    pub template: Option<String>,
    pub description: Option<String>,
    pub variables: Vec<VariableDetail>,
}

/// A variable in the address of a server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct VariableDetail {
    pub name: String,
    pub default: String,
    /// The permitted values. Empty if any value is permitted.
    pub values: Vec<String>,
    pub description: Option<String>,
}

/// A security scheme that an operation requires.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SchemeDetail {
    pub name: String,
    pub kind: SchemeKind,
    /// The required scopes or roles.
    pub scopes: Vec<ScopeDetail>,
    pub description: Option<String>,
    /// The flows of OAuth 2.
    pub flows: Vec<FlowDetail>,
    /// The format of a bearer token, for example `JWT`.
    pub token_format: Option<String>,
    /// The address of the configuration of OpenID Connect.
    pub discovery: Option<String>,
    pub deprecated: bool,
}

/// A scope or role that an operation requires.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ScopeDetail {
    pub name: String,
    pub description: Option<String>,
}

/// A flow of OAuth 2.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FlowDetail {
    /// The name in the specification, for example `authorizationCode`.
    pub name: String,
    /// The addresses by their field in the specification, for example `tokenUrl`.
    pub addresses: Vec<(String, String)>,
}

/// The kind of a security scheme.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum SchemeKind {
    /// A key in a header, a cookie or the query.
    ApiKey {
        /// The location: `header`, `cookie` or `query`.
        location: String,
        /// The name of the header, cookie or query parameter.
        name: String,
    },
    /// The header `Authorization` with a scheme such as `basic` or `bearer`.
    Http(String),
    /// A token of OAuth 2.
    OAuth2,
    /// A token of OpenID Connect.
    OpenIdConnect,
    /// A client certificate.
    MutualTls,
    /// A scheme that the specification does not define.
    #[default]
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ParameterDetail {
    pub name: String,
    /// The location: `path`, `query`, `header` or `cookie`. Empty for a header of a response.
    pub location: String,
    pub required: bool,
    pub deprecated: bool,
    pub description: Option<String>,
    /// The permitted values.
    pub schema: SchemaDetail,
    /// The examples of the specification.
    pub examples: Vec<ExampleDetail>,
    /// Plausible values for a request. A list has one text for each value that is sent.
    pub sample: Vec<String>,
    /// The names and values that a request sends in the query, serialized by the style of the parameter.
    pub query: Vec<(String, String)>,
}

/// The body of a request.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestDetail {
    pub description: Option<String>,
    pub required: bool,
    /// The body in each media type.
    pub bodies: Vec<BodyDetail>,
}

/// A response of an operation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResponseDetail {
    /// The status code, a range such as `4XX`, or `default`.
    pub status: String,
    pub description: Option<String>,
    pub headers: Vec<ParameterDetail>,
    /// The body in each media type.
    pub bodies: Vec<BodyDetail>,
    /// The operations that can follow.
    pub links: Vec<LinkDetail>,
}

/// An operation that can follow a response.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LinkDetail {
    pub name: String,
    pub description: Option<String>,
    pub operation: Option<LinkedOperation>,
    /// The parameters of the operation with their values or expressions.
    pub parameters: Vec<(String, String)>,
    /// The request body, or its expression.
    pub body: Option<String>,
    /// The server of the operation, if it is not the one of the specification.
    pub server: Option<String>,
}

/// The reference of a link to its operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum LinkedOperation {
    /// The operation with this id.
    Id(String),
    /// An operation of the same specification.
    Subject(SpecSubject),
    /// The reference to an operation of another specification.
    Reference(String),
}

/// A request that a service sends as a result of an operation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallbackDetail {
    pub name: String,
    /// The method, in lower case.
    pub method: String,
    /// The expression of the address.
    pub address: String,
    pub operation: OperationDetail,
}

/// The body of a request or response, or a schema.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BodyDetail {
    /// The media type of a body, or the name of a schema.
    pub name: String,
    pub schema: Option<SchemaDetail>,
    /// The examples of the specification, or a generated one.
    pub examples: Vec<ExampleDetail>,
    /// The fields of the first example of a form.
    pub form: Vec<FormFieldDetail>,
}

/// A field of a form that a sample request sends.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FormFieldDetail {
    pub name: String,
    pub value: String,
    /// `true` if the content of a file is sent.
    pub is_file: bool,
}

/// An example of a body or a parameter.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExampleDetail {
    /// The summary or the name.
    pub title: Option<String>,
    pub description: Option<String>,
    /// The value as it is sent.
    pub value: String,
    /// `true` if the value exceeds the display limit.
    pub is_cut: bool,
    /// The address of a value that is not part of the specification.
    pub address: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SchemaDetail {
    /// A short description of the permitted values, for example `array of string or null`.
    pub kind: String,
    /// The title, or the name in the specification.
    pub title: Option<String>,
    pub description: Option<String>,
    /// The limits with their values.
    pub limits: Vec<(SchemaLimit, String)>,
    pub default: Option<String>,
    /// The permitted values, up to the display limit.
    pub values: Vec<ValueDetail>,
    pub deprecated: bool,
    pub read_only: bool,
    pub write_only: bool,
    /// The fields of an object in the order of the specification, up to the display limit.
    pub fields: Vec<FieldDetail>,
    /// The alternatives of `oneOf` and `anyOf`.
    pub choices: Vec<ChoiceDetail>,
    /// The items of a list.
    pub items: Option<Box<SchemaDetail>>,
    /// The examples of a field.
    pub examples: Vec<String>,
    /// A page with further documentation.
    pub external_docs: Option<ExternalDocsDetail>,
    /// `true` if the schema contains itself: its fields are those of an enclosing schema.
    pub is_recursive: bool,
    /// `true` if parts are left out because of a limit.
    pub is_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaLimit {
    Minimum,
    ExclusiveMinimum,
    Maximum,
    ExclusiveMaximum,
    MultipleOf,
    MinLength,
    MaxLength,
    Pattern,
    MinItems,
    MaxItems,
    /// Without a value.
    UniqueItems,
    MinProperties,
    MaxProperties,
    /// The media type of a text.
    ContentMediaType,
    /// The encoding of a text.
    ContentEncoding,
    /// No fields other than the listed ones, without a value.
    NoOtherFields,
    /// A keyword with a schema or a list of fields as its value, for example `not`.
    Keyword(&'static str),
}

/// A permitted value.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ValueDetail {
    pub value: String,
    /// The name of the value in programs.
    pub name: Option<String>,
    pub description: Option<String>,
}

/// A field of an object.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FieldDetail {
    pub name: FieldName,
    pub required: bool,
    pub schema: SchemaDetail,
}

#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldName {
    Exact(String),
    /// Any name that matches a regular expression.
    Pattern(String),
    /// Any other name.
    Other,
    /// The item of a list at this position, counted from zero.
    Position(usize),
}

impl Default for FieldName {
    fn default() -> Self {
        Self::Exact(String::new())
    }
}

/// The alternatives of a schema.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChoiceDetail {
    /// `true` if several alternatives may apply together.
    pub is_any: bool,
    /// The field whose value selects the alternative.
    pub discriminator: Option<String>,
    pub alternatives: Vec<AlternativeDetail>,
}

/// An alternative of a schema.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AlternativeDetail {
    pub title: String,
    /// The value of the discriminator.
    pub value: Option<String>,
    pub schema: SchemaDetail,
}

/// Maximum number of characters of a description that are shown.
pub(super) const MAX_TEXT: usize = 20_000;
/// Maximum number of parameters, and of responses, shown per operation.
pub(super) const MAX_ITEMS: usize = 100;
/// Maximum number of levels of callbacks within callbacks.
pub(super) const MAX_CALLBACK_DEPTH: usize = 3;
/// Maximum depth of nested schemas.
pub(super) const MAX_SCHEMA_DEPTH: usize = 6;
/// Maximum number of fields of a body.
pub(super) const MAX_FIELDS: usize = 500;
/// Maximum number of schemas that are read for one operation. Every use of a schema counts.
pub(super) const MAX_SCHEMAS: usize = 6_000;
/// Maximum number of definitions of a field that are merged.
pub(super) const MAX_DEFINITIONS: usize = 8;
/// Maximum number of values of an enumeration that are listed.
pub(super) const MAX_VALUES: usize = 100;
/// Maximum number of characters of an example.
pub(super) const MAX_EXAMPLE: usize = 20_000;
/// Maximum number of characters of all examples of an operation.
pub(super) const MAX_EXAMPLES: usize = 200_000;
