//! Resolution of directives with the files of a repository.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap, HashSet},
};

use super::{
    Expansions, MAX_EXPANDED_BYTES, count_line_breaks,
    fences::without_hidden_lines,
    may_have_directives, prefixed_length, push_prefixed,
    scan::{Directive, Place, Token},
    scan_text, select,
};
use crate::gitsync::{BookFormat, RepoConfig, RepoPath};

/// Maximum nesting of included files.
pub const MAX_INCLUDE_DEPTH: usize = 10;
/// Maximum number of directives that are resolved for a page, including those in included files.
pub const MAX_INCLUDES: usize = 1_000;
/// Maximum total size in bytes of the results of an import: 32 MiB.
const MAX_RESULT_BYTES: usize = 32 << 20;
/// Maximum total size in bytes of the files and book values that the directives of an import read. Each counts for each
/// directive.
const MAX_READ_BYTES: usize = 100_000_000;
/// Maximum number of warnings per page.
const MAX_WARNINGS: usize = 20;

/// The limits of all pages of an import together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IncludeBudget {
    /// The remaining size of the results in bytes.
    pub result_bytes: usize,
    /// The remaining size of the files and book values that are read, in bytes. Each counts for each directive.
    pub read_bytes: usize,
}

impl Default for IncludeBudget {
    fn default() -> Self {
        Self { result_bytes: MAX_RESULT_BYTES, read_bytes: MAX_READ_BYTES }
    }
}

/// A file that a directive includes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IncludedFile {
    Text(String),
    /// The reason why there is no text, as a clause without a subject.
    Missing(&'static str),
}

/// The directives of a page, resolved as far as the files are known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResolvedDirectives {
    pub expansions: Expansions,
    /// The files that must be read first. If there are any, the expansions are incomplete.
    pub unread: BTreeSet<RepoPath>,
    /// All files that the page includes, directly or through others.
    pub included: BTreeSet<RepoPath>,
    pub warnings: Vec<String>,
}

/// Resolves the directives of a page. Returns `None` if it has none.
///
/// Paths are relative to the file of the directive, and never leave the repository. An unresolved directive has no
/// result, and causes a warning. Results count in the budget once no file is unread; reading counts for each call.
///
/// # Example
/// ```
/// use docs_markup::{directives::{IncludeBudget, IncludedFile, resolve}, gitsync::{RepoConfig, RepoPath}};
///
/// let config = RepoConfig::from_mdbook("", &RepoPath::default());
/// let (text, page) = ("```rust\n{{#include ../a.rs:2}}\n```\n", RepoPath::new("src/page.md")?);
/// let file = IncludedFile::Text("use a;\nfn b() {}\n".to_owned());
/// let files = [(RepoPath::new("a.rs")?, file)].into();
/// let found = resolve(text, &page, &config, &files, &mut IncludeBudget::default()).expect("a directive");
/// assert_eq!(found.expansions.expand(text), "```rust\nfn b() {}\n```\n");
/// # Ok::<(), docs_markup::gitsync::PathError>(())
/// ```
#[must_use]
pub fn resolve(
    text: &str,
    page: &RepoPath,
    config: &RepoConfig,
    files: &HashMap<RepoPath, IncludedFile>,
    budget: &mut IncludeBudget,
) -> Option<ResolvedDirectives> {
    if !may_have_directives(text, config.format) {
        return None;
    }
    let result_bytes = budget.result_bytes;
    let expansions = Expansions { format: config.format, ..Expansions::default() };
    let out = ResolvedDirectives { expansions, ..ResolvedDirectives::default() };
    let mut resolver = Resolver {
        config,
        files,
        budget,
        out,
        stack: vec![page.clone()],
        left: MAX_INCLUDES,
        bytes: 0,
        is_full: false,
    };
    let mut seen = HashSet::new();
    let (mut has_any, mut is_plain) = (false, true);
    let in_conditions = RefCell::new(BTreeSet::new());
    let book = |name: &str| {
        in_conditions.borrow_mut().insert(name.to_owned());
        config.book.get(name).map(String::as_str)
    };
    scan_text(text, config.format, Place::Text, &book, &mut |token| match token {
        Token::Text(_) => {}
        Token::Literal(_) | Token::Hidden | Token::Value(_) => is_plain = false,
        Token::Directive(directive) => {
            has_any = true;
            if seen.insert((directive.place, directive.key())) {
                let value = resolver.value(&directive);
                resolver.insert(&directive, value);
            }
        }
    });
    // The conditions are evaluated again when the page is shown.
    for name in in_conditions.into_inner() {
        let directive = Directive::of_book(&name);
        if seen.insert((directive.place, directive.key())) {
            let value = resolver.value(&directive);
            resolver.insert(&directive, value);
        }
    }
    if !resolver.out.unread.is_empty() {
        resolver.budget.result_bytes = result_bytes;
    }
    (has_any || !is_plain).then_some(resolver.out)
}

struct Resolver<'r> {
    config: &'r RepoConfig,
    files: &'r HashMap<RepoPath, IncludedFile>,
    budget: &'r mut IncludeBudget,
    out: ResolvedDirectives,
    /// The page and the files whose directives are being resolved.
    stack: Vec<RepoPath>,
    /// The number of directives that may still be resolved.
    left: usize,
    /// The size of the results so far, in bytes.
    bytes: usize,
    /// `true` once a limit was reached.
    is_full: bool,
}

