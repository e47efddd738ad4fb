//! The MCP endpoint, tested with the client of the official SDK and with the command line of the MCP inspector if that
//! is installed: `npm install @modelcontextprotocol/inspector`, and set `DOCS_TEST_NODE_MODULES` to the folder
//! `node_modules`.

use std::{collections::HashMap, path::Path};

use docs_core::model::{SiteVisibility, SpaceId};
use poem::http::{HeaderName, HeaderValue, StatusCode};
use rmcp::{
    RoleClient, ServiceExt as _,
    model::CallToolRequestParams,
    service::RunningService,
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::{Value, json};

use crate::{
    accessible::tool,
    chromium::skip,
    world::{World, token},
};

async fn guide(w: &World) -> SpaceId {
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    w.page(&space, "Invoices", "Intro.\n\n## Refunds\n\nMoney comes back soon.").await;
    w.platform.settle().await.expect("settled");
    space
}

/// Creates a client of a site's endpoint.
async fn client(base: &str, path: &str, token: Option<&str>) -> Option<RunningService<RoleClient, ()>> {
    // The client requires a TLS provider, even though the test server does not use TLS.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = StreamableHttpClientTransportConfig::with_uri(format!("{base}{path}~site/mcp"));
    if let Some(token) = token {
        let value = HeaderValue::from_str(&format!("Bearer {token}")).expect("a header");
        config = config.custom_headers(HashMap::from([(HeaderName::from_static("authorization"), value)]));
    }
    ().serve(StreamableHttpClientTransport::from_config(config)).await.ok()
}

async fn call(client: &RunningService<RoleClient, ()>, tool: &str, arguments: Value) -> Value {
    let arguments = arguments.as_object().cloned().expect("an object");
    let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    serde_json::to_value(client.call_tool(call).await.expect("an answer")).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_reads_a_page_by_its_former_path() {
    let w = World::new().await;
    let space = guide(&w).await;
    let page = w.page(&space, "Old", "Moved since.").await;
    let (_, path) = w.site("Docs", &space).await;
    w.edit(&space, json!([{ "operation": "update_page", "page": page, "slug": "new" }])).await;
    let base = w.serve().await;
    let agent = client(&base, &path, None).await.expect("connected");
    for page in ["old", "old.md", "new"] {
        let read = call(&agent, "read_page", json!({ "page": page })).await;
        assert!(
            read["content"][0]["text"].as_str().expect("text").contains("Moved since."),
            "{page}: {read}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_client_searches_lists_and_reads_pages() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (_, path) = w.site("Docs", &space).await;
    w.platform.settle().await.expect("settled");
    let base = w.serve().await;
    let agent = client(&base, &path, None).await.expect("connected");
    let tools = agent.list_all_tools().await.expect("tools");
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["search", "read_page", "list_pages"]);
    let found = call(&agent, "search", json!({ "query": "money" })).await;
    let page = &found["structuredContent"]["pages"][0];
    assert_eq!(page["title"], "Invoices", "{found}");
    assert_eq!(page["sections"][0]["heading"], "Refunds");
    let listed = call(&agent, "list_pages", json!({})).await;
    let pages = listed["structuredContent"]["pages"].as_array().expect("pages").clone();
    assert_eq!(pages.len(), 2, "{listed}");
    for page in [page["url"].clone(), pages[1]["url"].clone(), json!("invoices"), json!("/invoices.md")] {
        let read = call(&agent, "read_page", json!({ "page": page })).await;
        let text = read["content"][0]["text"].as_str().expect("text");
        assert!(text.starts_with("# Invoices\n") && text.contains("## Refunds"), "{page}: {read}");
    }
    for (tool, arguments) in [
        ("read_page", json!({ "page": "no-such-page" })),
        ("read_page", json!({})),
        ("search", json!({ "query": " " })),
        ("search", json!({ "query": 3 })),
        ("list_pages", json!({ "offset": "x" })),
    ] {
        let refused = call(&agent, tool, arguments.clone()).await;
        assert_eq!(refused["isError"], true, "{tool} {arguments}: {refused}");
    }
    agent.cancel().await.expect("ended");
}

/// Short links of a page become the paths of their pages, which may be long.
#[tokio::test(flavor = "multi_thread")]
async fn mcp_reports_a_page_that_is_too_large_to_read() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let mut into: Option<String> = None;
    for level in 0..9 {
        let title = format!("{level}{}", "a".repeat(98));
        let mut insert =
            json!({ "operation": "insert_page", "title": title, "document": { "markdown": "Text." } });
        if let Some(parent) = &into {
            insert["into"] = parent.as_str().into();
        }
        into = Some(w.edit(&space, json!([insert])).await.remove(0).to_string());
    }
    let target = into.expect("a page");
    w.page(&space, "Large", &format!("[a](/pages/{target}) ").repeat(4_000)).await;
    w.page(&space, "Small", "Text.").await;
    let (_, path) = w.site("Docs", &space).await;
    let base = w.serve().await;
    let agent = client(&base, &path, None).await.expect("connected");
    let read = call(&agent, "read_page", json!({ "page": "large" })).await;
    assert_eq!(read["isError"], true);
    let why = read["content"][0]["text"].as_str().expect("text");
    assert!(why.starts_with("page: must have at most 2097152 bytes of Markdown, has "), "{why}");
    let read = call(&agent, "read_page", json!({ "page": "small" })).await;
    assert!(read["content"][0]["text"].as_str().expect("text").contains("Text."), "{read}");
}

/// Returns the output of the inspector's command line, or `None` if node is not installed.
async fn inspect(script: &Path, endpoint: &str, asked: &[&str]) -> Option<Value> {
    // The inspector stores its configuration in the home folder.
    let home = tempfile::tempdir().expect("a folder");
    let mut command = tokio::process::Command::new("node");
    command.arg(script).args(["--cli", endpoint, "--transport", "http"]).args(asked);
    let said = match command.env("HOME", home.path()).kill_on_drop(true).output().await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            skip("node is not installed");
            return None;
        }
        said => said.expect("it runs"),
    };
    let (told, why) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    assert!(said.status.success(), "{asked:?}: {told}{why}");
    Some(serde_json::from_str(&told).unwrap_or_else(|error| panic!("{asked:?}: {error}: {told}{why}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_inspector_lists_and_calls_every_tool() {
    let Some(script) = tool("@modelcontextprotocol/inspector/clients/launcher/build/index.js") else {
        return;
    };
    let w = World::new().await;
    let space = guide(&w).await;
    let (_, path) = w.site("Docs", &space).await;
    w.platform.settle().await.expect("settled");
    let endpoint = format!("{}{path}~site/mcp", w.serve().await);
    let Some(listed) = inspect(&script, &endpoint, &["--method", "tools/list"]).await else { return };
    let tools = listed["tools"].as_array().expect("tools");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["search", "read_page", "list_pages"]);
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["query"]), "{listed}");
    for (name, argument, place, expected) in [
        ("search", Some("query=money"), "/structuredContent/pages/0/title", json!("Invoices")),
        ("list_pages", None, "/structuredContent/total", json!(2)),
        (
            "read_page",
            Some("page=invoices"),
            "/content/0/text",
            json!("# Invoices\n\nIntro.\n\n## Refunds\n\nMoney comes back soon.\n"),
        ),
    ] {
        let mut asked = vec!["--method", "tools/call", "--tool-name", name];
        asked.extend(argument.into_iter().flat_map(|argument| ["--tool-arg", argument]));
        let Some(answer) = inspect(&script, &endpoint, &asked).await else { return };
        assert_eq!(answer.pointer(place), Some(&expected), "{name}: {answer}");
        assert_ne!(answer["isError"], true, "{name}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_endpoint_enforces_visitor_authentication() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (site, path) = w.site("Docs", &space).await;
    let auth = serde_json::from_value(json!({ "backend": "custom", "fallbackURL": "https://login.test/in" }));
    w.me().org(&w.org).site(&site).update_publishing_auth(auth.expect("a change")).await.expect("changed");
    w.show(&site, SiteVisibility::VisitorAuth).await;
    let base = w.serve().await;
    assert!(client(&base, &path, None).await.is_none());
    assert!(client(&base, &path, Some("x.y.z")).await.is_none());
    let good = token(&w.key(&site).await, &json!({ "exp": w.seconds() + 600 }));
    let agent = client(&base, &path, Some(&good)).await.expect("connected");
    let listed = call(&agent, "list_pages", json!({})).await;
    assert_eq!(listed["structuredContent"]["total"], 2, "{listed}");
    agent.cancel().await.expect("ended");
}

#[tokio::test]
async fn site_setting_disables_the_mcp_endpoint() {
    let w = World::new().await;
    let space = guide(&w).await;
    let (site, path) = w.site("Docs", &space).await;
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let headers = [("accept", "application/json, text/event-stream"), ("content-type", "application/json")];
    let endpoint = format!("{path}~site/mcp");
    let on = w.send(&endpoint, &headers, message.clone()).await;
    assert_eq!(on.status, StatusCode::OK, "{on:?}");
    assert!(on.body.contains("read_page") && on.header("cache-control") == "no-store", "{on:?}");
    assert!(w.html(&format!("{path}llms.txt")).await.contains(&endpoint));
    assert_eq!(w.get(&endpoint).await.status, StatusCode::METHOD_NOT_ALLOWED);
    for wrong in ["", "{", "[]", "{\"jsonrpc\":\"2.0\"}", "null"] {
        let got = w.send(&endpoint, &headers, wrong.to_owned()).await;
        assert!(got.status.is_client_error(), "{wrong}: {got:?}");
    }
    assert_eq!(w.send(&endpoint, &headers, "x".repeat(300_000)).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    w.look(&site, json!({ "pageActions": { "externalAI": true, "markdown": true, "mcp": false } })).await;
    assert_eq!(w.send(&endpoint, &headers, message).await.status, StatusCode::NOT_FOUND);
    assert!(!w.html(&format!("{path}llms.txt")).await.contains(&endpoint));
}
