//! Reading: what is noted, what is found.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io,
    sync::Arc,
};

use docs_model::{OrgId, PageId, SpaceId};
use docs_ports::search::{
    Field as Part, Found, IndexedSpace, Match, PageDocument, PageHit, Part as PhrasePart, Postings, Query,
    Rank, Scope, SearchQuery, SpaceHit, Word, scores, select_pages, select_spaces, tie,
};
use serde::de::DeserializeOwned;
use tantivy::{
    DocAddress, DocSet, IndexReader, InvertedIndexReader, Searcher, SegmentReader, TERMINATED,
    TantivyDocument, TantivyError, Term,
    columnar::Column,
    error::DataCorruption,
    fieldnorm::FieldNormReader,
    postings::{Postings as _, SegmentPostings, TermInfo},
    query::FuzzyTermQuery,
    schema::{IndexRecordOption, Value as _},
};

use crate::index::{Fields, ORG_TIE, PAGE_TIE, SPACE_TIE};

/// Reads the last commit. Clones read the same index.
#[derive(Clone)]
pub(crate) struct Lookup {
    reader: IndexReader,
    fields: Arc<Fields>,
}

impl Lookup {
    pub(crate) fn new(reader: IndexReader, fields: Fields) -> Self {
        Self { reader, fields: Arc::new(fields) }
    }

    pub(crate) const fn reader(&self) -> &IndexReader {
        &self.reader
    }

    pub(crate) fn indexed(&self, spaces: &[SpaceId]) -> tantivy::Result<Vec<Option<IndexedSpace>>> {
        let searcher = self.reader.searcher();
        let note = |space: &SpaceId| {
            let found = live(&searcher, &self.fields.noted_term(space.as_str()))?;
            found.first().map(|at| stored(&searcher, &self.fields, *at)).transpose()
        };
        spaces.iter().map(note).collect()
    }

    pub(crate) fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> tantivy::Result<Vec<SpaceId>> {
        let searcher = self.reader.searcher();
        let mut found = BTreeSet::new();
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.noted)?;
            let range = inverted.terms().range();
            let range = match after {
                Some(after) => range.gt(after.as_str()),
                None => range,
            };
            let mut terms = range.into_stream()?;
            let mut ours = 0;
            while ours < limit
                && let Some((term, info)) = terms.next()
            {
                let mut pages = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
                if !is_any_alive(segment, &mut pages) {
                    continue;
                }
                let space = text(term)?.parse().map_err(|_| damaged("a note names no space"))?;
                found.insert(space);
                ours += 1;
            }
        }
        Ok(found.into_iter().take(limit).collect())
    }

    pub(crate) fn documents(&self, space: &SpaceId) -> tantivy::Result<Vec<PageDocument>> {
        let searcher = self.reader.searcher();
        let mut pages: BTreeMap<PageId, PageDocument> = BTreeMap::new();
        for at in live(&searcher, &self.fields.space_term(space.as_str()))? {
            let segment = searcher.segment_reader(at.segment_ord);
            // The note about the space has no number of a page.
            let column = segment.fast_fields().column_opt::<u64>(PAGE_TIE)?;
            if column.and_then(|column| column.first(at.doc_id)).is_some() {
                let page: PageDocument = stored(&searcher, &self.fields, at)?;
                pages.insert(page.page.clone(), page);
            }
        }
        Ok(pages.into_values().collect())
    }

    pub(crate) fn find_pages(&self, query: &SearchQuery) -> tantivy::Result<Vec<PageHit>> {
        let searcher = self.reader.searcher();
        let found = select_pages(self.find(&searcher, query)?, query.after, query.limit);
        self.hits(&searcher, &query.query, found)
    }

    pub(crate) fn find_spaces(&self, query: &SearchQuery, pages: usize) -> tantivy::Result<Vec<SpaceHit>> {
        let searcher = self.reader.searcher();
        let found = select_spaces(self.find(&searcher, query)?, query.after, (query.limit, pages));
        let hit = |(rank, found)| Ok(SpaceHit { rank, pages: self.hits(&searcher, &query.query, found)? });
        found.into_iter().map(hit).collect()
    }

    fn find(&self, searcher: &Searcher, query: &SearchQuery) -> tantivy::Result<Vec<Found<DocAddress>>> {
        let mut found = Vec::new();
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            // A segment of notes has no pages.
            let Some(words) = Words::of(segment, &self.fields)? else { continue };
            let wanted = words.wanted(&query.scope);
            let is_wanted = |page: u32| !segment.is_deleted(page) && wanted(page);
            for (page, score) in scores(&query.query, &words, &is_wanted)? {
                let (Some(tie), Some(space)) = (words.pages.first(page), words.spaces.first(page)) else {
                    return Err(damaged("a page has no number"));
                };
                let at = DocAddress::new(number, page);
                found.push(Found { rank: Rank { score, tie }, space, at });
            }
        }
        Ok(found)
    }

    /// One page is held at a time.
    fn hits(
        &self,
        searcher: &Searcher,
        query: &Query,
        found: Vec<Found<DocAddress>>,
    ) -> tantivy::Result<Vec<PageHit>> {
        let hit = |found: Found<DocAddress>| {
            let page: PageDocument = stored(searcher, &self.fields, found.at)?;
            Ok(PageHit::new(found.rank, query, &page))
        };
        found.into_iter().map(hit).collect()
    }
}

