//! Who may do what: every operation of the document, asked by everybody, is answered with the status that the table
//! beside this file says. `DOCS_MATRIX=write` writes the table anew, for a reader to judge what changed.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use docs_core::{Actor, model::Role};
use serde_json::json;

use crate::refusals::{Op, World, bearer};

const TABLE: &str = include_str!("matrix.txt");

/// Those who ask: roles of the organization (the upper two in the other organization as well), the owner of a team who has the role `read`, an administrator of another
/// organization, and nobody.
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

/// A world with all these people in it: their headers, in the order of the table.
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
            let here = w.s.platform.put_member(&Actor::Platform, &other, &user, role).await;
            here.expect("a member there");
        }
        people.push((name, Some(bearer(&token))));
    }
    people.push(("stranger", Some(bearer(&w.s.stranger))));
    people.push(("nobody", None));
    (w, people)
}

/// Puts the world into a state in which the operation is not refused for another reason than who asks.
pub(crate) async fn ready(w: &World, op: &Op) {
    let space = format!("/v1/spaces/{}", w.name("spaceId"));
    match op.id.as_str() {
        "restoreSpace" => drop(w.s.ask("DELETE", &space, &w.s.admin, None).await.is(204, "deleted")),
        // What a site shows stays in its organization.
        "transferSpace" => {
            let site = format!("/v1/orgs/{}/sites/{}", w.s.org, w.name("siteId"));
            w.s.ask("DELETE", &site, &w.s.admin, None).await.is(204, "deleted");
        }
        "importContent" | "applyTemplateToSpace" => {
            drop(w.s.patch(&space, json!({ "editMode": "live" })).await);
        }
        // What is up to date needs no update.
        "updateChangeRequest" => {
            w.s.patch(&space, json!({ "editMode": "live" })).await;
            w.s.post(&format!("{space}/content/template"), 201, json!({ "id": "blank" })).await;
        }
        "updateUserPermissionInSpace" | "updateTeamPermissionInSpace" => granted(w, &space).await,
        "updateUserPermissionInCollection" | "updateTeamPermissionInCollection" => {
            granted(w, &format!("/v1/collections/{}", w.name("collectionId"))).await;
        }
        _ => {}
    }
}

/// Gives the user and the team that paths name a role on a content.
async fn granted(w: &World, content: &str) {
    let invite = json!({ "role": "read", "users": [w.name("userId")], "teams": [w.name("teamId")] });
    w.s.post(&format!("{content}/permissions"), 204, invite).await;
}

#[tokio::test]
async fn everybody_may_do_what_the_table_says() {
    let (world, people) = peopled().await;
    let store = &world.s.store;
    let start = store.save();
    let mut rows = BTreeMap::new();
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
        assert!(row.iter().any(|status| *status < 400), "{}: nobody may: {row:?}", op.id);
        rows.insert(op.id.clone(), row);
    }
    let names: Vec<_> = people.iter().map(|(name, _)| *name).collect();
    let table = table(&names, &rows);
    if std::env::var_os("DOCS_MATRIX").is_some_and(|what| what == "write") {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http/matrix.txt");
        std::fs::write(file, &table).expect("the table can be written");
        return;
    }
    let differs: Vec<_> = table.lines().filter(|line| !TABLE.lines().any(|known| known == *line)).collect();
    assert!(differs.is_empty(), "these rows are not those of the table:\n{}", differs.join("\n"));
    assert_eq!(table, TABLE, "the table has rows of operations that are gone");
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
