//! The document as it is served: what poem-openapi writes, in the words of OpenAPI 3.0, with what repeats said once,
//! and with examples.

use std::collections::BTreeMap;

use poem::http::StatusCode;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::Problems;
use crate::wire::reply::JSON;

type Object = Map<String, Value>;

/// Which members of the document come first, as people read it.
const FIRST: [&str; 6] = ["openapi", "info", "servers", "tags", "paths", "components"];

/// Writes the document of an [`OpenApiService`](poem_openapi::OpenApiService) as [`HttpApp::document`] has it:
///
/// - `null` is allowed in the way that OpenAPI 3.0 knows: beside a `type`, else as one more form;
/// - failures that are told in the same words are told once, below `components/responses`;
/// - what is so by default is not said;
/// - operations have the examples that are given for them, as [`About::examples`] says.
///
/// ```
/// use docs_http::openapi::finished;
///
/// let spec = r#"{"openapi":"3.0.0","info":{},"paths":{
///     "/a":{"get":{"operationId":"a","deprecated":false,"responses":{}}}
/// }}"#;
/// let document = finished(spec, None)?;
/// assert_eq!(document, r#"{"openapi":"3.0.0","info":{},"paths":{"/a":{"get":{"operationId":"a","responses":{}}}}}"#);
/// # Ok::<(), docs_http::openapi::Problems>(())
/// ```
///
/// # Errors
/// [`Problems`] when either of the two is no JSON object, and when there are examples for an operation that there is
/// not.
///
/// [`HttpApp::document`]: crate::HttpApp::document
/// [`About::examples`]: crate::About::examples
pub fn finished(spec: &str, examples: Option<&str>) -> Result<String, Problems> {
    let mut document: Object = object(spec, "the document")?;
    let mut examples = object(examples.unwrap_or("{}"), "the examples")?;
    let mut failures = BTreeMap::new();
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    let operations = paths.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut);
    for operation in operations.flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        let example = operation.get("operationId").and_then(Value::as_str).and_then(|id| examples.remove(id));
        finish_operation(operation, example, &mut failures);
    }
    if let Some(id) = examples.keys().next() {
        return Err(Problems::one(format!("there are examples for {id}, which is no operation")));
    }
    finish_components(&mut document, failures);
    serde_json::to_string(&Ordered(&document)).map_err(|error| Problems::one(error.to_string()))
}

fn object(text: &str, what: &str) -> Result<Object, Problems> {
    serde_json::from_str(text).map_err(|error| Problems::one(format!("{what}: {error}")))
}

/// The failures that are told once, by their names.
type Failures = BTreeMap<String, Value>;

fn finish_operation(operation: &mut Object, mut example: Option<Value>, failures: &mut Failures) {
    drop_defaults(operation);
    for parameter in values(operation, "parameters").filter_map(Value::as_object_mut) {
        drop_defaults(parameter);
        let is_list =
            parameter.get("schema").is_some_and(|schema| schema.get("type") == Some(&json!("array")));
        if !is_list {
            parameter.remove("explode");
        }
        finish_part(parameter, "schema");
    }
    let mut example = |key: &str| example.as_mut()?.as_object_mut()?.remove(key);
    if let Some(Value::Object(body)) = operation.get_mut("requestBody") {
        finish_content(body, example("body"));
    }
    for (status, response) in members(operation, "responses") {
        let Some(told) = response.as_object_mut() else { continue };
        for header in members(told, "headers").filter_map(|(_, header)| header.as_object_mut()) {
            drop_defaults(header);
        }
        let is_failure = !status.starts_with('2');
        finish_content(told, if is_failure { None } else { example("answer") });
        if let Some(name) = failure(status)
            && *failures.entry(name.clone()).or_insert_with(|| response.clone()) == *response
        {
            *response = json!({ "$ref": format!("#/components/responses/{name}") });
        }
    }
}

/// The name of the failure that a status stands for.
fn failure(status: &str) -> Option<String> {
    let status: StatusCode = status.parse().ok().filter(|status: &StatusCode| status.as_u16() >= 400)?;
    Some(status.canonical_reason()?.replace(' ', ""))
}

fn finish_content(holder: &mut Object, mut example: Option<Value>) {
    for (name, media) in members(holder, "content") {
        let Some(media) = media.as_object_mut() else { continue };
        finish_part(media, "schema");
        if let Some(example) = example.take_if(|_| name == JSON) {
            media.insert("example".to_owned(), example);
        }
    }
}

fn finish_components(document: &mut Object, failures: Failures) {
    let Some(Value::Object(components)) = document.get_mut("components") else { return };
    for (_, schema) in members(components, "schemas") {
        finish_schema(schema);
    }
    if !failures.is_empty() {
        components.insert("responses".to_owned(), failures.into_iter().collect());
    }
}

fn finish_part(holder: &mut Object, key: &str) {
    if let Some(schema) = holder.get_mut(key) {
        finish_schema(schema);
    }
}

