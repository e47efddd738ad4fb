//! Files of a space: what is known of their bytes, and the bytes themselves.

mod picture;

use std::{ops::Range, sync::Arc};

use bytes::Bytes;

use super::Platform;
use crate::{
    BoxFuture, Error, Result,
    content::{FileEntry, clean_file_name},
    model::{GitBlob, SpaceId},
    store::{Hash, records::SpaceRecord},
};

/// The media type of bytes nothing is known of.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// The bytes of a file as its address names them: what they are, without having read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    domain: String,
    blob: Hash,
    /// The media type that the file was stored with.
    pub content_type: String,
    /// The number of bytes.
    pub size: u64,
}

impl StoredFile {
    /// Names the bytes: other bytes have another name.
    #[must_use]
    pub const fn blob(&self) -> &Hash {
        &self.blob
    }
}

impl Platform {
    /// What a file's address, its `downloadURL`, leads to, given the sealed part of it.
    ///
    /// Only the platform makes such addresses, and it shows them to those who may read the content; nothing else of
    /// the content's storage can be reached by them. Whoever has one can use it until the space is deleted, or the key
    /// that sealed it is another. What it leads to never changes: the media type is part of what is sealed, so nobody
    /// can have the bytes sent as another type.
    ///
    /// # Errors
    /// `NotFound`, also when the space is deleted.
    pub fn find_file<'a>(&'a self, space: &'a SpaceId, sealed: &'a str) -> BoxFuture<'a, Result<StoredFile>> {
        Box::pin(async move {
            let missing = || Error::not_found("file");
            let found = self.secrets().open(&purpose(space), sealed).map_err(|_| missing())?;
            let (blob, size, content_type) = told(&found).ok_or_else(missing)?;
            let space: Option<Arc<SpaceRecord>> = self.read().await?.get(&SpaceRecord::at(space)).await?;
            let space = space.filter(|space| space.deleted_at.is_none()).ok_or_else(missing)?;
            Ok(StoredFile { domain: space.domain.clone(), blob, content_type: content_type.to_owned(), size })
        })
    }

    /// The bytes of a file, or those of a range of them; of a range beyond the end, those that there are.
    ///
    /// Objects are read whole, as only so can they be checked against their name: a range saves the way to the client,
    /// not the way from the store.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn file_bytes<'a>(
        &'a self,
        file: &'a StoredFile,
        range: Option<Range<u64>>,
    ) -> BoxFuture<'a, Result<Bytes>> {
        Box::pin(async move {
            let mut found = self.objects().get(&file.domain, &[file.blob]).await?;
            let bytes = found.pop().flatten().ok_or_else(|| Error::not_found("file"))?;
            let Some(range) = range else { return Ok(bytes) };
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
            let (from, to) = (place(range.start), place(range.end));
            Ok(bytes.slice(from..to.max(from)))
        })
    }

    /// The address of a file's bytes: the same for the same bytes, type and name in the same space, so that it can be
    /// kept.
    pub(super) fn file_url(&self, space: &SpaceId, file: &FileEntry) -> Result<String> {
        let what = format!("{} {} {}", file.blob, file.size, file.content_type);
        let sealed = self.seal_for_ever(&purpose(space), &what)?;
        Ok(self.urls().file(space, &sealed, &file.name))
    }

    /// Stores the bytes of a file; what refers to them comes later.
    pub(super) async fn store_file(&self, domain: &str, new: NewFile<'_>) -> Result<FileEntry> {
        let blob = Hash::of(&new.bytes);
        let content_type = new.content_type.map_or_else(|| media_type(new.name), str::to_owned);
        self.objects().put(domain, &[(blob, new.bytes.clone())]).await?;
        Ok(FileEntry {
            // Names that come from elsewhere are nobody to be told of.
            name: clean_file_name(new.name).into_owned(),
            size: new.bytes.len() as u64,
            dimensions: picture::dimensions(&content_type, &new.bytes),
            content_type,
            blob,
            git: new.git,
            clash: Default::default(),
        })
    }
}

/// What a file's address is sealed for: it opens in its own space only.
fn purpose(space: &SpaceId) -> String {
    format!("file of {space}")
}

/// The parts of what an address seals.
fn told(sealed: &str) -> Option<(Hash, u64, &str)> {
    let mut parts = sealed.splitn(3, ' ');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?))
}

/// A file to store.
pub(super) struct NewFile<'a> {
    pub(super) name: &'a str,
    /// Told by the name when absent.
    pub(super) content_type: Option<&'a str>,
    pub(super) bytes: Bytes,
    pub(super) git: Option<GitBlob>,
}

/// The media type that a file's name tells.
#[must_use]
pub fn media_type(name: &str) -> String {
    mime_guess::from_path(name).first_raw().unwrap_or(UNKNOWN_TYPE).to_owned()
}

/// Tells whether text is a media type, such as `image/png` or `text/plain; charset=utf-8`.
pub(super) fn is_media_type(text: &str) -> bool {
    text.parse::<mime_guess::Mime>().is_ok_and(|it| !it.subtype().as_str().is_empty())
}
