//! The table of page fields. It generates the edit patch, the request fields and the change attributes in this crate,
//! and the stored record, the edit and the comparison in docs-content.
//!
//! To add a field, add a row. If applicable, also add the field to `RevisionPage` and to the code in docs-core that
//! builds it, and to the front matter in docs-markup.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as SerdeError};
use serde_json::Value;

use super::{BoundedText, Changed, GitBlob, JsonText, PageType, Patch, Title, patch::deserialize_non_null};

/// Front matter fields that the platform does not interpret, by name.
pub type ExtraFields = BTreeMap<String, Value>;

/// Passes the table rows to a macro of the caller.
///
/// A row has the record field, its JSON name and its comparison `Attribute`, followed by optional parts: the field of a
/// `change` between two revisions, and the field of a `request`.
/// Records are serialized in row order, so rows must never be reordered and new rows must be appended. The title has no
/// row because every page has one. Fields with special merge rules have no row either.
#[doc(hidden)]
#[macro_export]
macro_rules! page_fields {
    ($then:ident) => {
        $then! {
            /// The path segment, unique among siblings; empty for links and computed pages. A slug in a patch is
            /// normalized, and a number is appended if a sibling has the same slug. An empty slug is derived from the
            /// title.
            slug: String = "slug" Slug
                change {
                    /// The slug of a document or group.
                    String
                }
                request {
                    /// The last segment of the page's path.
                    #[serde(deserialize_with = "deserialize_non_null")]
                    #[cfg_attr(feature = "schema", schemars(transform = $crate::schema::not_null))]
                    Option<$crate::BoundedText<0, 100>>
                };
            /// The emoji before the title. Setting it removes the icon.
            emoji: Option<String> = "emoji" Emoji
                change {
                    /// The emoji before the title.
                    String
                }
                request {
                    /// The emoji before the title; cannot be combined with `icon`.
                    $crate::Patch<$crate::Emoji>
                };
            /// The icon before the title. Setting it removes the emoji.
            icon: Option<String> = "icon" Icon
                change {
                    /// The icon before the title.
                    String
                }
                request {
                    /// The icon before the title; cannot be combined with `emoji`.
                    $crate::Patch<$crate::Icon>
                };
            /// A short description of the page.
            description: Option<String> = "description" Description
                change {
                    /// The description of a document.
                    String
                }
                request {
                    /// A short description; empty or `null` removes it.
                    #[serde(deserialize_with = "deserialize_clearable")]
                    Option<$crate::BoundedText<0, { $crate::MAX_DESCRIPTION }>>
                };
            /// The visible parts of the page, or `None` for the default layout.
            layout: Option<$crate::PageLayout> = "layout" Layout
                change {
                    /// The layout of a document.
                    $crate::PageLayout
                };
            /// The image above the page.
            cover: Option<$crate::PageCover> = "cover" Cover
                change {
                    /// The cover of a document.
                    $crate::PageCover
                };
            /// Hides the page from the table of contents.
            hidden: bool = "hidden" Hidden
                change {
                    /// `true` if the page is hidden from navigation.
                    bool
                }
                request {
                    /// `true` hides the page from navigation.
                    #[serde(deserialize_with = "deserialize_non_null")]
                    #[cfg_attr(feature = "schema", schemars(transform = $crate::schema::not_null))]
                    Option<bool>
                };
            /// Excludes the page from the platform's search.
            no_index: bool = "noIndex" NoIndex
                change {
                    /// `true` if the page is excluded from the platform's search.
                    bool
                }
                request {
                    /// `true` excludes the page from the platform's search.
                    #[serde(deserialize_with = "deserialize_non_null")]
                    #[cfg_attr(feature = "schema", schemars(transform = $crate::schema::not_null))]
                    Option<bool>
                };
            /// Asks web search engines not to index the page.
            no_robots_index: bool = "noRobotsIndex" NoRobotsIndex
                change {
                    /// `true` if web search engines are asked not to index the page.
                    bool
                }
                request {
                    /// `true` asks web search engines not to index the page.
                    #[serde(deserialize_with = "deserialize_non_null")]
                    #[cfg_attr(feature = "schema", schemars(transform = $crate::schema::not_null))]
                    Option<bool>
                };
            /// All variables of the page.
            variables: $crate::JsonText<$crate::Variables> = "variables" Variables
                change {
                    /// The variables of a document.
                    $crate::Variables
                };
            /// The condition expression; only visitors for whom it is `true` see the page. In a patch, an empty
            /// expression removes it.
            condition: Option<String> = "condition" Condition
                change {
                    /// The condition expression; only visitors for whom it is `true` see the page.
                    String
                }
                request {
                    /// The condition expression; only visitors for whom it is `true` see the page. An empty string or
                    /// `null` removes it.
                    #[serde(deserialize_with = "deserialize_clearable")]
                    Option<$crate::BoundedText<0, 1024>>
                };
            /// The target of a link page.
            target: Option<$crate::ContentRef> = "target" Target
                change {
                    /// The target of a link.
                    $crate::ContentRef
                };
            /// The source of a computed page.
            computed: Option<$crate::JsonText<::serde_json::Value>> = "computed" Computed
                change {
                    /// The source of a computed page.
                    ::serde_json::Value
                };
            /// The seed from which the ids of generated pages are derived.
            computed_seed: Option<String> = "computedSeed" ComputedSeed;
        }
    };
}

