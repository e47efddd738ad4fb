//! Comparison with the JSON Schemas of the OpenAPI Initiative, stored minified in `tests/official` (Apache License
//! 2.0). The reader accepts every specification that they accept. For the parts that pages and clients rely on, it
//! rejects every specification that they reject. References, duplicate ids and sizes cannot be expressed in JSON
//! Schema.

use std::sync::LazyLock;

use bytes::Bytes;
use docs_openapi::read;
use docs_ports::{SpecFile, SpecFiles, SpecProblem};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A version: its schema, and a sample specification that uses every feature.
struct Version {
    schema: Validator,
    sample: Value,
}

static VERSIONS: LazyLock<[Version; 3]> = LazyLock::new(|| {
    let of = |schema: &str, sample: Value| {
        let schema: Value = serde_json::from_str(schema).expect("JSON");
        Version { schema: jsonschema::validator_for(&schema).expect("a schema"), sample }
    };
    [
        of(include_str!("official/2.0.json"), sample_2()),
        of(include_str!("official/3.0.json"), sample_3("3.0.4")),
        of(include_str!("official/3.1.json"), sample_3("3.1.1")),
    ]
});

fn sample_2() -> Value {
    json!({
        "swagger": "2.0",
        "info": { "title": "Pets", "version": "1", "description": "Says", "license": { "name": "MIT" } },
        "host": "pets.example",
        "basePath": "/v1",
        "schemes": ["https"],
        "tags": [{ "name": "pets", "description": "All", "x-page-icon": "paw" }, { "name": "more" }],
        "paths": { "/pets/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "type": "string" }],
            "get": {
                "tags": ["pets"], "operationId": "one", "summary": "One", "deprecated": true,
                "parameters": [{ "$ref": "#/parameters/page" }],
                "responses": { "200": { "description": "Fine", "schema": { "$ref": "#/definitions/Pet" } } },
            },
            "post": {
                "parameters": [{ "name": "pet", "in": "body", "schema": { "type": "object" } }],
                "responses": { "default": { "description": "Fine" } },
            },
        } },
        "parameters": { "page": { "name": "page", "in": "query", "type": "string" } },
        "definitions": { "Pet": { "type": "object", "properties": { "name": { "type": "string" } } } },
        "x-more": [1],
    })
}

fn sample_3(version: &str) -> Value {
    let mut sample = json!({
        "openapi": version,
        "info": { "title": "Pets", "version": "1", "description": "Says", "license": { "name": "MIT" } },
        "servers": [{ "url": "https://pets.example/v1" }],
        "tags": [{ "name": "pets", "description": "All", "x-page-icon": "paw" }, { "name": "more" }],
        "paths": { "/pets/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
            "get": {
                "tags": ["pets"], "operationId": "one", "summary": "One", "deprecated": true,
                "parameters": [{ "$ref": "#/components/parameters/page" }],
                "responses": { "200": { "description": "Fine", "content": { "application/json": {
                    "schema": { "$ref": "#/components/schemas/Pet" },
                } } } },
            },
            "post": {
                "requestBody": { "content": { "text/plain": {} } },
                "responses": { "default": { "description": "Fine" } },
            },
        } },
        "components": {
            "parameters": { "page": { "name": "page", "in": "query", "schema": { "type": "string" } } },
            "schemas": { "Pet": { "type": "object", "properties": { "name": { "type": "string" } } } },
        },
        "x-more": [1],
    });
    if version.starts_with("3.1") {
        sample["webhooks"] = json!({ "sold": { "post": { "tags": ["more"], "responses": {
            "200": { "description": "Heard" },
        } } } });
    }
    sample
}

/// Returns the problems that a JSON Schema can also detect.
fn found(spec: &Value) -> Vec<SpecProblem> {
    let entry = SpecFile { bytes: Bytes::from(spec.to_string()), ..SpecFile::default() };
    let read = read(&SpecFiles { entry, others: Vec::new() }).expect("read");
    let is_beyond = |problem: &SpecProblem| {
        ["refers to", "is already the operationId of", "is a duplicate of"]
            .iter()
            .any(|it| problem.message.contains(it))
    };
    read.problems.into_iter().filter(|problem| !is_beyond(problem)).collect()
}

