//! Feedback of AI agents about sites over HTTP.

use serde_json::{Value, json};

use crate::server::{Answer, Server, id};

/// Returns feedback with all fields except those about the agent.
pub(crate) fn feedback() -> Value {
    json!({
        "subject": { "kind": "documentation", "url": "https://docs.example/sites/docs/start" },
        "feedback": {
            "category": "documentation", "severity": "high", "goal": "Install the server on Linux",
            "summary": "The install command fails", "detail": "The package has another name.",
            "workaround": "Found the name in the changelog.",
            "metrics": { "callCount": 3, "successCount": 1, "retryCount": 2 },
        },
    })
}

/// Returns feedback in the form for pages.
pub(crate) fn page_feedback() -> Value {
    json!({
        "feedback": "The install command fails", "goal": "Install the server on Linux",
        "url": "https://docs.example/sites/docs/start", "spaceId": "space", "pageId": "page", "source": "assistant",
    })
}

/// Returns a valid body of an operation.
pub(crate) fn body(operation: &str) -> Option<Value> {
    match operation {
        "submitAgentFeedbackToSite" => Some(feedback()),
        "submitSiteAgentFeedback" => Some(page_feedback()),
        _ => None,
    }
}

/// Creates a published site, and returns its path.
async fn published(s: &Server) -> String {
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    site
}

async fn anonymous(s: &Server, path: &str, body: Value) -> Answer {
    s.send("POST", path, None, Some(("application/json", body.to_string()))).await
}

/// Returns a body with another value at a JSON pointer.
fn with(mut body: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    body.pointer_mut(parent).expect("an object")[field] = value;
    body
}

#[tokio::test]
async fn feedback_about_every_kind_of_subject_is_listed() {
    let s = Server::new().await;
    let path = format!("{}/agents/feedback", published(&s).await);
    let agent = json!({
        "model": "a model", "userAgent": "agent/1.2.3", "correlationId": "call 1", "onDemand": true,
    });
    let mut expected = Vec::new();
    for subject in [
        json!({ "kind": "mcp-tool", "toolName": "invoke", "target": "createOrder" }),
        json!({ "kind": "mcp-tool", "toolName": "search" }),
        json!({ "kind": "cli-command", "command": "docs build", "flags": ["--watch", "-v"] }),
        json!({ "kind": "api-endpoint", "method": "PATCH", "path": "/v1/orders/{orderId}" }),
        json!({ "kind": "documentation", "url": "https://docs.example/start" }),
        json!({ "kind": "generic" }),
    ] {
        s.clock.advance(std::time::Duration::from_millis(1));
        let sent = with(with(feedback(), "/subject", subject), "/reportedBy", agent.clone());
        let receipt = anonymous(&s, &path, sent.clone()).await.is(201, "an anonymous visitor");
        assert!(receipt["result"].as_str().is_some_and(|text| text.contains("was stored")), "{receipt}");
        let mut entry = sent;
        entry["object"] = json!("agent-feedback");
        entry["id"] = receipt["id"].clone();
        expected.insert(0, entry);
    }
    let list = s.get(&path).await;
    assert_eq!(list["count"], 6);
    let mut items = list["items"].as_array().expect("items").clone();
    for item in &mut items {
        let created = item.as_object_mut().expect("an object").remove("createdAt");
        assert!(created.is_some_and(|created| created.is_string()));
    }
    assert_eq!(items, expected);
    s.check().await;
}

#[tokio::test]
async fn feedback_about_a_page_is_listed_with_its_page() {
    let s = Server::new().await;
    let site = published(&s).await;
    let answer = anonymous(&s, &format!("{site}/agent-feedback"), page_feedback()).await;
    assert_eq!(answer.is(204, "an anonymous visitor"), Value::Null);
    let entry = s.get(&format!("{site}/agents/feedback")).await["items"][0].clone();
    assert_eq!(entry["page"], json!({ "spaceId": "space", "pageId": "page", "source": "assistant" }));
    assert_eq!(entry["subject"]["url"], page_feedback()["url"]);
    assert_eq!(entry["feedback"]["summary"], page_feedback()["feedback"]);
}

#[tokio::test]
async fn invalid_feedback_is_rejected_with_its_field() {
    let s = Server::new().await;
    let site = published(&s).await;
    let path = format!("{site}/agents/feedback");
    let of = |subject: Value| with(feedback(), "/subject", subject);
    for (body, message) in [
        (json!({}), "subject: is required"),
        (json!({ "subject": { "kind": "generic" } }), "feedback: is required"),
        (of(json!({})), "subject.kind: is required"),
        (of(json!({ "kind": "page" })), "subject.kind: unknown variant `page`, expected one of `mcp-tool`"),
        (of(json!({ "kind": "mcp-tool" })), "subject.toolName: is required"),
        (of(json!({ "kind": "cli-command", "command": 1 })), "subject.command: invalid type"),
        (
            of(json!({ "kind": "cli-command", "command": "a", "flags": [1] })),
            "subject.flags[0]: invalid type",
        ),
        (
            of(json!({ "kind": "api-endpoint", "method": "TRACE", "path": "/" })),
            "subject.method: unknown variant",
        ),
        (of(json!({ "kind": "api-endpoint", "method": "GET" })), "subject.path: is required"),
        (
            of(json!({ "kind": "documentation", "url": "start" })),
            "subject.url: must be an absolute http or https URL",
        ),
        (with(feedback(), "/feedback/category", json!("bug")), "feedback.category: unknown variant"),
        (with(feedback(), "/feedback/severity", json!("urgent")), "feedback.severity: unknown variant"),
        (
            with(feedback(), "/feedback/summary", json!("")),
            "feedback.summary: must be at least 1 characters, has 0",
        ),
        (
            with(feedback(), "/feedback/metrics/callCount", json!(-1)),
            "feedback.metrics.callCount: invalid value",
        ),
        (with(feedback(), "/reportedBy", json!({ "onDemand": "yes" })), "reportedBy.onDemand: invalid type"),
    ] {
        s.invalid("POST", &path, body, message).await;
    }
    let path = format!("{site}/agent-feedback");
    for (field, value) in [
        ("feedback", json!("")),
        ("url", json!("/start")),
        ("spaceId", json!("")),
        ("pageId", json!("no id")),
        ("source", json!("web")),
    ] {
        s.invalid("POST", &path, with(page_feedback(), &format!("/{field}"), value), field).await;
    }
}

