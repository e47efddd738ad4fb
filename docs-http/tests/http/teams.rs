//! Teams, explicit roles, and SAML providers over HTTP.

use docs_core::model::Role;
use serde_json::{Value, json};

use crate::server::{Server, id};

/// A self-signed certificate, also used in the API examples.
pub(crate) const CERTIFICATE: &str = include_str!("provider.crt");

/// Creates a team. Returns its path.
pub(crate) async fn team(s: &Server, title: &str) -> String {
    let path = format!("/v1/orgs/{}/teams", s.org);
    format!("{path}/{}", id(&put(s, &path, 201, json!({ "title": title })).await))
}

/// Creates a SAML provider. Returns its path.
pub(crate) async fn provider(s: &Server) -> String {
    let path = format!("/v1/orgs/{}/saml", s.org);
    format!("{path}/{}", id(&s.post(&path, 201, json!({ "label": "Okta" })).await.body))
}

/// Creates a collection. Returns its id.
pub(crate) async fn collection(s: &Server) -> String {
    let path = format!("/v1/orgs/{}/collections", s.org);
    id(&s.post(&path, 201, json!({ "title": "Guides" })).await.body)
}

async fn me(s: &Server, token: &str) -> String {
    id(&s.ask("GET", "/v1/user", token, None).await.is(200, "the user"))
}

async fn put(s: &Server, path: &str, status: u16, body: Value) -> Value {
    s.ask("PUT", path, &s.admin, Some(body)).await.is(status, path)
}

async fn delete(s: &Server, path: &str) {
    for _ in 0..2 {
        assert_eq!(s.ask("DELETE", path, &s.admin, None).await.is(204, path), Value::Null);
    }
}

#[tokio::test]
async fn owner_filter_lists_teams_the_user_can_manage() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    let (one, other) = (team(&s, "One").await, team(&s, "Other").await);
    let (rob, ada) = (me(&s, &s.reader).await, me(&s, &s.admin).await);
    put(&s, &format!("{one}/members/{rob}"), 204, json!({ "role": "owner" })).await;
    put(&s, &format!("{other}/members/{rob}"), 204, json!({ "role": "member" })).await;
    let listed = async |owner: &str, more: &str| {
        let list = s.get(&format!("{org}/teams?owner={owner}{more}")).await;
        let items = list["items"].as_array().expect("items").iter();
        items.map(|team| team["title"].as_str().expect("a title").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&rob, "").await, ["One"]);
    assert_eq!(listed(&ada, "").await, ["One", "Other"], "an administrator manages every team");
    assert_eq!(listed(&ada, "&title=oth").await, ["Other"]);
    assert_eq!(listed("nobody", "").await, [""; 0]);
    s.patch(&format!("{org}/members/{rob}"), json!({ "role": "admin" })).await;
    assert_eq!(listed(&rob, "").await, ["One", "Other"]);
}

/// Calls every operation of these resources once.
pub(crate) async fn story(s: &Server, space: &str) {
    let org = format!("/v1/orgs/{}", s.org);
    let (eve, rob) = (me(s, &s.editor).await, me(s, &s.reader).await);
    let new =
        put(s, &format!("{org}/teams"), 201, json!({ "title": "Writers", "members": [eve, eve] })).await;
    assert_eq!((&new["members"], &new["spaces"]), (&json!(1), &json!(0)));
    assert_eq!(new["permissions"], json!({ "admin": true, "view": true }));
    let team = format!("{org}/teams/{}", id(&new));
    assert_eq!(s.patch(&team, json!({ "title": "Authors" })).await["title"], "Authors");
    let change = json!({ "add": ["ROB@example.com"], "memberships": { &eve: { "role": "owner" } } });
    assert_eq!(put(s, &format!("{team}/members"), 204, change).await, Value::Null);
    put(s, &format!("{team}/members/{rob}"), 204, json!({ "role": "owner" })).await;
    let members = s.get(&format!("{team}/members")).await;
    assert_eq!((&members["count"], &members["items"][0]["team"]["role"]), (&json!(2), &json!("owner")));
    let teams = s.get(&format!("{org}/members/{rob}/teams?title=AUTH")).await;
    assert_eq!(
        (&teams["items"][0]["team"]["title"], &teams["items"][0]["member"]),
        (&json!("Authors"), &json!({ "role": "owner" }))
    );
    assert_eq!(s.get(&format!("{org}/teams?owner={rob}&title=thor")).await["items"][0], s.get(&team).await);
    let collection = collection(s).await;
    let site = s.site("Shared", &[space]).await;
    for content in [format!("/v1/spaces/{space}"), format!("/v1/collections/{collection}"), site] {
        let permissions = format!("{content}/permissions");
        let body = json!({ "role": "review", "users": [rob], "teams": [id(&new)] });
        assert_eq!(s.post(&permissions, 204, body).await.body, Value::Null);
        for (kind, of) in [("users", &rob), ("teams", &id(&new))] {
            let path = format!("{permissions}/{kind}/{of}");
            s.ask("PATCH", &path, &s.admin, Some(json!({ "role": "edit" }))).await.is(204, &path);
            s.ask("PATCH", &path, &s.admin, Some(json!({}))).await.is(204, &path);
            let listed = s.get(&format!("{permissions}/{kind}")).await;
            assert_eq!(listed["items"][0]["permission"], "edit", "{kind}");
        }
        let all = s.get(&format!("{permissions}/aggregate?role=edit")).await;
        assert_eq!(all["items"].as_array().map(Vec::len), Some(2), "{all}");
        delete(s, &format!("{permissions}/users/{rob}")).await;
        delete(s, &format!("{permissions}/teams/{}", id(&new))).await;
    }
    providers(s, &org, &id(&new)).await;
    delete(s, &format!("{team}/members/{rob}")).await;
    delete(s, &team).await;
}

