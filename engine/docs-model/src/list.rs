//! Lists on the wire, and constants that name a resource.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "{T}List"))]
pub struct List<T> {
    /// How to get the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextPage>,
    /// How many items there are in all, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The items of this page.
    pub items: Vec<T>,
}

/// Where the next page of a list begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NextPage {
    /// What to send as the `page` query parameter.
    pub page: String,
}

/// Declares the constants by which resources tell their type: each is written as its text and refuses any other.
macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident = $text:literal),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(inline))]
        pub enum $name {
            /// The only value.
            #[default]
            #[serde(rename = $text)]
            Is,
        }
    )*};
}
pub(crate) use constants;
