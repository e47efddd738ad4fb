//! Converts every page in a folder to a document, to JSON and back, and to Markdown, and reports differences.
//!
//! `cargo run --release -p docs-core --example round_trip -- FOLDER [--show KIND]`

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use docs_core::{
    content::{
        document::{DocumentSource, parse, print},
        markdown::parse_page,
    },
    model::Document,
};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder");
    let show = arguments.next().and_then(|_| arguments.next());
    let mut pages = Vec::new();
    collect(Path::new(&folder), &mut pages);
    let mut report = Report::default();
    for page in &pages {
        let Ok(text) = fs::read_to_string(page) else { continue };
        if page.file_name().is_some_and(|name| name == "SUMMARY.md") {
            continue;
        }
        report.page(page, &parse_page(&text).body, show.as_deref());
    }
    report.print();
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

#[derive(Default)]
struct Report {
    pages: usize,
    equal: usize,
    stable: usize,
    kept: usize,
    blocks: usize,
    verbatim: BTreeMap<String, usize>,
    bytes: usize,
    kinds: BTreeMap<&'static str, usize>,
}

impl Report {
    fn page(&mut self, path: &Path, body: &str, show: Option<&str>) {
        self.pages += 1;
        self.bytes += body.len();
        let source = DocumentSource::new(body);
        self.blocks += source.document.nodes.len();
        for block in &source.document.nodes {
            if block.spelling.as_deref() == Some("verbatim") {
                let text = docs_core::content::document::plain_text(&Document::new(vec![block.clone()]));
                let begin: String = text.chars().take(14).collect();
                *self.verbatim.entry(begin.replace('\n', " ")).or_default() += 1;
            }
        }
        let json = serde_json::to_string(&source.document).expect("a document is JSON");
        let document: Document = serde_json::from_str(&json).expect("and back");
        let written = match print(&document) {
            Ok(written) => written,
            Err(error) => {
                println!("{}: {error}", path.display());
                return;
            }
        };
        let again = parse(&written);
        if again == document {
            self.stable += 1;
        } else {
            *self.kinds.entry("unstable").or_default() += 1;
            if show.is_some_and(|show| show == "unstable" || show == "all") {
                unstable(path, &document, &again);
            }
        }
        if docs_core::content::document::update(body, &document).as_deref() == Ok(body) {
            self.kept += 1;
        }
        if squash(&written) == squash(body) {
            self.equal += 1;
            return;
        }
        let (ours, theirs) = (squash(&written), squash(body));
        let kind = kind(&theirs, &ours);
        *self.kinds.entry(kind).or_default() += 1;
        if show.is_some_and(|show| show == kind || show == "all") {
            let at = first_difference(&theirs, &ours);
            println!(
                "{} [{kind}]\n  was: {}\n  is:  {}",
                path.display(),
                around(&theirs, at),
                around(&ours, at)
            );
        }
    }

    fn print(&self) {
        let share = |count: usize| 100.0 * count as f64 / self.pages.max(1) as f64;
        println!("pages: {}, {} bytes", self.pages, self.bytes);
        println!("equal by way of JSON, but for white space: {} ({:.2} %)", self.equal, share(self.equal));
        println!(
            "stable (reading what was written gives the same tree): {} ({:.2} %)",
            self.stable,
            share(self.stable)
        );
        println!("the same bytes where nothing changed: {} ({:.2} %)", self.kept, share(self.kept));
        let verbatim: usize = self.verbatim.values().sum();
        println!("blocks kept as they are: {verbatim} of {}", self.blocks);
        let mut most: Vec<_> = self.verbatim.iter().collect();
        most.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (begin, count) in most.into_iter().take(12) {
            println!("  {count} x {begin:?}");
        }
        for (kind, count) in &self.kinds {
            println!("  {kind}: {count}");
        }
    }
}

fn unstable(path: &Path, document: &Document, again: &Document) {
    for (a, b) in document.nodes.iter().zip(&again.nodes) {
        if a != b {
            let json = |block| serde_json::to_string(block).unwrap_or_default();
            let (a, b) = (json(a), json(b));
            let at = first_difference(&a, &b);
            println!("{} [unstable]\n  was: {}\n  is:  {}", path.display(), around(&a, at), around(&b, at));
            return;
        }
    }
    println!("{} [unstable] {} and {} blocks", path.display(), document.nodes.len(), again.nodes.len());
}

fn first_difference(a: &str, b: &str) -> usize {
    a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b).map_or(a.len().min(b.len()), |((at, _), _)| at)
}

fn around(text: &str, at: usize) -> String {
    let before = text.get(..at).map_or(String::new(), |text| {
        text.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect()
    });
    let behind: String = text.get(at..).unwrap_or_default().chars().take(80).collect();
    format!("{before}⟦{behind}")
}

/// Normalizes text for comparison: collapses white space, ignores table padding and space between tags, and shortens
/// the delimiter rows of tables.
fn squash(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.trim_start_matches('\u{feff}').replace('\0', "\u{fffd}").lines() {
        let trimmed = line.trim();
        let is_rule = trimmed.contains('-')
            && trimmed.contains('|')
            && trimmed.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
        let mut line = trimmed.to_owned();
        if is_rule {
            while line.contains("--") {
                line = line.replace("--", "-");
            }
        }
        if trimmed.starts_with('|') {
            line = line.replace('|', " | ");
        }
        out.push_str(&line);
        out.push(' ');
    }
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace("> <", "><")
}

/// Classifies the first difference.
fn kind(theirs: &str, ours: &str) -> &'static str {
    let at = first_difference(theirs, ours);
    let (a, b) = (theirs.get(at..).unwrap_or_default(), ours.get(at..).unwrap_or_default());
    let first = |text: &str| text.chars().next().unwrap_or(' ');
    match (first(a), first(b)) {
        ('\\', _) | (_, '\\') => "escape",
        ('&', _) | (_, '&') => "character reference",
        ('*' | '-' | '+', '*' | '-' | '+') => "bullet or divider",
        ('*' | '_', _) | (_, '*' | '_') => "emphasis",
        ('|', _) | (_, '|') => "table",
        ('`' | '~', _) | (_, '`' | '~') => "code",
        ('<', _) | (_, '<') => "HTML",
        ('[' | '(' | ')' | ']', _) | (_, '[' | '(' | ')' | ']') => "link",
        ('{', _) | (_, '{') => "tag",
        ('=' | '-' | '#', _) | (_, '=' | '-' | '#') => "heading",
        (a, b) if a.is_ascii_digit() || b.is_ascii_digit() => "number",
        (' ', _) | (_, ' ') => "space between words",
        _ => "other",
    }
}
