//! Full-text search: the [`SearchIndex`] port, its documents, and the matching and scoring rules.
//!
//! An index is filled by the platform and can be rebuilt from the store, so it may lose its data. The platform verifies
//! each hit against the store before returning it: that the page exists, that the caller may read it, and that it still
//! has the text of the excerpt.
//!
//! Matching and ordering are defined here, by [`tokens`], [`Query`] and [`scores`], so that all indexes return the same
//! hits. A score depends only on the query and the page, never on other indexed pages or on the history of the index. A
//! cursor is therefore valid on another server with its own index.

#[cfg(feature = "conformance")]
pub mod conformance;
mod excerpt;
mod near;
mod query;
mod score;
mod words;

use std::collections::BTreeSet;

use async_trait::async_trait;
use docs_model::{
    ListOrder, OrgId, PageId, SpaceId,
    error::{Error, ErrorKind},
    feed::FeedPos,
    hash::Hash,
};
use serde::{Deserialize, Serialize};

pub use excerpt::{Excerpt, MAX_EXCERPT, MAX_EXCERPTS, excerpts};
pub use near::near_words;
pub use query::{Match, Need, Part, Phrase, Query, Word};
pub use score::{Field, Found, Postings, scores, select_pages};
pub use words::{MAX_WORD, Token, TokenKind, tokens};

/// Position gap between the last word of a section and the first of the next, so that no phrase spans both.
const GAP: u32 = 100;

/// A page as indexed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageDocument {
    /// The organization of its space.
    pub organization: OrgId,
    pub space: SpaceId,
    /// The page id, which is unique only within the space.
    pub page: PageId,
    pub title: String,
    /// The description of the page, one sentence.
    pub description: Option<String>,
    /// A hash of the text in `sections`: equal for equal texts. An excerpt is returned only while the page has this
    /// text.
    pub text: Hash,
    /// The text, split at its headings.
    pub sections: Vec<Section>,
}

/// A heading and the text up to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The anchor of the heading on its page, without `#`; `None` at the start of the page.
    pub anchor: Option<String>,
    /// The heading; `None` at the start of the page.
    pub heading: Option<String>,
    /// The text without markup.
    pub text: String,
}

impl PageDocument {
    /// Returns the words of a field lazily, in order. The texts of a field are separated by a position gap.
    pub fn tokens(&self, field: Field) -> impl Iterator<Item = Token> {
        let (text, sections) = match field {
            Field::Title => (Some(self.title.as_str()), &[][..]),
            Field::Description => (self.description.as_deref(), &[][..]),
            Field::Headings | Field::Body => (None, self.sections.as_slice()),
        };
        let texts = sections.iter().filter_map(move |section| match field {
            Field::Headings => section.heading.as_deref(),
            _ => Some(section.text.as_str()),
        });
        joined(text.into_iter().chain(texts))
    }

    /// Returns the approximate size in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let sections = self.sections.iter().map(|s| s.text.len() + s.heading.as_ref().map_or(0, String::len));
        self.title.len() + self.description.as_ref().map_or(0, String::len) + sections.sum::<usize>()
    }

    /// Returns the tie-breaker for pages of equal score, which depends only on the page.
    #[must_use]
    pub fn tie(&self) -> u64 {
        tie(&[self.space.as_str(), self.page.as_str()])
    }
}

/// Tokenizes several texts, with a position gap between them.
fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> impl Iterator<Item = Token> {
    let mut start = 0;
    let mut last = None;
    texts.flat_map(tokens).map(move |token| {
        if token.position == 0 {
            start = last.map_or(0, |last| last + GAP);
        }
        let position = start + token.position;
        last = Some(position);
        Token { position, ..token }
    })
}

/// Hashes a name to a number; collisions are negligible.
#[must_use]
pub fn tie(parts: &[&str]) -> u64 {
    u64::from_be_bytes(docs_model::hash::fingerprint(parts, ListOrder::Asc))
}

/// The metadata of an indexed space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedSpace {
    pub space: SpaceId,
    pub organization: OrgId,
    /// The root of the indexed content.
    pub root: Hash,
}

