//! The records a revision is made of, and how they are written.
//!
//! Each record is JSON with its fields in a fixed order and absent ones left out, so that equal records are equal
//! bytes: the hash of a revision depends on it.

use std::collections::BTreeMap;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_model::{
    Changed, Dimensions, GitBlob, PageAttributes, PageId, PagePatch, PageType, VariableValue, Variables,
};
use docs_store::Hash;
use serde::{Deserialize, Serialize, Serializer, de::DeserializeOwned};
use serde_json::Value;

use super::{ContentError, ContentResult, Rank};

/// What a page is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// A page to read.
    Document,
    /// A heading above pages, at the top level only.
    Group,
    /// A link in the table of contents.
    Link,
    /// A place where generated pages appear.
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
    /// Tells whether pages of this kind can have pages below them.
    #[must_use]
    pub const fn is_parent(self) -> bool {
        matches!(self, Self::Document | Self::Group)
    }

    /// Tells whether pages of this kind are a segment of a path.
    #[must_use]
    pub const fn has_slug(self) -> bool {
        matches!(self, Self::Document | Self::Group)
    }
}

/// One term of a conflict: a text, or the empty text.
pub type Term = Option<Hash>;

/// The texts a conflicting body is made of: an odd number, at least three.
///
/// They alternate between what was added and what it was added to: `[other, base, request]` for two sides, where
/// the last one comes from the change request. The body means `other + (request - base)`; a later merge appends
/// further pairs and cancels the equal ones.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "Vec<Term>")]
pub struct Terms(Vec<Term>);

impl Terms {
    /// The terms, first an added one.
    #[must_use]
    pub fn as_slice(&self) -> &[Term] {
        &self.0
    }
}

/// A conflict needs an odd number of terms, at least three.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a conflict has an odd number of terms, at least three")]
pub struct NotTerms;

impl TryFrom<Vec<Term>> for Terms {
    type Error = NotTerms;
    fn try_from(terms: Vec<Term>) -> Result<Self, NotTerms> {
        if terms.len() >= 3 && terms.len() % 2 == 1 { Ok(Self(terms)) } else { Err(NotTerms) }
    }
}

/// The text of a page or a reusable content.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Body {
    /// No text.
    #[default]
    Empty,
    /// The Markdown source, as an object.
    Text(Hash),
    /// Texts that a merge could not unite.
    Conflict(Terms),
}

impl Body {
    /// Tells whether there is no text.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Tells whether a merge left texts that are not united yet.
    #[must_use]
    pub const fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }

    /// The body as terms: one, unless it is a conflict.
    #[must_use]
    pub fn terms(&self) -> Vec<Term> {
        match self {
            Self::Empty => vec![None],
            Self::Text(hash) => vec![Some(*hash)],
            Self::Conflict(terms) => terms.0.clone(),
        }
    }

    /// The body of one term.
    #[must_use]
    pub const fn of(term: Term) -> Self {
        match term {
            Some(hash) => Self::Text(hash),
            None => Self::Empty,
        }
    }
}

/// Two values of one field that a merge could not unite. The record holds the change request's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Clash {
    /// The value of the side that is not the change request's.
    #[serde(serialize_with = "sorted")]
    pub other: Value,
    /// The value both came from.
    #[serde(serialize_with = "sorted")]
    pub base: Value,
    /// The value of the change request's side.
    #[serde(serialize_with = "sorted")]
    pub request: Value,
}

/// Clashes by field. The name of a field is its JSON name; see [`clash_field`] for those that are no single field.
pub type Clashes = BTreeMap<String, Clash>;

/// Names in [`Clashes`] that do not stand for one field.
pub mod clash_field {
    /// Parent and rank together.
    pub const POSITION: &str = "position";
    /// One side deleted what the other changed; it was kept.
    pub const EXISTENCE: &str = "existence";
    /// Type, size, dimensions and bytes of a file together.
    pub const CONTENT: &str = "content";
}

