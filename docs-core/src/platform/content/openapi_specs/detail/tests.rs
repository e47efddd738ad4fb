mod alternatives;
mod directions;
mod keywords;
mod related;
mod wrappers;

use serde_json::{Value, json};

use super::{
    json::Json,
    model::{MAX_EXAMPLE, MAX_EXAMPLES, MAX_FIELDS, MAX_ITEMS, MAX_SCHEMAS, MAX_TEXT, MAX_VALUES},
    *,
};

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

/// The fields of a schema in depth-first order: depth, name, kind, and `true` if it is required.
fn shown_fields(schema: &SchemaDetail) -> Vec<(usize, &str, &str, bool)> {
    let mut all = Vec::new();
    let mut stack: Vec<(usize, &FieldDetail)> = schema.fields.iter().rev().map(|field| (0, field)).collect();
    while let Some((depth, field)) = stack.pop() {
        let FieldName::Exact(name) = &field.name else { panic!("{field:?}") };
        all.push((depth, name.as_str(), field.schema.kind.as_str(), field.required));
        stack.extend(field.schema.fields.iter().rev().map(|field| (depth + 1, field)));
    }
    all
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
    assert_eq!(told.servers[0].url, "https://api.test/v1");
    assert!(told.deprecated && told.security.len() == 1 && told.security[0][0].name == "key");
    let parameters: Vec<_> = told
        .parameters
        .iter()
        .map(|of| (of.name.as_str(), of.location.as_str(), of.schema.kind.as_str(), of.required))
        .collect();
    assert_eq!(parameters, [("fields", "query", "array of string", false), ("id", "path", "integer", true)]);
    let items = told.parameters[0].schema.items.as_ref().expect("items");
    assert_eq!(items.values.iter().map(|of| of.value.as_str()).collect::<Vec<_>>(), ["name", "age"]);
    let [response] = told.responses.as_slice() else { panic!("{told:?}") };
    let body = &response.bodies[0];
    assert_eq!((response.status.as_str(), body.name.as_str()), ("200", "application/json"));
    let fields = shown_fields(body.schema.as_ref().expect("a schema"));
    assert_eq!(
        fields,
        [
            (0, "id", "integer (int64)", false),
            (0, "name", "string", true),
            (0, "owner", "object", false),
            (1, "since", "string (date)", false)
        ]
    );
    assert_eq!(response.bodies[1].name, "text/plain");
    let example: Value = serde_json::from_str(&body.examples[0].value).expect("JSON");
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
    assert_eq!(told.servers[0].url, "https://api.test/v1");
    let schema = |body: &BodyDetail| body.schema.clone().expect("a schema");
    assert_eq!(told.request.as_ref().map(|of| schema(&of.bodies[0]).fields.len()), Some(1));
    assert_eq!(told.parameters[0].schema.default.as_deref(), Some("10"));
    assert_eq!(schema(&told.responses[0].bodies[0]).kind, "object");
    let found = one(&files, &SpecSubject::Schema("Pet".to_owned()));
    let Some(SpecDetail::Schema(body)) = found else { panic!("{found:?}") };
    assert_eq!(shown_fields(&schema(&body)), [(0, "name", "string", false)]);
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
    let schema = told.responses[0].bodies[0].schema.as_ref().expect("a schema");
    assert!((1..=MAX_FIELDS).contains(&shown_fields(schema).len()));
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
    let fields = all.schema.map(|schema| schema.fields).expect("a schema");
    assert_eq!(fields.len(), MAX_FIELDS);
    assert!(fields[0].required);
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
        let values: Vec<String> = (0..MAX_VALUES + beyond).map(|at| format!("value{at}")).collect();
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
        assert_eq!(shown.parameters[0].schema.values.len(), MAX_VALUES);
        assert_eq!((shown.is_cut, shown.parameters[0].schema.is_cut), (beyond > 0, beyond > 0));
    }
}

#[test]
fn examples_longer_than_the_bound_are_cut() {
    let example = |characters: usize| {
        let (text, is_cut) = Json::Text("ä".repeat(characters).into()).to_sent_text(MAX_EXAMPLE);
        assert_eq!(is_cut, characters > MAX_EXAMPLE);
        text.chars().count()
    };
    let lengths = [MAX_EXAMPLE - 1, MAX_EXAMPLE, MAX_EXAMPLE + 1];
    assert_eq!(lengths.map(example), [MAX_EXAMPLE - 1, MAX_EXAMPLE, MAX_EXAMPLE]);
}

