//! Properties of a request: its idempotency key, the rights required for a replay, and its precondition.

use std::{
    fmt,
    str::FromStr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::Serialize;

use crate::{
    Error, ErrorKind, Result,
    model::{ContentTarget, OrgId, SiteId, SpaceId, TranslationId},
    policy::{OrgAction, SpaceAction},
    store::{Hash, records::LinkInviteGrant},
};

/// A key chosen by the client, which makes a request safe to retry. Consists of visible ASCII characters.
///
/// # Example
/// ```
/// use docs_core::platform::IdempotencyKey;
///
/// assert!("8e03978e-40d5-43dd-bc93-6894a57f9324".parse::<IdempotencyKey>().is_ok());
/// assert!("two words".parse::<IdempotencyKey>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(pub(in crate::platform) String);

impl IdempotencyKey {
    /// Maximum length of a key in characters.
    pub const MAX: usize = 255;
}

impl FromStr for IdempotencyKey {
    type Err = NotAnIdempotencyKey;

    fn from_str(text: &str) -> std::result::Result<Self, NotAnIdempotencyKey> {
        let is_key =
            (1..=Self::MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_key.then(|| Self(text.to_owned())).ok_or(NotAnIdempotencyKey)
    }
}

/// The error for a string that is not a valid idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} visible ASCII characters", IdempotencyKey::MAX)]
pub struct NotAnIdempotencyKey;

/// An idempotent request, identified by its key and a fingerprint. Clones refer to the same request.
#[derive(Clone, Debug)]
pub struct IdempotentRequest(pub(in crate::platform) Arc<RequestState>);

impl IdempotentRequest {
    /// Creates a request with a key. `parts` are the parts that are identical in each retry: for HTTP, the method, path
    /// and body.
    #[must_use]
    pub fn new(key: IdempotencyKey, parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("docs-platform fingerprint of a request");
        for part in parts {
            hasher.update(&(part.len() as u64).to_be_bytes()).update(part);
        }
        let fingerprint = Hash::compute(hasher.finalize().as_bytes());
        Self::from_fingerprint(key, fingerprint, Arc::default())
    }

    /// Extends the fingerprint with parts of the request that are read later.
    pub(in crate::platform) fn with_fingerprint_parts(&self, parts: &[&[u8]]) -> Self {
        let known = [&self.0.fingerprint.as_bytes()[..]];
        let more = Self::new(self.0.key.clone(), &[&known[..], parts].concat());
        let is_replayed = Arc::clone(&self.0.is_replayed);
        Self::from_fingerprint(self.0.key.clone(), more.0.fingerprint, is_replayed)
    }

    fn from_fingerprint(key: IdempotencyKey, fingerprint: Hash, is_replayed: Arc<AtomicBool>) -> Self {
        Self(Arc::new(RequestState { key, fingerprint, is_replayed, rights: Mutex::default() }))
    }

    pub(in crate::platform) fn require(&self, right: Right) {
        let mut rights = self.0.rights.lock().unwrap_or_else(PoisonError::into_inner);
        if !rights.contains(&right) {
            rights.push(right);
        }
    }

    pub(in crate::platform) fn rights(&self) -> Vec<Right> {
        self.0.rights.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns `true` if the response was replayed from an earlier request.
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.0.is_replayed.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub(in crate::platform) struct RequestState {
    pub(in crate::platform) key: IdempotencyKey,
    pub(in crate::platform) fingerprint: Hash,
    pub(in crate::platform) is_replayed: Arc<AtomicBool>,
    /// Rights required for a replay. If empty, no response is stored or replayed.
    pub(in crate::platform) rights: Mutex<Vec<Right>>,
}

/// A right required by an operation. It is checked again before a stored response is replayed.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::platform) enum Right {
    Org(OrgId, OrgAction),
    /// The right to create organizations.
    FoundOrg,
    /// The right to create content in an organization, or in the given collection.
    CreateIn(OrgId, Option<Box<str>>),
    Site(OrgId, SiteId),
    /// The right to read a published site, with the key of a share link.
    ReadSite(OrgId, SiteId, Option<Box<str>>),
    Space(SpaceId, SpaceAction),
    /// The right to grant roles on content.
    Permissions(ContentTarget),
    /// The right to manage invite links with this grant in an organization.
    Link(OrgId, LinkInviteGrant),
    /// The right to translate a space of an organization.
    Translate(OrgId, SpaceId),
    Translation(OrgId, TranslationId),
}

/// An entity tag, which identifies a state of a response. Two responses with the same tag are byte-identical.
///
/// # Example
/// ```
/// use docs_core::platform::EntityTag;
///
/// let (one, other) = (EntityTag::from_answer(&["a"])?, EntityTag::from_answer(&["b"])?);
/// assert_ne!(one, other);
/// assert_eq!(EntityTag::from_answer(&["a"])?, one);
/// # Ok::<(), docs_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityTag(String);

impl EntityTag {
    /// Creates a tag from text sent by a client.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Computes the entity tag of a response.
    ///
    /// # Errors
    /// `Internal` for a response that cannot be serialized.
    pub fn from_answer(answer: &impl Serialize) -> Result<Self> {
        Ok(Self::from_json(&serde_json::to_vec(answer).map_err(Error::internal)?))
    }

    /// Computes the entity tag of a response already serialized as JSON.
    #[must_use]
    pub fn from_json(json: &[u8]) -> Self {
        let mut text = Hash::compute(json).to_string();
        text.truncate(32);
        Self(text)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The states accepted by a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Any existing state.
    Any,
    /// One of these states.
    OneOf(Vec<EntityTag>),
}

impl Tags {
    /// Returns `true` if the current state matches. `current` is `None` if the target does not exist.
    #[must_use]
    pub fn matches(&self, current: Option<&EntityTag>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::OneOf(tags), Some(current)) => tags.contains(current),
        }
    }
}

/// The condition of a change. By default, every state is accepted.
///
/// # Example
/// ```
/// # use docs_core::{Platform, model::{SpaceId, UpdateSpace, UserId}, platform::{EntityTag, Precondition}};
/// # async fn example(platform: &Platform, ada: &UserId, space: &SpaceId) -> docs_core::Result<()> {
/// let seen = platform.as_user(ada).space(space).get().await?;
/// let unchanged = Precondition::if_match(EntityTag::from_answer(&seen)?);
/// let platform = platform.with_precondition(unchanged);
/// platform.as_user(ada).space(space).update(UpdateSpace::default()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// The target is in one of these states.
    pub if_match: Option<Tags>,
    /// The target is in none of these states.
    pub if_none_match: Option<Tags>,
}

impl Precondition {
    /// Creates the condition that the target is in this state.
    #[must_use]
    pub fn if_match(tag: EntityTag) -> Self {
        Self { if_match: Some(Tags::OneOf(vec![tag])), if_none_match: None }
    }

    /// Checks the condition against the current state, which is `None` if the target does not exist.
    ///
    /// # Errors
    /// `Precondition` naming the condition.
    pub fn check(&self, current: Option<&EntityTag>) -> Result<()> {
        let refused = |why: &str| Err(Error::new(ErrorKind::Precondition, why.to_owned()));
        match (&self.if_match, &self.if_none_match) {
            (Some(tags), _) if !tags.matches(current) => {
                refused("If-Match: the resource has changed; read it again, then repeat the change")
            }
            (_, Some(tags)) if tags.matches(current) => {
                refused("If-None-Match: the resource exists in this state; omit the header to change it")
            }
            _ => Ok(()),
        }
    }
}
