//! Invites to an organization, by e-mail address or by link.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, Collection, InviteId, Patch, Role, Space, Timestamp, UserId, list::constants,
    patch::deserialize_non_null,
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

/// A request to invite users to an organization.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InviteUsers {
    /// The addresses, at least one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100)))]
    pub emails: Vec<InviteEmail>,
    /// The role of addresses without a role of their own: `null` for guest; the default role of the organization if
    /// absent.
    #[serde(default)]
    pub role: Patch<Role>,
    /// `true` if the invited users will sign in with the organization's single sign-on.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub sso: Option<bool>,
}

/// The pattern of an e-mail address: text around one `@`, without white space and control characters.
#[cfg(feature = "schema")]
const EMAIL: &str = r"^[^\s@\u0000-\u001f\u007f-\u009f]+@[^\s@\u0000-\u001f\u007f-\u009f]+$";

/// An address to invite, with or without a role of its own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged, expecting = "must be an e-mail address, or an object with `email` and `role`")]
pub enum InviteEmail {
    /// An e-mail address.
    Plain(#[cfg_attr(feature = "schema", schemars(regex(pattern = EMAIL)))] BoundedText<3, 254>),
    /// An e-mail address with a role of its own.
    WithRole(InviteWithRole),
}

/// An e-mail address to invite, with a role of its own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["email", "role"])))]
pub struct InviteWithRole {
    #[cfg_attr(feature = "schema", schemars(regex(pattern = EMAIL)))]
    pub email: BoundedText<3, 254>,
    /// The role, or `null` for guest.
    #[serde(deserialize_with = "Option::deserialize")]
    pub role: Option<Role>,
}

/// The result of inviting users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InvitedUsers {
    /// The users who already have one of the addresses; they are members now.
    pub users: Vec<UserId>,
    /// The number of addresses without a user; they received an invite.
    pub invited: u64,
    /// Addresses of users who sign in by other means although single sign-on was requested; they are not invited.
    #[serde(default, rename = "failedSSOEmails", skip_serializing_if = "Vec::is_empty")]
    pub failed_sso_emails: Vec<String>,
}

/// An invite to an e-mail address that has no user yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EmailInvite {
    /// The id; the user who owns the address joins with it.
    pub id: InviteId,
    /// The address, in lower case.
    pub email: String,
    /// The role; `null` for guest.
    pub role: Option<Role>,
    /// `true` if the member will sign in with the organization's single sign-on.
    pub sso: bool,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// The result of joining an organization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct JoinedOrganization {}

/// An invite link. Anyone who knows its id can join.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum LinkInvite {
    /// A link to a space.
    Space(Box<SpaceInvite>),
    /// A link to a collection.
    Collection(Box<CollectionInvite>),
    /// A link to the organization.
    Member(MemberInvite),
}

impl LinkInvite {
    #[must_use]
    pub fn id(&self) -> &InviteId {
        match self {
            Self::Space(invite) => &invite.id,
            Self::Collection(invite) => &invite.id,
            Self::Member(invite) => &invite.id,
        }
    }
}

/// An invite link that grants a role in the organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemberInvite {
    /// Always `invite`.
    pub object: InviteObject,
    /// The id; any user can join with it.
    pub id: InviteId,
    /// Always `organization`.
    pub target: ToOrganization,
    /// The role; `null` for guest.
    pub role: Option<Role>,
    /// `true` if the link would not grant the caller anything new.
    pub redundant: bool,
}

/// An invite link that grants guests a role on a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpaceInvite {
    /// Always `invite`.
    pub object: InviteObject,
    /// The id; any user can join with it.
    pub id: InviteId,
    /// Always `space`.
    pub target: ToSpace,
    /// The role on the space.
    pub level: Role,
    /// `true` if the link would not grant the caller anything new.
    pub redundant: bool,
    /// The space.
    pub space: Space,
}

/// An invite link that grants guests a role on a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CollectionInvite {
    /// Always `invite`.
    pub object: InviteObject,
    /// The id; any user can join with it.
    pub id: InviteId,
    /// Always `collection`.
    pub target: ToCollection,
    /// The role on the collection.
    pub level: Role,
    /// `true` if the link would not grant the caller anything new.
    pub redundant: bool,
    /// The collection.
    pub collection: Collection,
}

/// A new invite link: either `role`, or `level` with one of `space` and `collection`.
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
    /// The id of the space.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space: Option<String>,
    /// The id of the collection.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub collection: Option<String>,
}

/// An update of an invite link: `role` for a link to the organization, `level` for a link to content.
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
