//! Organizations, members and invites over HTTP.

use std::time::Duration;

use docs_core::{model::Role, store::PageRequest};
use serde_json::{Value, json};

use crate::server::{Server, id};

fn org(s: &Server) -> String {
    format!("/v1/orgs/{}", s.org)
}

async fn me(s: &Server, token: &str) -> String {
    id(&s.ask("GET", "/v1/user", token, None).await.is(200, "a user"))
}

fn ids(list: &Value) -> Vec<String> {
    list["items"].as_array().expect("items").iter().map(id).collect()
}

/// Calls every operation on people once. The responses are validated against the document.
pub(crate) async fn story(s: &Server, space: &str) {
    let org = org(s);
    s.ask("POST", &format!("{org}/ping"), &s.reader, None).await.is(200, "there");
    let (rob, gus) = (me(s, &s.reader).await, me(s, &s.guest).await);
    assert_eq!(s.get(&format!("/v1/users/{rob}")).await["id"], rob);
    s.get("/v1/email-domains/a.example/orgs").await;
    let members = s.get(&format!("{org}/members?limit=2&order=asc&role=admin&search=a&sort=joinedAt")).await;
    assert_eq!(members["items"][0]["object"], "member");
    let member = format!("{org}/members/{rob}");
    assert!(s.get(&member).await["lastSeenAt"].is_string());
    assert_eq!(s.patch(&member, json!({ "role": "read" })).await["role"], "read");
    assert_eq!(s.post(&format!("{member}/sso"), 200, json!({})).await.body["sso"], true);
    assert_eq!(s.get(&format!("{member}/spaces")).await["items"][0]["permission"], "read");
    s.post(&format!("{org}/invites"), 200, json!({ "emails": ["story@example.com"] })).await;
    let links = format!("{org}/link-invites");
    s.patch(&org, json!({ "inviteLinks": true })).await;
    let link = id(&s.post(&links, 201, json!({ "level": "read", "space": space })).await.body);
    s.post(&links, 201, json!({ "role": "edit" })).await;
    assert_eq!(s.get(&links).await["items"][0]["object"], "invite");
    assert_eq!(s.get(&format!("{links}/{link}")).await["space"]["id"], space);
    s.patch(&format!("{links}/{link}"), json!({ "level": "comment" })).await;
    s.ask("POST", &format!("{org}/invites/{link}"), &s.guest, None).await.is(200, "joined");
    assert_eq!(s.get(&format!("{org}/members/{gus}")).await["spaces"], 1);
    s.ask("DELETE", &format!("{links}/{link}"), &s.admin, None).await.is(204, "deleted");
    s.ask("DELETE", &format!("{org}/members/{gus}"), &s.admin, None).await.is(204, "removed");
}

#[tokio::test]
async fn organization_settings_are_set_cleared_and_validated() {
    let s = Server::new().await;
    let path = org(&s);
    let site = s.site("Docs", &[]).await;
    let pointer = json!({ "type": "site", "site": site.rsplit('/').next() });
    let all = json!({
        "title": "New", "emailDomains": ["A.example", "a.EXAMPLE", "b.example"], "hostname": "engines",
        "defaultRole": "comment", "defaultContent": pointer, "logo": "https://x.example/l.png",
        "sso": true, "ai": true, "inviteLinks": true,
    });
    let shown = s.patch(&path, all.clone()).await;
    for (field, value) in all.as_object().expect("fields") {
        match field.as_str() {
            "logo" => assert_eq!(&shown["urls"]["logo"], value),
            "emailDomains" => assert_eq!(shown[field], json!(["a.example", "b.example"]), "lower case, once"),
            _ => assert_eq!(&shown[field], value, "{field}"),
        }
    }
    assert_eq!(s.patch(&path, json!({})).await, shown, "what is left out stays");
    let cleared = s
        .patch(
            &path,
            json!({ "defaultRole": null, "defaultContent": null, "logo": null, "emailDomains": [] }),
        )
        .await;
    assert_eq!((&cleared["defaultRole"], &cleared["emailDomains"]), (&Value::Null, &json!([])));
    assert!(cleared.get("defaultContent").is_none() && cleared["urls"].get("logo").is_none());
    for field in ["title", "emailDomains", "hostname", "sso", "ai", "inviteLinks"] {
        s.invalid("PATCH", &path, json!({ field: null }), &format!("{field}: ")).await;
    }
    for wrong in ["nodots", "a..b", "-a.b", "a b.c", "a@b.c"] {
        s.invalid("PATCH", &path, json!({ "emailDomains": ["a.b", wrong] }), "emailDomains[1]: ").await;
    }
    let many: Vec<String> = (0..101).map(|n| format!("d{n}.example")).collect();
    s.invalid("PATCH", &path, json!({ "emailDomains": many }), "emailDomains: must have at most 100").await;
    s.patch(&path, json!({ "emailDomains": many[..100] })).await;
    s.check().await;
}

