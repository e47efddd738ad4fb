//! Records of grants: explicit roles of members and teams on content and sites.

use serde::{Deserialize, Serialize};

use super::{counter, member_counter, text};
use crate::{
    model::{Grantee, OrgId, PermissionTarget, Role, TeamId, Timestamp, UserId},
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, StoreError, StoreResult, Value, key},
};

/// A role of a member or a team on a space, a collection or a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrantRecord {
    /// The organization of both the grantee and the content.
    pub organization: OrgId,
    pub content: PermissionTarget,
    pub grantee: Grantee,
    pub role: Role,
    pub granted_at: Timestamp,
    /// `true` if the space is deleted. Grants on deleted spaces are not counted.
    #[serde(default)]
    pub space_deleted: bool,
}

impl Entity for GrantRecord {
    const KIND: &'static str = "grt";
}

impl GrantRecord {
    /// The key of a member's grant.
    #[must_use]
    pub fn user_key(content: &str, user: &UserId) -> Key {
        Self::user_grants(content).part(user.as_str()).key()
    }

    /// The key of a team's grant.
    #[must_use]
    pub fn team_key(content: &str, team: &TeamId) -> Key {
        Self::team_grants(content).part(team.as_str()).key()
    }

    /// Prefix of the keys of all grants on content or a site.
    #[must_use]
    pub fn by_content(content: &str) -> KeyBuf {
        KeyBuf::new(Self::KIND).part(content)
    }

    /// Prefix of the keys of member grants on content or a site.
    #[must_use]
    pub fn user_grants(content: &str) -> KeyBuf {
        Self::by_content(content).part("u")
    }

    /// Prefix of the keys of team grants on content or a site.
    #[must_use]
    pub fn team_grants(content: &str) -> KeyBuf {
        Self::by_content(content).part("t")
    }

    /// Index of the content and sites granted directly to a member of an organization.
    #[must_use]
    pub fn by_user(organization: &OrgId, user: &UserId) -> KeyBuf {
        KeyBuf::new("grt.u").part(organization.as_str()).part(user.as_str())
    }

    /// Index of the content and sites granted to a team.
    #[must_use]
    pub fn by_team(team: &TeamId) -> KeyBuf {
        KeyBuf::new("grt.t").part(team.as_str())
    }

    /// Counter of the spaces granted directly to a member, excluding deleted ones.
    #[must_use]
    pub fn user_space_count(organization: &OrgId, user: &UserId) -> Key {
        member_counter(organization, user, "spaces")
    }

    /// Counter of the sites granted directly to a member.
    #[must_use]
    pub fn user_site_count(organization: &OrgId, user: &UserId) -> Key {
        member_counter(organization, user, "sites")
    }

    /// Counter of the spaces granted to a team, excluding deleted ones.
    #[must_use]
    pub fn team_space_count(team: &TeamId) -> Key {
        counter(team.as_str(), "spaces")
    }
}

impl Indexed for GrantRecord {
    const INDEXES: &'static [&'static str] = &["grt.u", "grt.t", "ctr"];
    fn key(&self) -> Key {
        match &self.grantee {
            Grantee::User(user) => Self::user_key(self.content.id(), user),
            Grantee::Team(team) => Self::team_key(self.content.id(), team),
        }
    }
    fn rows(&self) -> Vec<Row> {
        let organization = &self.organization;
        let held = match &self.grantee {
            Grantee::User(user) => Self::by_user(organization, user),
            Grantee::Team(team) => Self::by_team(team),
        };
        let count = match (&self.content, &self.grantee) {
            (PermissionTarget::Space(_), _) if self.space_deleted => None,
            (PermissionTarget::Space(_), Grantee::User(user)) => {
                Some(Self::user_space_count(organization, user))
            }
            (PermissionTarget::Space(_), Grantee::Team(team)) => Some(Self::team_space_count(team)),
            (PermissionTarget::Site(_), Grantee::User(user)) => {
                Some(Self::user_site_count(organization, user))
            }
            (PermissionTarget::Site(_), Grantee::Team(_)) | (PermissionTarget::Collection(_), _) => None,
        };
        let held = Row::Index(held.part(self.content.id()).key(), text(kind(&self.content)));
        std::iter::once(held).chain(count.map(Row::Count)).collect()
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

const fn kind(target: &PermissionTarget) -> &'static str {
    match target {
        PermissionTarget::Collection(_) => "collection",
        PermissionTarget::Space(_) => "space",
        PermissionTarget::Site(_) => "site",
    }
}

/// Parses a row of [`GrantRecord::by_user`] or [`GrantRecord::by_team`].
///
/// # Errors
/// [`StoreError::Corrupt`].
pub fn parse_granted(row: &(Key, Value)) -> StoreResult<PermissionTarget> {
    let corrupt =
        || StoreError::Corrupt(format!("the row `{}` refers to nothing that can be granted", row.0));
    let id = key::last_segment(&row.0);
    let Value::Json(kind) = &row.1 else { return Err(corrupt()) };
    match &**kind {
        br#""collection""# => id.parse().map(PermissionTarget::Collection).map_err(|_| corrupt()),
        br#""space""# => id.parse().map(PermissionTarget::Space).map_err(|_| corrupt()),
        br#""site""# => id.parse().map(PermissionTarget::Site).map_err(|_| corrupt()),
        _ => Err(corrupt()),
    }
}
