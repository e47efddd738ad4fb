//! Records of teams and team members.

use serde::{Deserialize, Serialize};

use super::{counter, member_counter};
use crate::{
    model::{OrgId, TeamId, TeamRole, TeamTitle, Timestamp, UserId},
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamRecord {
    pub id: TeamId,
    pub organization: OrgId,
    /// The title. Not unique.
    pub title: TeamTitle,
    pub created_at: Timestamp,
}

impl Entity for TeamRecord {
    const KIND: &'static str = "tea";
}

impl TeamRecord {
    #[must_use]
    pub fn key_for(id: &TeamId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the teams of an organization, by title.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("tea.o").part(organization.as_str())
    }

    /// The index key in [`Self::by_org`].
    #[must_use]
    pub fn index_key(&self) -> Key {
        Self::by_org(&self.organization).sort_text(&self.title).part(self.id.as_str()).key()
    }

    /// Counter of the teams of an organization.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "teams")
    }
}

impl Indexed for TeamRecord {
    const INDEXES: &'static [&'static str] = &["tea.o", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        vec![Row::Index(self.index_key(), Value::Unit), Row::Count(Self::count_in(&self.organization))]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// The membership of a user in a team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamMemberRecord {
    pub team: TeamId,
    pub organization: OrgId,
    pub user: UserId,
    pub role: TeamRole,
    pub added_at: Timestamp,
}

impl Entity for TeamMemberRecord {
    const KIND: &'static str = "tmm";
}

impl TeamMemberRecord {
    /// The key of a team membership.
    #[must_use]
    pub fn key_for(team: &TeamId, user: &UserId) -> Key {
        KeyBuf::new(Self::KIND).part(team.as_str()).part(user.as_str()).key()
    }

    /// Index of the members of a team, by the time when they were added.
    #[must_use]
    pub fn by_team(team: &TeamId) -> KeyBuf {
        KeyBuf::new("tmm.t").part(team.as_str())
    }

    /// Index of the teams of a member.
    #[must_use]
    pub fn by_member(organization: &OrgId, user: &UserId) -> KeyBuf {
        KeyBuf::new("tmm.u").part(organization.as_str()).part(user.as_str())
    }

    /// Index of the teams owned by a member.
    #[must_use]
    pub fn by_owner(organization: &OrgId, user: &UserId) -> KeyBuf {
        KeyBuf::new("tmm.o").part(organization.as_str()).part(user.as_str())
    }

    /// Counter of the members of a team.
    #[must_use]
    pub fn count_in(team: &TeamId) -> Key {
        counter(team.as_str(), "members")
    }

    /// Counter of the teams of a member.
    #[must_use]
    pub fn count_by_member(organization: &OrgId, user: &UserId) -> Key {
        member_counter(organization, user, "teams")
    }
}

impl Indexed for TeamMemberRecord {
    const INDEXES: &'static [&'static str] = &["tmm.t", "tmm.u", "tmm.o", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.team, &self.user)
    }
    fn rows(&self) -> Vec<Row> {
        let (org, team) = (&self.organization, self.team.as_str());
        let in_team = Self::by_team(&self.team).time(self.added_at.time()).part(self.user.as_str());
        let mut rows = vec![
            Row::Index(in_team.key(), Value::Unit),
            Row::Index(Self::by_member(org, &self.user).part(team).key(), Value::Unit),
            Row::Count(Self::count_in(&self.team)),
            Row::Count(Self::count_by_member(org, &self.user)),
        ];
        if self.role == TeamRole::Owner {
            rows.push(Row::Index(Self::by_owner(org, &self.user).part(team).key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