/// The operation `GET /x` with these parts, in a specification with these components.
fn operation_with(operation: Value, components: Value) -> OperationDetail {
    let document =
        json!({ "openapi": "3.1.0", "paths": { "/x": { "get": operation } }, "components": components });
    operation_of(&files(&[("openapi.json", document)]), &get("/x"))
}

/// A schema as it is shown, with its example.
fn shown_schema(schema: Value, components: Value) -> (SchemaDetail, Value) {
    let content = json!({ "application/json": { "schema": schema } });
    let shown = operation_with(json!({ "responses": { "200": { "content": content } } }), components);
    let body =
        shown.responses.into_iter().next().and_then(|of| of.bodies.into_iter().next()).expect("a body");
    let example = body.examples.first().map(|of| serde_json::from_str(&of.value).expect("JSON"));
    (body.schema.expect("a schema"), example.unwrap_or_default())
}

#[test]
fn every_alternative_is_listed_with_its_discriminator_value() {
    let kind = |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } } });
    let one = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let components = json!({ "schemas": { "Card": kind("number"), "Bank": kind("iban") } });
    let discriminator =
        json!({ "propertyName": "way", "mapping": { "bank": "#/components/schemas/Bank", "card": "Card" } });
    for keyword in ["oneOf", "anyOf"] {
        let schema = json!({ keyword: [one("Card"), one("Bank")], "discriminator": discriminator });
        let (shown, example) = shown_schema(schema, components.clone());
        assert_eq!(shown.kind, "Card or Bank");
        let [choice] = shown.choices.as_slice() else { panic!("{shown:?}") };
        assert_eq!((choice.is_any, choice.discriminator.as_deref()), (keyword == "anyOf", Some("way")));
        let alternatives: Vec<_> = choice
            .alternatives
            .iter()
            .map(|of| (of.title.as_str(), of.value.as_deref(), shown_fields(&of.schema)[0].1))
            .collect();
        assert_eq!(alternatives, [("Card", Some("card"), "number"), ("Bank", Some("bank"), "iban")]);
        assert_eq!(example, json!({ "way": "card", "number": "text" }));
    }
    let base = json!({ "type": "object", "properties": { "way": { "type": "string" } }, "discriminator": discriminator });
    let child = json!({ "allOf": [one("Pay"), kind("iban")] });
    let components = json!({ "schemas": { "Pay": base, "Bank": child, "Card": kind("number") } });
    let (shown, _) = shown_schema(one("Pay"), components);
    let titles: Vec<_> = shown.choices[0].alternatives.iter().map(|of| of.title.as_str()).collect();
    assert_eq!(titles, ["Bank", "Card"]);
    assert_eq!(shown_fields(&shown.choices[0].alternatives[0].schema).len(), 2);
}

#[test]
fn alternatives_of_parts_and_lists_are_listed() {
    let kinds = json!({ "oneOf": [{ "title": "A", "properties": { "a": {} } }, { "title": "B", "properties": { "b": {} } }] });
    let all_of = json!({ "allOf": [{ "properties": { "id": { "type": "integer" } } }, kinds] });
    let (shown, _) = shown_schema(all_of, json!({}));
    assert_eq!((shown.choices[0].alternatives.len(), shown.fields.len()), (2, 1));
    let (shown, _) = shown_schema(json!({ "type": "array", "items": kinds }), json!({}));
    assert_eq!(shown.items.map(|of| of.choices[0].alternatives.len()), Some(2));
    // Alternatives of single values are an enumeration.
    let constants =
        json!({ "oneOf": [{ "const": 1, "title": "Low", "description": "Not much" }, { "const": 2 }] });
    let (shown, _) = shown_schema(constants, json!({}));
    assert!(shown.choices.is_empty());
    let values: Vec<_> = shown
        .values
        .iter()
        .map(|of| (of.value.as_str(), of.name.as_deref(), of.description.as_deref()))
        .collect();
    assert_eq!(values, [("1", Some("Low"), Some("Not much")), ("2", None, None)]);
}

