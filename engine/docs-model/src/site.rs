//! Sites.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Basename, BoundedText, Condition, Customization, Favicon, Patch, ProxyOrigin, SectionId, SiteHostname,
    SiteId, SitePath, SiteSpaceId, SiteStructure, Space, SpaceId, Timestamp, Visibility, list::constants,
    patch::given,
};

constants! {
    /// `site`.
    SiteObject = "site",
    /// `site-space`.
    SiteSpaceObject = "site-space",
    /// `published-content-site`.
    PublishedSiteObject = "published-content-site",
}

/// Title of a site.
pub type SiteTitle = BoundedText<2, 128>;

/// What a site may do; recorded, not enforced: nobody is billed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each name says what it is")]
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
    /// The type as it is written.
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

/// Who may see a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SiteVisibility {
    /// Anyone, and search engines.
    #[default]
    Public,
    /// Anyone, not indexed.
    Unlisted,
    /// Anyone with a secret in the address.
    ShareLink,
    /// Anyone authenticated through a signed token.
    VisitorAuth,
}

impl SiteVisibility {
    /// Tells whether everybody may read it, without a secret and without signing in.
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

/// Whether agents may use a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentsContext {
    /// They may not.
    #[default]
    Excluded,
    /// They may.
    Included,
}

/// Whether content adapts to its visitor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AdaptiveContent {
    /// It does.
    pub enabled: bool,
}

/// Where a site is mounted on another host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteProxy {
    /// The host and path under which visitors reach the site.
    pub origin: ProxyOrigin,
    /// The address to forward to.
    pub target: String,
}

/// A capability of a site's plan. Sites are not billed, so no list holds one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteFeature {
    /// Its key.
    pub id: String,
    /// The plan that has it.
    pub plan: SiteType,
    /// Kept from an earlier plan.
    pub frozen: bool,
    /// What it lets a site customize.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub customizations: Vec<SiteCustomizationFeature>,
}

/// What a capability lets a site customize.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each name says what it is")]
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

/// A site: publishes spaces to an audience.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Site {
    /// Always `site`.
    pub object: SiteObject,
    /// The site's id.
    pub id: SiteId,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: SiteType,
    /// Its title.
    pub title: SiteTitle,
    /// What browsers show beside it, from its customization; absent while that names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Favicon>,
    /// The host of its own that it is published on; the host of the platform sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<SiteHostname>,
    /// Its base name in the published address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basename: Option<Basename>,
    /// Where it is mounted on another host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<SiteProxy>,
    /// Who may see it.
    pub visibility: SiteVisibility,
    /// Whether that audience can reach it.
    pub published: bool,
    /// How many spaces it has, deleted ones left out.
    pub site_spaces: u64,
    /// The space that is shown first; `null` while there is none, or it is not for the reader.
    pub default_space: Option<SpaceId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// Whether content adapts to its visitor.
    pub adaptive_content: AdaptiveContent,
    /// Whether agents may use it.
    pub agents_context: AgentsContext,
    /// Capabilities of its plan.
    pub features: Vec<SiteFeature>,
    /// Addresses of the site.
    pub urls: SiteUrls,
}

/// Addresses of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteUrls {
    /// The site in this API.
    pub location: String,
    /// The site for people.
    pub app: String,
    /// Where it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// A space on a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteSpace {
    /// Always `site-space`.
    pub object: SiteSpaceObject,
    /// The id.
    pub id: SiteSpaceId,
    /// Its path in its section, or on a site without sections.
    pub path: SitePath,
    /// The section it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<SectionId>,
    /// The space.
    pub space: Space,
    /// Its title on the site.
    pub title: String,
    /// Whether it is what a visitor of its section sees first, or of the site where that has no sections.
    pub default: bool,
    /// An expression that decides who sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// Whether it may be customized on its own.
    pub has_advanced_customization_feature: bool,
    /// Addresses of the space on the site.
    pub urls: SiteSpaceUrls,
}

/// Addresses of a space on a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteSpaceUrls {
    /// The space on the site in this API.
    pub location: String,
    /// Where it is published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
}

/// How a site and its spaces look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Customizations {
    /// The site.
    pub site: Customization,
    /// Spaces that differ, by the id of the site space.
    pub site_spaces: BTreeMap<SiteSpaceId, Customization>,
}

/// A script that a published site loads. Only integrations bring scripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteScript {
    /// Its address.
    pub script: String,
    /// The policy it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_security_policy: Option<String>,
    /// Whether it sets cookies.
    pub cookies: bool,
}

/// Everything a reader of a published site needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PublishedSite {
    /// Always `published-content-site`.
    pub object: PublishedSiteObject,
    /// The site.
    pub site: Site,
    /// What it consists of.
    pub structure: SiteStructure,
    /// How it looks.
    pub customizations: Customizations,
    /// What it loads.
    pub scripts: Vec<SiteScript>,
}

/// What a new site is made of; everything may be left out.
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
    /// `basic` when absent.
    #[serde(rename = "type")]
    pub kind: Option<SiteType>,
    /// The title; that of its first space, or of the organization, when absent.
    pub title: Option<SiteTitle>,
    /// `public` when absent.
    pub visibility: Option<SiteVisibility>,
    /// Ids of spaces to publish, or `empty` or `sample` for a new one.
    pub spaces: Option<SiteSpacesInput>,
    /// Create a new, empty space for the site.
    pub create_space: Option<bool>,
}

/// The spaces of a new site.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged, expecting = "must be a list of space ids, or `empty`, or `sample`")]
pub enum SiteSpacesInput {
    /// These.
    Existing(
        #[cfg_attr(feature = "schema", schemars(length(max = 100), transform = crate::schema::id))]
        Vec<String>,
    ),
    /// A new one.
    New(NewSpace),
}

/// What a new space for a site holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum NewSpace {
    /// A page to look at.
    Sample,
    /// Nothing.
    Empty,
}

/// A change of a site; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSite {
    /// The title.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<SiteTitle>,
    /// Who may see it.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub visibility: Option<SiteVisibility>,
    /// The base name, unique among sites.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub basename: Option<Basename>,
    /// Whether content adapts to its visitor.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub adaptive_content: Option<AdaptiveContent>,
    /// Whether agents may use it.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub agents_context: Option<AgentsContext>,
    /// The site space to show first: in the default section, where the site has sections.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_site_space: Option<String>,
    /// The section to show first.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_site_section: Option<String>,
    /// Host and path to mount it on; `null` removes it.
    #[serde(default)]
    pub proxy: Patch<ProxyOrigin>,
}

/// A space to add to a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AddSiteSpace {
    /// The space.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space_id: String,
    /// The section to add it to; the default one, or none, when absent.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub section_id: Option<String>,
}
