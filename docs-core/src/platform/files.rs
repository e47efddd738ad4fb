//! Files of a space: what is known of their bytes, and the bytes themselves.

use bytes::Bytes;

use super::Platform;
use crate::{
    Error, Result,
    content::FileEntry,
    model::{Dimensions, GitBlob, SpaceId},
    store::{Hash, records::SpaceRecord},
};

/// The media type of bytes nothing is known of.
const UNKNOWN_TYPE: &str = "application/octet-stream";

impl Platform {
    /// The bytes of a file: what `downloadURL` leads to, given the sealed part of it.
    ///
    /// Only the platform makes such addresses, and it shows them to those who may read the content; nothing else of
    /// the content's storage can be reached by them. Whoever has one can use it until the space is deleted, or the key
    /// that sealed it is another.
    ///
    /// # Errors
    /// `NotFound`, also when the space is deleted.
    pub async fn file_bytes(&self, space: &SpaceId, sealed: &str) -> Result<Bytes> {
        let missing = || Error::not_found("file");
        let blob = self.secrets().open(&purpose(space), sealed).map_err(|_| missing())?;
        let blob: Hash = blob.parse().map_err(|_| missing())?;
        let space: Option<std::sync::Arc<SpaceRecord>> =
            self.read().await?.get(&SpaceRecord::at(space)).await?;
        let space = space.filter(|space| space.deleted_at.is_none()).ok_or_else(missing)?;
        let mut found = self.objects().get(&space.domain, &[blob]).await?;
        found.pop().flatten().ok_or_else(missing)
    }

    /// The address of a file's bytes: the same for the same bytes in the same space, so that it can be kept.
    pub(super) fn file_url(&self, space: &SpaceId, blob: &Hash, name: &str) -> Result<String> {
        let of = Hash::of(format!("{space}!{blob}").as_bytes());
        let mut nonce = [0; 16];
        nonce.copy_from_slice(&of.as_bytes()[..16]);
        let sealed = self
            .secrets()
            .seal(&purpose(space), &blob.to_string(), uuid::Uuid::from_bytes(nonce))
            .map_err(Error::internal)?;
        Ok(self.urls().file(space, &sealed, name))
    }

    /// Stores the bytes of a file; what refers to them comes later.
    pub(super) async fn store_file(&self, domain: &str, new: NewFile<'_>) -> Result<FileEntry> {
        let blob = Hash::of(&new.bytes);
        self.objects().put(domain, &[(blob, new.bytes.clone())]).await?;
        Ok(FileEntry {
            name: new.name.to_owned(),
            content_type: new.content_type.map_or_else(|| media_type(new.name), str::to_owned),
            size: new.bytes.len() as u64,
            dimensions: dimensions(&new.bytes),
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

/// The size of a picture, read from its first bytes; `None` for what is none.
fn dimensions(bytes: &[u8]) -> Option<Dimensions> {
    let size = imagesize::blob_size(bytes).ok()?;
    #[expect(clippy::cast_precision_loss, reason = "pictures are far smaller than 2^52 pixels wide")]
    Some(Dimensions { width: size.width as f64, height: size.height as f64 })
}
