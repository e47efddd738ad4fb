//! The configuration files of mdBook (`book.toml`) and HonKit (`book.json`), read if `.gitbook.yaml` is missing.

use std::collections::BTreeMap;

use docs_model::MAX_PATH_BYTES;
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table};

use super::{
    BookFormat, Redirect, RepoConfig, RepoPath, RepoTree,
    config::{redirect_target, relative_path},
    inline,
    report::Warnings,
    summary::join,
    target::{self, DestinationKind},
};

/// The configuration file of mdBook, in the project directory.
pub const MDBOOK_FILE: &str = "book.toml";
/// The configuration file of HonKit and of older versions of GitBook, in the project directory.
pub const HONKIT_FILE: &str = "book.json";
/// The configuration of HonKit as a program, which is never run.
pub const HONKIT_SCRIPT: &str = "book.js";

/// The list of the languages of a book of HonKit, next to their folders.
pub const LANGUAGES_FILE: &str = "LANGS.md";

/// Maximum size of `book.toml` and `book.json` in bytes: 256 KiB.
pub const MAX_BOOK_BYTES: u64 = 256 << 10;

/// The preprocessors of mdBook whose result an import produces itself.
const KNOWN_PREPROCESSORS: [&str; 3] = ["links", "index", "admonish"];

impl RepoConfig {
    /// Parses `book.toml`: `book.src`, and the redirects of the HTML output. Anything unreadable is a warning, and the
    /// defaults of mdBook apply instead.
    ///
    /// # Example
    /// ```
    /// use docs_markup::gitsync::{RepoConfig, RepoPath};
    ///
    /// let config = RepoConfig::from_mdbook("[book]\ntitle = \"Guide\"\nsrc = \"text\"\n", &RepoPath::default());
    /// assert_eq!(config.summary.as_str(), "text/SUMMARY.md");
    /// ```
    #[must_use]
    pub fn from_mdbook(text: &str, project: &RepoPath) -> Self {
        let file = project.child(MDBOOK_FILE);
        let mut reader = BookReader::new(&file, text);
        let book = reader.toml(text);
        let table = |item: &Item, name: &str| item.get(name).filter(|it| it.is_table_like()).cloned();
        let main = table(&book, "book").unwrap_or_default();
        let root = reader.folder(main.get("src").map(|src| src.as_str()), project, "src");
        let output = table(&book, "output").and_then(|output| table(&output, "html")).unwrap_or_default();
        let redirects = reader.redirects(&output, &root);
        let preprocessors = table(&book, "preprocessor").unwrap_or_default();
        let preprocessors = preprocessors.as_table_like().into_iter().flat_map(|table| table.iter());
        reader.ignored(
            "preprocessors",
            preprocessors.map(|(name, _)| name).filter(|name| !KNOWN_PREPROCESSORS.contains(name)),
        );
        let (readme, summary) = (root.child("README.md"), root.child("SUMMARY.md"));
        let title =
            main.get("title").and_then(Item::as_str).map(|title| ("title".to_owned(), title.to_owned()));
        Self {
            file: file.clone(),
            root,
            readme,
            summary,
            redirects,
            format: BookFormat::MdBook,
            book: title.into_iter().collect(),
            warnings: reader.warnings.finish(),
        }
    }

    /// Parses `book.json`: `root`, `structure`, and the values of `{{ book.name }}` in pages. Anything unreadable is a
    /// warning, and the defaults of HonKit apply instead.
    #[must_use]
    pub fn from_honkit(text: &str, project: &RepoPath) -> Self {
        let file = project.child(HONKIT_FILE);
        let mut reader = BookReader::new(&file, text);
        let book = reader.json(text);
        let root = reader.folder(book.get("root").map(Value::as_str), project, "");
        let structure = book.get("structure").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut place = |key: &str, default: &str| {
            let path = structure.get(key).map(Value::as_str);
            reader.folder(path.map(|path| path.map(|path| path.trim_start_matches('/'))), &root, default)
        };
        let (readme, summary) = (place("readme", "README.md"), place("summary", "SUMMARY.md"));
        let plugins = book.get("plugins").and_then(Value::as_array).into_iter().flatten();
        reader.ignored("plugins", plugins.filter_map(Value::as_str).filter(|name| !name.starts_with('-')));
        Self {
            file: file.clone(),
            root,
            readme,
            summary,
            redirects: Vec::new(),
            format: BookFormat::HonKit,
            book: book_values(&book),
            warnings: reader.warnings.finish(),
        }
    }

