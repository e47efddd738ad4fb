//! The records of a revision, and their serialization.
//!
//! Records are serialized as JSON with a fixed field order and without absent fields. Equal records therefore have
//! equal bytes, which keeps the hash of a revision deterministic.

use std::collections::BTreeMap;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_model::{
    CanonicalJson, Changed, Dimensions, ExtraFields, GitBlob, JsonText, PageAttributes, PageId, PagePatch,
    PageType, VariableValue, Variables,
};
use docs_store::Hash;
use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned};
use serde_json::Value;

use super::{ContentError, ContentResult, Rank};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// A page with text.
    Document,
    /// A heading for a group of pages. Only at the top level.
    Group,
    /// A link in the table of contents.
    Link,
    /// A placeholder for generated pages.
    Computed,
}

impl From<PageKind> for PageType {
    fn from(kind: PageKind) -> Self {
        match kind {
            PageKind::Document => Self::Document,
            PageKind::Group => Self::Group,
            PageKind::Link => Self::Link,
            PageKind::Computed => Self::Computed,
        }
    }
}

impl PageKind {
    /// Returns `true` if pages of this kind can have children.
    #[must_use]
    pub const fn is_parent(self) -> bool {
        matches!(self, Self::Document | Self::Group)
    }

    /// Returns `true` if pages of this kind contribute a path segment.
    #[must_use]
    pub const fn has_slug(self) -> bool {
        matches!(self, Self::Document | Self::Group)
    }
}

/// A term of a conflict: the hash of its text, or `None` if the text is empty.
pub type Term = Option<Hash>;

/// The terms of a conflicting body. Their number is odd and at least three.
///
/// Added and removed terms alternate. For two sides they are `[other, base, request]`; the last term comes from the
/// change request. The body represents `other + (request - base)`. A later merge appends more pairs and cancels equal
/// terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<Term>")]
pub struct Terms(Vec<Term>);

impl Terms {
    /// Returns the terms, beginning with an added one.
    #[must_use]
    pub fn as_slice(&self) -> &[Term] {
        &self.0
    }
}

/// The error for a conflict with an even number of terms or fewer than three.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a conflict has an odd number of terms, at least three")]
pub struct NotTerms;

impl TryFrom<Vec<Term>> for Terms {
    type Error = NotTerms;
    fn try_from(terms: Vec<Term>) -> Result<Self, NotTerms> {
        if terms.len() >= 3 && terms.len() % 2 == 1 { Ok(Self(terms)) } else { Err(NotTerms) }
    }
}

/// The text of a page or a reusable content block.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    #[default]
    Empty,
    /// The hash of the Markdown source.
    Text(Hash),
    /// The terms of an unresolved merge conflict.
    Conflict(Terms),
}

impl Body {
    /// Returns `true` if there is no text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Returns `true` if the body is an unresolved merge conflict.
    #[must_use]
    pub const fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }

    /// Returns the terms of the body. There is one unless the body is a conflict.
    #[must_use]
    pub fn terms(&self) -> Vec<Term> {
        match self {
            Self::Empty => vec![None],
            Self::Text(hash) => vec![Some(*hash)],
            Self::Conflict(terms) => terms.0.clone(),
        }
    }

    /// Creates a body from a single term.
    #[must_use]
    pub const fn of(term: Term) -> Self {
        match term {
            Some(hash) => Self::Text(hash),
            None => Self::Empty,
        }
    }
}

/// The conflicting values of a field after a merge. The record itself contains the value of the change request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FieldClash {
    /// The value of the other side.
    #[serde(serialize_with = "CanonicalJson::serialize_canonical")]
    pub other: Value,
    /// The value in the common ancestor.
    #[serde(serialize_with = "CanonicalJson::serialize_canonical")]
    pub base: Value,
    /// The value of the change request.
    #[serde(serialize_with = "CanonicalJson::serialize_canonical")]
    pub request: Value,
}

impl CanonicalJson for FieldClash {
    fn serialize_canonical<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer)
    }
}

/// Clashes by JSON field name. The names in [`clash_field`] cover several fields.
pub type FieldClashes = BTreeMap<String, FieldClash>;

