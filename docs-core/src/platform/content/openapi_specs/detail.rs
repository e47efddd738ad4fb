//! Operations, webhooks and schemas of a specification in a form for display.
//!
//! The files of a specification may be large, so they are never parsed as a whole: a value is located in the text, and
//! only that value is parsed. References are followed on use, with limits on depth and number, so that cycles
//! terminate.

mod files;

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use self::files::{SpecDocument, SpecValue, reference_name};

/// Maximum number of characters shown of a description.
const MAX_TEXT: usize = 20_000;
/// Maximum number of parameters, and of responses, shown per operation.
const MAX_ITEMS: usize = 100;
/// Media types that contain this substring take precedence over others.
const JSON: &str = "json";

/// An operation, webhook or schema shown on a page.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShownSpec {
    pub spec: String,
    /// Identifies the operation, webhook or schema.
    pub subject: SpecSubject,
    /// Its definition in the latest version of the specification.
    pub detail: Arc<SpecDetail>,
}

/// Identifies an operation, webhook or schema in a specification.
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

/// The definition of an operation, webhook or schema, prepared for display.
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
    /// The server URL: the first one listed. It may be relative to the specification.
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
    /// An example in its wire format.
    pub example: Option<String>,
}

/// A field of a body.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FieldDetail {
    /// The number of enclosing fields.
    pub depth: usize,
    pub name: String,
    /// A short description of the permitted values.
    pub kind: String,
    pub required: bool,
    pub description: Option<String>,
}

/// Looks up subjects in the files of a specification, given in the stored form of a version.
///
/// A subject is `None` if it is missing or too large to be shown. The result is shorter than `subjects` if looking up
/// all of them would exceed the budget, but it has at least one element. Each element is independent of the other
/// subjects.
pub(super) fn find(filesystem: &[u8], subjects: &[&SpecSubject]) -> Vec<Option<SpecDetail>> {
    let Some(files) = SpecDocument::new(filesystem) else { return subjects.iter().map(|_| None).collect() };
    subjects
        .iter()
        .take_while(|_| files.begin_subject())
        .map(|subject| find_subject(&files, subject))
        .collect()
}

