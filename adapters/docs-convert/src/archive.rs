//! Unpacking of zip archives with limits.

use std::{
    collections::{HashMap, HashSet},
    io::{Cursor, Read as _},
};

use docs_ports::{
    ConvertError, MAX_CONVERSION_WARNINGS, MAX_FILE_BYTES, MAX_TEXTS_BYTES, UnpackedArchive, UnpackedFile,
};
use zip::{ZipArchive, result::ZipError};

use crate::{charset, text::MAX_MARKDOWN_BYTES};

/// Maximum number of entries in an archive and the archives within it.
const MAX_ENTRIES: usize = 10_000;
/// Maximum number of archives around a file, in addition to the imported one.
const MAX_ARCHIVE_DEPTH: usize = 2;
/// Maximum unpacked size of all files together, including archives within the archive, in bytes.
const MAX_BYTES: u64 = 200_000_000;
/// Maximum unpacked size of a text part of a document, in bytes.
const MAX_PART_BYTES: u64 = 40_000_000;
/// Maximum compression ratio of a file of at least [`MIN_CHECKED_BYTES`]. Deflate reaches about 1,000; text about 10.
const MAX_RATIO: u64 = 200;
/// Maximum compression ratio of all files of an archive together, from [`MIN_CHECKED_TOTAL`] bytes.
const MAX_TOTAL_RATIO: u64 = 50;
/// Unpacked size of an archive in bytes below which its compression ratio is not checked.
const MIN_CHECKED_TOTAL: u64 = 10_000_000;
/// Assumed compression ratio, which caps the initial buffer capacity.
const USUAL_RATIO: u64 = 16;
/// Size in bytes below which the compression ratio is not checked.
const MIN_CHECKED_BYTES: u64 = 1_000_000;
/// Maximum length of a path in bytes.
pub(crate) const MAX_PATH: usize = 1_024;
/// Maximum number of folders in a path, including those of the archives around a file.
const MAX_PATH_FOLDERS: usize = 64;
/// Maximum bytes that the search for the end of the directory may read. For each end record with a zip64 locator, it
/// may read the rest of the archive once per zip64 end record.
const MAX_END_SEARCH_BYTES: usize = 2_000_000_000;
/// Length of the longest comment of an end record.
const COMMENT_BYTES: usize = 65_535;
/// Signatures of an entry in the central directory, and of the records at its end.
const ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";
const END_SIGNATURE: &[u8] = b"PK\x05\x06";
const ZIP64_END_SIGNATURE: &[u8] = b"PK\x06\x06";
const ZIP64_LOCATOR_SIGNATURE: &[u8] = b"PK\x06\x07";
/// File name extensions of archives.
const ARCHIVE_EXTENSIONS: [&str; 10] =
    [".zip", ".jar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst"];
/// File name extensions of pages.
const PAGE_EXTENSIONS: [&str; 2] = [".md", ".markdown"];
/// The file type bits of a Unix mode, and their value for a symbolic link.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

pub(crate) fn unpack(archive: &[u8]) -> Result<UnpackedArchive, ConvertError> {
    let by_ratio = (archive.len() as u64).saturating_mul(MAX_TOTAL_RATIO).max(MIN_CHECKED_TOTAL);
    let mut unpacker = Unpacker { left: MAX_BYTES.min(by_ratio), ..Unpacker::default() };
    unpacker.unpack(archive, &NestedArchive::default())?;
    if unpacker.files.is_empty() {
        let warnings = unpacker.warnings.into_iter().next().map(|warning| format!("; {warning}"));
        let why = warnings.unwrap_or_default();
        return Err(ConvertError::Unreadable(format!("the archive must contain at least one file{why}")));
    }
    Ok(UnpackedArchive { files: unpacker.files, warnings: unpacker.warnings.into_list() })
}

/// The files of an archive and of the archives within it, which share their limits.
#[derive(Default)]
struct Unpacker {
    files: Vec<UnpackedFile>,
    paths: FilePaths,
    warnings: EntryWarnings,
    /// Remaining bytes that may be unpacked.
    left: u64,
    entries: usize,
    /// Declared bytes of all pages, and the bytes by which their conversion to UTF-8 exceeds the original ones.
    texts: u64,
}

