//! The search index: [`SearchIndex`], what it holds, and how text matches.
//!
//! An index is fed by the platform and can always be made anew from the store, so it may lose what it has. What it
//! answers is checked against the store before anybody sees it: whether the page is there, who may see it, and whether
//! it still has the text that an excerpt is of.
//!
//! What matches and in which order is decided here, by [`tokens`], [`Query`] and [`scores`], so that all
//! indexes find the same. A score depends on the query and the page alone, never on what else is indexed or on how:
//! a cursor of one server is good for another one, whose index has a history of its own.

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

/// Between the last word of a section and the first of the next: no phrase reaches across.
const GAP: u32 = 100;

/// A page as it is searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageDocument {
    /// The organization of its space.
    pub organization: OrgId,
    /// The space.
    pub space: SpaceId,
    /// The page; another space may have one of the same id.
    pub page: PageId,
    /// The title.
    pub title: String,
    /// What it is about, in a sentence.
    pub description: Option<String>,
    /// Which text the sections are of: equal for equal texts. Only while the page has this text is an excerpt shown.
    pub text: Hash,
    /// The text, cut at its headings.
    pub sections: Vec<Section>,
}

/// A heading and the text below it, up to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// What leads to it on its page, without the `#`; `None` at the start of the page.
    pub anchor: Option<String>,
    /// The heading; `None` at the start of the page.
    pub heading: Option<String>,
    /// The text without marks.
    pub text: String,
}

impl PageDocument {
    /// The words of a field, in order, made one at a time. Between the texts of a field is a gap.
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

    /// About how many bytes it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        let sections = self.sections.iter().map(|s| s.text.len() + s.heading.as_ref().map_or(0, String::len));
        self.title.len() + self.description.as_ref().map_or(0, String::len) + sections.sum::<usize>()
    }

    /// Orders pages of equal score: a number that only the page decides.
    #[must_use]
    pub fn tie(&self) -> u64 {
        tie(&[self.space.as_str(), self.page.as_str()])
    }
}

/// The words of several texts, with a gap between.
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

/// A number that stands for a name: equal names have equal ones, and others practically never.
#[must_use]
pub fn tie(parts: &[&str]) -> u64 {
    u64::from_be_bytes(docs_model::hash::fingerprint(parts, ListOrder::Asc))
}

/// What an index knows of a space besides its pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedSpace {
    /// The space.
    pub space: SpaceId,
    /// Its organization.
    pub organization: OrgId,
    /// The root of the content that the index holds.
    pub root: Hash,
}

/// A change of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexChange {
    /// Adds a page, or replaces it.
    PutPage(Box<PageDocument>),
    /// Removes a page, where there is one.
    DropPage(SpaceId, PageId),
    /// Notes which content of a space the index holds.
    PutSpace(IndexedSpace),
    /// Removes a space: its pages and the note.
    DropSpace(SpaceId),
}

/// Where to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In all spaces of an organization.
    Organization(OrgId),
    /// In all spaces of an organization but these.
    OrganizationBut(OrgId, BTreeSet<SpaceId>),
    /// In these spaces.
    Spaces(BTreeSet<SpaceId>),
}

/// A place in the order of what was found: higher scores first, and where they are equal, lower ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// How well it matches.
    pub score: u32,
    /// What orders equal scores.
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

/// A question to an index.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// What to look for.
    pub query: Query,
    /// Where.
    pub scope: Scope,
    /// Only what comes after this.
    pub after: Option<Rank>,
    /// Most hits to answer.
    pub limit: usize,
}

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHit {
    /// Its place among the hits.
    pub rank: Rank,
    /// The space.
    pub space: SpaceId,
    /// The page.
    pub page: PageId,
    /// Which text the page had when it was indexed.
    pub text: Hash,
    /// What that text says where the query is met: at most [`MAX_EXCERPTS`].
    pub excerpts: Vec<Excerpt>,
}

impl PageHit {
    /// A page that was found: of its text, only what is shown is kept.
    #[must_use]
    pub fn new(rank: Rank, query: &Query, page: &PageDocument) -> Self {
        let excerpts = excerpts(query, page, MAX_EXCERPTS);
        Self { rank, space: page.space.clone(), page: page.page.clone(), text: page.text, excerpts }
    }
}

/// Why an index did not do something.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// It may work later.
    #[error("the search index cannot be used: {0}")]
    Unavailable(String),
    /// What it kept cannot be read: it has to be cleared.
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
/// Each sentence is a test of the conformance suite.
///
/// - A batch is applied whole or not at all, its position with it, and in the order of its changes. When
///   [`apply`](SearchIndex::apply) returns, it is found.
/// - An `apply` whose future was dropped is either applied before the next [`position`](SearchIndex::position)
///   answers, or never.
/// - A page is found when every [`Need`] of the query is met somewhere in it, in the order of [`Rank`], with the scores
///   of [`scores`]. A query without needs finds nothing.
/// - A hit has the excerpts of its page's text, and tells which text that is. The texts of hits are read one after the
///   other, and only those of the pages that are answered.
#[async_trait]
pub trait SearchIndex: Send + Sync + 'static {
    /// Applies changes, and moves the position where one is given.
    ///
    /// # Errors
    /// [`SearchError`]; nothing was applied.
    async fn apply(&self, changes: Vec<IndexChange>, position: Option<FeedPos>) -> Result<(), SearchError>;

    /// How far the index has followed the feed; `None` when it never has.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn position(&self) -> Result<Option<FeedPos>, SearchError>;

    /// What is noted of spaces, in the order asked.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn indexed(&self, spaces: &[SpaceId]) -> Result<Vec<Option<IndexedSpace>>, SearchError>;

    /// Up to `limit` spaces of which something is noted, after one, in the order of their ids.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Result<Vec<SpaceId>, SearchError>;

    /// The best pages.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn find_pages(&self, query: &SearchQuery) -> Result<Vec<PageHit>, SearchError>;

    /// Everything that is indexed of a space, in the order of the pages' ids: for tests and for those who look after
    /// a server.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn documents(&self, space: &SpaceId) -> Result<Vec<PageDocument>, SearchError>;

    /// Forgets everything, the position too.
    ///
    /// # Errors
    /// [`SearchError`].
    async fn clear(&self) -> Result<(), SearchError>;
}
