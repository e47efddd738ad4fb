//! Operations, webhooks and schemas of a specification in a form for readers.
//!
//! The files of a specification may be large, so they are never parsed as a whole: a value is located in the text, and
//! only that value is parsed. References are followed on use, with bounds on depth and number, so that cycles end.

mod files;
mod schema;

use std::sync::Arc;

use serde_json::Value;

use self::{
    files::{Files, Found},
    schema::Schemas,
};

/// Maximum number of characters of a description that are shown.
const MAX_TEXT: usize = 20_000;
/// Maximum number of parameters, and of responses, shown per operation.
const MAX_ITEMS: usize = 100;
/// The substring of the media types that are preferred over others.
const JSON: &str = "json";

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

/// The content of a part of a specification.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SpecDetail {
    /// An operation or a webhook.
    Operation(Box<OperationDetail>),
    /// A schema.
    Schema(Box<BodyDetail>),
}

/// An operation or a webhook. Descriptions are Markdown.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OperationDetail {
    /// A summary in one line.
    pub summary: Option<String>,
    pub description: Option<String>,
    pub deprecated: bool,
    /// The address of the service: the first one listed. It may be relative to the specification.
    pub server: Option<String>,
    /// The alternatives for authentication. Each lists the names of security schemes that are required together.
    pub security: Vec<Vec<String>>,
    /// The parameters, up to the display limit.
    pub parameters: Vec<ParameterDetail>,
    /// The body of the request.
    pub request: Option<BodyDetail>,
    /// The responses, up to the display limit.
    pub responses: Vec<ResponseDetail>,
}

#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ParameterDetail {
    pub name: String,
    /// The location: `path`, `query`, `header` or `cookie`.
    pub location: String,
    pub required: bool,
    /// A short description of the permitted values.
    pub kind: String,
    pub description: Option<String>,
    /// A sample value.
    pub example: Option<String>,
}

/// A response of an operation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResponseDetail {
    /// The status code, a range such as `4XX`, or `default`.
    pub status: String,
    pub description: Option<String>,
    pub body: Option<BodyDetail>,
}

/// The body of a request or response, or a schema.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BodyDetail {
    /// The media type of a body, or the name of a schema.
    pub name: String,
    /// A short description of the permitted values.
    pub kind: String,
    pub description: Option<String>,
    /// The fields in depth-first order, up to the display limit. Nested fields follow their parent.
    pub fields: Vec<FieldDetail>,
    /// An example, formatted as it is sent.
    pub example: Option<String>,
}

/// A field of a body.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FieldDetail {
    /// The number of fields that enclose it.
    pub depth: usize,
    pub name: String,
    /// A short description of the permitted values.
    pub kind: String,
    pub required: bool,
    pub description: Option<String>,
}

/// Looks up subjects in the files of a specification, given as a version stores them.
///
/// A subject is `None` if it is missing or too large to be shown. The result is shorter than `subjects` if reading all
/// of them would exceed the limit, but it has at least one element. Each element is independent of the other subjects.
pub(super) fn find(filesystem: &[u8], subjects: &[&SpecSubject]) -> Vec<Option<SpecDetail>> {
    let Some(files) = Files::new(filesystem) else { return subjects.iter().map(|_| None).collect() };
    subjects.iter().take_while(|_| files.begins_another()).map(|subject| found(&files, subject)).collect()
}

fn found(files: &Files<'_>, subject: &SpecSubject) -> Option<SpecDetail> {
    match subject {
        SpecSubject::Operation { method, path } => {
            operation(files, files.entry_at(&["paths", path])?, method)
        }
        SpecSubject::Webhook { method, name } => {
            operation(files, files.entry_at(&["webhooks", name])?, method)
        }
        SpecSubject::Schema(name) => {
            let found = files
                .entry_at(&["components", "schemas", name])
                .or_else(|| files.entry_at(&["definitions", name]))?;
            let body = Schemas::new(files).body(name, &found, None);
            Some(SpecDetail::Schema(Box::new(body)))
        }
    }
}

