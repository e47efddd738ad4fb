//! Redirects of a site that are changed in bulk, and drafts of redirects.

use serde_json::{Value, json};

use crate::server::{Server, id};

#[tokio::test]
async fn redirects_are_changed_in_bulk_by_source() {
    let s = Server::new().await;
    let site = s.site("Docs", &[&s.space().await]).await;
    let place = id(&s.get(&format!("{site}/site-spaces")).await["items"][0]);
    let redirects = format!("{site}/redirects");
    let to = json!({ "kind": "site-space", "siteSpaceId": place });
    let external = json!({ "kind": "external", "url": "https://other.example/" });
    let put = async |items: Value| {
        s.ask("PUT", &redirects, &s.admin, Some(json!({ "redirects": items }))).await.is(200, "put")["results"]
            .clone()
    };
    let made = put(json!([
        { "source": "/a", "destination": to },
        { "source": "/A", "intent": "draft", "destination": external, "captureWildcard": false },
        { "source": "/b", "destination": to, "permanent": true },
        { "source": "/c", "destination": { "kind": "site-space", "siteSpaceId": "unknown" } },
        { "source": "/none", "intent": "publish" },
        { "source": "/none", "destination": null },
    ]))
    .await;
    let (a, draft, b) = (id(&made[0]), id(&made[1]), id(&made[2]));
    assert_eq!(
        made,
        json!([
            { "status": "created", "source": "/a", "draft": false, "id": a },
            { "status": "created", "source": "/A", "draft": true, "id": draft },
            { "status": "created", "source": "/b", "draft": false, "id": b },
            { "status": "error", "source": "/c", "draft": false,
              "error": "destination.siteSpaceId: the site has no such site space" },
            { "status": "error", "source": "/none", "draft": false,
              "error": "source: the site has no draft with this source" },
            { "status": "deleted", "source": "/none", "draft": false },
        ])
    );
    let target = async || s.get(&format!("{site}/redirect?source=/a")).await["target"].clone();
    assert_ne!(target().await, "https://other.example/", "a draft has no effect");
    let changed = put(json!([
        { "source": "/a", "intent": "publish" },
        { "source": "/B", "destination": external },
        { "source": "/d", "intent": "draft", "destination": to },
        { "source": "/d", "intent": "publish" },
        { "source": "/d", "destination": null },
    ]))
    .await;
    let status = |at: usize| changed[at]["status"].as_str().expect("a status");
    assert_eq!([0, 1, 2, 3, 4].map(status), ["published", "updated", "created", "published", "deleted"]);
    assert_eq!((id(&changed[0]), id(&changed[1])), (a.clone(), b.clone()), "of the live redirects");
    assert_eq!(target().await, "https://other.example/");
    let list = s.get(&format!("{redirects}?orderBy=source")).await;
    assert_eq!((id(&list["items"][0]), id(&list["items"][1])), (a.clone(), b));
    assert_eq!((list["count"].as_u64(), &list["items"][1]["permanent"]), (Some(2), &json!(true)));
    assert_eq!(s.get(&format!("{redirects}?draft=true")).await["count"], 0);
}

#[tokio::test]
async fn a_source_has_at_most_a_draft_and_a_live_redirect() {
    let s = Server::new().await;
    let site = s.site("Docs", &[&s.space().await]).await;
    let redirects = format!("{site}/redirects");
    let to = json!({ "kind": "external", "url": "https://other.example/" });
    s.post(&redirects, 201, json!({ "source": "/a", "destination": to })).await;
    s.post(&redirects, 201, json!({ "source": "/a", "destination": to, "draft": true })).await;
    let draft = id(&s.get(&format!("{redirects}?draft=true")).await["items"][0]);
    let this = format!("{redirects}/{draft}");
    let taken = s.ask("PATCH", &this, &s.admin, Some(json!({ "draft": false }))).await;
    assert!(taken.refused(409, "live").starts_with("source: is in use"));
    let other = s.ask(
        "POST",
        &redirects,
        &s.admin,
        Some(json!({
            "source": "/A", "destination": to, "draft": true,
        })),
    );
    other.await.refused(409, "two drafts");
}

#[tokio::test]
async fn bulk_change_of_redirects_is_bounded_and_checked() {
    let s = Server::new().await;
    let site = s.site("Docs", &[&s.space().await]).await;
    let redirects = format!("{site}/redirects");
    let to = json!({ "kind": "external", "url": "https://other.example/" });
    for (items, message) in [
        (json!([]), "redirects: must have at least 1 item"),
        (json!([{ "source": "/a" }]), "redirects[0].destination: is required"),
        (json!([{ "destination": to }]), "redirects[0].source: is required"),
        (json!([{ "source": "/", "destination": to }]), "redirects[0].source: must be"),
        (json!([{ "source": "/a", "intent": "later", "destination": to }]), "redirects[0].intent: "),
        (json!([{ "source": "/a", "destination": { "kind": "site-space" } }]), "redirects[0].destination."),
    ] {
        s.invalid("PUT", &redirects, json!({ "redirects": items }), message).await;
    }
    let many = |number: usize, from: usize| -> Value {
        (0..number).map(|at| json!({ "source": format!("/p{}", from + at), "destination": to })).collect()
    };
    let message = "redirects: must have at most 500 items";
    s.invalid("PUT", &redirects, json!({ "redirects": many(501, 0) }), message).await;
    let body = json!({ "redirects": many(500, 0) });
    let results = s.ask("PUT", &redirects, &s.admin, Some(body)).await.is(200, "the maximum");
    let results = results["results"].as_array().expect("results").clone();
    assert_eq!(results.len(), 500);
    assert!(results.iter().all(|result| result["status"] == "created"), "in several transactions");
    assert_eq!(s.get(&redirects).await["count"], 500);
}
