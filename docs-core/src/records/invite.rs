//! Records of invites to an organization.

use serde::{Deserialize, Serialize};

use super::unique;
use crate::{
    model::{ContentTarget, InviteId, OrgId, Role, Timestamp, UserId},
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkInviteGrant {
    /// Membership with a role in the organization, or as a guest if `None`.
    Member(Option<Role>),
    /// Access as a guest with a role on content.
    Content(ContentTarget, Role),
}

/// An invite link. Anyone who knows its id can join.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkInviteRecord {
    /// The id, which is the secret of the link.
    pub id: InviteId,
    pub organization: OrgId,
    pub gives: LinkInviteGrant,
    /// The user who created or last changed the link. The link is valid only as long as this user may grant its role.
    #[serde(alias = "created_by")]
    pub vouched_by: UserId,
    pub created_at: Timestamp,
}

impl Entity for LinkInviteRecord {
    const KIND: &'static str = "ivl";
}

impl LinkInviteRecord {
    #[must_use]
    pub fn key_for(id: &InviteId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the links that grant a role in an organization, by creation time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("ivl.o").part(organization.as_str())
    }

    /// Index of the links that grant a role on content, by creation time.
    #[must_use]
    pub fn by_content(content: &str) -> KeyBuf {
        KeyBuf::new("ivl.c").part(content)
    }
}

impl Indexed for LinkInviteRecord {
    const INDEXES: &'static [&'static str] = &["ivl.o", "ivl.c"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let list = match &self.gives {
            LinkInviteGrant::Member(_) => Self::by_org(&self.organization),
            LinkInviteGrant::Content(content, _) => Self::by_content(content.id()),
        };
        let row = list.time(self.created_at.time()).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// An invitation of an e-mail address that does not belong to a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmailInviteRecord {
    /// The id, which is the secret of the invitation.
    pub id: InviteId,
    pub organization: OrgId,
    /// The e-mail address in lower case. An organization has at most one pending invitation per address.
    pub email: String,
    /// The role of the new member, or `None` for a guest.
    pub role: Option<Role>,
    /// `true` if the member must sign in through the organization's single sign-on.
    #[serde(default)]
    pub sso: bool,
    pub created_by: UserId,
    pub created_at: Timestamp,
    /// The expiry time.
    pub expires_at: Timestamp,
}

impl Entity for EmailInviteRecord {
    const KIND: &'static str = "ive";
}

impl EmailInviteRecord {
    /// The key of an invitation.
    #[must_use]
    pub fn key_for(id: &InviteId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Unique index from an e-mail address to its invitation to an organization.
    #[must_use]
    pub fn by_email(organization: &OrgId, email: &str) -> Key {
        unique("invite", organization.as_str(), email)
    }

    /// Index of the invitations of an e-mail address.
    #[must_use]
    pub fn by_address(email: &str) -> KeyBuf {
        KeyBuf::new("ive.e").part(&email.to_lowercase())
    }

    /// Index of the invitations to an organization, by creation time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("ive.o").part(organization.as_str())
    }

    /// Index of all invitations, by expiry time.
    #[must_use]
    pub fn by_expiry() -> KeyBuf {
        KeyBuf::new("ive.x")
    }
}

impl Indexed for EmailInviteRecord {
    const INDEXES: &'static [&'static str] = &["u", "ive.e", "ive.o", "ive.x"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let row = |key: KeyBuf| Row::Index(key.part(id).key(), Value::Unit);
        vec![
            Row::Unique(Self::by_email(&self.organization, &self.email), super::text(id)),
            row(Self::by_address(&self.email)),
            row(Self::by_org(&self.organization).time(self.created_at.time())),
            row(Self::by_expiry().time(self.expires_at.time())),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
