//! The best pages among the matches of a query.

use std::{
    collections::{BTreeSet, BinaryHeap, HashMap},
    sync::Arc,
};

use docs_model::SpaceId;
use docs_ports::search::{Field, MAX_ADJACENCY_PAGES, PageScore, Rank, Scope, SearchQuery};
use tantivy::{
    DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term,
    columnar::{Column, ColumnValues},
    schema::IndexRecordOption,
};

use crate::{
    evaluate::{PreparedTerm, SegmentMatches, SegmentTerm, add_adjacency, find_matches, occurrences},
    failure::IndexResult,
    schema::{Fields, ORGANIZATION, SPACE, TIE, TITLE_WORDS},
    terms::Tolerance,
};

/// A page among the best, ordered by rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Selected {
    pub(crate) rank: Rank,
    pub(crate) at: DocAddress,
}

/// The best pages of a query, in order.
#[derive(Default)]
pub(crate) struct Selection<'q> {
    pub(crate) pages: Vec<Selected>,
    /// The terms of the query in each segment with matches.
    pub(crate) terms: HashMap<u32, Vec<SegmentTerm<'q>>>,
}

/// Returns the best pages of a query, in order. Words with typos are only looked up if the pages without typos are too
/// few: they are all behind.
pub(crate) fn select<'q>(
    searcher: &Searcher,
    fields: &Fields,
    query: &'q SearchQuery,
) -> IndexResult<Selection<'q>> {
    if query.limit == 0 || query.query.is_empty() {
        return Ok(Selection::default());
    }
    let mut prepared = PreparedTerm::all(&query.query);
    let most_with_typos = PageScore::max_with_typos(terms_of(query));
    if query.after.is_none_or(|after| after.score > most_with_typos) {
        let found = select_with(searcher, fields, query, &mut prepared, Tolerance::NoTypos)?;
        if found.pages.len() == query.limit || query.query.words().all(|word| word.typos() == 0) {
            return Ok(found);
        }
    }
    select_with(searcher, fields, query, &mut prepared, Tolerance::Typos)
}

fn terms_of(query: &SearchQuery) -> u32 {
    u32::try_from(query.query.needs().len()).unwrap_or(u32::MAX)
}

fn select_with<'q>(
    searcher: &Searcher,
    fields: &Fields,
    query: &'q SearchQuery,
    prepared: &mut [PreparedTerm<'q>],
    tolerance: Tolerance,
) -> IndexResult<Selection<'q>> {
    let mut found = Vec::new();
    prepared.iter_mut().for_each(PreparedTerm::begin);
    for (ord, segment) in (0..).zip(searcher.segment_readers()) {
        let within = pages_within(segment, fields, &query.scope)?;
        if within.as_ref().is_some_and(Vec::is_empty) {
            continue;
        }
        let matches = find_matches(segment, fields, prepared, tolerance, within)?;
        if !matches.candidates.pages.is_empty() {
            found.push(MatchingSegment { ord, segment, matches });
        }
    }
    add_bonuses(&mut found)?;
    let mut best = BestPages::new(query);
    for segment in &found {
        best.add(segment)?;
    }
    let pages = best.pages.into_sorted_vec();
    let terms = found.into_iter().map(|segment| (segment.ord, segment.matches.terms)).collect();
    Ok(Selection { pages, terms })
}

/// A segment with matches.
struct MatchingSegment<'s, 'q> {
    ord: u32,
    segment: &'s SegmentReader,
    matches: SegmentMatches<'q>,
}

/// Adds the bonuses for consecutive words of the query that are adjacent on a page.
fn add_bonuses(found: &mut [MatchingSegment<'_, '_>]) -> IndexResult<()> {
    let terms = found.first().map_or(0, |segment| segment.matches.terms.len());
    for (at, field) in (1..terms).flat_map(|at| Field::ALL.map(|field| (at, field))) {
        let mut pages = [0, 0];
        for segment in &*found {
            for (pages, term) in pages.iter_mut().zip(&segment.matches.terms[at - 1..=at]) {
                *pages += match term {
                    SegmentTerm::Word(lists) => occurrences(lists, field),
                    SegmentTerm::Phrase(..) => 0,
                };
            }
        }
        if pages.contains(&0) || pages.into_iter().min() > Some(MAX_ADJACENCY_PAGES) {
            continue;
        }
        for segment in &mut *found {
            let SegmentMatches { candidates, terms } = &mut segment.matches;
            if let [SegmentTerm::Word(one), SegmentTerm::Word(next)] = &terms[at - 1..=at] {
                add_adjacency(candidates, one, next, field)?;
            }
        }
    }
    Ok(())
}

/// The pages of a scope are listed before the words of a query are read if they are at most this part of a segment.
const SMALL_SCOPE: usize = 8;

