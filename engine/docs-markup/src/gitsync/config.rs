//! The configuration file `.gitbook.yaml`.

use std::collections::BTreeMap;

use docs_model::MAX_PATH_BYTES;
use serde_json::{Map, Value};

use super::{
    BookFormat, FormatError, PathError, RepoPath, Warning,
    report::{Warnings, check_size},
    target::{self, DestinationKind},
    yaml,
};

/// The name of the configuration file, in the project directory.
pub const CONFIG_FILE: &str = ".gitbook.yaml";

/// Maximum size of a settings file (the configuration and the variables), in bytes: 1 MiB.
pub const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// The location of the content in a repository, and its redirects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepoConfig {
    /// The path of the configuration file, which may be missing.
    pub file: RepoPath,
    /// The content folder: the project directory joined with the key `root`.
    pub root: RepoPath,
    /// The path of the first page, relative to the root of the repository.
    pub readme: RepoPath,
    /// The path of the table of contents, relative to the root of the repository. The file may be missing.
    pub summary: RepoPath,
    /// The redirects, sorted by path.
    pub redirects: Vec<Redirect>,
    pub format: BookFormat,
    /// The values of the book that its pages can contain, by name. Empty unless the format is that of another program.
    pub book: BTreeMap<String, String>,
    /// Settings that were omitted.
    pub warnings: Vec<Warning>,
}

/// A redirect from a previous path of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redirect {
    /// The previous path in the space, without leading and trailing slashes.
    pub from: String,
    /// The target page: its file, its folder, or its path without an extension, relative to the root of the repository.
    pub to: RepoPath,
    /// The anchor on the page.
    pub anchor: Option<String>,
}

/// Returns the content folder for a value of `root` in a project directory.
///
/// # Errors
/// [`PathError`] if it is outside the repository.
pub fn content_folder(project: &RepoPath, root: &str) -> Result<RepoPath, PathError> {
    project.join(root)
}

impl RepoConfig {
    /// Returns the path of the configuration file of a project directory.
    #[must_use]
    pub fn path(project: &RepoPath) -> RepoPath {
        project.child(CONFIG_FILE)
    }

    /// Returns the project directory of the configuration.
    #[must_use]
    pub fn project(&self) -> RepoPath {
        self.file.folder()
    }

