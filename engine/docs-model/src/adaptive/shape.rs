//! The JSON Schema that describes adaptive schemas. It covers the rules of [`check`](super::check) except nesting
//! depth, total number of claims and claim name length.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value as Json, json};

use super::rules::{
    MAX_CLAIM_DESCRIPTION, MAX_CLAIM_VALUE, MAX_CLAIM_VALUES, MAX_CLAIMS, UNSIGNED, UNSIGNED_CLAIMS,
};

struct AdaptiveClaim;

impl JsonSchema for AdaptiveClaim {
    fn schema_name() -> Cow<'static, str> {
        "AdaptiveClaim".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let claims = claims(generator);
        json_schema!({
            "description": "A claim of an adaptive schema.",
            "oneOf": [
                claim("boolean", "A boolean claim.", &[], json!({})),
                claim("number", "A numeric claim.", &[], json!({})),
                claim("string", "A string claim.", &[], json!({ "enum": values() })),
                claim("array", "A list claim.", &["items"], json!({ "items": item() })),
                claim("object", "Claims together.", &["properties", "additionalProperties"], json!({
                    "properties": claims,
                    "additionalProperties": { "type": "boolean", "enum": [false] },
                })),
            ],
        })
    }
}

/// Returns the schema of an adaptive schema.
pub(super) fn adaptive_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut named = claims(generator);
    named["description"] =
        "Claims by name. `unsigned` contains the claims without a signature, which are boolean and may have \
         any name if `additionalProperties` permits it."
            .into();
    named["properties"] = json!({ (UNSIGNED_CLAIMS): {
        "type": "object",
        "description": "Claims without a signature.",
        "required": ["type"],
        "properties": {
            "type": { "type": "string", "enum": ["object"] },
            "description": { "type": "string", "enum": [UNSIGNED] },
            "properties": claims(generator),
            "additionalProperties": { "oneOf": [
                { "type": "boolean", "enum": [false] },
                {
                    "type": "object",
                    "required": ["type"],
                    "properties": {
                        "type": { "type": "string", "enum": ["boolean"] },
                        "description": description(),
                    },
                    "additionalProperties": false,
                },
            ] },
        },
        "additionalProperties": false,
    } });
    json_schema!({
        "type": "object",
        "description": "A JSON Schema (draft-07) of the claims of visitors. The type of a claim is \
                        `boolean`, `string`, `string` with `enum`, `number`, `array` of those, or `object`. \
                        Its `description` defaults to an empty string. Other keywords are rejected.",
        "properties": {
            "$schema": { "type": "string", "enum": ["http://json-schema.org/draft-07/schema#"] },
            "type": { "type": "string", "enum": ["object"] },
            "properties": named,
            "additionalProperties": { "type": "boolean", "enum": [false] },
        },
        "required": ["type", "properties", "additionalProperties"],
        "additionalProperties": false,
    })
}

/// Returns the schema of a map of claims.
fn claims(generator: &mut SchemaGenerator) -> Json {
    let claim = generator.subschema_for::<AdaptiveClaim>();
    json!({
        "type": "object",
        "description": "Claims by name.",
        "maxProperties": MAX_CLAIMS,
        "additionalProperties": claim,
    })
}

/// Returns the schema of a claim of type `kind` with additional required fields and properties.
fn claim(kind: &str, meaning: &str, needs: &[&str], more: Json) -> Json {
    let mut properties = json!({ "type": { "type": "string", "const": kind }, "description": description() });
    if let (Some(properties), Json::Object(more)) = (properties.as_object_mut(), more) {
        properties.extend(more);
    }
    let required: Vec<&str> = [&["type"], needs].concat();
    json!({
        "type": "object",
        "description": meaning,
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// Returns the schema of the items of a list claim.
fn item() -> Json {
    json!({ "oneOf": [
        {
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": { "type": "string", "enum": ["boolean", "number"] }, "description": description(),
            },
            "additionalProperties": false,
        },
        {
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": { "type": "string", "enum": ["string"] }, "description": description(), "enum": values(),
            },
            "additionalProperties": false,
        },
    ] })
}

fn description() -> Json {
    json!({ "type": "string", "maxLength": MAX_CLAIM_DESCRIPTION })
}

/// Returns the schema of an `enum`.
fn values() -> Json {
    json!({
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_CLAIM_VALUES,
        "uniqueItems": true,
        "items": { "type": "string", "maxLength": MAX_CLAIM_VALUE, "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$" },
    })
}
