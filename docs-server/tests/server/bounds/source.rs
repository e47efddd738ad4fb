//! Reads constants and tests from the source files of the workspace.
//!
//! Most limits are private constants. Reading them from the source makes their values available to the table without
//! making them public.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Folders without constants that limit an input: tests, tools, and the test store.
const SKIPPED: &[&str] =
    &["target", "tests", "examples", "benches", "conformance", "docs-hostile", "docs-memstore"];
/// Words that mark a constant's name as a limit.
const BOUND_WORDS: &[&str] = &["MAX", "MOST", "LIMIT", "LONGEST", "DEPTH", "LEVELS"];
/// Ambiguous constant names, by file, with the constant that each resolves to.
const IMPORTED: &[(&str, &str)] = &[
    ("engine/docs-content/src/evaluate.rs::MAX_STEPS", "engine/docs-expression/src/limits.rs::MAX_STEPS"),
    (
        "docs-core/src/platform/exchange/pdf/book.rs::MAX_STEPS",
        "engine/docs-expression/src/limits.rs::MAX_STEPS",
    ),
    (
        "docs-core/src/platform/publishing/visitors/condition_work.rs::MAX_STEPS",
        "engine/docs-expression/src/limits.rs::MAX_STEPS",
    ),
    (
        "engine/docs-markup/src/document/marks.rs::MAX_DEPTH",
        "engine/docs-markup/src/document/limits.rs::MAX_BLOCK_DEPTH",
    ),
    (
        "engine/docs-markup/src/markdown/mod.rs::MAX_PAGE_BYTES",
        "engine/docs-model/src/page_size.rs::MAX_PAGE_BYTES",
    ),
    (
        "engine/docs-markup/src/markdown/mod.rs::MAX_FRONT_MATTER_BYTES",
        "engine/docs-markup/src/markdown/front.rs::MAX_BYTES",
    ),
    (
        "docs-core/src/platform/exchange/import/crawl.rs::MAX_PAGES",
        "docs-core/src/platform/exchange/import/gather.rs::MAX_PAGES",
    ),
];
/// Maximum number of references to follow between constants.
const MAX_REFERENCES: usize = 8;

/// The source files of the workspace, keyed by path relative to its root.
pub(super) struct Sources(BTreeMap<String, String>);

impl Sources {
    pub(super) fn read() -> Self {
        let mut files = BTreeMap::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for file in rust_files(&root) {
            let path = file.strip_prefix(&root).expect("a file of the workspace").to_string_lossy();
            files.insert(path.into_owned(), fs::read_to_string(&file).expect("a file"));
        }
        assert!(files.len() > 500, "{} files", files.len());
        Self(files)
    }

    /// Returns `true` if a file contains a test function, given as `path::name`.
    pub(super) fn has_test(&self, test: &str) -> bool {
        let Some((text, name)) = self.item(test) else { return false };
        text.match_indices(&format!("fn {name}(")).any(|(at, _)| {
            // The attributes are between the function and the preceding item.
            let line = text[..at].rfind('\n').unwrap_or_default();
            let mut attributes = text[..line]
                .lines()
                .rev()
                .take_while(|line| !line.is_empty() && line.trim() != "}" && !line.contains("fn "));
            attributes
                .any(|line| ["#[test]", "#[tokio::test"].iter().any(|test| line.trim().starts_with(test)))
        })
    }

    /// Returns the value of a constant, or of a field of a `Default` implementation, given as `path::NAME`. Times are
    /// in seconds. The limit of a dependency is given as `crate = VALUE`.
    pub(super) fn value(&self, constant: &str) -> Option<u64> {
        match constant.split_once(" = ") {
            Some((_, value)) => value.parse().ok(),
            None => self.value_of(constant, MAX_REFERENCES),
        }
    }

