//! The addresses of a page for search engines.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ContentRef;

/// The canonical address of a page, and its versions in other languages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageMetaLinks {
    /// The URL of the page on the site that publishes it; absent if no site does, or only one for share links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<ContentRef>,
    /// The pages at the same path in the variants of the space in other languages.
    pub alternates: Vec<ContentRef>,
}
