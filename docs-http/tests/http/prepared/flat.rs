//! Flattens recursive schemas of request bodies, because body generators do not terminate on a tree of forty kinds of
//! nested blocks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

const SCHEMAS: &str = "#/components/schemas/";

/// Limits recursion in request bodies to one level. Responses are unchanged.
pub(super) fn flatten_requests(document: &mut Value) {
    let Some(schemas) = document["components"]["schemas"].as_object().cloned() else { return };
    let mut flat = Flat { below: reached(&schemas), schemas, made: BTreeMap::new() };
    let paths = document["paths"].as_object_mut().expect("paths");
    let operations = paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut);
    for body in operations.filter_map(|operation| operation.get_mut("requestBody")) {
        *body = flat.copy(body, 1).expect("a body");
    }
    let all = document["components"]["schemas"].as_object_mut().expect("schemas");
    all.extend(flat.made.into_iter().map(|(name, schema)| (name, schema.expect("a schema that is used"))));
}

/// Returns the recursive schemas of request bodies.
pub(super) fn endless_requests(document: &Value) -> BTreeSet<String> {
    let below = reached(document["components"]["schemas"].as_object().expect("schemas"));
    let paths = document["paths"].as_object().expect("paths");
    let mut asked = BTreeSet::new();
    for operation in paths.values().filter_map(Value::as_object).flat_map(Map::values) {
        named(&operation["requestBody"], &mut asked);
    }
    let all: BTreeSet<&String> = asked.iter().flat_map(|name| below[name].iter().chain([name])).collect();
    all.into_iter().filter(|name| below[*name].contains(*name)).cloned().collect()
}

/// Returns the names of the schemas that each schema references, directly or indirectly.
fn reached(schemas: &Map<String, Value>) -> BTreeMap<String, BTreeSet<String>> {
    let direct: BTreeMap<&str, BTreeSet<String>> = schemas
        .iter()
        .map(|(name, schema)| {
            let mut found = BTreeSet::new();
            named(schema, &mut found);
            (name.as_str(), found)
        })
        .collect();
    let all = |name: &str| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![name.to_owned()]);
        while let Some(next) = left.pop() {
            for found in direct.get(next.as_str()).into_iter().flatten() {
                if seen.insert(found.clone()) {
                    left.push(found.clone());
                }
            }
        }
        seen
    };
    schemas.keys().map(|name| (name.clone(), all(name))).collect()
}

fn named(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            found.extend(reference(object).map(str::to_owned));
            object.values().for_each(|value| named(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| named(item, found)),
        _ => {}
    }
}

fn reference(object: &Map<String, Value>) -> Option<&str> {
    object.get("$ref")?.as_str()?.strip_prefix(SCHEMAS)
}

struct Flat {
    schemas: Map<String, Value>,
    below: BTreeMap<String, BTreeSet<String>>,
    /// Copies by name. `None` while a copy is being created.
    made: BTreeMap<String, Option<Value>>,
}

impl Flat {
    fn is_below_itself(&self, name: &str) -> bool {
        self.below[name].contains(name)
    }

    /// Returns the schema limited to this number of recursion levels, or `None` if nothing remains.
    fn copy(&mut self, schema: &Value, levels: usize) -> Option<Value> {
        match schema {
            Value::Object(object) => match reference(object) {
                Some(name) => self.refer(name, levels),
                None => Some(self.copy_object(object, levels)),
            },
            Value::Array(items) => Some(items.iter().filter_map(|item| self.copy(item, levels)).collect()),
            other => Some(other.clone()),
        }
    }

    fn copy_object(&mut self, object: &Map<String, Value>, levels: usize) -> Value {
        let mut copy = Map::new();
        for (key, value) in object {
            match (key.as_str(), self.copy(value, levels)) {
                (_, Some(value)) => drop(copy.insert(key.clone(), value)),
                ("items", None) => return json!({ "type": "array", "items": {}, "maxItems": 0 }),
                ("additionalProperties", None) => drop(copy.insert(key.clone(), Value::Bool(false))),
                (_, None) => {}
            }
        }
        copy.into()
    }

    fn refer(&mut self, name: &str, levels: usize) -> Option<Value> {
        let levels = match (self.is_below_itself(name), levels) {
            (true, 0) => return None,
            (true, _) => levels - 1,
            (false, _) if self.below[name].iter().any(|below| self.is_below_itself(below)) => levels,
            (false, _) => return Some(json!({ "$ref": format!("{SCHEMAS}{name}") })),
        };
        let copy = format!("{name}Of{levels}");
        if !self.made.contains_key(&copy) {
            self.made.insert(copy.clone(), None);
            let schema = self.schemas[name].clone();
            let made = self.copy(&schema, levels);
            self.made.insert(copy.clone(), made);
        }
        Some(json!({ "$ref": format!("{SCHEMAS}{copy}") }))
    }
}