    /// Returns the constants of all crates whose name marks them as a limit, as `path::NAME`.
    pub(super) fn bounds(&self) -> Vec<String> {
        let of_product = self.0.iter().filter(|(path, _)| {
            let is_skipped = path.split('/').any(|part| SKIPPED.contains(&part));
            !is_skipped && !path.ends_with("tests.rs") && !path.ends_with("hostile.rs")
        });
        let mut found: Vec<String> = of_product
            .flat_map(|(path, text)| {
                let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let declared = product.lines().filter_map(declaration).filter(|(name, _)| is_bound(name));
                declared.map(move |(name, _)| format!("{path}::{name}"))
            })
            .collect();
        found.sort();
        found.dedup();
        found
    }

    /// Returns the constants in the platform's list of limits, excluding times.
    pub(super) fn limits(&self) -> Vec<String> {
        let list = &self.0["docs-core/src/platform/host/limits.rs"];
        let amounts = list.split("pub const LIMITS").nth(1).unwrap_or_default();
        let words = amounts.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        let is_constant = |word: &&str| {
            let name = word.rsplit("::").next().unwrap_or_default();
            word.contains("::") && name.len() > 2 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        };
        let is_time = |word: &&str| {
            ["WINDOW", "RETENTION", "INTERVAL", "PERIOD", "SKEW", "LEEWAY"]
                .iter()
                .any(|time| word.contains(time))
        };
        words.filter(is_constant).filter(|word| !is_time(word)).map(str::to_owned).collect()
    }

    fn value_of(&self, constant: &str, references: usize) -> Option<u64> {
        let (text, name) = self.item(constant)?;
        let expression = match name.chars().all(|c| c.is_lowercase() || c == '_') {
            true => field(text, name)?,
            false => expression(text, name)?,
        };
        let (path, _) = constant.split_once("::")?;
        Evaluation { sources: self, path, rest: &expression, references }.sum()
    }

    /// Returns the value of a constant used in a file: defined there, imported, or the only one with that name.
    fn value_named(&self, path: &str, name: &str, references: usize) -> Option<u64> {
        let references = references.checked_sub(1)?;
        let own = format!("{path}::{name}");
        if self.0.get(path).is_some_and(|text| expression(text, name).is_some()) {
            return self.value_of(&own, references);
        }
        if let Some((_, imported)) = IMPORTED.iter().find(|(used, _)| *used == own) {
            return self.value_of(imported, references);
        }
        let declaring = self.0.iter().filter(|(_, text)| expression(text, name).is_some());
        let mut values: Vec<_> =
            declaring.filter_map(|(path, _)| self.value_of(&format!("{path}::{name}"), references)).collect();
        values.sort_unstable();
        values.dedup();
        <[u64; 1]>::try_from(values).ok().map(|[value]| value)
    }

    fn item<'a>(&self, item: &'a str) -> Option<(&str, &'a str)> {
        let (path, name) = item.split_once("::")?;
        Some((self.0.get(path)?, name))
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            found.extend(rust_files(&path));
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found
}

fn is_bound(name: &str) -> bool {
    name.split('_').any(|word| BOUND_WORDS.contains(&word))
}

/// Parses the declaration of a number or a time, and returns its name and the rest of the line.
fn declaration(line: &str) -> Option<(&str, &str)> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => code.strip_prefix("pub ").unwrap_or(code),
    };
    let (name, rest) = code.strip_prefix("const ")?.split_once(": ")?;
    let (kind, expression) = rest.split_once('=')?;
    let is_number = kind.trim().starts_with(['u', 'i', 'f'])
        || ["Self", "NonZeroU32"].contains(&kind.trim())
        || kind.contains("Duration")
        || kind.contains("TimeDelta");
    is_number.then_some((name, expression))
}

/// Returns the expression that defines a constant in a file.
fn expression(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines();
    let (_, start) = lines.by_ref().filter_map(declaration).find(|(own, _)| *own == name)?;
    let mut expression = start.to_owned();
    while !expression.contains(';') {
        expression += lines.next()?;
    }
    expression.split(';').next().map(|text| text.trim().to_owned())
}