    /// Parses the configuration of a project directory. If `text` is `None`, returns the default configuration.
    ///
    /// Every key is optional, and unknown keys are ignored. `root` is relative to the project directory. All other
    /// paths are relative to `root`, even with a leading slash. No path may be outside the repository. Invalid
    /// redirects are omitted with a warning.
    ///
    /// # Errors
    /// [`FormatError`] with the file and the key if the text is not YAML, or the location of the content has the wrong
    /// type or is outside the repository, and if the text is larger than [`MAX_CONFIG_BYTES`].
    ///
    /// # Example
    /// ```
    /// use docs_markup::gitsync::{RepoConfig, RepoPath};
    ///
    /// let project = RepoPath::new("packages/app")?;
    /// let config = RepoConfig::read(Some("root: ./docs\nstructure:\n  readme: ../README.md\n"), &project)?;
    /// assert_eq!(config.root.as_str(), "packages/app/docs");
    /// assert_eq!(config.readme.as_str(), "packages/app/README.md");
    /// assert_eq!(config.summary.as_str(), "packages/app/docs/SUMMARY.md");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(text: Option<&str>, project: &RepoPath) -> Result<Self, FormatError> {
        let file = Self::path(project);
        let text = text.unwrap_or_default();
        check_size(&file, text, MAX_CONFIG_BYTES)?;
        let keys = Keys { file: &file, map: top(text, &file)?, prefix: "" };
        let root = keys.path("root", project, "")?;
        let structure = keys.map("structure")?;
        let mut warnings = Warnings::default();
        Ok(Self {
            readme: structure.content_path("readme", &root, "README.md")?,
            summary: structure.content_path("summary", &root, "SUMMARY.md")?,
            redirects: keys.redirects(&root, &mut warnings),
            root,
            format: BookFormat::Native,
            book: BTreeMap::new(),
            file: file.clone(),
            warnings: warnings.finish(),
        })
    }

    /// Returns a configuration file in the format of the book, with the content location and the redirects, for a
    /// repository without one. Returns `None` for the native format if the location is the default and there are no
    /// redirects.
    ///
    /// # Example
    /// ```
    /// use docs_markup::gitsync::{RepoConfig, RepoPath};
    ///
    /// let project = RepoPath::default();
    /// let config = RepoConfig::read(Some("root: ./docs/\n"), &project)?;
    /// let text = config.text().expect("the content is in a folder");
    /// assert_eq!(RepoConfig::read(Some(&text), &project)?, config);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn text(&self) -> Option<String> {
        match self.format {
            BookFormat::Native => self.native_text(),
            BookFormat::MdBook => Some(self.mdbook_text()),
            BookFormat::HonKit => Some(self.honkit_text()),
        }
    }

    fn native_text(&self) -> Option<String> {
        let project = self.project();
        let structure: String =
            [("readme", &self.readme, "README.md"), ("summary", &self.summary, "SUMMARY.md")]
                .into_iter()
                .filter(|(_, path, name)| **path != self.root.child(name))
                .map(|(key, path, _)| format!("  {key}: {}\n", scalar(&relative_path(&self.root, path))))
                .collect();
        let root = match self.root == project {
            true => String::new(),
            false => format!("root: {}\n", scalar(&format!("{}/", relative_path(&project, &self.root)))),
        };
        let section = |name: &str, lines: String| match lines.as_str() {
            "" => lines,
            _ => format!("{name}:\n{lines}"),
        };
        let redirects = self.redirects.iter().map(|redirect| self.redirect_line(redirect)).collect();
        let text = root + &section("structure", structure) + &section("redirects", redirects);
        Some(text).filter(|text| !text.is_empty())
    }

    fn redirect_line(&self, redirect: &Redirect) -> String {
        let target = redirect_target(redirect, &relative_path(&self.root, &redirect.to));
        format!("  {}: {}\n", scalar(&redirect.from), scalar(&target))
    }
}

/// Returns the target of a redirect at a path, as written in a configuration file.
pub(super) fn redirect_target(redirect: &Redirect, path: &str) -> String {
    let target = path.replace('%', "%25").replace('#', "%23").replace('?', "%3F");
    match &redirect.anchor {
        Some(anchor) => format!("{target}#{anchor}"),
        None => target,
    }
}

/// Returns the relative path from a folder to a path, as written in the file.
pub(super) fn relative_path(from: &RepoPath, to: &RepoPath) -> String {
    let (count, rest) = to.seen_from(from);
    let up = if count == 0 { "./".to_owned() } else { "../".repeat(count) };
    (up + rest).trim_end_matches('/').to_owned()
}

/// Formats a path as YAML, quoted if it could be parsed as another type.
fn scalar(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '-' | '_'));
    let is_path = path.contains(|c: char| c.is_ascii_alphabetic());
    if is_plain && is_path { path.to_owned() } else { yaml::quoted(path) }
}

fn top(text: &str, file: &RepoPath) -> Result<Map<String, Value>, FormatError> {
    match yaml::read(text).map_err(|problem| FormatError::Yaml { file: file.clone(), problem })? {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map),
        _ => {
            let problem = "the file must be a map".to_owned();
            Err(FormatError::Yaml { file: file.clone(), problem })
        }
    }
}

/// A map in the configuration file, with the prefix of its keys in error messages.
struct Keys<'a> {
    file: &'a RepoPath,
    map: Map<String, Value>,
    prefix: &'a str,
}

impl<'a> Keys<'a> {
    fn path(&self, key: &str, base: &RepoPath, default: &str) -> Result<RepoPath, FormatError> {
        let path = match self.map.get(key) {
            None | Some(Value::Null) => default,
            Some(Value::String(text)) => text,
            Some(_) => return Err(self.wrong_type(key, "a path")),
        };
        self.join(key, base, path)
    }

