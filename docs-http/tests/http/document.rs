//! The OpenAPI document.

use std::{collections::BTreeSet, fmt, sync::Arc};

use docs_core::model::{
    Customization, Organization, PublishedSite, Revision, Site, Space, UpdateContent, UpdateOrganization,
    UpdateSpace,
};
use docs_http::{
    ApiInfo, HttpConfig, assemble,
    openapi::check_api,
    wire::{
        error::ApiResult,
        payload::Strict,
        reply::{NoContent, Reply},
        schema::{self, Direction},
    },
};
use poem_openapi::{OpenApi, registry::Registry};
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Map, Value, json};

use crate::toy::{Slow, Tokens, app};

fn document() -> Value {
    serde_json::from_str(app(Slow::default()).document()).expect("the document is JSON")
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, operations)| {
        let operations = operations.as_object().expect("operations");
        operations.iter().map(move |(method, operation)| (path, method, operation))
    })
}

/// JSON where no object has duplicate keys.
struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Once;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Once, A::Error> {
                let mut keys = BTreeSet::new();
                while let Some((key, Once)) = map.next_entry::<String, Once>()? {
                    if !keys.insert(key.clone()) {
                        return Err(A::Error::custom(format!("{key} is there twice")));
                    }
                }
                Ok(Once)
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Once, A::Error> {
                while let Some(Once) = list.next_element()? {}
                Ok(Once)
            }
            fn visit_str<E>(self, _: &str) -> Result<Once, E> {
                Ok(Once)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Once, E> {
                Ok(Once)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Once, E> {
                Ok(Once)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Once, E> {
                Ok(Once)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Once, E> {
                Ok(Once)
            }
            fn visit_unit<E>(self) -> Result<Once, E> {
                Ok(Once)
            }
        }
        deserializer.deserialize_any(Keys)
    }
}

#[test]
fn document_has_no_duplicate_keys() {
    serde_json::from_str::<Once>(app(Slow::default()).document()).map(|_| ()).expect("each key once");
    assert!(serde_json::from_str::<Once>(r#"{"a":{"b":1,"b":2}}"#).is_err(), "the check sees it");
}

#[test]
fn path_combines_the_operations_of_all_api_objects() {
    let document = document();
    assert_eq!(document["openapi"], "3.0.0");
    assert_eq!(document["info"], json!({ "title": "Toy", "version": "1.2.3" }));
    assert_eq!(document["servers"], json!([{ "url": "/v1" }]));
    let space = document["paths"]["/spaces/{id}"].as_object().expect("the path");
    assert_eq!(space.keys().collect::<Vec<_>>(), ["delete", "get", "patch"]);
    assert!(document["paths"].get("/spaces/{spaceId}").is_none());
    for (method, operation) in space {
        let parameter = &operation["parameters"][0];
        assert_eq!((&parameter["name"], &parameter["in"]), (&json!("id"), &json!("path")), "{method}");
        assert_eq!(parameter["required"], true);
    }
    assert_eq!(space["get"]["summary"], "Shows a space");
    // A path prefix may have parameters.
    let page = document["paths"]["/spaces/{spaceId}/pages/{pageId}"].as_object().expect("the path");
    assert_eq!(page.keys().collect::<Vec<_>>(), ["delete", "get"]);
    assert_eq!(page["delete"]["parameters"][1]["name"], "pageId");
}

#[test]
fn every_operation_documents_its_error_responses() {
    let document = document();
    let error = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } });
    let failure = |response: &Value| {
        let place = response["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        document.pointer(place.expect("a failure is told once for all")).expect("a failure").clone()
    };
    for (path, method, operation) in operations(&document) {
        let responses = operation["responses"].as_object().expect("responses");
        let mut expected = vec!["400", "429", "500", "503"];
        if operation.get("security").is_some() {
            expected.extend(["401", "403"]);
        }
        // Anonymous operations identify resources outside of the path.
        let schemes = operation["security"].as_array();
        let is_open = schemes.is_some_and(|schemes| schemes.contains(&json!({})));
        if path.contains('{') || is_open {
            expected.push("404");
        }
        // Reads may be conditional.
        expected.push(if method == "get" { "412" } else { "409" });
        if operation.get("requestBody").is_some() {
            expected.extend(["413", "415"]);
        }
        expected.sort_unstable();
        let failures: Vec<_> =
            responses.keys().map(String::as_str).filter(|status| *status >= "400").collect();
        assert_eq!(failures, expected, "{method} {path}");
        for status in failures {
            assert_eq!(failure(&responses[status])["content"], error, "{method} {path} {status}");
        }
        assert!(responses.len() > expected.len(), "{method} {path} tells how it succeeds");
    }
    let schema = &document["components"]["schemas"]["Error"];
    assert_eq!(schema["required"], json!(["error"]));
    assert_eq!(schema["properties"]["error"]["required"], json!(["code", "message"]));
    let space = &document["paths"]["/spaces/{id}"]["get"]["responses"];
    assert!(failure(&space["401"])["headers"].get("WWW-Authenticate").is_some());
    assert!(failure(&space["503"])["headers"].get("Retry-After").is_some());
}

#[test]
fn document_describes_bodies_responses_and_parameters() {
    let document = document();
    let space = &document["paths"]["/spaces/{id}"];
    let patch = &space["patch"]["requestBody"];
    assert_eq!(patch["required"], true);
    let update = json!({ "application/json": { "schema": { "$ref": "#/components/schemas/UpdateSpace" } } });
    assert_eq!(patch["content"], update);
    let create = &document["paths"]["/spaces"]["post"];
    assert_eq!(create["requestBody"]["required"], false);
    assert!(create["responses"]["201"]["headers"].get("Location").is_some());
    assert_eq!(create["security"], json!([{ "bearer": [] }]));
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    assert!(space["delete"]["responses"]["204"].get("content").is_none());
    assert!(space["delete"]["responses"].get("205").is_some());

    let list = document["paths"]["/spaces"]["get"]["parameters"].as_array().expect("parameters");
    let of = |name: &str| list.iter().find(|parameter| parameter["name"] == name).expect("the parameter");
    assert_eq!(of("limit").get("required"), None);
    assert_eq!(of("limit")["schema"]["type"], "integer");
    assert_eq!(of("limit")["description"], "At most so many.");
    assert_eq!(of("type")["schema"]["items"], json!({ "$ref": "#/components/schemas/SiteType" }));
    assert_eq!(of("type")["explode"], true);
    assert_eq!(document["paths"]["/search"]["get"]["parameters"][0]["required"], true);
    // Authentication is optional.
    assert_eq!(document["paths"]["/search"]["get"]["security"], json!([{ "bearer": [] }, {}]));
}

#[test]
fn every_schema_reference_resolves() {
    let document = document();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let mut pending = vec![&document];
    let mut references = 0;
    while let Some(value) = pending.pop() {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            assert!(
                document.pointer(reference.strip_prefix('#').expect("a component")).is_some(),
                "{reference}"
            );
            references += 1;
        }
        pending.extend(value.as_object().into_iter().flat_map(Map::values));
        pending.extend(value.as_array().into_iter().flatten());
    }
    assert!(references > 50, "{references}");
    for name in schemas.keys() {
        assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'), "{name}");
    }
}

fn components<T: JsonSchema>(direction: Direction) -> Value {
    let mut registry = Registry::new();
    schema::register::<T>(&mut registry, direction);
    assert_eq!(schema::clashes(&registry), Vec::<&str>::new());
    serde_json::to_value(&registry.schemas).expect("schemas are JSON")
}

#[test]
fn request_schema_requires_less_than_response_schema() {
    let answer = &components::<Space>(Direction::Response)["Space"];
    let required = answer["required"].as_array().expect("required");
    assert!(required.contains(&json!("defaultLevel")), "always there, if null: {answer:#}");
    assert!(!required.contains(&json!("deletedAt")));
    let level = &answer["properties"]["defaultLevel"];
    assert_eq!(level["nullable"], true);
    assert!(level["enum"].as_array().is_some_and(|levels| levels.contains(&json!("inherit"))), "{level}");
    // The field is omitted instead of being null.
    let deleted_at = &answer["properties"]["deletedAt"];
    assert_eq!((deleted_at.get("nullable"), &deleted_at["format"]), (None, &json!("date-time")));

    let request = &components::<UpdateSpace>(Direction::Request)["UpdateSpace"];
    assert!(request.get("required").is_none(), "{request:#}");
    let emoji = &request["properties"]["emoji"];
    assert_eq!((&emoji["nullable"], emoji.get("default")), (&json!(true), None), "{emoji:#}");
    assert_eq!((&emoji["maxLength"], &emoji["format"]), (&json!(50), &json!("emoji")));
    assert_eq!(request["properties"]["title"]["maxLength"], 50);
    assert_eq!(request["description"], "A partial update of a space. Omitted fields are unchanged.");
    let levels = &request["properties"]["defaultLevel"]["enum"];
    assert!(levels.as_array().is_some_and(|levels| levels.contains(&Value::Null)), "{levels}");
}

#[test]
fn constants_and_enums_have_enum_schemas() {
    let schemas = components::<Space>(Direction::Response);
    let object = &schemas["Space"]["properties"]["object"];
    assert_eq!((&object["type"], &object["enum"]), (&json!("string"), &json!(["space"])), "{object:#}");
    let schemas = components::<Organization>(Direction::Response);
    let role = &schemas["Role"];
    assert_eq!(role["enum"], json!(["read", "comment", "edit", "review", "create", "admin"]));
    assert_eq!(role["type"], "string");
    let description = role["description"].as_str().expect("a description");
    assert!(description.contains("- `review`: Reviews and merges change requests."), "{description}");
}

#[test]
fn tagged_enum_variants_have_named_schemas() {
    let schemas = components::<UpdateContent>(Direction::Request);
    let change = &schemas["ContentChange"];
    assert_eq!(change["discriminator"]["propertyName"], "operation");
    let mapping = change["discriminator"]["mapping"].as_object().expect("a mapping");
    assert_eq!(mapping["insert_files"], "#/components/schemas/ContentChangeInsertFiles");
    assert_eq!(change["oneOf"].as_array().map(Vec::len), Some(mapping.len()));
    let variant = &schemas["ContentChangeInsertFiles"];
    assert_eq!(variant["allOf"], json!([{ "$ref": "#/components/schemas/InsertFilesChange" }]));
    assert_eq!(variant["properties"]["operation"]["enum"], json!(["insert_files"]));
    assert_eq!(variant["required"], json!(["operation"]));
    let changes = &schemas["UpdateContent"]["properties"]["changes"];
    assert_eq!((&changes["minItems"], &changes["maxItems"]), (&json!(1), &json!(50)));
    // Flattened fields are siblings of the other fields.
    let update = &schemas["UpdatePageChange"]["properties"];
    assert!(update.get("page").is_some() && update.get("noIndex").is_some(), "{update:#}");
}

#[test]
fn model_resources_have_schemas() {
    let revision = components::<Revision>(Direction::Response);
    assert_eq!(revision["RevisionPage"]["discriminator"]["propertyName"], "type");
    assert!(revision["Revision"]["oneOf"].is_array(), "a flattened union stays where it is");
    let value = &revision["DocumentPage"]["properties"]["variables"]["additionalProperties"];
    assert_eq!(value, &json!({ "$ref": "#/components/schemas/VariableValue" }));
    let site = components::<PublishedSite>(Direction::Response);
    let map = &site["Customizations"]["properties"]["siteSpaces"]["additionalProperties"];
    assert_eq!(map, &json!({ "$ref": "#/components/schemas/Customization" }));
    components::<Site>(Direction::Response);
    components::<Organization>(Direction::Response);
    components::<UpdateOrganization>(Direction::Request);
    components::<Customization>(Direction::Response);
}

#[test]
fn schema_used_in_both_directions_is_valid_for_both() {
    #[derive(JsonSchema, Serialize, Deserialize)]
    struct Both {
        #[serde(default)]
        count: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        name: String,
    }
    for order in [[Direction::Request, Direction::Response], [Direction::Response, Direction::Request]] {
        let mut registry = Registry::new();
        for direction in order {
            schema::register::<Both>(&mut registry, direction);
        }
        assert_eq!(schema::clashes(&registry), Vec::<&str>::new());
        let both = serde_json::to_value(&registry.schemas["Both"]).expect("JSON");
        assert_eq!(both["required"], json!(["name"]));
        assert_eq!(both["properties"]["count"]["default"], 0);
        assert_eq!(both["properties"]["note"]["nullable"], true);
    }
}

mod other {
    #[derive(schemars::JsonSchema, serde::Serialize)]
    pub(crate) struct Sketch {
        pub something: u32,
    }
}

struct Contradicting;

#[OpenApi]
impl Contradicting {
    #[oai(path = "/a", method = "post", operation_id = "same")]
    async fn a(&self, _body: Strict<crate::toy::Sketch>) -> ApiResult<Reply<other::Sketch>> {
        Ok(Reply(other::Sketch { something: 1 }))
    }

    #[oai(path = "/b/:x", method = "get", operation_id = "same")]
    async fn b(&self) -> ApiResult<NoContent> {
        Ok(NoContent::default())
    }

    #[oai(path = "/b/:y", method = "get")]
    async fn c(&self) -> ApiResult<NoContent> {
        Ok(NoContent::default())
    }
}

#[test]
fn inconsistent_api_is_not_assembled() {
    let found = check_api::<Contradicting>().expect_err("problems").to_string();
    for problem in [
        "two operations share the id same",
        "GET /b/{y} has no operation id",
        "two operations share the route GET /b/{y}",
        "two schemas share the name Sketch",
        "the handler of GET /b/{x} does not take its parameters in order, by name",
    ] {
        assert!(found.contains(problem), "{problem} is missing in: {found}");
    }
    let about = || ApiInfo::new("x", "1");
    assert!(assemble(Contradicting, about(), HttpConfig::default(), Arc::new(Tokens)).is_err());
    let config = HttpConfig { api_path: "/:any".to_owned(), ..HttpConfig::default() };
    assert!(assemble((), about(), config, Arc::new(Tokens)).is_err());
}
