//! The words of an index that match a word of a query.

use std::{collections::HashMap, sync::Arc};

use docs_ports::search::{Field, Match, PART_MARK, Word};
use tantivy::{
    DocSet, InvertedIndexReader, SegmentReader, Term,
    postings::{BlockSegmentPostings, Postings as _, SegmentPostings, TermInfo},
    query::{DfaWrapper, FuzzyTermQuery},
    schema::IndexRecordOption,
};

use crate::{
    failure::IndexResult,
    schema::{Fields, MAX_START, start_term},
};

/// Maximum number of occurrences of words on pages that a query reads. Each word has an equal share. Words with more
/// occurrences than the rest of the share are omitted.
pub(crate) const MAX_POSTINGS: usize = 8_000_000;

/// The words that match a word of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tolerance {
    NoTypos,
    Typos,
}

/// The pages that contain a matching word in a field.
pub(crate) struct PostingList {
    pub(crate) field: Field,
    pub(crate) how: Match,
    info: TermInfo,
    reader: Arc<InvertedIndexReader>,
}

impl PostingList {
    /// Returns the number of pages, including deleted ones.
    pub(crate) const fn pages(&self) -> usize {
        self.info.doc_freq as usize
    }

    pub(crate) fn blocks(&self) -> IndexResult<BlockSegmentPostings> {
        Ok(self.reader.read_block_postings_from_terminfo(&self.info, IndexRecordOption::WithFreqs)?)
    }

    pub(crate) fn postings(&self) -> IndexResult<SegmentPostings> {
        Ok(self.reader.read_postings_from_terminfo(&self.info, IndexRecordOption::WithFreqs)?)
    }

    pub(crate) fn places(&self) -> IndexResult<PlacesReader> {
        let option = IndexRecordOption::WithFreqsAndPositions;
        Ok(PlacesReader(self.reader.read_postings_from_terminfo(&self.info, option)?))
    }
}

/// The positions of a word by page, read in the order of pages.
pub(crate) struct PlacesReader(SegmentPostings);

impl PlacesReader {
    /// Appends the positions on a page. Pages must be in ascending order.
    pub(crate) fn append(&mut self, page: u32, places: &mut Vec<u32>) {
        if self.0.doc() < page {
            self.0.seek(page);
        }
        if self.0.doc() == page {
            self.0.append_positions_with_offset(0, places);
        }
    }
}

/// A word of a query, with the results of comparisons that the dictionaries of all segments share.
pub(crate) struct QueryWord<'q> {
    pub(crate) word: &'q Word,
    part: String,
    /// The first characters of its inflections, also as part of a word.
    beginnings: Vec<String>,
    compared: HashMap<Box<[u8]>, Option<Match>>,
    /// The share of [`MAX_POSTINGS`], and the rest of it.
    share: usize,
    left: usize,
    /// Created once, because its construction takes longer than most lookups.
    near: Option<SimilarWords>,
}

impl<'q> QueryWord<'q> {
    /// Prepares a word that reads at most `postings` occurrences on pages.
    pub(crate) fn new(word: &'q Word, postings: usize) -> Self {
        let beginning = word.inflection_beginning().map(str::to_owned);
        let beginnings = beginning.map(|beginning| [format!("{PART_MARK}{beginning}"), beginning]);
        Self {
            word,
            part: format!("{PART_MARK}{}", word.text()),
            beginnings: beginnings.into_iter().flatten().collect(),
            compared: HashMap::new(),
            share: postings,
            left: postings,
            near: None,
        }
    }

    /// Begins a search of all segments.
    pub(crate) const fn begin(&mut self) {
        self.left = self.share;
    }

    /// Finds the lists of the words of a segment that match without typos, and with [`Tolerance::Typos`] also of those
    /// that match with typos.
    pub(crate) fn lists(
        &mut self,
        segment: &SegmentReader,
        fields: &Fields,
        tolerance: Tolerance,
    ) -> IndexResult<Vec<PostingList>> {
        let mut lists = Vec::new();
        for field in Field::ALL {
            let words = FieldWords::new(segment, fields, field)?;
            self.add_words(&words, &mut lists)?;
            if tolerance == Tolerance::Typos {
                self.add_typos(&words, fields, &mut lists)?;
            }
        }
        if self.word.is_beginning() && self.word.text().chars().count() <= MAX_START {
            let reader = segment.inverted_index(fields.starts)?;
            for field in Field::ALL {
                if let Some(info) = reader.terms().get(start_term(field, self.word.text()))? {
                    let reader = Arc::clone(&reader);
                    lists.push(PostingList { field, how: Match::Beginning, info, reader });
                }
            }
        }
        lists.retain(|list| match self.left.checked_sub(list.pages()) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        });
        Ok(lists)
    }

    fn add_words(&mut self, words: &FieldWords, lists: &mut Vec<PostingList>) -> IndexResult<()> {
        for (text, how) in [(self.word.text(), Match::Exact), (&self.part, Match::Part)] {
            lists.extend(words.get(text, how)?);
        }
        for beginning in std::mem::take(&mut self.beginnings) {
            self.add_range(words, &beginning, lists)?;
            self.beginnings.push(beginning);
        }
        if self.word.is_beginning() && self.word.text().chars().count() > MAX_START {
            let text = self.word.text().to_owned();
            words.for_each_after(&text, self.word.visits(), |term, info| {
                if self.compare(term) == Some(Match::Beginning) {
                    lists.push(words.list(info, Match::Beginning));
                }
            })?;
        }
        Ok(())
    }

    /// Adds the inflections that have a prefix.
    fn add_range(
        &mut self,
        words: &FieldWords,
        prefix: &str,
        lists: &mut Vec<PostingList>,
    ) -> IndexResult<()> {
        words.for_each_after(prefix, self.word.visits(), |term, info| {
            let found = self.compare(term);
            if let Some(how @ (Match::Inflection | Match::Part)) = found
                && term != self.part.as_bytes()
            {
                lists.push(words.list(info, how));
            }
        })
    }

    fn compare(&mut self, term: &[u8]) -> Option<Match> {
        if let Some(found) = self.compared.get(term) {
            return *found;
        }
        let found = std::str::from_utf8(term).ok().and_then(|term| self.word.matches(term));
        self.compared.insert(term.into(), found);
        found
    }

    fn add_typos(
        &mut self,
        words: &FieldWords,
        fields: &Fields,
        lists: &mut Vec<PostingList>,
    ) -> IndexResult<()> {
        if self.word.typos() == 0 {
            return Ok(());
        }
        let near = match self.near.take() {
            Some(near) => near,
            None => SimilarWords::new(self.word, fields.text(words.field))?,
        };
        let terms = words.reader.terms();
        let mut add = |term: &[u8], info: &TermInfo, wanted| {
            if self.compare(term) == Some(wanted) {
                lists.push(words.list(info, wanted));
            }
        };
        let mut stream = terms.search(&near.one).into_stream()?;
        while let Some((term, info)) = stream.next() {
            add(term, info, Match::OneTypo);
        }
        if let Some(two) = &near.two {
            // The first letter of a word with two typos is right.
            let range = terms.search(two).ge(&near.first).lt(format!("{}\u{10ffff}", near.first));
            let mut stream = range.into_stream()?;
            while let Some((term, info)) = stream.next() {
                add(term, info, Match::TwoTypos);
            }
        }
        self.near = Some(near);
        Ok(())
    }
}

