//! Archives that other products export: ids in the names of pages, databases, and an index of all pages.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
};

use bytes::Bytes;

use super::links;
use crate::content::gitsync::RepoPath;

/// Length of the ids in names of exported pages, in hexadecimal digits.
const ID_DIGITS: usize = 32;
/// Minimum length of the ids in names of exported HTML pages, in decimal digits.
const MIN_NUMBER_DIGITS: usize = 4;
/// The title of a page whose name is only an id.
const UNTITLED: &str = "Untitled";
/// Text in the index of an exported HTML space.
const INDEX_MARK: &[u8] = b"Available Pages";
/// Maximum size of a table in bytes. Further rows are left out, because a page has a maximum size too.
pub(in crate::platform) const MAX_TABLE_BYTES: usize = 500_000;
/// Maximum size of the source of a table in bytes. Rows after it are neither written nor counted.
pub(super) const MAX_DATABASE_BYTES: usize = 10 * MAX_TABLE_BYTES;
/// Maximum number of columns of a table.
const MAX_TABLE_COLUMNS: usize = 50;

/// A file of an archive.
pub(super) type ArchivedFile = (RepoPath, Bytes);

/// The names of exported pages without their ids.
#[derive(Default)]
pub(super) struct ExportNames {
    /// The new name of each page or folder, by its id.
    names: HashMap<String, String>,
    /// `true` if ids are numbers after an underscore, as in exported HTML spaces.
    has_numbers: bool,
}

/// The parts of a name such as `Tasks 1a2b…_all.csv`.
struct NameParts<'a> {
    title: &'a str,
    id: &'a str,
    /// The text after the id.
    rest: &'a str,
}

impl ExportNames {
    /// Finds the names of the files of an archive.
    pub(super) fn new(files: &[ArchivedFile]) -> Self {
        let mut names = Self { names: HashMap::new(), has_numbers: index(files).is_some() };
        if !files.iter().any(|(path, _)| path.as_str().split('/').any(|part| names.parse(part).is_some())) {
            return names;
        }
        let folders = FolderNumbers::new(files);
        // The title of each id, in order of the folders.
        let mut found: BTreeMap<(u32, &str), &str> = BTreeMap::new();
        for (parent, part) in files.iter().flat_map(|(path, _)| folders.parts(path)) {
            if let Some(NameParts { title, id, .. }) = names.parse(part) {
                found.entry((parent, id)).or_insert(title);
            }
        }
        // Names that are in use, in the folders that have names with ids.
        let renamed: HashSet<u32> = found.keys().map(|(parent, _)| *parent).collect();
        let mut used: HashSet<(u32, String)> = HashSet::new();
        for (path, _) in files {
            for (parent, part) in folders.parts(path).filter(|(parent, _)| renamed.contains(parent)) {
                if names.parse(part).is_none() {
                    let name = if part == path.name() { path.stem() } else { part };
                    used.insert((parent, name.to_lowercase()));
                }
            }
        }
        // The next number of each title.
        let mut next: HashMap<(u32, String), u32> = HashMap::new();
        // Only if no name of a page has a title, the page is untitled.
        let (titled, untitled): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(_, title)| *title != UNTITLED);
        for ((parent, id), title) in titled.into_iter().chain(untitled) {
            if names.names.contains_key(id) {
                continue;
            }
            let next = next.entry((parent, title.to_lowercase())).or_insert(1_u32);
            let name = loop {
                let name = if *next == 1 { title.to_owned() } else { format!("{title} {next}") };
                *next += 1;
                if used.insert((parent, name.to_lowercase())) {
                    break name;
                }
            };
            names.names.insert(id.to_owned(), name);
        }
        names
    }

    /// Returns a path without the ids in its names.
    pub(super) fn rename(&self, path: &RepoPath) -> RepoPath {
        if self.names.is_empty() {
            return path.clone();
        }
        let parts = path.as_str().split('/').map(|part| {
            let known = self.parse(part).and_then(|parts| Some((self.names.get(parts.id)?, parts.rest)));
            known.map_or_else(|| part.to_owned(), |(name, rest)| format!("{name}{rest}"))
        });
        let renamed = parts.collect::<Vec<_>>().join("/");
        RepoPath::new(&renamed).unwrap_or_else(|_| path.clone())
    }

    /// Returns `true` if a file is an exported database.
    pub(super) fn is_database(&self, path: &RepoPath) -> bool {
        !self.has_numbers && self.parse(path.name()).is_some_and(|parts| parts.rest.ends_with(".csv"))
    }

    /// Returns the title of a page without the name of its space.
    pub(super) fn title<'t>(&self, title: &'t str) -> &'t str {
        let own = title.split_once(" : ").filter(|_| self.has_numbers);
        own.map_or(title, |(_, own)| own)
    }

    fn parse<'a>(&self, name: &'a str) -> Option<NameParts<'a>> {
        if self.has_numbers { parse_number(name) } else { parse_id(name) }
    }
}