    /// Returns the configuration of a book at known locations, for a repository without one.
    #[must_use]
    pub fn for_book(self, format: BookFormat, values: BTreeMap<String, String>) -> Self {
        let name = match format {
            BookFormat::Native => return self,
            BookFormat::MdBook => MDBOOK_FILE,
            BookFormat::HonKit => HONKIT_FILE,
        };
        Self { file: self.project().child(name), format, book: values, ..self }
    }

    /// Returns the text of `book.toml`.
    pub(super) fn mdbook_text(&self) -> String {
        let mut text = "[book]\n".to_owned();
        if let Some(title) = self.book.get("title") {
            text += &format!("title = {}\n", toml_string(title));
        }
        text += &format!("src = {}\n", toml_string(&written_folder(&self.project(), &self.root)));
        let to_page = |path: &RepoPath| html_place(&written_folder(&self.root, path));
        let redirects = self.redirects.iter().filter(|it| page_place(&to_page(&it.to)) != it.from);
        for (index, redirect) in redirects.enumerate() {
            if index == 0 {
                text += "\n[output.html.redirect]\n";
            }
            let from = format!("/{}.html", redirect.from);
            let to = redirect_target(redirect, &format!("/{}", to_page(&redirect.to)));
            text += &format!("{} = {}\n", toml_string(&from), toml_string(&to));
        }
        text
    }

    /// Returns the text of `book.json`, which has no redirects.
    pub(super) fn honkit_text(&self) -> String {
        let (mut book, mut variables) = (Map::new(), Map::new());
        for (name, value) in &self.book {
            let map = if BOOK_FIELDS.contains(&name.as_str()) { &mut book } else { &mut variables };
            map.insert(name.clone(), Value::from(value.as_str()));
        }
        if self.root != self.project() {
            book.insert("root".to_owned(), written_folder(&self.project(), &self.root).into());
        }
        let structure: Map<String, Value> =
            [("readme", &self.readme, "README.md"), ("summary", &self.summary, "SUMMARY.md")]
                .into_iter()
                .filter(|(_, path, name)| **path != self.root.child(name))
                .map(|(key, path, _)| (key.to_owned(), written_folder(&self.root, path).into()))
                .collect();
        for (name, map) in [("structure", structure), ("variables", variables)] {
            if !map.is_empty() {
                book.insert(name.to_owned(), map.into());
            }
        }
        format!("{:#}\n", Value::from(book))
    }

    /// Returns the default configuration of a format whose file cannot be read, with the reason as a warning. `problem`
    /// completes a sentence that starts with the file.
    #[must_use]
    pub fn unread_book(format: BookFormat, file: &str, project: &RepoPath, problem: &str) -> Self {
        let mut config = match format {
            BookFormat::MdBook => Self::from_mdbook("", project),
            BookFormat::HonKit | BookFormat::Native => Self::from_honkit("", project),
        };
        let mut warnings = Warnings::default();
        warnings.push(&project.child(file), None, format!("{problem}; the defaults apply"));
        config.file = project.child(file);
        config.warnings = warnings.finish();
        config
    }
}

/// Formats text as a TOML string, whose escape sequences are those of JSON.
fn toml_string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Returns a relative path as written in the configuration of a book.
fn written_folder(from: &RepoPath, to: &RepoPath) -> String {
    let path = relative_path(from, to);
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

/// Returns the path in a space at which the HTML output of a book has a page: that of its file. `None` for the first
/// page of the book.
pub(super) fn output_path(root: &RepoPath, file: &RepoPath) -> Option<String> {
    let page = html_place(file.relative_to(root)?);
    let path = page_place(&page);
    (path != "index").then(|| path.to_owned())
}

/// Returns the path of a page in the HTML output of mdBook.
fn html_place(path: &str) -> String {
    let Some(page) = path.strip_suffix(".md") else { return path.to_owned() };
    match page.strip_suffix("README") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => format!("{folder}index.html"),
        _ => format!("{page}.html"),
    }
}

