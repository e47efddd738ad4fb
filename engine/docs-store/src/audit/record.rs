//! Entries of the audit log.

use docs_model::{AuditEntry, AuditId, OrgId, Timestamp, UserId};
use serde::{Deserialize, Serialize};

use crate::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value};

/// Most records, and most organizations, that an entry names.
pub const MAX_AUDITED: usize = 16;

/// One change: written by the transaction that made it, never changed afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// The id.
    pub id: AuditId,
    /// When the change was asked for.
    pub at: Timestamp,
    /// Who asked for it; absent for the platform itself.
    #[serde(default)]
    pub user: Option<UserId>,
    /// The name of the operation.
    pub operation: String,
    /// What else is said of the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The organizations of what was changed: usually one, two where something moved between them.
    #[serde(default)]
    pub organizations: Vec<OrgId>,
    /// The keys of the changed records, at most [`MAX_AUDITED`]: of more, the first ones of every kind.
    pub records: Vec<Key>,
    /// How many records were changed.
    pub changed: u32,
}

impl Entity for AuditRecord {
    const KIND: &'static str = "aud";
}

impl AuditRecord {
    /// The entry as it is shown.
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

    /// All entries, by time.
    #[must_use]
    pub fn all() -> KeyBuf {
        KeyBuf::new(Self::KIND)
    }

    /// The entries of an organization, by time.
    #[must_use]
    pub fn of_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("aud.o").part(organization.as_str())
    }

    /// The entries by a user, by time.
    #[must_use]
    pub fn of_user(user: &UserId) -> KeyBuf {
        KeyBuf::new("aud.u").part(user.as_str())
    }

    /// The entries about a record, by time.
    #[must_use]
    pub fn about(record: &Key) -> KeyBuf {
        KeyBuf::new("aud.r").part(record)
    }

    fn place(&self, prefix: KeyBuf) -> Key {
        prefix.time(self.at.time()).part(self.id.as_str()).key()
    }
}

impl Indexed for AuditRecord {
    const INDEXES: &'static [&'static str] = &["aud.o", "aud.u", "aud.r"];
    fn key(&self) -> Key {
        self.place(Self::all())
    }
    fn rows(&self) -> Vec<Row> {
        let organizations = self.organizations.iter().map(Self::of_org);
        let users = self.user.iter().map(Self::of_user);
        let records = self.records.iter().map(Self::about);
        let places = organizations.chain(users).chain(records);
        places.map(|prefix| Row::Index(self.place(prefix), Value::Unit)).collect()
    }
    fn owner(&self) -> Owner {
        Owner::Nobody
    }
}
