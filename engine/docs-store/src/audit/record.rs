//! Audit log entries as records.

use docs_model::{AuditEntry, AuditId, OrgId, Timestamp, UserId};
use serde::{Deserialize, Serialize};

use crate::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value};

/// Maximum number of records, and of organizations, in an audit log entry.
pub const MAX_AUDITED: usize = 16;

/// An audit log entry, written by the transaction that makes the change. It is immutable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    pub id: AuditId,
    /// The time of the request.
    pub at: Timestamp,
    /// The user who requested the change; absent for changes by the platform itself.
    #[serde(default)]
    pub user: Option<UserId>,
    /// The name of the operation.
    pub operation: String,
    /// An additional description of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The organizations of the changed records: usually one; two if an item moved between organizations.
    #[serde(default)]
    pub organizations: Vec<OrgId>,
    /// The keys of the changed records, at most [`MAX_AUDITED`] (16). If there are more, the first keys of every kind.
    pub records: Vec<Key>,
    /// The total number of changed records.
    pub changed: u32,
}

impl Entity for AuditRecord {
    const KIND: &'static str = "aud";
}

impl AuditRecord {
    /// Converts the record to its API representation.
    #[must_use]
    pub fn view(&self) -> AuditEntry {
        AuditEntry {
            id: self.id.clone(),
            at: self.at,
            user: self.user.clone(),
            operation: self.operation.clone(),
            detail: self.detail.clone(),
            organizations: self.organizations.clone(),
            records: self.records.clone(),
            changed: self.changed,
        }
    }

    /// Returns the prefix of all entries, ordered by time.
    #[must_use]
    pub fn by_time() -> KeyBuf {
        KeyBuf::new(Self::KIND)
    }

    /// Returns the index prefix of an organization's entries, ordered by time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("aud.o").part(organization.as_str())
    }

    /// Returns the index prefix of a user's entries, ordered by time.
    #[must_use]
    pub fn by_user(user: &UserId) -> KeyBuf {
        KeyBuf::new("aud.u").part(user.as_str())
    }

    /// Returns the index prefix of the entries about a record, ordered by time.
    #[must_use]
    pub fn by_record(record: &Key) -> KeyBuf {
        KeyBuf::new("aud.r").part(record)
    }

    /// Returns the index prefix of the entry with this id. The last segment of the row is the time.
    #[must_use]
    pub fn by_id(id: &AuditId) -> KeyBuf {
        KeyBuf::new("aud.i").part(id.as_str())
    }

    fn place(&self, prefix: KeyBuf) -> Key {
        prefix.time(self.at.time()).part(self.id.as_str()).key()
    }
}

impl Indexed for AuditRecord {
    const INDEXES: &'static [&'static str] = &["aud.o", "aud.u", "aud.r", "aud.i"];
    fn key(&self) -> Key {
        self.place(Self::by_time())
    }
    fn rows(&self) -> Vec<Row> {
        let organizations = self.organizations.iter().map(Self::by_org);
        let users = self.user.iter().map(Self::by_user);
        let records = self.records.iter().map(Self::by_record);
        let places = organizations.chain(users).chain(records);
        let by_id = Self::by_id(&self.id).time(self.at.time()).key();
        places
            .map(|prefix| self.place(prefix))
            .chain([by_id])
            .map(|key| Row::Index(key, Value::Unit))
            .collect()
    }
    fn owner(&self) -> Owner {
        Owner::NoOrganization
    }
}
