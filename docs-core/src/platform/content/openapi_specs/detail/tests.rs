use serde_json::json;

use super::*;

/// Creates files in the stored form of a version.
fn files(all: &[(&str, Value)]) -> Vec<u8> {
    let all = all.iter().enumerate().map(|(at, (name, specification))| {
        (
            (*name).to_owned(),
            json!({ "filename": name, "isEntrypoint": at == 0, "specification": specification }),
        )
    });
    serde_json::to_vec(&all.collect::<serde_json::Map<_, _>>()).expect("JSON")
}

fn one(files: &[u8], subject: &SpecSubject) -> Option<SpecDetail> {
    find(files, &[subject]).pop().expect("an answer for each")
}

fn get(path: &str) -> SpecSubject {
    SpecSubject::Operation { method: "get".to_owned(), path: path.to_owned() }
}

fn operation_of(files: &[u8], subject: &SpecSubject) -> OperationDetail {
    match one(files, subject) {
        Some(SpecDetail::Operation(detail)) => *detail,
        other => panic!("{other:?}"),
    }
}

#[test]
fn operation_detail_resolves_references_to_other_files() {
    let pets = json!({ "openapi": "3.1.0", "servers": [{ "url": "https://api.test/v1" }],
        "security": [{ "key": [] }],
        "paths": { "/pets/{id}": {
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
            "get": { "summary": "Reads a pet", "description": "*One* pet.", "deprecated": true,
                "parameters": [{ "$ref": "#/components/parameters/fields" }],
                "responses": {
                    "200": { "description": "The pet", "content": {
                        "text/plain": {}, "application/json": { "schema": { "$ref": "pet.yaml#/Pet" } } } },
                    "x-internal": {} } } } },
        "components": { "parameters": { "fields": { "name": "fields", "in": "query",
            "schema": { "type": "array", "items": { "enum": ["name", "age"] } } } } } });
    let pet = json!({ "Pet": { "allOf": [{ "$ref": "#/Base" }, { "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string", "example": "Rex" }, "owner": { "$ref": "#/Owner" } } }] },
        "Base": { "properties": { "id": { "type": "integer", "format": "int64" } } },
        "Owner": { "type": "object", "properties": { "since": { "type": "string", "format": "date" } } } });
    let files = files(&[("https://a.test/api.json", pets), ("https://a.test/pet.yaml", pet)]);
    let told = operation_of(&files, &get("/pets/{id}"));
    assert_eq!(told.summary.as_deref(), Some("Reads a pet"));
    assert_eq!(told.server.as_deref(), Some("https://api.test/v1"));
    assert!(told.deprecated && told.security == [["key"]]);
    let parameters: Vec<_> = told
        .parameters
        .iter()
        .map(|of| (of.name.as_str(), of.location.as_str(), of.kind.as_str(), of.required))
        .collect();
    assert_eq!(
        parameters,
        [("fields", "query", "array of name, age", false), ("id", "path", "integer", true)]
    );
    let [response] = told.responses.as_slice() else { panic!("{told:?}") };
    let body = response.body.as_ref().expect("a body");
    assert_eq!((response.status.as_str(), body.name.as_str()), ("200", "application/json"));
    let fields: Vec<_> =
        body.fields.iter().map(|of| (of.depth, of.name.as_str(), of.kind.as_str(), of.required)).collect();
    assert_eq!(
        fields,
        [
            (0, "id", "integer (int64)", false),
            (0, "name", "string", true),
            (0, "owner", "object", false),
            (1, "since", "string (date)", false)
        ]
    );
    let example: Value = serde_json::from_str(body.example.as_deref().expect("an example")).expect("JSON");
    assert_eq!(example, json!({ "id": 0, "name": "Rex", "owner": { "since": "2026-01-31" } }));
    assert_eq!(one(&files, &get("/dogs")), None);
}

