//! Who may do what: every operation of the document, asked by everybody, is answered with the status that the table
//! beside this file says. `DOCS_MATRIX=write` writes the table anew, for a reader to judge what changed.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use docs_core::model::Role;
use serde_json::json;

use crate::refusals::{Op, World, bearer};

const TABLE: &str = include_str!("matrix.txt");

/// Those who ask: roles of the organization, the owner of a team who has the role `read`, an administrator of another
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
        people.push((name, Some(bearer(&token))));
    }
    people.push(("stranger", Some(bearer(&w.s.stranger))));
    people.push(("nobody", None));
    (w, people)
}

/// Puts the world into a state in which the operation is not refused for another reason than who asks.
///
/// Answers whether nothing had to be changed.
async fn ready(w: &World, op: &Op) -> bool {
    let space = format!("/v1/spaces/{}", w.name("spaceId"));
    match op.id.as_str() {
        "restoreSpace" => drop(w.s.ask("DELETE", &space, &w.s.admin, None).await.is(204, "deleted")),
        "importContent" | "applyTemplateToSpace" => {
            w.s.patch(&space, json!({ "editMode": "live" })).await;
        }
        _ => return true,
    }
    false
}

#[tokio::test]
async fn everybody_may_do_what_the_table_says() {
    let (mut world, mut people) = peopled().await;
    let ops = world.ops();
    let names: Vec<&str> = people.iter().map(|(name, _)| *name).collect();
    let mut rows = BTreeMap::new();
    let mut is_fresh = true;
    for op in &ops {
        let mut row = Vec::new();
        if !is_fresh {
            (world, people) = peopled().await;
        }
        is_fresh = ready(&world, op).await;
        for at in 0..names.len() {
            // The bodies and paths name what is in this very world.
            let own = world.ops().into_iter().find(|own| own.id == op.id).expect("the operation");
            let answer = world.send(&own, &world.path(&own), people[at].1.as_deref()).await;
            row.push(answer.status);
            // Who reads or creates something new leaves to the next what was there.
            if answer.status < 400 && answer.status != 201 && op.method != "GET" {
                is_fresh = false;
                if at + 1 < names.len() {
                    (world, people) = peopled().await;
                    is_fresh = ready(&world, op).await;
                }
            }
        }
        rows.insert(op.id.clone(), row);
    }
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
