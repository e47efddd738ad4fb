//! Links, callbacks, sample requests, serialized parameters and merged fields.

use super::*;
use crate::platform::content::openapi_specs::detail::{
    model::{MAX_CALLBACK_DEPTH, MAX_DEFINITIONS},
    schema::MAX_EXAMPLES_OF_FIELD,
    service::MAX_ADDRESS,
};

#[test]
fn links_have_their_operations_and_parameters() {
    let links = json!({
        "a": { "operationId": "next", "description": "The *next* one", "parameters": { "id": "$response.body#/next" } },
        "b": { "operationRef": "#/paths/~1pets~1%7Bid%7D/GET", "requestBody": { "a": 1 }, "server": { "url": "/v2" } },
        "c": { "operationRef": "https://b.example/api.json#/paths/~1a/get" },
        "d": { "$ref": "#/components/links/shared" } });
    let components = json!({ "links": { "shared": { "operationId": "shared" } } });
    let shown = operation_with(json!({ "responses": { "200": { "links": links } } }), components);
    let [a, b, c, d] = shown.responses[0].links.as_slice() else { panic!("{shown:?}") };
    assert_eq!((a.name.as_str(), a.description.as_deref()), ("a", Some("The *next* one")));
    assert_eq!(a.operation, Some(LinkedOperation::Id("next".to_owned())));
    assert_eq!(a.parameters, [("id".to_owned(), "$response.body#/next".to_owned())]);
    assert_eq!(b.operation, Some(LinkedOperation::Subject(get("/pets/{id}"))));
    assert_eq!((b.body.as_deref(), b.server.as_deref()), (Some("{\"a\":1}"), Some("/v2")));
    let far = "https://b.example/api.json#/paths/~1a/get".to_owned();
    assert_eq!(c.operation, Some(LinkedOperation::Reference(far)));
    assert_eq!(d.operation, Some(LinkedOperation::Id("shared".to_owned())));
}