    /// Resolves a path in the content folder. A leading slash denotes that folder.
    fn content_path(&self, key: &str, base: &RepoPath, default: &str) -> Result<RepoPath, FormatError> {
        match self.map.get(key) {
            Some(Value::String(path)) if path.starts_with('/') => {
                self.join(key, base, path.trim_start_matches('/'))
            }
            _ => self.path(key, base, default),
        }
    }

    fn map(&self, key: &'a str) -> Result<Keys<'a>, FormatError> {
        let map = match self.map.get(key) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(map)) => map.clone(),
            Some(_) => return Err(self.wrong_type(key, "a map")),
        };
        Ok(Keys { file: self.file, map, prefix: key })
    }

    /// Returns the redirects. Omits invalid ones with a warning.
    fn redirects(&self, root: &RepoPath, warnings: &mut Warnings) -> Vec<Redirect> {
        let keys = match self.map("redirects") {
            Ok(keys) => keys,
            Err(_) => {
                warnings.push(self.file, None, "skipped `redirects`: it must be a map");
                return Vec::new();
            }
        };
        let mut redirects = Vec::with_capacity(keys.map.len());
        for (key, value) in &keys.map {
            match redirect(key, value, root) {
                Ok(redirect) => redirects.push(redirect),
                Err(problem) => {
                    warnings.push(self.file, None, format!("skipped redirect from `{key}`: {problem}"));
                }
            }
        }
        redirects.sort_by(|a, b| a.from.cmp(&b.from));
        redirects.dedup_by(|later, earlier| later.from == earlier.from);
        redirects
    }

    fn join(&self, key: &str, base: &RepoPath, path: &str) -> Result<RepoPath, FormatError> {
        base.join(path).map_err(|problem| FormatError::Path {
            file: self.file.clone(),
            key: self.name(key),
            problem,
        })
    }

    fn wrong_type(&self, key: &str, expected: &'static str) -> FormatError {
        FormatError::Type { file: self.file.clone(), key: self.name(key), expected }
    }

    fn name(&self, key: &str) -> String {
        if self.prefix.is_empty() { key.to_owned() } else { format!("{}.{key}", self.prefix) }
    }
}

