//! The positions of the terms of a query on the pages that are returned.

use docs_ports::search::{Field, Query, QueryTerm, TermPlaces};
use tantivy::DocId;

use crate::{
    evaluate::{FieldPhrase, PhraseReader, SegmentTerm},
    failure::IndexResult,
    schema::MAX_START,
    terms::{PlacesReader, PostingList},
};

/// Maximum number of words of a term whose positions are read. A term with more words is searched in the text.
const MAX_WORDS: usize = 64;

/// Reads the positions of a term in a segment, in the order of pages.
pub(crate) struct TermPlacesReader<'q> {
    term: &'q QueryTerm,
    source: PlacesSource,
}

enum PlacesSource {
    Words { headings: Vec<PlacesReader>, body: Vec<PlacesReader> },
    Phrase { headings: Option<PhraseReader>, body: Option<PhraseReader> },
    Text,
}

impl<'q> TermPlacesReader<'q> {
    /// Opens the terms of a query in a segment.
    pub(crate) fn all(query: &'q Query, terms: &[SegmentTerm<'q>]) -> IndexResult<Vec<Self>> {
        query.needs().iter().zip(terms).map(|(term, found)| Self::open(term, found)).collect()
    }

    fn open(term: &'q QueryTerm, found: &SegmentTerm<'q>) -> IndexResult<Self> {
        let source = match (term, found) {
            (QueryTerm::Word(word), SegmentTerm::Word(lists)) => {
                let is_short = word.is_beginning() && word.text().chars().count() <= MAX_START;
                if is_short || lists.len() > MAX_WORDS {
                    PlacesSource::Text
                } else {
                    let open = |field| {
                        let own = lists.iter().filter(|list| list.field == field);
                        own.map(PostingList::places).collect::<IndexResult<_>>()
                    };
                    PlacesSource::Words { headings: open(Field::Headings)?, body: open(Field::Body)? }
                }
            }
            (_, SegmentTerm::Phrase(_, fields)) => {
                let open = |field| {
                    let own = fields.iter().find(|phrase: &&FieldPhrase| phrase.field == field);
                    own.map(PhraseReader::new).transpose()
                };
                PlacesSource::Phrase { headings: open(Field::Headings)?, body: open(Field::Body)? }
            }
            _ => PlacesSource::Text,
        };
        Ok(Self { term, source })
    }

    /// Returns the positions on a page. Pages must be in ascending order.
    pub(crate) fn places(&mut self, page: DocId) -> TermPlaces<'q> {
        let words = |readers: &mut Vec<PlacesReader>| {
            let mut places = Vec::new();
            readers.iter_mut().for_each(|reader| reader.append(page, &mut places));
            places.sort_unstable();
            places.dedup();
            places
        };
        let phrase = |reader: &mut Option<PhraseReader>| {
            let mut starts = Vec::new();
            if let (Some(reader), QueryTerm::Phrase(phrase)) = (reader, self.term) {
                reader.starts(phrase, page, &mut starts);
            }
            starts
        };
        match &mut self.source {
            PlacesSource::Words { headings, body } => {
                TermPlaces::Known { headings: words(headings), body: words(body) }
            }
            PlacesSource::Phrase { headings, body } => {
                TermPlaces::Known { headings: phrase(headings), body: phrase(body) }
            }
            PlacesSource::Text => TermPlaces::Unknown(self.term),
        }
    }
}
