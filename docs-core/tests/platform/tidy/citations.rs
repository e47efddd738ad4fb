//! References are valid: links in Markdown and rustdoc, and mentioned files.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{files, root, sources};

/// Returns the Markdown documentation of the repository, without files that the platform or a test reads as input.
fn texts() -> Vec<PathBuf> {
    let mut found = files(root(), "md");
    found.retain(|file| {
        let inside = file.strip_prefix(root()).expect("a file of the workspace");
        !inside.iter().any(|part| part == "src" || part == "tests")
    });
    assert!(found.len() > 30, "{found:?}");
    found
}

/// Removes the code blocks from `text`.
pub(super) fn prose(text: &str) -> String {
    let mut fence: Option<String> = None;
    let mut said = String::new();
    for line in text.lines() {
        let code = line.trim_start();
        let marks: String = code.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if code.trim_end() == *open => fence = None,
            None if marks.len() > 2 => fence = Some(marks),
            Some(_) => {}
            None => {
                said.push_str(line);
                said.push('\n');
            }
        }
    }
    said
}

/// Returns the comments of a source file.
pub(super) fn comments(text: &str) -> String {
    let said = |line: &str| {
        let (code, comment) = line.split_once("//")?;
        let comment = comment.trim_start_matches(['/', '!']);
        code.trim().is_empty().then(|| comment.strip_prefix(' ').unwrap_or(comment).to_owned())
    };
    // A line of code becomes an empty line, which ends the preceding comment and any code block in it.
    let lines = text.lines().map(|line| said(line).unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the relative link targets in `text`.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '"']).next());
    let local =
        targets.filter(|to| !to.contains("://") && !to.starts_with(['#', '/']) && !to.starts_with("mailto:"));
    local.map(|to| to.split('#').next().unwrap_or_default()).filter(|to| !to.is_empty()).collect()
}

/// Returns the strings in single backticks.
fn quoted(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.matches('`').count() % 2 == 0);
    lines.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// The files of the repository, as paths relative to its root.
struct Tree(BTreeSet<String>);

impl Tree {
    fn read() -> Self {
        let all = files(root(), "").into_iter();
        let inside =
            all.map(|file| file.strip_prefix(root()).expect("a file").to_string_lossy().into_owned());
        Self(inside.collect())
    }

    /// Returns `true` if `name` is the end of a file path, or the path of a folder. A star matches any part of a name.
    fn has(&self, name: &str) -> bool {
        let (before, behind) = name.split_once('*').unwrap_or((name, ""));
        let is_end = |path: &str| match name.contains('*') {
            true => path.ends_with(behind) && format!("/{path}").contains(&format!("/{before}")),
            false => path == name || path.ends_with(&format!("/{name}")),
        };
        let folder = format!("{}/", name.trim_end_matches('/'));
        self.0.iter().any(|path| is_end(path) || path.starts_with(&folder))
    }

    /// Returns `true` if a quoted text is a path in the repository, rather than a file of the user.
    fn is_named(&self, quoted: &str) -> bool {
        let is_path = quoted.chars().all(|c| c.is_ascii_alphanumeric() || "/._-*".contains(c));
        let first = quoted.split('/').next().unwrap_or_default();
        let is_ours = quoted.contains('/') && self.0.iter().any(|path| path.split('/').next() == Some(first));
        is_path && (is_ours || (quoted.ends_with(".rs") && quoted != ".rs"))
    }
}

#[test]
fn every_link_of_a_text_resolves_to_a_file() {
    let mut checked = 0;
    for file in texts() {
        let text = fs::read_to_string(&file).expect("a file");
        for to in links(&prose(&text)) {
            let folder = file.parent().expect("a folder");
            assert!(folder.join(to).exists(), "{}: nothing is at `{to}`", file.display());
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn every_markdown_link_of_rustdoc_resolves_to_a_file() {
    for file in sources() {
        let text = comments(&fs::read_to_string(&file).expect("a file"));
        for to in links(&prose(&text)).into_iter().filter(|to| to.ends_with(".md")) {
            let folder = file.parent().expect("a folder");
            assert!(folder.join(to).exists(), "{}: nothing is at `{to}`", file.display());
        }
    }
}

#[test]
fn every_file_that_is_named_exists() {
    let tree = Tree::read();
    let mut checked = 0;
    let mut missing = Vec::new();
    let read = |file: &Path| fs::read_to_string(file).expect("a file");
    let said = texts().into_iter().map(|file| (prose(&read(&file)), file));
    let commented = sources().into_iter().map(|file| (prose(&comments(&read(&file))), file));
    for (text, file) in said.chain(commented) {
        for name in quoted(&text).into_iter().filter(|quoted| tree.is_named(quoted)) {
            checked += 1;
            if !tree.has(name) {
                missing.push(format!("{}: {name}", file.display()));
            }
        }
    }
    assert!(missing.is_empty(), "these are not in the repository: {missing:#?}");
    assert!(checked > 100, "{checked}");
}

#[test]
fn unpublished_documents_are_not_cited() {
    for file in sources().into_iter().chain(texts()) {
        let text = fs::read_to_string(&file).expect("a file");
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let citation = words.find(|word| ["SPEC", "FACTS"].contains(word));
        assert_eq!(citation, None, "{}", file.display());
    }
}

#[test]
fn decision_numbers_are_unique_and_contiguous() {
    let notes = files(&root().join("decisions"), "md");
    let number = |file: &PathBuf| file.file_name().and_then(|name| name.to_str()?.get(..4)?.parse().ok());
    let mut numbers: Vec<usize> =
        notes.iter().map(|file| number(file).unwrap_or_else(|| panic!("{}", file.display()))).collect();
    numbers.sort_unstable();
    assert!(numbers.iter().copied().eq(1..=notes.len()), "{numbers:?}");
}

#[test]
fn links_and_file_names_are_extracted_from_prose() {
    let text = "See [a](b.md#c), [d](https://e.test/f.md) and `g/h.rs`.\n```\n[i](j.md)\n```\n";
    assert_eq!(links(&prose(text)), ["b.md"]);
    assert_eq!(quoted(&prose(text)), ["g/h.rs"]);
    let tree = Tree(BTreeSet::from(["a/src/b/of_c.rs".to_owned(), "d/e.toml".to_owned()]));
    let checks =
        ["b/of_c.rs", "a/src/b/of_*.rs", "a/x.toml", "c.rs", "d/e.toml", "README.md", "f/g.md", "d/"];
    let found = checks.map(|name| (tree.is_named(name), tree.has(name)));
    let (there, dead, theirs) = ((true, true), (true, false), (false, false));
    assert_eq!(found, [there, (true, true), dead, dead, there, theirs, theirs, there]);
}
