//! Page types.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", schemars(rename = "RevisionPageType"))]
pub enum PageType {
    /// A page with content.
    Document,
    /// A titled group of pages.
    Group,
    /// A link in the page tree.
    Link,
    /// Pages generated from a source.
    Computed,
}