#[test]
fn swagger_2_details_include_server_body_and_schema() {
    let pets = json!({ "swagger": "2.0", "host": "api.test", "basePath": "/v1/", "schemes": ["https"],
        "paths": { "/pets": { "get": {
            "parameters": [{ "name": "pet", "in": "body", "schema": { "$ref": "#/definitions/Pet" } },
                { "name": "limit", "in": "query", "type": "integer", "default": 10 }],
            "responses": { "201": { "description": "Made", "schema": { "$ref": "#/definitions/Pet" } } } } } },
        "definitions": { "Pet": { "type": "object", "properties": { "name": { "type": "string" } } } } });
    let files = files(&[("openapi.json", pets)]);
    let told = operation_of(&files, &get("/pets"));
    assert_eq!(told.server.as_deref(), Some("https://api.test/v1"));
    assert_eq!(told.request.as_ref().map(|body| body.fields.len()), Some(1));
    assert_eq!(told.parameters[0].example.as_deref(), Some("10"));
    assert_eq!(told.responses[0].body.as_ref().map(|body| body.kind.as_str()), Some("object"));
    let schema = one(&files, &SpecSubject::Schema("Pet".to_owned()));
    assert!(matches!(schema, Some(SpecDetail::Schema(body)) if body.fields[0].name == "name"));
}

#[test]
fn recursive_schemas_are_bounded() {
    let wide: serde_json::Map<_, _> =
        (0..50).map(|n| (format!("f{n}"), json!({ "$ref": "#/components/schemas/A" }))).collect();
    let spec = json!({ "openapi": "3.0.0", "paths": { "/a": { "get": { "responses": { "200": { "content": {
        "application/json": { "schema": { "$ref": "#/components/schemas/A" } } } } } } } },
        "components": { "schemas": {
            "A": { "properties": wide, "allOf": [{ "$ref": "#/components/schemas/A" }],
                "oneOf": [{ "$ref": "#/components/schemas/A" }] },
            "Loop": { "$ref": "#/components/schemas/Loop" },
            "List": { "type": "array", "items": { "$ref": "#/components/schemas/List" } },
            "Nowhere": { "$ref": "#/components/schemas/none" } } } });
    let files = files(&[("openapi.json", spec)]);
    let told = operation_of(&files, &get("/a"));
    assert!(told.responses[0].body.as_ref().is_some_and(|body| body.fields.len() <= 300));
    for name in ["A", "Loop", "List", "Nowhere"] {
        assert!(one(&files, &SpecSubject::Schema(name.to_owned())).is_some(), "{name}");
    }
}

#[test]
fn fields_of_a_composed_schema_are_limited() {
    let part = |n: usize| {
        let all = (0..300).map(|of| (format!("f{n}-{of}"), json!({ "type": "string" })));
        json!({ "properties": all.collect::<serde_json::Map<_, _>>(), "required": [format!("f{n}-0")] })
    };
    let mut schemas: serde_json::Map<_, _> = (0..400).map(|n| (format!("P{n}"), part(n))).collect();
    for group in 0..20 {
        let parts: Vec<_> =
            (0..20).map(|n| json!({ "$ref": format!("#/components/schemas/P{}", 20 * group + n) })).collect();
        schemas.insert(format!("G{group}"), json!({ "allOf": parts }));
    }
    let groups: Vec<_> =
        (0..20).map(|group| json!({ "$ref": format!("#/components/schemas/G{group}") })).collect();
    schemas.insert("All".to_owned(), json!({ "allOf": groups }));
    let files =
        files(&[("openapi.json", json!({ "openapi": "3.0.0", "components": { "schemas": schemas } }))]);
    let Some(SpecDetail::Schema(all)) = one(&files, &SpecSubject::Schema("All".to_owned())) else { panic!() };
    assert_eq!(all.fields.len(), 300);
    assert!(all.fields[0].required);
}