macro_rules! page_record {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ty = $json:literal $attribute:ident
        $(stored { $(#[$stored:meta])* })?
        $(change { $(#[$change:meta])* $changed:ty })?
        $(request { $(#[$request:meta])* $input:ty })?;
    )*) => {
        /// A page of any kind.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct PageEntry {
            /// What it is.
            pub kind: PageKind,
            /// The page it stands below; none at the top level.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub parent: Option<PageId>,
            /// Its place among its siblings.
            pub rank: Rank,
            /// The title, not empty.
            pub title: String,
            $(
                $(#[$doc])*
                #[serde(default, skip_serializing_if = "is_default")]
                $($(#[$stored])*)?
                pub $name: $type,
            )*
            /// When it was made.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub created_at: Option<DateTime<Utc>>,
            /// When it was last changed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub updated_at: Option<DateTime<Utc>>,
            /// Where Git keeps it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub git: Option<GitBlob>,
            /// The text of the file that Git keeps it in, as an object: the next export writes what is the same as
            /// it stands there.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub source: Option<Hash>,
            /// Front matter the platform does not know, kept for the next export.
            #[serde(default, skip_serializing_if = "BTreeMap::is_empty", serialize_with = "sorted_map")]
            pub extra: BTreeMap<String, Value>,
            /// The text.
            #[serde(default, skip_serializing_if = "Body::is_empty")]
            pub body: Body,
            /// What merges could not unite.
            #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
            pub clash: Clashes,
        }

        impl PageEntry {
            /// A page with a title and a place, and nothing else.
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
                    extra: BTreeMap::new(),
                    body: Body::Empty,
                    clash: Clashes::new(),
                }
            }

            /// Sets the fields that a patch gives, as it gives them.
            pub(crate) fn set(&mut self, fields: &PagePatch) {
                set(&mut self.title, &fields.title);
                $(set(&mut self.$name, &fields.$name);)*
                set(&mut self.git, &fields.git);
                set(&mut self.extra, &fields.extra);
            }

            /// All fields as a patch that sets them. What only pages of other kinds have is not said, not even that it
            /// is not there.
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

            /// The attributes that differ between a page and what became of it. Where it stands, times of change and
            /// what Git knows are none.
            #[must_use]
            pub fn differences(&self, after: &Self) -> Vec<Attribute> {
                listed([
                    (self.kind != after.kind, Attribute::Kind),
                    (self.title != after.title, Attribute::Title),
                    $((self.$name != after.$name, Attribute::$attribute),)*
                    (self.extra != after.extra, Attribute::Extra),
                    (self.body != after.body, Attribute::Body),
                    (self.clash != after.clash, Attribute::Clash),
                ])
            }

            /// The fields that differ between a page and what became of it, as people are shown them; all but the
            /// content, whose documents have names that only the platform knows.
            #[must_use]
            pub fn changes(&self, after: &Self) -> PageAttributes {
                // A document without a layout has the default one.
                let layout =
                    |page: &Self| (page.kind == PageKind::Document).then(|| page.layout.unwrap_or_default());
                let attributes = PageAttributes {
                    kind: Changed::between(Some(self.kind.into()), Some(after.kind.into())),
                    title: Changed::between(self.title.shown(), after.title.shown()),
                    document: None,
                    $($($name: Changed::<$changed>::between(self.$name.shown(), after.$name.shown()),)?)*
                };
                PageAttributes { layout: Changed::between(layout(self), layout(after)), ..attributes }
            }
        }

        /// A part of a record that changed.
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

/// The attributes of which it is true that they differ.
pub(crate) fn listed<const N: usize>(different: [(bool, Attribute); N]) -> Vec<Attribute> {
    different.into_iter().filter_map(|(is, attribute)| is.then_some(attribute)).collect()
}

/// Sets a field where there is something to set.
pub(crate) fn set<T: Clone>(field: &mut T, value: &Option<T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

/// A field of a record as people are shown it: nothing where it is empty.
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

impl Shown<Variables> for Variables {
    fn shown(&self) -> Option<Self> {
        (!self.is_empty()).then(|| self.clone())
    }
}

impl<T: Clone> Shown<T> for Option<T> {
    fn shown(&self) -> Self {
        self.clone()
    }
}

impl PageEntry {
    /// Tells whether a merge left something to decide.
    #[must_use]
    pub fn is_conflicted(&self) -> bool {
        self.body.is_conflict() || !self.clash.is_empty()
    }
}

/// A file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileEntry {
    /// The name people see.
    pub name: String,
    /// The media type.
    pub content_type: String,
    /// The number of bytes.
    pub size: u64,
    /// The size of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// The hash of the bytes, which are the object of this name where they do not lie in parts.
    pub blob: Hash,
    /// The object that lists the parts of the bytes, where they are too many for one object: see
    /// [`PART_BYTES`](super::PART_BYTES).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Hash>,
    /// Where Git keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
    /// What merges could not unite.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clash: Clashes,
}

/// A reusable content.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReusableEntry {
    /// The title.
    pub title: String,
    /// The text.
    #[serde(default, skip_serializing_if = "Body::is_empty")]
    pub body: Body,
    /// What a computed one is made from.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "sorted_option")]
    pub computed: Option<Value>,
    /// Seeds the ids of what is computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_seed: Option<String>,
    /// Where Git keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitBlob>,
    /// The text of the file that Git keeps it in, as an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Hash>,
    /// Front matter the platform does not know, kept for the next export.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", serialize_with = "sorted_map")]
    pub extra: BTreeMap<String, Value>,
    /// What merges could not unite.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clash: Clashes,
}

impl ReusableEntry {
    /// A reusable content with a title and no text.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            body: Body::Empty,
            computed: None,
            computed_seed: None,
            git: None,
            source: None,
            extra: BTreeMap::new(),
            clash: Clashes::new(),
        }
    }
}

/// A variable of the space.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VariableEntry {
    /// The value.
    pub value: VariableValue,
    /// What merges could not unite.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clash: Clashes,
}

/// Writes a record.
pub(crate) fn encode<T: Serialize>(record: &T) -> ContentResult<Bytes> {
    serde_json::to_vec(record)
        .map(Bytes::from)
        .map_err(|e| ContentError::Corrupt(format!("a record has no JSON form: {e}")))
}

/// Reads a record.
pub(crate) fn decode<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> ContentResult<T> {
    serde_json::from_slice(bytes)
        .map_err(|e| ContentError::Corrupt(format!("the record `{key}` does not parse: {e}")))
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// JSON with the keys of its objects in order, whatever order the map type keeps.
struct Sorted<'a>(&'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let ordered: BTreeMap<&String, Sorted<'_>> =
                    map.iter().map(|(k, v)| (k, Sorted(v))).collect();
                serializer.collect_map(ordered)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            other => other.serialize(serializer),
        }
    }
}

fn sorted<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    Sorted(value).serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn sorted_option<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(Sorted).serialize(serializer)
}

fn sorted_map<S: Serializer>(map: &BTreeMap<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(map.iter().map(|(k, v)| (k, Sorted(v))))
}
