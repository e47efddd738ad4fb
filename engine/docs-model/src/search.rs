//! Search requests and results.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, PageId, PageUrls, SpaceId, SpaceTitle};

/// The text of a search query.
pub type SearchText = BoundedText<1, 512>;

/// A page that matches a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchPageResult {
    pub id: PageId,
    pub title: String,
    /// The path within the space.
    pub path: String,
    /// The matching sections, best match first. Absent if only the title or the description matches, and for a short
    /// time after the text was edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SearchSectionResult>,
    pub urls: PageUrls,
}

/// A matching section of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchSectionResult {
    /// The id of the section, unique within the space.
    pub id: String,
    /// The heading, or the title of the page for text before the first heading.
    pub title: String,
    /// The path of the page within the space, followed by `#` and the anchor, if any.
    pub path: String,
    /// An excerpt around the match.
    pub body: String,
    pub urls: PageUrls,
}

/// A space with matching pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchSpaceResult {
    pub id: SpaceId,
    pub title: SpaceTitle,
    /// The pages of the space that are among the best matches of all spaces, best match first.
    pub pages: Vec<SearchPageResult>,
}

/// A search on a site. If `scope` is absent, the legacy fields `mode`, `siteSpaceId` and `siteSpaceIds` define the
/// scope. Without these, the whole site is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "required": ["scope"], "properties": { "scope": { "type": "object" } } },
    { "properties": { "mode": { "type": ["string", "null"], "enum": ["all", null] } } },
    { "required": ["mode", "siteSpaceId"], "properties": {
        "mode": { "type": "string", "enum": ["current"] }, "siteSpaceId": { "type": "string" },
    } },
    { "required": ["mode", "siteSpaceIds"], "properties": {
        "mode": { "type": "string", "enum": ["specific"] },
        "siteSpaceIds": { "type": "array", "items": { "type": "string" } },
    } },
])))]
#[serde(rename_all = "camelCase")]
pub struct SearchSite {
    pub query: SearchText,
    /// The scope of the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<SiteSearchScope>,
    /// The scope of the search in the legacy form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<SiteSearchMode>,
    /// The site space that the visitor is viewing, for the mode `current`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_space_id: Option<String>,
    /// The site spaces to search, for the mode `specific`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub site_space_ids: Option<Vec<String>>,
}

/// The scope of a site search in the legacy form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SiteSearchMode {
    /// The whole site.
    All,
    /// The site space that the visitor is viewing.
    Current,
    /// The listed site spaces.
    Specific,
}

/// The scope of a site search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum SiteSearchScope {
    /// The default site space and the given ones.
    #[serde(rename_all = "camelCase")]
    Default {
        /// Additional site spaces to search.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        included_site_spaces: Vec<String>,
    },
    /// The given site spaces.
    #[serde(rename_all = "camelCase")]
    Specific {
        /// The site spaces to search.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        site_space_ids: Vec<String>,
    },
    /// The whole site.
    All,
}
