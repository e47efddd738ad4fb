//! Spaces of a site.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, Condition, LocalizedText, SectionId, SitePath, SiteSpaceId, Space, list::constants,
};

constants! {
    /// `site-space`.
    SiteSpaceObject = "site-space",
}

/// The title of a site.
pub type SiteTitle = BoundedText<2, 128>;
/// The variants of a title by language.
pub type LocalizedTitle = LocalizedText<128>;

/// A space on a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteSpace {
    /// Always `site-space`.
    pub object: SiteSpaceObject,
    pub id: SiteSpaceId,
    /// The path, unique within the section, or within the site if it has no sections.
    pub path: SitePath,
    /// The section that contains the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<SectionId>,
    pub space: Space,
    /// The title on the site.
    pub title: String,
    /// `true` if this is the default space of its section, or of the site if it has no sections.
    pub default: bool,
    /// A condition; only visitors who meet it see the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// `true` if the space is a draft, which visitors cannot see. A space in a draft section or group is not published
    /// either.
    #[serde(default)]
    pub draft: bool,
    /// `true` if the navigation of the site omits the space. Its pages can be read at their URLs.
    #[serde(default)]
    pub hidden: bool,
    /// `true` if the space can have its own customization.
    pub has_advanced_customization_feature: bool,
    pub urls: SiteSpaceUrls,
}

/// URLs of a space on a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteSpaceUrls {
    /// The site space in this API.
    pub location: String,
    /// The published URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}
