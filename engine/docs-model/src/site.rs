//! Sites, which publish spaces.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ApplySpaceTemplate, Basename, Customization, Favicon, Level, Patch, ProxyOrigin, SiteHostname, SiteId,
    SiteSpaceId, SiteStructure, SiteTitle, SpaceId, Timestamp, Unsupported, Visibility, list::constants,
    patch::deserialize_non_null,
};

constants! {
    /// `site`.
    SiteObject = "site",
    /// `published-content-site`.
    PublishedSiteObject = "published-content-site",
}

/// The type of a site. It is stored but has no effect, because the platform charges nothing.
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
    /// Anyone. Search engines may index the site.
    #[default]
    Public,
    /// Anyone. Search engines must not index the site.
    Unlisted,
    /// Anyone who has a secret URL.
    ShareLink,
    /// Visitors who are authenticated by a signed token.
    VisitorAuth,
}

impl SiteVisibility {
    /// Returns `true` if the site can be read without a secret and without authentication.
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

/// Controls whether agents can use a site.
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

/// Adaptive content settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AdaptiveContent {
    /// `true` if the content adapts to the visitor.
    pub enabled: bool,
}

/// The location at which another host proxies a site.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteProxy {
    /// The host and path under which visitors reach the site.
    pub origin: ProxyOrigin,
    /// The URL to which the other host forwards requests.
    pub target: String,
}

/// A feature of a site plan. Because site plans are not charged, feature lists are empty.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteFeature {
    pub id: String,
    /// The plan that includes the feature.
    pub plan: SiteType,
    /// `true` if the feature was carried over from an earlier plan.
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
    /// The type that is in effect. Equal to `type`, because no type is restricted.
    pub applied_type: SiteType,
    pub title: SiteTitle,
    /// The favicon, if the customization sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Favicon>,
    /// The custom hostname of the site, assigned by the embedding application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<SiteHostname>,
    /// The base name of the site in its published URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basename: Option<Basename>,
    /// The location at which another host proxies the site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<SiteProxy>,
    pub visibility: SiteVisibility,
    /// `true` if the site is available to its audience.
    pub published: bool,
    /// The number of spaces, excluding deleted ones.
    pub site_spaces: u64,
    /// The space that is shown by default; `null` if there is none or the caller cannot see it.
    pub default_space: Option<SpaceId>,
    pub created_at: Timestamp,
    pub adaptive_content: AdaptiveContent,
    pub agents_context: AgentsContext,
    /// The role on the site of members without a grant of their own: a role, `inherit` for the role in the
    /// organization, or `null` for no access. The returned value can be sent back without effect.
    pub default_level: Option<Level>,
    /// The caller's permissions for the site.
    pub permissions: SitePermissions,
    /// The features of the plan.
    pub features: Vec<SiteFeature>,
    pub urls: SiteUrls,
}

/// The caller's permissions for a site. All of them except `view` are `false` for visitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the wire format is an object of flags")]
pub struct SitePermissions {
    pub view: bool,
    /// The caller can read the settings of the site.
    pub access: bool,
    /// The caller has at least the role `edit` on the site. The role on each space determines if they can edit it.
    pub edit: bool,
    /// The caller can change the structure of the site.
    pub create: bool,
    /// The caller can change the settings of the site and publish it.
    pub admin: bool,
    /// Always `false`, because there are no integrations.
    pub install_integration: bool,
    pub view_adaptive_schema: bool,
    pub edit_adaptive_schema: bool,
}

impl SitePermissions {
    /// The permissions of a visitor.
    pub const VISITOR: Self = Self {
        view: true,
        access: false,
        edit: false,
        create: false,
        admin: false,
        install_integration: false,
        view_adaptive_schema: false,
        edit_adaptive_schema: false,
    };
}

/// URLs of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteUrls {
    /// The site in this API.
    pub location: String,
    /// The site in the web application.
    pub app: String,
    /// The published URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The URL at which members preview the site, with its change requests and revisions, before it is published.
    pub preview: String,
}

/// The customizations of a site and its spaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Customizations {
    /// The customization of the site.
    pub site: Customization,
    /// The customizations of spaces that override the site's customization, by site space id.
    pub site_spaces: BTreeMap<SiteSpaceId, Customization>,
}

/// A script that a published site loads. Scripts can only be added by integrations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteScript {
    /// The URL of the script.
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
    /// The title; by default the title of the first space, or of the organization if there is none.
    pub title: Option<SiteTitle>,
    /// The audience; `public` by default.
    pub visibility: Option<SiteVisibility>,
    /// The ids of the spaces to publish; `empty` or `sample` creates a new space.
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
    /// The default role on the site: a role, `inherit`, or `null` to hide the site from everyone except administrators,
    /// its creator, and members with a grant of their own.
    #[serde(default)]
    pub default_level: Patch<Level>,
    /// The site space to show by default. On a site with sections, it belongs to the default section.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_site_space: Option<String>,
    /// The section to show by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_site_section: Option<String>,
    /// The host and path at which another host proxies the site; `null` removes the proxy.
    #[serde(default)]
    pub proxy: Patch<ProxyOrigin>,
}

/// A space to add to a site.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["spaceId"])))]
#[serde(rename_all = "camelCase")]
pub struct AddSiteSpace {
    /// The id of the space; `null` creates a new, empty space with the given title.
    #[serde(deserialize_with = "Option::deserialize")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space_id: Option<String>,
    /// The template for the content of the new space, if `spaceId` is `null`.
    #[serde(default)]
    pub template: Option<ApplySpaceTemplate>,
    /// The section to which to add the space. The default is the default section, or none on a site without sections.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub section_id: Option<String>,
    /// `true` creates a draft, which visitors cannot see.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub draft: Option<bool>,
    /// The title on the site; the title of the space by default.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SiteTitle>,
    /// Not supported: a space opens at its first page.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "()"))]
    pub page_id: Option<Unsupported>,
}
