//! Invites: ways into an organization.

use serde::{Deserialize, Serialize};

use super::unique;
use crate::{
    model::{ContentTarget, InviteId, OrgId, Role, Timestamp, UserId},
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// What an invite link gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkGives {
    /// A role in the organization; `None` for a guest.
    Member(Option<Role>),
    /// A role on content, to a guest.
    Content(ContentTarget, Role),
}

/// An invite link: whoever has its id may join.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkInviteRecord {
    /// The id, which is the secret of the link.
    pub id: InviteId,
    /// The organization it leads to.
    pub organization: OrgId,
    /// What it gives.
    pub gives: LinkGives,
    /// Who answers for it: who created it, or changed it last. It is good for as long as they may give what it gives.
    #[serde(alias = "created_by")]
    pub vouched_by: UserId,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Entity for LinkInviteRecord {
    const KIND: &'static str = "ivl";
}

impl LinkInviteRecord {
    /// The key of an invite link.
    #[must_use]
    pub fn at(id: &InviteId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The links that give a role in an organization, by the time they were created.
    #[must_use]
    pub fn of_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("ivl.o").part(organization.as_str())
    }

    /// The links that give a role on content, by the time they were created.
    #[must_use]
    pub fn of_content(content: &str) -> KeyBuf {
        KeyBuf::new("ivl.c").part(content)
    }
}

impl Indexed for LinkInviteRecord {
    const INDEXES: &'static [&'static str] = &["ivl.o", "ivl.c"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let list = match &self.gives {
            LinkGives::Member(_) => Self::of_org(&self.organization),
            LinkGives::Content(content, _) => Self::of_content(content.id()),
        };
        let row = list.time(self.created_at.time()).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// An invitation of an address that no user had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmailInviteRecord {
    /// The id, which is the secret of the invitation.
    pub id: InviteId,
    /// The organization it leads to.
    pub organization: OrgId,
    /// The address, in lower case; an organization invites it once at a time.
    pub email: String,
    /// The role of the member; `None` for a guest.
    pub role: Option<Role>,
    /// The member will sign in through the organization's single sign-on.
    #[serde(default)]
    pub sso: bool,
    /// Who invited.
    pub created_by: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When the invitation ends.
    pub expires_at: Timestamp,
}

impl Entity for EmailInviteRecord {
    const KIND: &'static str = "ive";
}

impl EmailInviteRecord {
    /// The key of an invitation.
    #[must_use]
    pub fn at(id: &InviteId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Leads from an address to its invitation to an organization.
    #[must_use]
    pub fn by_email(organization: &OrgId, email: &str) -> Key {
        unique("invite", organization.as_str(), email)
    }

    /// The invitations of an address.
    #[must_use]
    pub fn of_email(email: &str) -> KeyBuf {
        KeyBuf::new("ive.e").part(&email.to_lowercase())
    }

    /// The invitations to an organization, by the time they were made.
    #[must_use]
    pub fn of_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("ive.o").part(organization.as_str())
    }

    /// All invitations, by the time they end.
    #[must_use]
    pub fn by_end() -> KeyBuf {
        KeyBuf::new("ive.x")
    }
}

impl Indexed for EmailInviteRecord {
    const INDEXES: &'static [&'static str] = &["u", "ive.e", "ive.o", "ive.x"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let row = |key: KeyBuf| Row::Index(key.part(id).key(), Value::Unit);
        vec![
            Row::Unique(Self::by_email(&self.organization, &self.email), super::text(id)),
            row(Self::of_email(&self.email)),
            row(Self::of_org(&self.organization).time(self.created_at.time())),
            row(Self::by_end().time(self.expires_at.time())),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