/// The words of a segment.
struct Words<'s> {
    fields: &'s Fields,
    parts: Vec<Arc<InvertedIndexReader>>,
    titles: FieldNormReader,
    pages: Column<u64>,
    spaces: Column<u64>,
    organizations: Column<u64>,
}

impl<'s> Words<'s> {
    fn of(segment: &SegmentReader, fields: &'s Fields) -> tantivy::Result<Option<Self>> {
        let column = |name| segment.fast_fields().column_opt::<u64>(name);
        let (Some(pages), Some(spaces), Some(organizations)) =
            (column(PAGE_TIE)?, column(SPACE_TIE)?, column(ORG_TIE)?)
        else {
            return Ok(None);
        };
        let [title, ..] = fields.parts;
        let parts = fields.parts.iter().map(|field| segment.inverted_index(*field));
        Ok(Some(Self {
            fields,
            parts: parts.collect::<tantivy::Result<_>>()?,
            titles: segment.get_fieldnorms_reader(title)?,
            pages,
            spaces,
            organizations,
        }))
    }

    /// Tells whether a page is where the query looks.
    fn wanted(&self, scope: &Scope) -> impl Fn(u32) -> bool {
        let ties = |spaces: &BTreeSet<SpaceId>| -> HashSet<u64> {
            spaces.iter().map(|space| tie(&[space.as_str()])).collect()
        };
        let of = |org: &OrgId| Some(tie(&[org.as_str()]));
        let (org, but, only) = match scope {
            Scope::Organization(org) => (of(org), HashSet::new(), None),
            Scope::OrganizationBut(org, but) => (of(org), ties(but), None),
            Scope::Spaces(only) => (None, HashSet::new(), Some(ties(only))),
        };
        move |page| {
            let in_org = org.is_none() || self.organizations.first(page) == org;
            in_org
                && self.spaces.first(page).is_some_and(|space| {
                    !but.contains(&space) && only.as_ref().is_none_or(|only| only.contains(&space))
                })
        }
    }

    fn part(&self, part: Part) -> tantivy::Result<&InvertedIndexReader> {
        let part = self.parts.get(part as usize).ok_or_else(|| damaged("a field is missing"))?;
        Ok(part)
    }

    /// Calls for each word of a part that is the one looked for, or begins with it.
    fn each_whole(
        &self,
        part: Part,
        word: &Word,
        each: &mut dyn FnMut(&TermInfo, Match) -> io::Result<()>,
    ) -> tantivy::Result<()> {
        let terms = self.part(part)?.terms();
        if !word.is_beginning() {
            if let Some(info) = terms.get(word.text())? {
                each(&info, Match::Exact)?;
            }
            return Ok(());
        }
        let mut stream = terms.range().ge(word.text()).into_stream()?;
        while let Some((term, info)) = stream.next() {
            let Some(how @ (Match::Exact | Match::Beginning)) = word.matches(text(term)?) else { break };
            each(info, how)?;
        }
        Ok(())
    }

