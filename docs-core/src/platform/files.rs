//! Files of a space: what is known of their bytes, and the bytes themselves.

mod bearer;
mod bytes;
mod picture;
mod presentation;
mod upload;
mod writer;

use std::{ops::Range, sync::Arc};

use ::bytes::Bytes;
use serde::{Deserialize, Serialize};

pub(in crate::platform) use bearer::Bearer;
pub use bearer::FileReach;
pub(in crate::platform) use bytes::FilePlace;
pub use presentation::Disposition;
pub use upload::{FileUpload, NewUpload};

pub(in crate::platform) use writer::FileWriter;

use super::Platform;
use crate::{
    BoxFuture, Error, Result,
    content::{FileEntry, PART_BYTES, clean_file_name},
    model::{FileId, GitBlob, MediaType, SpaceId},
    store::{Hash, records::SpaceRecord},
};

/// The bytes of a file as its address names them: what they are, without having read them.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    domain: String,
    place: FilePlace,
    /// The media type to answer with. It is rebuilt from the stored type and never active content: types that browsers
    /// run become `application/octet-stream`.
    pub content_type: String,
    /// The presentation to answer with.
    pub disposition: Disposition,
    /// The number of bytes.
    pub size: u64,
    /// Who may use the address.
    pub reach: FileReach,
}

/// What the address of a file seals.
#[derive(Serialize, Deserialize)]
struct Address {
    #[serde(flatten)]
    place: FilePlace,
    size: u64,
    content_type: String,
    bearer: Bearer,
    /// The file, in the address of a visitor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<FileId>,
}

/// A file of a space, as its address names it.
pub(in crate::platform) struct SealedFile {
    pub(in crate::platform) id: FileId,
    place: FilePlace,
    content_type: String,
}

impl SealedFile {
    /// Returns `true` if the address leads to the bytes and the type that the file has in some content.
    pub(in crate::platform) fn is_of(&self, entry: &FileEntry) -> bool {
        self.place == FilePlace::of(entry) && self.content_type == entry.content_type
    }
}

impl StoredFile {
    /// The bytes at a place, stored with a media type.
    pub(in crate::platform) fn new(
        domain: String,
        (place, size): (FilePlace, u64),
        stored_type: &str,
        reach: FileReach,
    ) -> Self {
        let (content_type, disposition) = presentation::presentation(stored_type);
        Self { domain, place, content_type, disposition, size, reach }
    }

    /// Names the bytes: other bytes have another name.
    #[must_use]
    pub const fn blob(&self) -> &Hash {
        &self.place.blob
    }

    /// A range of the bytes as the ranges in which they are best read, one after the other: so that little is held at a
    /// time, and nothing is read twice.
    pub fn pieces(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> + Send + 'static {
        let step = if self.place.parts.is_some() { PART_BYTES as u64 } else { u64::MAX };
        let end = range.end.min(self.size);
        let cut = move |at: u64| (at / step).saturating_add(1).saturating_mul(step).min(end);
        let first = (range.start < end).then(|| range.start..cut(range.start));
        std::iter::successors(first, move |piece| (piece.end < end).then(|| piece.end..cut(piece.end)))
    }
}

