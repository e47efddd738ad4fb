//! Zip archives.

use std::io::{Cursor, Read as _};

use docs_ports::{ConvertError, MAX_FILE_BYTES, MAX_TEXTS_BYTES, UnpackedFile};
use zip::{ZipArchive, result::ZipError};

/// Most entries of an archive.
const MAX_ENTRIES: usize = 10_000;
/// Most bytes of all files together, unpacked.
const MAX_BYTES: u64 = 200_000_000;
/// Most bytes of a part of a document that is text, unpacked.
const MAX_PART_BYTES: u64 = 40_000_000;
/// How many times larger than packed a file may be that is large at all. Deflate reaches a thousand; text has ten.
const MAX_RATIO: u64 = 200;
/// How many times larger than packed files are.
const USUAL_RATIO: u64 = 16;
/// What is not large, whatever its ratio.
const SMALL: u64 = 1_000_000;
/// Longest path, in bytes.
const MAX_PATH: usize = 1_024;
/// The signature of an entry in the directory of an archive.
const ENTRY: &[u8] = b"PK\x01\x02";
/// Endings of archives within archives, which are left out.
const ARCHIVES: [&str; 10] = [".zip", ".jar", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst"];
/// Endings of pages.
const PAGES: [&str; 2] = [".md", ".markdown"];
/// The bits of a mode that say what an entry is, and those of a symbolic link.
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
        return Err(ConvertError::Unreadable("the archive has no files".to_owned()));
    }
    Ok(files)
}

/// An archive that is unpacked with limits.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// How many bytes may still be unpacked.
    left: u64,
}

impl<'a> Archive<'a> {
    /// Opens an archive; `what` it should be is for the user.
    pub(crate) fn open(bytes: &'a [u8], what: &str) -> Result<Self, ConvertError> {
        // Counted before the directory is read, which needs far more memory than its bytes.
        let entries =
            bytes.windows(ENTRY.len()).filter(|window| *window == ENTRY).take(MAX_ENTRIES + 1).count();
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

    /// Refuses an archive that says itself that its pages are too much together, before any of it is unpacked.
    fn require_bounded_texts(&mut self) -> Result<(), ConvertError> {
        let mut bytes: u64 = 0;
        for at in 0..self.zip.len() {
            let entry = self.zip.by_index_raw(at).map_err(damaged)?;
            let name = entry.name().map_err(damaged)?.to_ascii_lowercase();
            if PAGES.iter().any(|ending| name.ends_with(ending)) {
                bytes = bytes.saturating_add(entry.size());
            }
        }
        if bytes > MAX_TEXTS_BYTES {
            return Err(ConvertError::TooLarge(format!(
                "the pages of the archive have {bytes} bytes, at most {MAX_TEXTS_BYTES} are imported"
            )));
        }
        Ok(())
    }

    /// The bytes of a file by its path; `None` when there is none.
    pub(crate) fn named(&mut self, path: &str) -> Result<Option<Vec<u8>>, ConvertError> {
        match self.zip.index_for_name(path) {
            Some(at) => self.read(at).map(Some),
            None => Ok(None),
        }
    }

    /// The bytes of a part of a document by its path; `None` when there is none. A part of text is far smaller than a
    /// picture may be.
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
                    "a part of a document must have at most {limit} MB of text, and not much more than it \
                                    is packed"
                );
                Err(ConvertError::TooLarge(what))
            }
            read => read.map(Some),
        }
    }

    /// A file with its path; `None` for folders, links, and archives.
    fn file(&mut self, at: usize) -> Result<Option<UnpackedFile>, ConvertError> {
        let entry = self.zip.by_index_raw(at).map_err(damaged)?;
        let is_link = entry.unix_mode().is_some_and(|mode| mode & KIND == LINK);
        let is_folder = entry.is_dir();
        let path = checked_path(&entry.name().map_err(damaged)?)?;
        drop(entry);
        let lower = path.to_ascii_lowercase();
        if is_folder || is_link || ARCHIVES.iter().any(|ending| lower.ends_with(ending)) {
            return Ok(None);
        }
        Ok(Some(UnpackedFile { path, bytes: self.read(at)?.into() }))
    }

    fn read(&mut self, at: usize) -> Result<Vec<u8>, ConvertError> {
        let entry = self.zip.by_index_raw(at).map_err(damaged)?;
        let packed = entry.compressed_size();
        if entry.encrypted() {
            return Err(ConvertError::Unreadable("the archive must not be encrypted".to_owned()));
        }
        drop(entry);
        let entry = self.zip.by_index(at).map_err(damaged)?;
        let mut limit = MAX_FILE_BYTES.min(self.left);
        // What an entry says of its size need not be true, so it is what comes out that counts.
        limit = limit.min(packed.saturating_mul(MAX_RATIO).max(SMALL));
        // What the entry says of its size is enough to begin with, so that there are no two copies while it grows;
        // unless it says more than files are packed.
        let told = entry.size().min(limit).min(packed.saturating_mul(USUAL_RATIO)).saturating_add(1);
        let mut bytes = Vec::with_capacity(usize::try_from(told).unwrap_or_default());
        let read = entry.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| damaged(ZipError::Io(error)))?;
        if bytes.len() as u64 > limit {
            let (file, all) = (MAX_FILE_BYTES / 1_000_000, MAX_BYTES / 1_000_000);
            return Err(ConvertError::TooLarge(format!(
                "the archive must unpack to at most {file} MB a file and {all} MB in all, and not to much more than it \
                 is packed"
            )));
        }
        self.left -= bytes.len() as u64;
        bytes.shrink_to_fit();
        Ok(bytes)
    }
}

/// The path of an entry, if it stays within the archive.
fn checked_path(name: &str) -> Result<String, ConvertError> {
    let name = name.replace('\\', "/");
    let leaves = name.split('/').any(|part| part == "..");
    let is_drive = name.as_bytes().get(1) == Some(&b':');
    if leaves || is_drive || name.starts_with('/') || name.contains('\0') {
        return Err(ConvertError::Unreadable("the archive has a path that leads out of it".to_owned()));
    }
    if name.len() > MAX_PATH {
        return Err(ConvertError::Unreadable(format!(
            "the archive has a path of more than {MAX_PATH} bytes"
        )));
    }
    let parts = name.split('/').filter(|part| !part.is_empty() && *part != ".");
    Ok(parts.collect::<Vec<_>>().join("/"))
}

fn too_many() -> ConvertError {
    ConvertError::TooLarge(format!("the archive must have at most {MAX_ENTRIES} entries"))
}

fn damaged(error: ZipError) -> ConvertError {
    ConvertError::Unreadable(format!("the archive cannot be read: {}", reason(&error)))
}

/// What is wrong with an archive, without what only a programmer understands.
fn reason(error: &ZipError) -> &'static str {
    match error {
        ZipError::UnsupportedArchive(_) => "it is packed in a way that is not supported",
        ZipError::Io(_) | ZipError::InvalidArchive(_) => "it is damaged, or something else",
        _ => "it is damaged",
    }
}
