//! Alternatives that a discriminator selects.

use super::*;

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A schema that extends another one by a field.
fn extending(base: &str, field: &str) -> Value {
    json!({ "allOf": [reference(base), { "type": "object", "properties": { field: { "type": "string" } } }] })
}

/// The titles and values of the alternatives of a schema.
fn alternatives(shown: &SchemaDetail) -> Vec<(&str, &str)> {
    let all = shown.choices.iter().flat_map(|choice| &choice.alternatives);
    all.map(|of| (of.title.as_str(), of.value.as_deref().unwrap_or_default())).collect()
}

fn pets() -> Value {
    let mapping = json!({ "cat": "#/components/schemas/Cat", "dog": "Dog", "pet": "Pet" });
    json!({ "Pet": { "type": "object", "properties": { "kind": { "type": "string" } },
            "discriminator": { "propertyName": "kind", "mapping": mapping } },
        "Cat": extending("Pet", "lives"), "Dog": extending("Pet", "pack"),
        "Plain": { "allOf": [reference("Pet")] },
        "PetOrNull": { "oneOf": [{ "type": "null" }, reference("Pet")] } })
}

#[test]
fn wrappers_have_the_alternatives_of_their_schema() {
    let pet = reference("Pet");
    for wrapper in [
        pet.clone(),
        json!({ "allOf": [pet] }),
        json!({ "description": "Mine", "allOf": [pet] }),
        json!({ "allOf": [{ "description": "Mine", "title": "Pet" }, pet] }),
        json!({ "oneOf": [pet] }),
        json!({ "anyOf": [pet, { "type": "null" }] }),
        reference("Plain"),
        reference("PetOrNull"),
        json!({ "allOf": [{ "allOf": [reference("PetOrNull")] }] }),
    ] {
        let (shown, example) = shown_schema(wrapper.clone(), json!({ "schemas": pets() }));
        assert_eq!(alternatives(&shown), [("Cat", "cat"), ("Dog", "dog")], "{wrapper}");
        let fields = shown_fields(&shown.choices[0].alternatives[1].schema);
        assert_eq!(fields.iter().map(|of| of.1).collect::<Vec<_>>(), ["kind", "pack"], "{wrapper}");
        assert_eq!(example, json!({ "kind": "cat", "lives": "text" }), "{wrapper}");
    }
}

#[test]
fn extending_schemas_have_no_alternatives() {
    let mut schemas = pets();
    schemas["Dog"] = json!({ "allOf": [reference("Pet"), { "description": "Barks" }] });
    for (schema, fields) in [
        (reference("Cat"), 2),
        (json!({ "allOf": [reference("Cat")] }), 2),
        (json!({ "allOf": [reference("Pet"), { "properties": { "more": {} } }] }), 2),
        (reference("Dog"), 1),
        (json!({ "anyOf": [reference("Dog"), { "type": "null" }] }), 1),
    ] {
        let (shown, _) = shown_schema(schema.clone(), json!({ "schemas": schemas }));
        assert_eq!((alternatives(&shown), shown.fields.len()), (Vec::new(), fields), "{schema}");
    }
    let (shown, example) = shown_schema(reference("Pet"), json!({ "schemas": schemas }));
    assert_eq!(alternatives(&shown), [("Cat", "cat"), ("Dog", "dog")]);
    let dog = &shown.choices[0].alternatives[1].schema;
    assert_eq!((dog.is_recursive, dog.fields.len(), dog.description.as_deref()), (false, 1, Some("Barks")));
    assert_eq!(example["kind"], "cat");
}

#[test]
fn discriminator_without_mapping_selects_extending_schemas() {
    let base = json!({ "type": "object", "properties": { "kind": { "type": "string" } },
        "discriminator": { "propertyName": "kind" } });
    let schemas = json!({ "Base": base, "Zebra": extending("Base", "stripes"), "Ant": extending("Base", "legs"),
        "Foal": extending("Zebra", "age"), "Other": extending("None", "x"), "All": { "allOf": true }, "Any": true });
    // The text keeps the order of the fields.
    let text = r##"{"openapi":"3.1.0","paths":{},"components":{"schemas":{"Base":BASE,"Zebra":ZEBRA,"Ant":ANT,
        "Foal":FOAL,"Other":OTHER,"All":{"allOf":true},"Any":true}}}"##;
    let text = ["Base", "Zebra", "Ant", "Foal", "Other"]
        .into_iter()
        .fold(text.to_owned(), |text, name| text.replace(&name.to_uppercase(), &schemas[name].to_string()));
    let files = format!("{{\"openapi.json\":{{\"isEntrypoint\":true,\"specification\":{text}}}}}");
    let shown = |name: &str| match one(files.as_bytes(), &SpecSubject::Schema(name.to_owned())) {
        Some(SpecDetail::Schema(body)) => body.schema.expect("a schema"),
        other => panic!("{other:?}"),
    };
    assert_eq!(alternatives(&shown("Base")), [("Zebra", "Zebra"), ("Ant", "Ant"), ("Foal", "Foal")]);
    for name in ["Zebra", "Ant", "Foal", "Other"] {
        assert_eq!(alternatives(&shown(name)), [], "{name}");
    }
    let inline = json!({ "allOf": [{ "description": "Any" }, reference("Base")] });
    let (shown, _) = shown_schema(inline, json!({ "schemas": schemas }));
    assert_eq!(alternatives(&shown).len(), 3);
}

#[test]
fn swagger_2_discriminator_selects_extending_schemas() {
    let base =
        json!({ "type": "object", "discriminator": "kind", "properties": { "kind": { "type": "string" } } });
    let cat = json!({ "allOf": [{ "$ref": "#/definitions/Pet" }, { "properties": { "lives": { "type": "integer" } } }] });
    let document = json!({ "swagger": "2.0", "paths": { "/x": { "get": { "responses": { "200": {
        "schema": { "allOf": [{ "$ref": "#/definitions/Pet" }] } } } } } },
        "definitions": { "Pet": base, "Cat~1/%": cat } });
    let shown = operation_of(&files(&[("openapi.json", document)]), &get("/x"));
    let schema = shown.responses[0].bodies[0].schema.as_ref().expect("a schema");
    let values: Vec<_> = alternatives(schema).into_iter().map(|(_, value)| value).collect();
    assert_eq!(values, ["Cat~1/%"]);
    assert_eq!(shown_fields(&schema.choices[0].alternatives[0].schema)[1].1, "lives");
}

#[test]
fn extending_schemas_of_a_discriminator_are_bounded() {
    let base = json!({ "type": "object", "properties": { "kind": {} }, "discriminator": { "propertyName": "kind" } });
    for (count, shown_count) in
        [(MAX_VALUES - 1, MAX_VALUES - 1), (MAX_VALUES, MAX_VALUES), (1_000, MAX_VALUES)]
    {
        let mut schemas: serde_json::Map<_, _> =
            (0..count).map(|at| (format!("S{at}"), extending("Base", "more"))).collect();
        schemas.insert("Base".to_owned(), base.clone());
        let (shown, _) = shown_schema(reference("Base"), json!({ "schemas": schemas }));
        assert_eq!(alternatives(&shown).len(), shown_count);
    }
    // Schemas that extend each other end.
    let schemas = json!({ "Base": { "allOf": [reference("Cat")], "discriminator": { "propertyName": "kind" } },
        "Cat": extending("Base", "lives") });
    let (shown, _) = shown_schema(reference("Base"), json!({ "schemas": schemas }));
    assert!(alternatives(&shown).len() <= 1);
}