impl Platform {
    /// Finds the file that a `downloadURL` leads to, by the sealed part of that address.
    ///
    /// Only the platform makes such addresses, and shows them to those who may read the content. Each use checks that
    /// the caller whom the address was made for still may. The address of a member ends with the membership and with
    /// the space; members also read earlier revisions. The address of a visitor of a site ends as soon as the live
    /// content does not show them the file: when the file is deleted or replaced, when no page that they see references
    /// it, or when the site, its share link or its signing key is taken back. The media type is part of what is sealed,
    /// so nobody can have the bytes sent as another type.
    ///
    /// # Errors
    /// `NotFound`, also when the caller whom the address was made for may not read the file any more.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SpaceId};
    /// # async fn example(platform: &Platform, space: &SpaceId, sealed: &str) -> Result<()> {
    /// let file = platform.find_file(space, sealed).await?;
    /// println!("{}, {} bytes", file.content_type, file.size);
    /// # Ok(())
    /// # }
    /// ```
    pub fn find_file<'a>(&'a self, space: &'a SpaceId, sealed: &'a str) -> BoxFuture<'a, Result<StoredFile>> {
        Box::pin(async move {
            let missing = || Error::not_found("file");
            let found = self.secrets().open(&purpose(space), sealed).map_err(|_| missing())?;
            let address: Address = serde_json::from_str(&found).map_err(|_| missing())?;
            let Address { place, size, content_type, bearer, file } = address;
            let tx = self.read().await?;
            if let Bearer::Visitor(visitor) = &bearer {
                let file = SealedFile { id: file.ok_or_else(missing)?, place, content_type };
                let found = self.content_of_bearer(&tx, visitor, space).await?;
                // No snapshot is held while objects are read.
                drop(tx);
                let (at, reach) = found.ok_or_else(missing)?;
                if !self.still_shows(&at, &file).await? {
                    return Err(missing());
                }
                let SealedFile { place, content_type, .. } = file;
                return Ok(StoredFile::new(at.space().domain.clone(), (place, size), &content_type, reach));
            }
            if !self.reaches(&tx, &bearer, space).await? {
                return Err(missing());
            }
            let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(space)).await?;
            let space = space.filter(|space| space.deleted_at.is_none()).ok_or_else(missing)?;
            Ok(StoredFile::new(space.domain.clone(), (place, size), &content_type, FileReach::Bearer))
        })
    }

    /// Reads the bytes of a file, or a range of them; of a range that goes beyond the end, those that there are.
    ///
    /// Objects are read whole, as only so can they be checked against their name: of a file that lies in parts, those
    /// that have something of the range. [`StoredFile::pieces`] tells how to read much of it.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::SpaceId};
    /// # async fn example(platform: &Platform, space: &SpaceId, sealed: &str) -> Result<()> {
    /// let file = platform.find_file(space, sealed).await?;
    /// let beginning = platform.file_bytes(&file, Some(0..1024)).await?;
    /// assert!(beginning.len() <= 1024);
    /// # Ok(())
    /// # }
    /// ```
    pub fn file_bytes<'a>(
        &'a self,
        file: &'a StoredFile,
        range: Option<Range<u64>>,
    ) -> BoxFuture<'a, Result<Bytes>> {
        Box::pin(async move {
            let range = range.unwrap_or(0..file.size);
            let found = file.place.read(self.objects(), &file.domain, range).await?;
            found.ok_or_else(|| Error::not_found("file"))
        })
    }

    /// The address of a file for a member: the same for the same bytes, type and name in the same space, so that
    /// clients can store it.
    pub(super) fn file_url(&self, space: &SpaceId, file: &FileEntry, bearer: &Bearer) -> Result<String> {
        self.sealed_url(space, (None, file), bearer)
    }

    /// The address of a file of the content for a caller. For a visitor it names the file, so that each use can check
    /// that the site still shows it.
    pub(super) fn shown_file_url(
        &self,
        space: &SpaceId,
        (id, file): (&FileId, &FileEntry),
        bearer: &Bearer,
    ) -> Result<String> {
        let id = matches!(bearer, Bearer::Visitor(_)).then_some(id);
        self.sealed_url(space, (id, file), bearer)
    }

    fn sealed_url(
        &self,
        space: &SpaceId,
        (id, file): (Option<&FileId>, &FileEntry),
        bearer: &Bearer,
    ) -> Result<String> {
        let address = Address {
            place: FilePlace::of(file),
            size: file.size,
            content_type: file.content_type.clone(),
            bearer: bearer.clone(),
            file: id.cloned(),
        };
        let address = serde_json::to_string(&address).map_err(Error::internal)?;
        let sealed = self.seal_for_ever(&purpose(space), &address)?;
        Ok(self.urls().file(space, &sealed, &file.name))
    }

    /// Stores the bytes of a file; what refers to them comes later.
    pub(super) async fn store_file(&self, domain: &str, new: NewFile<'_>) -> Result<FileEntry> {
        let content_type = new.media_type();
        let mut writer =
            FileWriter::new(Some((Arc::clone(&self.inner.objects), domain.to_owned())), &content_type);
        writer.write(new.bytes).await?;
        let written = writer.finish().await?;
        // Names that come from elsewhere are nobody to be told of.
        Ok(written.entry(clean_file_name(new.name).into_owned(), content_type, new.git))
    }

    /// Stores the bytes of files, small ones at once; answers them in their order. What refers to them comes later.
    pub(super) async fn store_files(&self, domain: &str, new: Vec<NewFile<'_>>) -> Result<Vec<FileEntry>> {
        let (mut entries, mut small) = (Vec::with_capacity(new.len()), Vec::new());
        for file in new {
            if file.bytes.len() > PART_BYTES {
                entries.push(self.store_file(domain, file).await?);
                continue;
            }
            // What fits into one part is one object.
            let (blob, content_type) = (Hash::of(&file.bytes), file.media_type());
            entries.push(FileEntry {
                name: clean_file_name(file.name).into_owned(),
                size: file.bytes.len() as u64,
                dimensions: picture::dimensions(&content_type, &file.bytes),
                content_type,
                blob,
                parts: None,
                git: file.git,
                clash: Default::default(),
            });
            small.push((blob, file.bytes));
        }
        self.inner.objects.put(domain, &small).await?;
        Ok(entries)
    }
}

/// What a file's address is sealed for: it opens in its own space only.
fn purpose(space: &SpaceId) -> String {
    format!("file of {space}")
}

/// A file to store.
pub(super) struct NewFile<'a> {
    pub(super) name: &'a str,
    /// Derived from the name when absent.
    pub(super) content_type: Option<MediaType>,
    pub(super) bytes: Bytes,
    pub(super) git: Option<GitBlob>,
}

impl NewFile<'_> {
    fn media_type(&self) -> String {
        self.content_type.as_ref().map_or_else(|| media_type(self.name), MediaType::to_string)
    }
}

/// The media type of a file by the extension of its name; `application/octet-stream` for unknown ones.
#[must_use]
pub fn media_type(name: &str) -> String {
    let guessed = mime_guess::from_path(name).first_raw().and_then(|guessed| guessed.parse().ok());
    guessed.unwrap_or_else(MediaType::octet_stream).to_string()
}
