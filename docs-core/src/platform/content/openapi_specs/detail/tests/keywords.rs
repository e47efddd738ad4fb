//! Keywords that limit values by another schema or by other fields.

use super::*;

#[test]
fn keywords_with_schemas_are_listed_as_written() {
    for (schema, limits) in [
        (json!({ "not": { "type": "string" } }), &["not {\"type\":\"string\"}"][..]),
        (json!({ "not": {} }), &["not {}"]),
        (
            json!({ "if": { "const": 1 }, "then": { "maximum": 2 }, "else": false }),
            &["if {\"const\":1}", "then {\"maximum\":2}", "else false"],
        ),
        (
            json!({ "type": "array", "contains": { "minLength": 1 }, "minContains": 2, "maxContains": 3 }),
            &["contains {\"minLength\":1}", "minContains 2", "maxContains 3"],
        ),
        (
            json!({ "type": "object", "propertyNames": { "pattern": "^a" } }),
            &["propertyNames {\"pattern\":\"^a\"}"],
        ),
        (json!({ "dependentRequired": { "a": ["b", "c"] } }), &["dependentRequired {\"a\":[\"b\",\"c\"]}"]),
        (json!({ "dependentSchemas": { "a": true } }), &["dependentSchemas {\"a\":true}"]),
        (json!({ "allOf": [{ "type": "string" }, { "not": { "const": "" } }] }), &["not {\"const\":\"\"}"]),
        (json!({ "minLength": 1 }), &[]),
    ] {
        let (shown, _) = shown_schema(schema.clone(), json!({}));
        let keywords = shown.limits.iter().filter_map(|(limit, value)| match limit {
            SchemaLimit::Keyword(keyword) => Some(format!("{keyword} {value}")),
            _ => None,
        });
        assert_eq!(keywords.collect::<Vec<_>>(), limits, "{schema}");
    }
}

#[test]
fn objects_without_other_fields_are_marked_once() {
    for (schema, count) in [
        (json!({ "type": "object", "additionalProperties": false }), 1),
        (json!({ "type": "object", "unevaluatedProperties": false }), 1),
        (json!({ "type": "object", "additionalProperties": false, "unevaluatedProperties": false }), 1),
        (json!({ "type": "object", "additionalProperties": true, "unevaluatedProperties": true }), 0),
        (json!({ "type": "object", "unevaluatedProperties": { "type": "string" } }), 0),
    ] {
        let (shown, _) = shown_schema(schema.clone(), json!({}));
        let marks = shown.limits.iter().filter(|(limit, _)| *limit == SchemaLimit::NoOtherFields);
        assert_eq!(marks.count(), count, "{schema}");
    }
}
