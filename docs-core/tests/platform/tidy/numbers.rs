//! Amounts in documentation match the constants that they cite.
//!
//! A comment states an amount after the link to its constant: ``[`MAX_KEY`] (1,024 bytes)``. The handbook links an
//! amount to the generated table of limits, with the name of the row as the title:
//! `[7 days](limits.md "Time to restore …")`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::{
    citations::{comments, prose},
    files, root, rust_files, sources,
};

/// The units of amounts, with their factor to bytes or seconds.
const UNITS: &[(&str, u128)] = &[
    ("kb", 1_000),
    ("kib", 1 << 10),
    ("mb", 1_000_000),
    ("mib", 1 << 20),
    ("gb", 1_000_000_000),
    ("gib", 1 << 30),
    ("minute", 60),
    ("minutes", 60),
    ("hour", 3_600),
    ("hours", 3_600),
    ("day", 86_400),
    ("days", 86_400),
];

/// The constructors of durations, with their factor to seconds.
const DURATIONS: &[(&str, u128)] =
    &[("seconds", 1), ("from_secs", 1), ("minutes", 60), ("hours", 3_600), ("days", 86_400)];

/// Words after a number that make it a limit in the handbook.
const LIMITED: &[&str] =
    &["bytes", "seconds", "characters", "levels", "pages", "files", "members", "spaces", "requests"];

/// Words before a number that make it a limit in the handbook.
const BOUNDS: &[&str] = &["at most", "at least", "up to", "no more than", "more than"];

/// The handbook pages with generated tables.
const GENERATED: &[&str] = &["states.md", "permissions.md", "limits.md", "formats.md", "bounds.md"];

/// Maximum length of a chain of constants that reference each other.
const MAX_REFERENCES: usize = 8;

/// Minimum number of amounts in comments, which ensures that the test checks something.
const LEAST_IN_COMMENTS: usize = 15;

/// Minimum number of amounts in the handbook.
const LEAST_IN_HANDBOOK: usize = 8;

/// Returns a number such as `1,024`, `1_024` or `0x10`, without its unit.
fn number(text: &str) -> Option<u128> {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    is_number.then(|| text.replace([',', '_'], "").parse().ok()).flatten()
}

/// Returns the value of an amount in units, bytes or seconds.
fn amount(text: &str) -> Option<u128> {
    let mut words = text.split_whitespace();
    let number = number(words.next()?)?;
    let unit = words.next().unwrap_or_default().trim_end_matches(|c: char| !c.is_alphanumeric());
    let factor =
        UNITS.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name)).map_or(1, |(_, factor)| *factor);
    Some(number * factor)
}

/// The constants of the workspace: name, file and expression.
struct Constants(BTreeMap<String, Vec<(PathBuf, String)>>);

impl Constants {
    fn read(files: &[PathBuf]) -> Self {
        let mut all: BTreeMap<String, Vec<(PathBuf, String)>> = BTreeMap::new();
        for file in files {
            for line in fs::read_to_string(file).expect("a file").lines() {
                let Some((_, rest)) = line.split_once("const ").filter(|(before, _)| !before.contains("//"))
                else {
                    continue;
                };
                let (Some((name, _)), Some((_, value))) = (rest.split_once(':'), rest.split_once(" = "))
                else {
                    continue;
                };
                let value = value.trim_end_matches(';').to_owned();
                all.entry(name.to_owned()).or_default().push((file.clone(), value));
            }
        }
        Self(all)
    }

    /// Returns the value of a constant as seen from a file: the definition in this file, else in its crate, else in the
    /// workspace. Returns `None` if it is ambiguous or not an amount.
    fn value(&self, from: &Path, name: &str) -> Option<u128> {
        self.value_within(from, name, MAX_REFERENCES)
    }

