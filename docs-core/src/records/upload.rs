//! Records of files uploaded to the storage of an organization.

use serde::{Deserialize, Serialize};

use super::{OrgRecord, StoredBytes};
use crate::{
    model::{OrgId, Timestamp, UploadId, UserId},
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A file that a user uploads, or has uploaded, for later requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadRecord {
    pub id: UploadId,
    pub organization: OrgId,
    /// The only user who may use the file.
    pub by: UserId,
    pub name: String,
    /// The declared size in bytes.
    pub size: u64,
    /// The storage domain of the content.
    pub domain: String,
    pub created_at: Timestamp,
    /// The time after which the file cannot be used, and the record is removed.
    pub expires_at: Timestamp,
    /// The content. `None` until it is uploaded.
    #[serde(default)]
    pub content: Option<StoredBytes>,
}

impl Entity for UploadRecord {
    const KIND: &'static str = "upl";
}

impl UploadRecord {
    #[must_use]
    pub fn key_for(id: &UploadId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the uploads of a user in an organization, by expiry.
    #[must_use]
    pub fn by_user(organization: &OrgId, user: &UserId) -> KeyBuf {
        KeyBuf::new("upl.u").part(organization.as_str()).part(user.as_str())
    }

    /// Index of all uploads, by expiry.
    #[must_use]
    pub fn by_expiry() -> KeyBuf {
        KeyBuf::new("upl.t")
    }
}

impl Indexed for UploadRecord {
    const INDEXES: &'static [&'static str] = &["upl.u", "upl.t"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let of_user = Self::by_user(&self.organization, &self.by);
        let places = [of_user, Self::by_expiry()];
        let place = |index: KeyBuf| index.time(self.expires_at.time()).part(self.id.as_str()).key();
        places.into_iter().map(|index| Row::Index(place(index), Value::Unit)).collect()
    }
    fn owner(&self) -> Owner {
        Owner::As(OrgRecord::key_for(&self.organization))
    }
}
