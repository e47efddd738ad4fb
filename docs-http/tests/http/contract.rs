//! Validates every test response against the OpenAPI document.
//!
//! `DOCS_TEST_CONTRACT` contains the paths of other OpenAPI documents, such as the sources of generated clients,
//! separated like the paths of `PATH`. Every response is also validated against each of them: for a known path, the
//! operation and the status must be declared, and the body must be valid, with additional fields permitted. Some
//! required fields of such documents have no schema and are mistakes that no client reads: `organizaitons` of an e-mail
//! domain, `total` of commenters, and `target` of an invite link. [`NARROWER`] lists the locations where our
//! specification permits more.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use jsonschema::{Registry, Validator};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// The URI of the document in schema references.
const DOCUMENT: &str = "urn:document";

/// Locations where schemas of published clients are narrower than the specification: an operation, and a location in
/// its responses.
const NARROWER: [(&str, &str); 6] = [
    // Published front ends read an array of files.
    ("getLatestOpenAPISpecVersionContent", "/filesystem"),
    // Boolean unsigned claims may have any name.
    ("getSiteAdaptiveSchema", "/jsonSchema/properties/unsigned"),
    ("updateSiteAdaptiveSchema", "/jsonSchema/properties/unsigned"),
    // Earlier clients know no roles that a site itself defines.
    ("listPermissionsAggregateInSite", "/items/"),
    // Like every deletion, it succeeds if there is nothing to delete.
    ("uninstallGitSyncInstallation", UNDECLARED),
    // A URL without content is not found.
    ("getContentByUrl", UNDECLARED),
];

/// The violation of a response with a status that the document does not declare.
const UNDECLARED: &str = "the document does not declare this status";

/// Locations with values that only documents with [`NEWER_SCHEMA`] know, like [`NARROWER`]. `*` is one segment.
const NEWER: [(&str, &str); 25] = [
    // Responses without a body, on request.
    ("addSpaceToSite", UNDECLARED),
    ("updateSiteSpaceById", UNDECLARED),
    ("updateSiteSectionById", UNDECLARED),
    ("updateSiteSectionGroupById", UNDECLARED),
    ("sortSiteStructure", UNDECLARED),
    ("updateChangeRequestById", UNDECLARED),
    // Capital letters in slugs.
    ("createOpenAPISpec", "/slug"),
    ("createOrUpdateOpenAPISpecBySlug", "/slug"),
    ("getOpenAPISpecBySlug", "/slug"),
    ("updateOpenAPISpecBySlug", "/slug"),
    ("listOpenAPISpecs", "/items/*/slug"),
    // Wildcards, `+` and external destinations.
    ("createSiteRedirect", "/source"),
    ("createSiteRedirect", "/destination"),
    ("updateSiteRedirectById", "/source"),
    ("updateSiteRedirectById", "/destination"),
    ("listSiteRedirects", "/items/"),
    ("getSiteRedirectBySource", "/redirect/"),
    // Prompts, updates, and buttons with an action.
    ("getPageInChangeRequestByPath", "/document/nodes"),
    // External links among sections and groups.
    ("getSiteStructure", ": "),
    ("getPublishedContentSite", "/structure: "),
    ("sortSiteStructure", ": "),
    // The theme of the visitor's system.
    ("getSiteCustomizationById", "/themes/default"),
    ("updateSiteCustomizationById", "/themes/default"),
    ("getPublishedContentSite", "/customizations/site/themes/default"),
    ("getPublishedContentSite", "/customizations/siteSpaces/*/themes/default"),
];

/// A schema of the documents that know the values of [`NEWER`].
const NEWER_SCHEMA: &str = "CustomizationCodeTheme";

/// An OpenAPI document, with cached schemas.
pub(crate) struct Contract {
    /// The name of the document in messages.
    pub(crate) name: String,
    /// `true` if the document knows the values of [`NEWER`].
    is_newer: bool,
    operations: Vec<Operation>,
    /// The schemas of the document as JSON Schema, parsed once for all references.
    components: Registry<'static>,
    /// The schemas of requests.
    requests: Registry<'static>,
    /// The compiled schemas of requests, by their text, because compilation takes longer than a request.
    accepted: Mutex<HashMap<String, Arc<Validator>>>,
}

