//! Accounts over HTTP: changes of a user, and creating and joining organizations.

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    story::{ORGANIZATION, has},
};

async fn user_of(s: &Server, token: &str) -> Value {
    s.ask("GET", "/v1/user", token, None).await.is(200, "the user")
}

/// Calls every operation of these resources once.
pub(crate) async fn story(s: &Server) {
    let user = format!("/v1/users/{}", id(&user_of(s, &s.editor).await));
    let change = json!({ "displayName": "Eve E.", "photoURL": "https://example.com/eve.png" });
    let changed = s.ask("PATCH", &user, &s.editor, Some(change)).await.is(200, "changed");
    has(&changed, &["object", "id", "displayName", "email", "photoURL", "urls.location"]);
    let new = json!({ "title": "Analysts", "emailDomains": ["example.com"] });
    let org = s.ask("POST", "/v1/orgs?withDefaultSite=false", &s.guest, Some(new)).await.is(201, "created");
    has(&org, ORGANIZATION);
    let join = format!("/v1/orgs/{}/join", id(&org));
    s.ask("POST", &join, &s.admin, None).await.is(204, "joined");
}

#[tokio::test]
async fn user_changes_their_name_and_picture() {
    let s = Server::new().await;
    let ada = user_of(&s, &s.admin).await;
    let path = format!("/v1/users/{}", id(&ada));
    let picture = "https://example.com/ada.png";
    let changed = s.patch(&path, json!({ "displayName": "Ada Lovelace", "photoURL": picture })).await;
    assert_eq!(changed["displayName"], "Ada Lovelace");
    assert_eq!(changed["photoURL"], picture);
    assert_eq!(changed["email"], ada["email"]);
    assert_eq!(user_of(&s, &s.admin).await, changed);
    let found = s.get(&format!("/v1/orgs/{}/members?search=lovelace", s.org)).await;
    assert_eq!(found["items"][0]["id"], ada["id"], "a member is found by the new name");
    let changed = s.patch(&path, json!({ "photoURL": null })).await;
    assert_eq!(changed.get("photoURL"), None);
    assert_eq!(changed["displayName"], "Ada Lovelace");
    assert_eq!(s.patch(&path, json!({})).await, changed, "an empty change has no effect");
    s.check().await;
}

#[tokio::test]
async fn user_fields_have_limits() {
    let s = Server::new().await;
    let path = format!("/v1/users/{}", id(&user_of(&s, &s.admin).await));
    s.patch(&path, json!({ "displayName": "a".repeat(64) })).await;
    for (body, field) in [
        (json!({ "displayName": "a".repeat(65) }), "displayName"),
        (json!({ "displayName": "" }), "displayName"),
        (json!({ "displayName": null }), "displayName"),
        (json!({ "photoURL": "javascript:alert(1)" }), "photoURL"),
        (json!({ "photoURL": "not a URL" }), "photoURL"),
    ] {
        let answer = s.ask("PATCH", &path, &s.admin, Some(body.clone())).await;
        assert!(answer.refused(400, "a wrong field").starts_with(field), "{body}");
    }
}

#[tokio::test]
async fn only_the_user_changes_their_account() {
    let s = Server::new().await;
    let ada = format!("/v1/users/{}", id(&user_of(&s, &s.admin).await));
    let before = s.stored().await;
    let change = || Some(json!({ "displayName": "Mallory" }));
    for (who, token, status) in [
        ("another administrator", &s.both, 403),
        ("an editor", &s.editor, 403),
        ("a guest", &s.guest, 404),
        ("an administrator of another organization", &s.outsider, 404),
    ] {
        s.ask("PATCH", &ada, token, change()).await.refused(status, who);
    }
    s.send("PATCH", &ada, None, change().map(|body| ("application/json", body.to_string())))
        .await
        .refused(401, "nobody");
    assert_eq!(before, s.stored().await);
}

