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
mod document;
mod excerpt;
mod fuzzy;
mod query;
mod score;
mod words;

use std::collections::BTreeSet;

use async_trait::async_trait;
use docs_model::{
    OrgId, PageId, SpaceId,
    error::{Error, ErrorKind},
    feed::FeedPos,
    hash::Hash,
};
use serde::{Deserialize, Serialize};

pub use document::{PageDocument, Section, hash_name};
pub use excerpt::{Excerpt, MAX_EXCERPT, MAX_EXCERPTS, excerpts};
pub use fuzzy::near_words;
pub use query::{Match, Phrase, PhraseWord, Query, QueryTerm, Word};
pub use score::{Field, Postings, Rank, RankedPage, scores, select_pages};
pub use words::{MAX_WORD, TokenKind, WordToken, tokens};

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

/// A request to an index.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub query: Query,
    pub scope: Scope,
    /// Excludes hits up to and including this position.
    pub after: Option<Rank>,
    /// Maximum number of hits.
    pub limit: usize,
    /// The tenant of the search, such as a site: a name whose searches together get only a share of the capacity of an
    /// index. Hits do not depend on it.
    pub tenant: Box<str>,
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
    #[error("the search index is unavailable: {0}")]
    Unavailable(String),
    /// The stored index is unreadable and must be cleared.
    #[error("the search index is damaged: {0}")]
    Damaged(String),
}

impl From<SearchError> for Error {
    fn from(error: SearchError) -> Self {
        match &error {
            SearchError::Unavailable(_) => {
                Self::new(ErrorKind::Unavailable, "the search index is unavailable; try again later")
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
/// - A page matches if every [`QueryTerm`] of the query is met in one of its fields. Hits are in the order of [`Rank`],
/// with   the scores of [`scores`]. A query without needs matches nothing.
/// - For inexact matches of a word, an index visits at most [`Word::visits`] words, so in a very large index, pages
///   that match only with a typo or by a short prefix can be missing.
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
