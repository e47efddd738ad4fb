//! Fields that only requests or only responses contain, and the fields of forms.

use super::*;

/// The names of the fields of a body and of its example.
fn names_of(body: &BodyDetail) -> (Vec<String>, Vec<String>) {
    let schema = body.schema.as_ref().expect("a schema");
    let fields = shown_fields(schema).iter().map(|field| field.1.to_owned()).collect();
    let example: Value = serde_json::from_str(&body.examples[0].value).expect("JSON");
    (fields, example.as_object().expect("an object").keys().cloned().collect())
}

#[test]
fn bodies_have_the_fields_of_their_direction() {
    let text = |mark: &str| json!({ "type": "string", mark: true });
    let fields = json!({ "id": text("readOnly"), "name": text("x-none"), "pin": text("writeOnly") });
    let object = json!({ "type": "object", "required": ["id", "pin"], "properties": fields });
    let reference = json!({ "$ref": "#/components/schemas/User" });
    for schema in [
        object.clone(),
        reference.clone(),
        json!({ "allOf": [reference] }),
        json!({ "oneOf": [reference, { "type": "null" }] }),
        json!({ "allOf": [reference, { "description": "A user" }], "required": ["name"] }),
    ] {
        let content = json!({ "content": { "application/json": { "schema": schema } } });
        let called = json!({ "requestBody": content, "responses": { "200": content } });
        let callbacks = json!({ "done": { "{$request.body#/url}": { "post": called } } });
        let mut operation = called.clone();
        operation["callbacks"] = callbacks;
        let document = json!({ "openapi": "3.1.0", "paths": { "/x": { "get": operation } },
            "webhooks": { "w": { "post": called } }, "components": { "schemas": { "User": object } } });
        let files = files(&[("openapi.json", document)]);
        let (received, sent) = (["name", "pin"], ["id", "name"]);
        let directions = |shown: &OperationDetail| {
            let request = names_of(&shown.request.as_ref().expect("a request").bodies[0]);
            [request, names_of(&shown.responses[0].bodies[0])]
        };
        let both = |names: [&str; 2]| (names.map(str::to_owned).to_vec(), names.map(str::to_owned).to_vec());
        let shown = operation_of(&files, &get("/x"));
        assert_eq!(directions(&shown), [both(received), both(sent)], "{schema}");
        // The service sends the request of a callback or webhook, and receives the response.
        assert_eq!(directions(&shown.callbacks[0].operation), [both(sent), both(received)], "{schema}");
        let webhook = SpecSubject::Webhook { method: "post".to_owned(), name: "w".to_owned() };
        assert_eq!(directions(&operation_of(&files, &webhook)), [both(sent), both(received)], "{schema}");
        let named = one(&files, &SpecSubject::Schema("User".to_owned()));
        let Some(SpecDetail::Schema(named)) = named else { panic!("{named:?}") };
        assert_eq!(names_of(&named).0, ["id", "name", "pin"]);
    }
}

#[test]
fn fields_within_lists_and_alternatives_have_the_direction() {
    let user = json!({ "title": "User", "type": "object",
        "properties": { "id": { "type": "string", "readOnly": true }, "name": { "type": "string" } } });
    let other = json!({ "title": "Other", "type": "object", "properties": { "x": { "type": "string" } } });
    for schema in [
        json!({ "type": "array", "items": user }),
        json!({ "oneOf": [user, other] }),
        json!({ "type": "object", "properties": { "inner": user } }),
        json!({ "type": "object", "additionalProperties": user }),
        json!({ "type": "array", "prefixItems": [user] }),
    ] {
        let content = json!({ "content": { "application/json": { "schema": schema } } });
        let shown =
            operation_with(json!({ "requestBody": content, "responses": { "200": content } }), json!({}));
        let all = |body: &BodyDetail| format!("{:?}", body.schema).matches("Exact(\"id\")").count();
        let request = all(&shown.request.expect("a request").bodies[0]);
        assert_eq!((request, all(&shown.responses[0].bodies[0])), (0, 1), "{schema}");
    }
}

#[test]
fn generated_examples_lack_optional_deprecated_fields() {
    let old = json!({ "$ref": "#/components/schemas/Old" });
    for (field, is_required, is_sent) in [
        (json!({ "type": "string", "deprecated": true }), false, false),
        (json!({ "type": "string", "deprecated": true, "example": "x" }), false, false),
        (json!({ "allOf": [old], "description": "An old one" }), false, false),
        (json!({ "type": "string", "deprecated": true }), true, true),
        (json!({ "type": "string", "deprecated": false }), false, true),
        (json!({ "type": "object", "properties": { "in": old } }), false, true),
    ] {
        let required = if is_required { json!(["old"]) } else { json!([]) };
        let schema = json!({ "type": "object", "required": required, "properties": { "new": { "type": "integer" }, "old": field } });
        let components = json!({ "schemas": { "Old": { "type": "string", "deprecated": true } } });
        let (shown, example) = shown_schema(schema, components);
        assert_eq!((shown.fields.len(), example.get("old").is_some()), (2, is_sent), "{field}");
        assert_eq!(example["new"], 0);
    }
}

#[test]
fn forms_with_an_example_that_is_no_object_have_fields() {
    let schema = json!({ "type": "object", "properties": {
        "file": { "type": "string", "format": "binary" }, "name": { "type": "string" } } });
    for name in ["multipart/form-data", "application/x-www-form-urlencoded"] {
        for (example, fields) in [
            (json!(["a", "b"]), ["file", "name"]),
            (json!("raw text"), ["file", "name"]),
            (json!(7), ["file", "name"]),
            (json!({ "name": "Rex", "more": 1 }), ["more", "name"]),
        ] {
            let content = json!({ name: { "schema": schema, "example": example } });
            let shown = operation_with(json!({ "requestBody": { "content": content } }), json!({}));
            let body = &shown.request.expect("a request").bodies[0];
            let form: Vec<_> = body.form.iter().map(|field| field.name.as_str()).collect();
            assert_eq!(form, fields, "{name} {example}");
            assert_eq!(body.examples.len(), 1, "the example is listed");
        }
    }
}
