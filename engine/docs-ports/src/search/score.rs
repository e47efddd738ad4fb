//! The ranking rules, shared by all indexes.
//!
//! A score depends only on the query and the page. The terms of a query add up. The score of a term is that of its best
//! match in any field, plus a bonus for repeated occurrences.

use super::Match;

/// A searchable field of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Field {
    Title,
    Headings,
    Description,
    Body,
}

impl Field {
    /// All fields, in order of descending weight.
    pub const ALL: [Self; 4] = [Self::Title, Self::Headings, Self::Description, Self::Body];

    /// Returns the score of an exact match in the field.
    const fn worth(self) -> u16 {
        match self {
            Self::Title => 1_000,
            Self::Headings => 600,
            Self::Description => 500,
            Self::Body => 300,
        }
    }

    /// Returns the bonus for two consecutive words of a query that are adjacent in the field, in the same order.
    #[must_use]
    pub const fn adjacency_bonus(self) -> u32 {
        self.worth() as u32 / 5
    }
}

impl Match {
    /// Returns the score of a match in a field. A prefix match in the title scores higher than an exact match in a
    /// heading.
    #[must_use]
    pub const fn worth(self, field: Field) -> u16 {
        let twentieths = match self {
            Self::Exact => 20,
            Self::Inflection => 17,
            Self::Part => 16,
            Self::Beginning => 14,
            Self::OneTypo => 8,
            Self::TwoTypos => 4,
        };
        field.worth() / 20 * twentieths
    }

    /// Returns `true` if the match is not the word itself, but a similar one.
    #[must_use]
    pub const fn is_typo(self) -> bool {
        matches!(self, Self::OneTypo | Self::TwoTypos)
    }

    /// Returns `true` if the match counts as an occurrence of the word.
    #[must_use]
    pub const fn is_occurrence(self) -> bool {
        matches!(self, Self::Exact | Self::Inflection)
    }
}

/// Maximum number of pages on which an index looks for adjacent words. The bonus of a field is omitted if both words
/// are in this field on more pages, so that the cost of a query with two frequent words is bounded.
pub const MAX_ADJACENCY_PAGES: usize = 1_000;

/// Maximum bonus for repeated occurrences of a word.
const MOST_FOR_TIMES: u32 = 64;
/// Bonus for a title that only consists of the query words.
const WHOLE_TITLE: u32 = 200;
/// The divisor for the score of a page that matches a word only with typos. Every page without typos has a higher score
/// than every page with typos, because the score of a term is between `MIN_TERM` and this multiple of it.
const TYPO_DIVISOR: u32 = 8;
/// The lowest score of a term without typos.
const MIN_TERM: u32 = Match::Beginning.worth(Field::Body) as u32;

/// The matches of a page for one query term.
#[derive(Clone, Copy, Default, Debug)]
pub struct TermScore {
    // Small types: an index has one value per page while it evaluates a term.
    best: u16,
    times: u16,
    /// `true` if a match is not a typo.
    is_met: bool,
    is_in_title: bool,
}

impl TermScore {
    /// Adds occurrences of one word in a field.
    #[inline]
    pub fn add(&mut self, field: Field, times: u32, how: Match) {
        self.best = self.best.max(how.worth(field));
        self.is_met |= !how.is_typo();
        if how.is_occurrence() {
            self.times = self.times.saturating_add(u16::try_from(times).unwrap_or(u16::MAX));
            self.is_in_title |= field == Field::Title;
        }
    }

    /// Returns `true` if a word matches.
    #[must_use]
    pub const fn is_match(&self) -> bool {
        self.best > 0
    }

    fn score(&self) -> u32 {
        // Logarithmic: each doubling of the occurrences adds the same amount.
        u32::from(self.best) + (8 * self.times.saturating_add(1).ilog2()).min(MOST_FOR_TIMES)
    }
}

/// The accumulated score of a page.
#[derive(Clone, Copy, Default, Debug)]
pub struct PageScore {
    score: u32,
    words_in_title: u16,
    has_typos: bool,
}

impl PageScore {
    /// Adds a term, which has `words` words.
    #[inline]
    pub fn add_term(&mut self, term: &TermScore, words: u32) {
        self.score += term.score();
        self.has_typos |= !term.is_met;
        if term.is_in_title {
            let words = u16::try_from(words).unwrap_or(u16::MAX);
            self.words_in_title = self.words_in_title.saturating_add(words);
        }
    }

    /// Adds the bonus for two adjacent words.
    pub const fn add_bonus(&mut self, bonus: u32) {
        self.score += bonus;
    }

    /// Returns `true` if a word of the query is in the title. Otherwise the total does not depend on the title.
    #[must_use]
    pub const fn is_in_title(&self) -> bool {
        self.words_in_title > 0
    }

    /// Returns `true` if a term only matches with typos.
    #[must_use]
    pub const fn has_typos(&self) -> bool {
        self.has_typos
    }

    /// Returns the score. `terms` is the number of query terms, `title_words` that of words in the title.
    #[must_use]
    #[inline]
    pub fn total(&self, terms: u32, title_words: u32) -> u32 {
        let in_title = u32::from(self.words_in_title);
        let words = title_words.max(terms).max(in_title).max(1);
        let score = self.score + WHOLE_TITLE * in_title / words;
        if self.has_typos { (score / TYPO_DIVISOR).min(Self::max_with_typos(terms)) } else { score }
    }

    /// Returns the highest score of a page that matches a word only with typos, which is below the lowest score of
    /// another page.
    #[must_use]
    pub const fn max_with_typos(terms: u32) -> u32 {
        (MIN_TERM * terms).saturating_sub(1)
    }
}

/// A matching page, passed from an index to the selection.
#[derive(Clone, Copy, Debug)]
pub struct RankedPage<T> {
    /// The rank among all hits.
    pub rank: Rank,
    /// The index-internal location of the page.
    pub at: T,
}

/// Returns the best pages after a position, in order.
#[must_use]
pub fn select_pages<T>(
    mut found: Vec<RankedPage<T>>,
    after: Option<Rank>,
    limit: usize,
) -> Vec<RankedPage<T>> {
    found.retain(|page| after.is_none_or(|after| page.rank > after));
    keep_best(&mut found, limit, |page| page.rank);
    found
}

/// Keeps the first `limit` items in order, without sorting the others.
fn keep_best<T>(items: &mut Vec<T>, limit: usize, rank: impl Fn(&T) -> Rank) {
    if limit < items.len() {
        items.select_nth_unstable_by_key(limit, &rank);
        items.truncate(limit);
    }
    items.sort_unstable_by_key(rank);
}

/// The sort key of a hit: higher scores first, then lower tie-breakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    pub score: u32,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_with_typos_ranks_below_every_other_page() {
        for terms in 1..=4 {
            let (mut worst, mut best) = (PageScore::default(), PageScore::default());
            for term in 0..terms {
                let mut own = TermScore::default();
                own.add(Field::Body, 1, Match::Beginning);
                worst.add_term(&own, 1);
                let mut own = TermScore::default();
                let how = if term == 0 { Match::OneTypo } else { Match::Exact };
                own.add(Field::Title, u32::MAX, how);
                best.add_term(&own, 1);
                best.add_bonus(Field::Title.adjacency_bonus());
            }
            assert!(best.total(terms, 1) < worst.total(terms, 1_000), "{terms}");
            assert!(best.total(terms, 1) <= PageScore::max_with_typos(terms));
        }
    }
}
