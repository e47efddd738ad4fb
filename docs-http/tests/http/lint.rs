//! The served document conforms to the rules of document consumers and client generators: those of this project, and
//! those of the linter `@redocly/openapi-core`, installed with `npm install @redocly/openapi-core`.
//! `DOCS_TEST_NODE_MODULES` is the path of the `node_modules` folder.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Map, Value, json};

use crate::server::Server;

/// Rule violations with their locations.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, holds: bool, at: &str, rule: &str) {
        if !holds {
            self.0.push(format!("{at}: {rule}"));
        }
    }
}

fn has(value: &Value, key: &str) -> bool {
    value.get(key).is_some()
}

/// Checks a schema and its nested schemas, and records its references.
fn schema(at: &str, it: &Value, faults: &mut Faults, used: &mut BTreeSet<String>) {
    let Some(fields) = it.as_object() else {
        return faults.unless(false, at, "a schema is an object");
    };
    if let Some(reference) = it["$ref"].as_str() {
        faults.unless(fields.len() == 1, at, "`$ref` stands alone");
        used.insert(reference.to_owned());
        return;
    }
    faults.unless(!has(it, "nullable") || has(it, "type"), at, "`nullable` stands beside `type`");
    faults.unless(it["type"] != "array" || has(it, "items"), at, "a list has `items`");
    let values = it["enum"].as_array().map(Vec::as_slice).unwrap_or_default();
    faults.unless(!has(it, "enum") || !values.is_empty(), at, "an enumeration is not empty");
    let is_nullable = it["nullable"] == true;
    let fits = |value: &Value| match it["type"].as_str() {
        _ if value.is_null() => is_nullable,
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer" | "number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    faults.unless(values.iter().all(fits), at, "enumerated values are of the type");
    faults.unless(it.get("default").is_none_or(fits), at, "the default is of the type");
    let distinct: BTreeSet<String> = values.iter().map(Value::to_string).collect();
    faults.unless(distinct.len() == values.len(), at, "each value is there once");
    for (least, most) in [("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")] {
        let in_order = it[least].as_f64().zip(it[most].as_f64()).is_none_or(|(least, most)| least <= most);
        faults.unless(in_order, at, "the least is not above the most");
    }
    if it["type"] == "object" && !["allOf", "anyOf", "oneOf"].iter().any(|key| has(it, key)) {
        let required = it["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let known = required.iter().all(|name| has(&it["properties"], name.as_str().unwrap_or_default()));
        faults.unless(known, at, "what is required is described");
    }
    for (name, property) in it["properties"].as_object().into_iter().flatten() {
        schema(&format!("{at}.{name}"), property, faults, used);
    }
    for key in ["items", "additionalProperties"] {
        // `additionalProperties` may be a boolean.
        if let Some(part) = it.get(key).filter(|part| key == "items" || !part.is_boolean()) {
            schema(&format!("{at}.{key}"), part, faults, used);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (n, part) in it[key].as_array().into_iter().flatten().enumerate() {
            schema(&format!("{at}.{key}[{n}]"), part, faults, used);
        }
    }
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().expect("paths").iter();
    paths.flat_map(|(path, operations)| {
        let operations = operations.as_object().expect("operations").iter();
        operations.map(move |(method, operation)| (path, method, operation))
    })
}

/// Checks the texts of an operation.
fn words(at: &str, operation: &Value, tags: &BTreeSet<&str>, faults: &mut Faults) {
    for key in ["operationId", "summary", "description"] {
        let text = operation[key].as_str().unwrap_or_default();
        faults.unless(!text.trim().is_empty() && text.trim() == text, at, &format!("has `{key}`"));
    }
    let its_tags = operation["tags"].as_array().map(Vec::as_slice).unwrap_or_default();
    let are_known = its_tags.iter().all(|tag| tags.contains(tag.as_str().unwrap_or_default()));
    faults.unless(!its_tags.is_empty() && are_known, at, "its tags are declared");
}

fn parameters(at: &str, path: &str, operation: &Value, faults: &mut Faults) {
    let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut seen = BTreeSet::new();
    for parameter in parameters {
        let (name, place) = (parameter["name"].as_str().unwrap_or_default(), &parameter["in"]);
        faults.unless(seen.insert((name, place.to_string())), at, "each parameter is there once");
        if place == "path" {
            faults.unless(parameter["required"] == true, at, "parameters of the path are required");
            faults.unless(path.contains(&format!("{{{name}}}")), at, "parameters of the path are in it");
        }
    }
    let named = path.matches('{').count();
    let declared = parameters.iter().filter(|parameter| parameter["in"] == "path").count();
    faults.unless(named == declared, at, "all parameters of the path are declared");
}

#[tokio::test]
async fn openapi_document_follows_lint_rules() {
    let document = Server::new().await.document;
    let (mut faults, mut used) = (Faults::default(), BTreeSet::new());
    let tags = document["tags"].as_array().expect("tags").iter();
    let tags: BTreeSet<&str> = tags.filter_map(|tag| tag["name"].as_str()).collect();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(document) {
        let at = format!("{method} {path}");
        faults.unless(ids.insert(operation["operationId"].to_string()), &at, "its id is its own");
        words(&at, operation, &tags, &mut faults);
        parameters(&at, path, operation, &mut faults);
        let responses = operation["responses"].as_object().expect("responses");
        faults.unless(responses.keys().any(|status| status.starts_with('2')), &at, "it can be done");
        for (status, response) in responses.iter().filter(|(status, _)| status.as_str() >= "400") {
            faults.unless(has(response, "$ref"), &format!("{at} {status}"), "a failure is told once for all");
        }
        let bodies = responses
            .values()
            .chain(operation.get("requestBody"))
            .chain(operation["parameters"].as_array().into_iter().flatten());
        for body in bodies {
            used.extend(body["$ref"].as_str().map(str::to_owned));
            let media = body["content"].as_object().into_iter().flat_map(Map::values);
            for holder in media.chain([body]).filter(|holder| has(holder, "schema")) {
                schema(&at, &holder["schema"], &mut faults, &mut used);
            }
        }
    }
    for (name, response) in document["components"]["responses"].as_object().expect("responses") {
        for media in response["content"].as_object().into_iter().flat_map(Map::values) {
            schema(name, &media["schema"], &mut faults, &mut used);
        }
    }
    for (name, it) in document["components"]["schemas"].as_object().expect("schemas") {
        schema(name, it, &mut faults, &mut used);
        faults.unless(it["description"].is_string() || has(it, "allOf"), name, "a schema says what it is");
    }
    for kind in ["schemas", "responses"] {
        for name in document["components"][kind].as_object().expect("components").keys() {
            faults.unless(used.contains(&format!("#/components/{kind}/{name}")), name, "a component is used");
        }
    }
    for reference in &used {
        let leads = reference.strip_prefix('#').is_some_and(|place| document.pointer(place).is_some());
        faults.unless(leads, reference, "a reference leads somewhere");
    }
    assert!(faults.0.is_empty(), "{:#?}", faults.0);
}

#[test]
fn lint_detects_schema_rule_violations() {
    for (wrong, rule) in [
        (json!({ "$ref": "#/components/schemas/A", "nullable": true }), "`$ref` stands alone"),
        (json!({ "nullable": true, "allOf": [] }), "`nullable` stands beside `type`"),
        (json!({ "type": "array" }), "a list has `items`"),
        (json!({ "type": "string", "enum": ["a", null] }), "enumerated values are of the type"),
        (json!({ "type": "string", "enum": ["a", "a"] }), "each value is there once"),
        (json!({ "type": "integer", "default": "1" }), "the default is of the type"),
        (json!({ "type": "object", "required": ["a"] }), "what is required is described"),
        (json!({ "properties": { "a": { "type": "array" } } }), "a list has `items`"),
        (json!({ "anyOf": [{ "minLength": 2, "maxLength": 1 }] }), "the least is not above the most"),
    ] {
        let mut faults = Faults::default();
        schema("it", &wrong, &mut faults, &mut BTreeSet::new());
        assert_eq!(faults.0.len(), 1, "{wrong}: {:?}", faults.0);
        assert!(faults.0[0].ends_with(rule), "{wrong}: {:?}", faults.0);
    }
}

/// Collects the patterns of the strings in a schema and its nested schemas. Each reference is visited once.
fn patterns<'d>(
    document: &'d Value,
    at: &str,
    it: &'d Value,
    seen: &mut BTreeSet<&'d str>,
    found: &mut BTreeMap<&'d str, usize>,
) {
    if let Some(reference) = it["$ref"].as_str() {
        if seen.insert(reference) {
            let there = document.pointer(&reference[1..]).expect("what is referred to is there");
            patterns(document, reference, there, seen, found);
        }
        return;
    }
    // The pattern may be in another branch of an `allOf`.
    let is_text = it["type"] == "string" && !has(it, "enum");
    if is_text && !matches!(it["format"].as_str(), Some("date-time" | "binary")) {
        let pattern = it["pattern"].as_str().unwrap_or_else(|| panic!("{at}: {it} has a pattern"));
        *found.entry(pattern).or_default() += 1;
    }
    let fields = it["properties"].as_object().into_iter().flat_map(Map::values);
    let parts = ["items", "additionalProperties"].iter().filter_map(|key| it.get(key));
    let kinds = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| it[key].as_array()).flatten();
    for part in fields.chain(parts.filter(|part| part.is_object())).chain(kinds) {
        patterns(document, at, part, seen, found);
    }
}

#[tokio::test]
async fn request_string_patterns_exclude_nul() {
    let document = Server::new().await.document;
    let (mut seen, mut found) = (BTreeSet::new(), BTreeMap::new());
    for (path, method, operation) in operations(document) {
        let at = format!("{method} {path}");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            patterns(document, &at, &parameter["schema"], &mut seen, &mut found);
        }
        let body = &operation["requestBody"]["content"]["application/json"];
        if let Some(schema) = body.get("schema") {
            patterns(document, &at, schema, &mut seen, &mut found);
        }
    }
    assert!(found.contains_key("^[A-Za-z0-9_-]+$"), "cursors: {found:?}");
    assert!(found.values().sum::<usize>() > 300 && seen.len() > 50, "{found:?}");
    for pattern in found.keys() {
        let rule = jsonschema::validator_for(&json!({ "pattern": pattern })).expect("a schema");
        for text in ["\0", "a\0b", "\0a", "https://a.example/\0"] {
            assert!(!rule.is_valid(&json!(text)), "{pattern} takes {text:?}");
        }
    }
}