/// Names in [`FieldClashes`] that do not denote a single field.
pub mod clash_field {
    /// Parent and rank.
    pub const POSITION: &str = "position";
    /// One side deleted an item that the other side changed. The item was kept.
    pub const EXISTENCE: &str = "existence";
    /// Type, size, dimensions and content of a file.
    pub const CONTENT: &str = "content";
}

macro_rules! page_record {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ty = $json:literal $attribute:ident
        $(change { $(#[$change:meta])* $changed:ty })?
        $(request { $(#[$request:meta])* $input:ty })?;
    )*) => {
        /// A page of any kind.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct PageEntry {
            pub kind: PageKind,
            /// The parent page, or `None` at the top level.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub parent: Option<PageId>,
            /// The sort key among siblings.
            pub rank: Rank,
            /// The title. It is not empty.
            pub title: String,
            $(
                $(#[$doc])*
                #[serde(default, skip_serializing_if = "is_default")]
                pub $name: $type,
            )*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub created_at: Option<DateTime<Utc>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub updated_at: Option<DateTime<Utc>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub git: Option<GitBlob>,
            /// The object that contains the Git file's text. The next export preserves the formatting of its unchanged
            /// parts.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub source: Option<Hash>,
            /// Front matter that the platform does not interpret, retained for the next export.
            #[serde(
                default,
                skip_serializing_if = "is_default",
                deserialize_with = "JsonText::deserialize_stored"
            )]
            pub extra: JsonText<ExtraFields>,
            #[serde(default, skip_serializing_if = "Body::is_empty")]
            pub body: Body,
            /// The object with the results of the directives in the body, which readers see in their place. It is JSON
            /// of [`Expansions`](docs_markup::directives::Expansions).
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub expansions: Option<Hash>,
            /// The unresolved field conflicts.
            #[serde(default, skip_serializing_if = "is_default")]
            pub clash: JsonText<FieldClashes>,
        }

        impl PageEntry {
            /// Creates a page with a title and a rank and no other fields.
            #[must_use]
            pub fn new(kind: PageKind, title: &str, rank: Rank) -> Self {
                Self {
                    kind,
                    parent: None,
                    rank,
                    title: title.to_owned(),
                    $($name: Default::default(),)*
                    created_at: None,
                    updated_at: None,
                    git: None,
                    source: None,
                    extra: JsonText::default(),
                    body: Body::Empty,
                    expansions: None,
                    clash: JsonText::default(),
                }
            }

            /// Sets the fields that the patch contains.
            pub(crate) fn set(&mut self, fields: &PagePatch) {
                set(&mut self.title, &fields.title);
                $(set(&mut self.$name, &fields.$name);)*
                set(&mut self.git, &fields.git);
                set(&mut self.extra, &fields.extra);
            }

            /// Returns a patch that sets all fields of the page, except for fields that only other page kinds have.
            #[must_use]
            pub fn fields(&self) -> PagePatch {
                let fields = PagePatch {
                    title: Some(self.title.clone()),
                    $($name: Some(self.$name.clone()),)*
                    git: Some(self.git.clone()),
                    extra: Some(self.extra.clone()),
                };
                PagePatch {
                    target: fields.target.filter(Option::is_some),
                    computed: fields.computed.filter(Option::is_some),
                    ..fields
                }
            }

            /// Returns the attributes that differ between this page and a later version. Position, timestamps and Git
            /// metadata are not compared.
            #[must_use]
            pub fn differences(&self, after: &Self) -> Vec<Attribute> {
                flagged_attributes([
                    (self.kind != after.kind, Attribute::Kind),
                    (self.title != after.title, Attribute::Title),
                    $((self.$name != after.$name, Attribute::$attribute),)*
                    (self.extra != after.extra, Attribute::Extra),
                    ((&self.body, self.expansions) != (&after.body, after.expansions), Attribute::Body),
                    (self.clash != after.clash, Attribute::Clash),
                ])
            }

            /// Returns the fields that differ between this page and a later version, for display. The content is
            /// omitted, because only the platform knows its document ids.
            #[must_use]
            pub fn changes(&self, after: &Self) -> PageAttributes {
                // A document without a layout has the default layout.
                let layout =
                    |page: &Self| (page.kind == PageKind::Document).then(|| page.layout.unwrap_or_default());
                let attributes = PageAttributes {
                    kind: Changed::from_values(Some(self.kind.into()), Some(after.kind.into())),
                    title: Changed::from_values(self.title.shown(), after.title.shown()),
                    document: None,
                    $($($name: Changed::<$changed>::from_values(self.$name.shown(), after.$name.shown()),)?)*
                };
                PageAttributes { layout: Changed::from_values(layout(self), layout(after)), ..attributes }
            }
        }

        /// An attribute that differs between two versions of a record.
        #[non_exhaustive]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Attribute {
            Kind,
            Title,
            $($attribute,)*
            Extra,
            Body,
            Clash,
            Name,
            ContentType,
            Size,
            Dimensions,
            Blob,
        }
    };
}

docs_model::page_fields!(page_record);

/// Returns the attributes whose flag is set.
pub(crate) fn flagged_attributes<const N: usize>(different: [(bool, Attribute); N]) -> Vec<Attribute> {
    different.into_iter().filter_map(|(is, attribute)| is.then_some(attribute)).collect()
}

/// Sets a field if a value is given.
pub(crate) fn set<T: Clone>(field: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

/// Conversion of a field to its displayed value. The value is `None` for an empty field.
trait Shown<T> {
    fn shown(&self) -> Option<T>;
}

impl Shown<String> for String {
    fn shown(&self) -> Option<Self> {
        (!self.is_empty()).then(|| self.clone())
    }
}

impl Shown<bool> for bool {
    fn shown(&self) -> Option<Self> {
        Some(*self)
    }
}

impl Shown<Variables> for JsonText<Variables> {
    fn shown(&self) -> Option<Variables> {
        (!self.is_default()).then(|| self.value())
    }
}

impl Shown<Value> for Option<JsonText<Value>> {
    fn shown(&self) -> Option<Value> {
        self.as_ref().map(JsonText::value)
    }
}

impl<T: Clone> Shown<T> for Option<T> {
    fn shown(&self) -> Self {
        self.clone()
    }
}

impl PageEntry {
    /// Returns `true` if a merge conflict is unresolved.
    #[must_use]
    pub fn is_conflicted(&self) -> bool {
        self.body.is_conflict() || !self.clash.is_default()
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileEntry {
    pub name: String,
    pub content_type: String,
    /// The size in bytes.
    pub size: u64,
    /// The dimensions of an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// The hash of the content. It also names the object, unless the content is split into parts.
    pub blob: Hash,
    /// The object that lists the parts of a file that is too large for a single object; see
    /// [`PART_BYTES`](super::PART_BYTES).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
    /// The unresolved field conflicts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clash: JsonText<FieldClashes>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReusableEntry {
    pub title: String,
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub body: Body,
    /// The source of a computed block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<JsonText<Value>>,
    /// The seed from which the ids of computed blocks are derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_seed: Option<String>,
    /// The Git blob of the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
    /// The object that contains the Git file's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Hash>,
    /// Front matter that the platform does not interpret, retained for the next export.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "JsonText::deserialize_stored")]
    pub extra: JsonText<ExtraFields>,
    /// The unresolved field conflicts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clash: JsonText<FieldClashes>,
}

impl ReusableEntry {
    /// Creates a reusable content block with a title and no text.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            body: Body::Empty,
            computed: None,
            computed_seed: None,
            git: None,
            source: None,
            extra: JsonText::default(),
            clash: JsonText::default(),
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VariableEntry {
    pub value: VariableValue,
    /// The unresolved conflicts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub clash: JsonText<FieldClashes>,
}

pub(crate) fn encode<T: Serialize>(record: &T) -> ContentResult<Bytes> {
    serde_json::to_vec(record)
        .map(Bytes::from)
        .map_err(|e| ContentError::Corrupt(format!("a record has no JSON form: {e}")))
}

/// Deserializes a record.
pub(crate) fn decode<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> ContentResult<T> {
    serde_json::from_slice(bytes)
        .map_err(|e| ContentError::Corrupt(format!("the record `{key}` does not parse: {e}")))
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