/// Collects the pointers of all descendants of a value.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        places(value, &at, out);
        out.push(at);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| below(name, value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(n, value)| below(&n.to_string(), value)),
        _ => {}
    }
}

/// Removes or replaces the value at a pointer.
fn change(spec: &mut Value, pointer: &str, other: Option<&Value>) {
    let Some((above, name)) = pointer.rsplit_once('/') else { return };
    match (spec.pointer_mut(above), other) {
        (Some(Value::Object(fields)), None) => {
            fields.remove(&name.replace("~1", "/").replace("~0", "~"));
        }
        (Some(Value::Array(items)), None) => {
            if let Ok(at) = name.parse::<usize>()
                && at < items.len()
            {
                items.remove(at);
            }
        }
        (Some(_), Some(other)) => {
            if let Some(place) = spec.pointer_mut(pointer) {
                place.clone_from(other);
            }
        }
        _ => {}
    }
}

#[test]
fn samples_are_valid_for_reader_and_official_schemas() {
    for version in VERSIONS.iter() {
        assert_eq!(found(&version.sample), []);
        let errors: Vec<String> =
            version.schema.iter_errors(&version.sample).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

#[test]
fn reader_and_schema_reject_invalid_values_of_used_fields() {
    let get = "/paths/~1pets~1{id}/get";
    let nothing: [(&str, Option<Value>); 17] = [
        ("/info", None),
        ("/info", Some(json!("Pets"))),
        ("/info/title", None),
        ("/info/title", Some(json!({}))),
        ("/info/version", None),
        ("/paths", Some(json!([]))),
        ("/paths/~1pets~1{id}", Some(json!(1))),
        ("/paths/~1pets~1{id}/parameters", Some(json!({}))),
        ("/paths/~1pets~1{id}/parameters/0/name", None),
        ("/paths/~1pets~1{id}/parameters/0/in", Some(json!("nowhere"))),
        ("/paths/~1pets~1{id}/get", Some(json!("x"))),
        ("/paths/~1pets~1{id}/get/tags", Some(json!("pets"))),
        ("/paths/~1pets~1{id}/get/tags/0", Some(json!(null))),
        ("/paths/~1pets~1{id}/get/responses", Some(json!([]))),
        ("/tags", Some(json!({}))),
        ("/tags/0/name", None),
        ("/tags/0", Some(json!("pets"))),
    ];
    assert!(VERSIONS.iter().all(|version| version.sample.pointer(get).is_some()));
    for version in VERSIONS.iter() {
        for (pointer, other) in &nothing {
            let mut spec = version.sample.clone();
            change(&mut spec, pointer, other.as_ref());
            assert_ne!(spec, version.sample, "{pointer}");
            assert!(!version.schema.is_valid(&spec), "{pointer}: {other:?}");
            let found = found(&spec);
            let above = pointer.rsplit_once('/').map_or("", |(above, _)| above);
            assert!(found.iter().any(|it| it.pointer.starts_with(above)), "{pointer}: {other:?}: {found:?}");
        }
    }
}

fn others() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        Just(None),
        Just(Some(json!(null))),
        Just(Some(json!(true))),
        Just(Some(json!(1))),
        Just(Some(json!("x"))),
        Just(Some(json!(""))),
        Just(Some(json!([]))),
        Just(Some(json!({}))),
        Just(Some(json!({ "x-a": 1 }))),
        Just(Some(json!([{ "name": "a" }]))),
        Just(Some(json!({ "get": { "responses": {} } }))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn documents_valid_by_official_schema_have_no_problems(
        version in 0_usize..3,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), others()), 1..4),
    ) {
        let version = &VERSIONS[version];
        let mut spec = version.sample.clone();
        for (at, other) in &changes {
            let mut all = Vec::new();
            places(&spec, "", &mut all);
            if !all.is_empty() {
                change(&mut spec, &all[at.index(all.len())], other.as_ref());
            }
        }
        let found = found(&spec);
        prop_assert!(found.is_empty() || !version.schema.is_valid(&spec), "{spec}\n{found:?}");
    }
}