fn find_subject(files: &SpecDocument<'_>, subject: &SpecSubject) -> Option<SpecDetail> {
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

fn operation(files: &SpecDocument<'_>, item: SpecValue, method: &str) -> Option<SpecDetail> {
    let item = files.follow_references(item);
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
        let body = files.follow_references(body);
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
fn parameters(files: &SpecDocument<'_>, item: &SpecValue, operation: &SpecValue) -> Vec<SpecValue> {
    let mut all: Vec<SpecValue> = Vec::new();
    for of in [operation, item] {
        for parameter in of.get("parameters").map(|list| list.items(MAX_ITEMS)).unwrap_or_default() {
            let parameter = files.follow_references(parameter);
            let named =
                |of: &SpecValue| (of.text("name").map(str::to_owned), of.text("in").map(str::to_owned));
            if all.len() < MAX_ITEMS && !all.iter().any(|known| named(known) == named(&parameter)) {
                all.push(parameter);
            }
        }
    }
    all
}

fn responses(
    files: &SpecDocument<'_>,
    schemas: &Schemas<'_, '_>,
    operation: &SpecValue,
) -> Vec<ResponseDetail> {
    let all = operation.get("responses").map(|all| all.fields(MAX_ITEMS)).unwrap_or_default();
    let told = all.into_iter().filter(|(status, _)| !status.starts_with("x-"));
    told.map(|(status, response)| {
        let response = files.follow_references(response);
        let body = schemas.content(&response).or_else(|| {
            let of = response.get("schema")?;
            Some(schemas.body("application/json", &of, response.value.pointer("/examples/application~1json")))
        });
        ResponseDetail { status, description: text(response.value.get("description")), body }
    })
    .collect()
}

/// Returns the server URL of the innermost object that has one, or that of the specification.
fn server(files: &SpecDocument<'_>, within: &[&SpecValue]) -> Option<String> {
    let first = |found: &SpecValue| text(found.value.pointer("/0/url"));
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

/// Returns the text of a value, truncated to [`MAX_TEXT`], or `None` if it is blank.
fn text(of: Option<&Value>) -> Option<String> {
    let text = of?.as_str()?.trim();
    (!text.is_empty()).then(|| text.chars().take(MAX_TEXT).collect())
}

/// Maximum depth of nested schemas.
const MAX_SCHEMA_DEPTH: usize = 6;
/// Maximum number of fields in a body.
const MAX_FIELDS: usize = 300;
/// Maximum number of schemas that are read per operation. Every use of a schema counts.
const MAX_SCHEMAS: usize = 1_000;
/// Maximum number of enumeration values that are listed.
const MAX_VALUES: usize = 20;
/// Maximum number of characters in an example.
const MAX_EXAMPLE: usize = 20_000;

/// Reads the schemas of one subject lookup.
struct Schemas<'s, 'f> {
    files: &'s SpecDocument<'f>,
    read: Cell<usize>,
}

/// A schema with its references resolved and its parts merged.
struct MergedSchema {
    found: SpecValue,
    /// The schema name in the reference.
    name: Option<String>,
    /// The fields, and the names of the required ones.
    properties: Vec<(String, SpecValue)>,
    required: HashSet<String>,
    /// The index of each field in `properties`.
    places: HashMap<String, usize>,
}

impl<'s, 'f> Schemas<'s, 'f> {
    const fn new(files: &'s SpecDocument<'f>) -> Self {
        Self { files, read: Cell::new(0) }
    }

    /// Returns the body of a request or response. JSON is preferred if there are several media types.
    fn content(&self, of: &SpecValue) -> Option<BodyDetail> {
        let all = of.get("content")?.fields(MAX_VALUES);
        let at = all.iter().position(|(name, _)| name.contains(JSON)).unwrap_or(0);
        let (name, media) = all.into_iter().nth(at)?;
        let named = media.get("examples").and_then(|all| all.fields(1).pop());
        let named = named.map(|(_, example)| self.files.follow_references(example).value);
        let example = media.value.get("example").or_else(|| named.as_ref()?.get("value"));
        match media.get("schema") {
            Some(schema) => Some(self.body(&name, &schema, example)),
            None => {
                let example = example.map(format_value);
                Some(BodyDetail { name, example, ..BodyDetail::default() })
            }
        }
    }

    /// Returns a schema under its name or media type, with the given example.
    fn body(&self, name: &str, schema: &SpecValue, example: Option<&Value>) -> BodyDetail {
        let whole = self.merge(schema.clone());
        let mut fields = Vec::new();
        self.fields(&whole, 0, &mut fields);
        let example = example.cloned().unwrap_or_else(|| self.example(&whole, 0));
        BodyDetail {
            name: name.to_owned(),
            kind: self.kind(&whole, 0),
            description: text(whole.found.value.get("description")),
            fields,
            example: Some(format_value(&example)).filter(|_| !example.is_null()),
        }
    }

    fn parameter(&self, of: &SpecValue) -> ParameterDetail {
        let schema = of.get("schema").or_else(|| of.get("content")?.fields(1).pop()?.1.get("schema"));
        let whole = self.merge(schema.unwrap_or_else(|| of.clone()));
        let own = |name| of.value.get(name).or_else(|| whole.found.value.get(name));
        ParameterDetail {
            name: of.text("name").unwrap_or_default().to_owned(),
            location: of.text("in").unwrap_or_default().to_owned(),
            required: of.value.get("required") == Some(&Value::Bool(true)),
            kind: self.kind(&whole, 0),
            description: text(own("description")),
            example: own("example").or_else(|| own("default")).map(format_inline),
        }
    }

    /// Returns a parameter as a field of the body.
    fn field(&self, of: &SpecValue) -> FieldDetail {
        let ParameterDetail { name, kind, required, description, .. } = self.parameter(of);
        FieldDetail { depth: 0, name, kind, required, description }
    }

    /// Resolves the references of a schema and merges its parts.
    fn merge(&self, schema: SpecValue) -> MergedSchema {
        self.read.set(self.read.get() + 1);
        let name = schema.text("$ref").map(|reference| reference_name(reference).to_owned());
        let found = self.files.follow_references(schema);
        let mut whole = MergedSchema {
            name,
            properties: Vec::new(),
            required: HashSet::new(),
            places: HashMap::new(),
            found,
        };
        self.merge_part(&mut whole, None, 0);
        whole
    }

    /// Adds the fields of a schema and of its parts.
    fn merge_part(&self, whole: &mut MergedSchema, part: Option<SpecValue>, depth: usize) {
        let of = part.unwrap_or_else(|| whole.found.clone());
        for (name, property) in of.get("properties").map(|all| all.fields(MAX_FIELDS)).unwrap_or_default() {
            match whole.places.get(&name) {
                Some(&at) => whole.properties[at].1 = property,
                None if whole.properties.len() < MAX_FIELDS => {
                    whole.places.insert(name.clone(), whole.properties.len());
                    whole.properties.push((name, property));
                }
                None => {}
            }
        }
        let required = of.value.get("required").and_then(Value::as_array).into_iter().flatten();
        whole.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
        if depth >= MAX_SCHEMA_DEPTH {
            return;
        }
        for part in of.get("allOf").map(|all| all.items(MAX_VALUES)).unwrap_or_default() {
            self.read.set(self.read.get() + 1);
            if self.read.get() < MAX_SCHEMAS {
                self.merge_part(whole, Some(self.files.follow_references(part)), depth + 1);
            }
        }
    }

    /// Returns the alternatives of a `oneOf` or `anyOf`.
    fn choices(&self, whole: &MergedSchema) -> Vec<MergedSchema> {
        let found = whole.found.get("oneOf").or_else(|| whole.found.get("anyOf"));
        let all = found.map(|all| all.items(MAX_VALUES)).unwrap_or_default();
        all.into_iter().map(|of| self.merge(of)).collect()
    }

    /// Returns a short description of the permitted values.
    fn kind(&self, whole: &MergedSchema, depth: usize) -> String {
        let value = &whole.found.value;
        let mut kind = match value.get("type") {
            Some(Value::String(one)) => one.clone(),
            Some(Value::Array(several)) => {
                several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
            }
            _ if !whole.properties.is_empty() => "object".to_owned(),
            _ => String::new(),
        };
        if depth < MAX_SCHEMA_DEPTH && self.read.get() < MAX_SCHEMAS {
            let choices = self.choices(whole);
            if kind.is_empty() && !choices.is_empty() {
                let names = choices
                    .iter()
                    .map(|choice| choice.name.clone().unwrap_or_else(|| self.kind(choice, depth + 1)));
                kind = names.collect::<Vec<_>>().join(" or ");
            }
            if let Some(items) = whole.found.get("items").filter(|_| kind == "array") {
                let items = self.merge(items);
                kind = format!(
                    "array of {}",
                    items.name.clone().unwrap_or_else(|| self.kind(&items, depth + 1))
                );
            }
        }
        if let Some(format) = whole.found.text("format") {
            kind = format!("{kind} ({format})");
        }
        if let Some(values) = value.get("enum").and_then(Value::as_array) {
            let values: Vec<String> = values.iter().take(MAX_VALUES).map(format_inline).collect();
            kind = format!("{kind}: {}", values.join(", "));
        }
        match (kind.trim_start_matches(": ").trim(), &whole.name) {
            ("", Some(name)) => name.clone(),
            ("", None) => "any".to_owned(),
            (kind, _) => kind.chars().take(300).collect(),
        }
    }

    /// Collects the fields of a schema. An array contributes the fields of its items. A union contributes those of its
    /// first variant with fields.
    fn fields(&self, whole: &MergedSchema, depth: usize, fields: &mut Vec<FieldDetail>) {
        if depth >= MAX_SCHEMA_DEPTH || self.read.get() >= MAX_SCHEMAS {
            return;
        }
        for (name, property) in &whole.properties {
            if fields.len() >= MAX_FIELDS {
                return;
            }
            let inner = self.merge(property.clone());
            fields.push(FieldDetail {
                depth,
                name: name.clone(),
                kind: self.kind(&inner, 0),
                required: whole.required.contains(name),
                description: text(
                    property.value.get("description").or_else(|| inner.found.value.get("description")),
                ),
            });
            self.fields(&inner, depth + 1, fields);
        }
        if whole.properties.is_empty() {
            let items = whole.found.get("items").map(|items| self.merge(items));
            let choice =
                items.or_else(|| self.choices(whole).into_iter().find(|one| !one.properties.is_empty()));
            if let Some(inner) = choice {
                // The items of a list do not add a field, so only the depth limits the recursion.
                self.fields_within(&inner, depth, fields);
            }
        }
    }

    fn fields_within(&self, inner: &MergedSchema, depth: usize, fields: &mut Vec<FieldDetail>) {
        if self.read.get() < MAX_SCHEMAS {
            self.read.set(self.read.get() + MAX_SCHEMA_DEPTH);
            self.fields(inner, depth, fields);
        }
    }

    /// Returns a plausible value of a schema. It is not validated against the schema.
    fn example(&self, whole: &MergedSchema, depth: usize) -> Value {
        let value = &whole.found.value;
        let told =
            [value.get("example"), value.pointer("/examples/0"), value.get("default"), value.get("const")];
        if let Some(told) = told.into_iter().flatten().next().or_else(|| value.pointer("/enum/0")) {
            return told.clone();
        }
        if depth >= MAX_SCHEMA_DEPTH || self.read.get() >= MAX_SCHEMAS {
            return Value::Null;
        }
        if !whole.properties.is_empty() {
            let shown = whole.properties.iter().take(MAX_VALUES * 2);
            let of = |(name, property): &(String, SpecValue)| {
                (name.clone(), self.example(&self.merge(property.clone()), depth + 1))
            };
            return Value::Object(shown.map(of).collect());
        }
        if let Some(choice) = self.choices(whole).first() {
            return self.example(choice, depth + 1);
        }
        let kind = match value.get("type") {
            Some(Value::Array(several)) => several.first().and_then(Value::as_str),
            kind => kind.and_then(Value::as_str),
        };
        match kind {
            Some("array") => {
                let items = whole.found.get("items").map(|items| self.example(&self.merge(items), depth + 1));
                Value::Array(items.into_iter().filter(|item| !item.is_null()).collect())
            }
            Some("object") => Value::Object(Map::new()),
            Some("integer" | "number") => value.get("minimum").cloned().unwrap_or_else(|| 0.into()),
            Some("boolean") => Value::Bool(true),
            Some("string") => sample_text(whole.found.text("format")).into(),
            _ => Value::Null,
        }
    }
}

/// Returns a sample string of a format.
fn sample_text(format: Option<&str>) -> &'static str {
    match format {
        Some("date") => "2026-01-31",
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("email") => "name@example.com",
        Some("uuid") => "123e4567-e89b-12d3-a456-426614174000",
        Some("uri" | "url") => "https://example.com",
        _ => "text",
    }
}

/// Formats a value in its wire format: a string unquoted, everything else as JSON.
fn format_value(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        value => format!("{value:#}"),
    };
    text.chars().take(MAX_EXAMPLE).collect()
}

/// Formats a value on one line.
fn format_inline(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests;