/// The paths of the files.
#[derive(Default)]
struct FilePaths {
    taken: HashSet<String>,
    /// The last numbers of duplicate paths, by the path with the number 1.
    numbers: HashMap<String, usize>,
    #[cfg(test)]
    lookups: usize,
}

impl FilePaths {
    /// Returns a path of a file that no other file has. Only archives within an archive may contain duplicates.
    fn unique(&mut self, of: &NestedArchive, path: &str) -> String {
        let own = format!("{}{path}", of.folder);
        if of.depth == 0 || !self.is_taken(&own) {
            return own;
        }
        let (before, after) = (format!("{}{}", of.folder, of.stem), path);
        let first = format!("{before}/{after}");
        let mut number = self.numbers.get(&first).copied().unwrap_or_default();
        let unique = loop {
            number += 1;
            let candidate = if number == 1 { first.clone() } else { format!("{before} {number}/{after}") };
            if !self.is_taken(&candidate) {
                break candidate;
            }
        };
        self.numbers.insert(first, number);
        unique
    }

    fn is_taken(&mut self, path: &str) -> bool {
        #[cfg(test)]
        {
            self.lookups += 1;
        }
        self.taken.contains(path)
    }
}

/// The location of an archive within another.
#[derive(Default)]
struct NestedArchive {
    /// The folder of its files, with a trailing slash unless empty.
    folder: String,
    /// The name without its extension, which separates files with the same path.
    stem: String,
    depth: usize,
}

/// Warnings about entries, at most [`MAX_CONVERSION_WARNINGS`].
#[derive(Default)]
struct EntryWarnings {
    messages: Vec<String>,
    others: usize,
}

impl EntryWarnings {
    fn add(&mut self, message: String) {
        if self.messages.len() + 1 < MAX_CONVERSION_WARNINGS {
            self.messages.push(message);
        } else {
            self.others += 1;
        }
    }

    fn into_iter(self) -> impl Iterator<Item = String> {
        let others = (self.others > 0).then(|| format!("left out: {} other entries", self.others));
        self.messages.into_iter().chain(others)
    }

    fn into_list(self) -> Vec<String> {
        self.into_iter().collect()
    }
}

/// The content of an entry, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryContent {
    File,
    Zip,
    /// An archive that cannot be unpacked.
    OtherArchive,
}

impl Unpacker {
    fn unpack(&mut self, bytes: &[u8], of: &NestedArchive) -> Result<(), ConvertError> {
        let mut archive = Archive::open(bytes, "a zip archive")?;
        archive.left = self.left;
        self.entries += archive.zip.len();
        if self.entries > MAX_ENTRIES {
            return Err(too_many());
        }
        self.texts = archive.require_bounded_texts(self.texts)?;
        let done = self.unpack_entries(&mut archive, of);
        // Also bytes that were unpacked before an error count.
        self.left = archive.left;
        done
    }

    fn unpack_entries(&mut self, archive: &mut Archive<'_>, of: &NestedArchive) -> Result<(), ConvertError> {
        let mut entries = Vec::new();
        for at in 0..archive.zip.len() {
            if let Some(path) = archive.path(at, &mut self.warnings)? {
                entries.push((at, EntryContent::of(&path), path));
            }
        }
        // Some tools split an export into several archives within one. Other archives are downloads of a page.
        let is_bundle =
            entries.iter().all(|(_, content, path)| *content == EntryContent::Zip || is_litter(path));
        for (at, content, path) in entries {
            match content {
                EntryContent::File if is_bundle => {}
                EntryContent::File => {
                    let bytes = archive.read(at)?;
                    self.add(of, &path, bytes)?;
                }
                EntryContent::Zip if is_bundle && of.depth < MAX_ARCHIVE_DEPTH => {
                    let bytes = archive.read(at)?;
                    self.left = archive.left;
                    let done = self.unpack_nested(&bytes, of, &path);
                    archive.left = self.left;
                    done?;
                }
                EntryContent::Zip | EntryContent::OtherArchive => {
                    self.warnings.add(format!("left out: `{path}`, an archive within the archive"));
                }
            }
        }
        Ok(())
    }