macro_rules! define {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ty = $json:literal $attribute:ident
        $(change { $(#[$change:meta])* $changed:ty })?
        $(request { $(#[$request:meta])* $input:ty })?;
    )*) => {
        /// A patch of page fields. An outer `None` leaves a field unchanged, an inner `None` removes its value.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct PagePatch {
            /// The title. It must not be empty.
            pub title: Option<String>,
            $(
                $(#[$doc])*
                pub $name: Option<$type>,
            )*
            /// The Git blob of the page.
            pub git: Option<Option<GitBlob>>,
            /// All front matter fields that the platform does not interpret.
            pub extra: Option<JsonText<ExtraFields>>,
        }

        impl PagePatch {
            /// Returns this patch, overridden by the fields of `over`.
            #[must_use]
            pub fn overlaid(self, over: Self) -> Self {
                Self {
                    title: over.title.or(self.title),
                    $($name: over.$name.or(self.$name),)*
                    git: over.git.or(self.git),
                    extra: over.extra.or(self.extra),
                }
            }

            /// Returns the JSON names of the fields that the patch sets, except the Git blob, which users cannot set.
            #[must_use]
            pub fn names(&self) -> Vec<&'static str> {
                let given = [
                    (self.title.is_some(), "title"),
                    $((self.$name.is_some(), $json),)*
                    (self.extra.is_some(), "extra"),
                ];
                given.into_iter().filter_map(|(is_given, name)| is_given.then_some(name)).collect()
            }
        }

        /// The page fields that an edit can set.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct PageFields {
            /// The title. It must not be blank.
            #[serde(default, deserialize_with = "deserialize_non_null")]
            #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
            #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
            pub title: Option<Title>,
            $($(
                $(#[$request])*
                #[serde(default)]
                pub $name: $input,
            )?)*
        }

        impl PageFields {
            /// Converts the fields to an edit patch.
            #[must_use]
            pub fn patch(&self) -> PagePatch {
                PagePatch {
                    title: self.title.setting(),
                    $($($name: <$input as Setting<$type>>::setting(&self.$name),)?)*
                    ..PagePatch::default()
                }
            }
        }

        /// The changed fields of a page. The page type determines which fields can occur.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "camelCase")]
        #[cfg_attr(feature = "schema", schemars(rename = "RevisionPageChangeAttributes", extend("minProperties" = 1)))]
        pub struct PageAttributes {
            /// The type of the page.
            #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
            pub kind: Option<Changed<PageType>>,
            /// The title.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub title: Option<Changed<String>>,
            /// The content of a document, by document id.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub document: Option<Changed<String>>,
            $($(
                $(#[$change])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<Changed<$changed>>,
            )?)*
        }
    };
}

page_fields!(define);

impl PagePatch {
    /// Creates a patch that sets the title.
    #[must_use]
    pub fn from_title(title: &str) -> Self {
        Self { title: Some(title.to_owned()), ..Self::default() }
    }
}

/// A request field that sets a record field.
trait Setting<T> {
    /// Returns the new value, or `None` if the request omits the field.
    fn setting(&self) -> Option<T>;
}

impl Setting<bool> for Option<bool> {
    fn setting(&self) -> Self {
        *self
    }
}

impl<const MIN: usize, const MAX: usize> Setting<String> for Option<BoundedText<MIN, MAX>> {
    fn setting(&self) -> Option<String> {
        self.as_ref().map(ToString::to_string)
    }
}

/// An empty string removes the value.
impl<const MAX: usize> Setting<Option<String>> for Option<BoundedText<0, MAX>> {
    fn setting(&self) -> Option<Option<String>> {
        self.as_deref().map(|text| (!text.is_empty()).then(|| text.to_owned()))
    }
}

impl<T: ToString> Setting<Option<String>> for Patch<T> {
    fn setting(&self) -> Option<Option<String>> {
        match self {
            Self::Keep => None,
            Self::Clear => Some(None),
            Self::Set(value) => Some(Some(value.to_string())),
        }
    }
}

/// Deserializes an optional string. Both `null` and the empty string remove the value.
fn deserialize_clearable<'de, D: Deserializer<'de>, const MAX: usize>(
    from: D,
) -> Result<Option<BoundedText<0, MAX>>, D::Error> {
    match Option::deserialize(from)? {
        Some(text) => Ok(Some(text)),
        None => BoundedText::new("").map(Some).map_err(D::Error::custom),
    }
}
