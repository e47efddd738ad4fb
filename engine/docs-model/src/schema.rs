//! What the schemas of requests say of several fields at once, and of fields that refuse `null`.
//!
//! All of it can be said in OpenAPI 3.0 too, which knows no `if`, no type `null` and no list of types.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// The pattern of a text that says something: not white space alone.
pub const NOT_BLANK: &str = r"^[^\u0000]*[^\s\u0000][^\u0000]*$";

/// The pattern of the name of a file: no folder, no control characters, nothing that changes the direction of text, and
/// not dots and white space alone.
pub const FILE_NAME: &str = concat!(
    r"^[^/\\\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*",
    r"[^/\\.\s\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]",
    r"[^/\\\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$",
);

/// Takes `null` out of the schema of a field that may be left out but not be `null`.
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
    // What is left of `T or null` is `T`.
    if let Some(kind) = only(object, "type") {
        object.insert("type".to_owned(), kind);
    }
    if let Some(Value::Object(part)) = only(object, "anyOf") {
        object.remove("anyOf");
        for (key, value) in part {
            object.entry(key).or_insert(value);
        }
    }
}

/// Says that a text, or each of a list of texts, is an id: whatever is written otherwise, nothing has.
///
/// ```
/// # use serde_json::json;
/// let mut schema = schemars::json_schema!({ "type": "array", "items": { "type": "string" } });
/// docs_model::schema::id(&mut schema);
/// assert_eq!(schema.as_value()["items"]["pattern"], "^[A-Za-z0-9_-]{1,64}$");
/// ```
pub fn id(schema: &mut Schema) {
    of_texts(schema, &("pattern", crate::id::ID_PATTERN.into()));
}

/// Says that a text, or each of a list of texts, has at least one character.
pub fn something(schema: &mut Schema) {
    of_texts(schema, &("minLength", 1.into()));
}

/// Says something of a text, or of each of a list of texts.
fn of_texts(schema: &mut Schema, rule: &(&str, Value)) {
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

/// The one part of a list that has one.
fn only(object: &Map<String, Value>, key: &str) -> Option<Value> {
    match object.get(key)?.as_array()?.as_slice() {
        [part] => Some(part.clone()),
        _ => None,
    }
}

/// Each of these fields, with its type: there, and not `null`. As `oneOf`, exactly one of them is; as `anyOf`, at least
/// one.
pub(crate) fn given(fields: &[(&str, &str)]) -> Value {
    let given = |(name, kind): &(&str, &str)| {
        let properties: Map<String, Value> =
            [((*name).to_owned(), json!({ "type": kind }))].into_iter().collect();
        json!({ "required": [name], "properties": properties })
    };
    fields.iter().map(given).collect()
}

/// This field is not there.
pub(crate) fn absent(name: &str) -> Value {
    // OpenAPI 3.0 has `not`, the registry that the document is made from has none: both forms fit where it is there.
    json!({ "oneOf": [{ "type": "object" }, { "required": [name] }] })
}

/// For `anyOf`: of two fields that take `null`, at most one is there and not `null`.
pub(crate) fn not_both(one: &str, other: &str) -> Value {
    let without = |name: &str| json!({ "properties": { (name): { "type": "null" } } });
    json!([without(one), without(other)])
}
