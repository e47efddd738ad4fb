//! The pages of a segment that match a query, with their scores.

use docs_ports::search::{Field, Match, PageScore, Phrase, Query, QueryTerm, TermScore};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, postings::Postings as _};

use crate::{
    failure::IndexResult,
    schema::Fields,
    terms::{FieldWords, MAX_POSTINGS, PlacesReader, PostingList, QueryWord, Tolerance},
};

/// A term of a query, with the results that all segments share.
pub(crate) enum PreparedTerm<'q> {
    Word(Box<QueryWord<'q>>),
    Phrase(&'q Phrase),
}

impl<'q> PreparedTerm<'q> {
    pub(crate) fn all(query: &'q Query) -> Vec<Self> {
        let share = MAX_POSTINGS / query.words().count().max(1);
        let prepare = |term: &'q QueryTerm| match term {
            QueryTerm::Word(word) => PreparedTerm::Word(Box::new(QueryWord::new(word, share))),
            QueryTerm::Phrase(phrase) => PreparedTerm::Phrase(phrase),
        };
        query.needs().iter().map(prepare).collect()
    }

    /// Begins a search of all segments.
    pub(crate) fn begin(&mut self) {
        if let PreparedTerm::Word(word) = self {
            word.begin();
        }
    }

    fn in_segment(
        &mut self,
        segment: &SegmentReader,
        fields: &Fields,
        tolerance: Tolerance,
    ) -> IndexResult<SegmentTerm<'q>> {
        match self {
            PreparedTerm::Word(word) => Ok(SegmentTerm::Word(word.lists(segment, fields, tolerance)?)),
            PreparedTerm::Phrase(phrase) => {
                let mut all = Vec::new();
                for field in Field::ALL {
                    let words = FieldWords::new(segment, fields, field)?;
                    let lists = phrase.parts().iter().map(|part| words.phrase_lists(&part.word));
                    let parts: Vec<Vec<PostingList>> = lists.collect::<IndexResult<_>>()?;
                    // Every part has to be in the same field.
                    if parts.iter().all(|lists| !lists.is_empty()) {
                        all.push(FieldPhrase { field, parts });
                    }
                }
                Ok(SegmentTerm::Phrase(phrase, all))
            }
        }
    }
}

/// A term of a query in a segment.
pub(crate) enum SegmentTerm<'q> {
    Word(Vec<PostingList>),
    Phrase(&'q Phrase, Vec<FieldPhrase>),
}

/// The lists of a phrase in a field, for each part.
pub(crate) struct FieldPhrase {
    pub(crate) field: Field,
    parts: Vec<Vec<PostingList>>,
}

impl SegmentTerm<'_> {
    /// Returns the number of pages to visit at most.
    fn cost(&self) -> usize {
        let pages = |lists: &[PostingList]| lists.iter().map(PostingList::pages).sum::<usize>();
        match self {
            Self::Word(lists) => pages(lists),
            Self::Phrase(_, fields) => {
                fields.iter().filter_map(|field| field.parts.iter().map(|lists| pages(lists)).min()).sum()
            }
        }
    }

    fn words(&self) -> u32 {
        match self {
            Self::Word(_) => 1,
            Self::Phrase(phrase, _) => u32::try_from(phrase.parts().len()).unwrap_or(u32::MAX),
        }
    }
}

/// The matching pages of a segment, in ascending order.
#[derive(Default)]
pub(crate) struct Candidates {
    pub(crate) pages: Vec<DocId>,
    pub(crate) scores: Vec<PageScore>,
}

/// The matches of a query in a segment.
pub(crate) struct SegmentMatches<'q> {
    pub(crate) candidates: Candidates,
    /// The terms in the order of the query.
    pub(crate) terms: Vec<SegmentTerm<'q>>,
}

/// Finds the pages of a segment that match every term. With `within`, only these pages are considered.
pub(crate) fn find_matches<'q>(
    segment: &SegmentReader,
    fields: &Fields,
    prepared: &mut [PreparedTerm<'q>],
    tolerance: Tolerance,
    within: Option<Vec<DocId>>,
) -> IndexResult<SegmentMatches<'q>> {
    let terms = prepared.iter_mut().map(|term| term.in_segment(segment, fields, tolerance));
    let terms: Vec<SegmentTerm<'_>> = terms.collect::<IndexResult<_>>()?;
    let mut order: Vec<&SegmentTerm<'_>> = terms.iter().collect();
    order.sort_by_key(|term| term.cost());
    let mut candidates =
        within.map(|pages| Candidates { scores: vec![PageScore::default(); pages.len()], pages });
    for term in order {
        candidates = Some(match candidates {
            None => first_matches(term, segment.max_doc())?,
            Some(candidates) if candidates.pages.is_empty() => candidates,
            Some(candidates) => narrow(candidates, term)?,
        });
    }
    Ok(SegmentMatches { candidates: candidates.unwrap_or_default(), terms })
}

