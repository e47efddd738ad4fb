//! Users.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, Patch, Url, UserId, list::constants, patch::deserialize_non_null};

constants! {
    /// `user`.
    UserObject = "user",
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Always `user`.
    pub object: UserObject,
    pub id: UserId,
    /// The name shown to other users.
    pub display_name: String,
    /// The e-mail address; present only if the caller may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The URL of the user's picture.
    #[serde(default, rename = "photoURL", skip_serializing_if = "Option::is_none")]
    pub photo_url: Option<String>,
    pub urls: UserUrls,
}

/// URLs of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UserUrls {
    /// The user in this API.
    pub location: String,
}

/// A partial update of a user. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateUser {
    /// The name shown to other users.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub display_name: Option<BoundedText<1, 64>>,
    /// The URL of the user's picture; `null` removes it.
    #[serde(default, rename = "photoURL")]
    pub photo_url: Patch<Url>,
}