/// The folders of an archive, numbered in the order of their paths. The root is 0.
struct FolderNumbers<'a>(HashMap<(u32, &'a str), u32>);

impl<'a> FolderNumbers<'a> {
    /// Numbers the folders. The work is linear in the length of the paths, apart from sorting them.
    fn new(files: &'a [ArchivedFile]) -> Self {
        let mut paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
        paths.sort_unstable();
        let mut numbers = HashMap::new();
        for path in paths {
            let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
            folders.split('/').filter(|part| !part.is_empty()).fold(0, |parent, part| {
                let next = u32::try_from(numbers.len() + 1).unwrap_or(u32::MAX);
                *numbers.entry((parent, part)).or_insert(next)
            });
        }
        Self(numbers)
    }

    /// Returns the names of a path, each with the number of its parent folder.
    fn parts<'p>(&'p self, path: &'a RepoPath) -> impl Iterator<Item = (u32, &'a str)> + 'p {
        path.as_str().split('/').scan(0, move |parent, part| {
            let own = *parent;
            // The last name of a path is not a folder, unless another path has it as one.
            *parent = self.0.get(&(own, part)).copied().unwrap_or_default();
            Some((own, part))
        })
    }
}

/// Parses a name that ends with an id, such as `Home 1a2b….md`.
fn parse_id(name: &str) -> Option<NameParts<'_>> {
    let is_id = |id: &str| id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let end = name.rfind("_all.").or_else(|| name.rfind('.')).unwrap_or(name.len());
    let (stem, rest) = name.split_at(end);
    let start = stem.len().checked_sub(ID_DIGITS)?;
    let (title, id) = (stem.get(..start)?, stem.get(start..)?);
    if !is_id(id) {
        return None;
    }
    let title = if title.is_empty() { UNTITLED } else { title.strip_suffix(' ')? };
    Some(NameParts { title: title.trim(), id, rest }).filter(|parts| !parts.title.is_empty())
}

/// Parses a name that ends with a number, such as `Home_12345.html`.
fn parse_number(name: &str) -> Option<NameParts<'_>> {
    let stem = name.strip_suffix(".html")?;
    let (title, id) = stem.rsplit_once('_')?;
    let is_id = id.len() >= MIN_NUMBER_DIGITS && id.bytes().all(|byte| byte.is_ascii_digit());
    (is_id && !title.is_empty()).then_some(NameParts { title, id, rest: ".html" })
}

/// Returns the index of an exported HTML space.
pub(super) fn index(files: &[ArchivedFile]) -> Option<&ArchivedFile> {
    let has_mark = |bytes: &Bytes| bytes.windows(INDEX_MARK.len()).any(|window| window == INDEX_MARK);
    files.iter().find(|(path, bytes)| path.as_str() == "index.html" && has_mark(bytes))
}

/// Converts the list of an index to a table of contents. `place` returns the new path of a page.
pub(super) fn contents(index: &str, place: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_item = |line: &&str| line.trim_start().starts_with("* ");
    let list: Vec<&str> = index.lines().filter(is_item).collect();
    if list.is_empty() {
        return None;
    }
    let list = links::rewrite_known_links(&list.join("\n"), place);
    Some(format!("# Table of contents\n\n{list}\n"))
}

