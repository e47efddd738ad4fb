//! Searches, and reads of space records.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap, HashSet},
    ops::Bound,
    rc::Rc,
};

use docs_model::{OrgId, SpaceId};
use docs_ports::search::{
    Field, IndexedSpace, Match, PageDocument, PageHit, PhraseWord, Postings, Query, Rank, RankedPage, Scope,
    SearchQuery, Word, hash_name, near_words, scores, select_pages,
};
use rusqlite::{CachedStatement, OptionalExtension as _, params};

use crate::{
    batch::document,
    failure::{Failure, IndexResult},
    generation::{PageColumns, Snapshot},
    postings::{Posting, each_posting},
};

/// Maximum number of postings that a search reads, divided equally among query words and fields.
const MAX_POSTINGS: usize = 8_000_000;
/// Appended to a prefix, this gives an upper bound for the words with that prefix. It is not a letter, so no word
/// contains it.
const PREFIX_UPPER_BOUND: char = char::MAX;

impl Snapshot<'_> {
    pub(crate) fn indexed(&self, spaces: &[SpaceId]) -> IndexResult<Vec<Option<IndexedSpace>>> {
        let mut found = self.conn.prepare_cached("SELECT note FROM spaces WHERE space = ?1")?;
        let mut note = |space: &SpaceId| -> IndexResult<Option<IndexedSpace>> {
            let note: Option<String> = found.query_row([space.as_str()], |row| row.get(0)).optional()?;
            Ok(note.map(|note| serde_json::from_str(&note)).transpose()?)
        };
        spaces.iter().map(&mut note).collect()
    }

    pub(crate) fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> IndexResult<Vec<SpaceId>> {
        let sql = "SELECT space FROM spaces WHERE space > ?1 ORDER BY space LIMIT ?2";
        let mut found = self.conn.prepare_cached(sql)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = found.query(params![after.map_or("", SpaceId::as_str), limit])?;
        let mut spaces = Vec::new();
        while let Some(row) = rows.next()? {
            let space = row.get_ref(0)?.as_str()?.parse();
            spaces.push(space.map_err(|_| Failure::invalid_content("a note has no space"))?);
        }
        Ok(spaces)
    }

    pub(crate) fn documents(&self, space: &SpaceId) -> IndexResult<Vec<PageDocument>> {
        let sql = "SELECT document FROM pages JOIN documents USING (number) WHERE space = ?1 ORDER BY page";
        let mut found = self.conn.prepare_cached(sql)?;
        let mut rows = found.query([space.as_str()])?;
        let mut documents = Vec::new();
        while let Some(row) = rows.next()? {
            documents.push(serde_json::from_str(row.get_ref(0)?.as_str()?)?);
        }
        Ok(documents)
    }

    pub(crate) fn find_pages(&self, query: &SearchQuery) -> IndexResult<Vec<PageHit>> {
        let found = select_pages(self.find(query)?, query.after, query.limit);
        self.hits(&query.query, found)
    }

    fn find(&self, query: &SearchQuery) -> IndexResult<Vec<RankedPage<u32>>> {
        let scope = ScopeHashes::from_scope(&query.scope);
        let words = Words::new(*self, MAX_POSTINGS / (query.query.words().count().max(1) * Field::ALL.len()));
        let is_wanted = |page| words.columns(page).is_some_and(|columns| scope.has(&columns));
        let scored = scores(&query.query, &words, &is_wanted)?;
        let found = scored.into_iter().filter_map(|(number, score)| {
            let columns = words.columns(number)?;
            Some(RankedPage { rank: Rank { score, tie: columns.page }, at: number })
        });
        let found = found.collect();
        words.failure.take().map_or(Ok(found), Err)
    }

    /// Loads one page at a time, to limit memory.
    fn hits(&self, query: &Query, found: Vec<RankedPage<u32>>) -> IndexResult<Vec<PageHit>> {
        let hit =
            |found: RankedPage<u32>| Ok(PageHit::new(found.rank, query, &document(self.conn, found.at)?));
        found.into_iter().map(hit).collect()
    }
}

/// The scope of a query, with hashed names.
struct ScopeHashes {
    organization: Option<u64>,
    but: HashSet<u64>,
    only: Option<HashSet<u64>>,
}

