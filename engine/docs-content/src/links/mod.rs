//! Links of pages and reusable content blocks, derived for each revision.
//!
//! Each distinct reference of a source is one entry, regardless of the number of occurrences. Its [`LinkState`] is part
//! of the key, so broken links form a range of their own and can be counted in O(log n). The entry also contains its
//! target. Backlinks therefore lead to the links that are affected by adding or removing a target, without reading
//! other links of the same sources.
//!
//! Entries depend only on the records and texts. Equal content has equal entries, independent of anything outside the
//! revision. Code that displays a link to another space must check that the space exists.

mod conditional;
mod derive;
mod read;
mod refer;
mod relink;

use bytes::Bytes;
use docs_markup::reference;
use docs_model::{BASE32, ContentRef, FileId, LinkRelation, PageId, ReusableId};
use docs_store::{Key, KeyBuf, key::segments};
use serde::{Deserialize, Serialize};

pub(crate) use self::refer::LinkFields;
#[cfg(test)]
pub(super) use self::refer::reference as referred;
pub use self::{conditional::ConditionalTargets, read::Backlinks as AllBacklinks};
pub(crate) use self::{
    derive::SourceLinks,
    refer::{SourceReferences, Uses, of_parts},
};
use super::{
    ContentError, ContentResult,
    entry::{decode, encode},
    keys,
};

/// Maximum length of a URL in a key, in bytes. A hash of the complete URL follows it.
const MAX_KEY_TEXT: usize = 100;

/// The state of a link within its revision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LinkState {
    /// The target is missing in the revision, or the destination cannot be resolved, for example a path without a page.
    Broken,
    /// The target is in the revision.
    Inside,
    /// The target is in the revision. Whether the anchor of the link exists depends on the text of the target.
    Anchor,
    /// The target is on the platform, outside the revision. Only the store can determine whether it exists.
    Outside,
    /// A web URL.
    Web,
}

impl LinkState {
    /// All states, in key order.
    pub const ALL: [Self; 5] = [Self::Broken, Self::Inside, Self::Anchor, Self::Outside, Self::Web];

    const fn segment(self) -> &'static str {
        match self {
            Self::Broken => "b",
            Self::Inside => "i",
            Self::Anchor => "n",
            Self::Outside => "o",
            Self::Web => "w",
        }
    }
}

/// The page or reusable content block that contains a link.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LinkSource {
    /// A page: its text, cover, link target or computed source.
    Page(PageId),
    Reusable(ReusableId),
}

impl LinkSource {
    fn segments(&self) -> (&'static str, &str) {
        match self {
            Self::Page(id) => (keys::PAGE, id.as_str()),
            Self::Reusable(id) => (keys::REUSABLE, id.as_str()),
        }
    }

    fn parse(class: &str, id: &str) -> Option<Self> {
        match class {
            keys::PAGE => id.parse().ok().map(Self::Page),
            keys::REUSABLE => id.parse().ok().map(Self::Reusable),
            _ => None,
        }
    }
}

/// A record of the revision that can have backlinks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LinkTarget {
    Page(PageId),
    File(FileId),
    Reusable(ReusableId),
}

impl LinkTarget {
    fn segments(&self) -> (&'static str, &str) {
        match self {
            Self::Page(id) => (keys::PAGE, id.as_str()),
            Self::File(id) => (keys::FILE, id.as_str()),
            Self::Reusable(id) => (keys::REUSABLE, id.as_str()),
        }
    }

    /// Returns the key of the target's record.
    fn record(&self) -> Key {
        match self {
            Self::Page(id) => keys::page(id),
            Self::File(id) => keys::file(id),
            Self::Reusable(id) => keys::reusable(id),
        }
    }

    pub(crate) fn from_record_key(key: &str) -> ContentResult<Option<Self>> {
        Ok(match key.split('!').next() {
            Some(keys::PAGE) => Some(Self::Page(keys::id(key)?)),
            Some(keys::FILE) => Some(Self::File(keys::id(key)?)),
            Some(keys::REUSABLE) => Some(Self::Reusable(keys::id(key)?)),
            _ => None,
        })
    }
}

