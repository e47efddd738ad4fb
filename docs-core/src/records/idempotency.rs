//! Records of responses to idempotent requests.

use serde::{Deserialize, Serialize};

use crate::{
    model::{Timestamp, UserId},
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// The response to a request with an idempotency key. It is written in the same transaction as the effect of the
/// request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotencyRecord {
    /// A digest of the caller and the idempotency key. The key itself is not stored.
    pub id: String,
    /// The caller, or `None` for the platform itself.
    #[serde(default)]
    pub caller: Option<UserId>,
    /// A hash of the request, used to detect a different request with the same key.
    pub fingerprint: Hash,
    /// The response as JSON, sealed because it may contain secrets that are returned only once. `None` if it exceeds
    /// the size limit of stored responses.
    #[serde(default)]
    pub answer: Option<String>,
    /// The time when the response was stored.
    pub created_at: Timestamp,
}

impl Entity for IdempotencyRecord {
    const KIND: &'static str = "idm";
}

impl IdempotencyRecord {
    #[must_use]
    pub fn key_for(id: &str) -> Key {
        KeyBuf::new(Self::KIND).part(id).key()
    }

    /// Index of all records, by time.
    #[must_use]
    pub fn by_time() -> KeyBuf {
        KeyBuf::new("idm.t")
    }
}

impl Indexed for IdempotencyRecord {
    const INDEXES: &'static [&'static str] = &["idm.t"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let place = Self::by_time().time(self.created_at.time()).part(&self.id);
        vec![Row::Index(place.key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::NoOrganization
    }
}
