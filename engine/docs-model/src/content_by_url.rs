//! The content at a URL, and its description as an embed.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeRequest, Collection, RevisionPage, Space, list::constants};

constants! {
    /// `link`.
    EmbedType = "link",
}

/// The content at a URL of a published site or of the application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum ContentByUrl {
    /// A collection.
    Collection {
        /// The collection.
        collection: Box<Collection>,
    },
    /// The content of a space.
    #[serde(rename_all = "camelCase")]
    Space {
        /// The space.
        space: Box<Space>,
        /// The change request, if the URL is that of one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change_request: Option<Box<ChangeRequest>>,
        /// The document or group at the path of the URL; absent for the URL of the whole space and for other pages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page: Option<Box<RevisionPage>>,
    },
}

/// The description of a URL that is embedded in a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Embed {
    /// Always `link`.
    #[serde(rename = "type")]
    pub kind: EmbedType,
    /// The title of the content of the platform at the URL or of the web page; without one, the URL without scheme,
    /// query and fragment.
    pub title: String,
    /// The description of the web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The name of the site, otherwise the host of the URL.
    pub site: String,
}