/// A declared response body, shared by identical declarations.
struct Declared {
    schema: Value,
    /// Compiled on first use, because compilation takes longer than parsing the document.
    validator: OnceLock<Validator>,
}

/// The fields that an object may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fields {
    /// Only declared fields.
    Declared,
    /// Additional fields are ignored, as in requests.
    Ignored,
    /// Additional fields, which clients must tolerate.
    Any,
}

/// An operation of the document.
pub(crate) struct Operation {
    pub(crate) id: String,
    method: String,
    /// The segments of the path. `None` for a parameter.
    path: Vec<Option<String>>,
    /// The responses by status. `None` for a response without a body.
    responses: BTreeMap<u16, Option<Arc<Declared>>>,
}

impl Contract {
    /// Returns the contract of the platform, which is the same for all servers.
    pub(crate) fn of(document: &Value) -> &'static Self {
        static CONTRACT: OnceLock<Contract> = OnceLock::new();
        CONTRACT.get_or_init(|| Self::new("ours", document, Fields::Declared))
    }

    /// Returns the other documents that are configured.
    pub(crate) fn of_others() -> &'static [Self] {
        static CONTRACTS: OnceLock<Vec<Contract>> = OnceLock::new();
        CONTRACTS.get_or_init(|| {
            other_documents().iter().map(|(name, it)| Self::new(name, it, Fields::Any)).collect()
        })
    }

    fn new(name: &str, document: &Value, fields: Fields) -> Self {
        let registry = |fields| {
            let components = Registry::new().add(DOCUMENT, components(document, fields)).expect("an address");
            components.prepare().expect("references that lead somewhere")
        };
        Self {
            name: name.to_owned(),
            is_newer: document["components"]["schemas"].get(NEWER_SCHEMA).is_some(),
            operations: operations(document, fields),
            components: registry(fields),
            requests: registry(Fields::Ignored),
            accepted: Mutex::default(),
        }
    }

    /// Returns the differences between a response and the document. Error responses may be undeclared.
    pub(crate) fn differences(&self, operation: &Operation, status: u16, body: &Value) -> Vec<String> {
        let declared = operation.responses.contains_key(&status);
        let mut faults =
            if status >= 400 && !declared { Vec::new() } else { self.faults(operation, status, body) };
        let newer = NEWER.iter().filter(|_| !self.is_newer);
        for (_, place) in NARROWER.iter().chain(newer).filter(|(id, _)| *id == operation.id) {
            faults.retain(|fault| !is_at(fault, place));
        }
        faults
    }

    pub(crate) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the operation of a request.
    pub(crate) fn operation(&self, method: &str, path: &str) -> Option<&Operation> {
        let path = path.split('?').next().unwrap_or_default().strip_prefix("/v1/")?;
        let parts: Vec<&str> = path.split('/').collect();
        self.operations.iter().find(|operation| {
            let fits = |(part, wanted): (&&str, &Option<String>)| wanted.as_ref().is_none_or(|w| w == part);
            operation.method == method
                && operation.path.len() == parts.len()
                && parts.iter().zip(&operation.path).all(fits)
        })
    }

    /// Asserts that the document declares this response.
    #[track_caller]
    pub(crate) fn check(&self, operation: &Operation, status: u16, body: &Value) {
        // The allowed methods depend on all operations of the path.
        if status != 405 {
            let faults = self.faults(operation, status, body);
            assert!(faults.is_empty(), "{} {status}: {faults:#?}\n{body:#}", operation.id);
        }
    }

    /// Returns the violations in a response.
    fn faults(&self, operation: &Operation, status: u16, body: &Value) -> Vec<String> {
        let Some(response) = operation.responses.get(&status) else {
            return vec![UNDECLARED.to_owned()];
        };
        let Some(declared) = response else {
            let unwanted = (!body.is_null()).then(|| "the document declares no body".to_owned());
            return unwanted.into_iter().collect();
        };
        let validator = declared.validator.get_or_init(|| self.validator(&declared.schema));
        validator.iter_errors(body).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    /// Returns the violations of a schema of the document in a value.
    pub(crate) fn faults_of(&self, schema: &Value, value: &Value) -> Vec<String> {
        let validator = self.validator(&whole(schema, Fields::Declared));
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }

    /// Returns `true` if a value is valid for a schema of the document, with additional fields permitted.
    pub(crate) fn takes(&self, schema: &Value, value: &Value) -> bool {
        let validator = {
            let mut known = self.accepted.lock();
            let compiled = known.entry(schema.to_string()).or_insert_with(|| {
                let options = jsonschema::draft202012::options();
                let schema = whole(schema, Fields::Ignored);
                Arc::new(options.with_registry(&self.requests).build(&schema).expect("a schema"))
            });
            Arc::clone(compiled)
        };
        validator.is_valid(value)
    }

    fn validator(&self, schema: &Value) -> Validator {
        let options = jsonschema::draft202012::options();
        options.with_registry(&self.components).build(schema).expect("a schema")
    }
}

