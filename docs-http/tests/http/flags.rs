//! The flags in `permissions` by role: a flag is `true` exactly if the user may perform the operation.

use docs_core::model::Role;
use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    teams,
};

/// The flags of a space, with the minimum role of each.
const SPACE: [(&str, Role); 9] = [
    ("view", Role::Read),
    ("access", Role::Read),
    ("comment", Role::Comment),
    ("edit", Role::Edit),
    ("review", Role::Review),
    ("merge", Role::Review),
    ("admin", Role::Create),
    ("triggerGitSync", Role::Create),
    ("viewInviteLinks", Role::Create),
];

/// The flags of a space that no role grants.
const NOBODYS_OF_SPACE: [&str; 1] = ["installIntegration"];

/// The flags of a collection.
const COLLECTION: [(&str, Role); 4] = [
    ("view", Role::Read),
    ("admin", Role::Create),
    ("viewInviteLinks", Role::Create),
    ("create", Role::Create),
];

/// The flags of an organization, with the minimum role of each, or `None` for guests. No role grants `ownTeam` or flags
/// of integrations.
const ORGANIZATION: [(&str, Option<Role>); 8] = [
    ("view", None),
    ("access", None),
    ("listMembers", Some(Role::Read)),
    ("listTeams", Some(Role::Read)),
    ("createContent", Some(Role::Create)),
    ("createOpenAPISpec", Some(Role::Create)),
    ("admin", Some(Role::Admin)),
    ("viewBilling", Some(Role::Admin)),
];
const NOBODYS: [&str; 5] =
    ["ownTeam", "ingestConversations", "listIntegrations", "listInstallations", "installIntegration"];

/// Returns the expected flags of a role: all known ones, and `false` for the others.
fn flags<R: Copy>(flags: &[(&str, R)], has: impl Fn(R) -> bool, others: &[&str]) -> Value {
    let known = flags.iter().map(|(flag, least)| ((*flag).to_owned(), json!(has(*least))));
    known.chain(others.iter().map(|flag| ((*flag).to_owned(), json!(false)))).collect()
}

async fn people(s: &Server) -> Vec<(Option<Role>, String, String)> {
    let mut people = Vec::new();
    for role in std::iter::once(None).chain(Role::ALL.iter().copied().map(Some)) {
        let name = role.map_or("guest", Role::as_str);
        let (user, token) = s.joining(&format!("A {name}"), role).await;
        people.push((role, user.to_string(), token));
    }
    people
}

#[tokio::test]
async fn space_and_collection_permission_flags_match_the_role() {
    let s = Server::new().await;
    let (space, collection) = (s.space().await, teams::collection(&s).await);
    let (of_space, of_collection) = (format!("/v1/spaces/{space}"), format!("/v1/collections/{collection}"));
    for (role, user, token) in people(&s).await {
        for path in [&of_space, &of_collection] {
            let answer = s.ask("GET", path, &token, None).await;
            let Some(role) = role else {
                answer.refused(404, "a guest sees nothing that they were not added to");
                continue;
            };
            let expected = match path == &of_space {
                true => flags(&SPACE, |least| role >= least, &NOBODYS_OF_SPACE),
                false => flags(&COLLECTION, |least| role >= least, &[]),
            };
            assert_eq!(answer.is(200, path)["permissions"], expected, "{role:?} of {path}");
        }
        // An explicit role takes precedence over the role in the organization, except for administrators, who keep all
        // permissions.
        for named in [Role::Read, Role::Comment, Role::Edit, Role::Review, Role::Create] {
            let invite = json!({ "role": named, "users": [user] });
            for (path, known, others) in
                [(&of_space, &SPACE[..], &NOBODYS_OF_SPACE[..]), (&of_collection, &COLLECTION[..], &[])]
            {
                if role == Some(Role::Admin) {
                    continue;
                }
                s.post(&format!("{path}/permissions"), 204, invite.clone()).await;
                let seen = s.ask("GET", path, &token, None).await.is(200, path);
                let expected = flags(known, |least| named >= least, others);
                assert_eq!(seen["permissions"], expected, "{role:?} with {named:?} of {path}");
            }
        }
    }
}

#[tokio::test]
async fn organization_permission_flags_match_the_role() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    let team = teams::team(&s, "Writers").await;
    for (role, user, token) in people(&s).await {
        let expected = flags(&ORGANIZATION, |least| role >= least, &NOBODYS);
        let seen = s.ask("GET", &org, &token, None).await.is(200, &org);
        assert_eq!(seen["permissions"], expected, "{role:?}");
        let list = s.ask("GET", "/v1/orgs", &token, None).await.is(200, "the organizations");
        assert_eq!(list["items"][0]["permissions"], expected, "{role:?} in the list");
        // A team owner may manage the team's members. A guest sees no team, not even one that they own.
        let owner = json!({ "role": "owner" });
        let member = format!("{team}/members/{user}");
        s.ask("PUT", &member, &s.admin, Some(owner)).await.is(204, &member);
        let seen = s.ask("GET", &org, &token, None).await.is(200, &org);
        assert_eq!(seen["permissions"]["ownTeam"], role.is_some(), "{role:?} owns a team");
    }
}

