//! Files that are too large for one object: their bytes lie in parts, and a list names these in their order.
//!
//! So whoever stores or reads a file holds a part of it at a time. Parts are cut at the same places whoever stores the
//! file, so that equal bytes are equal objects.

use bytes::Bytes;
use docs_store::Hash;

use super::{ContentError, ContentResult};

/// The bytes of each part but the last. A file of at most so many bytes is one object.
pub const PART_BYTES: usize = 4 << 20;

/// The bytes of one hash in a list.
const HASH_BYTES: usize = 32;

/// The list of these parts, as an object.
#[must_use]
pub fn parts_list(parts: &[Hash]) -> Bytes {
    parts.iter().flat_map(|part| *part.as_bytes()).collect::<Vec<u8>>().into()
}

/// The parts that a list names.
///
/// # Errors
/// [`ContentError::Corrupt`] for bytes that are no list.
pub fn listed_parts(list: &[u8]) -> ContentResult<Vec<Hash>> {
    let (parts, rest) = list.as_chunks::<HASH_BYTES>();
    if parts.is_empty() || !rest.is_empty() {
        return Err(ContentError::Corrupt("a list of the parts of a file does not parse".to_owned()));
    }
    Ok(parts.iter().map(|part| Hash::from_bytes(*part)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_parts_is_read_as_it_was_written_and_nothing_else_is_one() {
        let parts: Vec<Hash> = (0u8..3).map(|n| Hash::of(&[n])).collect();
        let list = parts_list(&parts);
        assert_eq!(listed_parts(&list).expect("a list"), parts);
        for wrong in [&b""[..], &list[1..], &list[..list.len() - 1], b"{}"] {
            assert!(listed_parts(wrong).is_err(), "{} bytes", wrong.len());
        }
    }
}
