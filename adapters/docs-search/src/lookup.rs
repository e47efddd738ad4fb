//! Reads of space records and searches.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap, HashSet},
    ops::Bound,
    rc::Rc,
};

use docs_model::{OrgId, SpaceId};
use docs_ports::search::{
    Field, Found, IndexedSpace, Match, PageDocument, PageHit, Part, Postings, Query, Rank, Scope,
    SearchQuery, Word, near_words, scores, select_pages, tie,
};
use rusqlite::{CachedStatement, OptionalExtension as _, Rows, params};

use crate::{
    batch::document,
    failure::{Failure, Outcome},
    generation::{PageColumns, Snapshot},
    postings::{Posting, each_posting},
};

/// An upper bound for words with a prefix, when appended to it. It is not a letter, so no word contains it.
const LAST: char = char::MAX;

impl Snapshot<'_> {
    pub(crate) fn indexed(&self, spaces: &[SpaceId]) -> Outcome<Vec<Option<IndexedSpace>>> {
        let mut found = self.conn.prepare_cached("SELECT note FROM spaces WHERE space = ?1")?;
        let mut note = |space: &SpaceId| -> Outcome<Option<IndexedSpace>> {
            let note: Option<String> = found.query_row([space.as_str()], |row| row.get(0)).optional()?;
            Ok(note.map(|note| serde_json::from_str(&note)).transpose()?)
        };
        spaces.iter().map(&mut note).collect()
    }

    pub(crate) fn spaces(&self, after: Option<&SpaceId>, limit: usize) -> Outcome<Vec<SpaceId>> {
        let sql = "SELECT space FROM spaces WHERE space > ?1 ORDER BY space LIMIT ?2";
        let mut found = self.conn.prepare_cached(sql)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = found.query(params![after.map_or("", SpaceId::as_str), limit])?;
        let mut spaces = Vec::new();
        while let Some(row) = rows.next()? {
            let space = row.get_ref(0)?.as_str()?.parse();
            spaces.push(space.map_err(|_| Failure::damaged("a note has no space"))?);
        }
        Ok(spaces)
    }

    pub(crate) fn documents(&self, space: &SpaceId) -> Outcome<Vec<PageDocument>> {
        let sql = "SELECT document FROM pages JOIN documents USING (number) WHERE space = ?1 ORDER BY page";
        let mut found = self.conn.prepare_cached(sql)?;
        let mut rows = found.query([space.as_str()])?;
        let mut documents = Vec::new();
        while let Some(row) = rows.next()? {
            documents.push(serde_json::from_str(row.get_ref(0)?.as_str()?)?);
        }
        Ok(documents)
    }

    pub(crate) fn find_pages(&self, query: &SearchQuery) -> Outcome<Vec<PageHit>> {
        let found = select_pages(self.find(query)?, query.after, query.limit);
        self.hits(&query.query, found)
    }

    fn find(&self, query: &SearchQuery) -> Outcome<Vec<Found<u32>>> {
        let scope = Ties::of(&query.scope);
        let words = Words::new(*self);
        let is_wanted = |page| words.columns(page).is_some_and(|columns| scope.has(&columns));
        let scored = scores(&query.query, &words, &is_wanted)?;
        let found = scored.into_iter().filter_map(|(number, score)| {
            let columns = words.columns(number)?;
            Some(Found { rank: Rank { score, tie: columns.page }, at: number })
        });
        let found = found.collect();
        words.failure.take().map_or(Ok(found), Err)
    }

    /// One page is in memory at a time.
    fn hits(&self, query: &Query, found: Vec<Found<u32>>) -> Outcome<Vec<PageHit>> {
        let hit = |found: Found<u32>| Ok(PageHit::new(found.rank, query, &document(self.conn, found.at)?));
        found.into_iter().map(hit).collect()
    }
}

/// The scope of a query as hashes of names.
struct Ties {
    organization: Option<u64>,
    but: HashSet<u64>,
    only: Option<HashSet<u64>>,
}

impl Ties {
    fn of(scope: &Scope) -> Self {
        let spaces = |spaces: &BTreeSet<SpaceId>| spaces.iter().map(|space| tie(&[space.as_str()])).collect();
        let org = |org: &OrgId| Some(tie(&[org.as_str()]));
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

/// An indexed word that approximately matches a search term.
#[derive(Clone, Copy)]
struct Near {
    word: i64,
    /// A bit for each field that contains it.
    fields: u8,
    how: Match,
}

/// The matching words of each search term, by its text and whether it may be a prefix.
type NearWords = HashMap<(String, bool), Rc<[Near]>>;

/// The words of an index during one query.
struct Words<'s> {
    snapshot: Snapshot<'s>,
    /// The matching words, which are the same for all fields.
    near: RefCell<NearWords>,
    /// The first failure in a callback that cannot return errors.
    failure: RefCell<Option<Failure>>,
}

impl<'s> Words<'s> {
    fn new(snapshot: Snapshot<'s>) -> Self {
        Self { snapshot, near: RefCell::default(), failure: RefCell::default() }
    }