/// Each flag matches the result of the operation.
#[tokio::test]
async fn space_flags_equal_the_results_of_operations() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    let ready = s.request(&space).await;
    for (role, _, token) in people(&s).await.into_iter().filter(|(role, ..)| role.is_some()) {
        for (flag, method, at, body) in [
            ("view", "GET", format!("{path}/content"), None),
            ("comment", "POST", format!("{path}/comments"), Some(json!({ "body": { "markdown": "Why?" } }))),
            ("edit", "POST", format!("{path}/change-requests"), Some(json!({}))),
            ("review", "POST", format!("{ready}/reviews"), Some(json!({ "status": "approved" }))),
            ("merge", "POST", format!("{ready}/merge"), Some(json!({}))),
            ("admin", "PATCH", path.clone(), Some(json!({ "title": "Renamed" }))),
            (
                "triggerGitSync",
                "POST",
                format!("{path}/git/import"),
                Some(json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" })),
            ),
        ] {
            let may = s.ask("GET", &path, &token, None).await.is(200, &path)["permissions"][flag].clone();
            let before = s.store.save();
            let answer = s.ask(method, &at, &token, body).await;
            assert_eq!(json!(answer.status < 300), may, "{flag} of {role:?}: {:?}", answer.body);
            s.store.rewind(&before);
        }
    }
}

#[tokio::test]
async fn site_creator_manages_it_with_the_role_create() {
    let s = Server::new().await;
    let (creator, token) = s.joining("Cleo", Some(Role::Create)).await;
    let (_, other) = s.joining("Otto", Some(Role::Create)).await;
    let sites = format!("/v1/orgs/{}/sites", s.org);
    let new = json!({ "title": "Cleo's", "spaces": "empty" });
    let site = format!("{sites}/{}", id(&s.ask("POST", &sites, &token, Some(new)).await.is(201, "a site")));
    for (method, path, body, done) in [
        ("PATCH", site.clone(), json!({ "title": "Renamed" }), 200),
        ("POST", format!("{site}/publish"), json!({}), 200),
        ("POST", format!("{site}/share-links"), json!({ "name": "Press" }), 201),
        ("POST", format!("{site}/section-groups"), json!({ "title": "Group" }), 201),
        ("GET", format!("{site}/publishing/auth"), json!({}), 200),
        ("POST", format!("{site}/unpublish"), json!({}), 200),
    ] {
        s.ask(method, &path, &other, Some(body.clone())).await.refused(403, &path);
        s.ask(method, &path, &token, Some(body)).await.is(done, &path);
    }
    let demoted = json!({ "role": "review" });
    s.patch(&format!("/v1/orgs/{}/members/{creator}", s.org), demoted).await;
    let change = Some(json!({ "title": "Mine" }));
    s.ask("PATCH", &site, &token, change).await.refused(403, "they may no longer create content");
}

#[tokio::test]
async fn updated_request_has_initial_and_merged_revisions() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    let head = async || s.get(&path).await["revision"].clone();
    let merge_a_page = async |title: &str| {
        let request = s.request(&space).await;
        let page = json!({ "changes": [{ "operation": "insert_page", "title": title, "document": {} }] });
        s.post(&format!("{request}/content"), 200, page).await;
        s.post(&format!("{request}/merge"), 200, json!({})).await;
    };
    let began = head().await;
    let request = s.request(&space).await;
    let page = json!({ "changes": [{ "operation": "insert_page", "title": "Mine", "document": {} }] });
    s.post(&format!("{request}/content"), 200, page).await;
    let fresh = s.get(&request).await;
    assert_eq!((&fresh["revisionInitial"], fresh.get("revisionMergedAncestor")), (&began, None));
    assert_eq!(fresh["outdated"], false);
    for round in ["First", "Second"] {
        merge_a_page(round).await;
        let primary = head().await;
        assert_eq!(s.get(&request).await["outdated"], true, "{round}");
        let done = s.post(&format!("{request}/update"), 200, json!({})).await.body;
        let updated = s.get(&request).await;
        assert_eq!(
            (&updated["revisionInitial"], &updated["revisionMergedAncestor"]),
            (&began, &primary),
            "{round}"
        );
        assert_eq!((&updated["revision"], &updated["outdated"]), (&done["revision"], &json!(false)));
        let revision =
            s.get(&format!("{path}/revisions/{}", done["revision"].as_str().expect("an id"))).await;
        assert_eq!(revision["type"], "update");
        assert_eq!(revision["parents"][1], primary, "the second parent is the space's head");
    }
    // An update of a change request that is up to date changes nothing.
    let before = s.get(&request).await;
    s.post(&format!("{request}/update"), 200, json!({})).await;
    assert_eq!(s.get(&request).await, before);
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let merged = s.get(&request).await;
    assert_eq!((&merged["revisionMerged"], &merged["revisionInitial"]), (&head().await, &began));
    assert_eq!(merged["revisionMergedAncestor"], before["revisionMergedAncestor"]);
}