#[test]
fn recursion_is_marked_and_ends() {
    let node = json!({ "type": "object", "properties": { "name": { "type": "string" },
        "parent": { "$ref": "#/components/schemas/Node" },
        "children": { "type": "array", "items": { "$ref": "#/components/schemas/Node" } } } });
    let (shown, example) =
        shown_schema(json!({ "$ref": "#/components/schemas/Node" }), json!({ "schemas": { "Node": node } }));
    assert_eq!(
        shown_fields(&shown),
        [
            (0, "children", "array of Node", false),
            (0, "name", "string", false),
            (0, "parent", "object", false)
        ]
    );
    assert!(!shown.is_recursive && shown.fields[2].schema.is_recursive);
    assert!(shown.fields[0].schema.items.as_ref().is_some_and(|items| items.is_recursive));
    assert_eq!(example, json!({ "name": "text", "children": [] }));
}

#[test]
fn null_is_part_of_the_kind_in_all_versions() {
    let components =
        json!({ "schemas": { "User": { "type": "object", "properties": { "id": { "type": "string" } } } } });
    let user = json!({ "$ref": "#/components/schemas/User" });
    for (schema, kind) in [
        (json!({ "type": "string", "nullable": true }), "string or null"),
        (json!({ "type": "string", "x-nullable": true }), "string or null"),
        (json!({ "type": ["string", "null"] }), "string or null"),
        (json!({ "type": ["null", "string", "integer"] }), "string or integer or null"),
        (
            json!({ "type": "array", "nullable": true, "items": { "type": "string" } }),
            "array of string or null",
        ),
        (json!({ "nullable": true, "allOf": [user] }), "object or null"),
        (json!({ "anyOf": [user, { "type": "null" }] }), "object or null"),
        (
            json!({ "oneOf": [{ "type": "null" }, { "type": "string" }, { "type": "integer" }] }),
            "string or integer or null",
        ),
        (json!({ "type": "string", "enum": ["a", null] }), "string or null"),
        (json!({ "type": "null" }), "null"),
        (json!({ "type": "integer", "format": "int32", "nullable": true }), "integer (int32) or null"),
        (json!({}), "any"),
        (json!(true), "any"),
    ] {
        assert_eq!(shown_schema(schema.clone(), components.clone()).0.kind, kind, "{schema}");
    }
}

#[test]
fn limits_and_marks_of_values_are_listed() {
    let schema = json!({ "type": "integer", "minimum": 1, "maximum": 100, "exclusiveMaximum": true, "multipleOf": 5,
        "default": 10, "deprecated": true, "readOnly": true });
    let (shown, example) = shown_schema(schema, json!({}));
    let limits: Vec<_> = shown.limits.iter().map(|(limit, value)| (*limit, value.as_str())).collect();
    assert_eq!(
        limits,
        [(SchemaLimit::Minimum, "1"), (SchemaLimit::ExclusiveMaximum, "100"), (SchemaLimit::MultipleOf, "5")]
    );
    assert!(shown.deprecated && shown.read_only && !shown.write_only);
    assert_eq!((shown.default.as_deref(), example), (Some("10"), json!(10)));
    let schema = json!({ "type": "array", "uniqueItems": true, "minItems": 2, "maxItems": 3,
        "items": { "type": "string", "pattern": "^[A-Z]{2}$", "minLength": 2, "enum": ["AB", "CD"],
            "x-enumDescriptions": { "AB": "The first" }, "x-enum-varnames": ["FIRST", "SECOND"] } });
    let (shown, _) = shown_schema(schema, json!({}));
    let limits: Vec<_> = shown.limits.iter().map(|(limit, value)| (*limit, value.as_str())).collect();
    assert_eq!(
        limits,
        [(SchemaLimit::MinItems, "2"), (SchemaLimit::MaxItems, "3"), (SchemaLimit::UniqueItems, "")]
    );
    let items = shown.items.expect("items");
    assert_eq!(items.limits[1], (SchemaLimit::Pattern, "^[A-Z]{2}$".to_owned()));
    let values: Vec<_> =
        items.values.iter().map(|of| (of.name.as_deref(), of.description.as_deref())).collect();
    assert_eq!(values, [(Some("FIRST"), Some("The first")), (Some("SECOND"), None)]);
    let map = json!({ "type": "object", "additionalProperties": { "type": "integer" }, "patternProperties": { "^x": {} } });
    let (shown, example) = shown_schema(map, json!({}));
    let names: Vec<_> = shown.fields.iter().map(|field| field.name.clone()).collect();
    assert_eq!(names, [FieldName::Pattern("^x".to_owned()), FieldName::Other]);
    assert_eq!(example, json!({ "key": 0 }));
}

