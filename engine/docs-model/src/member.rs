//! Members of organizations.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as SerdeError};

use super::{Patch, Role, Timestamp, User, UserId, list::constants};

constants! {
    /// `member`.
    MemberObject = "member",
}

/// A member of an organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Always `member`.
    pub object: MemberObject,
    /// The id of the user, by which the member is found in the organization.
    pub id: UserId,
    /// What the member may do; `null` for a guest.
    pub role: Option<Role>,
    /// Who it is.
    pub user: User,
    /// The member cannot sign in.
    pub disabled: bool,
    /// When the member joined.
    pub joined_at: Timestamp,
    /// When the member was last there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// The member signs in through the organization's single sign-on.
    pub sso: bool,
    /// Spaces that were granted to the member by name.
    pub spaces: u64,
    /// Teams that the member is in.
    pub teams: u64,
}

/// What a list of members is narrowed to: a role, or guests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemberRole(Option<Role>);

impl MemberRole {
    /// The names on the wire: the roles, the highest first, and guests.
    const NAMES: [&'static str; Role::ALL.len() + 1] = {
        let mut names = ["guest"; Role::ALL.len() + 1];
        let mut at = 0;
        while at < Role::ALL.len() {
            names[at] = Role::ALL[Role::ALL.len() - 1 - at].as_str();
            at += 1;
        }
        names
    };

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self.0 {
            Some(role) => role.as_str(),
            None => "guest",
        }
    }
}

impl From<Option<Role>> for MemberRole {
    fn from(role: Option<Role>) -> Self {
        Self(role)
    }
}

impl From<Role> for MemberRole {
    fn from(role: Role) -> Self {
        Self(Some(role))
    }
}

impl Serialize for MemberRole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for MemberRole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.parse() {
            Ok(role) => Ok(Self(Some(role))),
            Err(_) if name == Self(None).as_str() => Ok(Self(None)),
            Err(_) => Err(D::Error::unknown_variant(&name, &Self::NAMES)),
        }
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for MemberRole {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MemberRole".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What a list of members is narrowed to: a role, or guests.",
            "type": "string",
            "enum": Self::NAMES,
        })
    }
}

/// What members are listed by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum MemberSort {
    /// The time of joining.
    #[default]
    JoinedAt,
    /// The time of the last visit; members who were never there are left out.
    LastSeenAt,
}

/// A change of a member; what is left out stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateMember {
    /// A role, or `null` for guest.
    #[serde(default)]
    pub role: Patch<Role>,
}

/// What a member is told who tells that they are there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// A signed token (RFC 7519) by which the organization's sites know the member for a while; absent for guests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_visitor_claims: Option<String>,
}
