//! Resolution of published URLs to content.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{OrgId, SectionId, SiteId, SiteSpaceId, SpaceId, formed_text::formed_text, web_url::web_url};

/// Pattern of a web URL without credentials. Unlike in other fields, the path may contain spaces.
#[cfg(feature = "schema")]
const PUBLISHED: &str = concat!(
    r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s/\\?#@\u0000-\u001f\u007f-\u009f]+",
    r"([/\\?#]([^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f])?)?$",
);

formed_text! {
    /// A URL to resolve: an absolute http or https URL.
    PublishedUrl(1, 2048, |text| web_url(text).is_some(), "an address like https://docs.example.com/guides",
        { "pattern": PUBLISHED }),
}

/// A request to resolve the URL of a published site for a visitor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResolveUrl {
    pub url: PublishedUrl,
    /// `true` resolves to the sign-in URL if the visitor's token is invalid. By default, the request fails.
    pub redirect_on_error: Option<bool>,
    /// The visitor; anonymous by default.
    pub visitor: Option<ResolveVisitor>,
}

/// The visitor who opens a URL.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResolveVisitor {
    /// A token signed with the key of the site. A blank token is ignored.
    pub jwt_token: Option<String>,
    /// Unsigned claims, which anyone can set.
    pub unsigned_claims: Option<Map<String, Value>>,
}

/// The result of resolving a URL.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum ResolvedUrl {
    /// Content of a site.
    Content(Box<ResolvedContent>),
    /// A redirect to another URL.
    Redirect(ResolvedElsewhere),
}

/// A redirect to another URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ResolvedElsewhere {
    /// The type of the target.
    pub target: ElsewhereTarget,
    /// The site of the resolved URL, for an external target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteId>,
    /// The URL of the target.
    pub redirect: String,
}

/// The type of a redirect target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ElsewhereTarget {
    /// The web application.
    Application,
    /// Published content.
    Content,
    /// A third-party URL, for example a sign-in page.
    External,
}

/// Content of a published site, with a token to read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResolvedContent {
    pub organization: OrgId,
    pub site: SiteId,
    /// The section of the site, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_section: Option<SectionId>,
    /// The entry of the space on the site.
    pub site_space: SiteSpaceId,
    pub space: SpaceId,
    /// The path of the page within the space, with a leading slash.
    pub pathname: String,
    /// The path of the space within the URL, with a leading and a trailing slash.
    pub base_path: String,
    /// The path of the site within the URL, with a leading and a trailing slash.
    pub site_base_path: String,
    /// The bearer token for reading the content: a JSON Web Token that expires.
    pub api_token: String,
    /// The key of the share link in the URL, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_key: Option<String>,
    /// `true` if no longer URL with this prefix resolves to another section or space.
    pub complete: bool,
    /// A cache key shared by all visitors who see the same content; absent if all visitors see the same content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// The canonical URL of the page.
    pub canonical_url: String,
    /// The number or id of the change request in a preview URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<String>,
    /// The id of the revision in a preview URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// `true` for a preview URL, otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<bool>,
}

/// A request for the preview URL of a site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreviewSite {
    /// The space to preview: the default one by default. Must not be combined with `target`.
    pub site_space: Option<SiteSpaceId>,
    /// The claims of the visitor whose view is previewed. Unsigned claims are under `unsigned`.
    pub claims: Option<Map<String, Value>>,
    /// `false` hides drafts of sections and spaces.
    pub draft: Option<bool>,
    /// A URL of the site, or of its preview, that the preview URL opens.
    pub target: Option<PublishedUrl>,
}

/// The preview URL of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SitePreviewUrl {
    /// A URL that shows the preview without further credentials until it expires.
    pub url: String,
}