async fn providers(s: &Server, org: &str, team: &str) {
    let created = s.post(&format!("{org}/saml"), 201, json!({ "label": "Okta", "defaultTeam": team })).await;
    let path =
        created.header("location").and_then(|at| at.strip_prefix("https://docs.example")).expect("ours");
    assert_eq!((&created.body["status"], &created.body["ssoURL"]), (&json!("pending"), &json!("")));
    assert_eq!(created.body["defaultTeam"]["id"], team);
    assert_eq!(s.get(&format!("{org}/sso")).await["items"], json!([]), "nobody can sign in through it yet");
    // A response can be sent back unchanged.
    s.patch(path, json!({ "ssoURL": "", "entityID": "", "certificate": "" })).await;
    let full = json!({
        "ssoURL": "https://idp.example/sso", "entityID": "idp", "certificate": CERTIFICATE, "defaultRole": "read",
    });
    let active = s.patch(path, full).await;
    assert_eq!((&active["status"], &active["certificate"]), (&json!("active"), &json!(CERTIFICATE)));
    assert_eq!(s.get(path).await, active);
    let logins = s.ask("GET", &format!("{org}/sso"), &s.guest, None).await.is(200, "for any member");
    assert_eq!(logins["items"][0]["startURL"], active["service"]["startURL"]);
    let rest = s.patch(path, json!({ "entityID": null, "defaultTeam": null, "defaultRole": null })).await;
    assert_eq!((&rest["status"], rest.get("defaultTeam")), (&json!("pending"), None));
    assert_eq!(s.get(&format!("{org}/saml")).await["items"], json!([rest]));
    delete(s, path).await;
}

#[tokio::test]
async fn unknown_members_and_teams_are_rejected_with_their_field() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    let (team, space) = (team(&s, "Team").await, s.space().await);
    let (mine, outsider) = (me(&s, &s.admin).await, me(&s, &s.outsider).await);
    let theirs = put_elsewhere(&s).await;
    for wrong in ["unknown", "not an id", "zoe@example.com", "x@", &outsider] {
        let members = json!({ "title": "A", "members": [mine, mine, wrong] });
        s.invalid("PUT", &format!("{org}/teams"), members, "members[2]: ").await;
        let add = json!({ "add": [mine, wrong], "remove": [wrong] });
        s.invalid("PUT", &format!("{team}/members"), add, "add[1]: ").await;
        let places = json!({ "memberships": { wrong: { "role": "owner" } } });
        s.invalid("PUT", &format!("{team}/members"), places, "memberships.").await;
        put(&s, &format!("{team}/members"), 204, json!({ "remove": [wrong] })).await;
        let invite = json!({ "role": "read", "users": [mine, wrong] });
        s.invalid("POST", &format!("/v1/spaces/{space}/permissions"), invite, "users[1]: ").await;
    }
    for wrong in ["unknown", "not an id", &theirs] {
        let invite = json!({ "role": "read", "teams": [wrong] });
        s.invalid("POST", &format!("/v1/spaces/{space}/permissions"), invite, "teams[0]: ").await;
        let provider = json!({ "label": "Okta", "defaultTeam": wrong });
        s.invalid("POST", &format!("{org}/saml"), provider, "defaultTeam: ").await;
        s.ask("GET", &format!("{org}/teams/{}", wrong.replace(' ', "%20")), &s.both, None)
            .await
            .refused(404, wrong);
    }
    for (wrong, field) in [
        (json!({ "role": "read" }), "users: is required"),
        (json!({ "users": [mine] }), "role: is required"),
        (json!({ "role": "owner", "users": [mine] }), "role: "),
        (json!({ "role": "read", "users": [] }), "users: must have"),
        (json!({ "role": "read", "users": [mine], "teams": [] }), "teams: must have"),
        (json!({ "role": "read", "users": vec!["x"; 501] }), "users: a request must have at most 500"),
    ] {
        s.invalid("POST", &format!("/v1/spaces/{space}/permissions"), wrong, field).await;
    }
    s.check().await;
}

