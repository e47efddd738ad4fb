//! Search requests and results.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, PageId, PageUrls, SpaceId, SpaceTitle, list::constants};

constants! {
    /// `space`.
    SearchSpaceType = "space",
}

/// The text of a search query.
pub type SearchText = BoundedText<1, 512>;

/// A page that matches a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchPageResult {
    pub id: PageId,
    pub title: String,
    /// The description of the page; empty without one.
    pub description: String,
    /// The path within the space.
    pub path: String,
    /// The relevance of the page. Higher is better. Scores are comparable within one search only.
    pub score: u32,
    /// The position in the results of the whole search, starting at 1.
    pub rank: u64,
    /// The part of the page that matches.
    pub result_type: SearchResultType,
    /// The pages and groups above the page, from the top level to the parent.
    pub ancestors: Vec<SearchAncestor>,
    /// The matching sections, best match first. Absent if only the title or the description matches, and for a short
    /// time after the text was edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SearchSectionResult>,
    pub urls: PageUrls,
}

/// A page or a group above a search result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchAncestor {
    pub title: String,
}

/// The part of a page that matches a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SearchResultType {
    /// Only the title or the description.
    Page,
    /// At least one section of the text.
    Section,
}

/// A matching section of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SearchSectionResult {
    /// The id of the section, unique within the space.
    pub id: String,
    /// The heading, or the title of the page for text before the first heading.
    pub title: String,
    /// The path of the page within the space, followed by `#` and the anchor, if any.
    pub path: String,
    /// The score of the page.
    pub score: u32,
    /// Always `section`.
    pub result_type: SearchResultType,
    /// An excerpt around the match.
    pub body: String,
    pub urls: PageUrls,
}

/// A space with matching pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchSpaceResult {
    /// Always `space`.
    #[serde(rename = "type")]
    pub kind: SearchSpaceType,
    pub id: SpaceId,
    pub title: SpaceTitle,
    /// The score of the best page.
    pub score: u32,
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
    /// The site space that the visitor is viewing, and the default site space of each section.
    Current,
    /// The listed site spaces.
    Specific,
}

/// A part of the default scope of a site search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SiteSearchPart {
    /// The site space that the visitor is viewing.
    CurrentSiteSpace,
    /// All other site spaces of the scope.
    OtherSiteSpaces,
}

/// The scope of a site search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum SiteSearchScope {
    /// The default site space of each section, and the given site spaces.
    #[serde(rename_all = "camelCase")]
    Default {
        /// Additional site spaces to search.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        included_site_spaces: Vec<String>,
        /// The site space that the visitor is viewing. It is always searched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        current_site_space: Option<String>,
        /// The searched part of the scope. Requires `currentSiteSpace`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restrict_to: Option<SiteSearchPart>,
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