/// Prints the linter's errors, one per line, and a final line.
const LINT: &str = r##"
const { createConfig, lintFromString } = require('@redocly/openapi-core');
const source = require('fs').readFileSync(0, 'utf8');
createConfig({ extends: ['recommended'] })
    .then((config) => lintFromString({ source, absoluteRef: 'openapi.json', config }))
    .then((problems) => {
        for (const { ruleId, severity, message, location } of problems) {
            if (severity === 'error') console.log(ruleId, location[0]?.pointer, message.replaceAll('\n', ' '));
        }
        console.log('linted');
    });
"##;

/// Returns the linter's errors, or `None` if it is not installed.
fn linted(document: &Value) -> Option<Vec<String>> {
    let folder = std::env::var_os("DOCS_TEST_NODE_MODULES").map(PathBuf::from);
    let Some(folder) = folder.filter(|folder| folder.join("@redocly/openapi-core").is_dir()) else {
        assert!(std::env::var_os("DOCS_TEST_NO_SKIP").is_none(), "@redocly/openapi-core is not installed");
        println!("skipped: @redocly/openapi-core is not in the folder that DOCS_TEST_NODE_MODULES names");
        return None;
    };
    let mut node = Command::new("node");
    node.args(["-e", LINT]).env("NODE_PATH", folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = node.spawn().expect("node is installed where its packages are");
    let mut input = node.stdin.take().expect("a pipe");
    input.write_all(document.to_string().as_bytes()).expect("it reads");
    drop(input);
    let said = node.wait_with_output().expect("it ends");
    let said = String::from_utf8(said.stdout).expect("text");
    let mut errors: Vec<String> = said.lines().map(str::to_owned).collect();
    assert_eq!(errors.pop().as_deref(), Some("linted"), "{said}");
    Some(errors)
}

#[tokio::test]
async fn external_linter_finds_no_errors_in_openapi_document() {
    let mut document = Server::new().await.document.clone();
    let Some(errors) = linted(&document) else { return };
    assert_eq!(errors, Vec::<String>::new());
    // Verify that the linter detects errors: a duplicate operation id, and a reference to a missing response.
    let about = document["paths"]["/"]["get"]["operationId"].clone();
    let orgs = &mut document["paths"]["/orgs"]["get"];
    orgs["operationId"] = about;
    orgs["responses"]["200"] = json!({ "$ref": "#/components/responses/Nothing" });
    let errors = linted(&document).expect("it is installed").join("\n");
    for rule in ["operation-operationId-unique", "no-unresolved-refs"] {
        assert!(errors.contains(rule), "{rule}: {errors}");
    }
}
