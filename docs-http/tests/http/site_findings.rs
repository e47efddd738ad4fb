//! Findings of sites, over HTTP.

use docs_core::model::Role;
use serde_json::{Value, json};

use crate::{
    refusals::bearer,
    server::{Server, id},
};

/// Creates a site with a space whose page has a broken link. Returns the path of the site and the id of the space.
async fn linked(s: &Server) -> (String, String) {
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let request = s.request(&space).await;
    let page =
        json!({ "operation": "insert_page", "title": "Start", "document": { "markdown": "[a](/gone.md)" } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    (site, space)
}

#[tokio::test]
async fn finding_is_listed_counted_read_and_closed() {
    let s = Server::new().await;
    let (site, space) = linked(&s).await;
    let list = s.get(&format!("{site}/findings")).await;
    let finding = list["items"][0].clone();
    assert_eq!(list, json!({ "count": 1, "complete": true, "items": [finding] }));
    let path = format!("{site}/findings/{}", id(&finding));
    let revision = s.get(&format!("/v1/spaces/{space}/content")).await;
    let leaf = |text: &str, marks: Value| json!({ "object": "leaf", "text": text, "marks": marks });
    let text = "1 page links to a target that does not exist or that you cannot access: ";
    let leaves = json!([
        leaf(text, json!([])),
        leaf("/gone.md", json!([{ "object": "mark", "type": "code" }])),
        leaf(". Change or remove the links, or restore the target.", json!([])),
    ]);
    let paragraph = json!({
        "object": "block", "type": "paragraph", "data": {}, "isVoid": false,
        "nodes": [{ "object": "text", "leaves": leaves }],
    });
    assert_eq!(
        finding,
        json!({
            "object": "site-finding", "id": id(&finding), "scan": revision["id"], "topic": null,
            "title": "Broken link to /gone.md", "changeRequests": 0, "pages": 1, "records": 0, "questions": 0,
            "status": "open", "type": "broken-link", "severity": "low", "autoFixable": false,
            "description": { "object": "document", "data": {}, "nodes": [paragraph] },
            "createdAt": revision["createdAt"], "updatedAt": revision["createdAt"],
            "urls": { "location": format!("{}{path}", s.platform.urls().base()) },
        })
    );
    assert_eq!(s.get(&path).await, finding);
    let pages = s.get(&format!("{path}/pages")).await;
    let page = &revision["pages"][0];
    assert_eq!(
        pages["items"],
        json!([{
            "object": "site-finding-page", "spaceId": space,
            "page": { "id": page["id"], "type": "document", "title": "Start", "path": page["path"] },
        }])
    );
    for part in ["questions", "records", "change-requests"] {
        assert_eq!(s.get(&format!("{path}/{part}")).await, json!({ "count": 0, "items": [] }), "{part}");
    }
    for status in ["done", "canceled", "open"] {
        assert_eq!(s.patch(&path, json!({ "status": status })).await["status"], status);
        let stats = s.get(&format!("{site}/stats/findings?status={status}")).await;
        let mut statuses = json!({ "open": 0, "done": 0, "canceled": 0 });
        statuses[status] = json!(1);
        assert_eq!(
            stats,
            json!({
                "total": 1, "statuses": statuses, "severities": { "low": 1, "medium": 0, "high": 0 },
                "connectors": {}, "questions": 0, "mergedChangeRequests": 0, "complete": true,
            })
        );
    }
}

#[tokio::test]
async fn filters_of_findings_select_and_reject() {
    let s = Server::new().await;
    let (site, _) = linked(&s).await;
    for (query, count) in [
        ("status=open&severity=low&type=broken-link&type=other&hasChangeRequests=false", 1),
        ("updatedAfter=2020-01-01T00:00:00Z&orderBy=severity", 1),
        ("orderBy=sources", 1),
        ("status=candidate", 0),
        ("type=content-gap", 0),
        ("severity=high", 0),
        ("hasChangeRequests=true", 0),
        ("topic=x", 0),
        ("question=x", 0),
        ("source=questions&source=connection:x", 0),
        ("updatedBefore=2020-01-01T00:00:00Z", 0),
    ] {
        assert_eq!(s.get(&format!("{site}/findings?{query}")).await["count"], count, "{query}");
    }
    for (query, message) in [
        ("status=closed", "status: "),
        ("type=x", "type: "),
        ("severity=critical", "severity: "),
        ("hasChangeRequests=1", "hasChangeRequests: "),
        ("source=connection:", "source: must be `questions`, or `connection:` and the id of a connection"),
        ("updatedAfter=yesterday", "updatedAfter: "),
        ("orderBy=title", "orderBy: "),
        ("limit=1001", "limit: "),
        ("page=x", "page: "),
    ] {
        let path = format!("{site}/findings?{query}");
        let refused = s.ask("GET", &path, &s.admin, None).await.refused(400, query).to_owned();
        assert!(refused.starts_with(message), "{query}: {refused}");
    }
}

#[tokio::test]
async fn only_settable_statuses_of_findings_are_accepted() {
    let s = Server::new().await;
    let (site, _) = linked(&s).await;
    let path = format!("{site}/findings/{}", id(&s.get(&format!("{site}/findings")).await["items"][0]));
    for body in [json!({ "status": "candidate" }), json!({ "status": null }), json!({ "status": "x" })] {
        s.invalid("PATCH", &path, body, "status: ").await;
    }
    s.invalid("PATCH", &path, json!({}), "status: is required").await;
    let trigger = s.ask("POST", &format!("{path}/change-requests"), &s.admin, None).await;
    let message = "`triggerChangeRequestsForSiteFinding` is not served: the platform has no AI model";
    assert_eq!(trigger.refused(501, "no model"), message);
    let topic = s.ask("DELETE", &format!("{site}/topics/x/findings"), &s.admin, None).await;
    let message = "`deleteSiteTopicFindings` is not served: the platform has no AI model";
    assert_eq!(topic.refused(501, "no model"), message);
}

#[tokio::test]
async fn findings_contain_nothing_of_spaces_hidden_from_the_manager() {
    let s = Server::new().await;
    let (site, space) = linked(&s).await;
    s.patch(&format!("/v1/spaces/{space}"), json!({ "defaultLevel": null })).await;
    let (user, token) = s.joining("Max", Some(Role::Read)).await;
    s.post(&format!("{site}/permissions"), 204, json!({ "role": "admin", "users": [user] })).await;
    let finding = id(&s.get(&format!("{site}/findings")).await["items"][0]);
    let get = async |path: &str| s.send("GET", path, Some(&bearer(&token)), None).await;
    let list = get(&format!("{site}/findings")).await.is(200, "a manager");
    assert_eq!(list, json!({ "count": 0, "complete": true, "items": [] }));
    assert_eq!(get(&format!("{site}/stats/findings")).await.is(200, "a manager")["total"], 0);
    for part in ["", "/pages", "/questions", "/records", "/change-requests"] {
        get(&format!("{site}/findings/{finding}{part}")).await.refused(404, part);
    }
}