    fn columns(&self, page: u32) -> Option<PageColumns> {
        let columns = self.snapshot.columns(page);
        columns.map_err(|failure| _ = self.failure.borrow_mut().get_or_insert(failure)).ok()
    }

    fn statement(&self, sql: &str) -> Outcome<CachedStatement<'s>> {
        Ok(self.snapshot.conn.prepare_cached(sql)?)
    }

    /// Calls `each` for each page with the word, and with words that begin with it if it may be a prefix.
    fn each_whole(
        &self,
        field: Field,
        word: &Word,
        mut each: impl FnMut(Posting<'_>, Match) -> Outcome<()>,
    ) -> Outcome<()> {
        let text = word.text();
        if !word.is_beginning() {
            let sql = "SELECT block FROM words CROSS JOIN postings ON list = word * 4 + ?1
                WHERE term = ?2 AND fields & ?3 <> 0 ORDER BY first_page";
            let mut found = self.statement(sql)?;
            return each_block(found.query(params![field as u8, text, bit(field)])?, |posting| {
                each(posting, Match::Exact)
            });
        }
        let sql = "SELECT block, term FROM words CROSS JOIN postings ON list = word * 4 + ?1
            WHERE term >= ?2 AND term < ?3 AND fields & ?4 <> 0";
        let mut found = self.statement(sql)?;
        let mut rows = found.query(params![field as u8, text, format!("{text}{LAST}"), bit(field)])?;
        while let Some(row) = rows.next()? {
            let how = word.matches(row.get_ref(1)?.as_str()?);
            if let Some(how @ (Match::Exact | Match::Beginning)) = how {
                each_posting(row.get_ref(0)?.as_blob()?, |posting| each(posting, how))?;
            }
        }
        Ok(())
    }

    /// Returns the indexed words that match up to the permitted number of typos.
    fn near(&self, word: &Word) -> Outcome<Rc<[Near]>> {
        let key = (word.text().to_owned(), word.is_beginning());
        if let Some(near) = self.near.borrow().get(&key) {
            return Ok(Rc::clone(near));
        }
        let mut from =
            self.statement("SELECT term, word, fields FROM words WHERE term >= ?1 ORDER BY term LIMIT 1")?;
        let mut behind =
            self.statement("SELECT term, word, fields FROM words WHERE term > ?1 ORDER BY term LIMIT 1")?;
        let next = |bound: Bound<&str>| -> Outcome<Option<(String, (i64, u8))>> {
            let (statement, bound) = match bound {
                Bound::Unbounded => (&mut from, ""),
                Bound::Included(bound) => (&mut from, bound),
                Bound::Excluded(bound) => (&mut behind, bound),
            };
            let found = statement.query_row([bound], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))));
            Ok(found.optional()?)
        };
        let mut near = Vec::new();
        near_words(word, next, |(word, fields), how| near.push(Near { word, fields, how }))?;
        let near: Rc<[Near]> = near.into();
        self.near.borrow_mut().insert(key, Rc::clone(&near));
        Ok(near)
    }
}

impl Postings for Words<'_> {
    type Error = Failure;

    fn words(&self, field: Field, word: &Word, found: &mut dyn FnMut(u32, u32, Match)) -> Outcome<()> {
        self.each_whole(field, word, |posting, how| {
            found(posting.page, posting.count(), how);
            Ok(())
        })?;
        if word.typos() == 0 {
            return Ok(());
        }
        let mut blocks = self.statement("SELECT block FROM postings WHERE list = ?1")?;
        for near in self.near(word)?.iter().filter(|near| near.fields & bit(field) != 0) {
            let rows = blocks.query([near.word * 4 + i64::from(field as u8)])?;
            each_block(rows, |posting| {
                found(posting.page, posting.count(), near.how);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn places(&self, field: Field, part: &Part, found: &mut dyn FnMut(u32, &[u32])) -> Outcome<()> {
        let mut places = Vec::new();
        self.each_whole(field, &part.word, |posting, _| {
            posting.read_places(&mut places)?;
            found(posting.page, &places);
            Ok(())
        })
    }

    fn title_words(&self, page: u32) -> u32 {
        self.columns(page).map_or(0, |columns| columns.title_words)
    }
}

/// The bit of a field in [`Near::fields`].
const fn bit(field: Field) -> u8 {
    1 << field as u8
}

/// Calls `each` for each page in the blocks.
fn each_block(mut rows: Rows<'_>, mut each: impl FnMut(Posting<'_>) -> Outcome<()>) -> Outcome<()> {
    while let Some(row) = rows.next()? {
        each_posting(row.get_ref(0)?.as_blob()?, &mut each)?;
    }
    Ok(())
}
