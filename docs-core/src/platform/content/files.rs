//! Files of a space: metadata and content.

mod bearer;
mod bytes;
mod picture;
mod presentation;
mod writer;

use std::{collections::HashMap, ops::Range, sync::Arc};

use ::bytes::Bytes;
use docs_macros::boxed;
use serde::{Deserialize, Serialize};

pub(in crate::platform) use self::{bearer::Bearer, bytes::FilePlace, writer::FileWriter};
pub use self::{bearer::FileReach, presentation::Disposition};
use crate::{
    Error, Result,
    content::{FileEntry, PART_BYTES, clean_file_name},
    model::{FileId, GitBlob, MediaType, SpaceId},
    platform::kernel::platform::Platform,
    store::{
        Hash,
        records::{SpaceRecord, StoredBytes},
    },
};

/// Metadata of the file at a file URL, without its content.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    domain: String,
    place: FilePlace,
    /// Media type for responses. It is derived from the stored type and is never active: types that browsers execute
    /// become `application/octet-stream`.
    pub content_type: String,
    /// Content disposition for responses.
    pub disposition: Disposition,
    /// Size in bytes.
    pub size: u64,
    /// Audience of the URL.
    pub reach: FileReach,
}

/// Sealed payload of a file URL.
#[derive(Serialize, Deserialize)]
struct FileAddress {
    #[serde(flatten)]
    place: FilePlace,
    size: u64,
    content_type: String,
    bearer: Bearer,
    /// The file id. Present only in URLs issued to visitors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<FileId>,
}

/// A file of a space, decoded from its URL.
pub(in crate::platform) struct SealedFile {
    pub(in crate::platform) id: FileId,
    place: FilePlace,
    content_type: String,
}

impl SealedFile {
    /// Returns `true` if the URL refers to the content and media type of `entry`.
    pub(in crate::platform) fn matches(&self, entry: &FileEntry) -> bool {
        self.place == FilePlace::from_entry(entry) && self.content_type == entry.content_type
    }
}

impl StoredFile {
    /// Creates the metadata of a stored file.
    pub(in crate::platform) fn new(
        domain: String,
        place: FilePlace,
        size: u64,
        stored_type: &str,
        reach: FileReach,
    ) -> Self {
        let (content_type, disposition) = presentation::presentation(stored_type);
        Self { domain, place, content_type, disposition, size, reach }
    }

    /// Hash of the file content, which identifies it.
    #[must_use]
    pub const fn blob(&self) -> &Hash {
        &self.place.blob
    }

    /// Splits a range into subranges to read sequentially. This bounds memory use and reads no part twice.
    pub fn pieces(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> + Send + 'static {
        let step = if self.place.parts.is_some() { PART_BYTES as u64 } else { u64::MAX };
        let end = range.end.min(self.size);
        let cut = move |at: u64| (at / step).saturating_add(1).saturating_mul(step).min(end);
        let first = (range.start < end).then(|| range.start..cut(range.start));
        std::iter::successors(first, move |piece| (piece.end < end).then(|| piece.end..cut(piece.end)))
    }
}