    /// Unpacks an archive within another one. A damaged one is left out.
    fn unpack_nested(&mut self, bytes: &[u8], of: &NestedArchive, path: &str) -> Result<(), ConvertError> {
        let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
        let slash = if folder.is_empty() { "" } else { "/" };
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
        let folder = format!("{}{folder}{slash}", of.folder);
        let first = self.files.len();
        match self.unpack(bytes, &NestedArchive { folder, stem, depth: of.depth + 1 }) {
            Err(ConvertError::Unreadable(why)) => {
                for file in self.files.drain(first..) {
                    self.paths.taken.remove(&file.path);
                }
                self.warnings.add(format!("left out: `{path}` within the archive: {why}"));
                Ok(())
            }
            done => done,
        }
    }

    fn add(&mut self, of: &NestedArchive, path: &str, mut bytes: Vec<u8>) -> Result<(), ConvertError> {
        let path = self.paths.unique(of, path);
        check_folders(&path)?;
        if is_page(&path)
            && let Some(text) = charset::to_utf8(&bytes, MAX_MARKDOWN_BYTES)
        {
            let growth = text.len().saturating_sub(bytes.len());
            self.texts = self.texts.saturating_add(growth as u64);
            check_texts(self.texts)?;
            bytes = text.into_bytes();
        }
        self.paths.taken.insert(path.clone());
        self.files.push(UnpackedFile { path, bytes: bytes.into() });
        Ok(())
    }
}

impl EntryContent {
    fn of(path: &str) -> Self {
        let lower = path.to_ascii_lowercase();
        match ARCHIVE_EXTENSIONS.iter().find(|ending| lower.ends_with(**ending)) {
            Some(&".zip") => Self::Zip,
            Some(_) => Self::OtherArchive,
            None => Self::File,
        }
    }
}

/// Returns `true` if a file is a page.
fn is_page(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    PAGE_EXTENSIONS.iter().any(|ending| lower.ends_with(ending))
}

fn check_texts(bytes: u64) -> Result<(), ConvertError> {
    if bytes <= MAX_TEXTS_BYTES {
        return Ok(());
    }
    Err(ConvertError::TooLarge(format!(
        "the pages of the archive must be at most {MAX_TEXTS_BYTES} bytes together, have {bytes}"
    )))
}

/// Returns `true` if an operating system added a file to an archive.
fn is_litter(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "__MACOSX" | ".DS_Store" | "Thumbs.db"))
}

/// An archive that is unpacked within limits.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Remaining bytes that may be unpacked.
    left: u64,
}

