//! Imports of archives.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;
use percent_encoding::percent_decode_str;

use super::{
    ImportItems,
    exports::{self, ArchivedFile, DatabaseTable, ExportNames, MAX_DATABASE_BYTES},
    folder::{Folder, MAX_FILES},
    gather::{Gatherer, MAX_FILES_BYTES, UNKNOWN_IMPORT_BYTES},
    links,
};
use crate::{
    Error, Result,
    content::{gitsync::RepoPath, run_in_place, yield_to_others},
    ports::{Document, DocumentFormat, EmbeddedFile, UnpackedFile},
};

/// Names of files that operating systems add to archives.
const LITTER_NAMES: [&str; 3] = ["__MACOSX", ".DS_Store", "Thumbs.db"];

/// Maximum number of Markdown, HTML and Word files in an archive. The limit exceeds that of pages, because a table of
/// contents may leave files out.
pub(in crate::platform) const MAX_ENTRIES: usize = 2_000;
/// Maximum total size of the sources of exported databases in bytes, each counted up to [`MAX_DATABASE_BYTES`].
const MAX_DATABASES_BYTES: usize = 50_000_000;

impl Gatherer<'_> {
    /// Imports an archive of Markdown and HTML files, in the order of its `SUMMARY.md` or of its folders.
    pub(super) async fn archive(&self, url: &str) -> Result<ImportItems> {
        let found = self.get_first(url).await?;
        self.unpack(found.bytes).await
    }

    /// Imports an archive.
    pub(super) async fn unpack(&self, archive: Bytes) -> Result<ImportItems> {
        self.begin_work(UNKNOWN_IMPORT_BYTES).await?;
        let archive = self.unpack_files(archive).await?;
        let mut gathered = ImportItems::default();
        gathered.warnings.add_all(&archive.warnings);
        self.files(archive.files, gathered).await
    }

    /// Imports the files of a folder. Its Markdown files may have any encoding; an archive has them in UTF-8.
    pub(super) async fn folder(&self, files: Vec<UnpackedFile>) -> Result<ImportItems> {
        let mut decoded = Vec::with_capacity(files.len());
        for file in files {
            let is_markdown = RepoPath::new(&file.path).is_ok_and(|path| path.is_markdown());
            decoded.push(if is_markdown { self.to_utf8(file).await? } else { file });
        }
        self.files(decoded, ImportItems::default()).await
    }

    /// Imports the files of an archive or of a folder.
    async fn files(&self, files: Vec<UnpackedFile>, mut gathered: ImportItems) -> Result<ImportItems> {
        let bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
        self.grow(bytes).await?;
        let folder = self.to_folder(files, bytes, &mut gathered).await?;
        // The texts are copied, and copied again with their resolved links.
        self.grow(folder.bytes() + 2 * folder.markdown_bytes()).await?;
        folder.add_to(self.platform, self.domain, &mut gathered).await?;
        Ok(gathered)
    }

    /// Returns the files of an archive as a folder of Markdown: other documents are converted, other files are left
    /// unchanged. `bytes` is the size of all files.
    async fn to_folder(
        &self,
        files: Vec<UnpackedFile>,
        bytes: u64,
        gathered: &mut ImportItems,
    ) -> Result<Folder> {
        let (mut files, names) = run_in_place(|| {
            let files = without_litter(files);
            let names = ExportNames::new(&files);
            (files, names)
        });
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
        let mut archive =
            ArchiveFolder { folder: Folder::new("the archive"), names, bytes, files: 0, file_bytes: 0 };
        let (mut documents, mut taken) = (Vec::new(), HashSet::new());
        for (path, bytes) in files {
            // Pages with ids in several folders may have the same name afterwards.
            let renamed = archive.names.rename(&path);
            let path = if taken.insert(renamed.clone()) { renamed } else { path };
            match source_format(&path) {
                Some(format) => documents.push((path, format, bytes)),
                None => archive.folder.put(path, bytes),
            }
        }
        for (path, format, bytes) in documents {
            self.add_document(&mut archive, path, format, bytes, gathered).await?;
            self.grow(archive.bytes).await?;
        }
        archive.add_databases(databases, gathered).await?;
        let ArchiveFolder { mut folder, names, .. } = archive;
        match index {
            Some(index) => folder.contents(index),
            None => folder.use_index_as_readme(),
        }
        folder.rename(names);
        Ok(folder)
    }

    /// Returns the table of contents of an exported HTML space.
    async fn index(&self, files: &[ArchivedFile], names: &ExportNames) -> Option<String> {
        let (path, bytes) = run_in_place(|| exports::index(files))?;
        let document = Document {
            format: DocumentFormat::Html,
            bytes: bytes.clone(),
            name: path.stem().to_owned(),
            url: None,
            charset: None,
        };
        let page = self.convert_in_time(document).await.ok()?;
        exports::contents(&page.markdown, |destination| {
            let decoded = percent_decode_str(destination).decode_utf8().ok()?;
            let path = names.rename(&RepoPath::new(&decoded).ok()?);
            let page = path.folder().join(&format!("{}.md", path.stem())).ok()?;
            Some(links::percent_encode(page.as_str()))
        })
    }

    /// Converts a Markdown file to UTF-8. A file that is not text is left unchanged.
    async fn to_utf8(&self, file: UnpackedFile) -> Result<UnpackedFile> {
        if str::from_utf8(&file.bytes).is_ok() {
            return Ok(file);
        }
        let document = Document {
            format: DocumentFormat::Markdown,
            bytes: file.bytes.clone(),
            name: links::title_from_file_name(&file.path),
            url: None,
            charset: None,
        };
        let converted = self.convert_in_time(document).await;
        self.check_conversion_time()?;
        Ok(match converted {
            Ok(page) => UnpackedFile { bytes: page.markdown.into(), ..file },
            Err(error) => {
                tracing::debug!(path = file.path, %error, "decode file as UTF-8");
                file
            }
        })
    }

    /// Converts a document of another format and adds it to a folder, with the extension `.md`.
    async fn add_document(
        &self,
        archive: &mut ArchiveFolder,
        path: RepoPath,
        format: DocumentFormat,
        bytes: Bytes,
        gathered: &mut ImportItems,
    ) -> Result<()> {
        let mut not_imported = |why: &str| -> Result<()> {
            gathered.warnings.add(format!("`{path}` is not imported: {why}"));
            gathered.total += 1;
            Ok(())
        };
        archive.bytes = archive.bytes.saturating_sub(bytes.len() as u64);
        let Ok(place) = path.folder().join(&format!("{}.md", path.stem())) else {
            return not_imported("its path is too long");
        };
        if archive.folder.has(&place) {
            return not_imported(&format!("`{place}` has the same name"));
        }
        let document = Document {
            format,
            bytes,
            name: links::title_from_file_name(path.name()),
            url: None,
            charset: None,
        };
        let converted = self.convert_in_time(document).await;
        self.check_conversion_time()?;
        let page = match converted {
            Ok(page) => page,
            Err(error) => return not_imported(&error.to_string()),
        };
        for warning in &page.warnings {
            gathered.warnings.add(format!("`{path}`: {warning}"));
        }
        let names = archive.add_files(&path, page.files, gathered);
        let text = links::rewrite_known_links(&page.markdown, |destination| names.get(destination).cloned());
        let title = links::escape_markdown(archive.names.title(&page.title));
        archive.add_text(&place, format!("# {title}\n\n{text}"))?;
        archive.folder.alias(path, place);
        Ok(())
    }
}