/// A table of Markdown, and the numbers of rows and columns that it lacks.
pub(super) struct DatabaseTable {
    pub(super) markdown: String,
    pub(super) missing_rows: usize,
    pub(super) missing_columns: usize,
    /// `true` if rows after [`MAX_DATABASE_BYTES`] are missing too.
    pub(super) is_cut: bool,
}

/// Converts a database of comma-separated values to a table. `page` returns the destination of the page of a row, by
/// the text of its first cell.
///
/// Rows are written until the table is full, and then only counted.
pub(super) fn table(csv: &[u8], page: impl Fn(&str) -> Option<String>) -> Option<DatabaseTable> {
    let is_cut = csv.len() > MAX_DATABASE_BYTES;
    let csv = String::from_utf8_lossy(csv.get(..MAX_DATABASE_BYTES).unwrap_or(csv));
    let mut rows = CsvRows { rest: csv.trim_start_matches('\u{feff}'), omitted: 0, is_counting: false };
    let head = rows.next()?;
    let columns = head.len();
    let mut table =
        DatabaseTable { markdown: String::new(), missing_rows: 0, missing_columns: rows.omitted, is_cut };
    let fits = push_row(&mut table.markdown, columns, head.iter().map(|cell| cell_text(cell)))
        && push_row(&mut table.markdown, columns, std::iter::repeat_n("---".to_owned(), columns));
    if !fits {
        rows.is_counting = true;
        table.markdown.clear();
        table.missing_rows = 1;
    }
    while let Some(row) = rows.next() {
        table.missing_columns = table.missing_columns.max(rows.omitted + row.len().saturating_sub(columns));
        if row.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if rows.is_counting {
            table.missing_rows += 1;
            continue;
        }
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let text = cell_text(cell);
            let to = if at == 0 { page(cell.trim()) } else { None };
            to.filter(|_| !text.is_empty()).map_or_else(|| text.clone(), |to| format!("[{text}]({to})"))
        });
        let is_short = row.iter().map(|cell| cell.len()).sum::<usize>() <= MAX_TABLE_BYTES;
        if !is_short || !push_row(&mut table.markdown, columns, cells) {
            rows.is_counting = true;
            table.missing_rows += 1;
        }
    }
    Some(table)
}

/// Adds a row. Returns `false`, and adds nothing, if the table would exceed [`MAX_TABLE_BYTES`].
fn push_row(out: &mut String, columns: usize, cells: impl Iterator<Item = String>) -> bool {
    let length = out.len();
    out.push('|');
    for cell in cells.chain(std::iter::repeat(String::new())).take(columns) {
        out.push(' ');
        out.push_str(&cell);
        out.push_str(" |");
        if out.len() >= MAX_TABLE_BYTES {
            out.truncate(length);
            return false;
        }
    }
    out.push('\n');
    true
}

/// Returns the text of a cell on one line.
fn cell_text(cell: &str) -> String {
    let lines = cell.trim().lines().map(|line| links::escape_markdown(line.trim()).replace('|', "\\|"));
    lines.collect::<Vec<_>>().join("<br>")
}

/// The rows of comma-separated values (RFC 4180).
struct CsvRows<'a> {
    rest: &'a str,
    /// The number of cells of the last row that exceed [`MAX_TABLE_COLUMNS`].
    omitted: usize,
    /// `true` to return cells as they are in the source, which is cheaper. Their number and whether they are empty stay
    /// the same.
    is_counting: bool,
}

impl<'a> Iterator for CsvRows<'a> {
    type Item = Vec<Cow<'a, str>>;

