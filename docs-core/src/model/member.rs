//! Members of organizations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Role, Timestamp, User, UserId, list::constants};

constants! {
    /// `member`.
    MemberObject = "member",
}

/// A member of an organization (SPEC 2.10).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