    fn value_within(&self, from: &Path, name: &str, references: usize) -> Option<u128> {
        let references = references.checked_sub(1)?;
        let all = self.0.get(name)?;
        let of_crate = |file: &Path| file.iter().take_while(|part| *part != "src").collect::<PathBuf>();
        let near: [&dyn Fn(&Path) -> bool; 3] =
            [&|file| file == from, &|file| of_crate(file) == of_crate(from), &|_| true];
        for is_near in near {
            let found: BTreeSet<u128> = all
                .iter()
                .filter(|(file, _)| is_near(file))
                .filter_map(|(file, value)| self.evaluate(file, value, references))
                .collect();
            if !found.is_empty() {
                return found.first().copied().filter(|_| found.len() == 1);
            }
        }
        None
    }

    /// Evaluates an expression of numbers, constants, `*`, `<<` and constructors of durations.
    fn evaluate(&self, file: &Path, expression: &str, references: usize) -> Option<u128> {
        let expression = expression.trim();
        if let Some((left, right)) = expression.split_once(" << ") {
            let by = self.evaluate(file, right, references)?;
            return self.evaluate(file, left, references)?.checked_shl(by.try_into().ok()?);
        }
        if let Some((kind, argument)) = expression.strip_suffix(')').and_then(|call| call.split_once('(')) {
            let kind = kind.rsplit("::").next().unwrap_or_default();
            let (_, factor) = DURATIONS.iter().find(|(name, _)| kind == *name)?;
            return Some(self.evaluate(file, argument, references)? * factor);
        }
        expression.split(" * ").try_fold(1, |product, factor| {
            let factor = factor.trim();
            let value =
                number(factor).or_else(|| self.value_within(file, factor.rsplit("::").next()?, references));
            Some(product * value?)
        })
    }
}

/// Returns the constants in `text` that are followed by an amount: ``[`NAME`] (amount)``.
fn stated(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (_, rest) in text.match_indices("[`").map(|(at, _)| text.split_at(at + 2)) {
        let Some((name, rest)) = rest.split_once("`]") else { continue };
        let rest = match rest.strip_prefix('(').and_then(|link| link.split_once(')')) {
            Some((_, rest)) => rest,
            None => rest,
        };
        let Some((amount, _)) = rest.strip_prefix(" (").and_then(|amount| amount.split_once(')')) else {
            continue;
        };
        let name = name.rsplit("::").next().unwrap_or_default();
        let is_constant = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if is_constant && amount.starts_with(|c: char| c.is_ascii_digit()) {
            found.push((name, amount));
        }
    }
    found
}

/// Returns the links in `text` whose label is a number or an amount: the label and the title.
fn linked(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("](") {
        let label = text[..at].rsplit('[').next().unwrap_or_default();
        let target = text[at + 2..].split(')').next().unwrap_or_default();
        if amount(label).is_some() && target.contains("limits.md") {
            found.push((label, target.split('"').nth(1).unwrap_or_default()));
        }
    }
    found
}

/// Returns the first limit in a line that is not part of a link.
fn unlinked(line: &str) -> Option<String> {
    // The number of a list item is not an amount.
    let item =
        line.trim_start().split_once(". ").filter(|(item, _)| item.bytes().all(|b| b.is_ascii_digit()));
    let line = item.map_or(line, |(_, rest)| rest);
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_end_matches(['.', ',', ';', ':', ')'])).collect();
    for (at, word) in words.iter().enumerate().filter(|(_, word)| number(word).is_some()) {
        let before = words[at.saturating_sub(3)..at].join(" ").to_lowercase();
        let next =
            words.get(at + 1).copied().unwrap_or_default().trim_end_matches(|c: char| !c.is_alphanumeric());
        let is_unit =
            LIMITED.contains(&next) || UNITS.iter().any(|(unit, _)| next.eq_ignore_ascii_case(unit));
        if is_unit || BOUNDS.iter().any(|bound| before.ends_with(bound)) {
            return Some(format!("{before} {word} {next}"));
        }
    }
    None
}

