//! Tests of schemas for fields that reject `null`.

use docs_model::schema::not_null;
use schemars::{JsonSchema, generate::SchemaSettings, json_schema};

#[derive(JsonSchema)]
struct Named {
    #[expect(dead_code, reason = "only its schema is asked for")]
    name: String,
}

#[test]
fn not_null_removes_null_from_a_schema() {
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let mut named = generator.subschema_for::<Option<Named>>();
    assert!(named.as_value().to_string().contains("null"), "{named:?}");
    not_null(&mut named);
    assert_eq!(named, json_schema!({ "$ref": "#/$defs/Named" }));
    let mut choice = json_schema!({ "type": ["string", "null"], "enum": ["a", null], "description": "A." });
    not_null(&mut choice);
    assert_eq!(choice, json_schema!({ "type": "string", "enum": ["a"], "description": "A." }));
    let mut forms =
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "number" }, { "type": "null" }] });
    not_null(&mut forms);
    assert_eq!(forms, json_schema!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }));
}