/// Returns `true` if a violation is at a location of [`NARROWER`] or [`NEWER`].
fn is_at(fault: &str, place: &str) -> bool {
    let Some((before, after)) = place.split_once('*') else { return fault.starts_with(place) };
    let rest = fault.strip_prefix(before).and_then(|rest| rest.find('/').map(|end| &rest[end..]));
    rest.is_some_and(|rest| rest.starts_with(after))
}

/// Reads the documents that `DOCS_TEST_CONTRACT` names, with their paths.
pub(crate) fn other_documents() -> Vec<(String, Value)> {
    let Some(files) = std::env::var_os("DOCS_TEST_CONTRACT") else {
        let is_needed = std::env::var_os("DOCS_TEST_NO_SKIP").is_some();
        assert!(!is_needed, "DOCS_TEST_CONTRACT names no document: answers are held against ours alone");
        return Vec::new();
    };
    let read = |file: PathBuf| {
        let text = std::fs::read(&file).expect("a file that DOCS_TEST_CONTRACT names");
        (file.display().to_string(), serde_json::from_slice(&text).expect("an OpenAPI document"))
    };
    std::env::split_paths(&files).map(read).collect()
}

fn components(document: &Value, fields: Fields) -> Value {
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let schemas: Map<String, Value> =
        schemas.iter().map(|(name, schema)| (name.clone(), json_schema(schema, fields))).collect();
    json!({ "components": { "schemas": schemas } })
}

fn operations(document: &Value, fields: Fields) -> Vec<Operation> {
    let mut known = BTreeMap::new();
    let mut responses = |operation: &Value| {
        let responses = operation["responses"].as_object().expect("responses");
        let one = |(status, response): (&String, &Value)| {
            let response = resolved(document, response);
            // `default` and `4XX` are not statuses.
            Some((status.parse().ok()?, declared(response, fields, &mut known)))
        };
        responses.iter().filter_map(one).collect()
    };
    let mut all = Vec::new();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        for (method, operation) in operations.as_object().expect("operations") {
            all.push(Operation {
                id: operation["operationId"].as_str().expect("an id").to_owned(),
                method: method.to_uppercase(),
                path: path.split('/').skip(1).map(|p| (!p.starts_with('{')).then(|| p.to_owned())).collect(),
                responses: responses(operation),
            });
        }
    }
    all
}

/// Resolves a response that is shared by several operations.
fn resolved<'d>(document: &'d Value, response: &'d Value) -> &'d Value {
    let place = response["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    place.map_or(response, |place| document.pointer(place).expect("a response"))
}

/// Returns the declared body of a response, shared by identical declarations.
fn declared(
    response: &Value,
    fields: Fields,
    known: &mut BTreeMap<String, Arc<Declared>>,
) -> Option<Arc<Declared>> {
    let schema = response["content"]["application/json"].get("schema")?;
    let new = || Arc::new(Declared { schema: whole(schema, fields), validator: OnceLock::new() });
    Some(Arc::clone(known.entry(schema.to_string()).or_insert_with(new)))
}

/// Converts an OpenAPI 3.0 schema to JSON Schema, which has no `nullable`.
///
/// If only declared fields are permitted, additional fields are forbidden in the result.
fn json_schema(schema: &Value, allowed: Fields) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let word = |key: &String| match key.as_str() {
        // With additional fields permitted, a value may match several variants.
        "oneOf" if allowed == Fields::Any => "anyOf".to_owned(),
        _ => key.clone(),
    };
    let mut converted: Map<String, Value> =
        fields.iter().map(|(key, value)| (word(key), part(key, value, allowed))).collect();
    if allowed == Fields::Any
        && let Some(described) = fields.get("properties")
        && let Some(Value::Array(required)) = converted.get_mut("required")
    {
        required.retain(|name| described.get(name.as_str().unwrap_or_default()).is_some());
    }
    match converted.remove("nullable") {
        Some(Value::Bool(true)) => json!({ "anyOf": [converted, { "type": "null" }] }),
        _ => converted.into(),
    }
}

