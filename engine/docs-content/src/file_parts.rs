//! Splits files that are too large for a single object into parts. A separate object lists the parts in order.
//!
//! Only one part is in memory while a file is stored or read. The part size is fixed, so that equal files consist of
//! equal objects.

use bytes::Bytes;
use docs_store::Hash;

use super::{ContentError, ContentResult};

/// Size of each part except the last, in bytes. A file up to this size is a single object.
pub const PART_BYTES: usize = 4 << 20;

/// The size of a hash in a list, in bytes.
const HASH_BYTES: usize = 32;

/// Serializes a list of parts.
#[must_use]
pub fn parts_list(parts: &[Hash]) -> Bytes {
    parts.iter().flat_map(|part| *part.as_bytes()).collect::<Vec<u8>>().into()
}

/// Parses a list of parts.
///
/// # Errors
/// [`ContentError::Corrupt`] if the bytes are not a list.
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
    fn part_lists_round_trip_and_invalid_ones_are_rejected() {
        let parts: Vec<Hash> = (0u8..3).map(|n| Hash::compute(&[n])).collect();
        let list = parts_list(&parts);
        assert_eq!(listed_parts(&list).expect("a list"), parts);
        for wrong in [&b""[..], &list[1..], &list[..list.len() - 1], b"{}"] {
            assert!(listed_parts(wrong).is_err(), "{} bytes", wrong.len());
        }
    }
}