impl<'a> Archive<'a> {
    /// Opens an archive. `what` names the expected file in error messages.
    pub(crate) fn open(bytes: &'a [u8], what: &str) -> Result<Self, ConvertError> {
        SignatureCounts::new(bytes).check(bytes.len())?;
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| ConvertError::Unreadable(format!("must be {what}: {}", reason(&error))))?;
        if zip.len() > MAX_ENTRIES {
            return Err(too_many());
        }
        Ok(Self { zip, left: MAX_BYTES })
    }

    /// Rejects an archive whose declared page sizes exceed the limit, before anything is unpacked. Returns the size of
    /// the pages of this archive and of earlier ones.
    fn require_bounded_texts(&mut self, earlier: u64) -> Result<u64, ConvertError> {
        let mut bytes = earlier;
        for at in 0..self.zip.len() {
            let entry = self.zip.by_index_raw(at).map_err(damaged_archive)?;
            if is_page(&entry.name().map_err(damaged_archive)?) {
                bytes = bytes.saturating_add(entry.size());
            }
        }
        check_texts(bytes)?;
        Ok(bytes)
    }

    /// Returns the bytes of a file by path, or `None` if it does not exist.
    pub(crate) fn read_file(&mut self, path: &str) -> Result<Option<Vec<u8>>, ConvertError> {
        match self.zip.index_for_name(path) {
            Some(at) => self.read(at).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the bytes of a document part by path, or `None` if it does not exist. Text parts have a lower limit than
    /// images.
    pub(crate) fn part(&mut self, path: &str) -> Result<Option<Vec<u8>>, ConvertError> {
        let Some(at) = self.zip.index_for_name(path) else { return Ok(None) };
        let limit = MAX_PART_BYTES.min(self.left);
        let left = std::mem::replace(&mut self.left, limit);
        let read = self.read(at);
        self.left += left - limit;
        match read {
            Err(ConvertError::TooLarge(_)) if limit == MAX_PART_BYTES => {
                let limit = MAX_PART_BYTES / 1_000_000;
                let what = format!(
                    "a part of a document must have at most {limit} MB of text; its compression ratio is \
                     also limited"
                );
                Err(ConvertError::TooLarge(what))
            }
            read => read.map(Some),
        }
    }

    /// Returns the path of a file, or `None` for folders and links.
    fn path(&mut self, at: usize, warnings: &mut EntryWarnings) -> Result<Option<String>, ConvertError> {
        let entry = self.zip.by_index_raw(at).map_err(damaged_archive)?;
        let is_link = entry.unix_mode().is_some_and(|mode| mode & KIND == LINK);
        let is_folder = entry.is_dir();
        let path = checked_path(&entry.name().map_err(damaged_archive)?)?;
        if is_link {
            warnings.add(format!("left out: `{path}`, a symbolic link"));
        }
        Ok(Some(path).filter(|_| !is_folder && !is_link))
    }

    fn read(&mut self, at: usize) -> Result<Vec<u8>, ConvertError> {
        let entry = self.zip.by_index_raw(at).map_err(damaged_archive)?;
        let packed = entry.compressed_size();
        if entry.encrypted() {
            return Err(ConvertError::Unreadable("the archive must not be encrypted".to_owned()));
        }
        drop(entry);
        let entry = self.zip.by_index(at).map_err(damaged_archive)?;
        let mut limit = MAX_FILE_BYTES.min(self.left);
        // The declared size of an entry may be wrong, so the actual output is limited.
        limit = limit.min(packed.saturating_mul(MAX_RATIO).max(MIN_CHECKED_BYTES));
        // The declared size is used as initial capacity, which avoids a second copy while the buffer grows. It is
        // capped by the usual compression ratio.
        let told = entry.size().min(limit).min(packed.saturating_mul(USUAL_RATIO)).saturating_add(1);
        let mut bytes = Vec::with_capacity(usize::try_from(told).unwrap_or_default());
        let read = entry.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| damaged_archive(ZipError::Io(error)))?;
        if bytes.len() as u64 > limit {
            let (file, all) = (MAX_FILE_BYTES / 1_000_000, MAX_BYTES / 1_000_000);
            return Err(ConvertError::TooLarge(format!(
                "the archive must unpack to at most {file} MB per file, {all} MB in total and \
                 {MAX_TOTAL_RATIO} times its own size"
            )));
        }
        self.left -= bytes.len() as u64;
        bytes.shrink_to_fit();
        Ok(bytes)
    }
}

/// Numbers of the records of an archive. They are counted before the directory is parsed, because its parsed form takes
/// far more memory than the directory itself, and because the search for its end tries all end records.
#[derive(Default)]
struct SignatureCounts {
    entries: usize,
    ends: usize,
    zip64_ends: usize,
    locators: usize,
}

impl SignatureCounts {
    fn new(bytes: &[u8]) -> Self {
        let mut counts = Self::default();
        for window in bytes.windows(ENTRY_SIGNATURE.len()) {
            if !window.starts_with(b"PK") {
                continue;
            }
            match window {
                ENTRY_SIGNATURE => counts.entries += 1,
                END_SIGNATURE => counts.ends += 1,
                ZIP64_END_SIGNATURE => counts.zip64_ends += 1,
                ZIP64_LOCATOR_SIGNATURE => counts.locators += 1,
                _ => {}
            }
        }
        counts
    }

