//! Records of organization members.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{UserRecord, counter};
use crate::{
    model::{MemberRole, OrgId, Role, Timestamp, UserId},
    store::{
        Entity, Indexed, Key, KeyBuf, Owner, Row, Value,
        grams::{self, GramQuery},
    },
};

/// The membership of a user in an organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberRecord {
    pub organization: OrgId,
    pub user: UserId,
    /// The role of the member, or `None` for a guest.
    pub role: Option<Role>,
    pub joined_at: Timestamp,
    /// The time of the member's last visit.
    #[serde(default)]
    pub last_seen_at: Option<Timestamp>,
    /// `true` if the member signs in through the organization's single sign-on.
    #[serde(default)]
    pub sso: bool,
    /// The user's name, denormalized for member search.
    #[serde(default)]
    pub display_name: String,
    /// The user's e-mail address, denormalized for member search.
    #[serde(default)]
    pub email: String,
}

impl Entity for MemberRecord {
    const KIND: &'static str = "mem";
}

impl MemberRecord {
    /// Creates a membership that starts now.
    #[must_use]
    pub fn new(organization: &OrgId, user: &UserRecord, role: Option<Role>, now: Timestamp) -> Self {
        Self {
            organization: organization.clone(),
            user: user.id.clone(),
            role,
            joined_at: now,
            last_seen_at: None,
            sso: false,
            display_name: user.display_name.clone(),
            email: user.email.clone(),
        }
    }

    /// The key of a membership.
    #[must_use]
    pub fn key_for(organization: &OrgId, user: &UserId) -> Key {
        KeyBuf::new(Self::KIND).part(organization.as_str()).part(user.as_str()).key()
    }

    /// Index of the organizations of a user, by join time.
    #[must_use]
    pub fn by_user(user: &UserId) -> KeyBuf {
        KeyBuf::new("org.u").part(user.as_str())
    }

    /// Index of the members of an organization, by join time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("mem.j").part(organization.as_str())
    }

    /// Index of the members with a role, by join time.
    #[must_use]
    pub fn by_role(organization: &OrgId, role: MemberRole) -> KeyBuf {
        KeyBuf::new("mem.r").part(organization.as_str()).part(role.as_str())
    }

    /// Index of the members whose name or e-mail address contains an n-gram, by join time.
    #[must_use]
    pub fn by_gram(organization: &OrgId, gram: &str) -> KeyBuf {
        KeyBuf::new("mem.g").part(organization.as_str()).part(gram)
    }

    /// Index of the members with a recorded visit, by time of their last visit.
    #[must_use]
    pub fn by_last_visit(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("mem.s").part(organization.as_str())
    }

    /// Index of the members with a role and a recorded visit, by time of their last visit.
    #[must_use]
    pub fn by_role_and_visit(organization: &OrgId, role: MemberRole) -> KeyBuf {
        KeyBuf::new("mem.t").part(organization.as_str()).part(role.as_str())
    }

    /// Index of the members of an organization, by name.
    #[must_use]
    pub fn by_name(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("mem.n").part(organization.as_str())
    }

    /// Index of the members with a role, by name.
    #[must_use]
    pub fn by_role_and_name(organization: &OrgId, role: MemberRole) -> KeyBuf {
        KeyBuf::new("mem.o").part(organization.as_str()).part(role.as_str())
    }

    /// Counter of the members of an organization, in total or with a given role.
    #[must_use]
    pub fn count_in(organization: &OrgId, role: Option<MemberRole>) -> Key {
        match role {
            None => counter(organization.as_str(), "members"),
            Some(role) => counter(organization.as_str(), &format!("members.{}", role.as_str())),
        }
    }

    /// Returns `true` if the member matches a search query.
    #[must_use]
    pub fn matches(&self, wanted: &GramQuery) -> bool {
        wanted.is_in(&self.display_name) || wanted.is_in(&self.email)
    }

    fn grams(&self) -> BTreeSet<String> {
        let mut grams = grams::from_text(&self.display_name);
        grams.extend(grams::from_text(&self.email));
        grams
    }
}

impl Indexed for MemberRecord {
    const INDEXES: &'static [&'static str] =
        &["org.u", "mem.j", "mem.r", "mem.g", "mem.s", "mem.t", "mem.n", "mem.o", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.organization, &self.user)
    }
    fn rows(&self) -> Vec<Row> {
        let (org, role) = (&self.organization, MemberRole::from(self.role));
        let by = |prefix: KeyBuf, at: Timestamp| {
            Row::Index(prefix.time(at.time()).part(self.user.as_str()).key(), Value::Unit)
        };
        let own = Self::by_user(&self.user).time(self.joined_at.time()).part(org.as_str());
        let mut rows = vec![
            Row::Index(own.key(), Value::Unit),
            Row::Count(counter(self.user.as_str(), "orgs")),
            by(Self::by_org(org), self.joined_at),
            by(Self::by_role(org, role), self.joined_at),
            Row::Count(Self::count_in(org, None)),
            Row::Count(Self::count_in(org, Some(role))),
        ];
        rows.extend(self.grams().iter().map(|gram| by(Self::by_gram(org, gram), self.joined_at)));
        for prefix in [Self::by_name(org), Self::by_role_and_name(org, role)] {
            let row = prefix.sort_text(&self.display_name).part(self.user.as_str());
            rows.push(Row::Index(row.key(), Value::Unit));
        }
        if let Some(at) = self.last_seen_at {
            rows.extend([by(Self::by_last_visit(org), at), by(Self::by_role_and_visit(org, role), at)]);
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