#[tokio::test]
async fn organization_of_an_email_domain_is_shown_to_its_users() {
    let s = Server::new().await;
    s.patch(&org(&s), json!({ "emailDomains": ["example.com", "secret.example"], "hostname": "engines" }))
        .await;
    let found = async |token: &str, domain: &str| {
        let path = format!("/v1/email-domains/{domain}/orgs");
        let body = s.ask("GET", &path, token, None).await.is(200, domain);
        body["organizations"].as_array().expect("a list").clone()
    };
    let outside = found(&s.outsider, "Example.com").await;
    assert_eq!((outside.len(), &outside[0]["id"]), (1, &json!(s.org)));
    assert_eq!(outside[0]["emailDomains"], json!(["example.com"]), "other domains are nobody's business");
    assert!(outside[0].get("hostname").is_none());
    assert!(outside[0]["permissions"].as_object().expect("flags").values().all(|flag| flag == &json!(false)));
    assert!(found(&s.outsider, "secret.example").await.is_empty());
    let inside = found(&s.guest, "secret.example").await;
    assert_eq!(inside[0]["permissions"]["view"], true);
    for nothing in ["unknown.example", "no", "a%20b"] {
        assert!(found(&s.admin, nothing).await.is_empty(), "{nothing}");
    }
}

#[tokio::test]
async fn members_are_filtered_by_role_and_text_and_sorted_both_ways() {
    let s = Server::new().await;
    let members = format!("{}/members", org(&s));
    let mut who = Vec::new();
    for name in ["Anna Berg", "Johanna Lind", "Bernd"] {
        s.clock.advance(Duration::from_millis(1));
        who.push(s.joining(name, Some(Role::Comment)).await);
    }
    let [anna, johanna, bernd] = [0, 1, 2].map(|n: usize| who[n].0.to_string());
    for (_, token) in [&who[2], &who[0]] {
        s.clock.advance(Duration::from_millis(1));
        let there = s.ask("POST", &format!("{}/ping", org(&s)), token, None).await.is(200, "there");
        let claims = there["platformVisitorClaims"].as_str().expect("a token");
        assert_eq!(claims.split('.').count(), 3, "{claims}");
    }
    for (filter, expected) in [
        ("role=comment", vec![&bernd, &johanna, &anna]),
        ("role=comment&order=asc", vec![&anna, &johanna, &bernd]),
        ("role=comment&search=ANNA", vec![&johanna, &anna]),
        ("search=anna&sort=joinedAt&order=asc", vec![&anna, &johanna]),
        ("search=be&role=comment", vec![&bernd, &anna]),
        ("search=johanna.lind%40example", vec![&johanna]),
        ("search=nobody", vec![]),
        ("search=%20&role=comment", vec![&bernd, &johanna, &anna]),
        ("sort=lastSeenAt", vec![&anna, &bernd]),
        ("sort=lastSeenAt&order=asc", vec![&bernd, &anna]),
        ("sort=lastSeenAt&search=ann", vec![&anna]),
        ("sort=lastSeenAt&role=admin", vec![]),
        ("sort=name&search=ann&order=asc", vec![&anna, &johanna]),
        ("sort=name&search=ann", vec![&johanna, &anna]),
        ("role=create", vec![]),
    ] {
        let shown = ids(&s.get(&format!("{members}?{filter}")).await);
        assert_eq!(shown.iter().collect::<Vec<_>>(), expected, "{filter}");
    }
    assert_eq!(ids(&s.get(&format!("{members}?role=guest")).await), [me(&s, &s.guest).await]);
    assert_eq!(s.get(&format!("{members}?role=comment&limit=1")).await["count"], 3);
    for (wrong, field) in [
        ("role=owner", "role: "),
        ("sort=email", "sort: "),
        ("order=up", "order: "),
        ("limit=1001", "limit: "),
    ] {
        let answer = s.ask("GET", &format!("{members}?{wrong}"), &s.admin, None).await;
        assert!(answer.refused(400, wrong).starts_with(field), "{wrong}");
    }
    let long = format!("{members}?search={}", "x".repeat(513));
    assert!(s.ask("GET", &long, &s.admin, None).await.refused(400, "search").starts_with("search: "));
}

