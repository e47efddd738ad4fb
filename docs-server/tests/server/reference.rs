//! The generated tables in the handbook's reference match the code.
//!
//! A generated table is the first one under its heading; the rest of a page is handwritten. After a change of the code,
//! `DOCS_REFERENCE=write cargo test -p docs-server --test server reference` regenerates the tables for review.

mod blocks;
mod bounds;
mod compatibility;
mod limits;
mod permissions;
mod states;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use docs_core::Platform;
use docs_http::HttpConfig;
use docs_memstore::{MemObjects, MemStore};
use serde_json::Value;

/// A generated table of a page: the first one under its heading.
struct Table {
    page: &'static str,
    heading: String,
    text: String,
}

impl Table {
    fn new(page: &'static str, heading: &str, head: &[&str], rows: &[Vec<String>]) -> Self {
        assert!(!rows.is_empty(), "{heading}");
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let cells = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        let mut text = line(&cells(head)) + &line(&cells(&vec!["---"; head.len()]));
        for row in rows {
            assert_eq!(row.len(), head.len(), "{heading}");
            text += &line(&row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>());
        }
        Self { page, heading: heading.to_owned(), text }
    }

    /// Returns the page with its table replaced by this one. If the section has no table, this one is added at its end.
    fn within(&self, page: &str) -> String {
        let is_heading = |line: &str| line.starts_with("## ") || line.starts_with("### ");
        let titled = |line: &str| {
            line.split(" <a ").next().unwrap_or_default().trim_start_matches('#').trim() == self.heading
        };
        let mut lines = page.lines().peekable();
        let mut out = String::new();
        let mut section = Vec::new();
        while let Some(line) = lines.next() {
            out += &format!("{line}\n");
            if is_heading(line) && titled(line) {
                while let Some(line) = lines.next_if(|line| !is_heading(line)) {
                    section.push(line);
                }
                break;
            }
        }
        assert!(out.lines().last().is_some_and(titled), "{}: no heading `{}`", self.page, self.heading);
        let first = section.iter().position(|line| line.starts_with('|')).unwrap_or(section.len());
        let rows = section[first..].iter().take_while(|line| line.starts_with('|')).count();
        let (before, behind) = (section[..first].join("\n"), section[first + rows..].join("\n"));
        let rest = lines.collect::<Vec<_>>().join("\n");
        for part in [before.trim(), self.text.trim(), behind.trim(), rest.trim()] {
            if !part.is_empty() {
                out += &format!("\n{part}\n");
            }
        }
        out
    }
}

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/handbook/reference").join(name)
}

fn platform() -> Platform {
    Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build()
}

fn document() -> Value {
    let app = docs_http::routes(&platform(), HttpConfig::default()).expect("routes");
    serde_json::from_str(app.document()).expect("JSON")
}

/// Returns the values of an enumeration with their meanings, taken from the list in its description.
fn values(document: &Value, schema: &str) -> Vec<(String, String)> {
    let description = document["components"]["schemas"][schema]["description"].as_str();
    let description = description.unwrap_or_else(|| panic!("no schema {schema}"));
    let values = description.lines().filter_map(|line| line.strip_prefix("- `")?.split_once("`: "));
    values.map(|(value, meaning)| (value.to_owned(), meaning.to_owned())).collect()
}

fn code(text: impl std::fmt::Display) -> String {
    format!("`{text}`")
}

#[tokio::test]
async fn reference_tables_match_the_code() {
    let document = document();
    let mut tables = states::tables(&document).await;
    tables.extend(permissions::tables(&document));
    tables.extend(limits::tables(&document));
    tables.extend(blocks::tables(&document));
    tables.extend(bounds::tables());
    tables.extend(compatibility::tables(&document));
    let writes = std::env::var_os("DOCS_REFERENCE").is_some_and(|what| what == "write");
    let mut differ = Vec::new();
    for table in &tables {
        let file = page(table.page);
        let now = fs::read_to_string(&file).expect("a page");
        let right = table.within(&now);
        if writes {
            fs::write(&file, &right).expect("the page can be written");
        } else if right != now {
            differ.push(format!("{}: {}", table.page, table.heading));
        }
    }
    assert!(
        differ.is_empty(),
        "these tables are not what the code says; run this test with DOCS_REFERENCE=write: {differ:#?}"
    );
}

#[test]
fn table_replaces_the_one_under_its_heading() {
    let table = Table::new("x.md", "B", &["a"], &[vec!["new".to_owned()]]);
    let page = "# T\n\n## A\n\n| a |\n| --- |\n| 1 |\n\n## B <a id=\"b\"></a>\n\nText.\n\n| a |\n| --- |\n| old |\n\nMore.\n\n## C\n\nEnd.\n";
    let right = page.replace("old", "new");
    assert_eq!(table.within(page), right);
    assert_eq!(table.within(&right), right);
    let without = page.replace("\n\n| a |\n| --- |\n| old |\n\nMore.", "");
    let with = right.replace("\n\nMore.", "");
    assert_eq!(table.within(&without), with);
}