/// Maximum number of lines of a table of contents that are searched for the first page.
const MAX_LINES: usize = 200;

/// Lets links to the page with the whole book, which mdBook generates, resolve to the first page of the book.
pub fn link_whole_book(tree: &mut RepoTree, config: &RepoConfig, summary: Option<&str>) {
    if config.format != BookFormat::MdBook {
        return;
    }
    let folder = config.summary.folder();
    let first = summary.into_iter().flat_map(str::lines).take(MAX_LINES).find_map(|line| {
        let line = &line[..line.floor_char_boundary(MAX_LINE_BYTES)];
        let DestinationKind::Local(local) = target::read(&inline::read(line).link?.destination) else {
            return None;
        };
        let path = join(&folder, &config.root, &local.path).ok()?;
        tree.locate_linked(&path).ok().flatten().map(|file| file.path).filter(RepoPath::is_markdown)
    });
    if let Some(first) = first {
        tree.set_alias(config.root.child("print.html"), first);
    }
}

/// Maximum length in bytes of such a line.
const MAX_LINE_BYTES: usize = 4 << 10;

struct BookReader<'a> {
    file: &'a RepoPath,
    is_too_long: bool,
    warnings: Warnings,
}

impl<'a> BookReader<'a> {
    fn new(file: &'a RepoPath, text: &str) -> Self {
        let is_too_long = text.len() as u64 > MAX_BOOK_BYTES;
        let mut warnings = Warnings::default();
        if is_too_long {
            let limit = MAX_BOOK_BYTES >> 10;
            warnings.push(file, None, format!("must be at most {limit} KiB; the defaults apply"));
        }
        Self { file, is_too_long, warnings }
    }

    fn toml(&mut self, text: &str) -> Item {
        if self.is_too_long {
            return Item::Table(Table::new());
        }
        match text.trim_start_matches('\u{feff}').parse::<DocumentMut>() {
            Ok(document) => document.as_item().clone(),
            Err(error) => {
                self.warn_of_syntax("TOML", error.message().lines().next().unwrap_or_default());
                Item::Table(Table::new())
            }
        }
    }

    fn json(&mut self, text: &str) -> Map<String, Value> {
        if self.is_too_long || text.trim().is_empty() {
            return Map::new();
        }
        match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
            Ok(Value::Object(map)) => map,
            Ok(_) => {
                self.warn_of_syntax("JSON", "the file must be a map");
                Map::new()
            }
            Err(error) => {
                self.warn_of_syntax("JSON", &error.to_string());
                Map::new()
            }
        }
    }

    fn warn_of_syntax(&mut self, language: &str, problem: &str) {
        let message = format!("not valid {language} ({problem}); the defaults apply");
        self.warnings.push(self.file, None, message);
    }

    /// Returns a configured path in a folder. The inner `None` is a value of another type.
    fn folder(&mut self, path: Option<Option<&str>>, base: &RepoPath, default: &str) -> RepoPath {
        let default_path = || if default.is_empty() { base.clone() } else { base.child(default) };
        let problem = match path {
            None => return default_path(),
            Some(None) => "its value is not a path".to_owned(),
            Some(Some(path)) => match base.join(path) {
                Ok(path) => return path,
                Err(problem) => format!("the path `{path}` {problem}"),
            },
        };
        self.warnings.push(self.file, None, format!("skipped a setting: {problem}"));
        default_path()
    }

    /// Reports settings that have no effect.
    fn ignored<'n>(&mut self, kind: &str, names: impl Iterator<Item = &'n str>) {
        let names: Vec<String> =
            names.map(|name| format!("`{}`", name.escape_debug())).take(MAX_NAMED).collect();
        if !names.is_empty() {
            self.warnings.push(self.file, None, format!("{kind} are not run: {}", names.join(", ")));
        }
    }

    /// Returns the redirects of the HTML output, sorted by path.
    fn redirects(&mut self, output: &Item, root: &RepoPath) -> Vec<Redirect> {
        let mut redirects = Vec::new();
        let table = output.get("redirect").and_then(Item::as_table_like);
        for (from, to) in table.into_iter().flat_map(|table| table.iter()) {
            match redirect(from, to.as_str(), root) {
                Ok(redirect) => redirects.push(redirect),
                Err(problem) => {
                    let from = from.escape_debug();
                    self.warnings.push(self.file, None, format!("skipped redirect from `{from}`: {problem}"));
                }
            }
        }
        redirects.sort_by(|a, b| a.from.cmp(&b.from));
        redirects.dedup_by(|later, earlier| later.from == earlier.from);
        redirects
    }
}

