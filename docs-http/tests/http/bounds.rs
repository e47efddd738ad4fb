//! Limits of whole requests, as opposed to single fields: a request at the limit is accepted, one beyond it is
//! rejected.

use serde_json::{Value, json};

use crate::server::Server;

#[tokio::test]
async fn json_nested_deeper_than_its_bound_is_refused() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("{}/content", s.request(&space).await);
    // Each block adds an object and an array.
    let blocks = |count: usize| {
        let open = r#"{"object":"block","type":"blockquote","nodes":["#.repeat(count);
        format!(
            r#"{{"changes":[{{"operation":"insert_page","document":{{"nodes":[{open}{}]}}}}]}}"#,
            "]}".repeat(count)
        )
    };
    let unknown = |levels: usize| format!(r#"{{"unknown":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    for (body, is_too_deep) in [(blocks(40), false), (blocks(70), true), (unknown(500_000), false)] {
        let request = s.client.post(&path).header("authorization", format!("Bearer {}", s.admin));
        let answer = request.content_type("application/json").body(body).send().await;
        assert_eq!(answer.0.status().as_u16(), 400);
        let body: Value = answer.json().await.value().deserialize();
        let refusal = body["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(refusal.contains("recursion limit"), is_too_deep, "{refusal}");
    }
}

fn claims(properties: &Value) -> Value {
    json!({ "jsonSchema": { "type": "object", "properties": properties, "additionalProperties": false } })
}

/// Returns nested objects, with a claim in the innermost one.
fn levels(count: usize) -> Value {
    (1..count).fold(
        json!({ "a": { "type": "boolean" } }),
        |inner, _| json!({ "a": { "type": "object", "properties": inner, "additionalProperties": false } }),
    )
}

#[tokio::test]
async fn a_schema_of_claims_is_held_to_its_bounds() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    let path = format!("{site}/adaptive-schema");
    let flags = |count: usize| -> Value {
        (0..count)
            .map(|at| (format!("c{at}"), json!({ "type": "boolean" })))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let named = |length: usize| json!({ "a".repeat(length): { "type": "boolean" } });
    let described = |length: usize| json!({ "a": { "type": "boolean", "description": "d".repeat(length) } });
    let values = |count: usize| {
        let values: Vec<String> = (0..count).map(|at| format!("v{at}")).collect();
        json!({ "a": { "type": "string", "enum": values } })
    };
    let value = |length: usize| json!({ "a": { "type": "string", "enum": ["v".repeat(length)] } });
    let large = |count: usize| -> Value {
        let claim = json!({ "type": "boolean", "description": "d".repeat(400) });
        (0..count).map(|at| (format!("c{at}"), claim.clone())).collect::<serde_json::Map<_, _>>().into()
    };
    for (within, beyond, message) in [
        (flags(200), flags(201), "200"),
        (levels(5), levels(6), "5"),
        (named(64), named(65), "64"),
        (described(512), described(513), "512"),
        (values(100), values(101), "100"),
        (value(128), value(129), "128"),
        (large(140), large(190), "bytes"),
    ] {
        s.put(&path, claims(&within)).await;
        let refusal = s.invalid("PUT", &path, claims(&beyond), "jsonSchema").await;
        assert!(refusal.contains(message), "{message}: {refusal}");
    }
}

#[tokio::test]
async fn providers_and_specifications_are_bounded() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    let providers = format!("{org}/saml");
    let specification = |at: usize| format!("{org}/openapi/s{at}");
    let source = || json!({ "source": { "text": "{}" } });
    for at in 0..50 {
        s.post(&providers, 201, json!({ "label": format!("P{at}"), "defaultRole": "read" })).await;
    }
    for at in 0..500 {
        s.ask("PUT", &specification(at), &s.admin, Some(source())).await;
    }
    let provider = json!({ "label": "One more", "defaultRole": "read" });
    let refused = s.ask("POST", &providers, &s.admin, Some(provider)).await;
    assert!(refused.refused(409, "a provider").contains("at most 50 SAML providers"));
    let refused = s.ask("PUT", &specification(500), &s.admin, Some(source())).await;
    assert!(refused.refused(409, "a specification").contains("at most 500 OpenAPI specifications"));
}

#[tokio::test]
async fn translations_and_glossaries_are_bounded() {
    let s = Server::new().await;
    let space = s.space().await;
    let translations = format!("/v1/orgs/{}/translations", s.org);
    let new = || json!({ "source": { "space": space, "language": "en" }, "language": "pt" });
    for _ in 0..50 {
        s.post(&translations, 201, new()).await;
    }
    let refused = s.ask("POST", &translations, &s.admin, Some(new())).await;
    assert!(refused.refused(409, "a translation").contains("at most 50 translations"));
    let glossary = format!("/v1/orgs/{}/glossary", s.org);
    let entries = |count: usize| -> Vec<Value> {
        let term = |at: usize| format!("{at:04}{}", "t".repeat(96));
        (0..count).map(|at| json!({ "term": term(at), "keep": true, "note": "n".repeat(100) })).collect()
    };
    s.put(&glossary, json!({ "entries": entries(700) })).await;
    s.invalid(
        "PUT",
        &glossary,
        json!({ "entries": entries(1_000) }),
        "entries: must be at most 196608 bytes",
    )
    .await;
}

#[tokio::test]
async fn an_update_fetches_as_many_files_as_its_bound() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("{}/content", s.request(&space).await);
    let files = |count: usize| -> Value {
        let files: Vec<Value> = (0..count)
            .map(|at| json!({ "name": format!("f{at}"), "url": "https://files.example/a" }))
            .collect();
        json!({ "operation": "insert_files", "files": files })
    };
    let refused = s.invalid("POST", &path, json!({ "changes": [files(20), files(1)] }), "changes[1]").await;
    assert!(refused.contains("at most 20 files can be fetched per request"), "{refused}");
    let within = s.ask("POST", &path, &s.admin, Some(json!({ "changes": [files(20)] }))).await;
    let refusal = within.body["error"]["message"].as_str().unwrap_or_default();
    assert!(!refusal.contains("at most"), "{refusal}");
}
