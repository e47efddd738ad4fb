//! Invites: ways into an organization.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, Collection, InviteId, Patch, Role, Space, Timestamp, UserId, list::constants, patch::given,
};

constants! {
    /// `invite`.
    InviteObject = "invite",
    /// `organization`.
    ToOrganization = "organization",
    /// `space`.
    ToSpace = "space",
    /// `collection`.
    ToCollection = "collection",
}

/// Whom to invite to an organization.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InviteUsers {
    /// Addresses, at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100)))]
    pub emails: Vec<InviteEmail>,
    /// The role of those whose address has none beside it: `null` for guest, the organization's default role when
    /// absent.
    #[serde(default)]
    pub role: Patch<Role>,
    /// They will sign in through the organization's single sign-on.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub sso: Option<bool>,
}

/// The pattern of an e-mail address: one `@` with something on both sides, no white space, no control characters.
#[cfg(feature = "schema")]
const EMAIL: &str = r"^[^\s@\u0000-\u001f\u007f-\u009f]+@[^\s@\u0000-\u001f\u007f-\u009f]+$";

/// An address to invite.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged, expecting = "must be an e-mail address, or an object with `email` and `role`")]
pub enum InviteEmail {
    /// An address.
    Plain(#[cfg_attr(feature = "schema", schemars(regex(pattern = EMAIL)))] BoundedText<3, 254>),
    /// An address with a role of its own.
    WithRole(InviteWithRole),
}

/// An address to invite, with a role of its own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["email", "role"])))]
pub struct InviteWithRole {
    /// The address.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = EMAIL)))]
    pub email: BoundedText<3, 254>,
    /// The role, or `null` for guest.
    #[serde(deserialize_with = "Option::deserialize")]
    pub role: Option<Role>,
}

/// What became of an invitation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InvitedUsers {
    /// The users with one of the addresses: they are members now.
    pub users: Vec<UserId>,
    /// How many addresses no user has: they are invited.
    pub invited: u64,
    /// The addresses of users who sign in otherwise, where single sign-on was asked for: they are not invited.
    #[serde(default, rename = "failedSSOEmails", skip_serializing_if = "Vec::is_empty")]
    pub failed_sso_emails: Vec<String>,
}

/// An invitation of an address that no user has yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EmailInvite {
    /// The id: with it the user who has the address joins.
    pub id: InviteId,
    /// The address, in lower case.
    pub email: String,
    /// The role; `null` for guest.
    pub role: Option<Role>,
    /// The member will sign in through the organization's single sign-on.
    pub sso: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// That somebody has joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JoinedOrganization {}

/// An invite link: whoever has its id may join.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum LinkInvite {
    /// To a space.
    Space(Box<SpaceInvite>),
    /// To a collection.
    Collection(Box<CollectionInvite>),
    /// To the organization.
    Member(MemberInvite),
}

impl LinkInvite {
    /// The id.
    #[must_use]
    pub fn id(&self) -> &InviteId {
        match self {
            Self::Space(invite) => &invite.id,
            Self::Collection(invite) => &invite.id,
            Self::Member(invite) => &invite.id,
        }
    }
}

/// An invite link that gives a role in the organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemberInvite {
    /// Always `invite`.
    pub object: InviteObject,
    /// The id: with it anybody joins.
    pub id: InviteId,
    /// Always `organization`.
    pub target: ToOrganization,
    /// The role; `null` for guest.
    pub role: Option<Role>,
    /// It would give the reader nothing.
    pub redundant: bool,
}

/// An invite link that gives guests a role on a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpaceInvite {
    /// Always `invite`.
    pub object: InviteObject,
    /// The id: with it anybody joins.
    pub id: InviteId,
    /// Always `space`.
    pub target: ToSpace,
    /// The role on the space.
    pub level: Role,
    /// It would give the reader nothing.
    pub redundant: bool,
    /// The space.
    pub space: Space,
}

/// An invite link that gives guests a role on a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CollectionInvite {
    /// Always `invite`.
    pub object: InviteObject,
    /// The id: with it anybody joins.
    pub id: InviteId,
    /// Always `collection`.
    pub target: ToCollection,
    /// The role on the collection.
    pub level: Role,
    /// It would give the reader nothing.
    pub redundant: bool,
    /// The collection.
    pub collection: Collection,
}

/// A new invite link: `role`, or `level` with `space` or `collection`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [
    { "allOf": [
        { "required": ["role"] },
        crate::schema::absent("level"), crate::schema::absent("space"), crate::schema::absent("collection"),
    ] },
    { "allOf": [
        { "required": ["space", "level"], "properties": { "level": { "type": "string" } } },
        crate::schema::absent("role"), crate::schema::absent("collection"),
    ] },
    { "allOf": [
        { "required": ["collection", "level"], "properties": { "level": { "type": "string" } } },
        crate::schema::absent("role"), crate::schema::absent("space"),
    ] },
])))]
pub struct CreateLinkInvite {
    /// The role in the organization, or `null` for guest.
    #[serde(default)]
    pub role: Patch<Role>,
    /// The role on the content.
    #[serde(default)]
    pub level: Patch<Role>,
    /// The space.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space: Option<String>,
    /// The collection.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub collection: Option<String>,
}

/// A change of an invite link: `role` where it leads to the organization, `level` where it leads to content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    crate::schema::absent("role"), crate::schema::absent("level"),
])))]
pub struct UpdateLinkInvite {
    /// The role in the organization, or `null` for guest.
    #[serde(default)]
    pub role: Patch<Role>,
    /// The role on the content.
    #[serde(default)]
    pub level: Patch<Role>,
}
