//! Share links, which grant access to a site by a secret URL.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, ShareLinkId, Timestamp, list::constants, patch::deserialize_non_null};

constants! {
    /// `share-link`.
    ShareLinkObject = "share-link",
}

/// The name of a share link.
pub type ShareLinkName = BoundedText<0, 50>;

/// A share link. Anyone who has its URL can read the site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShareLink {
    /// Always `share-link`.
    pub object: ShareLinkObject,
    pub id: ShareLinkId,
    pub created_at: Timestamp,
    pub name: ShareLinkName,
    /// `true` if the link grants access to the site.
    pub active: bool,
    pub urls: ShareLinkUrls,
}

/// URLs of a share link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ShareLinkUrls {
    /// The site URL including the secret. It works as long as the link is active and the site is published with the
    /// visibility `share-link`. Absent if the secret was encrypted with another key, so that the server cannot decrypt
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// A new share link.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateShareLink {
    pub name: ShareLinkName,
}

/// A partial update of a share link. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateShareLink {
    /// `true` if the link grants access to the site.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub active: Option<bool>,
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub name: Option<ShareLinkName>,
}