#[tokio::test]
async fn roles_change_but_the_last_administrator_is_protected() {
    let s = Server::new().await;
    let member = |user: &str| format!("{}/members/{user}", org(&s));
    let (ada, bea) = (member(&me(&s, &s.admin).await), member(&me(&s, &s.both).await));
    for role in
        [json!("read"), json!("comment"), json!("edit"), json!("review"), json!("create"), Value::Null]
    {
        assert_eq!(s.patch(&bea, json!({ "role": role })).await["role"], role);
    }
    assert_eq!(s.patch(&bea, json!({})).await["role"], Value::Null, "what is left out stays");
    for wrong in ["guest", "owner", ""] {
        s.invalid("PATCH", &bea, json!({ "role": wrong }), "role: ").await;
    }
    let before = s.stored().await;
    for role in [json!("create"), Value::Null] {
        s.ask("PATCH", &ada, &s.admin, Some(json!({ "role": role }))).await.refused(409, "the last one");
    }
    s.ask("DELETE", &ada, &s.admin, None).await.refused(409, "the last one");
    assert_eq!(before, s.stored().await);
    s.patch(&bea, json!({ "role": "admin" })).await;
    s.ask("DELETE", &ada, &s.admin, None).await.is(204, "leaves");
    s.ask("GET", &org(&s), &s.admin, None).await.refused(404, "no member any more");
    s.ask("DELETE", &bea, &s.both, None).await.refused(409, "the last one now");
    s.check().await;
}

#[tokio::test]
async fn members_can_leave_and_guests_see_only_themselves() {
    let s = Server::new().await;
    let member = |user: &str| format!("{}/members/{user}", org(&s));
    let (gus, rob) = (member(&me(&s, &s.guest).await), member(&me(&s, &s.reader).await));
    assert_eq!(s.ask("GET", &gus, &s.guest, None).await.is(200, "oneself")["role"], Value::Null);
    s.ask("GET", &rob, &s.guest, None).await.refused(403, "others");
    s.ask("GET", &rob, &s.reader, None).await.is(200, "a member");
    s.ask("DELETE", &rob, &s.guest, None).await.refused(403, "others");
    s.ask("DELETE", &gus, &s.reader, None).await.refused(403, "others");
    for _ in 0..2 {
        s.ask("DELETE", &gus, &s.guest, None).await.is(204, "leaves");
    }
    s.ask("GET", &gus, &s.admin, None).await.refused(404, "has left");
    s.ask("PATCH", &gus, &s.admin, Some(json!({ "role": "read" }))).await.refused(404, "has left");
    s.ask("POST", &format!("{gus}/sso"), &s.admin, None).await.refused(404, "has left");
    assert_eq!(s.post(&format!("{rob}/sso"), 200, json!({})).await.body["sso"], true);
    s.check().await;
}

#[tokio::test]
async fn users_are_invited_by_email_address() {
    let s = Server::new().await;
    let path = format!("{}/invites", org(&s));
    let (kim, token) = s.user("Kim").await;
    let done = s.post(&path, 200, json!({ "emails": ["kim@example.com", "new@example.com"] })).await.body;
    assert_eq!(done, json!({ "users": [kim.to_string()], "invited": 1 }));
    assert_eq!(s.ask("GET", &org(&s), &token, None).await.is(200, "a member")["id"], json!(s.org));
    let emails = json!([{ "email": "lead@example.com", "role": "create" }, { "email": "g@example.com", "role": null }]);
    assert_eq!(s.post(&path, 200, json!({ "emails": emails, "role": "edit" })).await.body["invited"], 2);
    let (lead, _) = s.user("Lead").await;
    assert_eq!(s.get(&format!("{}/members/{lead}", org(&s))).await["role"], "create");
    let sso = s.post(&path, 200, json!({ "emails": ["zoe@example.com"], "sso": true })).await.body;
    assert_eq!(sso, json!({ "users": [], "invited": 0, "failedSSOEmails": ["zoe@example.com"] }));
    for (body, field) in [
        (json!({}), "emails: "),
        (json!({ "emails": [] }), "emails: must be 1 to 100"),
        (json!({ "emails": vec!["a@b.c"; 101] }), "emails: must be 1 to 100"),
        (json!({ "emails": ["a@b.c", "no address"] }), "emails[1]: "),
        (json!({ "emails": ["a@b.c", "@b.c"] }), "emails[1]: "),
        (json!({ "emails": ["a@b.c", 5] }), "emails[1]"),
        (json!({ "emails": [{ "email": "x", "role": "read" }] }), "emails[0]"),
        (json!({ "emails": [{ "email": "a b@c", "role": "read" }] }), "emails[0].email: "),
        (json!({ "emails": [{ "email": "a@b.c" }] }), "emails[0]"),
        (json!({ "emails": [{ "email": "a@b.c", "role": "owner" }] }), "emails[0]"),
        (json!({ "emails": ["a@b.c"], "role": "guest" }), "role: "),
        (json!({ "emails": ["a@b.c"], "sso": null }), "sso: "),
    ] {
        s.invalid("POST", &path, body, field).await;
    }
    s.check().await;
}