/// Maximum number of names in a warning.
const MAX_NAMED: usize = 20;

/// Parses a redirect between two pages of the HTML output. A relative target starts at the folder of the old page.
fn redirect(from: &str, to: Option<&str>, root: &RepoPath) -> Result<Redirect, String> {
    let Some(to) = to else { return Err("its target must be a path".to_owned()) };
    if from.contains('#') {
        return Err("a redirect from an anchor is not supported".to_owned());
    }
    let page =
        RepoPath::new(from.trim_start_matches('/')).map_err(|problem| format!("the path {problem}"))?;
    let place = page_place(page.as_str());
    if place.is_empty() || place.len() > MAX_PATH_BYTES {
        return Err(format!("the path must have 1 to {MAX_PATH_BYTES} bytes"));
    }
    let DestinationKind::Local(local) = target::read(to) else {
        return Err(format!("its target `{}` is not a page of the book", to.escape_debug()));
    };
    let path = match local.path.strip_prefix('/') {
        Some(path) => RepoPath::new(path),
        // A browser ignores `..` at the root of a site.
        None => {
            page.folder().join(&local.path).or_else(|_| RepoPath::new(local.path.trim_start_matches("../")))
        }
    };
    let path = path.map_err(|problem| format!("its target {problem}"))?;
    Ok(Redirect { from: place.to_owned(), to: root.child(path.as_str()), anchor: local.anchor })
}

/// Returns the path of a page in a space for its path in the HTML output.
fn page_place(path: &str) -> &str {
    let path = path.strip_suffix(".html").unwrap_or(path);
    path.strip_suffix("/index").unwrap_or(path)
}

/// Maximum number of values of a book, and of bytes of a name. Further values are not available to templates.
const MAX_VALUES: usize = 1_000;
const MAX_NAME_BYTES: usize = 256;

/// The fields of `book.json` that templates can use like variables.
const BOOK_FIELDS: [&str; 5] = ["title", "description", "author", "language", "isbn"];

