//! The page actions of a site, as a list and as individual settings.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{BoundedVec, patch::deserialize_non_null};

/// An action in the menu of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageAction {
    /// Ask the assistant of the site. It has no effect.
    Assistant,
    /// Open the page in an external assistant.
    ExternalAi,
    /// Show the page as Markdown.
    Markdown,
    /// Connect an agent to the site.
    Mcp,
    /// Edit the page in its repository.
    Git,
    /// Export the page as a PDF file.
    Pdf,
}

/// The page actions in the order of the menu.
pub type PageActionItems = BoundedVec<PageAction, 0, 6>;

/// The actions offered on each page.
///
/// In responses, all fields are present and agree with each other. In requests, older clients set the individual fields
/// together with `pdf` and `git` of the customization, and newer ones set `items`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageActions {
    /// The enabled actions, in display order. If a request contains other fields too, the list counts only if it
    /// differs from the current one.
    #[serde(default, deserialize_with = "deserialize_non_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(extend("uniqueItems" = true)))]
    pub items: Option<PageActionItems>,
    #[serde(
        rename = "externalAI",
        default,
        deserialize_with = "deserialize_non_null",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub external_ai: Option<bool>,
    #[serde(default, deserialize_with = "deserialize_non_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub markdown: Option<bool>,
    #[serde(default, deserialize_with = "deserialize_non_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub mcp: Option<bool>,
}

/// All actions except those that are disabled by default.
impl Default for PageActions {
    fn default() -> Self {
        let enabled = vec![PageAction::ExternalAi, PageAction::Markdown, PageAction::Mcp, PageAction::Pdf];
        let items = PageActionItems::new(enabled).ok();
        Self { items, external_ai: Some(true), markdown: Some(true), mcp: Some(true) }
    }
}