/// The files of an archive while its documents are converted.
struct ArchiveFolder {
    folder: Folder,
    names: ExportNames,
    /// The size of all files in bytes, including those that are not converted yet.
    bytes: u64,
    /// The number of files that were embedded in documents.
    files: usize,
    /// The size of the files that were embedded in documents, in bytes.
    file_bytes: u64,
}

impl ArchiveFolder {
    fn add_text(&mut self, place: &RepoPath, text: String) -> Result<()> {
        self.bytes += text.len() as u64;
        self.folder.put_text(place.clone(), text)
    }

    /// Adds the files embedded in a document, next to it. Returns their paths by the destinations in the text. Files
    /// beyond the limits of an import are left out.
    fn add_files(
        &mut self,
        document: &RepoPath,
        files: Vec<EmbeddedFile>,
        gathered: &mut ImportItems,
    ) -> BTreeMap<String, String> {
        let (mut names, mut beyond) = (BTreeMap::new(), 0);
        for (at, file) in files.into_iter().enumerate() {
            // Under a name that the archive does not use.
            let name = format!("{}.{at}.{}", document.name(), file.name);
            let Ok(beside) = document.folder().join(&name) else { continue };
            let size = file.bytes.len() as u64;
            if self.files == MAX_FILES || self.file_bytes + size > MAX_FILES_BYTES {
                beyond += 1;
                continue;
            }
            self.files += 1;
            self.file_bytes += size;
            self.bytes += size;
            names.insert(file.destination, links::percent_encode(&name));
            self.folder.put(beside, file.bytes);
        }
        if beyond > 0 {
            gathered.total += beyond;
            let why = "they exceed the limits of an import";
            gathered.warnings.add(format!("`{document}`: {beyond} files are left out: {why}"));
        }
        names
    }