    /// Calls for each word of a part that is the one looked for with typos.
    fn each_mistyped(
        &self,
        part: Part,
        word: &Word,
        each: &mut dyn FnMut(&TermInfo, Match) -> io::Result<()>,
    ) -> tantivy::Result<()> {
        if word.typos() == 0 {
            return Ok(());
        }
        // The automaton leads to the few words that are near; which of them meet is decided as everywhere.
        let [field, ..] = self.fields.parts;
        let near = FuzzyTermQuery::new(Term::from_field_text(field, word.text()), word.typos(), true);
        let mut stream = self.part(part)?.terms().search(near.automaton()?).into_stream()?;
        while let Some((term, info)) = stream.next() {
            if let Some(how @ (Match::OneTypo | Match::TwoTypos)) = word.matches(text(term)?) {
                each(info, how)?;
            }
        }
        Ok(())
    }
}

impl Postings for Words<'_> {
    type Error = TantivyError;

    fn words(&self, field: Part, word: &Word, found: &mut dyn FnMut(u32, u32, Match)) -> tantivy::Result<()> {
        let part = self.part(field)?;
        let mut each = |info: &TermInfo, how: Match| -> io::Result<()> {
            let mut pages = part.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)?;
            while pages.doc() != TERMINATED {
                found(pages.doc(), pages.term_freq(), how);
                pages.advance();
            }
            Ok(())
        };
        self.each_whole(field, word, &mut each)?;
        self.each_mistyped(field, word, &mut each)
    }

    fn places(
        &self,
        field: Part,
        part: &PhrasePart,
        found: &mut dyn FnMut(u32, &[u32]),
    ) -> tantivy::Result<()> {
        let inverted = self.part(field)?;
        let mut places = Vec::new();
        self.each_whole(field, &part.word, &mut |info, _| {
            let mut pages =
                inverted.read_postings_from_terminfo(info, IndexRecordOption::WithFreqsAndPositions)?;
            while pages.doc() != TERMINATED {
                pages.positions(&mut places);
                found(pages.doc(), &places);
                pages.advance();
            }
            Ok(())
        })
    }

    fn title_words(&self, page: u32) -> u32 {
        self.titles.fieldnorm(page)
    }
}

/// The documents of the last commit that have a term.
fn live(searcher: &Searcher, term: &Term) -> tantivy::Result<Vec<DocAddress>> {
    let mut found = Vec::new();
    for (number, segment) in (0..).zip(searcher.segment_readers()) {
        let inverted = segment.inverted_index(term.field())?;
        let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::Basic)? else { continue };
        while postings.doc() != TERMINATED {
            if !segment.is_deleted(postings.doc()) {
                found.push(DocAddress::new(number, postings.doc()));
            }
            postings.advance();
        }
    }
    Ok(found)
}

fn is_any_alive(segment: &SegmentReader, postings: &mut SegmentPostings) -> bool {
    while postings.doc() != TERMINATED {
        if !segment.is_deleted(postings.doc()) {
            return true;
        }
        postings.advance();
    }
    false
}

/// What a document holds as JSON.
fn stored<T: DeserializeOwned>(searcher: &Searcher, fields: &Fields, at: DocAddress) -> tantivy::Result<T> {
    let document: TantivyDocument = searcher.doc(at)?;
    let json = document.get_first(fields.json).and_then(|value| value.as_bytes());
    let json = json.ok_or_else(|| damaged("a document holds nothing"))?;
    serde_json::from_slice(json).map_err(|error| damaged(&error.to_string()))
}

fn text(term: &[u8]) -> tantivy::Result<&str> {
    std::str::from_utf8(term).map_err(|_| damaged("a word is no text"))
}

fn damaged(what: &str) -> TantivyError {
    TantivyError::DataCorruption(DataCorruption::comment_only(what))
}
