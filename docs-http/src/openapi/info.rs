//! The description of an API.

/// The general information in the OpenAPI document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiInfo {
    pub title: String,
    pub version: String,
    /// A description in Markdown.
    pub description: Option<String>,
    /// Examples of operations as a JSON object: for each operation id, the `body` of a request and the `answer`, if the
    /// operation has them. Other operations have no examples.
    pub examples: Option<&'static str>,
}

impl ApiInfo {
    #[must_use]
    pub fn new(title: impl Into<String>, version: impl Into<String>) -> Self {
        Self { title: title.into(), version: version.into(), description: None, examples: None }
    }
}