/// Converts one keyword of a schema.
fn part(key: &str, value: &Value, allowed: Fields) -> Value {
    match (key, value) {
        ("properties", Value::Object(fields)) => {
            fields.iter().map(|(name, schema)| (name.clone(), whole(schema, allowed))).collect()
        }
        // A list of pages has no text content, which is expressed by an `allOf` with an object without fields. With
        // additional fields permitted, that would never match.
        ("additionalProperties", Value::Bool(false)) if allowed == Fields::Any => true.into(),
        ("items" | "additionalProperties", schema) => whole(schema, allowed),
        ("allOf" | "oneOf" | "anyOf", Value::Array(schemas)) => {
            schemas.iter().map(|schema| json_schema(schema, allowed)).collect()
        }
        ("$ref", Value::String(place)) => format!("{DOCUMENT}{place}").into(),
        _ => value.clone(),
    }
}

/// Converts the schema of a complete value, as opposed to one of several schemas that apply together.
fn whole(schema: &Value, allowed: Fields) -> Value {
    let mut converted = json_schema(schema, allowed);
    if allowed == Fields::Declared
        && let Some(fields) = converted.as_object_mut()
        && ["$ref", "allOf", "oneOf", "anyOf", "properties"].iter().any(|word| fields.contains_key(*word))
    {
        fields.insert("unevaluatedProperties".to_owned(), false.into());
    }
    converted
}

#[test]
fn wildcard_of_a_location_is_one_segment() {
    for (fault, expected) in [
        ("/items/0/slug: wrong", true),
        ("/items/12/slug: wrong", true),
        ("/items/0/title: wrong", false),
        ("/items/0/a/slug: wrong", false),
        ("/items: wrong", false),
    ] {
        assert_eq!(is_at(fault, "/items/*/slug"), expected, "{fault}");
    }
    assert!(is_at("/slug: wrong", "/slug") && !is_at("/title: wrong", "/slug"));
}

#[test]
fn only_nullable_schemas_accept_null() {
    let schema = json!({ "type": "object", "required": ["a"], "properties": {
        "a": { "type": "string", "nullable": true },
        "b": { "type": "string" },
    } });
    let validator = jsonschema::draft202012::new(&json_schema(&schema, Fields::Declared)).expect("a schema");
    assert!(validator.is_valid(&json!({ "a": null })));
    assert!(validator.is_valid(&json!({ "a": "x", "b": "y" })));
    assert!(!validator.is_valid(&json!({ "a": "x", "b": null })));
    assert!(!validator.is_valid(&json!({ "b": "y" })));
}

#[tokio::test]
async fn contract_detects_responses_that_violate_the_document() {
    let s = crate::server::Server::new().await;
    let path = format!("/v1/spaces/{}", s.space().await);
    let space = s.get(&path).await;
    let contract = Contract::of(s.document);
    let get = contract.operation("GET", &path).expect("an operation");
    let delete = contract.operation("DELETE", &path).expect("an operation");
    assert!(
        contract.faults(get, 200, &space).is_empty() && contract.faults(delete, 204, &Value::Null).is_empty()
    );
    for (field, wrong) in [("emoji", json!(5)), ("visibility", json!("secret")), ("urls", json!({}))] {
        let mut space = space.clone();
        space[field] = wrong;
        assert_eq!(contract.faults(get, 200, &space).len(), if field == "urls" { 2 } else { 1 }, "{field}");
    }
    for (operation, status, body) in [(get, 200, &Value::Null), (get, 418, &space), (delete, 204, &space)] {
        assert!(!contract.faults(operation, status, body).is_empty(), "{} {status}", operation.id);
    }
    let mut more = space;
    more["urls"]["secret"] = json!("told to nobody");
    assert_eq!(contract.faults(get, 200, &more).len(), 1, "a field that is not declared");
    assert!(!contract.faults(get, 404, &json!({ "error": { "code": 404 } })).is_empty());
}