/// A change of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// Adds or replaces a page.
    PutPage(Box<PageDocument>),
    /// Removes a page, if it exists.
    DropPage(SpaceId, PageId),
    /// Records the content of a space that the index holds.
    PutSpace(IndexedSpace),
    /// Removes a space: its pages and its metadata.
    DropSpace(SpaceId),
}

/// The spaces that a search covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All spaces of an organization.
    Organization(OrgId),
    /// All spaces of an organization except these.
    OrganizationBut(OrgId, BTreeSet<SpaceId>),
    /// These spaces.
    Spaces(BTreeSet<SpaceId>),
}

/// The sort position of a hit: higher scores first, then lower tie-breakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The score.
    pub score: u32,
    /// The tie-breaker.
    pub tie: u64,
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.score.cmp(&self.score).then(self.tie.cmp(&other.tie))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A request to an index.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub query: Query,
    pub scope: Scope,
    /// Excludes hits up to and including this position.
    pub after: Option<Rank>,
    /// Maximum number of hits.
    pub limit: usize,
}

/// A page that matches a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHit {
    /// The position among the hits.
    pub rank: Rank,
    pub space: SpaceId,
    pub page: PageId,
    /// The hash of the text that was indexed.
    pub text: Hash,
    /// Excerpts of that text around matches, at most [`MAX_EXCERPTS`].
    pub excerpts: Vec<Excerpt>,
}

impl PageHit {
    /// Creates a hit. Of the page's text, it keeps only the excerpts.
    #[must_use]
    pub fn new(rank: Rank, query: &Query, page: &PageDocument) -> Self {
        let excerpts = excerpts(query, page, MAX_EXCERPTS);
        Self { rank, space: page.space.clone(), page: page.page.clone(), text: page.text, excerpts }
    }
}

/// The error of an index.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A transient failure.
    #[error("the search index cannot be used: {0}")]
    Unavailable(String),
    /// The stored index is unreadable and must be cleared.
    #[error("the search index is damaged: {0}")]
    Damaged(String),
}

impl From<SearchError> for Error {
    fn from(error: SearchError) -> Self {
        match &error {
            SearchError::Unavailable(_) => {
                Self::new(ErrorKind::Unavailable, "the search index cannot be used now; try again later")
                    .caused_by(error)
            }
            SearchError::Damaged(_) => Self::internal(error),
        }
    }
}

/// A full-text index of pages.
///
/// # Contract
///
/// Each guarantee is tested by the conformance suite.
///
/// - A batch is applied atomically, together with its position, and in the order of its changes. Once
///   [`apply`](SearchIndex::apply) returns, searches see it.
/// - If the future of an `apply` is dropped, the batch is either applied before the next
///   [`position`](SearchIndex::position) returns, or never.
/// - A page matches if every [`Need`] of the query is met in one of its fields. Hits are in the order of [`Rank`], with
///   the scores of [`scores`]. A query without needs matches nothing.
/// - A hit has the excerpts and the hash of its page's text. The texts are read one at a time, and only for the
///   returned pages.
#[async_trait]
pub trait SearchIndex: Send + Sync + 'static {
    /// Applies changes, and updates the position if one is given.
    ///
    /// # Errors
    /// [`SearchError`]; nothing was applied.
    async fn apply(&self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError>;

    /// Returns the feed position of the index; `None` if it was never set.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn position(&self) -> Result<Option<FeedPos>, SearchError>;

    /// Returns the metadata of spaces in request order.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn indexed(&self, spaces: &[SpaceId]) -> Result<Vec<Option<IndexedSpace>>, SearchError>;

    /// Lists up to `limit` spaces with metadata, in id order, after `after`.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceId>, SearchError>;

    /// Returns the best hits.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn find_pages(&self, query: &SearchQuery) -> Result<Vec<PageHit>, SearchError>;

    /// Returns all indexed documents of a space in page id order. Intended for tests and operators.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn documents(&self, space: &SpaceId) -> Result<Vec<PageDocument>, SearchError>;

    /// Deletes everything, including the position.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn clear(&self) -> Result<(), SearchError>;
}