/// The part of the pages of a segment above which its pages are visited as an array.
const DENSE_PART: usize = 16;

/// Finds the pages that match a term.
fn first_matches(term: &SegmentTerm<'_>, max_doc: DocId) -> IndexResult<Candidates> {
    let words = term.words();
    let found = match term {
        SegmentTerm::Word(lists) if term.cost() > max_doc as usize / DENSE_PART => {
            dense(lists, max_doc, words)?
        }
        SegmentTerm::Word(lists) => fold(occurrences_of(lists)?, words),
        SegmentTerm::Phrase(phrase, fields) => {
            let mut found = Vec::new();
            for field in fields {
                let pages = phrase_pages(field, None)?;
                add_phrase(phrase, field, &pages, &mut |_, page, times| {
                    found.push(FoundWord { page, field: field.field, how: Match::Exact, times });
                })?;
            }
            fold(found, words)
        }
    };
    Ok(found)
}

/// Occurrences of a word on a page.
struct FoundWord {
    page: DocId,
    field: Field,
    how: Match,
    times: u32,
}

impl Candidates {
    /// Adds a page that matches the first term.
    #[inline]
    fn push(&mut self, page: DocId, term: &TermScore, words: u32) {
        let mut score = PageScore::default();
        score.add_term(term, words);
        self.pages.push(page);
        self.scores.push(score);
    }
}

fn dense(lists: &[PostingList], max_doc: DocId, words: u32) -> IndexResult<Candidates> {
    let mut all = vec![TermScore::default(); max_doc as usize];
    for list in lists {
        let mut blocks = list.blocks()?;
        while blocks.block_len() > 0 {
            for (page, times) in blocks.docs().iter().zip(blocks.freqs()) {
                if let Some(term) = all.get_mut(*page as usize) {
                    term.add(list.field, *times, list.how);
                }
            }
            if blocks.freqs().is_empty() {
                for page in blocks.docs() {
                    if let Some(term) = all.get_mut(*page as usize) {
                        term.add(list.field, 1, list.how);
                    }
                }
            }
            blocks.advance();
        }
    }
    let mut candidates = Candidates::default();
    for (page, term) in (0..).zip(&all).filter(|(_, term)| term.is_match()) {
        candidates.push(page, term, words);
    }
    Ok(candidates)
}

fn occurrences_of(lists: &[PostingList]) -> IndexResult<Vec<FoundWord>> {
    let mut found = Vec::new();
    for list in lists {
        let mut postings = list.postings()?;
        while postings.doc() != TERMINATED {
            let (page, times) = (postings.doc(), postings.term_freq());
            found.push(FoundWord { page, field: list.field, how: list.how, times });
            postings.advance();
        }
    }
    Ok(found)
}

/// Adds up the occurrences on each page.
fn fold(mut found: Vec<FoundWord>, words: u32) -> Candidates {
    found.sort_by_key(|found| found.page);
    let mut candidates = Candidates::default();
    for own in found.chunk_by(|one, next| one.page == next.page) {
        let mut term = TermScore::default();
        own.iter().for_each(|found| term.add(found.field, found.times, found.how));
        candidates.push(own[0].page, &term, words);
    }
    candidates
}

/// A list that is longer than the candidates by this factor is searched instead of read.
const SEEK_FACTOR: usize = 8;

/// Keeps the candidates that also match a term.
fn narrow(candidates: Candidates, term: &SegmentTerm<'_>) -> IndexResult<Candidates> {
    let Candidates { pages, scores } = candidates;
    let mut met = vec![TermScore::default(); pages.len()];
    match term {
        SegmentTerm::Word(lists) => {
            for list in lists {
                let mut postings = list.postings()?;
                let is_long = list.pages() > pages.len() * SEEK_FACTOR;
                for (page, met) in pages.iter().zip(&mut met) {
                    if is_long && postings.doc() < *page {
                        postings.seek(*page);
                    }
                    while postings.doc() < *page {
                        postings.advance();
                    }
                    if postings.doc() == *page {
                        met.add(list.field, postings.term_freq(), list.how);
                    }
                }
            }
        }
        SegmentTerm::Phrase(phrase, fields) => {
            for field in fields {
                add_phrase(phrase, field, &pages, &mut |at, _, times| {
                    met[at].add(field.field, times, Match::Exact);
                })?;
            }
        }
    }
    let words = term.words();
    let kept = pages.into_iter().zip(scores).zip(met).filter(|(_, met)| met.is_match());
    let added = kept.map(|((page, mut score), met)| {
        score.add_term(&met, words);
        (page, score)
    });
    let (pages, scores) = added.unzip();
    Ok(Candidates { pages, scores })
}

