//! Permissions: for every operation of the document and every kind of caller, the status equals the one given by the
//! table of actions in the handbook. `matrix.txt` is the same table by operation; `DOCS_MATRIX=write` generates it from
//! the handbook.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use docs_core::model::Role;
use serde_json::{Value, json};

use crate::refusals::{Op, World, bearer};

/// The handbook page with the permissions.
const HANDBOOK: &str = include_str!("../../../examples/handbook/reference/roles.md");
/// The operations behind each action of the handbook.
const ACTIONS: &str = include_str!("actions.txt");
/// The expected statuses by operation.
const TABLE: &str = include_str!("matrix.txt");

/// A cell of the handbook's table.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Yes,
    No,
    Hidden,
    Token,
}

impl Cell {
    fn read(text: &str) -> Self {
        match text {
            "yes" => Self::Yes,
            "no" => Self::No,
            "hidden" => Self::Hidden,
            "token" => Self::Token,
            other => panic!("`{other}` is no answer"),
        }
    }

    /// Returns the expected status of an operation whose success status is `done`.
    fn status(self, method: &str, done: u16) -> u16 {
        match self {
            Self::Yes => done,
            Self::No => 403,
            // Deleting a resource that the caller cannot see succeeds.
            Self::Hidden if method == "DELETE" => 204,
            Self::Hidden => 404,
            Self::Token => 401,
        }
    }
}

/// Parses the handbook's table: the kinds of callers, and the cells of each action.
fn handbook() -> (Vec<&'static str>, BTreeMap<&'static str, Vec<Cell>>) {
    let section = HANDBOOK.split("## Actions").nth(1).expect("the actions");
    let mut rows = section
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let people = rows.next().expect("a head")[1..].to_vec();
    let rows = rows.skip(1).map(|row| (row[0], row[1..].iter().copied().map(Cell::read).collect()));
    (people, rows.collect())
}

/// Returns the action of each operation.
fn actions() -> BTreeMap<&'static str, &'static str> {
    let mut action = "";
    let mut actions = BTreeMap::new();
    for line in ACTIONS.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with(' ') {
            actions.extend(line.split_whitespace().map(|operation| (operation, action)));
        } else {
            action = line;
        }
    }
    actions
}

/// Returns the declared success status of an operation.
fn done(document: &Value, id: &str) -> u16 {
    let paths = document["paths"].as_object().expect("paths").values();
    let mut operations = paths.flat_map(|operations| operations.as_object().expect("operations").values());
    let operation = operations.find(|operation| operation["operationId"] == id).expect("the operation");
    let statuses = operation["responses"].as_object().expect("responses").keys();
    let done: Vec<u16> =
        statuses.filter_map(|status| status.parse().ok()).filter(|status| *status < 300).collect();
    // Deleting a translation returns different statuses for existing and missing ones.
    let told = done.iter().find(|status| **status == 205);
    told.or(done.first()).copied().expect("it can be done")
}

/// Returns the expected statuses of all operations.
fn expected(world: &World) -> (Vec<&'static str>, BTreeMap<String, Vec<u16>>) {
    let ((people, rows), actions) = (handbook(), actions());
    let named: BTreeSet<&str> = actions.values().copied().collect();
    assert_eq!(named, rows.keys().copied().collect(), "the actions of the handbook have operations");
    let ops = world.ops();
    let known: BTreeSet<&str> = ops.iter().map(|op| op.id.as_str()).collect();
    assert_eq!(known, actions.keys().copied().collect(), "every operation belongs to one action");
    let row = |op: &Op| {
        let done = done(world.s.document, &op.id);
        let cells = &rows[actions[op.id.as_str()]];
        (op.id.clone(), cells.iter().map(|cell| cell.status(&op.method, done)).collect())
    };
    (people, ops.iter().map(row).collect())
}

/// The kinds of callers: roles in the organization (the two highest ones also have a role in the other organization), a
/// team owner with the role `read`, an administrator of another organization, and an anonymous visitor.
const PEOPLE: [(&str, Option<Role>); 8] = [
    ("guest", None),
    ("read", Some(Role::Read)),
    ("comment", Some(Role::Comment)),
    ("edit", Some(Role::Edit)),
    ("review", Some(Role::Review)),
    ("create", Some(Role::Create)),
    ("admin", Some(Role::Admin)),
    ("owner", Some(Role::Read)),
];

