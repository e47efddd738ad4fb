//! Idempotent requests. The response to the first request is stored and returned to retries.
//!
//! The response is stored in the transaction of the change, like a receipt, so neither exists without the other. A
//! stored response is replayed only to a caller who still holds the [`Right`] required by the operation. Except for
//! that check, a retry reads nothing that the first request may have changed. Of two concurrent requests, the store
//! commits one; the other finds its response.

use std::{
    future::Future,
    sync::{Arc, atomic::Ordering},
};

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Error, ErrorKind, Result,
    model::{BASE32, UserId},
    platform::kernel::{
        actor::Actor,
        platform::Platform,
        request::{IdempotentRequest, Right},
        write::Answer,
    },
    store::{Answers, StoreError, StoreFailure as _, Tx, records::IdempotencyRecord},
};

/// Retention period of the response to an idempotent request.
pub const IDEMPOTENCY_WINDOW: TimeDelta = TimeDelta::hours(24);

/// Maximum size of a stored response as JSON, in bytes. Once sealed, it is still well below the store's record limit.
pub(in crate::platform) const MAX_ANSWER_BYTES: usize = 128 * 1024;

impl Platform {
    /// Binds the platform to one request, which the client may retry within [`IDEMPOTENCY_WINDOW`] (24 hours).
    ///
    /// Of all requests by the same user with the same key, one is executed and the others get its response. This
    /// applies to operations that create something. Called on the returned platform, they store their response unless
    /// they fail or change nothing. They return `Unprocessable` if a different request used the key, and `Conflict` if
    /// the response cannot be replayed because it is too large or was sealed with another server's key.
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// use docs_core::{Platform, model::CreateSpace};
    /// use docs_core::platform::{IdempotentRequest, NewUser};
    /// # use docs_memstore::{MemObjects, MemStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new())).build();
    /// # let ada = NewUser { display_name: "Ada".parse()?, email: "ada@example.com".parse()? };
    /// # let ada = platform.as_platform().users().create(ada).await?.id;
    /// # let org = platform.as_platform().orgs().create("Engines".parse()?, &ada).await?.id;
    /// let request = IdempotentRequest::new("a-key".parse()?, &[b"create a space"]);
    /// let platform = platform.with_idempotency(request.clone());
    /// let spaces = platform.as_user(&ada).org(&org).spaces();
    /// let first = spaces.create(CreateSpace::default()).await?;
    /// let again = spaces.create(CreateSpace::default()).await?;
    /// assert_eq!(first, again);
    /// assert!(request.is_replayed());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_idempotency(&self, request: IdempotentRequest) -> Self {
        Self { request: Some(request), ..self.clone() }
    }

    /// Returns `true` if the platform serves an idempotent request.
    pub(in crate::platform) const fn is_idempotent(&self) -> bool {
        self.request.is_some()
    }

    /// Returns a platform bound to the same request with an extended fingerprint.
    pub(in crate::platform) fn with_fingerprint_parts(&self, parts: &[&[u8]]) -> Self {
        let request = self.request.as_ref().map(|request| request.with_fingerprint_parts(parts));
        Self { request, ..self.clone() }
    }

    /// Runs an operation, or replays the response of an earlier request if the actor holds `right`.
    ///
    /// The response must be the one returned by the operation's [`write_and_show`](Self::write_and_show).
    pub(in crate::platform) async fn idempotent<V: Answer>(
        &self,
        actor: &Actor,
        right: Right,
        operation: impl Future<Output = Result<V>> + Send,
    ) -> Result<V> {
        if let Some(request) = &self.request {
            request.require(right);
        }
        let Some(answers) = self.answer_store(actor) else { return operation.await };
        if let Some(answer) = answers.find(&self.read().await?).await? {
            return Ok(answer);
        }
        let error = match operation.await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        // The error may result from the concurrent success of the same request.
        if let Ok(tx) = self.read().await
            && let Ok(Some(answer)) = answers.find(&tx).await
        {
            return Ok(answer);
        }
        Err(match error.store() {
            Some(StoreError::Unknown(_)) => error.with_message(
                "the outcome of the change is unknown; repeating the request with the same \
                 `Idempotency-Key` is safe",
            ),
            _ => error,
        })
    }

    /// Returns the response store if the request has a key and its operation uses [`idempotent`](Self::idempotent).
    pub(in crate::platform) fn answer_store<'r>(&'r self, actor: &'r Actor) -> Option<AnswerStore<'r>> {
        let request = self.request.as_ref()?;
        let rights = request.rights();
        if rights.is_empty() {
            return None;
        }
        let caller = match actor {
            Actor::User(_) | Actor::Token(_) => actor.user(),
            Actor::Platform => None,
            // Visitors have no identity to which a key could belong.
            Actor::Visitor(_) => return None,
        };
        let mut hasher = blake3::Hasher::new_derive_key("docs-platform idempotency key of a caller");
        hasher.update(caller.map_or("", UserId::as_str).as_bytes()).update(b"\0");
        hasher.update(request.0.key.0.as_bytes());
        // A single sign-on session must not see responses that the same user received outside it.
        if let Actor::Token(token) = actor
            && let Some(organization) = token.session_org()
        {
            hasher.update(b"\0").update(organization.as_str().as_bytes());
        }
        let id = BASE32.encode(hasher.finalize().as_bytes());
        Some(AnswerStore { platform: self, request, actor, rights, id })
    }
}

