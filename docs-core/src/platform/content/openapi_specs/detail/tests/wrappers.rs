//! Schemas that only wrap another one: recursion, marks and names.

use super::*;

/// Returns the number of nested objects and lists of a value.
fn depth_of(value: &Value) -> usize {
    let children: Vec<&Value> = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => return 0,
    };
    1 + children.into_iter().map(depth_of).max().unwrap_or(0)
}

#[test]
fn wrapped_references_to_an_enclosing_schema_are_recursive() {
    let node = json!({ "$ref": "#/components/schemas/Node" });
    let nothing = json!({ "type": "null" });
    for wrapper in [
        node.clone(),
        json!({ "$ref": "#/components/schemas/Node", "description": "The parent" }),
        json!({ "allOf": [node] }),
        json!({ "description": "The parent", "allOf": [node] }),
        json!({ "allOf": [{ "description": "The parent", "readOnly": false }, node] }),
        json!({ "allOf": [node, { "nullable": true }] }),
        json!({ "type": "object", "nullable": true, "oneOf": [node] }),
        json!({ "anyOf": [node, nothing] }),
        json!({ "oneOf": [nothing, node], "title": "Parent" }),
        json!({ "anyOf": [{ "allOf": [{ "oneOf": [node] }] }, nothing] }),
        json!({ "$ref": "#/components/schemas/NullableOfNode" }),
        json!({ "allOf": [{ "$ref": "#/components/schemas/NullableOfNode" }] }),
        json!({ "allOf": [node], "required": ["name"] }),
    ] {
        let fields = json!({ "name": { "type": "string" }, "parent": wrapper });
        let schemas = json!({ "Node": { "type": "object", "properties": fields },
            "NullableOfNode": { "oneOf": [nothing, node] } });
        let (shown, example) = shown_schema(node.clone(), json!({ "schemas": schemas }));
        let names: Vec<_> = shown_fields(&shown).iter().map(|field| (field.0, field.1)).collect();
        assert_eq!(names, [(0, "name"), (0, "parent")], "{wrapper}");
        assert!(shown.fields[1].schema.is_recursive, "{wrapper}");
        assert_eq!(example, json!({ "name": "text" }), "{wrapper}");
    }
}

#[test]
fn wrapped_items_of_an_enclosing_schema_are_recursive() {
    let node = json!({ "$ref": "#/components/schemas/Node" });
    for items in [
        json!({ "allOf": [node] }),
        json!({ "anyOf": [node, { "type": "null" }] }),
        json!({ "description": "A child", "allOf": [{ "title": "Child" }, node] }),
    ] {
        let kids = json!({ "type": "array", "items": items });
        let schemas = json!({ "Node": { "type": "object", "properties": { "kids": kids } } });
        let (shown, example) = shown_schema(node.clone(), json!({ "schemas": schemas }));
        let kids = shown.fields[0].schema.items.as_ref().expect("items");
        assert!(kids.is_recursive && kids.fields.is_empty(), "{items}");
        assert_eq!(depth_of(&example), 2, "{items}: {example}");
    }
}

#[test]
fn schemas_with_own_fields_are_no_wrappers() {
    let base = json!({ "$ref": "#/components/schemas/Base" });
    let more = json!({ "properties": { "more": { "type": "string" } } });
    for schema in [
        json!({ "allOf": [base, more] }),
        json!({ "allOf": [base], "properties": more["properties"] }),
        json!({ "allOf": [base], "oneOf": [more, { "title": "Other", "minProperties": 1 }] }),
    ] {
        let schemas =
            json!({ "Base": { "type": "object", "readOnly": true, "properties": { "child": schema } } });
        let (shown, _) = shown_schema(base.clone(), json!({ "schemas": schemas }));
        let child = &shown.fields[0].schema;
        assert!(!child.is_recursive && !child.read_only && !child.fields.is_empty(), "{schema}");
    }
}