/// Creates a world with all callers. Returns their headers in the order of the table.
async fn peopled() -> (World, Vec<(&'static str, Option<String>)>) {
    let w = World::new().await;
    let mut people = Vec::new();
    for (name, role) in PEOPLE {
        let (user, token) = w.s.joining(name, role).await;
        if name == "owner" {
            let team = format!("/v1/orgs/{}/teams/{}/members/{user}", w.s.org, w.name("teamId"));
            let owner = json!({ "role": "owner" });
            w.s.ask("PUT", &team, &w.s.admin, Some(owner)).await.is(204, "an owner");
        }
        if role >= Some(Role::Create) {
            let other = w.s.other_org.parse().expect("an id");
            let here = w.s.platform.as_platform().org(&other).member(&user).put(role).await;
            here.expect("a member there");
        }
        people.push((name, Some(bearer(&token))));
    }
    people.push(("outsider", Some(bearer(&w.s.outsider))));
    people.push(("anonymous", None));
    (w, people)
}

/// Removes all parts of the site.
async fn empty_site(w: &World) {
    let site = format!("/v1/orgs/{}/sites/{}", w.s.org, w.name("siteId"));
    let structure = w.s.get(&format!("{site}/structure")).await;
    let mut open = structure["structure"].as_array().cloned().unwrap_or_default();
    while let Some(part) = open.pop() {
        let list = match part["object"].as_str() {
            Some("site-section") => "sections",
            Some("site-section-group") => "section-groups",
            Some("site-space") => "site-spaces",
            _ => "external-links",
        };
        open.extend(part["children"].as_array().cloned().unwrap_or_default());
        let path = format!("{site}/{list}/{}", part["id"].as_str().unwrap_or_default());
        w.s.ask("DELETE", &path, &w.s.admin, None).await.is(204, "deleted");
    }
}

/// Prepares the world so that the operation can only be rejected for missing permissions.
pub(crate) async fn ready(w: &World, op: &Op) {
    let space = format!("/v1/spaces/{}", w.name("spaceId"));
    match op.id.as_str() {
        "restoreSpace" => drop(w.s.ask("DELETE", &space, &w.s.admin, None).await.is(204, "deleted")),
        // A space cannot be transferred while it is part of a site or synchronized with Git.
        "transferSpace" => {
            let sync = format!("{space}/git/sync");
            w.s.ask("DELETE", &sync, &w.s.admin, None).await.is(204, "removed");
            let site = format!("/v1/orgs/{}/sites/{}", w.s.org, w.name("siteId"));
            w.s.ask("DELETE", &site, &w.s.admin, None).await.is(204, "deleted");
        }
        "importContent" | "importContentInPageById" | "applyTemplateToSpace" | "uploadFile" => {
            drop(w.s.patch(&space, json!({ "editMode": "live" })).await);
        }
        "applyTemplateToSite" => empty_site(w).await,
        // The space is already at the revision in the path.
        "rollbackSpaceToRevision" => {
            w.s.patch(&space, json!({ "editMode": "live" })).await;
            w.s.post(&format!("{space}/content/template"), 201, json!({ "id": "blank" })).await;
        }
        // A change request that is up to date needs no update.
        "updateChangeRequest" => {
            w.s.patch(&space, json!({ "editMode": "live" })).await;
            w.s.post(&format!("{space}/content/template"), 201, json!({ "id": "blank" })).await;
        }
        // Jobs with the same time have no defined latest one.
        "setSpaceGitSync" => w.s.clock.advance(std::time::Duration::from_millis(1)),
        "updateUserPermissionInSpace" | "updateTeamPermissionInSpace" => granted(w, &space).await,
        "updateUserPermissionInCollection" | "updateTeamPermissionInCollection" => {
            granted(w, &format!("/v1/collections/{}", w.name("collectionId"))).await;
        }
        "updateUserPermissionInSite" | "updateTeamPermissionInSite" => {
            granted(w, &format!("/v1/orgs/{}/sites/{}", w.s.org, w.name("siteId"))).await;
        }
        // A private specification is visible to others only in the content that uses it.
        "getComputedDocument" | "getComputedRevision" => {
            w.s.patch(&format!("/v1/orgs/{}/openapi/pets", w.s.org), json!({ "visibility": "public" })).await;
        }
        _ => {}
    }
}

/// Grants the user and the team in the paths a role on the resource.
async fn granted(w: &World, content: &str) {
    let invite = json!({ "role": "read", "users": [w.name("userId")], "teams": [w.name("teamId")] });
    w.s.post(&format!("{content}/permissions"), 204, invite).await;
}

#[tokio::test]
async fn operation_statuses_per_role_match_the_handbook() {
    let (world, people) = peopled().await;
    let (names, expected) = expected(&world);
    assert_eq!(names, people.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "the columns");
    let store = &world.s.store;
    let start = store.save();
    let mut differs = String::new();
    for op in &world.ops() {
        store.rewind(&start);
        ready(&world, op).await;
        let ready = store.save();
        let mut row = Vec::new();
        for (_, authorization) in &people {
            let answer = world.send(op, &world.path(op), authorization.as_deref()).await;
            row.push(answer.status);
            if answer.status < 400 && op.method != "GET" {
                store.rewind(&ready);
            }
        }
        if row != expected[&op.id] {
            writeln!(differs, "{}: {row:?} instead of {:?}", op.id, expected[&op.id])
                .expect("text takes text");
        }
    }
    assert!(differs.is_empty(), "of {names:?} the handbook says otherwise:\n{differs}");
}

/// A role on a site gives the rights on the site that the same role in the organization gives.
#[tokio::test]
async fn site_role_has_the_rights_of_the_organization_role() {
    let w = World::new().await;
    let ((people, rows), actions) = (handbook(), actions());
    let about_sites = ["See sites", "Delete a site", "Manage a site of somebody else"];
    let (store, site) = (&w.s.store, format!("/v1/orgs/{}/sites/{}", w.s.org, w.name("siteId")));
    let mut differs = String::new();
    for (name, organization) in
        [("reader", Some(Role::Read)), ("creator", Some(Role::Create)), ("guest", None)]
    {
        let (user, token) = w.s.joining(name, organization).await;
        // Some operations on sites also require rights on a space.
        let space = format!("/v1/spaces/{}/permissions", w.name("spaceId"));
        w.s.post(&space, 204, json!({ "role": "create", "users": [user] })).await;
        for role in Role::ALL {
            let invite = json!({ "role": role, "users": [user] });
            w.s.post(&format!("{site}/permissions"), 204, invite).await;
            let column = people.iter().position(|column| *column == role.as_str()).expect("a column");
            let start = store.save();
            for op in w.ops().iter().filter(|op| about_sites.contains(&actions[op.id.as_str()])) {
                store.rewind(&start);
                ready(&w, op).await;
                let cell = rows[actions[op.id.as_str()]][column];
                let expected = match op.id.as_str() {
                    // Guests cannot see each other.
                    id if id.contains("Permissions") && organization.is_none() => 403,
                    // The new space is created in the organization.
                    "applyTemplateToSite" | "duplicateSiteSpace" if organization != Some(Role::Create) => 403,
                    _ => cell.status(&op.method, done(w.s.document, &op.id)),
                };
                let answer = w.send(op, &w.path(op), Some(&bearer(&token))).await;
                if answer.status != expected {
                    writeln!(differs, "{name} {role} {}: {} instead of {expected}", op.id, answer.status)
                        .expect("text takes text");
                }
            }
            store.rewind(&start);
        }
    }
    assert!(differs.is_empty(), "{differs}");
}

/// Nothing of a closed site is visible to members without a role on it.
#[tokio::test]
async fn closed_site_is_hidden_in_every_operation() {
    let w = World::new().await;
    let site = format!("/v1/orgs/{}/sites/{}", w.s.org, w.name("siteId"));
    w.s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    assert_eq!(w.s.patch(&site, json!({ "defaultLevel": null })).await["defaultLevel"], Value::Null);
    let (_, token) = w.s.joining("Cat", Some(Role::Create)).await;
    let before = w.s.stored().await;
    for op in w.ops().iter().filter(|op| w.path(op).contains(w.name("siteId"))) {
        let answer = w.send(op, &w.path(op), Some(&bearer(&token))).await;
        if op.method == "DELETE" {
            answer.is(204, &op.id);
        } else {
            answer.refused(404, &op.id);
        }
    }
    let list = w.s.ask("GET", &format!("/v1/orgs/{}/sites", w.s.org), &token, None).await;
    assert_eq!(list.is(200, "the list of sites"), json!({ "items": [] }), "not even their number");
    assert_eq!(before, w.s.stored().await);
}

#[tokio::test]
async fn permission_table_file_matches_the_handbook() {
    let (names, expected) = expected(&World::new().await);
    let table = table(&names, &expected);
    if std::env::var_os("DOCS_MATRIX").is_some_and(|what| what == "write") {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/matrix.txt");
        std::fs::write(file, &table).expect("the table can be written");
        return;
    }
    assert_eq!(table, TABLE, "`DOCS_MATRIX=write` writes it anew");
}

fn table(names: &[&str], rows: &BTreeMap<String, Vec<u16>>) -> String {
    let width = rows.keys().map(String::len).max().unwrap_or_default();
    let mut table = format!("{:width$}", "operation");
    names.iter().for_each(|name| write!(table, " {name:>8}").expect("text takes text"));
    for (operation, row) in rows {
        write!(table, "\n{operation:width$}").expect("text takes text");
        row.iter().for_each(|status| write!(table, " {status:>8}").expect("text takes text"));
    }
    table.push('\n');
    table
}
