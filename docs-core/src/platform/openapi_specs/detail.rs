//! What a specification says of an operation, a webhook or a schema, for people to read.
//!
//! The files of a specification may be large, so they are never a tree in memory: what is looked for is found in their
//! text, and only that is read. References are followed where they are used, each within bounds of depth and number,
//! so that one which leads back to itself ends.

mod files;
mod schema;

use std::sync::Arc;

use serde_json::Value;

use self::{
    files::{Files, Found},
    schema::Schemas,
};

/// Most characters of a description that are shown.
const MAX_TEXT: usize = 20_000;
/// Most parameters and answers of an operation that are shown, each.
const MAX_ITEMS: usize = 100;
/// The names of media types that are shown first where there are several.
const JSON: &str = "json";

/// Something that a page shows of a specification of the organization.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShownSpec {
    /// The slug of the specification.
    pub spec: String,
    /// What of it.
    pub subject: SpecSubject,
    /// What its latest version says of that.
    pub detail: Arc<SpecDetail>,
}

/// What of a specification a block shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SpecSubject {
    /// An operation.
    Operation {
        /// Its method, in lower case.
        method: String,
        /// Its path.
        path: String,
    },
    /// A webhook.
    Webhook {
        /// Its method, in lower case.
        method: String,
        /// Its name.
        name: String,
    },
    /// The schema of this name.
    Schema(String),
}

/// What a specification says of something.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SpecDetail {
    /// Of an operation or a webhook.
    Operation(Box<OperationDetail>),
    /// Of a schema.
    Schema(Box<BodyDetail>),
}

/// What a specification says of an operation or a webhook. Descriptions are Markdown.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct OperationDetail {
    /// What it does, in a line.
    pub summary: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// Where the service is: the first address that is told, which may be relative to the specification.
    pub server: Option<String>,
    /// How callers prove who they are: the names of the schemes of each way, all of which are needed.
    pub security: Vec<Vec<String>>,
    /// Its parameters, as many as are shown.
    pub parameters: Vec<ParameterDetail>,
    /// What a request sends.
    pub request: Option<BodyDetail>,
    /// Its answers, as many as are shown.
    pub responses: Vec<ResponseDetail>,
}

/// A parameter of an operation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ParameterDetail {
    /// Its name.
    pub name: String,
    /// Where it stands: `path`, `query`, `header` or `cookie`.
    pub location: String,
    /// Whether it has to be there.
    pub required: bool,
    /// What it may be.
    pub kind: String,
    /// What it means.
    pub description: Option<String>,
    /// A value that it may have.
    pub example: Option<String>,
}

/// An answer of an operation.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResponseDetail {
    /// Its status, a range of them as `4XX`, or `default`.
    pub status: String,
    /// What it means.
    pub description: Option<String>,
    /// What it holds.
    pub body: Option<BodyDetail>,
}

/// What is sent, or a schema.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BodyDetail {
    /// Its media type; of a schema its name.
    pub name: String,
    /// What it may be.
    pub kind: String,
    /// What it means.
    pub description: Option<String>,
    /// Its fields, those within others behind them, as many as are shown.
    pub fields: Vec<FieldDetail>,
    /// An example, as it is sent.
    pub example: Option<String>,
}

/// A field of what is sent.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FieldDetail {
    /// How many fields it stands in.
    pub depth: usize,
    /// Its name.
    pub name: String,
    /// What it may be.
    pub kind: String,
    /// Whether it has to be there.
    pub required: bool,
    /// What it means.
    pub description: Option<String>,
}

/// Looks several up in the files of a specification, as its content has them. What is not there, or is too large to be
/// shown, is `None`. There are fewer answers than subjects where those would be too much to read at once; there is one
/// at least, and each is the same whatever is looked up with it.
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

/// The parameters of an operation, and of its path where the operation has none of that name in that place.
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

/// Where the service is, as the innermost of some objects says, or the specification.
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

/// A text that is not blank, as far as it is shown.
fn text(of: Option<&Value>) -> Option<String> {
    let text = of?.as_str()?.trim();
    (!text.is_empty()).then(|| text.chars().take(MAX_TEXT).collect())
}

#[cfg(test)]
mod tests;