impl ScopeHashes {
    fn from_scope(scope: &Scope) -> Self {
        let spaces =
            |spaces: &BTreeSet<SpaceId>| spaces.iter().map(|space| hash_name(&[space.as_str()])).collect();
        let org = |org: &OrgId| Some(hash_name(&[org.as_str()]));
        let (organization, but, only) = match scope {
            Scope::Organization(of) => (org(of), HashSet::new(), None),
            Scope::OrganizationBut(of, but) => (org(of), spaces(but), None),
            Scope::Spaces(only) => (None, HashSet::new(), Some(spaces(only))),
        };
        Self { organization, but, only }
    }

    fn has(&self, page: &PageColumns) -> bool {
        self.organization.is_none_or(|organization| organization == page.organization)
            && !self.but.contains(&page.space)
            && self.only.as_ref().is_none_or(|only| only.contains(&page.space))
    }
}

/// An indexed word that matches a search term.
#[derive(Clone, Copy)]
struct WordMatch {
    word: i64,
    /// Bit set of the fields that contain the word.
    fields: u8,
    how: Match,
}

/// Matching words, keyed by search term: its text, whether it may be a prefix, and its permitted typos.
type MatchingWords = HashMap<(String, bool, u8), Rc<[WordMatch]>>;

/// Word lookup during one query.
struct Words<'s> {
    snapshot: Snapshot<'s>,
    /// Maximum number of postings to read per word and field. The oldest pages come first.
    most_postings: usize,
    /// Cached matching words, which are the same for all fields.
    matching: RefCell<MatchingWords>,
    /// The first failure in a callback that cannot return errors.
    failure: RefCell<Option<Failure>>,
}

impl<'s> Words<'s> {
    fn new(snapshot: Snapshot<'s>, most_postings: usize) -> Self {
        Self { snapshot, most_postings, matching: RefCell::default(), failure: RefCell::default() }
    }

    fn columns(&self, page: u32) -> Option<PageColumns> {
        let columns = self.snapshot.columns(page);
        columns.map_err(|failure| _ = self.failure.borrow_mut().get_or_insert(failure)).ok()
    }

