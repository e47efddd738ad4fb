//! Search: what is asked, and what is found.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, PageId, PageUrls, SpaceId, SpaceTitle};

/// What is searched for.
pub type SearchText = BoundedText<1, 512>;

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchPageResult {
    /// The page.
    pub id: PageId,
    /// Its title.
    pub title: String,
    /// Its path in its space.
    pub path: String,
    /// The sections that say what was searched for, the best first; absent when only the title or the description does,
    /// and for a moment after the text was edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SearchSectionResult>,
    /// Its addresses.
    pub urls: PageUrls,
}

/// A section of a page that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchSectionResult {
    /// Tells it apart from all other sections of the space.
    pub id: String,
    /// Its heading; the title of the page for what stands before the first heading.
    pub title: String,
    /// The path of its page in the space, with `#` and its anchor where it has one.
    pub path: String,
    /// What it says around what was found.
    pub body: String,
    /// Its addresses.
    pub urls: PageUrls,
}

/// A space in which pages were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchSpaceResult {
    /// The space.
    pub id: SpaceId,
    /// Its title.
    pub title: SpaceTitle,
    /// Those of its pages that are among the best of all, the best first.
    pub pages: Vec<SearchPageResult>,
}

/// A search on a site. Where `scope` is left out, the fields beside it say the same in an older way; without any of
/// them the whole site is searched.
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
    /// What to search for.
    pub query: SearchText,
    /// Where to search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<SiteSearchScope>,
    /// Where to search: the older way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<SiteSearchMode>,
    /// The site space that the visitor is on, with the mode `current`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site_space_id: Option<String>,
    /// The site spaces to search, with the mode `specific`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub site_space_ids: Option<Vec<String>>,
}

/// The older way to say where to search on a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SiteSearchMode {
    /// On the whole site.
    All,
    /// In the site space that the visitor is on.
    Current,
    /// In the site spaces that are named.
    Specific,
}

/// Where to search on a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum SiteSearchScope {
    /// In the default site space, and in those that are named besides.
    #[serde(rename_all = "camelCase")]
    Default {
        /// Further site spaces to search.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        included_site_spaces: Vec<String>,
    },
    /// In the site spaces that are named.
    #[serde(rename_all = "camelCase")]
    Specific {
        /// The site spaces to search.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
        site_space_ids: Vec<String>,
    },
    /// On the whole site.
    All,
}
