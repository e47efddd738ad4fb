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
    /// The id of the user, which also identifies the member within the organization.
    pub id: UserId,
    /// The role; `null` for a guest.
    pub role: Option<Role>,
    pub user: User,
    /// `true` if the member cannot sign in.
    pub disabled: bool,
    pub joined_at: Timestamp,
    /// Time of the last visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<Timestamp>,
    /// `true` if the member signs in with the organization's single sign-on.
    pub sso: bool,
    /// The number of spaces on which the member has an explicit role.
    pub spaces: u64,
    /// The number of teams to which the member belongs.
    pub teams: u64,
    /// The number of sites on which the member has an explicit role.
    pub sites: u64,
}

/// A filter for members: a role or guest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemberRole(Option<Role>);

impl MemberRole {
    /// The values in the wire format: the roles from highest to lowest, then guest.
    const NAMES: [&'static str; Role::ALL.len() + 1] = {
        let mut names = ["guest"; Role::ALL.len() + 1];
        let mut at = 0;
        while at < Role::ALL.len() {
            names[at] = Role::ALL[Role::ALL.len() - 1 - at].as_str();
            at += 1;
        }
        names
    };

    /// Returns the value used on the wire.
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
            "description": "Filter for members: a role, or guests.",
            "type": "string",
            "enum": Self::NAMES,
        })
    }
}

/// The sort key for a list of members.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum MemberSort {
    /// The time of joining.
    #[default]
    JoinedAt,
    /// The time of the last visit. Members who never visited are omitted.
    LastSeenAt,
    /// The name, without regard to case.
    Name,
}

/// A partial update of a member. Omitted fields are unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateMember {
    /// The role, or `null` for guest.
    #[serde(default)]
    pub role: Patch<Role>,
}

/// The response to a visit report of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// A signed JSON Web Token (RFC 7519) that identifies the member on the organization's sites until it expires;
    /// absent for guests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_visitor_claims: Option<String>,
}
