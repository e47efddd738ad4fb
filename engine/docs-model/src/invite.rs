//! Invites to an organization, by e-mail or by link.

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
    /// The e-mail addresses.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100)))]
    pub emails: Vec<InviteEmail>,
    /// The role for addresses without a role of their own, or `null` for guest; by default, the default role of the
    /// organization.
    #[serde(default)]
    pub role: Patch<Role>,
    /// `true` if the invited users will sign in with the organization's single sign-on.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub sso: Option<bool>,
}

/// Pattern of an e-mail address: one `@` between characters other than whitespace and control characters.
#[cfg(feature = "schema")]
const EMAIL: &str = r"^[^\s@\u0000-\u001f\u007f-\u009f]+@[^\s@\u0000-\u001f\u007f-\u009f]+$";

/// An e-mail address to invite, optionally with its own role.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged, expecting = "must be an e-mail address, or an object with `email` and `role`")]
pub enum InviteEmail {
    /// An e-mail address.
    Plain(#[cfg_attr(feature = "schema", schemars(regex(pattern = EMAIL)))] BoundedText<3, 254>),
    /// An e-mail address with its own role.
    WithRole(InviteWithRole),
}

/// An e-mail address to invite with its own role.
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
    /// The existing users who own one of the addresses. They were added as members.
    pub users: Vec<UserId>,
    /// The number of addresses without a user. An invite was sent to each of them.
    pub invited: u64,
    /// The addresses of users who cannot use the requested single sign-on because they sign in by other means. They
    /// were not invited.
    #[serde(default, rename = "failedSSOEmails", skip_serializing_if = "Vec::is_empty")]
    pub failed_sso_emails: Vec<String>,
}

/// An invite to the e-mail address of a person who is not a user yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EmailInvite {
    /// The id of the invite. Only the owner of the address can accept it.
    pub id: InviteId,
    /// The e-mail address, in lower case.
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
    /// The id of the invite. Any user can accept it.
    pub id: InviteId,
    /// Always `organization`.
    pub target: ToOrganization,
    /// The role; `null` for guest.
    pub role: Option<Role>,
    /// `true` if the link would not grant the caller any additional access.
    pub redundant: bool,
}

/// An invite link that grants guests a role on a space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SpaceInvite {
    /// Always `invite`.
    pub object: InviteObject,
    /// The id of the invite. Any user can accept it.
    pub id: InviteId,
    /// Always `space`.
    pub target: ToSpace,
    /// The role on the space.
    pub level: Role,
    /// `true` if the link would not grant the caller any additional access.
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
    /// The id of the invite. Any user can accept it.
    pub id: InviteId,
    /// Always `collection`.
    pub target: ToCollection,
    /// The role on the collection.
    pub level: Role,
    /// `true` if the link would not grant the caller any additional access.
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