#[test]
fn fields_and_examples_keep_the_order_of_the_document() {
    let text = r#"{"openapi":"3.0.0","paths":{"/x":{"get":{"responses":{"200":{"content":{"application/json":{
        "schema":{"type":"object","properties":{"zip":{"type":"string"},"street":{"type":"string"},"apartment":{"type":"string"}}},
        "example":{"zip":"1","street":"s","apartment":"a"}}}}}}}}}"#;
    let files = format!("{{\"openapi.json\":{{\"isEntrypoint\":true,\"specification\":{text}}}}}");
    let shown = operation_of(files.as_bytes(), &get("/x"));
    let body = &shown.responses[0].bodies[0];
    let names = ["zip", "street", "apartment"];
    let fields: Vec<_> =
        shown_fields(body.schema.as_ref().expect("a schema")).iter().map(|field| field.1).collect();
    assert_eq!(fields, names);
    let places = names.map(|name| body.examples[0].value.find(name).expect("a field"));
    assert!(places.is_sorted(), "{}", body.examples[0].value);
}

#[test]
fn all_media_types_and_named_examples_are_listed() {
    let content = json!({
        "text/csv": { "example": "a,b" },
        "application/json": { "schema": { "type": "object" }, "examples": {
            "small": { "summary": "A small one", "value": { "size": 1 } },
            "large": { "$ref": "#/components/examples/large" },
            "far": { "externalValue": "https://e.test/far.json" } } },
        "application/xml": { "schema": { "title": "Pet", "properties": { "name": { "type": "string", "example": "a<b" },
            "tags": { "type": "array", "items": { "type": "string" }, "example": ["x", "y"] } } } } });
    let components = json!({ "examples": { "large": { "value": { "size": 100 }, "description": "Large" } } });
    let shown =
        operation_with(json!({ "requestBody": { "required": true, "content": content } }), components);
    let request = shown.request.expect("a request");
    let names: Vec<_> = request.bodies.iter().map(|body| body.name.as_str()).collect();
    assert!(request.required);
    assert_eq!(names[0], "application/json");
    assert_eq!(names.len(), 3);
    let titles: Vec<_> =
        request.bodies[0].examples.iter().map(|of| of.title.as_deref().unwrap_or_default()).collect();
    assert_eq!(titles, ["far", "large", "A small one"]);
    assert_eq!(request.bodies[0].examples[0].address.as_deref(), Some("https://e.test/far.json"));
    let example = |name: &str| {
        request.bodies.iter().find(|body| body.name == name).map(|body| body.examples[0].value.as_str())
    };
    assert_eq!(example("text/csv"), Some("a,b"));
    let xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Pet>\n  <name>a&lt;b</name>\n  <tags>x</tags>\n  <tags>y</tags>\n</Pet>";
    assert_eq!(example("application/xml"), Some(xml));
}

#[test]
fn generated_examples_follow_the_direction_and_formats() {
    let schema = json!({ "type": "object", "properties": {
        "id": { "type": "string", "format": "uuid", "readOnly": true },
        "password": { "type": "string", "writeOnly": true, "minLength": 6 },
        "level": { "type": "integer", "exclusiveMinimum": 4, "multipleOf": 5 },
        "debt": { "type": "number", "maximum": -1 },
        "role": { "enum": ["admin", "user"] } } });
    let content = json!({ "application/json": { "schema": schema } });
    let shown = operation_with(
        json!({ "requestBody": { "content": content }, "responses": { "200": { "content": content } } }),
        json!({}),
    );
    let value = |body: &BodyDetail| serde_json::from_str::<Value>(&body.examples[0].value).expect("JSON");
    let request = shown.request.expect("a request");
    let common = json!({ "level": 5, "debt": -1.0, "role": "admin" });
    let with = |name: &str, text: &str| {
        let mut all = common.clone();
        all[name] = json!(text);
        all
    };
    assert_eq!(value(&request.bodies[0]), with("password", "textte"));
    assert_eq!(value(&shown.responses[0].bodies[0]), with("id", "123e4567-e89b-12d3-a456-426614174000"));
}

