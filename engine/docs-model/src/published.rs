//! From the address of a published page to its content.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{OrgId, SectionId, SiteId, SiteSpaceId, SpaceId, formed_text::formed_text, web_url::web_url};

/// A web address without credentials; unlike elsewhere, blanks may be in it.
#[cfg(feature = "schema")]
const PUBLISHED: &str = concat!(
    r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s/\\?#@\u0000-\u001f\u007f-\u009f]+",
    r"([/\\?#]([^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f])?)?$",
);

formed_text! {
    /// An address that is looked up: an absolute http or https URL.
    PublishedUrl(1, 2048, |text| web_url(text).is_some(), "an address like https://docs.example.com/guides",
        { "pattern": PUBLISHED }),
}

/// An address of a published site, and who wants to read there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResolveUrl {
    /// The address.
    pub url: PublishedUrl,
    /// Whether a visitor whose token is not valid is sent on to where they sign in, instead of an error.
    pub redirect_on_error: Option<bool>,
    /// The visitor; nothing is known of one who is left out.
    pub visitor: Option<ResolveVisitor>,
}

/// What is known of a visitor.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResolveVisitor {
    /// A token that is signed with the site's key; a blank one is none.
    pub jwt_token: Option<String>,
    /// Claims that anybody can make.
    pub unsigned_claims: Option<Map<String, Value>>,
}

/// What an address leads to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum ResolvedUrl {
    /// Content of a site.
    Content(Box<ResolvedContent>),
    /// Another address.
    Redirect(ResolvedElsewhere),
}

/// Another address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ResolvedElsewhere {
    /// What is there.
    pub target: ElsewhereTarget,
    /// The address.
    pub redirect: String,
}

/// What is at another address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ElsewhereTarget {
    /// The application.
    Application,
    /// Published content.
    Content,
    /// Somebody else's, such as where visitors sign in.
    External,
}

/// Content of a published site, and what it is read with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ResolvedContent {
    /// The organization.
    pub organization: OrgId,
    /// The site.
    pub site: SiteId,
    /// The section of the site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_section: Option<SectionId>,
    /// The space on the site.
    pub site_space: SiteSpaceId,
    /// The space.
    pub space: SpaceId,
    /// The path of the page in the space, with a slash before it.
    pub pathname: String,
    /// The path of the space in the address, with a slash before and behind it.
    pub base_path: String,
    /// The path of the site in the address, with a slash before and behind it.
    pub site_base_path: String,
    /// What the content is read with, as a bearer token: a JSON Web Token that is good for a while.
    pub api_token: String,
    /// The key of the share link that the address leads through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_key: Option<String>,
    /// Whether the whole address is understood: no longer one leads to another section or space.
    pub complete: bool,
    /// Equal for visitors who see the same: a key for caches. Absent where all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_id: Option<String>,
    /// The address that the page has besides others.
    pub canonical_url: String,
}
