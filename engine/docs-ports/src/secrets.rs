//! Secrets at rest: [`Secrets`].

use chacha20poly1305::{
    ChaCha20Poly1305, Key, KeyInit, Nonce,
    aead::{Aead, Payload},
};
use docs_model::BASE32;

use super::Ids;

/// Seals what must not lie in the store in the open, such as credentials of a Git URL that a job needs later.
pub trait Secrets: Send + Sync + 'static {
    /// Seals a secret for one purpose. A `nonce` is used for one secret only.
    ///
    /// # Errors
    /// [`NotSealed`] when the secret cannot be sealed.
    fn seal(&self, purpose: &str, secret: &str, nonce: uuid::Uuid) -> Result<String, NotSealed>;

    /// Opens what was sealed for the same purpose.
    ///
    /// # Errors
    /// [`NotSealed`] when it was not sealed with this key for this purpose.
    fn open(&self, purpose: &str, sealed: &str) -> Result<String, NotSealed>;
}

/// A secret cannot be sealed, or what is to be opened was not sealed with this key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not sealed with this server's key")]
pub struct NotSealed;

/// Seals with one key: ChaCha20-Poly1305 (RFC 8439), the purpose as associated data.
pub struct SealingKey(ChaCha20Poly1305);

impl std::fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealingKey")
    }
}

impl SealingKey {
    /// A key of 32 bytes. All servers on one store need the same.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(ChaCha20Poly1305::new(&Key::from(*key)))
    }

    /// A key for the life of this process: right for a store that lives no longer.
    #[must_use]
    pub fn of_process(ids: &dyn Ids) -> Self {
        Self::new(&Self::draw(ids))
    }

    /// A key from a text that only the operator knows, such as one from the environment.
    ///
    /// The text is hashed, not stretched: it should be random, with 128 bits or more.
    #[must_use]
    pub fn of_secret(secret: &str) -> Self {
        Self::new(&blake3::derive_key("docs-platform sealing key of an operator's secret", secret.as_bytes()))
    }

    /// The bytes of a new key.
    #[must_use]
    pub fn draw(ids: &dyn Ids) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("docs-platform sealing key");
        // 122 bits of an id are random, so three hold more than the key takes.
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