    fn next(&mut self) -> Option<Vec<Cow<'a, str>>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut row = Vec::new();
        self.omitted = 0;
        loop {
            let (quoted, rest) = match self.rest.strip_prefix('"') {
                Some(quoted) => quoted_cell(quoted),
                None => ("", self.rest),
            };
            // Text after a quotation belongs to the cell.
            let end = rest.find([',', '\n']).unwrap_or(rest.len());
            let plain = rest[..end].trim_end_matches('\r');
            match row.len() < MAX_TABLE_COLUMNS {
                true if self.is_counting => {
                    row.push(Cow::Borrowed(if quoted.trim().is_empty() { plain } else { quoted }));
                }
                true if quoted.is_empty() => row.push(Cow::Borrowed(plain)),
                true => row.push(Cow::Owned(quoted.replace("\"\"", "\"") + plain)),
                false => self.omitted += 1,
            }
            let is_end = !rest[end..].starts_with(',');
            self.rest = rest.get(end + 1..).unwrap_or_default();
            if is_end {
                return Some(row);
            }
        }
    }
}

/// Returns a cell after its opening quotation mark, in which quotation marks are doubled, and the rest of the text.
fn quoted_cell(text: &str) -> (&str, &str) {
    let mut end = 0;
    while let Some(at) = text[end..].find('"') {
        end += at;
        if !text[end + 1..].starts_with('"') {
            return (&text[..end], &text[end + 1..]);
        }
        end += 2;
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d";
    const B: &str = "2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e";

    fn files(paths: &[&str]) -> Vec<ArchivedFile> {
        paths.iter().map(|path| (RepoPath::new(path).expect("a path"), Bytes::new())).collect()
    }

    fn renamed(paths: &[&str]) -> Vec<String> {
        let files = files(paths);
        let names = ExportNames::new(&files);
        files.iter().map(|(path, _)| names.rename(path).to_string()).collect()
    }

    #[test]
    fn ids_are_removed_from_names_of_pages_and_folders() {
        let paths = [
            format!("Home {A}.md"),
            format!("Home {A}/Sub {B}.md"),
            format!("Home {A}/a.png"),
            format!("{B}.md"),
            format!("short {}.md", &A[1..]),
            "plain.md".to_owned(),
        ];
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(
            renamed(&paths),
            ["Home.md", "Home/Sub.md", "Home/a.png", "Sub.md", &format!("short {}.md", &A[1..]), "plain.md"]
        );
    }

    #[test]
    fn pages_with_the_same_title_have_different_names() {
        let paths = [format!("Notes {A}.md"), format!("Notes {B}.md"), "notes 2.md".to_owned()];
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(renamed(&paths), ["Notes.md", "Notes 3.md", "notes 2.md"]);
    }

    #[test]
    fn numbers_are_removed_from_an_exported_html_space() {
        let mut all = files(&["Home_65591.html", "98765.html", "attachments/65591/1_12345.png"]);
        assert_eq!(ExportNames::new(&all).rename(&all[0].0).as_str(), "Home_65591.html");
        let index =
            (RepoPath::new("index.html").expect("a path"), Bytes::from_static(b"<h2>Available Pages:</h2>"));
        all.push(index);
        let names = ExportNames::new(&all);
        let renamed: Vec<String> = all.iter().map(|(path, _)| names.rename(path).to_string()).collect();
        assert_eq!(renamed, ["Home.html", "98765.html", "attachments/65591/1_12345.png", "index.html"]);
        assert_eq!(names.title("The space : Home"), "Home");
        assert_eq!(ExportNames::default().title("a : b"), "a : b");
    }

    #[test]
    fn databases_become_tables() {
        let csv = "\u{feff}Name,Note\r\nOne,\"a, \"\"b\"\"\nc|d\"\r\nTwo\r\n\r\n,\"x\"";
        let table =
            table(csv.as_bytes(), |name| (name == "One").then(|| "One.md".to_owned())).expect("a table");
        assert_eq!(
            table.markdown,
            "| Name | Note |\n| --- | --- |\n| [One](One.md) | a, \"b\"<br>c\\|d |\n| Two |  |\n|  | x |\n"
        );
        assert!(super::table(b"", |_| None).is_none());
        let odd = super::table(b"Name,Born\n\"Ada\" Lovelace,1843,x\r\nB", |_| None).expect("a table");
        assert_eq!(odd.markdown, "| Name | Born |\n| --- | --- |\n| Ada Lovelace | 1843 |\n| B |  |\n");
        assert_eq!((odd.missing_rows, odd.missing_columns), (0, 1));
    }

    #[test]
    fn folders_without_an_id_keep_their_names() {
        let paths = ["Home/x.md".to_owned(), format!("Home {A}/x.md")];
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(renamed(&paths), ["Home/x.md", "Home 2/x.md"]);
    }

    #[test]
    fn a_table_is_cut_at_its_bounds() {
        let rows = format!("{}\n", "x".repeat(MAX_TABLE_BYTES / 3)).repeat(4);
        let cut = table(format!("Name\n{rows}").as_bytes(), |_| None).expect("a table");
        assert_eq!((cut.missing_rows, cut.missing_columns), (2, 0));
        let wide = table("a,".repeat(MAX_TABLE_COLUMNS + 5).as_bytes(), |_| None).expect("a table");
        assert_eq!(wide.missing_columns, 6);
        assert_eq!(
            wide.markdown.lines().next().map(|line| line.matches('a').count()),
            Some(MAX_TABLE_COLUMNS)
        );
    }

    /// The paths of an archive with ids in names may be long, deep and all different.
    #[test]
    fn names_take_memory_that_follows_the_paths() {
        let deep: Vec<String> =
            (0..2_000).map(|at| format!("{at}/{}Home {at:032x}.md", "a/".repeat(64))).collect();
        let paths: Vec<&str> = deep.iter().map(String::as_str).collect();
        let all = files(&paths);
        let folders = FolderNumbers::new(&all);
        assert_eq!(folders.0.len(), 2_000 * 65, "each folder once");
        let names = ExportNames::new(&all);
        assert!(names.names.values().all(|name| name == "Home"), "each in its own folder");
        let plain = files(&["a/b/c.txt", "README.md"]);
        assert!(ExportNames::new(&plain).names.is_empty());
    }

    #[test]
    fn a_name_of_a_file_and_a_folder_is_in_use_once() {
        let paths = [format!("a/x {A}.md"), "a/x".to_owned(), "a/x/b.md".to_owned(), "b".to_owned()];
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(renamed(&paths), ["a/x 2.md", "a/x", "a/x/b.md", "b"]);
    }

    #[test]
    fn rows_after_a_full_table_are_only_counted() {
        let head = ",".repeat(MAX_TABLE_COLUMNS - 1);
        let csv = format!("{head}\n{}\"\"\n\" \"\"\"\n", "x\n".repeat(1_000_000));
        let full = table(csv.as_bytes(), |_| None).expect("a table");
        assert!((MAX_TABLE_BYTES - 200..=MAX_TABLE_BYTES).contains(&full.markdown.len()));
        let written = full.markdown.lines().count() - 2;
        assert_eq!(full.missing_rows, 1_000_000 + 1 - written);
        assert!(!full.is_cut);
        // A row that is too large is not written in part, nor is any row after it.
        let large = format!("a\nb\n\"{}\"\nc\n", "*".repeat(MAX_TABLE_BYTES));
        let cut = table(large.as_bytes(), |_| None).expect("a table");
        assert_eq!((cut.markdown.as_str(), cut.missing_rows), ("| a |\n| --- |\n| b |\n", 2));
    }

    #[test]
    fn the_source_of_a_table_is_read_up_to_its_bound() {
        let table = |bytes: usize| table(&vec![b'x'; bytes], |_| None).expect("a table").is_cut;
        assert!(!table(MAX_DATABASE_BYTES));
        assert!(table(MAX_DATABASE_BYTES + 1));
        let rows = super::table("x\n".repeat(MAX_DATABASE_BYTES).as_bytes(), |_| None).expect("a table");
        assert!(rows.missing_rows <= MAX_DATABASE_BYTES / 2);
    }
}
