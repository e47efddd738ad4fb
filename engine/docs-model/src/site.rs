//! Sites, which publish spaces.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Basename, Customization, Favicon, Patch, ProxyOrigin, SiteHostname, SiteId, SiteSpaceId, SiteStructure,
    SiteTitle, SpaceId, Timestamp, Visibility, list::constants, patch::deserialize_non_null,
};

constants! {
    /// `site`.
    SiteObject = "site",
    /// `published-content-site`.
    PublishedSiteObject = "published-content-site",
}

/// The type of a site. It is stored but has no effect, since the platform charges nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SiteType {
    #[default]
    Basic,
    Premium,
    Ultimate,
    Sponsored,
    LegacyBasic,
    LegacyPremium,
}

impl SiteType {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Premium => "premium",
            Self::Ultimate => "ultimate",
            Self::Sponsored => "sponsored",
            Self::LegacyBasic => "legacy-basic",
            Self::LegacyPremium => "legacy-premium",
        }
    }
}

/// The audience of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SiteVisibility {
    /// Anyone; indexed by search engines.
    #[default]
    Public,
    /// Anyone; not indexed by search engines.
    Unlisted,
    /// Anyone with a secret in the address.
    ShareLink,
    /// Visitors authenticated by a signed token.
    VisitorAuth,
}

impl SiteVisibility {
    /// Returns `true` if the site can be read without a secret and without signing in.
    #[must_use]
    pub const fn is_for_everybody(self) -> bool {
        matches!(self, Self::Public | Self::Unlisted)
    }
}

impl From<SiteVisibility> for Visibility {
    fn from(visibility: SiteVisibility) -> Self {
        match visibility {
            SiteVisibility::Public => Self::Public,
            SiteVisibility::Unlisted => Self::Unlisted,
            SiteVisibility::ShareLink => Self::ShareLink,
            SiteVisibility::VisitorAuth => Self::VisitorAuth,
        }
    }
}

/// The use of a site by agents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentsContext {
    /// Agents may not use the site.
    #[default]
    Excluded,
    /// Agents may use the site.
    Included,
}

/// The setting of adaptive content.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AdaptiveContent {
    /// `true` if content adapts to its visitor.
    pub enabled: bool,
}

/// The mount point of a site on another host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteProxy {
    /// The host and path under which visitors reach the site.
    pub origin: ProxyOrigin,
    /// The address to which the other host forwards requests.
    pub target: String,
}

/// A feature of a site's plan. Site plans are not charged, so lists of features are empty.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteFeature {
    pub id: String,
    /// The plan that includes the feature.
    pub plan: SiteType,
    /// `true` if the feature was retained from an earlier plan.
    pub frozen: bool,
    /// The customizations that the feature permits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub customizations: Vec<SiteCustomizationFeature>,
}

/// A customization that a feature permits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SiteCustomizationFeature {
    HeaderLogo,
    ThemePreset,
    PremiumFonts,
    CustomIcons,
    FooterLogo,
    FooterLinks,
    FooterCopyright,
    SemanticColors,
}

/// A site, which publishes spaces to an audience.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Site {
    /// Always `site`.
    pub object: SiteObject,
    pub id: SiteId,
    #[serde(rename = "type")]
    pub kind: SiteType,
    pub title: SiteTitle,
    /// The icon shown by browsers, from the customization; absent if no icon is customized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Favicon>,
    /// The site's own host name, assigned by the embedding application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<SiteHostname>,
    /// The base name of the site in its published address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basename: Option<Basename>,
    /// The mount point of the site on another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<SiteProxy>,
    pub visibility: SiteVisibility,
    /// `true` if the audience can reach the site.
    pub published: bool,
    /// The number of spaces, excluding deleted ones.
    pub site_spaces: u64,
    /// The space that is shown first; `null` if there is none or the caller may not see it.
    pub default_space: Option<SpaceId>,
    pub created_at: Timestamp,
    pub adaptive_content: AdaptiveContent,
    pub agents_context: AgentsContext,
    /// The features of the plan.
    pub features: Vec<SiteFeature>,
    pub urls: SiteUrls,
}

/// Addresses of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteUrls {
    /// The site in this API.
    pub location: String,
    /// The site in the web application.
    pub app: String,
    /// The published address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// The customizations of a site and its spaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Customizations {
    /// The customization of the site.
    pub site: Customization,
    /// The customizations of spaces that override the site, by the id of the site space.
    pub site_spaces: BTreeMap<SiteSpaceId, Customization>,
}

/// A script that a published site loads. Only integrations add scripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteScript {
    /// The address of the script.
    pub script: String,
    /// The content security policy that the script requires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_security_policy: Option<String>,
    /// `true` if the script sets cookies.
    pub cookies: bool,
}

/// All data needed to render a published site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PublishedSite {
    /// Always `published-content-site`.
    pub object: PublishedSiteObject,
    pub site: Site,
    pub structure: SiteStructure,
    pub customizations: Customizations,
    /// The scripts that the site loads.
    pub scripts: Vec<SiteScript>,
}

/// A new site. All fields are optional.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "properties": { "createSpace": { "type": ["boolean", "null"], "enum": [false, null] } } },
    { "properties": { "spaces": { "anyOf": [
        { "type": "string" }, { "type": "array", "items": { "type": "string" }, "enum": [[]] }, { "type": "null" },
    ] } } },
])))]
#[serde(rename_all = "camelCase")]
pub struct CreateSite {
    /// The type; `basic` by default.
    #[serde(rename = "type")]
    pub kind: Option<SiteType>,
    /// The title; by default the title of the first space or else of the organization.
    pub title: Option<SiteTitle>,
    /// The audience; `public` by default.
    pub visibility: Option<SiteVisibility>,
    /// The ids of spaces to publish, or `empty` or `sample` for a new space.
    pub spaces: Option<SiteSpacesInput>,
    /// `true` creates a new, empty space for the site.
    pub create_space: Option<bool>,
}

/// The spaces of a new site.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged, expecting = "must be a list of space ids, or `empty`, or `sample`")]
pub enum SiteSpacesInput {
    /// Existing spaces by id.
    Existing(
        #[cfg_attr(feature = "schema", schemars(length(max = 100), transform = crate::schema::id))]
        Vec<String>,
    ),
    /// A new space.
    New(NewSpace),
}

/// The content of a new space for a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NewSpace {
    /// A sample page.
    Sample,
    /// No pages.
    Empty,
}

/// A partial update of a site. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSite {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SiteTitle>,
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub visibility: Option<SiteVisibility>,
    /// The base name, unique among sites.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub basename: Option<Basename>,
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub adaptive_content: Option<AdaptiveContent>,
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub agents_context: Option<AgentsContext>,
    /// The site space to show first, within the default section if the site has sections.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_site_space: Option<String>,
    /// The section to show first.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_site_section: Option<String>,
    /// The host and path at which to mount the site; `null` removes the mount.
    #[serde(default)]
    pub proxy: Patch<ProxyOrigin>,
}

/// A space to add to a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddSiteSpace {
    /// The id of the space.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space_id: String,
    /// The section to add the space to. By default the default section, or none on a site without sections.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub section_id: Option<String>,
}
