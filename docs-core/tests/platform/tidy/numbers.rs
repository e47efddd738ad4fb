//! Limits are defined once, in code. Documentation names the limit and leaves the number to the schema and to the
//! generated tables of the handbook.

use std::fs;

use super::{
    citations::{comments, prose},
    files, root, rust_files,
};

/// The units of limits.
const UNITS: &[&str] = &[
    "bytes",
    "kb",
    "kib",
    "mb",
    "mib",
    "gb",
    "gib",
    "second",
    "seconds",
    "minute",
    "minutes",
    "hour",
    "hours",
    "day",
    "days",
    "year",
    "years",
    "character",
    "characters",
    "letters",
    "links",
    "pages",
    "files",
    "changes",
    "items",
    "members",
    "users",
    "people",
    "blocks",
    "levels",
    "entries",
    "spaces",
    "sites",
    "sections",
    "groups",
    "redirects",
    "claims",
    "teams",
    "collections",
    "reviewers",
    "addresses",
    "domains",
    "emoji",
    "requests",
    "times",
];

/// Words before the number of a limit.
const BOUNDS: &[&str] = &["at most", "at least", "up to", "no more than", "more than", "over"];

/// Number words of durations.
const WORDS: &[&str] =
    &["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "thirty", "sixty"];

/// The units that follow such a number word.
const TIMES: &[&str] = &["seconds", "minutes", "hours", "days"];

/// The pages of the handbook with generated tables, which contain numbers.
const GENERATED: &[&str] = &["states.md", "permissions.md", "limits.md", "formats.md", "bounds.md"];

/// Returns the first limit that a line states as a number.
fn limit(line: &str) -> Option<String> {
    // The number of a list item is not a limit.
    let item = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let words: Vec<String> = item
        .strip_prefix(". ")
        .unwrap_or(line)
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &String| word.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '.');
    let said =
        words.windows(2).find(|two| WORDS.contains(&two[0].as_str()) && TIMES.contains(&two[1].as_str()));
    if let Some(said) = said.or_else(|| words.windows(3).find(|three| *three == ["for", "an", "hour"])) {
        return Some(said.join(" "));
    }
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_number(word)) {
        let before = words[..at].iter().rev().take(3).rev().cloned().collect::<Vec<_>>().join(" ");
        let next = words.get(at + 1).map(String::as_str).unwrap_or_default();
        let is_range = next == "to" && words.get(at + 2).is_some_and(is_number);
        if is_range || UNITS.contains(&next) || BOUNDS.iter().any(|bound| before.ends_with(bound)) {
            return Some(format!("{before} {word} {next}"));
        }
    }
    None
}

#[test]
fn rustdoc_of_the_model_and_the_api_repeats_no_limit() {
    let folders = ["engine/docs-model/src", "docs-http/src/api"].map(|folder| root().join(folder));
    let mut found = Vec::new();
    for file in folders.iter().flat_map(|folder| rust_files(folder)) {
        let text = fs::read_to_string(&file).expect("a file");
        let is_rustdoc =
            |line: &&str| ["///", "//!"].contains(&line.trim_start().get(..3).unwrap_or_default());
        let rustdoc: Vec<&str> = text.lines().filter(is_rustdoc).collect();
        let said = prose(&comments(&rustdoc.join("\n")));
        found.extend(said.lines().filter_map(limit).map(|limit| format!("{}: {limit}", file.display())));
    }
    assert!(found.is_empty(), "say these in code only: {found:#?}");
}

#[test]
fn no_limit_is_repeated_in_the_handbook() {
    let mut found = Vec::new();
    for file in files(&root().join("examples/handbook"), "md") {
        let text = fs::read_to_string(&file).expect("a file");
        let is_generated = file.file_name().is_some_and(|name| GENERATED.iter().any(|page| name == *page));
        let said = prose(&text);
        let own = said.lines().filter(|line| !(is_generated && line.starts_with('|')));
        found.extend(own.filter_map(limit).map(|limit| format!("{}: {limit}", file.display())));
    }
    assert!(found.is_empty(), "say these in generated tables only: {found:#?}");
}

#[test]
fn a_limit_is_a_number_with_a_unit_or_a_bound() {
    for line in [
        "At most 50 characters.",
        "2 to 128.",
        "Kept for 30 days.",
        "Up to 8 KiB.",
        "1,000 pages (at once)",
        "It is kept for seven days.",
        "Good for an hour.",
    ] {
        assert!(limit(line).is_some(), "{line}");
    }
    for line in [
        "Refused with 400.",
        "The first 3.",
        "`limit=2`",
        "In version 2 it is another.",
        "Some characters.",
        "Two spaces.",
        "1. Requests come in.",
    ] {
        assert_eq!(limit(line), None, "{line}");
    }
}