/// A reference of a source, combining all occurrences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    pub source: LinkSource,
    /// The destination as given in the source.
    pub reference: ContentRef,
    /// The relation between the source and the target.
    pub relation: LinkRelation,
    /// The number of occurrences.
    pub times: u64,
    /// The state within the revision.
    pub standing: LinkState,
    /// `true` if every occurrence is subject to a condition.
    pub is_conditional: bool,
}

#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounts {
    /// All links.
    pub total: u64,
    /// Links whose targets are missing in the revision.
    pub broken: u64,
}

/// The links in one state, of a single source or of all sources.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkRange {
    pub standing: LinkState,
    /// The source, or `None` for all sources.
    pub source: Option<LinkSource>,
}

impl LinkRange {
    fn prefix(&self) -> KeyBuf {
        let key = KeyBuf::new(keys::LINK).part(self.standing.segment());
        match self.source.as_ref().map(LinkSource::segments) {
            Some((class, id)) => key.part(class).part(id),
            None => key,
        }
    }

    /// Returns the key prefix of the links to a target.
    fn target_prefix(&self, target: &LinkTarget) -> KeyBuf {
        let (class, id) = target.segments();
        self.prefix().part(class).part(id)
    }
}

/// The target of a reference, resolved relative to its source.
enum ResolvedTarget {
    /// The source itself. It exists as long as the link does.
    Itself,
    Inside(LinkTarget),
    /// An item of the platform outside the revision, by kind and id.
    Outside(&'static str, String),
    Web(String),
    /// No target, with the unresolved destination.
    Unresolved(String),
}

impl ResolvedTarget {
    fn resolve(source: &LinkSource, reference: &ContentRef) -> Self {
        let inside = |target: LinkTarget| {
            if target.segments() == source.segments() { Self::Itself } else { Self::Inside(target) }
        };
        let outside = |kind, id: &str| Self::Outside(kind, id.to_owned());
        match reference {
            ContentRef::Url { url } if has_host_or_scheme(url) => Self::Web(url.clone()),
            ContentRef::Url { url } => Self::Unresolved(url.clone()),
            ContentRef::File { file } => inside(LinkTarget::File(file.clone())),
            ContentRef::Page { page, space: None }
            | ContentRef::Anchor { page: Some(page), space: None, .. } => {
                inside(LinkTarget::Page(page.clone()))
            }
            ContentRef::Anchor { page: None, space: None, .. } => Self::Itself,
            ContentRef::ReusableContent { reusable_content, space: None } => {
                inside(LinkTarget::Reusable(reusable_content.clone()))
            }
            ContentRef::Page { space: Some(space), .. }
            | ContentRef::Anchor { space: Some(space), .. }
            | ContentRef::ReusableContent { space: Some(space), .. }
            | ContentRef::Space { space } => outside("s", space.as_str()),
            ContentRef::User { user } => outside("u", user.as_str()),
            ContentRef::Collection { collection } => outside("c", collection.as_str()),
            ContentRef::OpenApi { spec } => outside("o", spec),
        }
    }

    fn target(self) -> Option<LinkTarget> {
        match self {
            Self::Inside(target) => Some(target),
            _ => None,
        }
    }
}

/// The stored form of a link, without the fields in its key.
#[derive(Serialize, Deserialize)]
struct LinkEntry {
    #[serde(rename = "ref")]
    reference: ContentRef,
    #[serde(default, skip_serializing_if = "is_reference")]
    relation: LinkRelation,
    #[serde(default = "once", skip_serializing_if = "is_once")]
    times: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not", rename = "if")]
    is_conditional: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_reference(relation: &LinkRelation) -> bool {
    matches!(relation, LinkRelation::Reference)
}

const fn once() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
const fn is_once(times: &u64) -> bool {
    *times == 1
}

impl Link {
    /// Returns the destination as written in stored text.
    #[must_use]
    pub fn destination(&self) -> String {
        reference::destination(&self.reference)
    }

