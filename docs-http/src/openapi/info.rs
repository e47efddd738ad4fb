//! The description of an API.

/// The general information in the OpenAPI document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiInfo {
    pub title: String,
    pub version: String,
    /// A description in Markdown.
    pub description: Option<String>,
    /// Examples as a JSON object, keyed by operation id. Each has a request `body`, an `answer`, or both.
    pub examples: Option<&'static str>,
}

impl ApiInfo {
    #[must_use]
    pub fn new(title: impl Into<String>, version: impl Into<String>) -> Self {
        Self { title: title.into(), version: version.into(), description: None, examples: None }
    }
}