    fn check(&self, bytes: usize) -> Result<(), ConvertError> {
        if self.entries > MAX_ENTRIES {
            return Err(too_many());
        }
        let comments = self.ends.saturating_mul(COMMENT_BYTES.min(bytes));
        let zip64 = self.locators.min(self.ends).saturating_mul(self.zip64_ends).saturating_mul(bytes);
        if comments.saturating_add(zip64) > MAX_END_SEARCH_BYTES {
            let why = "the archive must have one directory; it contains the ends of too many others";
            return Err(ConvertError::TooLarge(why.to_owned()));
        }
        Ok(())
    }
}

/// Returns the normalized path of an entry. Rejects paths that leave the archive.
fn checked_path(name: &str) -> Result<String, ConvertError> {
    let name = name.replace('\\', "/");
    let leaves = name.split('/').any(|part| part == "..");
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    if leaves || is_drive || name.starts_with('/') || name.contains('\0') {
        return Err(ConvertError::Unreadable("the archive has a path that leaves the archive".to_owned()));
    }
    if name.len() > MAX_PATH {
        return Err(ConvertError::Unreadable(format!(
            "a path in the archive must be at most {MAX_PATH} bytes"
        )));
    }
    let parts = name.split('/').filter(|part| !part.is_empty() && *part != ".");
    let path = parts.collect::<Vec<_>>().join("/");
    check_folders(&path)?;
    Ok(path)
}

/// Rejects a path with more folders than [`MAX_PATH_FOLDERS`].
fn check_folders(path: &str) -> Result<(), ConvertError> {
    if path.bytes().filter(|byte| *byte == b'/').count() <= MAX_PATH_FOLDERS {
        return Ok(());
    }
    Err(ConvertError::Unreadable(format!(
        "a path in the archive must have at most {MAX_PATH_FOLDERS} folders"
    )))
}

fn too_many() -> ConvertError {
    ConvertError::TooLarge(format!("the archive must have at most {MAX_ENTRIES} entries"))
}

fn damaged_archive(error: ZipError) -> ConvertError {
    ConvertError::Unreadable(format!("cannot read the archive: {}", reason(&error)))
}

/// Returns the user-facing message for an archive error.
fn reason(error: &ZipError) -> &'static str {
    match error {
        ZipError::UnsupportedArchive(_) => "its compression method is not supported",
        ZipError::Io(_) | ZipError::InvalidArchive(_) => "it is damaged or not a zip archive",
        _ => "it is damaged",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_duplicate_paths_continue() {
        let mut unpacker = Unpacker { left: MAX_BYTES, ..Unpacker::default() };
        let of = NestedArchive { folder: "f/".to_owned(), stem: "part".to_owned(), depth: 1 };
        for path in ["part 3/a.md", "a.md", "a.md", "a.md", "a.md", "b.md", "b.md"] {
            unpacker.add(&of, path, Vec::new()).expect("a file");
        }
        let paths: Vec<&str> = unpacker.files.iter().map(|file| file.path.as_str()).collect();
        let expected =
            ["part 3/a.md", "a.md", "part/a.md", "part 2/a.md", "part 4/a.md", "b.md", "part/b.md"];
        assert_eq!(paths, expected.map(|path| format!("f/{path}")));
        for _ in 0..1_000 {
            unpacker.add(&of, "c.md", Vec::new()).expect("a file");
        }
        assert!(unpacker.paths.lookups < 3_000, "{} lookups", unpacker.paths.lookups);
    }

    #[test]
    fn end_records_are_limited_by_their_search() {
        let counts = SignatureCounts { entries: 1, ends: 1, zip64_ends: 1, locators: 1 };
        assert_eq!(counts.check(crate::MAX_PACKED_BYTES), Ok(()));
        let all = MAX_END_SEARCH_BYTES / 1_000_000;
        let counts = |ends, zip64_ends| SignatureCounts { ends, zip64_ends, locators: ends, entries: 0 };
        assert_eq!(counts(10, all / 20).check(1_000_000), Ok(()));
        for (ends, zip64_ends) in [(10, all / 10), (40_000, 0)] {
            let error = counts(ends, zip64_ends).check(1_000_000).unwrap_err().to_string();
            assert!(error.contains("one directory"), "{error}");
        }
    }
}
