//! The fields of a page, once: from this table come the patch of an edit, the fields of a request and the attributes
//! of a change here, and in docs-content the record, what an edit sets, and what a comparison finds.
//!
//! To add a field, add a row. Then say in `RevisionPage` and where docs-core makes one how a page shows it, and in the
//! front matter of docs-markup how a file says it, as far as either applies.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as SerdeError};
use serde_json::Value;

use super::{BoundedText, Changed, GitBlob, PageType, Patch, patch::given};

/// The table: hands its rows to a macro of the caller.
///
/// A row is the field as the record of a page has it, its name in JSON and its `Attribute` in a comparison; then, where
/// they apply, further attributes for `stored` records, the field as a `change` between two revisions shows it, and
/// the field of a `request`. Rows stand in the order in which records are written, which never changes: a new row goes
/// to the end. The title is no row, because no page is without it; neither is what a merge has rules of its own for.
#[doc(hidden)]
#[macro_export]
macro_rules! page_fields {
    ($then:ident) => {
        $then! {
            /// The segment of the path, unique among siblings; empty for links and computed pages. One in a patch is
            /// made fit for a path, and numbered when a sibling has it; the empty one means one of the title.
            slug: String = "slug" Slug
                change {
                    /// The slug of a document or group.
                    String
                }
                request {
                    /// The last part of the page's path.
                    #[serde(deserialize_with = "given")]
                    #[cfg_attr(feature = "schema", schemars(transform = $crate::schema::not_null))]
                    Option<$crate::BoundedText<0, 100>>
                };
            /// The emoji before the title; setting one removes the icon.
            emoji: Option<String> = "emoji" Emoji
                change {
                    /// The emoji.
                    String
                }
                request {
                    /// An emoji; not together with `icon`.
                    $crate::Patch<$crate::Emoji>
                };
            /// The icon before the title; setting one removes the emoji.
            icon: Option<String> = "icon" Icon
                change {
                    /// The icon.
                    String
                }
                request {
                    /// An icon; not together with `emoji`.
                    $crate::Patch<$crate::Icon>
                };
            /// What the page is about.
            description: Option<String> = "description" Description
                change {
                    /// The description of a document.
                    String
                }
                request {
                    /// A short description; empty or `null` to remove it.
                    #[serde(deserialize_with = "cleared")]
                    Option<$crate::BoundedText<0, 1000>>
                };
            /// What is shown; the default layout when absent.
            layout: Option<$crate::PageLayout> = "layout" Layout
                change {
                    /// The layout of a document.
                    $crate::PageLayout
                };
            /// The picture above the page.
            cover: Option<$crate::PageCover> = "cover" Cover
                change {
                    /// The cover of a document.
                    $crate::PageCover
                };
            /// Left out of the table of contents.
            hidden: bool = "hidden" Hidden
                change {
                    /// Left out of navigation.
                    bool
                }
                request {
                    /// Leave the page out of navigation.
                    #[serde(deserialize_with = "given")]
                    #[cfg_attr(feature = "schema", schemars(transform = $crate::schema::not_null))]
                    Option<bool>
                };
            /// Left out of the platform's search.
            no_index: bool = "noIndex" NoIndex
                change {
                    /// Kept out of search.
                    bool
                }
                request {
                    /// Keep the page out of search.
                    #[serde(deserialize_with = "given")]
                    #[cfg_attr(feature = "schema", schemars(transform = $crate::schema::not_null))]
                    Option<bool>
                };
            /// Closed to web search engines.
            no_robots_index: bool = "noRobotsIndex" NoRobotsIndex
                change {
                    /// Kept out of search engines.
                    bool
                }
                request {
                    /// Keep the page out of search engines.
                    #[serde(deserialize_with = "given")]
                    #[cfg_attr(feature = "schema", schemars(transform = $crate::schema::not_null))]
                    Option<bool>
                };
            /// Variables of the page, all of them.
            variables: $crate::Variables = "variables" Variables
                change {
                    /// The variables of a document.
                    $crate::Variables
                };
            /// Who gets to see the page: an expression. The empty one in a patch removes it.
            condition: Option<String> = "condition" Condition
                change {
                    /// Who gets to see it: an expression.
                    String
                }
                request {
                    /// An expression that decides who sees the page; empty or `null` to remove it.
                    #[serde(deserialize_with = "cleared")]
                    Option<$crate::BoundedText<0, 1024>>
                };
            /// Where a link page leads.
            target: Option<$crate::ContentRef> = "target" Target
                change {
                    /// Where a link leads.
                    $crate::ContentRef
                };
            /// What a computed page is made from.
            computed: Option<::serde_json::Value> = "computed" Computed
                stored { #[serde(serialize_with = "sorted_option")] }
                change {
                    /// What a computed page is made from.
                    ::serde_json::Value
                };
            /// Seeds the ids of what is computed.
            computed_seed: Option<String> = "computedSeed" ComputedSeed;
        }
    };
}

macro_rules! define {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ty = $json:literal $attribute:ident
        $(stored { $(#[$stored:meta])* })?
        $(change { $(#[$change:meta])* $changed:ty })?
        $(request { $(#[$request:meta])* $input:ty })?;
    )*) => {
        /// Fields of a page to set. What is `None` stays; an inner `None` removes.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct PagePatch {
            /// The title, not empty.
            pub title: Option<String>,
            $(
                $(#[$doc])*
                pub $name: Option<$type>,
            )*
            /// Where Git keeps it.
            pub git: Option<Option<GitBlob>>,
            /// Front matter the platform does not know, all of it.
            pub extra: Option<BTreeMap<String, Value>>,
        }

        impl PagePatch {
            /// This patch, with the fields of another one put over it.
            #[must_use]
            pub fn overlaid(self, over: Self) -> Self {
                Self {
                    title: over.title.or(self.title),
                    $($name: over.$name.or(self.$name),)*
                    git: over.git.or(self.git),
                    extra: over.extra.or(self.extra),
                }
            }

            /// The JSON names of the fields that it sets. Where Git keeps a page is no field that people set.
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

        /// The fields of a page that a change sets.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct PageFields {
            /// The title, not blank.
            #[serde(default, deserialize_with = "given")]
            #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
            #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
            pub title: Option<BoundedText<1, 1000>>,
            $($(
                $(#[$request])*
                #[serde(default)]
                pub $name: $input,
            )?)*
        }

        impl PageFields {
            /// The fields as an edit has them.
            #[must_use]
            pub fn patch(&self) -> PagePatch {
                PagePatch {
                    title: self.title.setting(),
                    $($($name: <$input as Setting<$type>>::setting(&self.$name),)?)*
                    ..PagePatch::default()
                }
            }
        }

        /// What changed on a page. Which of them a page can have depends on its kind.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "camelCase")]
        #[cfg_attr(feature = "schema", schemars(rename = "RevisionPageChangeAttributes", extend("minProperties" = 1)))]
        pub struct PageAttributes {
            /// What kind of page it is.
            #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
            pub kind: Option<Changed<PageType>>,
            /// The title.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub title: Option<Changed<String>>,
            /// The content of a document, by the names of the documents.
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
    /// A patch that sets the title.
    #[must_use]
    pub fn titled(title: &str) -> Self {
        Self { title: Some(title.to_owned()), ..Self::default() }
    }
}

/// A field of a request that sets a field of a record.
trait Setting<T> {
    /// The new value; `None` where the request leaves the field out.
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

/// The empty text removes.
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

/// Reads a text that a change may leave out; `null` removes it, as the empty text does.
fn cleared<'de, D: Deserializer<'de>, const MAX: usize>(
    from: D,
) -> Result<Option<BoundedText<0, MAX>>, D::Error> {
    match Option::deserialize(from)? {
        Some(text) => Ok(Some(text)),
        None => BoundedText::new("").map(Some).map_err(D::Error::custom),
    }
}