#[test]
fn servers_have_their_defaults_and_are_absolute() {
    let entry = |servers: Value| {
        let document = json!({ "openapi": "3.0.0", "servers": servers, "paths": { "/x": { "get": {} } } });
        operation_of(&files(&[("https://a.example/specs/api.json", document)]), &get("/x")).servers
    };
    let shown = entry(json!([{ "url": "https://{domain}:{port}/api", "variables": {
        "domain": { "default": "wiki.example.com", "description": "The domain" },
        "port": { "default": "8443", "enum": ["8443", "443"] } } }, { "url": "../v2" }, { "url": "/v3" }]));
    let urls: Vec<_> = shown.iter().map(|server| server.url.as_str()).collect();
    assert_eq!(urls, ["https://wiki.example.com:8443/api", "https://a.example/v2", "https://a.example/v3"]);
    let templates: Vec<_> = shown.iter().map(|server| server.template.as_deref()).collect();
    assert_eq!(templates, [Some("https://{domain}:{port}/api"), None, None]);
    let mut variables: Vec<_> =
        shown[0].variables.iter().map(|of| (of.name.as_str(), of.values.len())).collect();
    variables.sort_unstable();
    assert_eq!(variables, [("domain", 0), ("port", 2)]);
    assert_eq!(entry(json!([]))[0].url, "https://a.example/");
    let relative = operation_with(json!({ "servers": [{ "url": "/v1" }] }), json!({}));
    assert_eq!(relative.servers[0].url, "/v1");
}

#[test]
fn optional_security_has_an_empty_alternative() {
    let schemes = json!({ "securitySchemes": {
        "key": { "type": "apiKey", "in": "header", "name": "X-Key", "description": "A key" },
        "token": { "type": "http", "scheme": "Bearer" }, "login": { "type": "oauth2" } } });
    let security = json!([{ "key": [] }, { "login": ["read", "write"], "token": [] }, { "none": [] }, {}]);
    let shown = operation_with(json!({ "security": security }), schemes.clone()).security;
    let key = SchemeKind::ApiKey { location: "header".to_owned(), name: "X-Key".to_owned() };
    assert_eq!((&shown[0][0].kind, shown[0][0].description.as_deref()), (&key, Some("A key")));
    assert_eq!((&shown[1][0].kind, shown[1][0].scopes.len()), (&SchemeKind::OAuth2, 2));
    assert_eq!(shown[1][1].kind, SchemeKind::Http("bearer".to_owned()));
    assert_eq!((&shown[2][0].kind, shown[3].len()), (&SchemeKind::Unknown, 0));
    assert_eq!(operation_with(json!({ "security": [] }), schemes.clone()).security, [Vec::new()]);
    assert!(operation_with(json!({}), schemes).security.is_empty());
}

#[test]
fn callbacks_and_response_headers_are_listed() {
    let operation = json!({
        "callbacks": { "onEvent": { "{$request.body#/url}": { "post": { "summary": "An event",
            "callbacks": { "again": { "/a": { "get": {} } } } } } } },
        "responses": { "200": { "description": "Fine", "headers": { "X-Rate": { "description": "A rate",
            "schema": { "type": "integer", "minimum": 0 } } } } } });
    let shown = operation_with(operation, json!({}));
    let [callback] = shown.callbacks.as_slice() else { panic!("{shown:?}") };
    assert_eq!((callback.name.as_str(), callback.method.as_str()), ("onEvent", "post"));
    assert_eq!(callback.address, "{$request.body#/url}");
    assert_eq!(callback.operation.callbacks[0].name, "again");
    assert!(callback.operation.summary.is_some());
    let header = &shown.responses[0].headers[0];
    assert_eq!((header.name.as_str(), header.schema.kind.as_str()), ("X-Rate", "integer"));
}

#[test]
fn forms_of_swagger_2_have_a_media_type_and_fields() {
    let operation = |consumes: Value| {
        let parameters = json!([{ "name": "name", "in": "formData", "type": "string", "required": true, "description": "A name" },
            { "name": "photo", "in": "formData", "type": "file" }]);
        let document = json!({ "swagger": "2.0", "produces": ["application/xml", "application/json"],
            "paths": { "/x": { "get": { "consumes": consumes, "parameters": parameters,
                "responses": { "200": { "schema": { "type": "string" }, "examples": { "text/plain": "Hi" } } } } } } });
        operation_of(&files(&[("openapi.json", document)]), &get("/x"))
    };
    let shown = operation(json!([]));
    let request = shown.request.expect("a request");
    assert_eq!((request.bodies[0].name.as_str(), request.required), ("multipart/form-data", true));
    let form: Vec<_> = request.bodies[0].form.iter().map(|of| (of.name.as_str(), of.is_file)).collect();
    assert_eq!(form, [("name", false), ("photo", true)]);
    let fields = request.bodies[0].schema.as_ref().map(|of| &of.fields).expect("a schema");
    assert_eq!((fields[0].schema.description.as_deref(), fields[0].required), (Some("A name"), true));
    let media: Vec<_> = shown.responses[0].bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(media, ["application/json", "application/xml", "text/plain"]);
    let named = operation(json!(["application/x-www-form-urlencoded"]));
    assert_eq!(
        named.request.map(|of| of.bodies[0].name.clone()).as_deref(),
        Some("application/x-www-form-urlencoded")
    );
}