/// Returns the pages of a scope in a segment, if these are few.
fn pages_within(segment: &SegmentReader, fields: &Fields, scope: &Scope) -> IndexResult<Option<Vec<DocId>>> {
    let Scope::Spaces(spaces) = scope else { return Ok(None) };
    let reader = segment.inverted_index(fields.space)?;
    let mut infos = Vec::new();
    for space in spaces {
        infos.extend(reader.get_term_info(&Term::from_field_text(fields.space, space.as_str()))?);
    }
    let total = infos.iter().map(|info| info.doc_freq as usize).sum::<usize>();
    if total > segment.max_doc() as usize / SMALL_SCOPE {
        return Ok(None);
    }
    let mut pages = Vec::with_capacity(total);
    for info in &infos {
        let mut postings = reader.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
        while postings.doc() != TERMINATED {
            pages.push(postings.doc());
            postings.advance();
        }
    }
    pages.sort_unstable();
    Ok(Some(pages))
}

/// The best pages so far.
struct BestPages<'q> {
    query: &'q SearchQuery,
    terms: u32,
    /// The worst of the best pages is the first one.
    pages: BinaryHeap<Selected>,
}

impl<'q> BestPages<'q> {
    fn new(query: &'q SearchQuery) -> Self {
        Self { query, terms: terms_of(query), pages: BinaryHeap::new() }
    }

    fn add(&mut self, found: &MatchingSegment<'_, '_>) -> IndexResult<()> {
        let segment = found.segment;
        let columns = segment.fast_fields();
        let title_words = columns.column_first_or_default::<u64>(TITLE_WORDS)?;
        let tie = columns.column_first_or_default::<u64>(TIE)?;
        let scope = ScopeFilter::new(segment, &self.query.scope)?;
        let candidates = &found.matches.candidates;
        for (page, score) in candidates.pages.iter().zip(&candidates.scores) {
            let words = if score.is_in_title() { title_words.get_val(*page) } else { 0 };
            let score = score.total(self.terms, u32::try_from(words).unwrap_or(u32::MAX));
            let is_full = self.pages.len() == self.query.limit;
            let worst = self.pages.peek().map(|worst| worst.rank).filter(|_| is_full);
            if worst.is_some_and(|worst| score < worst.score)
                || self.query.after.is_some_and(|after| score > after.score)
            {
                continue;
            }
            let rank = Rank { score, tie: tie.get_val(*page) };
            if worst.is_some_and(|worst| rank >= worst)
                || self.query.after.is_some_and(|after| rank <= after)
                || segment.is_deleted(*page)
                || !scope.includes(*page)
            {
                continue;
            }
            if is_full {
                self.pages.pop();
            }
            self.pages.push(Selected { rank, at: DocAddress::new(found.ord, *page) });
        }
        Ok(())
    }
}

/// A scope, with the numbers of its spaces in a segment.
struct ScopeFilter {
    organization: Option<OrdFilter>,
    spaces: Option<OrdFilter>,
    excluded: Option<OrdFilter>,
}

impl ScopeFilter {
    fn new(segment: &SegmentReader, scope: &Scope) -> IndexResult<Self> {
        let spaces = |spaces: &BTreeSet<SpaceId>| {
            OrdFilter::new(segment, SPACE, &mut spaces.iter().map(SpaceId::as_str))
        };
        let organization = |org: &str| OrdFilter::new(segment, ORGANIZATION, &mut std::iter::once(org));
        Ok(match scope {
            Scope::Organization(org) => {
                Self { organization: Some(organization(org.as_str())?), spaces: None, excluded: None }
            }
            Scope::OrganizationBut(org, but) => Self {
                organization: Some(organization(org.as_str())?),
                spaces: None,
                excluded: Some(spaces(but)?),
            },
            Scope::Spaces(own) => Self { organization: None, spaces: Some(spaces(own)?), excluded: None },
        })
    }

    fn includes(&self, page: DocId) -> bool {
        self.organization.as_ref().is_none_or(|filter| filter.includes(page))
            && self.spaces.as_ref().is_none_or(|filter| filter.includes(page))
            && self.excluded.as_ref().is_none_or(|filter| !filter.includes(page))
    }
}

/// The pages of a segment whose value in a column is one of a set.
struct OrdFilter {
    column: Option<Arc<dyn ColumnValues<u64>>>,
    /// The sorted numbers of the values.
    ords: Vec<u64>,
}

impl OrdFilter {
    fn new(
        segment: &SegmentReader,
        column: &str,
        values: &mut dyn Iterator<Item = &str>,
    ) -> IndexResult<Self> {
        let Some(column) = segment.fast_fields().str(column)? else {
            return Ok(Self { column: None, ords: Vec::new() });
        };
        let mut ords = Vec::new();
        for value in values {
            ords.extend(column.dictionary().term_ord(value.as_bytes())?);
        }
        ords.sort_unstable();
        let ord_column: Column<u64> = column.ords().clone();
        // Metadata of spaces has no value. It matches no query.
        Ok(Self { column: Some(ord_column.first_or_default_col(u64::MAX)), ords })
    }

    fn includes(&self, page: DocId) -> bool {
        let Some(column) = &self.column else { return false };
        let ord = column.get_val(page);
        match self.ords.as_slice() {
            [only] => *only == ord,
            ords => ords.binary_search(&ord).is_ok(),
        }
    }
}
