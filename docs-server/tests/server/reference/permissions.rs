//! Roles and permissions: the roles, and the permission matrix, which an HTTP test verifies for every kind of caller.

use std::collections::BTreeMap;

use docs_core::model::Role;
use serde_json::Value;

use super::{Table, code, values};

/// The status of each operation by caller, as verified by the tests of `docs-http`.
const MATRIX: &str = include_str!("../../../../docs-http/tests/http/matrix.txt");

const PAGE: &str = "permissions.md";

pub(super) fn tables(document: &Value) -> Vec<Table> {
    let mut tables = vec![roles(document)];
    tables.extend(operations(document));
    tables
}

fn roles(document: &Value) -> Table {
    let values = values(document, "Role");
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, Role::ALL.iter().map(|role| role.as_str()).collect::<Vec<_>>());
    let rows: Vec<_> = values.iter().map(|(name, meaning)| vec![code(name), meaning.clone()]).collect();
    Table::new(PAGE, "Roles", &["Role", "Additional rights"], &rows)
}

/// Returns a table for each tag in the document.
fn operations(document: &Value) -> Vec<Table> {
    let mut lines = MATRIX.lines().map(|line| line.split_whitespace());
    let people: Vec<&str> = lines.next().expect("a head").skip(1).collect();
    let answers: BTreeMap<&str, Vec<&str>> =
        lines.filter_map(|mut line| Some((line.next()?, line.collect()))).collect();
    let mut by_tag: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    let mut shown = 0;
    for operations in document["paths"].as_object().expect("paths").values() {
        for operation in operations.as_object().expect("operations").values() {
            let id = operation["operationId"].as_str().expect("an id");
            let statuses = answers.get(id).unwrap_or_else(|| panic!("the matrix has no row for {id}"));
            let mut row = vec![operation["summary"].as_str().expect("a summary").to_owned()];
            row.extend(statuses.iter().map(|status| answer(status)));
            by_tag.entry(operation["tags"][0].as_str().expect("a tag")).or_default().push(row);
            shown += 1;
        }
    }
    assert_eq!(shown, answers.len(), "the matrix has rows of operations that do not exist");
    let mut head = vec!["Operation"];
    head.extend(people);
    by_tag.into_iter().map(|(tag, rows)| Table::new(PAGE, &words(tag), &head, &rows)).collect()
}

/// Formats a status: success as "yes", others as code.
fn answer(status: &str) -> String {
    if status.starts_with('2') { "yes".to_owned() } else { code(status) }
}

/// Converts `SingleSignOn` to `Single sign on`. Proper names keep their spelling.
fn words(tag: &str) -> String {
    let mut words = String::new();
    for c in tag.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
            words.extend(c.to_lowercase());
        } else {
            words.push(c);
        }
    }
    words.replace("Open api", "OpenAPI")
}