#[tokio::test]
async fn invite_links_contain_their_target_and_role() {
    let s = Server::new().await;
    let (path, space) = (format!("{}/link-invites", org(&s)), s.space().await);
    s.patch(&org(&s), json!({ "inviteLinks": true })).await;
    let made = s.post(&path, 201, json!({ "role": null })).await;
    let link = format!("{path}/{}", id(&made.body));
    assert!(made.header("location").is_some_and(|at| at.ends_with(&link)));
    assert_eq!(
        made.body,
        json!({ "object": "invite", "id": id(&made.body), "target": "organization", "role": null, "redundant": true })
    );
    assert_eq!(s.patch(&link, json!({ "role": "edit" })).await["role"], "edit");
    let to_space = s.post(&path, 201, json!({ "level": "comment", "space": space })).await.body;
    assert_eq!((&to_space["level"], &to_space["space"]["id"]), (&json!("comment"), &json!(space)));
    let space_link = format!("{path}/{}", id(&to_space));
    assert_eq!(s.patch(&space_link, json!({ "level": "read" })).await["level"], "read");
    assert_eq!(s.get(&space_link).await["redundant"], true);
    assert_eq!(ids(&s.get(&path).await), [id(&made.body)], "links to content are not in the list");
    s.invalid("PATCH", &link, json!({ "level": "read" }), "level: ").await;
    s.invalid("PATCH", &space_link, json!({ "role": "read" }), "role: ").await;
    s.invalid("PATCH", &space_link, json!({ "level": null }), "level: ").await;
    for (body, field) in [
        (json!({}), "role: is required"),
        (json!({ "role": "owner" }), "role: "),
        (json!({ "level": "read" }), "role: is required"),
        (json!({ "space": space }), "level: "),
        (json!({ "space": space, "level": null }), "level: "),
        (json!({ "space": "unknown", "level": "read" }), "space: "),
        (json!({ "space": "not an id", "level": "read" }), "space: "),
        (json!({ "collection": "unknown", "level": "read" }), "collection: "),
        (json!({ "space": space, "collection": "a", "level": "read" }), "collection: "),
        (json!({ "role": "read", "space": space }), "space: "),
        (json!({ "role": "read", "level": "read" }), "level: "),
    ] {
        s.invalid("POST", &path, body, field).await;
    }
    let join = |link: &str| format!("{}/invites/{}", org(&s), link.rsplit('/').next().expect("an id"));
    let (sue, token) = s.user("Sue").await;
    s.patch(&org(&s), json!({ "inviteLinks": false })).await;
    s.ask("POST", &join(&space_link), &token, None).await.refused(403, "links are turned off");
    s.patch(&org(&s), json!({ "inviteLinks": true })).await;
    assert_eq!(s.ask("POST", &join(&space_link), &token, None).await.is(200, "joins"), json!({}));
    assert_eq!(s.get(&format!("{}/members/{sue}", org(&s))).await["role"], Value::Null);
    s.ask("GET", &format!("/v1/spaces/{space}"), &token, None).await.is(200, "the space is hers to read");
    let own = s.ask("GET", &format!("{}/members/{sue}/spaces", org(&s)), &token, None).await.is(200, "own");
    assert_eq!(own["items"][0]["permission"], "read");
    s.ask("GET", &space_link, &token, None).await.refused(403, "reads the space, does not manage it");
    for _ in 0..2 {
        s.ask("DELETE", &space_link, &s.admin, None).await.is(204, "deleted");
    }
    s.ask("POST", &join(&space_link), &s.outsider, None).await.refused(404, "deleted");
    s.check().await;
}