#[test]
fn lookup_result_does_not_depend_on_other_subjects() {
    let long = "x".repeat(200 << 10);
    let names: Vec<String> = (0..200).map(|n| format!("S{n}")).collect();
    let schemas: serde_json::Map<_, _> = names
        .iter()
        .map(|name| (name.clone(), json!({ "type": "object", "description": name, "x-long": long })))
        .collect();
    let files =
        files(&[("openapi.json", json!({ "openapi": "3.0.0", "components": { "schemas": schemas } }))]);
    let subjects: Vec<SpecSubject> = names.iter().cloned().map(SpecSubject::Schema).collect();
    let together = find(&files, &subjects.iter().collect::<Vec<_>>());
    assert!((1..subjects.len()).contains(&together.len()), "{} at once", together.len());
    assert!(together.iter().all(Option::is_some));
    let last = together.len() - 1;
    assert_eq!(together[last], one(&files, &subjects[last]));
}

#[test]
fn references_of_a_moved_file_resolve_from_its_new_folder() {
    let (name, part) = ("https://a.example/paths/a.json", "https://b.example/v2/parts.json");
    let item = json!({ "get": { "summary": "Says", "parameters": [{ "$ref": "../parts.json#/id" }] } });
    let id = json!({ "name": "id", "in": "query", "description": "Which one" });
    let files = json!({
        "https://a.example/openapi.json": {
            "isEntrypoint": true,
            "dir": "https://a.example",
            "specification": { "openapi": "3.1.0", "paths": { "/a": { "$ref": "paths/a.json" } } },
        },
        name: { "isEntrypoint": false, "dir": "https://b.example/v2/moved", "specification": item },
        part: { "isEntrypoint": false, "dir": "https://b.example/v2", "specification": { "id": id } },
    });
    let files = serde_json::to_vec(&files).expect("JSON");
    let operation = operation_of(&files, &get("/a"));
    assert_eq!(operation.parameters[0].description.as_deref(), Some("Which one"));
}

#[test]
fn invalid_specification_has_no_detail() {
    for bytes in [&b""[..], b"[]", b"{}", b"{\"a\":{\"isEntrypoint\":true,\"specification\":[1]}}"] {
        assert_eq!(one(bytes, &get("/a")), None);
    }
}

#[test]
fn shown_parts_of_an_operation_are_bounded() {
    for beyond in [0, 1] {
        let values: Vec<String> = (0..20 + beyond).map(|at| format!("value{at}")).collect();
        let parameter = |at: usize| json!({ "name": format!("p{at}"), "in": "query", "schema": { "type": "string", "enum": values } });
        let parameters: Vec<_> = (0..MAX_ITEMS + beyond).map(parameter).collect();
        let responses: serde_json::Map<_, _> = (0..MAX_ITEMS + beyond)
            .map(|at| (format!("{}", 200 + at), json!({ "description": "A response" })))
            .collect();
        let operation = json!({ "description": "d".repeat(MAX_TEXT + beyond),
            "parameters": parameters, "responses": responses });
        let document = json!({ "openapi": "3.1.0", "paths": { "/a": { "get": operation } } });
        let shown = operation_of(&files(&[("openapi.json", document)]), &get("/a"));
        assert_eq!((shown.parameters.len(), shown.responses.len()), (MAX_ITEMS, MAX_ITEMS));
        assert_eq!(shown.description.map(|text| text.len()), Some(MAX_TEXT));
        assert_eq!(shown.parameters[0].kind.matches("value").count(), 20);
    }
}

#[test]
fn examples_longer_than_the_bound_are_cut() {
    let example = |characters: usize| format_value(&"ä".repeat(characters).into()).chars().count();
    let lengths = [MAX_EXAMPLE - 1, MAX_EXAMPLE, MAX_EXAMPLE + 1];
    assert_eq!(lengths.map(example), [MAX_EXAMPLE - 1, MAX_EXAMPLE, MAX_EXAMPLE]);
}
