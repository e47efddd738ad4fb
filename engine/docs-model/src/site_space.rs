//! Spaces of a site.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, Condition, SectionId, SitePath, SiteSpaceId, Space, list::constants};

constants! {
    /// `site-space`.
    SiteSpaceObject = "site-space",
}

/// Title of a site.
pub type SiteTitle = BoundedText<2, 128>;

/// The entry of a space on a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteSpace {
    /// Always `site-space`.
    pub object: SiteSpaceObject,
    pub id: SiteSpaceId,
    /// The path, unique in the section or on a site without sections.
    pub path: SitePath,
    /// The section that contains the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<SectionId>,
    pub space: Space,
    /// The title on the site.
    pub title: String,
    /// `true` if the space is shown first in its section, or on a site without sections.
    pub default: bool,
    /// An expression that must be true for a visitor to see the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// `true` if the space can have a customization of its own.
    pub has_advanced_customization_feature: bool,
    pub urls: SiteSpaceUrls,
}

/// Addresses of a space on a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteSpaceUrls {
    /// The space on the site in this API.
    pub location: String,
    /// The published address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}