/// Recognizes the words that are similar to a word of a query.
struct SimilarWords {
    first: String,
    one: DfaWrapper,
    two: Option<DfaWrapper>,
}

impl SimilarWords {
    fn new(word: &Word, field: tantivy::schema::Field) -> IndexResult<Self> {
        let near = |typos| {
            let term = Term::from_field_text(field, word.text());
            FuzzyTermQuery::new(term, typos, true).automaton()
        };
        let two = (word.typos() > 1).then(|| near(2)).transpose()?;
        Ok(Self { first: word.text().chars().take(1).collect(), one: near(1)?, two })
    }
}

/// The dictionary of a field.
pub(crate) struct FieldWords {
    pub(crate) field: Field,
    reader: Arc<InvertedIndexReader>,
}

impl FieldWords {
    pub(crate) fn new(segment: &SegmentReader, fields: &Fields, field: Field) -> IndexResult<Self> {
        Ok(Self { field, reader: segment.inverted_index(fields.text(field))? })
    }

    /// Returns the list of a word.
    pub(crate) fn get(&self, text: &str, how: Match) -> IndexResult<Option<PostingList>> {
        Ok(self.reader.terms().get(text)?.map(|info| self.list(&info, how)))
    }

    /// Returns the lists of the words that a part of a phrase matches.
    pub(crate) fn phrase_lists(&self, word: &Word) -> IndexResult<Vec<PostingList>> {
        if !word.is_beginning() {
            return Ok(self.get(word.text(), Match::Exact)?.into_iter().collect());
        }
        let mut lists = Vec::new();
        self.for_each_after(word.text(), word.visits().min(MAX_PHRASE_WORDS), |_, info| {
            lists.push(self.list(info, Match::Exact));
        })?;
        Ok(lists)
    }

    fn list(&self, info: &TermInfo, how: Match) -> PostingList {
        PostingList { field: self.field, how, info: info.clone(), reader: Arc::clone(&self.reader) }
    }

    /// Calls `each` for the first `limit` words with a prefix.
    fn for_each_after(
        &self,
        prefix: &str,
        limit: usize,
        mut each: impl FnMut(&[u8], &TermInfo),
    ) -> IndexResult<()> {
        let mut stream = self.reader.terms().range().ge(prefix).into_stream()?;
        for _ in 0..limit {
            match stream.next() {
                Some((term, info)) if term.starts_with(prefix.as_bytes()) => each(term, info),
                _ => break,
            }
        }
        Ok(())
    }
}

/// Maximum number of words that the last word of a phrase matches as a prefix.
const MAX_PHRASE_WORDS: usize = 1_000;

#[cfg(test)]
mod tests {
    use docs_model::hash::Hash;
    use docs_ports::search::{PageDocument, Query};
    use tantivy::{Index, IndexWriter};

    use super::*;
    use crate::documents::page_document;

    #[test]
    fn a_search_reads_a_bounded_number_of_postings() {
        let (fields, schema) = Fields::new();
        let index = Index::create_in_ram(schema);
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).expect("a writer");
        for page in 0..10 {
            let page = PageDocument {
                organization: "org".parse().expect("an id"),
                space: "space".parse().expect("an id"),
                page: format!("p{page}").parse().expect("an id"),
                title: format!("word words wordy{page}"),
                description: None,
                text: Hash::compute(b""),
                sections: Vec::new(),
            };
            writer.add_document(page_document(&fields, &page)).expect("added");
        }
        writer.commit().expect("committed");
        let searcher = index.reader().expect("a reader").searcher();
        let query = Query::parse("wordy");
        let word = query.words().next().expect("a word");
        for (most, expected) in [(3, 3), (1_000, 30)] {
            let mut read = QueryWord::new(word, most);
            let segments = searcher.segment_readers().iter();
            let lists = segments
                .flat_map(|segment| read.lists(segment, &fields, Tolerance::Typos).expect("the lists"));
            assert_eq!(lists.map(|list| list.pages()).sum::<usize>(), expected, "{most}");
        }
    }
}