/// The storage location of the response to one request.
pub(in crate::platform) struct AnswerStore<'r> {
    platform: &'r Platform,
    request: &'r IdempotentRequest,
    actor: &'r Actor,
    rights: Vec<Right>,
    id: String,
}

impl AnswerStore<'_> {
    /// Sealing purpose of the response.
    fn purpose(&self) -> String {
        format!("answer {}", self.id)
    }

    fn is_current(&self, record: &IdempotencyRecord) -> bool {
        self.platform.clock().now() < record.created_at.time() + IDEMPOTENCY_WINDOW
    }

    fn open<V: DeserializeOwned>(&self, record: &IdempotencyRecord) -> Result<V> {
        if record.fingerprint != self.request.0.fingerprint {
            return Err(Error::new(
                ErrorKind::Unprocessable,
                "Idempotency-Key: was used for another request; use a new key",
            ));
        }
        let lost = |why: &str| {
            Error::conflict(format!(
                "Idempotency-Key: the request has succeeded before, and its response {why}; read the \
                 current state instead"
            ))
        };
        let sealed = record.answer.as_ref().ok_or_else(|| lost("is too large to be stored"))?;
        let json = self.platform.secrets().open(&self.purpose(), sealed);
        let json = json.map_err(|_| lost("was sealed with another key"))?;
        let answer = serde_json::from_str(&json).map_err(Error::internal)?;
        self.request.0.is_replayed.store(true, Ordering::Relaxed);
        Ok(answer)
    }

    fn seal<V: Serialize>(&self, answer: &V) -> Result<Option<String>> {
        let Some(json) = to_stored_json(answer)? else { return Ok(None) };
        let sealed = self.platform.secrets().seal(&self.purpose(), &json, self.platform.ids().next());
        sealed.map(Some).map_err(Error::internal)
    }
}

#[async_trait]
impl<V: Answer> Answers<V> for AnswerStore<'_> {
    async fn find(&self, tx: &Tx) -> Result<Option<V>> {
        let record: Option<Arc<IdempotencyRecord>> = tx.get(&IdempotencyRecord::key_for(&self.id)).await?;
        let Some(record) = record.filter(|record| self.is_current(record)) else { return Ok(None) };
        for right in &self.rights {
            (self.platform.inner.prove_right)(self.platform, right, tx, self.actor).await?;
        }
        self.open(&record).map(Some)
    }

    async fn keep(&self, tx: &mut Tx, answer: &V) -> Result<()> {
        let new = IdempotencyRecord {
            id: self.id.clone(),
            caller: self.actor.user().cloned(),
            fingerprint: self.request.0.fingerprint,
            answer: self.seal(answer)?,
            created_at: self.platform.now(),
        };
        // An expired response may still be stored.
        let old: Option<Arc<IdempotencyRecord>> = tx.get(&IdempotencyRecord::key_for(&self.id)).await?;
        match old {
            Some(old) => drop(tx.put(&*old, new)?),
            None => drop(tx.create(new)),
        }
        Ok(())
    }
}

/// Serializes a response as JSON. Returns `None` if it is too large to store.
fn to_stored_json<V: Serialize>(answer: &V) -> Result<Option<String>> {
    let json = serde_json::to_string(answer).map_err(Error::internal)?;
    Ok((json.len() <= MAX_ANSWER_BYTES).then_some(json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::kernel::request::IdempotencyKey;

    #[test]
    fn a_key_has_1_to_255_visible_ascii_characters() {
        for key in ["a", "~", "!", &"x".repeat(255), "\"8e03978e\""] {
            assert!(key.parse::<IdempotencyKey>().is_ok(), "{key}");
        }
        for wrong in ["", " ", "a b", "a\t", "é", "\u{7f}", &"x".repeat(256)] {
            assert!(wrong.parse::<IdempotencyKey>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn fingerprint_depends_on_every_part_of_a_request() {
        let print =
            |parts: &[&[u8]]| IdempotentRequest::new("key".parse().expect("a key"), parts).0.fingerprint;
        assert_eq!(print(&[b"POST", b"/a", b"{}"]), print(&[b"POST", b"/a", b"{}"]));
        let request = IdempotentRequest::new("key".parse().expect("a key"), &[b"POST"]);
        let later = |bytes: &[u8]| request.with_fingerprint_parts(&[bytes]).0.fingerprint;
        assert_eq!(later(b"a"), later(b"a"));
        assert!(later(b"a") != later(b"b") && later(b"a") != request.0.fingerprint);
        for other in [&[&b"POST"[..], b"/a", b"{ }"][..], &[b"POST", b"/a{", b"}"], &[b"POST", b"/a"]] {
            assert_ne!(print(&[b"POST", b"/a", b"{}"]), print(other));
        }
    }

    #[test]
    fn responses_larger_than_the_bound_are_not_stored() {
        let is_stored = |bytes: usize| {
            let text = "a".repeat(bytes - r#""""#.len());
            to_stored_json(&text).expect("JSON").is_some()
        };
        assert_eq!([MAX_ANSWER_BYTES, MAX_ANSWER_BYTES + 1].map(is_stored), [true, false]);
    }
}