impl<'r> Resolver<'r> {
    fn insert(&mut self, directive: &Directive<'_>, value: String) {
        // A directive without a result is not shown anyway.
        if value.is_empty() {
            return;
        }
        let rest = self.budget.result_bytes.checked_sub(value.len());
        let is_fit = self.bytes + value.len() <= MAX_EXPANDED_BYTES;
        match rest.filter(|_| is_fit) {
            Some(rest) => {
                self.budget.result_bytes = rest;
                self.bytes += value.len();
                self.out.expansions.insert(directive, value);
            }
            None => self.full("the results of its directives are too long"),
        }
    }

    fn value(&mut self, directive: &Directive<'_>) -> String {
        if self.is_full {
            return String::new();
        }
        let Some(left) = self.left.checked_sub(1) else {
            self.full("it has too many directives");
            return String::new();
        };
        self.left = left;
        match directive.name {
            "book" => {
                let value = self.config.book.get(directive.arguments);
                value.filter(|value| self.take(value)).cloned().unwrap_or_default()
            }
            "include" | "rustdoc_include" | "playground" | "playpen" => {
                self.included(directive).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    fn included(&mut self, directive: &Directive<'_>) -> Option<String> {
        let argument = match self.config.format {
            BookFormat::HonKit => directive.arguments,
            _ => directive.arguments.split_whitespace().next()?,
        };
        let is_playground = directive.name.starts_with("play");
        let (written, selection) = match self.config.format == BookFormat::HonKit || is_playground {
            true => (argument, select::Selection::Lines(0, usize::MAX)),
            false => select::split(argument),
        };
        let folder = self.stack.last()?.folder();
        let path = match written.strip_prefix('/') {
            Some(path) => self.config.root.join(path),
            None => folder.join(written),
        };
        let path = match path {
            Ok(path) => path,
            Err(problem) => {
                self.warn(written, &problem.to_string());
                return None;
            }
        };
        let text = self.read(&path, written)?;
        let Some(selected) = select::select(text, &selection) else {
            self.warn(argument, "has no such anchor");
            return None;
        };
        if is_playground {
            return Some(code_block(&without_hidden_lines(&selected), directive.arguments));
        }
        Some(self.nested(path, selected, directive.place))
    }

    /// Returns the text of a file, or `None` with a warning.
    fn read(&mut self, path: &RepoPath, written: &str) -> Option<&'r str> {
        if self.stack.contains(path) {
            self.warn(written, "includes itself");
            return None;
        }
        if self.stack.len() > MAX_INCLUDE_DEPTH {
            self.warn(written, "is nested too deeply");
            return None;
        }
        self.out.included.insert(path.clone());
        match self.files.get(path) {
            Some(IncludedFile::Text(text)) => self.take(text).then_some(text),
            Some(IncludedFile::Missing(reason)) => {
                self.warn(written, reason);
                None
            }
            None => {
                self.out.unread.insert(path.clone());
                None
            }
        }
    }

    /// Takes the size of a text from the budget. Returns `false` with a warning if the budget does not suffice.
    fn take(&mut self, text: &str) -> bool {
        match self.budget.read_bytes.checked_sub(text.len()) {
            Some(left) => self.budget.read_bytes = left,
            None => self.full("the repository has too many directives"),
        }
        !self.is_full
    }

    /// Resolves the directives in an included text.
    fn nested(&mut self, path: RepoPath, text: String, place: Place) -> String {
        if !may_have_directives(&text, self.config.format) {
            return text;
        }
        self.stack.push(path);
        let mut out = String::with_capacity(text.len());
        let config = self.config;
        let book = |name: &str| config.book.get(name).map(String::as_str);
        scan_text(&text, self.config.format, place, &book, &mut |token| match token {
            Token::Text(text) => out.push_str(text),
            Token::Literal(text) => out.push_str(&text),
            Token::Hidden => {}
            Token::Value(value) => {
                let is_fit = out.len() + value.len() <= MAX_EXPANDED_BYTES;
                if !is_fit {
                    self.full("the results of its directives are too long");
                } else if self.take(value) {
                    out.push_str(value);
                }
            }
            Token::Directive(directive) => {
                let value = self.value(&directive);
                let value = if directive.hides_lines { without_hidden_lines(&value) } else { value };
                let breaks = count_line_breaks(&value);
                if out.len() + prefixed_length(&value, breaks, directive.prefix) <= MAX_EXPANDED_BYTES {
                    push_prefixed(&mut out, &value, directive.prefix);
                } else {
                    self.full("the results of its directives are too long");
                }
            }
        });
        self.stack.pop();
        out
    }

    fn full(&mut self, problem: &str) {
        if !self.is_full {
            self.is_full = true;
            self.out.warnings.push(format!("{problem}; the rest is not shown"));
        }
    }

    fn warn(&mut self, file: &str, problem: &str) {
        if self.out.warnings.len() < MAX_WARNINGS {
            self.out.warnings.push(format!("the included file `{}` {problem}", file.escape_debug()));
        }
    }
}

/// Returns a code block in the language of a playground, with the attributes after the path.
fn code_block(text: &str, arguments: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let attributes = arguments.split_whitespace().skip(1).filter(|it| !it.contains('`'));
    let info: Vec<&str> = std::iter::once("rust").chain(attributes).collect();
    format!("{fence}{}\n{}\n{fence}", info.join(","), text.trim_end())
}