/// A schema, with all schemas within it.
fn finish_schema(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    members(object, "properties").for_each(|(_, schema)| finish_schema(schema));
    for key in ["items", "additionalProperties"] {
        finish_part(object, key);
    }
    // It has no form for `false`.
    if object.get("additionalProperties").is_some_and(|schema| schema["maxProperties"] == 0) {
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        values(object, key).for_each(finish_schema);
    }
    for key in ["minimum", "maximum", "multipleOf"] {
        if let Some(number) = object.get_mut(key) {
            write_whole(number);
        }
    }
    if object.get("nullable") == Some(&Value::Bool(true)) && !object.contains_key("type") {
        allow_null(object);
    }
}

/// Allows `null` where no type is named: OpenAPI 3.0 heeds `nullable` only beside one.
fn allow_null(schema: &mut Object) {
    schema.remove("nullable");
    let nothing = json!({ "type": "string", "nullable": true, "enum": [null] });
    for key in ["oneOf", "anyOf"] {
        if let Some(Value::Array(forms)) = schema.get_mut(key) {
            forms.push(nothing);
            return;
        }
    }
    if let Some(Value::Array(mut parts)) = schema.remove("allOf") {
        let all = if parts.len() == 1 { parts.remove(0) } else { json!({ "allOf": parts }) };
        schema.insert("anyOf".to_owned(), json!([all, nothing]));
    }
}

/// poem-openapi keeps all numbers as fractions.
fn write_whole(number: &mut Value) {
    let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX));
    if let Some(whole) = whole {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole, and fits")]
        let whole = whole as i64;
        *number = whole.into();
    }
}

/// Leaves out what holds anyway.
fn drop_defaults(object: &mut Object) {
    for key in ["deprecated", "required"] {
        if object.get(key) == Some(&Value::Bool(false)) {
            object.remove(key);
        }
    }
}

fn members<'o>(object: &'o mut Object, key: &str) -> impl Iterator<Item = (&'o String, &'o mut Value)> {
    object.get_mut(key).and_then(Value::as_object_mut).into_iter().flatten()
}

fn values<'o>(object: &'o mut Object, key: &str) -> impl Iterator<Item = &'o mut Value> {
    object.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten()
}

/// An object whose members are written in the order in which people read them.
struct Ordered<'o>(&'o Object);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for key in FIRST {
            if let Some(value) = self.0.get(key) {
                map.serialize_entry(key, value)?;
            }
        }
        for (key, value) in self.0.iter().filter(|(key, _)| !FIRST.contains(&key.as_str())) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(schema: Value) -> Value {
        let mut schema = schema;
        finish_schema(&mut schema);
        schema
    }

    #[test]
    fn null_is_allowed_beside_a_type_or_as_one_more_form() {
        let nothing = json!({ "type": "string", "nullable": true, "enum": [null] });
        let one = json!({ "$ref": "#/components/schemas/A" });
        for (before, after) in [
            (json!({ "type": "string", "nullable": true }), json!({ "type": "string", "nullable": true })),
            (json!({ "nullable": true, "allOf": [one] }), json!({ "anyOf": [one, nothing] })),
            (json!({ "nullable": true, "oneOf": [one, one] }), json!({ "oneOf": [one, one, nothing] })),
            (json!({ "nullable": true, "anyOf": [one, one] }), json!({ "anyOf": [one, one, nothing] })),
            (
                json!({ "nullable": true, "allOf": [one, one] }),
                json!({ "anyOf": [{ "allOf": [one, one] }, nothing] }),
            ),
            (json!({ "nullable": true }), json!({})),
        ] {
            assert_eq!(schema(json!({ "items": before })), json!({ "items": after }));
        }
        // A property may have any name.
        let named = json!({ "properties": { "nullable": { "type": "boolean" } } });
        assert_eq!(schema(named.clone()), named);
    }

    #[test]
    fn whole_numbers_are_written_as_such() {
        let limits = json!({ "minimum": 0.0, "maximum": 1.5, "multipleOf": 1e300 });
        assert_eq!(schema(limits), json!({ "minimum": 0, "maximum": 1.5, "multipleOf": 1e300 }));
    }

    #[test]
    fn what_allows_no_other_members_says_so() {
        let nothing = json!({ "type": "object", "minProperties": 1, "maxProperties": 0 });
        let closed = json!({ "type": "object", "additionalProperties": false });
        assert_eq!(schema(json!({ "type": "object", "additionalProperties": nothing })), closed);
    }

    #[test]
    fn examples_have_to_be_of_operations() {
        let told = |spec, examples| finished(spec, examples).map_err(|problems| problems.to_string());
        let wrong = told("{}", Some(r#"{"x":{}}"#));
        assert_eq!(wrong, Err("there are examples for x, which is no operation".to_owned()));
        assert!(told("[]", None).is_err() && told("{}", Some("5")).is_err());
    }
}