#[tokio::test]
async fn texts_of_feedback_are_accepted_up_to_their_bounds() {
    let s = Server::new().await;
    let site = published(&s).await;
    let (tool, flag) =
        (json!({ "kind": "mcp-tool", "toolName": "a" }), json!({ "kind": "cli-command", "command": "a" }));
    let endpoint = json!({ "kind": "api-endpoint", "method": "GET", "path": "/" });
    let of = |subject: &Value| with(feedback(), "/subject", subject.clone());
    let by = |field: &str| (with(feedback(), "/reportedBy", json!({})), format!("/reportedBy/{field}"));
    let about = |field: &str| (feedback(), format!("/feedback/{field}"));
    let texts = [
        (by("model"), 100),
        (by("userAgent"), 512),
        (by("correlationId"), 100),
        ((of(&tool), "/subject/toolName".to_owned()), 200),
        ((of(&tool), "/subject/target".to_owned()), 200),
        ((of(&flag), "/subject/command".to_owned()), 200),
        ((of(&endpoint), "/subject/path".to_owned()), 500),
        (about("goal"), 1_024),
        (about("summary"), 256),
        (about("detail"), 4_096),
        (about("workaround"), 2_048),
    ];
    let path = format!("{site}/agents/feedback");
    for ((body, pointer), most) in texts {
        s.post(&path, 201, with(body.clone(), &pointer, json!("ä".repeat(most)))).await;
        let field = pointer[1..].replace('/', ".");
        let message = format!("{field}: must be at most {most} characters, has {}", most + 1);
        s.invalid("POST", &path, with(body, &pointer, json!("ä".repeat(most + 1))), &message).await;
    }
    let flags = |number: usize, length: usize| {
        with(of(&flag), "/subject/flags", json!(vec!["ä".repeat(length); number]))
    };
    s.post(&path, 201, flags(50, 100)).await;
    s.invalid("POST", &path, flags(51, 1), "subject.flags: must have at most 50 items, has 51").await;
    s.invalid("POST", &path, flags(1, 101), "subject.flags[0]: must be at most 100 characters, has 101")
        .await;
    let path = format!("{site}/agent-feedback");
    for (field, most) in [("feedback", 2_048), ("goal", 1_024)] {
        let long = |length: usize| with(page_feedback(), &format!("/{field}"), json!("ä".repeat(length)));
        s.post(&path, 204, long(most)).await;
        s.invalid("POST", &path, long(most + 1), &format!("{field}: must be at most {most} characters"))
            .await;
    }
}

#[tokio::test]
async fn visitor_token_submits_to_its_site_only() {
    let s = Server::new().await;
    let site = published(&s).await;
    let other = published(&s).await;
    let url = s.get(&site).await["urls"]["published"].clone();
    let found = anonymous(&s, "/v1/urls/published", json!({ "url": url })).await.is(200, "resolved");
    let token = found["apiToken"].as_str().expect("a token");
    for path in ["agents/feedback", "agent-feedback"] {
        let body = if path == "agent-feedback" { page_feedback() } else { feedback() };
        let done = s.ask("POST", &format!("{site}/{path}"), token, Some(body.clone())).await;
        assert!(done.status < 300, "{path}: {done:?}");
        s.ask("POST", &format!("{other}/{path}"), token, Some(body)).await.refused(404, "another site");
    }
    s.ask("GET", &format!("{site}/agents/feedback"), token, None).await.refused(404, "a visitor");
    s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    let late = s.ask("POST", &format!("{site}/agents/feedback"), token, Some(feedback())).await;
    late.refused(404, "the site is not published");
}

#[tokio::test]
async fn repeated_feedback_of_a_user_is_stored_once() {
    let s = Server::new().await;
    let site = published(&s).await;
    let path = format!("{site}/agents/feedback");
    let send = async |token: Option<&str>| {
        let authorization = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![("idempotency-key", "a-key")];
        headers.extend(authorization.as_deref().map(|value| ("authorization", value)));
        s.send_with("POST", &path, &headers, Some(("application/json", feedback().to_string()))).await
    };
    let first = send(Some(&s.outsider)).await;
    let again = send(Some(&s.outsider)).await;
    assert_eq!((first.status, id(&first.body)), (201, id(&again.body)));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    // Visitors have no identity, so their requests are independent.
    let (one, other) = (send(None).await, send(None).await);
    assert_ne!(id(&one.body), id(&other.body));
    assert_eq!(s.get(&path).await["count"], 3);
    // A replay needs access to the published site.
    s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    send(Some(&s.outsider)).await.refused(404, "not published");
}

#[tokio::test]
async fn feedback_over_the_rate_returns_429() {
    let s = Server::new().await;
    let path = format!("{}/agents/feedback", published(&s).await);
    for _ in 0..60 {
        anonymous(&s, &path, feedback()).await.is(201, "within the rate");
    }
    let answer = anonymous(&s, &path, feedback()).await;
    assert_eq!(
        answer.refused(429, "over the rate"),
        "a site accepts feedback 60 times a minute; try again later"
    );
    assert!(answer.header("retry-after").is_some());
}