/// Returns the pages that contain the rarest part of a phrase, or of `within` if these are fewer.
fn phrase_pages(field: &FieldPhrase, within: Option<&[DocId]>) -> IndexResult<Vec<DocId>> {
    let pages = |lists: &&Vec<PostingList>| lists.iter().map(PostingList::pages).sum::<usize>();
    let Some(rarest) = field.parts.iter().min_by_key(pages) else { return Ok(Vec::new()) };
    if let Some(within) = within.filter(|within| within.len() <= pages(&rarest)) {
        return Ok(within.to_vec());
    }
    let mut found = Vec::new();
    for list in rarest {
        let mut postings = list.postings()?;
        while postings.doc() != TERMINATED {
            found.push(postings.doc());
            postings.advance();
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Calls `each` with the index, the page and the number of occurrences for those of `pages` that contain the phrase.
fn add_phrase(
    phrase: &Phrase,
    field: &FieldPhrase,
    pages: &[DocId],
    each: &mut dyn FnMut(usize, DocId, u32),
) -> IndexResult<()> {
    let mut readers = PhraseReader::new(field)?;
    let mut starts = Vec::new();
    for (at, page) in pages.iter().enumerate() {
        readers.starts(phrase, *page, &mut starts);
        if !starts.is_empty() {
            each(at, *page, u32::try_from(starts.len()).unwrap_or(u32::MAX));
        }
    }
    Ok(())
}

/// Reads the positions of a phrase.
pub(crate) struct PhraseReader {
    parts: Vec<Vec<PlacesReader>>,
    places: Vec<u32>,
}

impl PhraseReader {
    pub(crate) fn new(field: &FieldPhrase) -> IndexResult<Self> {
        let open = |lists: &Vec<PostingList>| lists.iter().map(PostingList::places).collect();
        let parts = field.parts.iter().map(open).collect::<IndexResult<_>>()?;
        Ok(Self { parts, places: Vec::new() })
    }

    /// Sets `starts` to the positions of the phrase on a page.
    pub(crate) fn starts(&mut self, phrase: &Phrase, page: DocId, starts: &mut Vec<u32>) {
        starts.clear();
        for (at, (part, readers)) in phrase.parts().iter().zip(&mut self.parts).enumerate() {
            self.places.clear();
            readers.iter_mut().for_each(|reader| reader.append(page, &mut self.places));
            if readers.len() > 1 {
                self.places.sort_unstable();
                self.places.dedup();
            }
            if at == 0 {
                starts.extend(self.places.iter().filter_map(|place| place.checked_sub(part.offset)));
            } else {
                starts.retain(|start| self.places.binary_search(&(start + part.offset)).is_ok());
            }
            if starts.is_empty() {
                return;
            }
        }
    }
}

/// Adds the bonus of a field to the candidates where two consecutive words of the query are adjacent in it.
pub(crate) fn add_adjacency(
    candidates: &mut Candidates,
    one: &[PostingList],
    next: &[PostingList],
    field: Field,
) -> IndexResult<()> {
    let open = |lists: &[PostingList]| {
        let own = lists.iter().filter(|list| list.field == field && list.how.is_occurrence());
        own.map(PostingList::places).collect::<IndexResult<Vec<_>>>()
    };
    let (mut one, mut next) = (open(one)?, open(next)?);
    if one.is_empty() || next.is_empty() {
        return Ok(());
    }
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for (page, score) in candidates.pages.iter().zip(&mut candidates.scores) {
        starts.clear();
        one.iter_mut().for_each(|reader| reader.append(*page, &mut starts));
        if starts.is_empty() {
            continue;
        }
        ends.clear();
        next.iter_mut().for_each(|reader| reader.append(*page, &mut ends));
        ends.sort_unstable();
        if starts.iter().any(|start| ends.binary_search(&(start + 1)).is_ok()) {
            score.add_bonus(field.adjacency_bonus());
        }
    }
    Ok(())
}

/// Returns the number of pages that contain a word in a field.
pub(crate) fn occurrences(lists: &[PostingList], field: Field) -> usize {
    let own = lists.iter().filter(|list| list.field == field && list.how.is_occurrence());
    own.map(PostingList::pages).sum()
}
