//! The page of an operation of a specification, as readers see it.

use serde_json::{Value, json};

use crate::{specs::operation, world::World};

/// Publishes a specification on a page with one operation.
async fn page_of(spec: Value, path: &str, method: &str) -> (World, String) {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    w.public_spec("pets", spec.to_string()).await;
    w.platform.settle().await.expect("settled");
    w.page(&space, "Pets", &operation(path).replace("method=\"get\"", &format!("method=\"{method}\""))).await;
    let (_, site) = w.site("Docs", &space).await;
    let html = w.html(&format!("{site}pets")).await;
    (w, html)
}

/// A specification with an operation that has most elements.
fn payment_spec() -> Value {
    let one = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let kind = |name: &str, about: &str| json!({ "type": "object", "properties": { name: { "type": "string", "description": about } } });
    let content = json!({ "application/json": {
        "schema": { "type": "object", "properties": {
            "way": { "oneOf": [one("Card"), one("Bank")], "discriminator": { "propertyName": "type" } },
            "size": { "type": "integer", "nullable": true, "default": 10, "minimum": 1, "maximum": 100, "readOnly": true },
            "state": { "type": "string", "enum": ["on", "off"], "x-enumDescriptions": ["Running", "Stopped"] } } },
        "examples": { "small": { "summary": "A small one", "value": { "size": 1 } }, "large": { "value": { "size": 99 } } } },
        "application/xml": { "schema": { "type": "string" } } });
    let operation = json!({ "summary": "Pays", "deprecated": true, "operationId": "pay",
        "security": [{ "key": [] }, {}],
        "parameters": [
            { "name": "code", "in": "query", "required": true, "schema": { "type": "string", "pattern": "^[A-Z]{2}$", "minLength": 2 } },
            { "name": "old", "in": "query", "deprecated": true, "schema": { "type": "string" } }],
        "requestBody": { "required": true, "content": content },
        "responses": { "200": { "description": "Fine", "headers": { "X-Rate": { "schema": { "type": "integer" } } }, "content": content },
            "404": { "description": "Gone" } },
        "callbacks": { "paid": { "{$request.body#/url}": { "post": { "summary": "Was paid" } } } } });
    json!({ "openapi": "3.0.3", "info": { "title": "Pay", "version": "1" },
        "servers": [{ "url": "https://{domain}:{port}/api", "variables": {
            "domain": { "default": "wiki.example.com" }, "port": { "default": "8443", "enum": ["8443", "443"] } } }],
        "paths": { "/pay": { "post": operation } },
        "components": { "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "X-Key" } },
            "schemas": { "Card": kind("number", "Sixteen digits"), "Bank": kind("iban", "An account") } } })
}

#[tokio::test]
async fn operation_page_shows_the_whole_specification() {
    let (_w, page) = page_of(payment_spec(), "/pay", "post").await;
    for part in [
        "<section class=\"api\" id=\"post/pay\">",
        "href=\"#post/pay\"",
        "<strong>Pays</strong>",
        "Authorization: key (header X-Key), or none",
        "Servers: <code>https://wiki.example.com:8443/api</code>",
        "<dt><code>https://{domain}:{port}/api</code></dt>",
        "<code>domain</code> Default: <code>wiki.example.com</code>",
        "<code>8443</code> <code>443</code>",
        "Pattern: <code>^[A-Z]{2}$</code>",
        "length ≥ 2",
        "<code>old</code> <span class=\"about\">query, string</span> <span class=\"tag\">deprecated</span>",
        "<summary><code>Card</code> <span class=\"about\">type: <code>Card</code></span></summary>",
        "<summary><code>Bank</code> <span class=\"about\">type: <code>Bank</code></span></summary>",
        "<code>number</code>",
        "Sixteen digits",
        "<code>iban</code>",
        "integer or null",
        "Default: <code>10</code>",
        "≥ 1",
        "≤ 100",
        "read-only",
        "<code>on</code> Running",
        ">A small one</label>",
        ">large</label>",
        "<code>application/xml</code>",
        "<code>X-Rate</code>",
        "<p class=\"response\"><code class=\"status s4\">404</code> <span class=\"api-about\">Gone</span></p>",
        "<summary><span class=\"method post\">POST</span> paid <span class=\"api-about\">Was paid</span></summary>",
        "X-Key: YOUR_API_KEY",
        ">JavaScript</label>",
        ">Python</label>",
        ">Go</label>",
    ] {
        assert!(page.contains(part), "the page lacks {part}:\n{page}");
    }
    crate::table::harmless(&page, "the page");
}

