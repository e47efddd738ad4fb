//! Share links, which give access to a site by a secret address.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, ShareLinkId, Timestamp, list::constants, patch::deserialize_non_null};

constants! {
    /// `share-link`.
    ShareLinkObject = "share-link",
}

/// Name of a share link.
pub type ShareLinkName = BoundedText<0, 50>;

/// A share link. Anyone who has its address can read the site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShareLink {
    /// Always `share-link`.
    pub object: ShareLinkObject,
    pub id: ShareLinkId,
    pub created_at: Timestamp,
    pub name: ShareLinkName,
    /// `true` if the link gives access to the site.
    pub active: bool,
    pub urls: ShareLinkUrls,
}

/// Addresses of a share link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ShareLinkUrls {
    /// The address of the site with the secret. It works while the site is published with the visibility `share-link`
    /// and the link is active. Absent if the server cannot decrypt the secret because it was encrypted with another
    /// key.
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
    /// `true` if the link gives access to the site.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub active: Option<bool>,
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub name: Option<ShareLinkName>,
}
