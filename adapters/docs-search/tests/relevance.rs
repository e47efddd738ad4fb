//! The quality of the order of hits, measured with the queries of `handbook-queries.txt` on the handbook.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use docs_memstore::MemSearch;
use docs_model::hash::Hash;
use docs_ports::{
    SearchIndex,
    search::{IndexChange, PageDocument, Query, Scope, SearchQuery, Section},
};
use docs_search::TantivySearch;
use tempfile::TempDir;

/// A query, and the pages that are expected first.
struct Expectation {
    query: String,
    pages: Vec<String>,
}

fn expectations() -> Vec<Expectation> {
    let lines = include_str!("handbook-queries.txt").lines().filter(|line| !line.starts_with('#'));
    let parse = |line: &str| {
        let (query, pages) = line.split_once(" => ").expect("a query and pages");
        Expectation { query: query.to_owned(), pages: pages.split(' ').map(str::to_owned).collect() }
    };
    lines.map(parse).collect()
}

/// Reads the pages of a folder with Markdown files, by their path without extension.
fn pages(folder: &Path) -> Vec<(String, PageDocument)> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !is_hidden {
            open.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.strip_prefix(folder).expect("inside").with_extension("");
            let name = name.to_string_lossy().into_owned();
            if name != "SUMMARY" {
                let text = fs::read_to_string(&path).expect("a text");
                found.push((name.clone(), document(&name, &text)));
            }
        }
    }
    found
}

/// Splits a page at its headings. Markup is removed as far as it affects words.
fn document(name: &str, text: &str) -> PageDocument {
    let front_matter = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    let (meta, body) = front_matter.unwrap_or(("", text));
    let description = meta.lines().find_map(|line| line.strip_prefix("description: "));
    let mut title = name.to_owned();
    let mut sections = vec![Section::default()];
    let mut is_code = false;
    for line in body.lines() {
        is_code ^= line.starts_with("```");
        match line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim()) {
            Some(heading) if !is_code => {
                let heading = heading.split("<a").next().unwrap_or_default().trim().to_owned();
                if line.starts_with("# ") {
                    title = heading;
                } else {
                    sections.push(Section { heading: Some(heading), ..Section::default() });
                }
            }
            _ if line.starts_with("{%") => {}
            _ => {
                let section = sections.last_mut().expect("a section");
                section.text.push_str(&without_targets(line));
                section.text.push('\n');
            }
        }
    }
    PageDocument {
        organization: "org".parse().expect("an id"),
        space: "handbook".parse().expect("an id"),
        page: name.replace('/', "-").parse().expect("an id"),
        title,
        description: description.map(str::to_owned),
        text: Hash::compute(body.as_bytes()),
        sections,
    }
}

/// Removes the targets of links.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push(' ');
        text.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    text
}

/// The result of all queries.
#[derive(Default)]
struct Quality {
    queries: usize,
    first: usize,
    in_three: usize,
    gain: f64,
    misses: Vec<String>,
}

impl Quality {
    /// Adds a query with the pages that it found, in order.
    #[expect(clippy::cast_precision_loss, reason = "the positions are small")]
    fn add(&mut self, expected: &Expectation, found: &[String]) {
        let at = found.iter().position(|page| expected.pages.contains(page));
        self.queries += 1;
        self.first += usize::from(at == Some(0));
        self.in_three += usize::from(at.is_some_and(|at| at < 3));
        // One relevant page: the ideal gain is 1.
        self.gain += at.filter(|at| *at < 10).map_or(0.0, |at| 1.0 / (at as f64 + 2.0).log2());
        if at != Some(0) {
            let first: Vec<&str> = found.iter().take(3).map(String::as_str).collect();
            self.misses.push(format!("{}: {at:?}, {first:?}", expected.query));
        }
    }
}

async fn quality(index: &impl SearchIndex, pages: &[(String, PageDocument)]) -> Quality {
    let changes = pages.iter().map(|(_, page)| IndexChange::PutPage(Box::new(page.clone()))).collect();
    index.apply(changes, None).await.expect("applied");
    let mut quality = Quality::default();
    for expected in expectations() {
        let query = SearchQuery {
            query: Query::parse(&expected.query),
            scope: Scope::Spaces(BTreeSet::from(["handbook".parse().expect("an id")])),
            after: None,
            limit: 10,
            tenant: "org".into(),
        };
        let hits = index.find_pages(&query).await.expect("found");
        let name =
            |id: &str| pages.iter().find(|(_, page)| page.page.as_str() == id).map(|(name, _)| name.clone());
        let found: Vec<String> = hits.iter().filter_map(|hit| name(hit.page.as_str())).collect();
        quality.add(&expected, &found);
    }
    quality
}

#[tokio::test]
#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
async fn queries_find_the_expected_page_of_the_handbook_first() {
    let handbook = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/handbook");
    let pages = pages(&handbook);
    assert!(pages.len() > 40, "{}", pages.len());
    let folder = TempDir::new().expect("a folder");
    let in_folder = quality(&TantivySearch::folder(folder.path()).expect("an index"), &pages).await;
    let in_memory = quality(&MemSearch::new(), &pages).await;
    for found in [in_folder, in_memory] {
        let part = |count: usize| count as f64 / found.queries as f64;
        let (first, in_three) = (part(found.first), part(found.in_three));
        let gain = found.gain / found.queries as f64;
        println!("{} queries: first {first:.3}, in three {in_three:.3}, nDCG {gain:.3}", found.queries);
        println!("{}", found.misses.join("\n"));
        assert!(found.queries >= 60 && first >= 0.9 && in_three >= 0.98, "{}", found.misses.join("\n"));
    }
}