    /// Returns the target page and its anchor if the target of the link is a page of the revision.
    #[must_use]
    pub fn page_anchor(&self) -> Option<(&PageId, &str)> {
        match (&self.reference, &self.source) {
            (ContentRef::Anchor { anchor, page: Some(page), space: None }, _) => Some((page, anchor)),
            (ContentRef::Anchor { anchor, page: None, space: None }, LinkSource::Page(page)) => {
                Some((page, anchor))
            }
            _ => None,
        }
    }

    /// Returns the target record, if the target is in the revision.
    #[must_use]
    pub fn target(&self) -> Option<LinkTarget> {
        ResolvedTarget::resolve(&self.source, &self.reference).target()
    }

    fn key(&self) -> ContentResult<Key> {
        let range = LinkRange { standing: self.standing, source: Some(self.source.clone()) };
        let key = match ResolvedTarget::resolve(&self.source, &self.reference) {
            ResolvedTarget::Inside(target) => range.target_prefix(&target),
            ResolvedTarget::Itself => {
                let (class, id) = self.source.segments();
                range.prefix().part(class).part(id)
            }
            ResolvedTarget::Outside(kind, id) => range.prefix().part(kind).part(cut(&id)),
            ResolvedTarget::Web(url) | ResolvedTarget::Unresolved(url) => {
                range.prefix().part("w").part(cut(&url))
            }
        };
        let whole = encode(&(&self.reference, self.relation))?;
        let hash = blake3::hash(&whole);
        Ok(key.part(&BASE32.encode(&hash.as_bytes()[..8])).key())
    }

    fn value(&self) -> ContentResult<Bytes> {
        let Self { reference, relation, times, is_conditional, .. } = self.clone();
        encode(&LinkEntry { reference, relation, times, is_conditional })
    }

    fn read(key: &str, value: &[u8]) -> ContentResult<Self> {
        let damaged = || ContentError::Corrupt(format!("the key `{key}` is not the key of a link"));
        let parts = segments(key);
        let [_, standing, class, id, ..] = parts.as_slice() else { return Err(damaged()) };
        let standing = LinkState::ALL.into_iter().find(|s| s.segment() == standing).ok_or_else(damaged)?;
        let source = LinkSource::parse(class, id).ok_or_else(damaged)?;
        let LinkEntry { reference, relation, times, is_conditional } = decode(key, value)?;
        Ok(Self { source, reference, relation, times, standing, is_conditional })
    }
}

fn backlinks(target: &LinkTarget) -> KeyBuf {
    let (class, id) = target.segments();
    KeyBuf::new(keys::BACKLINK).part(class).part(id)
}

fn backlink(target: &LinkTarget, source: &LinkSource) -> Key {
    let (class, id) = source.segments();
    backlinks(target).part(class).part(id).key()
}

/// The value of a backlink whose links are all subject to conditions.
const CONDITIONAL_VALUE: &[u8] = b"true";

/// Parses the source in the last segments of a backlink's key.
fn source_of(key: &str) -> ContentResult<LinkSource> {
    let parts = segments(key);
    let source = match parts.as_slice() {
        [.., class, id] => LinkSource::parse(class, id),
        _ => None,
    };
    source.ok_or_else(|| ContentError::Corrupt(format!("the key `{key}` is not the key of a backlink")))
}

/// Parses the target in a backlink's key.
fn target_of(key: &str) -> ContentResult<LinkTarget> {
    let parts = segments(key);
    let target = match parts.as_slice() {
        [_, class, id, ..] => match class.as_ref() {
            keys::PAGE => id.parse().ok().map(LinkTarget::Page),
            keys::FILE => id.parse().ok().map(LinkTarget::File),
            keys::REUSABLE => id.parse().ok().map(LinkTarget::Reusable),
            _ => None,
        },
        _ => None,
    };
    target.ok_or_else(|| ContentError::Corrupt(format!("the key `{key}` is not the key of a backlink")))
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_KEY_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns `true` if a destination has a scheme or a host and therefore points outside the content.
pub(super) fn has_host_or_scheme(text: &str) -> bool {
    text.starts_with("//")
        || text.split_once(':').is_some_and(|(scheme, _)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        })
}
