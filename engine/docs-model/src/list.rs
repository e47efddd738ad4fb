//! Paginated lists, and the constants that identify resource types.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "{T}List"))]
pub struct List<T> {
    /// The position of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextPage>,
    /// The total number of items, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The items of this page.
    pub items: Vec<T>,
}

/// The position of the next page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NextPage {
    /// The value of the `page` query parameter for the next page.
    pub page: String,
}

/// Declares constants that identify resource types. Each serializes to its string and accepts no other value.
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
