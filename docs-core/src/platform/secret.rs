//! Secrets that the platform draws for others to keep.

use crate::{model::BASE32, ports::Ids};

/// A secret that nobody can guess: 256 bits, drawn for one use.
pub(super) struct Secret([u8; 32]);

impl Secret {
    pub(super) fn draw(ids: &dyn Ids, context: &'static str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        // 122 bits of an id are random, so three hold more than the secret takes.
        for _ in 0..3 {
            hasher.update(ids.next().as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// The secret as a segment of an address.
    pub(super) fn as_segment(&self) -> String {
        BASE32.encode(&self.0)
    }

    /// The secret as people copy it into their programs.
    pub(super) fn as_hex(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.0)
    }
}
