//! Share links: secrets that open a site.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, ShareLinkId, Timestamp, list::constants, patch::given};

constants! {
    /// `share-link`.
    ShareLinkObject = "share-link",
}

/// Name of a share link.
pub type ShareLinkName = BoundedText<0, 50>;

/// A share link: whoever has its address may read the site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShareLink {
    /// Always `share-link`.
    pub object: ShareLinkObject,
    /// The id.
    pub id: ShareLinkId,
    /// When it was created.
    pub created_at: Timestamp,
    /// What it is called.
    pub name: ShareLinkName,
    /// Whether it opens the site.
    pub active: bool,
    /// Addresses of the link.
    pub urls: ShareLinkUrls,
}

/// Addresses of a share link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ShareLinkUrls {
    /// The site, with the secret. It leads somewhere while the site is published to holders of share links and the
    /// link is active. Absent where the server cannot open the secret, because another key sealed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// What a new share link is called.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateShareLink {
    /// What it is called.
    pub name: ShareLinkName,
}

/// A change of a share link; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateShareLink {
    /// Whether it opens the site.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub active: Option<bool>,
    /// What it is called.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub name: Option<ShareLinkName>,
}