#[tokio::test]
async fn hostile_texts_of_a_specification_are_escaped() {
    let bad = "</code></script><img src=x onerror=alert(1)><script>alert(1)</script>\"' onload=alert(1) javascript:alert(1)";
    let schema = json!({ "type": "object", "title": bad, "description": bad, "discriminator": { "propertyName": bad },
        "properties": { bad: { "type": bad, "format": bad, "enum": [bad, "b"], "x-enumDescriptions": [bad], "pattern": bad,
            "default": bad, "example": bad }, "b": { "oneOf": [{ "title": bad, "properties": { bad: {} } }, { "title": "b", "minLength": 1 }] } },
        "patternProperties": { bad: {} }, "additionalProperties": { "title": bad }, "required": [bad] });
    let content = json!({ bad: { "schema": schema, "examples": { bad: { "summary": bad, "description": bad, "value": bad },
        "far": { "externalValue": "javascript:alert(1)" } } }, "application/xml": { "schema": schema },
        "multipart/form-data": { "schema": schema } });
    let parameter = |place: &str| json!({ "name": bad, "in": place, "required": true, "description": bad, "schema": schema, "example": bad });
    let operation = json!({ "summary": bad, "description": bad, "operationId": bad, "security": [{ "key": [bad], bad: [bad] }],
        "servers": [{ "url": format!("javascript:{bad}{{v}}"), "description": bad, "variables": { "v": { "default": bad, "enum": [bad] } } }],
        "parameters": [parameter("query"), parameter("header"), parameter("cookie")],
        "requestBody": { "description": bad, "content": content },
        "responses": { bad: { "description": bad, "content": content, "headers": { bad: { "schema": schema } } }, "200": { "description": bad } },
        "callbacks": { bad: { bad: { "post": { "summary": bad, "requestBody": { "content": content } } } } } });
    let spec = json!({ "openapi": "3.1.0", "info": { "title": bad, "version": bad }, "paths": { "/a": { "post": operation } },
        "components": { "securitySchemes": { "key": { "type": "apiKey", "in": bad, "name": bad, "description": bad } } } });
    let (_w, page) = page_of(spec, "/a", "post").await;
    assert!(page.contains(">curl</label>"), "{page}");
    crate::table::harmless(&page, "the page");
    assert!(!page.contains("<img src=x"));
}

#[tokio::test]
async fn operation_page_shows_links_flows_and_given_samples() {
    let docs = json!({ "url": "https://guide.test/pay", "description": "About payments" });
    let confirm =
        json!({ "confirmed": { "{$request.body#/confirm}": { "put": { "summary": "Was confirmed" } } } });
    let operation = json!({ "summary": "Pays", "operationId": "pay", "externalDocs": docs,
        "security": [{ "login": ["write"], "token": [] }],
        "x-codeSamples": [{ "lang": "Ruby", "label": "Ruby client", "source": "client.pay" },
            { "lang": "Shell", "source": "paytool --now" }],
        "parameters": [
            { "name": "token", "in": "header", "schema": { "type": "string" } },
            { "name": "filter", "in": "query", "style": "deepObject", "required": true, "schema": { "type": "object" },
                "example": { "state": "open" } },
            { "name": "id", "in": "path", "required": true, "schema": { "type": "string", "examples": ["one", "two"] } }],
        "responses": { "200": { "description": "The *payment*, as `JSON`:\n\nMore.", "links": {
                "next": { "operationId": "pay", "description": "The _next_ payment", "parameters": { "id": "$response.body#/next" } },
                "same": { "operationRef": "#/paths/~1pay~1{id}/post", "requestBody": "$request.body" },
                "far": { "operationId": "elsewhere" } },
            "content": { "application/json": { "schema": { "type": "object", "externalDocs": { "url": "javascript:alert(1)" },
                "properties": { "pair": { "type": "array", "prefixItems": [{ "type": "string" }] } } } } } } },
        "callbacks": { "paid": { "{$request.body#/url}": { "post": { "summary": "Was paid", "callbacks": confirm } } },
            "late": { "{$request.body#/url}": { "post": { "description": "Was *late*.\n\nMore.", "deprecated": true } } } } });
    let flows = json!({ "authorizationCode": { "authorizationUrl": "https://login.test/auth", "tokenUrl": "https://login.test/token",
        "scopes": { "write": "Change payments" } } });
    let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pay", "version": "1" },
        "servers": [{ "url": "//pay.test" }],
        "paths": { "/pay/{id}": { "post": operation } },
        "components": { "securitySchemes": { "login": { "type": "oauth2", "flows": flows },
            "token": { "type": "http", "scheme": "bearer", "bearerFormat": "JWT" } } } });
    let (_w, page) = page_of(spec, "/pay/{id}", "post").await;
    for part in [
        "<a href=\"https://guide.test/pay\" rel=\"noopener\">About payments</a>",
        "authorizationUrl: <a href=\"https://login.test/auth\" rel=\"noopener\">https://login.test/auth</a>",
        "<code>write</code> Change payments",
        "token (HTTP bearer, JWT)",
        ">Ruby client</label>",
        "client",
        ">Shell</label>",
        "paytool",
        ">JavaScript</label>",
        "https://pay.test/pay/one?filter%5Bstate%5D=open",
        "Example: <code>one</code> <code>two</code>",
        "<span class=\"api-about\">The payment, as JSON:</span>",
        "<p class=\"head\">Links</p>",
        "<code>next</code> → <a href=\"#post/pay/%7Bid%7D\"><code>pay</code></a>",
        "The <em>next</em> payment",
        "<code>id</code>: <code>$response.body#/next</code>",
        "<code>same</code> → <a href=\"#post/pay/%7Bid%7D\"><code>POST /pay/{id}</code></a>",
        "Request body: <code>$request.body</code>",
        "<code>far</code> → <code>elsewhere</code>",
        "<code>[0]</code> <span class=\"about\">string</span>",
        "<span class=\"method post\">POST</span> paid <span class=\"api-about\">Was paid</span></summary>",
        "<span class=\"method post\">POST</span> late <span class=\"api-about\">Was late.</span> <span class=\"tag\">deprecated</span></summary>",
        "<span class=\"method put\">PUT</span> confirmed <span class=\"api-about\">Was confirmed</span></summary>",
    ] {
        assert!(page.contains(part), "the page lacks {part}:\n{page}");
    }
    assert!(!page.contains(">curl</label>"), "the specification has a sample for the shell");
    let at = |name: &str| page.find(&format!("<dt><code>{name}</code>")).expect("a parameter");
    assert!(at("id") < at("filter") && at("filter") < at("token"), "the path is first, headers are last");
    crate::table::harmless(&page, "the page");
}
