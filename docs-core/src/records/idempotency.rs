//! Answers that are kept for requests that may be sent again.

use serde::{Deserialize, Serialize};

use crate::{
    model::{Timestamp, UserId},
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// The answer to a request that was sent with an idempotency key: written by the commit of what the request changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotencyRecord {
    /// A digest of the caller and the key: the key itself is kept nowhere.
    pub id: String,
    /// Who sent the request; absent for the platform itself.
    #[serde(default)]
    pub caller: Option<UserId>,
    /// What tells the request from another with the same key.
    pub fingerprint: Hash,
    /// The answer as JSON, sealed, as it may hold what is shown once. Absent where it is larger than what is kept.
    #[serde(default)]
    pub answer: Option<String>,
    /// When the request was answered.
    pub created_at: Timestamp,
}

impl Entity for IdempotencyRecord {
    const KIND: &'static str = "idm";
}

impl IdempotencyRecord {
    /// The key of a record.
    #[must_use]
    pub fn at(id: &str) -> Key {
        KeyBuf::new(Self::KIND).part(id).key()
    }

    /// All records, by time.
    #[must_use]
    pub fn by_time() -> KeyBuf {
        KeyBuf::new("idm.t")
    }
}

impl Indexed for IdempotencyRecord {
    const INDEXES: &'static [&'static str] = &["idm.t"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let place = Self::by_time().time(self.created_at.time()).part(&self.id);
        vec![Row::Index(place.key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::Nobody
    }
}