/// Parses a redirect. The error message follows "skipped redirect from …:" in a warning.
fn redirect(key: &str, value: &Value, root: &RepoPath) -> Result<Redirect, String> {
    let mut from = key.trim_matches('/');
    while let Some(rest) = from.strip_prefix("./") {
        from = rest.trim_start_matches('/');
    }
    if from.is_empty() || from == "." {
        return Err("the path must not be empty".to_owned());
    }
    if from.len() > MAX_PATH_BYTES {
        return Err(format!("the path must have at most {MAX_PATH_BYTES} bytes"));
    }
    if from.contains('\0') {
        return Err("the path must not contain the NUL character".to_owned());
    }
    let Value::String(target) = value else { return Err("its target must be a path".to_owned()) };
    let DestinationKind::Local(local) = target::read(target) else {
        return Err(format!("its target `{target}` is not a file of the repository"));
    };
    let to = root.join(local.path.trim_start_matches('/'));
    let to = to.map_err(|problem| format!("its target `{target}` {problem}"))?;
    Ok(Redirect { from: from.to_owned(), to, anchor: local.anchor })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<RepoConfig, String> {
        RepoConfig::read(Some(text), &RepoPath::new("app").unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn all_settings_are_optional() {
        let default = RepoConfig::read(None, &RepoPath::default()).unwrap();
        assert!(default.root.is_root() && default.redirects.is_empty());
        assert_eq!(default.readme.as_str(), "README.md");
        assert_eq!(default.summary.as_str(), "SUMMARY.md");
        for text in ["", "---\n", "# only a comment\n", "root:\nstructure:\nredirects:\n", "unknown: 1\n"] {
            assert_eq!(read(text).unwrap().readme.as_str(), "app/README.md", "{text:?}");
        }
    }

    #[test]
    fn all_paths_start_at_root() {
        let config = read(
            "root: ./docs/\nstructure:\n  readme: start.md\n  summary: ./nav/TOC.md\n\
             redirects:\n  /old/path/: new/page.md#part\n  b: ./x.md\n",
        )
        .unwrap();
        assert_eq!(config.root.as_str(), "app/docs");
        assert_eq!(config.readme.as_str(), "app/docs/start.md");
        assert_eq!(config.summary.as_str(), "app/docs/nav/TOC.md");
        assert_eq!(config.redirects.len(), 2);
        assert_eq!(config.redirects[0].from, "b");
        assert_eq!(config.redirects[1].from, "old/path");
        assert_eq!(config.redirects[1].to.as_str(), "app/docs/new/page.md");
        assert_eq!(config.redirects[1].anchor.as_deref(), Some("part"));
    }

    #[test]
    fn generated_config_parses_to_the_same_config() {
        for (project, text) in [
            ("", "root: ./docs/\n"),
            ("", "structure:\n  readme: ./start.md\n"),
            ("", "root: ./a/b/\nstructure:\n  readme: ../../README.md\n  summary: ./nav/TOC.md\n"),
            ("app", "root: ../docs/\n"),
            ("app", "root: \"./a: b #c/\"\nstructure:\n  summary: \"./\\u00ef \\\"q\\\".md\"\n"),
            (
                "",
                "redirects:\n  old/page: new.md#part\n  \"1\": ./1.md\n  \"a: b\": ./100%2525%23.md\n  x: ./app/\n",
            ),
            ("app", "root: docs\nredirects: {a: b, \"\\x7f\": \"\\x85/\\u2028.md\", yes: .., c: '\"%3F'}\n"),
        ] {
            let project = RepoPath::new(project).unwrap();
            let config = RepoConfig::read(Some(text), &project).unwrap();
            let written = config.text().unwrap();
            assert_eq!(RepoConfig::read(Some(&written), &project).unwrap(), config, "{written}");
        }
        assert_eq!(read("root: .\nstructure: { readme: README.md }").unwrap().text(), None);
        assert_eq!(
            read("root: .\nstructure: { readme: README.md }\nredirects: { a: b.md }")
                .unwrap()
                .text()
                .as_deref(),
            Some("redirects:\n  a: ./b.md\n")
        );
    }

    #[test]
    fn root_outside_the_project_directory_is_accepted() {
        assert_eq!(read("root: ../docs").unwrap().root.as_str(), "docs");
    }

    #[test]
    fn a_leading_slash_means_the_content_folder() {
        let config = read(
            "root: docs\nstructure: {readme: /start.md, summary: /nav/TOC.md}\n\
             redirects: {a: /x.md, b: //x/y, c: /, ./d/: ./x#y, /./e: '/x%20y.md?z#%C3%A4'}\n",
        )
        .unwrap();
        assert_eq!(config.readme.as_str(), "app/docs/start.md");
        assert_eq!(config.summary.as_str(), "app/docs/nav/TOC.md");
        let redirects: Vec<_> = config
            .redirects
            .iter()
            .map(|it| (it.from.as_str(), it.to.as_str(), it.anchor.as_deref()))
            .collect();
        assert_eq!(
            redirects,
            [
                ("a", "app/docs/x.md", None),
                ("c", "app/docs", None),
                ("d", "app/docs/x", Some("y")),
                ("e", "app/docs/x y.md", Some("%C3%A4")),
            ]
        );
        let warnings: Vec<_> = config.warnings.iter().map(Warning::to_string).collect();
        assert_eq!(
            warnings,
            [
                "app/.gitbook.yaml: skipped redirect from `b`: its target `//x/y` is not a file of the repository"
            ]
        );
    }

    #[test]
    fn an_invalid_redirect_is_a_warning() {
        let long = "x".repeat(MAX_PATH_BYTES + 1);
        for (text, message) in [
            ("redirects: [a]", "skipped `redirects`: it must be a map"),
            ("redirects: a.md", "skipped `redirects`: it must be a map"),
            ("redirects: {a: 1}", "skipped redirect from `a`: its target must be a path"),
            ("redirects: {a: {b: c}}", "skipped redirect from `a`: its target must be a path"),
            ("redirects: {a: }", "skipped redirect from `a`: its target must be a path"),
            (
                "redirects: {a: ../../../x}",
                "skipped redirect from `a`: its target `../../../x` must be within the repository",
            ),
            (
                "redirects: {a: https://b.example/c}",
                "skipped redirect from `a`: its target `https://b.example/c` is not a file of the repository",
            ),
            (
                "redirects: {a: '#b'}",
                "skipped redirect from `a`: its target `#b` is not a file of the repository",
            ),
            (
                "redirects: {a: ''}",
                "skipped redirect from `a`: its target `` is not a file of the repository",
            ),
            ("redirects: {/: a.md}", "skipped redirect from `/`: the path must not be empty"),
            ("redirects: {./: a.md}", "skipped redirect from `./`: the path must not be empty"),
            (
                "redirects: {\"a\\0\": a.md}",
                "skipped redirect from `a\0`: the path must not contain the NUL character",
            ),
            (
                &format!("redirects: {{{long}: a.md}}"),
                &format!("skipped redirect from `{long}`: the path must have at most {MAX_PATH_BYTES} bytes"),
            ),
        ] {
            let config = read(&format!("root: docs\n{text}\n")).unwrap();
            assert_eq!((config.root.as_str(), config.redirects), ("app/docs", Vec::new()), "{text}");
            let warnings: Vec<_> = config.warnings.iter().map(Warning::to_string).collect();
            assert_eq!(warnings, [format!("app/.gitbook.yaml: {message}")]);
        }
    }

    #[test]
    fn errors_name_the_file_and_the_key() {
        for (text, message) in [
            ("root: 1", "app/.gitbook.yaml: `root` must be a path"),
            ("root: [a]", "app/.gitbook.yaml: `root` must be a path"),
            ("root: ../..", "app/.gitbook.yaml: the path `root` must be within the repository"),
            ("root: /docs", "app/.gitbook.yaml: the path `root` must be relative, without a leading slash"),
            ("root: \"a\\0b\"", "app/.gitbook.yaml: the path `root` must not contain the NUL character"),
            ("structure: here", "app/.gitbook.yaml: `structure` must be a map"),
            ("structure: {readme: true}", "app/.gitbook.yaml: `structure.readme` must be a path"),
            (
                "structure: {summary: ../../S.md}",
                "app/.gitbook.yaml: the path `structure.summary` must be within the repository",
            ),
            ("- a", "app/.gitbook.yaml: the file must be a map"),
        ] {
            assert_eq!(read(text).unwrap_err(), message, "{text}");
        }
        let broken = read("root: {").unwrap_err();
        assert!(broken.starts_with("app/.gitbook.yaml: "), "{broken}");
    }

    #[test]
    fn the_size_is_limited() {
        let limit = usize::try_from(MAX_CONFIG_BYTES).unwrap();
        let text = format!("root: docs\n#{}", "x".repeat(limit - 12));
        assert_eq!(text.len(), limit);
        assert_eq!(read(&text).unwrap().root.as_str(), "app/docs");
        assert_eq!(
            read(&format!("{text}x")).unwrap_err(),
            "app/.gitbook.yaml: must be at most 1 MiB, has 2 MiB"
        );
    }

    #[test]
    fn content_folder_outside_the_repository_is_rejected() {
        assert_eq!(content_folder(&RepoPath::new("a/b").unwrap(), "../c").unwrap().as_str(), "a/c");
        assert_eq!(content_folder(&RepoPath::new("a").unwrap(), "../../c"), Err(PathError::Leaves));
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(\\PC|\\n|[:{}\\[\\]&*#\"'|>-]){0,200}") {
            let _ = read(&text);
        }

        #[test]
        fn arbitrary_text_of_known_keys_never_panics(text in "((root|structure|readme|summary|redirects)|: |\\n|  |- |\\.\\./|[a-z\"&*!]){0,60}") {
            let _ = read(&text);
        }
    }
}
