//! A PDF file in chunks among the objects of a space: written while it is typeset, read while it is sent.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    model::UserId,
    platform::kernel::platform::Platform,
    ports::{PdfError, PdfSink},
    store::{Hash, StoreError},
};

/// The size of a chunk in bytes. The last one may be shorter.
const PIECE_BYTES: usize = 1 << 20;

/// A PDF file without its bytes, which [`Platform::pdf_piece`] reads.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdfFile {
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// A hash of the content.
    pub tag: Hash,
    pub(super) domain: String,
    pub(super) pieces: Arc<[Hash]>,
}

/// The stored description of a PDF file: its chunks, and the inputs that are not part of the job.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    size: u64,
    pieces: Arc<[Hash]>,
    /// The users named on the pages, including users who are not members of the organization.
    pub(super) people: Vec<UserId>,
    /// The hash of their display names at the time of typesetting.
    pub(super) names: Hash,
}

impl Manifest {
    pub(super) fn file(self, name: String, domain: &str) -> PdfFile {
        let all: String = self.pieces.iter().map(Hash::to_string).collect();
        let tag = Hash::compute(all.as_bytes());
        PdfFile { name, size: self.size, tag, domain: domain.to_owned(), pieces: self.pieces }
    }
}

/// Returns the chunk that contains a byte and the offset in it, or `None` after the last chunk.
pub(super) fn locate_byte(pieces: &[Hash], at: u64) -> Option<(Hash, usize)> {
    let at = usize::try_from(at).ok()?;
    pieces.get(at / PIECE_BYTES).map(|piece| (*piece, at % PIECE_BYTES))
}

/// A PDF file during typesetting. At most one chunk of it is in memory.
pub(super) struct Pieces<'p> {
    platform: &'p Platform,
    domain: &'p str,
    next: BytesMut,
    size: u64,
    stored: Vec<Hash>,
}

impl<'p> Pieces<'p> {
    pub(super) fn new(platform: &'p Platform, domain: &'p str) -> Self {
        Self { platform, domain, next: BytesMut::new(), size: 0, stored: Vec::new() }
    }

    async fn store(&mut self) -> std::result::Result<(), StoreError> {
        let piece = self.next.split().freeze();
        let hash = Hash::compute(&piece);
        self.size += piece.len() as u64;
        self.platform.objects().put(self.domain, &[(hash, piece)]).await?;
        self.stored.push(hash);
        Ok(())
    }

    /// Stores the last chunk. Returns the hash of the manifest and the size of the file.
    pub(super) async fn finish(mut self, people: Vec<UserId>, names: Hash) -> Result<(Hash, u64)> {
        if !self.next.is_empty() {
            self.store().await?;
        }
        let size = self.size;
        let manifest = Manifest { size, pieces: self.stored.into(), people, names };
        let manifest = Bytes::from(serde_json::to_vec(&manifest).map_err(Error::internal)?);
        let hash = Hash::compute(&manifest);
        self.platform.objects().put(self.domain, &[(hash, manifest)]).await?;
        Ok((hash, size))
    }
}

#[async_trait]
impl PdfSink for Pieces<'_> {
    async fn write(&mut self, mut bytes: Bytes) -> std::result::Result<(), PdfError> {
        while !bytes.is_empty() {
            let room = PIECE_BYTES - self.next.len();
            self.next.extend_from_slice(&bytes.split_to(room.min(bytes.len())));
            if self.next.len() == PIECE_BYTES {
                self.store().await.map_err(|error| match error {
                    StoreError::Unavailable(_) => PdfError::Unavailable(error.to_string()),
                    error => PdfError::Failed(error.to_string()),
                })?;
            }
        }
        Ok(())
    }
}