fn operation(files: &Files<'_>, item: Found, method: &str) -> Option<SpecDetail> {
    let item = files.followed(item);
    let found = item.get(method)?;
    let of = |name| found.value.get(name);
    let mut detail = OperationDetail {
        summary: text(of("summary")),
        description: text(of("description")),
        deprecated: of("deprecated") == Some(&Value::Bool(true)),
        server: server(files, &[&found, &item]),
        security: security(of("security").or(files.entry_at(&["security"]).as_ref().map(|it| &it.value))),
        ..OperationDetail::default()
    };
    let schemas = Schemas::new(files);
    let mut form = Vec::new();
    for parameter in parameters(files, &item, &found) {
        match parameter.text("in") {
            Some("body") => {
                detail.request =
                    parameter.get("schema").map(|of| schemas.body("application/json", &of, None));
            }
            Some("formData") => form.push(schemas.field(&parameter)),
            _ => detail.parameters.push(schemas.parameter(&parameter)),
        }
    }
    if !form.is_empty() {
        let name = "multipart/form-data".to_owned();
        detail.request =
            Some(BodyDetail { name, kind: "object".to_owned(), fields: form, ..BodyDetail::default() });
    }
    if let Some(body) = found.get("requestBody") {
        let body = files.followed(body);
        let told = text(body.value.get("description"));
        detail.request = schemas
            .content(&body)
            .map(|content| BodyDetail { description: told.or(content.description.clone()), ..content });
    }
    detail.responses = responses(files, &schemas, &found);
    Some(SpecDetail::Operation(Box::new(detail)))
}

/// Returns the parameters of an operation, and those of its path that the operation does not override by name and
/// location.
fn parameters(files: &Files<'_>, item: &Found, operation: &Found) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for of in [operation, item] {
        for parameter in of.get("parameters").map(|list| list.items(MAX_ITEMS)).unwrap_or_default() {
            let parameter = files.followed(parameter);
            let named = |of: &Found| (of.text("name").map(str::to_owned), of.text("in").map(str::to_owned));
            if all.len() < MAX_ITEMS && !all.iter().any(|known| named(known) == named(&parameter)) {
                all.push(parameter);
            }
        }
    }
    all
}

fn responses(files: &Files<'_>, schemas: &Schemas<'_, '_>, operation: &Found) -> Vec<ResponseDetail> {
    let all = operation.get("responses").map(|all| all.fields(MAX_ITEMS)).unwrap_or_default();
    let told = all.into_iter().filter(|(status, _)| !status.starts_with("x-"));
    told.map(|(status, response)| {
        let response = files.followed(response);
        let body = schemas.content(&response).or_else(|| {
            let of = response.get("schema")?;
            Some(schemas.body("application/json", &of, response.value.pointer("/examples/application~1json")))
        });
        ResponseDetail { status, description: text(response.value.get("description")), body }
    })
    .collect()
}

/// Returns the service address of the innermost object that has one, or that of the specification.
fn server(files: &Files<'_>, within: &[&Found]) -> Option<String> {
    let first = |found: &Found| text(found.value.pointer("/0/url"));
    let own = within.iter().find_map(|found| found.get("servers").as_ref().and_then(first));
    own.or_else(|| files.entry_at(&["servers"]).as_ref().and_then(first)).or_else(|| {
        let of = |name| files.entry_at(&[name]);
        let host = text(Some(&of("host")?.value))?;
        let scheme =
            of("schemes").and_then(|all| text(all.value.get(0))).unwrap_or_else(|| "https".to_owned());
        let base = of("basePath").and_then(|base| text(Some(&base.value))).unwrap_or_default();
        Some(format!("{scheme}://{host}{}", base.trim_end_matches('/')))
    })
}

fn security(of: Option<&Value>) -> Vec<Vec<String>> {
    let ways = of.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names = |way: &Value| way.as_object().map(|way| way.keys().take(MAX_ITEMS).cloned().collect());
    ways.iter().take(MAX_ITEMS).filter_map(names).collect()
}

/// Returns a non-blank text, cut at [`MAX_TEXT`].
fn text(of: Option<&Value>) -> Option<String> {
    let text = of?.as_str()?.trim();
    (!text.is_empty()).then(|| text.chars().take(MAX_TEXT).collect())
}

#[cfg(test)]
mod tests;