#[tokio::test]
async fn user_creates_an_organization_as_its_administrator() {
    let s = Server::new().await;
    let new = json!({ "title": "Analysts", "emailDomains": ["Example.com"] });
    let answer = s.ask("POST", "/v1/orgs", &s.guest, Some(new)).await;
    let location = answer.header("location").expect("an address").to_owned();
    let org = answer.is(201, "created");
    assert_eq!(org["title"], "Analysts");
    assert_eq!(org["emailDomains"], json!(["example.com"]));
    assert_eq!(org["permissions"]["admin"], true);
    let path = format!("/v1/orgs/{}", id(&org));
    assert_eq!(location, format!("https://docs.example{path}"));
    assert_eq!(s.ask("GET", &path, &s.guest, None).await.is(200, "its administrator"), org);
    s.ask("GET", &path, &s.admin, None).await.refused(404, "others do not see it");
    let domains = json!({ "emailDomains": ["elsewhere.example"] });
    let answer = s.ask("PATCH", &path, &s.guest, Some(domains)).await;
    assert!(answer.refused(400, "a domain of others").starts_with("emailDomains[0]: "));
    s.check().await;
}

#[tokio::test]
async fn new_organization_is_rejected_with_the_field() {
    let s = Server::new().await;
    let before = s.stored().await;
    for (query, body, field) in [
        ("", json!({ "title": "A" }), "title"),
        ("", json!({ "title": "a".repeat(256) }), "title"),
        ("", json!({}), "title"),
        ("", json!({ "title": "New", "emailDomains": ["elsewhere.example"] }), "emailDomains[0]"),
        ("", json!({ "title": "New", "emailDomains": vec!["example.com"; 101] }), "emailDomains"),
        ("?withDefaultSite=true", json!({ "title": "New" }), "withDefaultSite"),
    ] {
        let answer = s.ask("POST", &format!("/v1/orgs{query}"), &s.guest, Some(body.clone())).await;
        assert!(answer.refused(400, "a wrong field").starts_with(field), "{body}");
    }
    assert_eq!(before, s.stored().await);
}

#[tokio::test]
async fn user_creates_at_most_ten_organizations() {
    let s = Server::new().await;
    let create = async |title: &str| {
        let body = json!({ "title": title, "emailDomains": [] });
        s.ask("POST", "/v1/orgs", &s.guest, Some(body)).await
    };
    for n in 0..10 {
        create(&format!("Organization {n}")).await.is(201, "created");
    }
    assert!(create("One more").await.refused(409, "too many").contains("10"));
    let other = json!({ "title": "Another user", "emailDomains": [] });
    s.ask("POST", "/v1/orgs", &s.reader, Some(other)).await.is(201, "another user");
    s.check().await;
}

#[tokio::test]
async fn organization_is_joined_by_its_email_domain() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    let join = format!("{org}/join");
    s.ask("POST", &join, &s.outsider, None).await.refused(404, "no domain is claimed");
    s.patch(&org, json!({ "emailDomains": ["example.com"] })).await;
    s.ask("POST", &join, &s.outsider, None).await.is(204, "joined");
    let zoe = id(&user_of(&s, &s.outsider).await);
    assert_eq!(s.get(&format!("{org}/members/{zoe}")).await["role"], Value::Null, "a guest");
    s.ask("POST", &join, &s.outsider, None).await.is(204, "a member already");
    s.ask("POST", &join, &s.editor, None).await.is(204, "a member already");
    let eve = id(&user_of(&s, &s.editor).await);
    assert_eq!(s.get(&format!("{org}/members/{eve}")).await["role"], "edit", "roles do not change");
    let (_, token) = s.user("Kim").await;
    s.patch(&org, json!({ "sso": true })).await;
    s.ask("POST", &join, &token, None).await.refused(403, "single sign-on is required");
    s.ask("POST", "/v1/orgs/unknown/join", &token, None).await.refused(404, "unknown");
    s.check().await;
}
