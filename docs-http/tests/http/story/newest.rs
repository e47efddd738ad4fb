//! Operations that only newer clients know.

use serde_json::json;

use super::has;
use crate::{
    openapi_specs,
    server::{Server, id},
};

pub(super) async fn story(s: &Server) {
    let space = s.space().await;
    let request = s.request(&space).await;
    let document = json!({ "markdown": "[Former](/gone.md)" });
    let page = json!({ "operation": "insert_page", "title": "Start", "document": document });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
    let page = id(&s.get(&format!("{request}/content/pages")).await["pages"][0]);
    s.get(&format!("{request}/content/page/{page}/meta-links")).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let content = format!("/v1/spaces/{space}");
    let revision = id(&s.get(&format!("{content}/content")).await);
    s.get(&format!("{content}/content/page/{page}/meta-links")).await;
    s.get(&format!("{content}/revisions/{revision}/page/{page}/meta-links")).await;
    for path in [format!("{content}/embed"), "/v1/urls/embed".to_owned()] {
        has(
            &s.get(&format!("{path}?url=https%3A%2F%2Ffilms.example%2Fone")).await,
            &["type", "title", "site"],
        );
    }
    let found = s.get(&format!("/v1/urls/content?url=https%3A%2F%2Fdocs.example%2Fapp%2Fs%2F{space}")).await;
    assert_eq!(found["space"]["id"], space);
    openapi_specs::spec(s, "computed").await;
    for operation in ["getComputedRevision", "getComputedDocument"] {
        let body = openapi_specs::computed(operation, "computed");
        let path = operation.trim_start_matches("getComputed").to_lowercase();
        let computed = s.post(&format!("{content}/content/computed/{path}"), 200, body).await.body;
        has(&computed, if path == "document" { &["nodes"] } else { &["pages[].path"] });
    }
    let runs = format!("/v1/org/{}/imports", s.org);
    let source = json!({ "type": "website", "url": "https://web.example/start" });
    let target = json!({ "space": space, "changeRequest": s.request(&space).await.rsplit('/').next() });
    let run = s.post(&runs, 201, json!({ "source": source, "target": target })).await.body;
    let run = format!("{runs}/{}", id(&run));
    has(&s.get(&runs).await, &["items[].id", "items[].status", "items[].target.space"]);
    assert_eq!(s.post(&format!("{run}/cancel"), 200, json!({})).await.body["status"], "cancelled");
    assert_eq!(s.get(&run).await["status"], "cancelled");
    let file = crate::storage_uploads::file("guide.md", 9);
    let upload = s.post(&format!("/v1/orgs/{}/storage/upload", s.org), 201, file).await.body;
    has(&upload, &["object", "url", "key"]);
    site(s, &space).await;
}

async fn site(s: &Server, space: &str) {
    let site = s.site("Newer", &[space]).await;
    let section = json!({ "spaceId": s.space().await, "title": "API" });
    s.post(&format!("{site}/sections"), 201, section).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    has(&s.get(&format!("{site}/publishing/preview")).await, &["url"]);
    let empty = s.site("Empty", &[]).await;
    s.ask("POST", &format!("{empty}/template"), &s.admin, None).await.is(200, "the template is applied");
    let links = format!("{site}/external-links");
    let link = s.post(&links, 201, json!({ "title": "Forum", "url": "https://forum.example/" })).await.body;
    let link = format!("{links}/{}", id(&link));
    assert_eq!(s.patch(&link, json!({ "title": "Community" })).await["title"], "Community");
    s.ask("DELETE", &link, &s.admin, None).await.is(204, &link);
    let place = id(&s.get(&format!("{site}/site-spaces")).await["items"][0]);
    let redirect = json!({ "source": "/old", "destination": { "kind": "site-space", "siteSpaceId": place } });
    has(
        &s.put(&format!("{site}/redirects"), json!({ "redirects": [redirect] })).await,
        &["results[].status"],
    );
    s.post(&format!("{site}/site-spaces/{place}/duplicate"), 201, json!({})).await;
    findings(s, &site).await;
    s.post(&format!("{site}/search/prewarm"), 204, json!({})).await;
    s.post(&format!("{site}/insights/events"), 204, crate::site_settings::events()).await;
    let feedback = format!("{site}/agents/feedback");
    has(&s.post(&feedback, 201, crate::agent_feedback::feedback()).await.body, &["id", "result"]);
    s.post(&format!("{site}/agent-feedback"), 204, crate::agent_feedback::page_feedback()).await;
    has(&s.get(&feedback).await, &["items[].feedback.summary"]);
    let sync = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main", "direction": "both" });
    s.put(&format!("/v1/spaces/{space}/git/sync"), sync).await;
    let installation = format!("/v1/git/installations/{space}");
    has(&s.get(&installation).await, &["id"]);
    has(&s.get(&format!("{site}/spaces/git/installations")).await, &["items[].id"]);
    s.ask("DELETE", &installation, &s.admin, None).await.is(205, &installation);
}

async fn findings(s: &Server, site: &str) {
    let list = s.get(&format!("{site}/findings")).await;
    has(&list, &["items[].id", "items[].severity", "items[].description.nodes"]);
    let finding = format!("{site}/findings/{}", id(&list["items"][0]));
    has(&s.get(&finding).await, &["title", "urls.location"]);
    assert_eq!(s.patch(&finding, json!({ "status": "canceled" })).await["status"], "canceled");
    has(&s.get(&format!("{finding}/pages")).await, &["items[].page.path", "items[].spaceId"]);
    for empty in ["questions", "records", "change-requests"] {
        assert_eq!(s.get(&format!("{finding}/{empty}")).await["items"], json!([]), "{empty}");
    }
    has(&s.get(&format!("{site}/stats/findings")).await, &["total", "statuses.canceled", "severities.low"]);
}