#[test]
fn examples_beyond_the_total_of_an_operation_are_left_out() {
    let examples: serde_json::Map<_, _> =
        (0..20).map(|at| (format!("e{at}"), json!({ "value": "x".repeat(MAX_EXAMPLE / 2) }))).collect();
    let content = |at: usize| json!({ "content": { "text/plain": { "examples": { "a": { "$ref": format!("#/components/examples/e{}", at % 20) } } } } });
    let responses: serde_json::Map<_, _> = (0..40).map(|at| (format!("{}", 200 + at), content(at))).collect();
    let shown = operation_with(json!({ "responses": responses }), json!({ "examples": examples }));
    let count = shown.responses.iter().flat_map(|of| &of.bodies).map(|of| of.examples.len()).sum::<usize>();
    assert_eq!((count, shown.is_cut), (MAX_EXAMPLES / (MAX_EXAMPLE / 2), true));
}

#[test]
fn values_servers_and_generated_examples_are_bounded() {
    let fields: serde_json::Map<_, _> =
        (0..100).map(|at| (format!("f{at}"), json!({ "type": "integer" }))).collect();
    let (_, example) = shown_schema(json!({ "properties": fields }), json!({}));
    assert_eq!(example.as_object().map(serde_json::Map::len), Some(example::MAX_EXAMPLE_FIELDS));
    let list = json!({ "type": "array", "minItems": 1_000_000_000_000_u64, "items": { "type": "string", "minLength": u64::MAX } });
    let (_, example) = shown_schema(list, json!({}));
    assert_eq!(
        example.as_array().map(Vec::len),
        Some(usize::try_from(example::MAX_EXAMPLE_ITEMS).expect("a length"))
    );
    assert_eq!(
        example[0].as_str().map(str::len),
        Some(usize::try_from(example::MAX_EXAMPLE_TEXT).expect("a length"))
    );
    let (shown, _) = shown_schema(json!({ "type": "x".repeat(500), "default": "ä".repeat(500) }), json!({}));
    assert_eq!(shown.kind.len(), schema::MAX_KIND);
    assert_eq!(shown.default.map(|text| text.chars().count()), Some(reader::MAX_LINE));
    let servers: Vec<_> = (0..100).map(|at| json!({ "url": format!("https://{at}.test") })).collect();
    assert_eq!(operation_with(json!({ "servers": servers }), json!({})).servers.len(), service::MAX_SERVERS);
}

/// The number of schemas in a schema.
fn count_schemas(of: &SchemaDetail) -> usize {
    let alternatives = of.choices.iter().flat_map(|choice| &choice.alternatives).map(|of| &of.schema);
    let children = of.fields.iter().map(|field| &field.schema).chain(alternatives).chain(of.items.as_deref());
    1 + children.map(count_schemas).sum::<usize>()
}

#[test]
fn alternatives_within_alternatives_are_bounded() {
    let all: Vec<Value> =
        (0..30).map(|at| json!({ "$ref": format!("#/components/schemas/S{at}") })).collect();
    let untitled: Vec<Value> = (0..30).map(|at| json!({ "minLength": at, "oneOf": all })).collect();
    let schema = json!({ "oneOf": all, "anyOf": untitled, "items": { "oneOf": untitled } });
    let schemas: serde_json::Map<_, _> = (0..30).map(|at| (format!("S{at}"), schema.clone())).collect();
    let (shown, _) = shown_schema(schema, json!({ "schemas": schemas }));
    let count = count_schemas(&shown);
    assert!((100..=2 * MAX_SCHEMAS).contains(&count), "{count}");
}