#[test]
fn marks_of_wrapped_schemas_apply() {
    let id = json!({ "$ref": "#/components/schemas/Id" });
    for wrapper in [
        id.clone(),
        json!({ "allOf": [id], "description": "The id" }),
        json!({ "allOf": [{ "description": "The id" }, id] }),
        json!({ "oneOf": [id] }),
        json!({ "anyOf": [id, { "type": "null" }] }),
        json!({ "allOf": [{ "allOf": [id] }] }),
        json!({ "$ref": "#/components/schemas/Alias" }),
    ] {
        let mark = |name: &str| {
            let schemas = json!({ "Id": { "type": "integer", name: true }, "Alias": { "allOf": [id] } });
            let object = json!({ "type": "object", "properties": { "id": wrapper } });
            let (shown, _) = shown_schema(object, json!({ "schemas": schemas }));
            shown.fields[0].schema.clone()
        };
        assert!(mark("readOnly").read_only, "{wrapper}");
        assert!(mark("deprecated").deprecated, "{wrapper}");
        assert!(mark("nullable").kind.ends_with(" or null"), "{wrapper}");
        assert!(!mark("x-other").read_only, "{wrapper}");
    }
}

#[test]
fn read_only_fields_behind_wrappers_are_not_sent() {
    let id = json!({ "$ref": "#/components/schemas/Id" });
    for wrapper in [json!({ "allOf": [id], "description": "The id" }), json!({ "oneOf": [id] })] {
        let body = json!({ "type": "object", "properties": { "id": wrapper, "name": { "type": "string" } } });
        let content = json!({ "application/json": { "schema": body } });
        let schemas = json!({ "schemas": { "Id": { "type": "integer", "readOnly": true } } });
        let shown = operation_with(json!({ "requestBody": { "content": content } }), schemas);
        let body = &shown.request.expect("a request").bodies[0];
        let fields = body.schema.as_ref().map(|schema| schema.fields.len());
        assert_eq!(fields, Some(1), "{wrapper}");
        let example = &body.examples[0].value;
        assert_eq!(serde_json::from_str::<Value>(example).expect("JSON"), json!({ "name": "text" }));
    }
}

#[test]
fn wrappers_have_their_own_titles_and_descriptions() {
    let pet = json!({ "$ref": "#/components/schemas/Pet" });
    for (schema, title, description) in [
        (pet.clone(), "An animal", "Any pet"),
        (json!({ "allOf": [pet] }), "An animal", "Any pet"),
        (json!({ "allOf": [pet, { "description": "My pet" }] }), "An animal", "My pet"),
        (json!({ "allOf": [{ "title": "Mine" }, pet], "description": "My pet" }), "Mine", "My pet"),
        (json!({ "$ref": "#/components/schemas/NewPet" }), "NewPet", "Any pet"),
        (
            json!({ "anyOf": [{ "$ref": "#/components/schemas/NewPet" }, { "type": "null" }] }),
            "NewPet",
            "Any pet",
        ),
    ] {
        let schemas = json!({ "Pet": { "type": "object", "title": "An animal", "description": "Any pet",
            "properties": { "name": { "type": "string" } } }, "NewPet": { "allOf": [pet] } });
        let (shown, _) = shown_schema(schema.clone(), json!({ "schemas": schemas }));
        let texts = (shown.title.as_deref(), shown.description.as_deref());
        assert_eq!(texts, (Some(title), Some(description)), "{schema}");
    }
}

#[test]
fn wrappers_around_themselves_and_many_levels_end() {
    let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let mut schemas = serde_json::Map::new();
    for at in 0..50 {
        schemas.insert(format!("L{at}"), json!({ "allOf": [reference(&format!("L{}", at + 1))] }));
    }
    schemas.insert("L50".to_owned(), json!({ "type": "object", "properties": { "a": {} } }));
    schemas.insert("Self".to_owned(), json!({ "allOf": [reference("Self")] }));
    schemas.insert("Ping".to_owned(), json!({ "oneOf": [reference("Pong"), { "type": "null" }] }));
    schemas.insert("Pong".to_owned(), json!({ "allOf": [{ "description": "x" }, reference("Ping")] }));
    for (name, fields) in [("L0", 0), ("L45", 1), ("Self", 0), ("Ping", 0)] {
        let (shown, _) = shown_schema(reference(name), json!({ "schemas": schemas }));
        assert_eq!(shown.fields.len(), fields, "{name}");
    }
}
