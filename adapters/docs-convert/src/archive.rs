//! Unpacking of zip archives with limits.

use std::io::{Cursor, Read as _};

use docs_ports::{ConvertError, MAX_FILE_BYTES, MAX_TEXTS_BYTES, UnpackedFile};
use zip::{ZipArchive, result::ZipError};

/// Maximum number of entries in an archive.
const MAX_ENTRIES: usize = 10_000;
/// Maximum unpacked size of all files together, in bytes.
const MAX_BYTES: u64 = 200_000_000;
/// Maximum unpacked size of a text part of a document, in bytes.
const MAX_PART_BYTES: u64 = 40_000_000;
/// Maximum compression ratio of a file of at least [`MIN_CHECKED_BYTES`]. Deflate reaches about 1,000; text about 10.
const MAX_RATIO: u64 = 200;
/// Assumed compression ratio, which caps the initial buffer capacity.
const USUAL_RATIO: u64 = 16;
/// Size in bytes below which the compression ratio is not checked.
const MIN_CHECKED_BYTES: u64 = 1_000_000;
/// Maximum length of a path in bytes.
const MAX_PATH: usize = 1_024;
/// Signature of an entry in the central directory.
const ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";
/// File name extensions of nested archives, which are skipped.
const ARCHIVE_EXTENSIONS: [&str; 10] =
    [".zip", ".jar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst"];
/// File name extensions of pages.
const PAGE_EXTENSIONS: [&str; 2] = [".md", ".markdown"];
/// The file type bits of a Unix mode, and their value for a symbolic link.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

pub(crate) fn unpack(archive: &[u8]) -> Result<Vec<UnpackedFile>, ConvertError> {
    let mut archive = Archive::open(archive, "a zip archive")?;
    archive.require_bounded_texts()?;
    let mut files = Vec::new();
    for at in 0..archive.zip.len() {
        if let Some(file) = archive.file(at)? {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(ConvertError::Unreadable("the archive must contain at least one file".to_owned()));
    }
    Ok(files)
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
        // Entries are counted before the directory is parsed, because the parsed form takes far more memory than the
        // directory itself.
        let entries = bytes
            .windows(ENTRY_SIGNATURE.len())
            .filter(|window| *window == ENTRY_SIGNATURE)
            .take(MAX_ENTRIES + 1)
            .count();
        if entries > MAX_ENTRIES {
            return Err(too_many());
        }
        let zip = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| ConvertError::Unreadable(format!("must be {what}: {}", reason(&error))))?;
        if zip.len() > MAX_ENTRIES {
            return Err(too_many());
        }
        Ok(Self { zip, left: MAX_BYTES })
    }

    /// Rejects an archive whose declared page sizes exceed the limit, before anything is unpacked.
    fn require_bounded_texts(&mut self) -> Result<(), ConvertError> {
        let mut bytes: u64 = 0;
        for at in 0..self.zip.len() {
            let entry = self.zip.by_index_raw(at).map_err(damaged_archive)?;
            let name = entry.name().map_err(damaged_archive)?.to_ascii_lowercase();
            if PAGE_EXTENSIONS.iter().any(|ending| name.ends_with(ending)) {
                bytes = bytes.saturating_add(entry.size());
            }
        }
        if bytes > MAX_TEXTS_BYTES {
            return Err(ConvertError::TooLarge(format!(
                "the pages of the archive must be at most {MAX_TEXTS_BYTES} bytes together, have {bytes}"
            )));
        }
        Ok(())
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

    /// Returns a file with its path, or `None` for folders, links and nested archives.
    fn file(&mut self, at: usize) -> Result<Option<UnpackedFile>, ConvertError> {
        let entry = self.zip.by_index_raw(at).map_err(damaged_archive)?;
        let is_link = entry.unix_mode().is_some_and(|mode| mode & KIND == LINK);
        let is_folder = entry.is_dir();
        let path = checked_path(&entry.name().map_err(damaged_archive)?)?;
        drop(entry);
        let lower = path.to_ascii_lowercase();
        if is_folder || is_link || ARCHIVE_EXTENSIONS.iter().any(|ending| lower.ends_with(ending)) {
            return Ok(None);
        }
        Ok(Some(UnpackedFile { path, bytes: self.read(at)?.into() }))
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
                "the archive must unpack to at most {file} MB per file and {all} MB in total; its \
                 compression ratio is also limited"
            )));
        }
        self.left -= bytes.len() as u64;
        bytes.shrink_to_fit();
        Ok(bytes)
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
    Ok(parts.collect::<Vec<_>>().join("/"))
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