    fn statement(&self, sql: &str) -> IndexResult<CachedStatement<'s>> {
        Ok(self.snapshot.conn.prepare_cached(sql)?)
    }

    /// Calls `each` for each page with a matching word in this field.
    fn each_match(
        &self,
        field: Field,
        word: &Word,
        mut each: impl FnMut(Posting<'_>, Match) -> IndexResult<()>,
    ) -> IndexResult<()> {
        let mut blocks = self.statement("SELECT block FROM postings WHERE list = ?1 ORDER BY first_page")?;
        let mut left = self.most_postings;
        for matching in self.matching(word)?.iter().filter(|matching| matching.fields & bit(field) != 0) {
            let mut rows = blocks.query([matching.word * 4 + i64::from(field as u8)])?;
            while let Some(row) = rows.next()? {
                each_posting(row.get_ref(0)?.as_blob()?, |posting| {
                    left = left.saturating_sub(1);
                    each(posting, matching.how)
                })?;
                if left == 0 {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the indexed words that match a search term, visiting at most the number of words that the term permits.
    fn matching(&self, word: &Word) -> IndexResult<Rc<[WordMatch]>> {
        let key = (word.text().to_owned(), word.is_beginning(), word.typos());
        if let Some(matching) = self.matching.borrow().get(&key) {
            return Ok(Rc::clone(matching));
        }
        let mut matching = Vec::new();
        self.add_whole(word, &mut matching)?;
        self.add_inflections(word, &mut matching)?;
        self.add_near(word, &mut matching)?;
        let matching: Rc<[WordMatch]> = matching.into();
        self.matching.borrow_mut().insert(key, Rc::clone(&matching));
        Ok(matching)
    }

    /// Adds the word itself and, if the term may be a prefix, words that begin with it.
    fn add_whole(&self, word: &Word, matching: &mut Vec<WordMatch>) -> IndexResult<()> {
        let text = word.text();
        let (end, most) = match word.is_beginning() {
            true => (format!("{text}{PREFIX_UPPER_BOUND}"), word.visits()),
            false => (text.to_owned(), 1),
        };
        self.each_between(text, &end, most, |term, (id, fields)| {
            if let Some(how @ (Match::Exact | Match::Beginning)) = word.matches(term) {
                matching.push(WordMatch { word: id, fields, how });
            }
        })
    }

    fn add_inflections(&self, word: &Word, matching: &mut Vec<WordMatch>) -> IndexResult<()> {
        let Some(beginning) = word.inflection_beginning() else { return Ok(()) };
        let end = format!("{beginning}{PREFIX_UPPER_BOUND}");
        self.each_between(beginning, &end, word.visits(), |term, (id, fields)| {
            if word.matches(term) == Some(Match::Inflection) {
                matching.push(WordMatch { word: id, fields, how: Match::Inflection });
            }
        })
    }

    /// Calls `each` for at most `most` words in a range, in order.
    fn each_between(
        &self,
        from: &str,
        to: &str,
        most: usize,
        mut each: impl FnMut(&str, (i64, u8)),
    ) -> IndexResult<()> {
        let sql =
            "SELECT word, fields, term FROM words WHERE term >= ?1 AND term <= ?2 ORDER BY term LIMIT ?3";
        let mut found = self.statement(sql)?;
        let mut rows = found.query(params![from, to, i64::try_from(most).unwrap_or(i64::MAX)])?;
        while let Some(row) = rows.next()? {
            each(row.get_ref(2)?.as_str()?, (row.get(0)?, row.get(1)?));
        }
        Ok(())
    }

    /// Adds words that differ by at most the permitted number of typos.
    fn add_near(&self, word: &Word, matching: &mut Vec<WordMatch>) -> IndexResult<()> {
        if word.typos() == 0 {
            return Ok(());
        }
        let mut from =
            self.statement("SELECT term, word, fields FROM words WHERE term >= ?1 ORDER BY term LIMIT 1")?;
        let mut behind =
            self.statement("SELECT term, word, fields FROM words WHERE term > ?1 ORDER BY term LIMIT 1")?;
        let next = |bound: Bound<&str>| -> IndexResult<Option<(String, (i64, u8))>> {
            let (statement, bound) = match bound {
                Bound::Unbounded => (&mut from, ""),
                Bound::Included(bound) => (&mut from, bound),
                Bound::Excluded(bound) => (&mut behind, bound),
            };
            let found = statement.query_row([bound], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
            Ok(found.optional()?)
        };
        near_words(word, next, |(word, fields), how| matching.push(WordMatch { word, fields, how }))
    }
}

impl Postings for Words<'_> {
    type Error = Failure;

    fn words(&self, field: Field, word: &Word, found: &mut dyn FnMut(u32, u32, Match)) -> IndexResult<()> {
        self.each_match(field, word, |posting, how| {
            found(posting.page, posting.count(), how);
            Ok(())
        })
    }

    fn places(&self, field: Field, part: &PhraseWord, found: &mut dyn FnMut(u32, &[u32])) -> IndexResult<()> {
        let mut places = Vec::new();
        self.each_match(field, &part.word, |posting, _| {
            posting.read_places(&mut places)?;
            found(posting.page, &places);
            Ok(())
        })
    }

    fn title_words(&self, page: u32) -> u32 {
        self.columns(page).map_or(0, |columns| columns.title_words)
    }
}

/// Returns the bit of a field in [`WordMatch::fields`].
const fn bit(field: Field) -> u8 {
    1 << field as u8
}

#[cfg(test)]
mod tests {
    use docs_model::hash::Hash;
    use docs_ports::{
        SearchIndex as _,
        search::{IndexChange, QueryTerm},
    };

    use super::*;
    use crate::SqliteSearch;

    fn put(number: usize) -> IndexChange {
        IndexChange::PutPage(Box::new(PageDocument {
            organization: "org".parse().expect("an id"),
            space: "s".parse().expect("an id"),
            page: format!("p{number}").parse().expect("an id"),
            title: "Alpha".to_owned(),
            description: None,
            text: Hash::compute(b""),
            sections: Vec::new(),
        }))
    }

    #[tokio::test]
    async fn a_search_reads_a_bounded_number_of_postings() {
        let folder = tempfile::tempdir().expect("a folder");
        let index = SqliteSearch::folder(folder.path()).expect("an index");
        index.apply((0..3_000).map(put).collect(), None).await.expect("applied");
        let query = Query::parse("alpha ");
        let [QueryTerm::Word(word)] = query.needs() else { panic!("one word") };
        for (most, expected) in [(100, 100..1_000), (100_000, 3_000..3_001)] {
            let read = index.current.get().read(|snapshot| {
                let mut read = 0;
                Words::new(snapshot, most).words(Field::Title, word, &mut |_, _, _| read += 1)?;
                Ok(read)
            });
            let read = read.expect("read");
            assert!(expected.contains(&read), "{most}: {read}");
        }
    }
}
