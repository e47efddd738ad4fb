//! Full-text search: the [`SearchIndex`] port, its documents, and the rules for matching and scoring.
//!
//! The platform fills an index and can rebuild it from the store, so an index may lose its data. Before it returns a
//! hit, the platform verifies against the store that the page exists, that the caller may read it, and that its text
//! still contains the excerpt.
//!
//! [`tokens`], [`Query`] and [`PageScore`] define matching and ordering here, so that all indexes return the same
//! hits. A score depends only on the query and the page, never on other indexed pages or the history of the index. A
//! cursor is therefore also valid on another server with its own index.

#[cfg(feature = "conformance")]
pub mod conformance;
mod document;
mod excerpt;
mod fuzzy;
mod query;
mod scanner;
mod score;
mod stems;
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
pub use excerpt::{
    Excerpt, LAYOUT_STEP, MAX_EXCERPT, MAX_EXCERPTS, SectionLayout, SectionPlaces, TermPlaces, excerpts,
    excerpts_at,
};
pub use fuzzy::near_words;
pub use query::{Match, Phrase, PhraseWord, Query, QueryTerm, Word};
pub use score::{Field, MAX_ADJACENCY_PAGES, PageScore, Rank, RankedPage, TermScore, select_pages};
pub use stems::Language;
pub use words::{MAX_WORD, PART_MARK, TokenKind, WordToken, tokens};

/// The metadata of an indexed space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedSpace {
    pub space: SpaceId,
    pub organization: OrgId,
    /// The root of the indexed content.
    pub root: Hash,
    /// The indexed pages that are not part of the content; `None` if the content has no place for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<IndexedGeneratedPages>,
}

/// The indexed pages of a space that are generated from other sources than its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedGeneratedPages {
    /// A hash of everything that the pages are generated from.
    pub source: Hash,
    pub pages: Vec<PageId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// Adds or replaces a page.
    PutPage(Box<PageDocument>),
    /// Removes a page. Does nothing if it does not exist.
    DropPage(SpaceId, PageId),
    /// Sets the metadata of a space whose content is indexed.
    PutSpace(IndexedSpace),
    /// Removes the pages and the metadata of a space.
    DropSpace(SpaceId),
}

/// The spaces that a search covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All spaces of an organization.
    Organization(OrgId),
    /// All spaces of an organization except the given ones.
    OrganizationBut(OrgId, BTreeSet<SpaceId>),
    /// The given spaces.
    Spaces(BTreeSet<SpaceId>),
}

/// A request to an index.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub query: Query,
    pub scope: Scope,
    /// Excludes hits up to this position, inclusive.
    pub after: Option<Rank>,
    /// Maximum number of hits.
    pub limit: usize,
    /// The tenant of the search, such as a site. Searches of the same tenant share a part of the index capacity. The
    /// tenant does not affect the hits.
    pub tenant: Box<str>,
}

/// A page that matches a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHit {
    /// The position in the order of hits.
    pub rank: Rank,
    pub space: SpaceId,
    pub page: PageId,
    /// The hash of the indexed text.
    pub text: Hash,
    /// Excerpts of the indexed text around matches, at most [`MAX_EXCERPTS`].
    pub excerpts: Vec<Excerpt>,
}

impl PageHit {
    /// Creates a hit, which only contains excerpts of the page's text.
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
    /// The index is unreadable and must be cleared.
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
/// The conformance suite tests each of these guarantees.
///
/// - A batch is applied atomically together with its position, in the order of its changes. Searches see it once
///   [`apply`](SearchIndex::apply) has returned.
/// - If the future of an `apply` is dropped, the batch is either applied before the next call of
///   [`position`](SearchIndex::position) returns, or not at all.
/// - A page matches if one of its fields matches, for each [`QueryTerm`] of the query. Hits are ordered by [`Rank`]
///   with the scores of [`PageScore`]. A query without terms matches nothing.
/// - To find inexact matches of a word, an index visits at most [`Word::visits`] words. A very large index can
///   therefore miss pages that match only with a typo or by a short prefix.
/// - A hit contains excerpts and the hash of the page's text. The texts are read one at a time, and only those of the
///   returned pages.
#[async_trait]
pub trait SearchIndex: Send + Sync + 'static {
    /// Applies changes and, if a position is given, sets the position.
    ///
    /// # Errors
    /// [`SearchError`]. In this case, nothing was applied.
    async fn apply(&self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError>;

    /// Returns the feed position of the index, or `None` if it was never set.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn position(&self) -> Result<Option<FeedPos>, SearchError>;

    /// Returns the metadata of spaces, in request order.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn indexed(&self, spaces: &[SpaceId]) -> Result<Vec<Option<IndexedSpace>>, SearchError>;

    /// Lists up to `limit` spaces that have metadata, ordered by id, starting after `after`.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceId>, SearchError>;

    /// Returns the best hits for a query.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn find_pages(&self, query: &SearchQuery) -> Result<Vec<PageHit>, SearchError>;

    /// Returns all indexed documents of a space, ordered by page id. Intended for tests and operators.
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