    /// Adds exported databases as pages with a table, which link to the pages of their rows.
    async fn add_databases(
        &mut self,
        mut databases: Vec<ArchivedFile>,
        gathered: &mut ImportItems,
    ) -> Result<()> {
        // A database may be exported twice: with all rows, and with those of a view.
        databases.sort_by_key(|(path, _)| !path.stem().ends_with("_all"));
        let mut pages: HashMap<RepoPath, Vec<RepoPath>> = HashMap::new();
        for path in self.folder.paths().filter(|path| path.is_markdown() && !databases.is_empty()) {
            pages.entry(path.folder()).or_default().push(path.clone());
        }
        let (mut places, mut left) = (HashSet::new(), MAX_DATABASES_BYTES);
        for (path, bytes) in databases {
            let path = self.names.rename(&path);
            let stem = path.stem().strip_suffix("_all").unwrap_or(path.stem()).to_owned();
            let mut not_imported = |why: &str| {
                gathered.warnings.add(format!("`{path}` is not imported: {why}"));
                gathered.total += 1;
            };
            let Ok(place) = path.folder().join(&format!("{stem}.md")) else {
                not_imported("its path is too long");
                continue;
            };
            if places.contains(&place) {
                self.folder.alias(path, place);
                continue;
            }
            if self.folder.has(&place) {
                not_imported(&format!("`{place}` has the same name"));
                continue;
            }
            let Some(rest) = left.checked_sub(bytes.len().min(MAX_DATABASE_BYTES)) else {
                not_imported("the databases exceed the size of an import");
                continue;
            };
            left = rest;
            let rows = path.folder().join(&stem).ok().and_then(|folder| pages.get(&folder));
            let table = run_in_place(|| database_table(&bytes, &stem, rows.map_or(&[][..], |rows| rows)));
            yield_to_others().await;
            let Some(table) = table else { continue };
            warn_of_missing(&path, &table, gathered);
            let text = format!("# {}\n\n{}", links::escape_markdown(&stem), table.markdown);
            self.add_text(&place, text)?;
            pages.entry(place.folder()).or_default().push(place.clone());
            places.insert(place.clone());
            self.folder.alias(path, place);
        }
        Ok(())
    }
}

/// Converts a database to a table. `pages` are those of its rows.
fn database_table(bytes: &[u8], stem: &str, pages: &[RepoPath]) -> Option<DatabaseTable> {
    let rows: HashMap<String, String> = pages
        .iter()
        .map(|row| (row_key(row.stem()), links::percent_encode(&format!("{stem}/{}", row.name()))))
        .collect();
    exports::table(bytes, |name| rows.get(&row_key(name)).cloned())
}

fn warn_of_missing(path: &RepoPath, table: &DatabaseTable, gathered: &mut ImportItems) {
    let at_least = if table.is_cut { "at least " } else { "" };
    for (count, parts, about) in [
        (table.missing_rows + usize::from(table.is_cut), "rows", at_least),
        (table.missing_columns, "columns", ""),
    ] {
        if count > 0 {
            let why = "the table is too large";
            gathered.warnings.add(format!("`{path}`: {about}{count} {parts} are left out, {why}"));
        }
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
