//! Streaming file writer that buffers one part at a time.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::picture;
use crate::{
    Result,
    content::{FileEntry, PART_BYTES, parts_list},
    model::{Dimensions, GitBlob},
    store::{Hash, Objects, records::StoredBytes},
};

/// Stores the content of a file as one object or in parts.
pub(in crate::platform) struct FileWriter {
    /// The object store and domain, or `None` to compute only the hash.
    place: Option<(Arc<dyn Objects>, String)>,
    content_type: String,
    whole: blake3::Hasher,
    size: u64,
    /// The incomplete part.
    part: BytesMut,
    parts: Vec<Hash>,
    /// Image dimensions, known after the first part.
    dimensions: Option<Dimensions>,
}

/// A file whose content is stored.
pub(in crate::platform) struct WrittenFile {
    blob: Hash,
    parts: Option<Hash>,
    size: u64,
    dimensions: Option<Dimensions>,
}

impl FileWriter {
    pub(in crate::platform) fn new(place: Option<(Arc<dyn Objects>, String)>, content_type: &str) -> Self {
        Self {
            place,
            content_type: content_type.to_owned(),
            whole: blake3::Hasher::new(),
            size: 0,
            part: BytesMut::new(),
            parts: Vec::new(),
            dimensions: None,
        }
    }

    /// Number of bytes written so far.
    pub(in crate::platform) const fn size(&self) -> u64 {
        self.size
    }

    /// Hash of the bytes written so far.
    pub(in crate::platform) fn blob(&self) -> Hash {
        Hash::from_bytes(*self.whole.finalize().as_bytes())
    }

    /// Appends bytes.
    pub(in crate::platform) async fn write(&mut self, mut bytes: Bytes) -> Result<()> {
        self.whole.update(&bytes);
        self.size += bytes.len() as u64;
        if self.place.is_none() {
            return Ok(());
        }
        while !bytes.is_empty() {
            if self.part.is_empty() && bytes.len() >= PART_BYTES {
                // A complete part in the input is stored without a copy.
                let part = bytes.split_to(PART_BYTES);
                self.store_part(part).await?;
                continue;
            }
            let taken = bytes.split_to(bytes.len().min(PART_BYTES - self.part.len()));
            self.part.extend_from_slice(&taken);
            if self.part.len() == PART_BYTES {
                let part = self.part.split().freeze();
                self.store_part(part).await?;
            }
        }
        Ok(())
    }

    async fn store_part(&mut self, part: Bytes) -> Result<()> {
        let hash = Hash::compute(&part);
        if self.parts.is_empty() {
            self.dimensions = picture::dimensions(&self.content_type, &part);
        }
        if let Some((objects, domain)) = &self.place {
            objects.put(domain, &[(hash, part)]).await?;
        }
        self.parts.push(hash);
        Ok(())
    }

    /// Stores the remaining bytes.
    pub(in crate::platform) async fn finish(mut self) -> Result<WrittenFile> {
        let blob = self.blob();
        if !self.part.is_empty() || self.parts.is_empty() {
            let rest = self.part.split().freeze();
            self.store_part(rest).await?;
        }
        let parts = match (&self.place, self.parts.as_slice()) {
            // A single-part file is stored as that object, without a parts list.
            (None, _) | (_, [_]) => None,
            (Some((objects, domain)), parts) => {
                let list = parts_list(parts);
                let hash = Hash::compute(&list);
                objects.put(domain, &[(hash, list)]).await?;
                Some(hash)
            }
        };
        Ok(WrittenFile { blob, parts, size: self.size, dimensions: self.dimensions })
    }
}

impl WrittenFile {
    /// Returns the reference to the content for records.
    pub(in crate::platform) const fn to_stored_bytes(&self) -> StoredBytes {
        StoredBytes { blob: self.blob, parts: self.parts, size: self.size }
    }

    /// Converts the file to a content entry.
    pub(in crate::platform) fn into_entry(
        self,
        name: String,
        content_type: String,
        git: Option<GitBlob>,
    ) -> FileEntry {
        let Self { blob, parts, size, dimensions } = self;
        FileEntry { name, content_type, size, dimensions, blob, parts, git, clash: Default::default() }
    }
}
