//! Previews of sites with an API token.

use serde_json::json;

use crate::server::{Server, id};

#[tokio::test]
async fn api_token_previews_an_unpublished_site() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let request = s.request(&space).await;
    let page = json!({ "changes": [{ "operation": "insert_page", "title": "Added", "document": { "markdown": "" } }] });
    s.post(&format!("{request}/content"), 200, page).await;
    let shown = s.get(&site).await;
    let preview = shown["urls"]["preview"].as_str().expect("a URL");
    let number = s.get(&request).await["number"].clone();
    let resolve = async |token: &str, url: &str| {
        s.ask("POST", "/v1/urls/published", token, Some(json!({ "url": url }))).await
    };
    let found = resolve(&s.admin, preview).await.is(200, "resolved for the member");
    assert_eq!((&found["preview"], &found["site"]), (&json!(true), &shown["id"]));
    let signed = s.get(&format!("{site}/publishing/preview")).await;
    let (url, token) = signed["url"].as_str().and_then(|url| url.split_once("?token=")).expect("a token");
    assert_eq!(url, preview);
    let found = resolve(token, &format!("{url}~/changes/{number}/added")).await.is(200, "a change request");
    assert_eq!((&found["changeRequest"], &found["pathname"]), (&json!(number.to_string()), &json!("/added")));
    let query = url.replace(':', "%3A").replace('/', "%2F");
    let query = format!("/v1/urls/published?url={query}");
    s.ask("GET", &query, token, None).await.is(200, "resolved from the query");
    let token = found["apiToken"].as_str().expect("a token");
    let published = s.ask("GET", &format!("{site}/published"), token, None).await.is(200, "the site");
    assert_eq!(published["site"]["urls"]["published"], *preview);
    let change = s.ask("GET", &request, token, None).await.is(200, "the change request");
    assert_eq!((&change["number"], change["createdBy"].get("email")), (&number, None));
    let pages = s.ask("GET", &format!("{request}/content/pages"), token, None).await.is(200, "its pages");
    assert_eq!(pages["pages"][0]["title"], "Added");
    s.ask("GET", &format!("{request}/changes"), token, None).await.is(200, "its changes");
    let content =
        s.ask("GET", &format!("/v1/spaces/{space}/content"), token, None).await.is(200, "live content");
    assert_eq!(content["pages"], json!([]));
    let old = format!("/v1/spaces/{space}/revisions/{}", id(&content));
    s.ask("GET", &old, token, None).await.is(200, "a revision");
    // The token only reads what the site shows.
    s.ask("GET", &format!("{request}/reviews"), token, None).await.refused(404, "reviews are for members");
    let change = Some(json!({ "subject": "Mine" }));
    s.ask("PATCH", &request, token, change).await.refused(403, "visitors change nothing");
    let other = s.space().await;
    s.ask("GET", &format!("/v1/spaces/{other}"), token, None).await.refused(404, "not on the site");
    resolve(&s.outsider, preview).await.refused(404, "not a member");
    let ask = json!({ "url": preview }).to_string();
    let anonymous = s.send("POST", "/v1/urls/published", None, Some(("application/json", ask))).await;
    anonymous.refused(401, "a token is required");
}

#[tokio::test]
async fn claims_of_previews_are_rison_objects() {
    let s = Server::new().await;
    let site = s.site("Docs", &[&s.space().await]).await;
    let path = format!("{site}/publishing/preview");
    for claims in ["(plan:pro,beta:!t)", "()", "%7B%22plan%22%3A%22pro%22%7D"] {
        s.get(&format!("{path}?claims={claims}&draft=false")).await;
    }
    for claims in ["", "pro", "!(a)", "(plan:"] {
        let refused = s.ask("GET", &format!("{path}?claims={claims}"), &s.admin, None).await;
        let message = refused.refused(400, claims);
        assert!(message.to_string().contains("claims: must be an object in Rison"), "{message:?}");
    }
}