/// Returns the rows of the generated tables of limits.
fn rows() -> BTreeMap<String, String> {
    let page = root().join("examples/handbook/reference/limits.md");
    let page = fs::read_to_string(page).expect("the page of limits");
    let cells =
        page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    cells.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn amounts_in_comments_equal_their_constants() {
    let files = sources();
    let constants = Constants::read(&files);
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in &files {
        let text = comments(&fs::read_to_string(file).expect("a file")).replace('\n', " ");
        for (name, said) in stated(&text) {
            checked += 1;
            let value = constants.value(file, name);
            if value.is_none() || value != amount(said) {
                wrong.push(format!("{}: {name} is {value:?}, not {said}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked >= LEAST_IN_COMMENTS, "only {checked} amounts");
}

#[test]
fn amounts_in_the_text_of_the_api_cite_a_constant() {
    let mut found = Vec::new();
    for folder in ["engine/docs-model/src", "docs-http/src/api"] {
        for file in rust_files(&root().join(folder)) {
            let text = fs::read_to_string(&file).expect("a file");
            let is_rustdoc =
                |line: &&str| line.trim_start().starts_with("///") || line.trim_start().starts_with("//!");
            let rustdoc: Vec<&str> = text.lines().filter(is_rustdoc).collect();
            let said = prose(&comments(&rustdoc.join("\n")));
            found.extend(
                said.lines().filter_map(unlinked).map(|limit| format!("{}: {limit}", file.display())),
            );
        }
    }
    assert!(found.is_empty(), "cite the constants as [`NAME`] (amount): {found:#?}");
}

#[test]
fn amounts_in_the_handbook_equal_the_table_of_limits() {
    let rows = rows();
    let (mut checked, mut wrong) = (0, Vec::new());
    for file in files(&root().join("examples/handbook"), "md") {
        let text = prose(&fs::read_to_string(&file).expect("a file"));
        let is_generated = file.file_name().is_some_and(|name| GENERATED.iter().any(|page| name == *page));
        for line in text.lines().filter(|line| !(is_generated && line.starts_with('|'))) {
            wrong.extend(unlinked(line).map(|limit| format!("{}: link `{limit}`", file.display())));
        }
        for (said, row) in linked(&text) {
            checked += 1;
            if rows.get(row).is_none_or(|value| value != said) {
                wrong.push(format!("{}: `{row}` is {:?}, not {said}", file.display(), rows.get(row)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked >= LEAST_IN_HANDBOOK, "only {checked} amounts");
}

#[test]
fn amount_differs_from_a_changed_constant() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.rs");
    let text = "const MAX_A: usize = 64 << 10;\npub const MAX_B: TimeDelta = TimeDelta::hours(24);\n\
                const MAX_C: u64 = 2 * MAX_A;\n";
    fs::write(&file, text).expect("written");
    let constants = Constants::read(std::slice::from_ref(&file));
    let comment = "[`MAX_A`] (64 KiB), [`X::MAX_B`](crate::X) (1 day), [`MAX_C`] (131,072 bytes), [`f`] (1), [`MAX_A`].";
    let said = stated(comment);
    assert_eq!(said, [("MAX_A", "64 KiB"), ("MAX_B", "1 day"), ("MAX_C", "131,072 bytes")]);
    assert!(said.iter().all(|(name, said)| constants.value(&file, name) == amount(said)));
    assert_ne!(constants.value(&file, "MAX_B"), amount("25 hours"));
    assert_eq!(constants.value(&file, "MAX_D"), None);
}

#[test]
fn limit_in_the_handbook_has_a_unit_or_a_bound() {
    for line in ["At most 50.", "for 30 days", "Up to 8 KiB.", "over 1,000 pages"] {
        assert!(unlinked(line).is_some(), "{line}");
    }
    for line in [
        "Rejected with 400.",
        "for [30 days](limits.md \"A row\")",
        "`limit=2`",
        "1. Requests",
        "In version 2",
    ] {
        assert_eq!(unlinked(line), None, "{line}");
    }
    assert_eq!(linked("for [30 days](limits.md \"A row\") or [a while](limits.md)"), [("30 days", "A row")]);
}