/// Returns the values of `book.json` that templates can use, by the name after `book.`.
fn book_values(book: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for name in BOOK_FIELDS {
        if let Some(Value::String(value)) = book.get(name) {
            values.insert(name.to_owned(), value.clone());
        }
    }
    let mut todo: Vec<(String, &Value)> = Vec::new();
    let variables = book.get("variables").and_then(Value::as_object).into_iter().flatten();
    let variables = variables.filter(|(name, _)| name.len() < MAX_NAME_BYTES).take(MAX_VALUES);
    todo.extend(variables.map(|(name, value)| (name.clone(), value)));
    while let Some((name, value)) = todo.pop() {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::Object(map) => {
                let left = MAX_VALUES.saturating_sub(values.len() + todo.len());
                let short = map.iter().filter(|(key, _)| name.len() + key.len() < MAX_NAME_BYTES);
                todo.extend(short.take(left).map(|(key, value)| (format!("{name}.{key}"), value)));
                continue;
            }
            Value::Null | Value::Array(_) => continue,
        };
        if values.len() < MAX_VALUES {
            values.insert(name, text);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gitsync::{CommitEntry, EntryKind};

    #[test]
    fn names_and_number_of_book_values_are_bounded() {
        let many: Map<String, Value> = (0..5_000).map(|n| (format!("k{n}"), Value::from(n))).collect();
        let mut nested = Value::Object(many.clone());
        for _ in 0..18 {
            nested = serde_json::json!({ "x".repeat(40): nested });
        }
        let book = serde_json::json!({ "variables": { "many": many, "nested": nested, "y".repeat(300): 1 } });
        let values = book_values(book.as_object().unwrap());
        assert!((MAX_VALUES - 1..=MAX_VALUES).contains(&values.len()), "{}", values.len());
        assert!(values.keys().all(|name| name.len() <= MAX_NAME_BYTES));
    }

    #[test]
    fn written_books_are_read_with_the_same_settings() {
        let project = RepoPath::new("docs").unwrap();
        let toml = "[book]\ntitle = \"A \\\"b\\\" \\u007f\"\nsrc = \"text\"\n[output.html.redirect]\n\
                    \"/old/a.html\" = \"/part/first.html#x\"\n\"/old.html\" = \"/index.html\"\n";
        let json = r#"{"title": "T", "root": "./source/", "structure": {"readme": "index.md", "summary": "a/S.md"},
                       "variables": {"v": 3, "deep": {"w": "a"}, "language": "x"}}"#;
        for config in [
            RepoConfig::from_mdbook(toml, &project),
            RepoConfig::from_mdbook("[book]\nsrc = \".\"\n", &project),
            RepoConfig::from_honkit(json, &project),
            RepoConfig::from_honkit("", &project),
        ] {
            let text = config.text().unwrap();
            let again = match config.format {
                BookFormat::MdBook => RepoConfig::from_mdbook(&text, &project),
                _ => RepoConfig::from_honkit(&text, &project),
            };
            assert_eq!(again, config, "{text}");
            let native =
                RepoConfig { format: BookFormat::Native, file: RepoConfig::path(&project), ..config };
            assert_eq!(native.for_book(again.format, again.book.clone()), again);
        }
    }

    #[test]
    fn redirects_of_a_written_mdbook_lead_to_html_pages() {
        let redirect = |from: &str, to: &str| Redirect {
            from: from.to_owned(),
            to: RepoPath::new(to).unwrap(),
            anchor: Some("a".to_owned()),
        };
        let redirects = vec![redirect("a", "src/README.md"), redirect("b", "src/x/A %#.md")];
        let text = RepoConfig { redirects, ..mdbook_at_root() }.text().unwrap();
        let expected = "[book]\nsrc = \"src\"\n\n[output.html.redirect]\n\"/a.html\" = \"/index.html#a\"\n\
                        \"/b.html\" = \"/x/A %25%23.html#a\"\n";
        assert_eq!(text, expected);
    }

    fn mdbook_at_root() -> RepoConfig {
        RepoConfig::from_mdbook("", &RepoPath::default())
    }

    fn mdbook(text: &str) -> RepoConfig {
        RepoConfig::from_mdbook(text, &RepoPath::new("app").unwrap())
    }

    fn warnings(config: &RepoConfig) -> Vec<String> {
        config.warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn mdbook_configuration_names_the_content_folder() {
        let config = mdbook("[book]\ntitle = \"A\"\nauthors = [\"B\"]\n\n[build]\ncreate-missing = false\n");
        assert_eq!((config.root.as_str(), config.summary.as_str()), ("app/src", "app/src/SUMMARY.md"));
        assert_eq!(config.format, BookFormat::MdBook);
        assert_eq!(warnings(&config), Vec::<String>::new());
        assert_eq!(mdbook("[book]\nsrc = \".\"\n").readme.as_str(), "app/README.md");
        assert_eq!(mdbook("[book]\nsrc = \"a/b\"\n").summary.as_str(), "app/a/b/SUMMARY.md");
    }

    #[test]
    fn mdbook_redirects_resolve_to_new_pages() {
        let config = mdbook(
            "[output.html.redirect]\n\"/a/old.html\" = \"new.html#part\"\n\"b.html\" = \"/c/index.html\"\n\
             \"/d/index.html\" = \"../e.html\"\n\"f.html\" = \"../g.html\"\n\"x.html\" = \"https://example.com\"\n\
             \"/y.html#z\" = \"a.html\"\n",
        );
        let found: Vec<_> = config
            .redirects
            .iter()
            .map(|it| (it.from.as_str(), it.to.as_str(), it.anchor.as_deref()))
            .collect();
        assert_eq!(
            found,
            [
                ("a/old", "app/src/a/new.html", Some("part")),
                ("b", "app/src/c/index.html", None),
                ("d", "app/src/e.html", None),
                ("f", "app/src/g.html", None),
            ]
        );
        assert_eq!(config.warnings.len(), 2);
    }

    #[test]
    fn unreadable_configuration_is_a_warning() {
        for text in ["[book", "[book]\nsrc = 1\n", "[book]\nsrc = \"../..\"\n", &"#".repeat(300_000)] {
            let config = mdbook(text);
            assert_eq!(
                (config.root.as_str(), config.warnings.len()),
                ("app/src", 1),
                "{:?}",
                warnings(&config)
            );
        }
        for text in ["{", "[]", "{\"root\": 1}", "{\"root\": \"../..\"}"] {
            let config = RepoConfig::from_honkit(text, &RepoPath::default());
            assert_eq!((config.root.as_str(), config.warnings.len()), ("", 1), "{:?}", warnings(&config));
        }
    }

    #[test]
    fn unsupported_extensions_are_named() {
        let config = mdbook("[preprocessor.links]\n[preprocessor.katex]\nafter = [\"links\"]\n");
        assert_eq!(warnings(&config), ["app/book.toml: preprocessors are not run: `katex`"]);
        let config = RepoConfig::from_honkit("{\"plugins\": [\"theme\", \"-lunr\"]}", &RepoPath::default());
        assert_eq!(warnings(&config), ["book.json: plugins are not run: `theme`"]);
    }

    #[test]
    fn honkit_configuration_names_its_files_and_values() {
        let config = RepoConfig::from_honkit(
            "{\"root\": \"./docs\", \"title\": \"T\", \"structure\": {\"readme\": \"intro.md\", \"summary\": \"TOC.md\",\
             \"glossary\": \"G.md\"}, \"variables\": {\"version\": 2.5, \"a\": {\"b\": \"c\"}, \"list\": [1]}}",
            &RepoPath::default(),
        );
        assert_eq!((config.readme.as_str(), config.summary.as_str()), ("docs/intro.md", "docs/TOC.md"));
        let values: Vec<_> =
            config.book.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(values, [("a.b", "c"), ("title", "T"), ("version", "2.5")]);
        assert_eq!(warnings(&config), Vec::<String>::new());
    }

    #[test]
    fn number_of_values_is_limited() {
        let values: Vec<String> = (0..=MAX_VALUES).map(|at| format!("\"v{at}\": {at}")).collect();
        let text = format!("{{\"variables\": {{{}}}}}", values.join(","));
        assert_eq!(RepoConfig::from_honkit(&text, &RepoPath::default()).book.len(), MAX_VALUES);
    }

    #[test]
    fn whole_book_is_the_first_page() {
        let long = format!("- [A]({}a.md)\n- [B](b.md)\n", "./".repeat(MAX_LINE_BYTES));
        for (summary, expected) in [
            ("# Summary\n\n[A](a.md)\n", Some("src/a.md")),
            ("- [None](none.md)\n- [B](b)\n", Some("src/b.md")),
            (&long, Some("src/b.md")),
            (&format!("{}[A](a.md)\n", "\n".repeat(MAX_LINES)), None),
            ("", None),
        ] {
            let mut tree = RepoTree::new(["src/a.md", "src/b.md"].map(|path| CommitEntry {
                path: path.to_owned(),
                size: 1,
                kind: EntryKind::File,
            }));
            link_whole_book(&mut tree, &mdbook_at_root(), Some(summary));
            let found = tree.locate_linked(&RepoPath::new("src/print.html").unwrap()).unwrap();
            assert_eq!(found.map(|file| file.path.to_string()).as_deref(), expected, "{summary:.40}");
        }
    }

    #[test]
    fn nested_configuration_has_a_bounded_depth() {
        for text in [
            format!("{}1", "a.".repeat(100_000) + "a = "),
            format!("a = {}", "[".repeat(100_000)),
            format!("[{}a]\n", "a.".repeat(100_000)),
        ] {
            assert_eq!(mdbook(&text).warnings.len(), 1);
        }
        let json = format!("{{\"variables\": {}", "{\"a\":".repeat(40_000));
        assert_eq!(RepoConfig::from_honkit(&json, &RepoPath::default()).warnings.len(), 1);
    }
}
