//! Location of file content: one object, or a list of parts.

use std::ops::Range;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    content::{FileEntry, PART_BYTES, listed_parts},
    store::{Hash, Objects, StoreError, records::StoredBytes},
};

/// Number of parts read per call.
const MAX_PARTS_PER_READ: usize = 2;

/// Hashes of the objects that contain a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::platform) struct FilePlace {
    /// Hash of the whole content. Without parts, it is also the hash of the object.
    pub(in crate::platform) blob: Hash,
    /// The object that lists the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::platform) parts: Option<Hash>,
}

impl FilePlace {
    pub(in crate::platform) const fn from_entry(file: &FileEntry) -> Self {
        Self { blob: file.blob, parts: file.parts }
    }

    pub(in crate::platform) const fn from_stored(bytes: &StoredBytes) -> Self {
        Self { blob: bytes.blob, parts: bytes.parts }
    }

    /// Reads a range of the content. A range beyond the end is truncated. Returns `None` if the file does not exist.
    pub(in crate::platform) async fn read(
        &self,
        objects: &dyn Objects,
        domain: &str,
        range: Range<u64>,
    ) -> Result<Option<Bytes>> {
        let one = async |hash| Ok::<_, Error>(objects.get(domain, &[hash]).await?.pop().flatten());
        let Some(list) = self.parts else {
            return Ok(one(self.blob).await?.map(|bytes| overlap(&bytes, 0, &range)));
        };
        let Some(list) = one(list).await? else { return Ok(None) };
        let parts = listed_parts(&list)?;
        let place = |at: u64| usize::try_from(at / PART_BYTES as u64).unwrap_or(usize::MAX).min(parts.len());
        let first = place(range.start);
        let last = place(range.end.saturating_sub(1)).saturating_add(1).min(parts.len());
        let wanted = parts.get(first..last.max(first)).unwrap_or_default();
        let mut begins = first as u64 * PART_BYTES as u64;
        let mut found: Vec<Bytes> = Vec::with_capacity(wanted.len());
        for some in wanted.chunks(MAX_PARTS_PER_READ) {
            for (part, name) in objects.get(domain, some).await?.into_iter().zip(some) {
                let gone =
                    || StoreError::Corrupt(format!("the part {name} of file {} no longer exists", self.blob));
                let part = part.ok_or_else(gone)?;
                found.push(overlap(&part, begins, &range));
                begins += part.len() as u64;
            }
        }
        Ok(Some(concat(found)))
    }
}

/// Returns the overlap of a range with a part that begins at file offset `begins`.
fn overlap(bytes: &Bytes, begins: u64, range: &Range<u64>) -> Bytes {
    let within = |at: u64| usize::try_from(at.saturating_sub(begins)).unwrap_or(usize::MAX).min(bytes.len());
    let (from, to) = (within(range.start), within(range.end));
    bytes.slice(from..to.max(from))
}

/// Concatenates parts. A single part is not copied.
fn concat(mut parts: Vec<Bytes>) -> Bytes {
    if parts.len() < 2 {
        return parts.pop().unwrap_or_default();
    }
    let mut all = BytesMut::with_capacity(parts.iter().map(Bytes::len).sum());
    for part in parts {
        all.extend_from_slice(&part);
    }
    all.freeze()
}
