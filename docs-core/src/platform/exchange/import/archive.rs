//! Imports of archives.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;
use percent_encoding::percent_decode_str;

use super::{
    ImportItems,
    exports::{self, ArchivedFile, ExportNames},
    folder::Folder,
    gather::{Gatherer, UNKNOWN_IMPORT_BYTES, clean, conversion_error},
    links,
};
use crate::{
    Error, Result,
    content::gitsync::RepoPath,
    ports::{Document, DocumentFormat, UnpackedFile},
};

/// Names of files that operating systems add to archives.
const LITTER_NAMES: [&str; 3] = ["__MACOSX", ".DS_Store", "Thumbs.db"];

/// Maximum number of Markdown, HTML and Word files in an archive. The limit exceeds that of pages, because a table of
/// contents may leave files out.
pub(in crate::platform) const MAX_ENTRIES: usize = 2_000;

impl Gatherer<'_> {
    /// Imports an archive of Markdown and HTML files, in the order of its `SUMMARY.md` or of its folders.
    pub(super) async fn archive(&self, url: &str) -> Result<ImportItems> {
        let found = self.get_first(url).await?;
        self.unpack(found.bytes).await
    }

    /// Imports an archive.
    pub(super) async fn unpack(&self, archive: Bytes) -> Result<ImportItems> {
        self.begin_work(UNKNOWN_IMPORT_BYTES).await?;
        let files = self.converter().unpack(archive).await;
        let archive = files.map_err(conversion_error)?;
        let mut gathered = ImportItems::default();
        gathered.warnings.add_all(&archive.warnings);
        self.folder(archive.files, gathered).await
    }

    /// Imports the files of an archive or of a folder.
    pub(super) async fn folder(
        &self,
        files: Vec<UnpackedFile>,
        mut gathered: ImportItems,
    ) -> Result<ImportItems> {
        let folder = self.to_folder(files, &mut gathered).await?;
        folder.add_to(self.platform, self.domain, &mut gathered).await?;
        Ok(gathered)
    }

    /// Returns the files of an archive as a folder of Markdown: other documents are converted, other files are left
    /// unchanged.
    async fn to_folder(&self, files: Vec<UnpackedFile>, gathered: &mut ImportItems) -> Result<Folder> {
        let mut files = without_litter(files);
        let names = ExportNames::new(&files);
        let index = self.index(&files, &names).await;
        if index.is_some() {
            files.retain(|(path, _)| path.as_str() != "index.html");
        }
        let (databases, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(path, _)| names.is_database(path));
        // The files are counted before the first document is converted, because a conversion costs milliseconds and an
        // entry only a few bytes.
        let pages =
            files.iter().filter(|(path, _)| path.is_markdown() || source_format(path).is_some()).count()
                + databases.len();
        if pages > MAX_ENTRIES {
            let what = format!("the archive must have at most {MAX_ENTRIES} documents, has {pages}");
            return Err(Error::invalid("url", what));
        }
        let mut folder = Folder::new("the archive");
        let (mut documents, mut taken) = (Vec::new(), HashSet::new());
        for (path, bytes) in files {
            // Pages with ids in several folders may have the same name afterwards.
            let renamed = names.rename(&path);
            let path = if taken.insert(renamed.clone()) { renamed } else { path };
            match source_format(&path) {
                Some(format) => documents.push((path, format, bytes)),
                None if path.is_markdown() => {
                    let bytes = self.to_utf8(&path, bytes).await;
                    folder.put(path, bytes);
                }
                None => folder.put(path, bytes),
            }
        }
        for (path, format, bytes) in documents {
            self.add_document(&mut folder, (path, &names), format, bytes, gathered).await;
        }
        add_databases(&mut folder, databases, &names, gathered);
        match index {
            Some(index) => folder.contents(index),
            None => folder.use_index_as_readme(),
        }
        folder.rename(names);
        Ok(folder)
    }

    /// Returns the table of contents of an exported HTML space.
    async fn index(&self, files: &[ArchivedFile], names: &ExportNames) -> Option<String> {
        let (path, bytes) = exports::index(files)?;
        let document = Document {
            format: DocumentFormat::Html,
            bytes: bytes.clone(),
            name: path.stem().to_owned(),
            url: None,
            charset: None,
        };
        let page = self.converter().convert(document).await.ok().map(clean)?;
        exports::contents(&page.markdown, |destination| {
            let decoded = percent_decode_str(destination).decode_utf8().ok()?;
            let path = names.rename(&RepoPath::new(&decoded).ok()?);
            let page = path.folder().join(&format!("{}.md", path.stem())).ok()?;
            Some(links::percent_encode(page.as_str()))
        })
    }

    /// Converts a Markdown file to UTF-8.
    async fn to_utf8(&self, path: &RepoPath, bytes: Bytes) -> Bytes {
        if str::from_utf8(&bytes).is_ok() {
            return bytes;
        }
        let document = Document {
            format: DocumentFormat::Markdown,
            bytes: bytes.clone(),
            name: links::title_from_file_name(path.name()),
            url: None,
            charset: None,
        };
        match self.converter().convert(document).await {
            Ok(page) => clean(page).markdown.into(),
            Err(error) => {
                tracing::debug!(%path, %error, "decode archived file as UTF-8");
                bytes
            }
        }
    }

    /// Converts a document of another format and adds it to a folder, with the extension `.md`.
    async fn add_document(
        &self,
        folder: &mut Folder,
        (path, exported): (RepoPath, &ExportNames),
        format: DocumentFormat,
        bytes: Bytes,
        gathered: &mut ImportItems,
    ) {
        let document = Document {
            format,
            bytes,
            name: links::title_from_file_name(path.name()),
            url: None,
            charset: None,
        };
        let page = match self.converter().convert(document).await {
            Ok(page) => clean(page),
            Err(error) => {
                gathered.warnings.add(format!("`{path}` is not imported: {error}"));
                gathered.total += 1;
                return;
            }
        };
        let Ok(place) = path.folder().join(&format!("{}.md", path.stem())) else {
            gathered.warnings.add(format!("`{path}` is not imported: its path is too long"));
            gathered.total += 1;
            return;
        };
        if folder.has(&place) {
            gathered.warnings.add(format!("`{path}` is not imported: `{place}` has the same name"));
            gathered.total += 1;
            return;
        }
        for warning in &page.warnings {
            gathered.warnings.add(format!("`{path}`: {warning}"));
        }
        let mut names = BTreeMap::new();
        for (at, file) in page.files.into_iter().enumerate() {
            // Next to the document, under a name that the archive does not use.
            let name = format!("{}.{at}.{}", path.name(), file.name);
            let Ok(beside) = path.folder().join(&name) else { continue };
            names.insert(file.destination, links::percent_encode(&name));
            folder.put(beside, file.bytes);
        }
        let text = links::rewrite_known_links(&page.markdown, |destination| names.get(destination).cloned());
        let title = links::escape_markdown(exported.title(&page.title));
        let text = format!("# {title}\n\n{text}");
        folder.put(place.clone(), text.into());
        folder.alias(path, place);
    }
}