#[test]
fn external_docs_and_flows_have_absolute_addresses() {
    let docs = json!({ "url": "guide", "description": "A guide" });
    let schema = json!({ "type": "object", "externalDocs": docs });
    let flows = json!({ "authorizationCode": { "authorizationUrl": "/auth", "tokenUrl": "https://b.example/token",
        "scopes": { "read": "Reads all", "write": "Writes" } }, "x-other": { "tokenUrl": "/x" } });
    let document = json!({ "openapi": "3.1.0", "paths": { "/x": { "get": {
        "externalDocs": docs, "security": [{ "login": ["read", "none"], "id": [], "token": [] }],
        "responses": { "200": { "content": { "application/json": { "schema": schema } } } } } } },
        "components": { "securitySchemes": { "login": { "type": "oauth2", "flows": flows },
            "id": { "type": "openIdConnect", "openIdConnectUrl": "/.well-known" },
            "token": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT", "deprecated": true } } } });
    let shown = operation_of(&files(&[("https://a.example/v1/api.json", document)]), &get("/x"));
    let expected = Some(ExternalDocsDetail {
        address: "https://a.example/v1/guide".to_owned(),
        description: Some("A guide".to_owned()),
    });
    assert_eq!(shown.external_docs, expected);
    let schema = shown.responses[0].bodies[0].schema.as_ref().expect("a schema");
    assert_eq!(schema.external_docs, expected);
    let scheme = |name: &str| shown.security[0].iter().find(|of| of.name == name).expect("a scheme");
    let login = scheme("login");
    let scopes: Vec<_> =
        login.scopes.iter().map(|of| (of.name.as_str(), of.description.as_deref())).collect();
    assert_eq!(scopes, [("read", Some("Reads all")), ("none", None)]);
    let addresses = [("authorizationUrl", "https://a.example/auth"), ("tokenUrl", "https://b.example/token")];
    let addresses = addresses.map(|(field, address)| (field.to_owned(), address.to_owned()));
    let [flow] = login.flows.as_slice() else { panic!("{login:?}") };
    assert_eq!((flow.name.as_str(), flow.addresses.as_slice()), ("authorizationCode", &addresses[..]));
    assert_eq!(scheme("id").discovery.as_deref(), Some("https://a.example/.well-known"));
    assert_eq!((scheme("token").token_format.as_deref(), scheme("token").deprecated), (Some("JWT"), true));
    let old = json!({ "swagger": "2.0", "paths": { "/x": { "get": { "security": [{ "login": ["a"] }] } } },
        "securityDefinitions": { "login": { "type": "oauth2", "flow": "implicit",
            "authorizationUrl": "https://b.example/", "scopes": { "a": "One" } } } });
    let shown = operation_of(&files(&[("openapi.json", old)]), &get("/x"));
    let login = &shown.security[0][0];
    assert_eq!((login.flows[0].name.as_str(), login.flows[0].addresses.len()), ("implicit", 1));
    assert_eq!(login.scopes[0].description.as_deref(), Some("One"));
    let long = json!({ "externalDocs": { "url": format!("https://a.example/{}", "a".repeat(MAX_ADDRESS)) } });
    assert_eq!(operation_with(long, json!({})).external_docs, None);
}

#[test]
fn code_samples_of_an_operation_are_listed() {
    let samples = json!([{ "lang": "Ruby", "label": "The client", "source": "a\nb" }, { "label": "PHP", "source": "c" },
        { "lang": "Go" }, "text", { "lang": "C", "label": "C", "source": "d" }]);
    for name in ["x-codeSamples", "x-code-samples"] {
        let shown = operation_with(json!({ name: samples }), json!({}));
        let SampleDetails::Given(all) = shown.samples else { panic!("{name}") };
        let all: Vec<_> =
            all.iter().map(|of| (of.language.as_str(), of.label.as_deref(), of.source.as_str())).collect();
        assert_eq!(all, [("Ruby", Some("The client"), "a\nb"), ("PHP", None, "c"), ("C", None, "d")]);
    }
    assert_eq!(operation_with(json!({ "x-codeSamples": false }), json!({})).samples, SampleDetails::Off);
    let whole = json!({ "openapi": "3.1.0", "x-codeSamples": false, "paths": { "/x": { "get": {} } } });
    assert_eq!(operation_of(&files(&[("openapi.json", whole)]), &get("/x")).samples, SampleDetails::Off);
    let many = |count: usize| {
        let sample = json!({ "lang": "C", "source": "x".repeat(MAX_EXAMPLE / 2) });
        let shown = operation_with(json!({ "x-codeSamples": vec![sample; count] }), json!({}));
        let SampleDetails::Given(all) = shown.samples else { panic!("{count}") };
        (all.len(), shown.is_cut)
    };
    let most = MAX_EXAMPLES / (MAX_EXAMPLE / 2);
    assert_eq!([most, most + 1].map(many), [(most, false), (most, true)]);
}

#[test]
fn callbacks_contain_their_own_callbacks_up_to_the_bound() {
    fn nested(depth: usize) -> Value {
        match depth {
            0 => json!({ "summary": "The last" }),
            _ => json!({ "callbacks": { format!("c{depth}"): { "/a": { "post": nested(depth - 1) } } } }),
        }
    }
    for beyond in [0, 1] {
        let shown = operation_with(nested(MAX_CALLBACK_DEPTH + beyond), json!({}));
        let mut last = &shown;
        let mut levels = 0;
        while let Some(next) = last.callbacks.first() {
            (last, levels) = (&next.operation, levels + 1);
        }
        assert_eq!((levels, shown.is_cut), (MAX_CALLBACK_DEPTH, beyond > 0));
        assert_eq!(last.summary.is_some(), beyond == 0);
    }
    // A callback that contains itself, several times.
    let all: serde_json::Map<_, _> =
        (0..30).map(|at| (format!("c{at}"), json!({ "$ref": "#/components/callbacks/again" }))).collect();
    let again = json!({ "/a": { "post": { "callbacks": all } } });
    let shown = operation_with(json!({ "callbacks": all }), json!({ "callbacks": { "again": again } }));
    fn count(of: &OperationDetail) -> usize {
        of.callbacks.iter().map(|callback| 1 + count(&callback.operation)).sum()
    }
    assert_eq!((count(&shown), shown.is_cut), (MAX_ITEMS, true));
}

#[test]
fn query_parameters_follow_their_style() {
    let pairs = |more: Value, example: Value| {
        let mut of = json!({ "name": "p", "in": "query", "schema": {}, "example": example });
        of.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let shown = operation_with(json!({ "parameters": [of] }), json!({}));
        let query = &shown.parameters[0].query;
        query.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    };
    let object = json!({ "a": 1, "b": ["x", "y"] });
    let list = json!(["x", "y"]);
    for (more, example, expected) in [
        (json!({ "style": "deepObject", "explode": true }), &object, "p[a]=1&p[b]=x&p[b]=y"),
        (json!({}), &object, "a=1&b=[\"x\",\"y\"]"),
        (json!({ "explode": false }), &object, "p=a,1,b,[\"x\",\"y\"]"),
        (json!({}), &list, "p=x&p=y"),
        (json!({ "explode": false }), &list, "p=x,y"),
        (json!({ "style": "pipeDelimited" }), &list, "p=x|y"),
        (json!({ "style": "spaceDelimited", "explode": false }), &list, "p=x y"),
        (json!({ "style": "pipeDelimited", "explode": true }), &list, "p=x&p=y"),
        (json!({ "schema": null, "content": { "application/json": {} } }), &list, "p=[\"x\",\"y\"]"),
        (json!({}), &json!("a b"), "p=a b"),
    ] {
        assert_eq!(pairs(more.clone(), example.clone()), expected, "{more} {example}");
    }
    let old = |format: &str| {
        let of = json!({ "name": "p", "in": "query", "type": "array", "collectionFormat": format,
            "items": { "type": "string" }, "default": ["x", "y"] });
        let document = json!({ "swagger": "2.0", "paths": { "/x": { "get": { "parameters": [of] } } } });
        operation_of(&files(&[("openapi.json", document)]), &get("/x")).parameters[0].query.clone()
    };
    let pair = |value: &str| ("p".to_owned(), value.to_owned());
    assert_eq!(old("multi"), [pair("x"), pair("y")]);
    assert_eq!([old("csv"), old("pipes"), old("ssv")], [[pair("x,y")], [pair("x|y")], [pair("x y")]]);
    let role = json!({ "role": "admin", "since": 1 });
    let of = json!([{ "name": "id", "in": "path", "schema": {}, "example": role },
        { "name": "n", "in": "header", "explode": true, "schema": {}, "example": role }]);
    let shown = operation_with(json!({ "parameters": of }), json!({})).parameters;
    assert_eq!(
        (&shown[0].sample, &shown[1].sample),
        (&vec!["role,admin,since,1".to_owned()], &vec!["role=admin,since=1".to_owned()])
    );
}

#[test]
fn definitions_of_a_field_are_merged() {
    let base = json!({ "type": "object", "required": ["kind"], "properties": {
        "kind": { "type": "string", "description": "The kind", "readOnly": true }, "id": { "type": "integer" } } });
    let own = json!({ "kind": { "const": "cat" }, "id": { "description": "The id" } });
    let components = json!({ "schemas": { "Base": base } });
    let reference = json!({ "$ref": "#/components/schemas/Base" });
    for schema in [
        json!({ "allOf": [reference], "properties": own }),
        json!({ "allOf": [reference, { "properties": own }] }),
        json!({ "allOf": [{ "properties": own }, reference] }),
    ] {
        let (shown, example) = shown_schema(schema.clone(), components.clone());
        let field = |name: &str| {
            let name = FieldName::Exact(name.to_owned());
            shown.fields.iter().find(|field| field.name == name).expect("a field")
        };
        let (kind, id) = (field("kind"), field("id"));
        assert_eq!((kind.schema.kind.as_str(), kind.required, kind.schema.read_only), ("string", true, true));
        assert_eq!(kind.schema.values[0].value, "cat", "{schema}");
        assert_eq!(kind.schema.description.as_deref(), Some("The kind"));
        assert_eq!((id.schema.kind.as_str(), id.schema.description.as_deref()), ("integer", Some("The id")));
        assert_eq!(example, json!({ "id": 0, "kind": "cat" }));
    }
    // The definition of the outer schema takes precedence, then that of the later part.
    let described = |text: &str| json!({ "properties": { "a": { "description": text } } });
    let shown = |schema: Value| {
        shown_schema(schema, json!({})).0.fields[0].schema.description.clone().expect("a description")
    };
    let mut outer = described("outer");
    outer["allOf"] = json!([described("first"), described("second")]);
    assert_eq!(shown(outer), "outer");
    let inner = json!({ "allOf": [described("deep")], "properties": { "a": {} } });
    assert_eq!(shown(json!({ "allOf": [described("first"), described("second"), inner] })), "second");
    let parts: Vec<_> =
        (0..=MAX_DEFINITIONS).map(|at| json!({ "properties": { "a": { format!("x{at}"): 1 } } })).collect();
    let content = |parts: &[Value]| {
        json!({ "responses": { "200": { "content": { "application/json":
        { "schema": { "allOf": parts } } } } } })
    };
    let is_cut = |parts: &[Value]| operation_with(content(parts), json!({})).is_cut;
    assert_eq!([is_cut(&parts[1..]), is_cut(&parts)], [false, true]);
}

#[test]
fn items_by_position_and_several_examples_are_listed() {
    let pair = json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer", "description": "Second" }],
        "items": false });
    let (shown, example) = shown_schema(pair, json!({}));
    let fields: Vec<_> = shown.fields.iter().map(|of| (of.name.clone(), of.schema.kind.as_str())).collect();
    assert_eq!(fields, [(FieldName::Position(0), "string"), (FieldName::Position(1), "integer")]);
    assert_eq!((shown.kind.as_str(), shown.items.is_none()), ("array", true));
    assert_eq!(example, json!(["text", 0]));
    let old = json!({ "type": "array", "items": [{ "type": "string" }] });
    let (shown, _) = shown_schema(old, json!({}));
    assert_eq!((shown.kind.as_str(), shown.fields.len(), shown.items.is_none()), ("array", 1, true));
    let examples: Vec<usize> = (0..=MAX_EXAMPLES_OF_FIELD).collect();
    let (shown, _) = shown_schema(json!({ "type": "integer", "examples": examples }), json!({}));
    assert_eq!((shown.examples.len(), shown.examples[1].as_str()), (MAX_EXAMPLES_OF_FIELD, "1"));
}

#[test]
fn server_address_without_a_scheme_uses_https() {
    let shown = operation_with(json!({ "servers": [{ "url": "//a.example/v1" }] }), json!({}));
    assert_eq!(shown.servers[0].url, "https://a.example/v1");
}
