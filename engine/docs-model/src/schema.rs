//! JSON Schema helpers for rules across several fields, and for fields that reject `null`.
//!
//! They use only constructs of OpenAPI 3.0, which does not support `if`, the type `null` or lists of types.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// Pattern of a non-blank string.
pub const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";

/// Pattern of a file name without a path, control characters or bidirectional formatting characters that does not
/// consist only of dots and whitespace.
pub const FILE_NAME: &str = concat!(
    r"^[^/\\\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*",
    r"[^/\\.\s\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]",
    r"[^/\\\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$",
);

/// Removes `null` from the schema of a field that may be omitted but not `null`.
///
/// ```
/// # use serde_json::json;
/// let mut schema = schemars::json_schema!({ "type": ["string", "null"], "maxLength": 5 });
/// docs_model::schema::not_null(&mut schema);
/// assert_eq!(schema, schemars::json_schema!({ "type": "string", "maxLength": 5 }));
/// ```
pub fn not_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    retain(object, "type", |kind| kind != "null");
    retain(object, "enum", |value| !value.is_null());
    retain(object, "anyOf", |part| part.get("type").is_none_or(|kind| kind != "null"));
    // `T or null` without `null` becomes `T`.
    if let Some(kind) = only_element(object, "type") {
        object.insert("type".to_owned(), kind);
    }
    if let Some(Value::Object(part)) = only_element(object, "anyOf") {
        object.remove("anyOf");
        for (key, value) in part {
            object.entry(key).or_insert(value);
        }
    }
}

/// Restricts a string, or each string in a list, to the pattern of ids.
///
/// ```
/// # use serde_json::json;
/// let mut schema = schemars::json_schema!({ "type": "array", "items": { "type": "string" } });
/// docs_model::schema::id(&mut schema);
/// assert_eq!(schema.as_value()["items"]["pattern"], "^[A-Za-z0-9_-]{1,64}$");
/// ```
pub fn id(schema: &mut Schema) {
    add_text_keyword(schema, &("pattern", crate::id::ID_PATTERN.into()));
}

/// Requires a string, or each string in a list, to be non-empty.
pub fn require_non_empty(schema: &mut Schema) {
    add_text_keyword(schema, &("minLength", 1.into()));
}

/// Adds a keyword to a string schema, or to the item schema of a list of strings.
fn add_text_keyword(schema: &mut Schema, rule: &(&str, Value)) {
    let Some(object) = schema.as_object_mut() else { return };
    let texts = match object.contains_key("items") {
        true => object.get_mut("items").and_then(Value::as_object_mut),
        false => Some(object),
    };
    if let Some(texts) = texts {
        texts.insert(rule.0.to_owned(), rule.1.clone());
    }
}

fn retain(object: &mut Map<String, Value>, key: &str, keep: fn(&Value) -> bool) {
    if let Some(Value::Array(parts)) = object.get_mut(key) {
        parts.retain(keep);
    }
}

/// Returns the only element of a list, or `None` if the length is not 1.
fn only_element(object: &Map<String, Value>, key: &str) -> Option<Value> {
    match object.get(key)?.as_array()?.as_slice() {
        [part] => Some(part.clone()),
        _ => None,
    }
}

/// Returns a schema per field that requires the field to have its type and not be `null`. In `oneOf` they require
/// exactly one of the fields, in `anyOf` at least one.
pub(crate) fn one_of_required(fields: &[(&str, &str)]) -> Value {
    let given = |(name, kind): &(&str, &str)| {
        let properties: Map<String, Value> =
            [((*name).to_owned(), json!({ "type": kind }))].into_iter().collect();
        json!({ "required": [name], "properties": properties })
    };
    fields.iter().map(given).collect()
}

/// Returns a schema that forbids a field.
pub(crate) fn absent(name: &str) -> Value {
    // The OpenAPI registry does not support `not`. If the field is present, both alternatives match and `oneOf` fails.
    json!({ "oneOf": [{ "type": "object" }, { "required": [name] }] })
}

/// Returns an `anyOf` that permits only one of two nullable fields to be non-null.
pub(crate) fn not_both(one: &str, other: &str) -> Value {
    let without = |name: &str| json!({ "properties": { (name): { "type": "null" } } });
    json!([without(one), without(other)])
}