/// Returns the expression of a field in the `Default` implementation of a file.
fn field(text: &str, name: &str) -> Option<String> {
    let defaults = text.split("fn default()").nth(1)?;
    let start = format!("{name}: ");
    let at = defaults.match_indices(&start).find(|(at, _)| {
        defaults[..*at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })?;
    let rest = &defaults[at.0 + start.len()..];
    let mut depth = 0_usize;
    let end = rest.find(|c| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' => {
            depth = depth.saturating_sub(1);
            false
        }
        ',' | '}' => depth == 0,
        _ => false,
    })?;
    Some(rest[..end].trim().to_owned())
}

/// Evaluates constant expressions: numbers, names, `+`, `-`, `*`, `/`, `<<`, `as`, and the constructors of durations.
struct Evaluation<'a> {
    sources: &'a Sources,
    path: &'a str,
    rest: &'a str,
    references: usize,
}

impl<'a> Evaluation<'a> {
    fn sum(&mut self) -> Option<u64> {
        let mut value = self.product()?;
        loop {
            value = if self.take("<<") {
                value.checked_shl(u32::try_from(self.product()?).ok()?)?
            } else if self.take("+") {
                value.checked_add(self.product()?)?
            } else if self.take("-") {
                value.checked_sub(self.product()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn product(&mut self) -> Option<u64> {
        let mut value = self.operand()?;
        loop {
            value = if self.take("*") {
                value.checked_mul(self.operand()?)?
            } else if self.take("/") {
                value.checked_div(self.operand()?)?
            } else {
                return Some(value);
            };
        }
    }

    fn operand(&mut self) -> Option<u64> {
        let value = if self.take("(") {
            let value = self.sum()?;
            self.take(")").then_some(value)?
        } else {
            let word = self.word();
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                word.replace('_', "").parse().ok()?
            } else if self.take("(") {
                let argument = self.sum()?;
                self.take(")").then_some(argument.checked_mul(factor(word)?)?)?
            } else {
                self.sources.value_named(self.path, word.rsplit("::").next()?, self.references)?
            }
        };
        if self.take("as ") {
            self.word();
        }
        Some(value)
    }

    fn word(&mut self) -> &'a str {
        let text = self.rest.trim_start();
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(text.len());
        self.rest = &text[end..];
        &text[..end]
    }

    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        rest.inspect(|rest| self.rest = rest).is_some()
    }
}

/// Returns the unit of a `Duration` or `TimeDelta` constructor in seconds, or 1 for a number constructor.
fn factor(function: &str) -> Option<u64> {
    match function.rsplit("::").next()? {
        "from_secs" | "seconds" | "new" | "Self" => Some(1),
        "minutes" => Some(60),
        "hours" => Some(3_600),
        "days" => Some(86_400),
        _ => None,
    }
}

#[test]
fn constant_expressions_are_evaluated() {
    let text = "const A: usize = 2;\npub(super) const B: u64 = 3 * A as u64 + (1 << 4);\nconst C: TimeDelta = \
                TimeDelta::hours(A);\npub const D: Duration =\n    Duration::from_secs(60 * 60);\n\
                fn default() -> Self { Self { one: 7_000, time: Duration::from_secs(5), two: A } }";
    let sources = Sources(BTreeMap::from([("x.rs".to_owned(), text.to_owned())]));
    let values =
        ["A", "B", "C", "D", "one", "time", "two", "E"].map(|name| sources.value(&format!("x.rs::{name}")));
    assert_eq!(values, [Some(2), Some(22), Some(7_200), Some(3_600), Some(7_000), Some(5), Some(2), None]);
}

#[test]
fn test_functions_are_found_by_path_and_name() {
    let text =
        "#[test]\nfn one() {}\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn two() {}\nfn three() {}\n";
    let sources = Sources(BTreeMap::from([("x.rs".to_owned(), text.to_owned())]));
    let found = ["x.rs::one", "x.rs::two", "x.rs::three", "y.rs::one"].map(|test| sources.has_test(test));
    assert_eq!(found, [true, true, false, false]);
}