/// Creates a team in the other organization. Returns its id.
async fn put_elsewhere(s: &Server) -> String {
    let path = format!("/v1/orgs/{}/teams", s.other_org);
    id(&s.ask("PUT", &path, &s.both, Some(json!({ "title": "Theirs" }))).await.is(201, "a team"))
}

#[tokio::test]
async fn saml_providers_are_validated_and_limited_to_50() {
    let s = Server::new().await;
    let path = provider(&s).await;
    for url in ["x", "ftp://idp.example", "javascript:alert(1)", "https://", "https://a b/"] {
        s.invalid("PATCH", &path, json!({ "ssoURL": url }), "ssoURL: must be").await;
    }
    for text in ["x", "MIIB", "-----BEGIN CERTIFICATE-----\nMAUwAwIBAQ==", &CERTIFICATE.repeat(2)] {
        s.invalid("PATCH", &path, json!({ "certificate": text }), "certificate: must be").await;
    }
    s.invalid("PATCH", &path, json!({ "certificate": "A".repeat(10_001) }), "certificate: must be at most")
        .await;
    for field in ["label"] {
        s.invalid("PATCH", &path, json!({ field: null }), field).await;
    }
    let team = team(&s, "Newcomers").await;
    let team_id = team.rsplit('/').next().expect("an id");
    let with_team = s.patch(&path, json!({ "defaultTeam": team_id })).await;
    assert_eq!(with_team["defaultTeam"]["title"], "Newcomers");
    delete(&s, &team).await;
    assert_eq!(s.get(&path).await.get("defaultTeam"), None, "it went with the team");
    let org = format!("/v1/orgs/{}/saml", s.org);
    for _ in 1..50 {
        provider(&s).await;
    }
    let more = s.ask("POST", &org, &s.admin, Some(json!({ "label": "One more" }))).await;
    assert!(more.refused(409, "too many").contains("at most 50"));
    s.check().await;
}

#[tokio::test]
async fn caller_cannot_change_roles_of_higher_ranked_users() {
    let s = Server::new().await;
    let (space, outer) = (s.space().await, collection(&s).await);
    s.post(&format!("/v1/spaces/{space}/move"), 200, json!({ "parent": outer })).await;
    let (_, cat) = s.joining("Cat", Some(Role::Create)).await;
    let (bob, _) = s.joining("Bob", Some(Role::Read)).await;
    let bosses = team(&s, "Bosses").await;
    let team_id = bosses.rsplit('/').next().expect("an id");
    put(&s, &format!("{bosses}/members/{bob}"), 204, json!({})).await;
    let invite = json!({ "role": "admin", "teams": [team_id] });
    s.post(&format!("/v1/collections/{outer}/permissions"), 204, invite).await;
    let path = format!("/v1/spaces/{space}/permissions");
    let before = s.stored().await;
    for named in [json!({ "role": "read", "users": [bob] }), json!({ "role": "read", "teams": [team_id] })] {
        s.ask("POST", &path, &cat, Some(named)).await.refused(403, "he stands above");
    }
    assert_eq!(before, s.stored().await, "nothing changed");
    s.post(&path, 204, json!({ "role": "read", "users": [bob] })).await;
    let held = format!("{path}/users/{bob}");
    s.ask("DELETE", &held, &cat, None).await.refused(403, "he would rise above");
    s.ask("PATCH", &held, &cat, Some(json!({ "role": "create" }))).await.is(204, "as much as their own");
    delete(&s, &held).await;
    s.check().await;
}
