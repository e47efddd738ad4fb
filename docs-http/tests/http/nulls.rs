//! The server accepts `null` and omitted fields exactly as the document declares.

use serde_json::Value;

use crate::{contract::Contract, matrix::ready, refusals::World};

/// Fields that are rejected because of stored state, or of the value of another field, which their schemas do not
/// express.
const STATEFUL: [(&str, &str); 3] = [
    // A document of a page requires it; the schema of the published clients has one object for all kinds.
    ("getComputedDocument", "page"),
    // The default is the only space of the organization, which has several here.
    ("createTranslation", "source"),
    // A link that grants a role in the organization has no level.
    ("updateOrganizationInviteById", "level"),
];

/// Fields of document nodes that every response contains. They are implied by other fields, so a request may omit them
/// or set them to null.
const IMPLIED: [&str; 2] = ["data", "isVoid"];

/// Returns the operation with this id.
fn operation<'d>(document: &'d Value, id: &str) -> &'d Value {
    let paths = document["paths"].as_object().expect("paths").values();
    let mut operations = paths.flat_map(|operations| operations.as_object().expect("operations").values());
    operations.find(|operation| operation["operationId"] == id).expect("the operation")
}

/// Returns the given schemas and all schemas that they reference.
fn parts<'d>(document: &'d Value, schemas: &[&'d Value]) -> Vec<&'d Value> {
    let mut found: Vec<&Value> = Vec::new();
    let mut pending = schemas.to_vec();
    while let Some(schema) = pending.pop() {
        let place = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        let schema = place.map_or(schema, |place| document.pointer(place).expect("a schema"));
        if found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        for key in ["allOf", "anyOf", "oneOf"] {
            pending.extend(schema[key].as_array().into_iter().flatten());
        }
    }
    found
}

/// Collects the field locations in a value: a pointer to each object, and the field names in its schemas.
fn places(
    document: &Value,
    schemas: &[&Value],
    at: String,
    value: &Value,
    found: &mut Vec<(String, String)>,
) {
    let parts = parts(document, schemas);
    if let Value::Object(fields) = value {
        let mut names: Vec<&String> = parts
            .iter()
            .filter_map(|part| part["properties"].as_object())
            .flat_map(|all| all.keys())
            .collect();
        names.sort_unstable();
        names.dedup();
        found.extend(names.iter().map(|name| (at.clone(), (*name).clone())));
        for (name, value) in fields {
            let schemas: Vec<&Value> = parts.iter().filter_map(|part| part["properties"].get(name)).collect();
            places(document, &schemas, format!("{at}/{name}"), value, found);
        }
    }
    if let Some(first) = value.get(0) {
        let schemas: Vec<&Value> = parts.iter().filter_map(|part| part.get("items")).collect();
        places(document, &schemas, format!("{at}/0"), first, found);
    }
}

#[tokio::test]
async fn null_and_missing_fields_are_accepted_as_documented() {
    let w = World::new().await;
    let document = w.s.document;
    let contract = Contract::of(document);
    let saved = w.s.store.save();
    let (mut asked, mut wrong) = (0, Vec::new());
    for op in w.ops() {
        let Some(body) = op.body.clone() else { continue };
        // An uploaded file has no fields.
        if !op.takes_json {
            continue;
        }
        let schema = &operation(document, &op.id)["requestBody"]["content"]["application/json"]["schema"];
        let faults = contract.faults_of(schema, &body);
        assert!(faults.is_empty(), "{} takes {body}: {faults:?}", op.id);
        w.s.store.rewind(&saved);
        ready(&w, &op).await;
        let prepared = w.s.store.save();
        let mut found = Vec::new();
        places(document, &[schema], String::new(), &body, &mut found);
        for (at, name) in found {
            for change in [Some(Value::Null), None] {
                let mut other = op.clone();
                let mut changed = body.clone();
                let fields = changed.pointer_mut(&at).and_then(Value::as_object_mut).expect("an object");
                match change {
                    Some(null) => drop(fields.insert(name.clone(), null)),
                    None => drop(fields.remove(&name)),
                }
                let takes = contract.takes(schema, &changed);
                other.body = Some(changed);
                let answer = w.send(&other, &w.path(&other), Some(&w.may(&op))).await;
                let is_implied = at.contains("/nodes/") && IMPLIED.contains(&name.as_str());
                let is_excused = is_implied || STATEFUL.contains(&(op.id.as_str(), name.as_str()));
                if takes == (answer.status == 400) && !is_excused {
                    let body = other.body.unwrap_or_default();
                    wrong.push(format!("{} {at}/{name} {body}: {} {}", op.id, answer.status, answer.body));
                }
                if answer.status < 300 {
                    w.s.store.rewind(&prepared);
                }
                asked += 1;
            }
        }
    }
    assert!(asked > 500, "{asked}");
    assert!(wrong.is_empty(), "{} of {asked}: {wrong:#?}", wrong.len());
}
