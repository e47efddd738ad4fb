//! Encryption of secrets at rest: [`Secrets`].

use chacha20poly1305::{
    ChaCha20Poly1305, Key, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use docs_model::BASE32;

use super::Ids;

/// Encrypts secrets that must not be stored in plain text, for example the credentials of a Git URL for a later job.
pub trait Secrets: Send + Sync + 'static {
    /// Encrypts a secret for a purpose. A `nonce` must not be reused.
    ///
    /// # Errors
    /// [`NotSealed`] if the secret cannot be encrypted.
    fn seal(&self, purpose: &str, secret: &str, nonce: uuid::Uuid) -> Result<String, NotSealed>;

    /// Decrypts a secret that was encrypted for the same purpose.
    ///
    /// # Errors
    /// [`NotSealed`] if it was not encrypted with this key for this purpose.
    fn open(&self, purpose: &str, sealed: &str) -> Result<String, NotSealed>;
}

/// The error for a failed encryption, or for a ciphertext that was not created with this key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not sealed with this server's key")]
pub struct NotSealed;

/// Encryption with a single key: ChaCha20-Poly1305 (RFC 8439), with the purpose as associated data.
pub struct SealingKey(ChaCha20Poly1305);

impl std::fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealingKey")
    }
}

impl SealingKey {
    /// Creates a key from 32 bytes. All servers that share a store need the same key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(ChaCha20Poly1305::new(&Key::from(*key)))
    }

    /// Creates a random key for the lifetime of this process. Only suitable for a store that does not outlive the
    /// process.
    #[must_use]
    pub fn ephemeral(ids: &dyn Ids) -> Self {
        Self::new(&Self::draw(ids))
    }

    /// Derives a key from a secret of the operator, for example from an environment variable.
    ///
    /// The secret is hashed without key stretching, so it must be random with at least 128 bits of entropy.
    #[must_use]
    pub fn from_secret(secret: &str) -> Self {
        Self::new(&blake3::derive_key("docs-platform sealing key of an operator's secret", secret.as_bytes()))
    }

    /// Generates the bytes of a new key.
    #[must_use]
    pub fn draw(ids: &dyn Ids) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("docs-platform sealing key");
        // An id has 122 random bits, so three ids have more entropy than the key needs.
        for _ in 0..3 {
            hasher.update(ids.next().as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

const NONCE_BYTES: usize = 12;

impl Secrets for SealingKey {
    fn seal(&self, purpose: &str, secret: &str, nonce: uuid::Uuid) -> Result<String, NotSealed> {
        let hash = blake3::hash(nonce.as_bytes());
        let nonce: &[u8; NONCE_BYTES] = hash.as_bytes().first_chunk().ok_or(NotSealed)?;
        let payload = Payload { msg: secret.as_bytes(), aad: purpose.as_bytes() };
        let sealed = self.0.encrypt(&Nonce::from(*nonce), payload).map_err(|_| NotSealed)?;
        Ok(BASE32.encode(&[&nonce[..], &sealed[..]].concat()))
    }

    fn open(&self, purpose: &str, sealed: &str) -> Result<String, NotSealed> {
        let bytes = BASE32.decode(sealed.as_bytes()).map_err(|_| NotSealed)?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or(NotSealed)?;
        let payload = Payload { msg: sealed, aad: purpose.as_bytes() };
        let secret = self.0.decrypt(&Nonce::from(*nonce), payload).map_err(|_| NotSealed)?;
        String::from_utf8(secret).map_err(|_| NotSealed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RandomIds;

    #[test]
    fn a_secret_opens_only_with_its_key_and_for_its_purpose() {
        let key = SealingKey::new(&[7; 32]);
        let sealed = key.seal("job", "hunter2", RandomIds.next()).expect("seals");
        assert!(!sealed.contains("hunter2"));
        assert_eq!(key.open("job", &sealed).as_deref(), Ok("hunter2"));
        assert_eq!(key.open("other", &sealed), Err(NotSealed));
        assert_eq!(SealingKey::new(&[8; 32]).open("job", &sealed), Err(NotSealed));
        for damaged in ["", "a", "!", &sealed[..sealed.len() - 8], &format!("aaaaaaaa{sealed}")] {
            assert_eq!(key.open("job", damaged), Err(NotSealed));
        }
    }
}