impl Platform {
    /// Finds a file by the sealed part of its `downloadURL`.
    ///
    /// Only the platform creates such URLs, and returns them to callers who may read the content. Each use checks
    /// access again. A member's URL expires with the membership and with the space; members also read earlier
    /// revisions. A site visitor's URL expires as soon as the live content does not show them the file: when the file
    /// is deleted or replaced, when no page visible to them references it, or when the site, its share link or its
    /// signing key is revoked. The media type is sealed into the URL, so a client cannot have the file served as
    /// another type.
    ///
    /// # Errors
    /// `NotFound`, also if the recipient of the URL may no longer read the file.
    #[boxed('a)]
    pub async fn find_file<'a>(&'a self, space: &'a SpaceId, sealed: &'a str) -> Result<StoredFile> {
        let missing = || Error::not_found("file");
        let found = self.secrets().open(&purpose(space), sealed).map_err(|_| missing())?;
        let address: FileAddress = serde_json::from_str(&found).map_err(|_| missing())?;
        let FileAddress { place, size, content_type, bearer, file } = address;
        let tx = self.read().await?;
        if let Bearer::Visitor(visitor) = &bearer {
            let file = SealedFile { id: file.ok_or_else(missing)?, place, content_type };
            let found = self.bearer_content(&tx, visitor, space).await?;
            // Do not hold a snapshot while objects are read.
            drop(tx);
            let (at, reach) = found.ok_or_else(missing)?;
            if !self.is_file_visible(&at, &file).await? {
                return Err(missing());
            }
            let SealedFile { place, content_type, .. } = file;
            return Ok(StoredFile::new(at.space().domain.clone(), place, size, &content_type, reach));
        }
        if !self.reaches(&tx, &bearer, space).await? {
            return Err(missing());
        }
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(space)).await?;
        let space = space.filter(|space| space.deleted_at.is_none()).ok_or_else(missing)?;
        Ok(StoredFile::new(space.domain.clone(), place, size, &content_type, FileReach::Bearer))
    }

    /// Reads the content of a file, or a range of it. A range beyond the end is truncated.
    ///
    /// Objects are read whole, because only whole objects can be verified against their hash. For a multi-part file,
    /// only the parts that overlap the range are read. Use [`StoredFile::pieces`] to read large ranges.
    #[boxed('a)]
    pub async fn file_bytes<'a>(&'a self, file: &'a StoredFile, range: Option<Range<u64>>) -> Result<Bytes> {
        let range = range.unwrap_or(0..file.size);
        let found = file.place.read(self.objects(), &file.domain, range).await?;
        found.ok_or_else(|| Error::not_found("file"))
    }

    /// Returns the URL of a file for a member. It is stable for the same content, type and name in the same space, so
    /// clients can cache it.
    pub(in crate::platform) fn file_url(
        &self,
        space: &SpaceId,
        file: &FileEntry,
        bearer: &Bearer,
    ) -> Result<String> {
        self.sealed_url(space, None, file, bearer)
    }

    /// Returns the URL of a file for a caller. A visitor's URL contains the file id, so that each use can check that
    /// the site still shows the file.
    pub(in crate::platform) fn shown_file_url(
        &self,
        space: &SpaceId,
        id: &FileId,
        file: &FileEntry,
        bearer: &Bearer,
    ) -> Result<String> {
        let id = matches!(bearer, Bearer::Visitor(_)).then_some(id);
        self.sealed_url(space, id, file, bearer)
    }

    fn sealed_url(
        &self,
        space: &SpaceId,
        id: Option<&FileId>,
        file: &FileEntry,
        bearer: &Bearer,
    ) -> Result<String> {
        let address = FileAddress {
            place: FilePlace::from_entry(file),
            size: file.size,
            content_type: file.content_type.clone(),
            bearer: bearer.clone(),
            file: id.cloned(),
        };
        let address = serde_json::to_string(&address).map_err(Error::internal)?;
        let sealed = self.seal_deterministic(&purpose(space), &address)?;
        Ok(self.urls().file(space, &sealed, &file.name))
    }

    /// Stores the content of a file. The caller must reference it afterwards.
    pub(in crate::platform) async fn store_file(&self, domain: &str, new: NewFile<'_>) -> Result<FileEntry> {
        let content_type = new.media_type();
        let mut writer =
            FileWriter::new(Some((Arc::clone(&self.inner.objects), domain.to_owned())), &content_type);
        writer.write(new.bytes).await?;
        let written = writer.finish().await?;
        // Names from external sources are sanitized instead of rejected: there is no caller to correct them.
        Ok(written.into_entry(clean_file_name(new.name).into_owned(), content_type, new.git))
    }

    /// Stores the content of several files and returns their entries in order. Content that several files share is
    /// hashed and stored once, and small contents are stored in one call. The caller must reference them afterwards.
    pub(in crate::platform) async fn store_files(
        &self,
        domain: &str,
        new: Vec<SharedContent<'_>>,
    ) -> Result<Vec<FileEntry>> {
        let (mut entries, mut small) = (Vec::with_capacity(new.len()), Vec::new());
        for SharedContent { bytes, files } in new {
            let start = bytes.slice(..bytes.len().min(PART_BYTES));
            let stored = if bytes.len() > PART_BYTES {
                let place = Some((Arc::clone(&self.inner.objects), domain.to_owned()));
                let mut writer = FileWriter::new(place, "");
                writer.write(bytes).await?;
                writer.finish().await?.to_stored_bytes()
            } else {
                // A file that fits in one part is a single object.
                let blob = Hash::compute(&bytes);
                let size = bytes.len() as u64;
                small.push((blob, bytes));
                StoredBytes { blob, parts: None, size }
            };
            let mut dimensions = HashMap::new();
            entries.extend(files.into_iter().map(|(name, git)| {
                let content_type = media_type(name);
                let measured = match dimensions.get(&content_type) {
                    Some(measured) => *measured,
                    None => {
                        let measured = picture::dimensions(&content_type, &start);
                        *dimensions.entry(content_type.clone()).or_insert(measured)
                    }
                };
                FileEntry {
                    name: clean_file_name(name).into_owned(),
                    size: stored.size,
                    dimensions: measured,
                    content_type,
                    blob: stored.blob,
                    parts: stored.parts,
                    git,
                    clash: Default::default(),
                }
            }));
        }
        self.inner.objects.put(domain, &small).await?;
        Ok(entries)
    }
}

/// The content of one or more files.
pub(in crate::platform) struct SharedContent<'a> {
    pub(in crate::platform) bytes: Bytes,
    /// The names of the files, which determine their types, and their locations in Git.
    pub(in crate::platform) files: Vec<(&'a str, Option<GitBlob>)>,
}

/// Sealing purpose of a file URL. It binds the URL to its space.
fn purpose(space: &SpaceId) -> String {
    format!("file of {space}")
}

pub(in crate::platform) struct NewFile<'a> {
    pub(in crate::platform) name: &'a str,
    /// Derived from the name if absent.
    pub(in crate::platform) content_type: Option<MediaType>,
    pub(in crate::platform) bytes: Bytes,
    pub(in crate::platform) git: Option<GitBlob>,
}

impl NewFile<'_> {
    fn media_type(&self) -> String {
        self.content_type.as_ref().map_or_else(|| media_type(self.name), MediaType::to_string)
    }
}

/// Returns the media type for a file name extension, or `application/octet-stream` if unknown.
#[must_use]
pub fn media_type(name: &str) -> String {
    let guessed = mime_guess::from_path(name).first_raw().and_then(|guessed| guessed.parse().ok());
    guessed.unwrap_or_else(MediaType::octet_stream).to_string()
}