/// Adds exported databases as pages with a table, which link to the pages of their rows.
fn add_databases(
    folder: &mut Folder,
    mut databases: Vec<ArchivedFile>,
    names: &ExportNames,
    gathered: &mut ImportItems,
) {
    // A database may be exported twice: with all rows, and with those of a view.
    databases.sort_by_key(|(path, _)| !path.stem().ends_with("_all"));
    let mut places = HashSet::new();
    for (path, bytes) in databases {
        let path = names.rename(&path);
        let stem = path.stem().strip_suffix("_all").unwrap_or(path.stem()).to_owned();
        let not_imported = |why: &str| format!("`{path}` is not imported: {why}");
        let Ok(place) = path.folder().join(&format!("{stem}.md")) else {
            gathered.warnings.add(not_imported("its path is too long"));
            gathered.total += 1;
            continue;
        };
        if places.contains(&place) {
            folder.alias(path, place);
            continue;
        }
        if folder.has(&place) {
            gathered.warnings.add(not_imported(&format!("`{place}` has the same name")));
            gathered.total += 1;
            continue;
        }
        let rows: HashMap<String, String> = folder
            .paths()
            .filter(|row| row.is_markdown() && row.folder().relative_to(&path.folder()) == Some(&stem))
            .map(|row| (row_key(row.stem()), links::percent_encode(&format!("{stem}/{}", row.name()))))
            .collect();
        let text = String::from_utf8_lossy(&bytes);
        let Some(table) = exports::table(&text, |name| rows.get(&row_key(name)).cloned()) else { continue };
        for (count, parts) in [(table.missing_rows, "rows"), (table.missing_columns, "columns")] {
            if count > 0 {
                let why = "the table is too large";
                gathered.warnings.add(format!("`{path}`: {count} {parts} are left out, {why}"));
            }
        }
        let text = format!("# {}\n\n{}", links::escape_markdown(&stem), table.markdown);
        folder.put(place.clone(), text.into());
        places.insert(place.clone());
        folder.alias(path, place);
    }
}

/// Returns the key by which a row finds its page: exports omit some characters in file names, and long names are cut.
fn row_key(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(40).collect()
}

/// Returns the relevant files, without their common parent folder.
fn without_litter(files: Vec<UnpackedFile>) -> Vec<(RepoPath, Bytes)> {
    let is_litter = |path: &str| path.split('/').any(|part| LITTER_NAMES.contains(&part));
    let mut files: Vec<(RepoPath, Bytes)> = files
        .into_iter()
        .filter(|file| !is_litter(&file.path))
        .filter_map(|file| Some((RepoPath::new(&file.path).ok().filter(|path| !path.is_root())?, file.bytes)))
        .collect();
    let top = common_parent_length(&files);
    for (path, _) in &mut files {
        if let Some(below) = path.as_str().get(top..).and_then(|below| RepoPath::new(below).ok()) {
            *path = below;
        }
    }
    files
}

/// Returns the length in bytes of the common parent folder of all paths, including the slash.
fn common_parent_length(files: &[(RepoPath, Bytes)]) -> usize {
    let Some((first, others)) = files.split_first() else { return 0 };
    let first = first.0.as_str();
    let shared = |path: &str| first.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
    let shared = others.iter().map(|(path, _)| shared(path.as_str())).min().unwrap_or(first.len());
    // A hidden folder is significant and is not removed.
    let folders = first.split_inclusive('/').take_while(|part| part.ends_with('/') && !part.starts_with('.'));
    let ends = folders.scan(0, |end, part| {
        *end += part.len();
        Some(*end)
    });
    ends.take_while(|end| *end <= shared).last().unwrap_or(0)
}

/// Returns the source format of a file that needs conversion, by its extension.
fn source_format(path: &RepoPath) -> Option<DocumentFormat> {
    let (stem, ending) = path.name().rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        _ if stem.is_empty() => None,
        "html" | "htm" | "xhtml" => Some(DocumentFormat::Html),
        "docx" => Some(DocumentFormat::Docx),
        _ => None,
    }
}
