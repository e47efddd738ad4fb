//! Random secrets issued by the platform.

use crate::{Error, Result, model::BASE32, platform::kernel::platform::Platform, ports::Ids, store::Hash};

/// A single-use 256-bit secret.
pub(in crate::platform) struct Secret([u8; 32]);

impl Secret {
    pub(in crate::platform) fn draw(ids: &dyn Ids, context: &'static str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        // An id has 122 random bits, so three of them exceed the size of the secret.
        for _ in 0..3 {
            hasher.update(ids.next().as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// Encodes the secret as a URL path segment.
    pub(in crate::platform) fn as_segment(&self) -> String {
        BASE32.encode(&self.0)
    }

    /// Encodes the secret in hexadecimal, for use in configuration files.
    pub(in crate::platform) fn as_hex(&self) -> String {
        data_encoding::HEXLOWER.encode(&self.0)
    }
}

impl Platform {
    /// Seals a name deterministically. The same name always gives the same result, so the result may be cached
    /// indefinitely.
    pub(in crate::platform) fn seal_deterministic(&self, purpose: &str, name: &str) -> Result<String> {
        // Different names have different nonces unless the first halves of their hashes collide.
        let of = Hash::compute(format!("{purpose}!{name}").as_bytes());
        let mut nonce = [0; 16];
        nonce.copy_from_slice(&of.as_bytes()[..16]);
        self.secrets().seal(purpose, name, uuid::Uuid::from_bytes(nonce)).map_err(Error::internal)
    }
}