#[tokio::test]
async fn link_invites_require_the_invite_links_setting() {
    let s = Server::new().await;
    let (path, space) = (format!("{}/link-invites", org(&s)), s.space().await);
    for body in [json!({ "role": "read" }), json!({ "level": "read", "space": space })] {
        let before = s.stored().await;
        let answer = s.ask("POST", &path, &s.admin, Some(body.clone())).await;
        assert!(answer.refused(409, &path).contains("`inviteLinks`"), "{answer:?}");
        assert_eq!(before, s.stored().await, "nothing changed");
        s.ask("POST", &path, &s.editor, Some(body)).await.refused(403, "nor told to who may not");
    }
    s.patch(&org(&s), json!({ "inviteLinks": true })).await;
    s.post(&path, 201, json!({ "role": "read" })).await;
}

#[tokio::test]
async fn link_invite_reports_if_it_is_redundant_for_the_caller() {
    let s = Server::new().await;
    let (path, space) = (format!("{}/link-invites", org(&s)), s.space().await);
    let (cat, token) = s.joining("Cat", Some(Role::Create)).await;
    s.patch(&org(&s), json!({ "inviteLinks": true })).await;
    let made = s.ask("POST", &path, &token, Some(json!({ "level": "create", "space": space }))).await;
    let link = format!("{path}/{}", id(&made.is(201, "made by who creates content")));
    assert_eq!(s.ask("GET", &link, &token, None).await.is(200, "own")["redundant"], true);
    s.ask("POST", &path, &token, Some(json!({ "level": "admin", "space": space })))
        .await
        .refused(403, "too much");
    s.ask("POST", &path, &token, Some(json!({ "role": "read" }))).await.refused(403, "for administrators");
    s.ask("DELETE", &format!("{}/members/{cat}", org(&s)), &s.admin, None).await.is(204, "gone");
    s.ask("GET", &link, &token, None).await.refused(404, "no member any more");
}

#[tokio::test]
async fn email_invite_is_deleted_like_a_link_invite() {
    let s = Server::new().await;
    s.post(&format!("{}/invites", org(&s)), 200, json!({ "emails": ["new@example.com"] })).await;
    let (of, page) = (s.org.parse().expect("an id"), PageRequest::default());
    let list = s.platform.as_platform().org(&of).invites().list_emails(&page).await.expect("a list");
    let invite = &list.items[0].id;
    let path = format!("{}/link-invites/{invite}", org(&s));
    s.ask("DELETE", &path, &s.editor, None).await.refused(403, "for administrators");
    s.ask("DELETE", &path, &s.outsider, None).await.is(204, "as if there were none");
    for _ in 0..2 {
        s.ask("DELETE", &path, &s.admin, None).await.is(204, "deleted");
    }
    let (_, token) = s.user("New").await;
    s.ask("GET", &org(&s), &token, None).await.refused(404, "not invited any more");
    s.check().await;
}

#[tokio::test]
async fn invite_link_of_demoted_creator_is_not_found() {
    let s = Server::new().await;
    s.patch(&org(&s), json!({ "inviteLinks": true })).await;
    let space = s.space().await;
    let (cat, token) = s.joining("Cat", Some(Role::Create)).await;
    let new = json!({ "level": "create", "space": space });
    let made = s.ask("POST", &format!("{}/link-invites", org(&s)), &token, Some(new)).await.is(201, "a link");
    let join = format!("{}/invites/{}", org(&s), id(&made));
    s.ask("POST", &join, &s.guest, None).await.is(200, "joins");
    s.patch(&format!("{}/members/{cat}", org(&s)), json!({ "role": "read" })).await;
    for (who, token) in [("an outsider", &s.outsider), ("the one who made it", &token)] {
        s.ask("POST", &join, token, None).await.refused(404, who);
    }
    let nowhere = s.ask("POST", "/v1/orgs/unknown/invites/unknown", &s.outsider, None).await;
    let unknown = s.ask("POST", &format!("{}/invites/unknown", org(&s)), &s.outsider, None).await;
    assert_eq!(nowhere.refused(404, "no organization"), unknown.refused(404, "no invite"));
    s.check().await;
}
