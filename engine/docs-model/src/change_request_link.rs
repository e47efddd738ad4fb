//! Links from change requests to related web pages.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, BoundedVec, ChangeRequestLinkId, Url, list::constants, patch::deserialize_non_null,
};

constants! {
    /// `url`.
    UrlRefKind = "url",
}

/// The links of a change request.
pub type ChangeRequestLinks = BoundedVec<ChangeRequestLink, 0, 10>;

/// A link from a change request to a related web page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangeRequestLink {
    pub id: ChangeRequestLinkId,
    /// The web page.
    #[serde(rename = "ref")]
    pub reference: UrlRef,
    /// The displayed title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<ChangeRequestLinkTitle>,
}

/// The title of a link of a change request.
pub type ChangeRequestLinkTitle = BoundedText<0, 128>;

/// A reference to a web page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UrlRef {
    /// Always `url`.
    pub kind: UrlRefKind,
    pub url: Url,
}

/// A link of a change request in a request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangeRequestLinkInput {
    /// The id of an existing link of the change request. A link without an id is added.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub id: Option<ChangeRequestLinkId>,
    /// The web page.
    #[serde(rename = "ref")]
    pub reference: UrlRef,
    /// The displayed title.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<ChangeRequestLinkTitle>,
}
