//! Writing a batch of changes to the tables.
//!
//! Changes are first reduced to the final state of each page. For a replaced page, only words whose positions changed
//! are written. Posting lists are updated together, in key order.

use std::collections::{BTreeMap, HashMap};

use docs_model::feed::FeedPos;
use docs_model::{PageId, SpaceId};
use docs_ports::search::{Field, IndexChange, IndexedSpace, PageDocument};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    failure::{Failure, IndexResult},
    generation::PageColumns,
    postings::{PositionEncoder, PostingChange, apply_changes},
};

/// Size of changed postings in bytes that are buffered before they are written, so that a batch can contain a large
/// space.
const MAX_BUFFERED_BYTES: usize = 32 * 1024 * 1024;
/// Approximate memory overhead of a changed posting in bytes.
const OF_A_CHANGE: usize = 64;

/// A word, and the field that contains it.
type FieldWord = (String, u8);

/// Changes to the cached page columns.
#[derive(Default)]
pub(crate) struct ColumnChanges {
    pub(crate) put: Vec<(u32, PageColumns)>,
    pub(crate) gone: Vec<u32>,
}

/// Writes a batch within the open transaction, and the feed position if there is one.
pub(crate) fn write(
    conn: &Connection,
    changes: Vec<IndexChange>,
    position: Option<&FeedPos>,
) -> IndexResult<ColumnChanges> {
    let sql = "SELECT next_page, next_word FROM state";
    let (next_page, next_word) = conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let lists = BTreeMap::new();
    let mut batch = Batch { conn, next_page, next_word, lists, held: 0, written: ColumnChanges::default() };
    let net = BatchEffect::from_changes(conn, changes)?;
    for (space, note) in net.notes {
        batch.note(&space, note.as_ref())?;
    }
    for (space, pages) in net.pages {
        for (page, document) in pages {
            batch.page(&space, &page, document.as_deref())?;
        }
    }
    batch.write_lists()?;
    let sql = "UPDATE state SET position = coalesce(?1, position), next_page = ?2, next_word = ?3";
    conn.prepare_cached(sql)?.execute(params![
        position.map(|position| &*position.0),
        batch.next_page,
        batch.next_word
    ])?;
    Ok(batch.written)
}

/// The final state of each page and space record after a batch.
#[derive(Default)]
struct BatchEffect {
    pages: BTreeMap<SpaceId, BTreeMap<PageId, Option<Box<PageDocument>>>>,
    notes: BTreeMap<SpaceId, Option<IndexedSpace>>,
}

impl BatchEffect {
    fn from_changes(conn: &Connection, changes: Vec<IndexChange>) -> IndexResult<Self> {
        let mut net = Self::default();
        for change in changes {
            match change {
                IndexChange::PutPage(page) => {
                    let of_space = net.pages.entry(page.space.clone()).or_default();
                    of_space.insert(page.page.clone(), Some(page));
                }
                IndexChange::DropPage(space, page) => {
                    net.pages.entry(space).or_default().insert(page, None);
                }
                IndexChange::PutSpace(note) => {
                    net.notes.insert(note.space.clone(), Some(note));
                }
                IndexChange::DropSpace(space) => {
                    let pages = pages_of(conn, &space)?;
                    // Pages put earlier in the same batch are deleted along with the others.
                    net.pages.insert(space.clone(), pages.into_iter().map(|page| (page, None)).collect());
                    net.notes.insert(space, None);
                }
            }
        }
        Ok(net)
    }
}

fn pages_of(conn: &Connection, space: &SpaceId) -> IndexResult<Vec<PageId>> {
    let mut pages = conn.prepare_cached("SELECT page FROM pages WHERE space = ?1")?;
    let mut rows = pages.query([space.as_str()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(
            row.get_ref(0)?.as_str()?.parse().map_err(|_| Failure::invalid_content("a page has no id"))?,
        );
    }
    Ok(found)
}

/// A page in the tables.
struct StoredPage {
    number: u32,
    columns: PageColumns,
    document: PageDocument,
}

struct Batch<'c> {
    conn: &'c Connection,
    next_page: i64,
    next_word: i64,
    lists: BTreeMap<FieldWord, Vec<PostingChange>>,
    /// Approximate size of the buffered changes in bytes.
    held: usize,
    written: ColumnChanges,
}

impl Batch<'_> {
    fn note(&self, space: &SpaceId, note: Option<&IndexedSpace>) -> IndexResult<()> {
        match note {
            Some(note) => self
                .conn
                .prepare_cached("INSERT OR REPLACE INTO spaces VALUES (?1, ?2)")?
                .execute(params![space.as_str(), serde_json::to_string(note)?])?,
            None => {
                self.conn.prepare_cached("DELETE FROM spaces WHERE space = ?1")?.execute([space.as_str()])?
            }
        };
        Ok(())
    }

    fn page(&mut self, space: &SpaceId, page: &PageId, new: Option<&PageDocument>) -> IndexResult<()> {
        let old = self.load_page(space, page)?;
        let mut before = old.as_ref().map(|old| words_of(&old.document).0).unwrap_or_default();
        let Some(new) = new else {
            return old.map_or(Ok(()), |old| self.remove(old.number, before));
        };
        let (words, title_words) = words_of(new);
        let columns = PageColumns::new(new, title_words);
        let number = match old {
            Some(old) if old.document == *new => return Ok(()),
            Some(old) if old.columns == columns => {
                let sql = "UPDATE documents SET document = ?2 WHERE number = ?1";
                self.conn.prepare_cached(sql)?.execute(params![old.number, serde_json::to_string(new)?])?;
                old.number
            }
            old => {
                if let Some(old) = old {
                    self.remove(old.number, std::mem::take(&mut before))?;
                }
                self.insert(new, columns)?
            }
        };
        for (word, places) in words {
            if before.remove(&word).is_none_or(|before| before != places) {
                self.change(word, (number, Some(places)))?;
            }
        }
        for word in before.into_keys() {
            self.change(word, (number, None))?;
        }
        Ok(())
    }

    fn load_page(&self, space: &SpaceId, page: &PageId) -> IndexResult<Option<StoredPage>> {
        let sql = "SELECT number, page_tie, space_tie, org_tie, title_words FROM pages WHERE space = ?1 AND page = ?2";
        let found = self
            .conn
            .prepare_cached(sql)?
            .query_row([space.as_str(), page.as_str()], |row| Ok((row.get(0)?, PageColumns::read(row, 1)?)))
            .optional()?;
        let Some((number, columns)) = found else { return Ok(None) };
        Ok(Some(StoredPage { number, columns, document: document(self.conn, number)? }))
    }

    /// Inserts a page without its words. Returns the page number.
    fn insert(&mut self, page: &PageDocument, columns: PageColumns) -> IndexResult<u32> {
        let number = u32::try_from(self.next_page)
            .map_err(|_| Failure::invalid_content("the page numbers are exhausted"))?;
        self.next_page += 1;
        self.conn.prepare_cached("INSERT INTO pages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?.execute(
            params![
                number,
                page.space.as_str(),
                page.page.as_str(),
                columns.page.cast_signed(),
                columns.space.cast_signed(),
                columns.organization.cast_signed(),
                columns.title_words,
            ],
        )?;
        let sql = "INSERT INTO documents VALUES (?1, ?2)";
        self.conn.prepare_cached(sql)?.execute(params![number, serde_json::to_string(page)?])?;
        self.written.put.push((number, columns));
        Ok(number)
    }

    fn remove(&mut self, number: u32, words: HashMap<FieldWord, Vec<u8>>) -> IndexResult<()> {
        self.conn.prepare_cached("DELETE FROM pages WHERE number = ?1")?.execute([number])?;
        self.conn.prepare_cached("DELETE FROM documents WHERE number = ?1")?.execute([number])?;
        self.written.gone.push(number);
        for word in words.into_keys() {
            self.change(word, (number, None))?;
        }
        Ok(())
    }

    fn change(&mut self, word: FieldWord, change: PostingChange) -> IndexResult<()> {
        self.held += OF_A_CHANGE + word.0.len() + change.1.as_ref().map_or(0, Vec::len);
        self.lists.entry(word).or_default().push(change);
        if self.held < MAX_BUFFERED_BYTES { Ok(()) } else { self.write_lists() }
    }

    fn write_lists(&mut self) -> IndexResult<()> {
        self.held = 0;
        let mut lists = std::mem::take(&mut self.lists).into_iter().peekable();
        while let Some(((term, field), changes)) = lists.next() {
            let mut of_word = vec![(field, changes)];
            while let Some(((_, field), changes)) = lists.next_if(|((next, _), _)| *next == term) {
                of_word.push((field, changes));
            }
            self.write_word(&term, of_word)?;
        }
        Ok(())
    }

    fn write_word(&mut self, term: &str, lists: Vec<(u8, Vec<PostingChange>)>) -> IndexResult<()> {
        let found: Option<(i64, u8)> = self
            .conn
            .prepare_cached("SELECT word, fields FROM words WHERE term = ?1")?
            .query_row([term], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (word, before) = found.unwrap_or((self.next_word, 0));
        let mut fields = before;
        for (field, mut changes) in lists {
            changes.sort_unstable_by_key(|(page, _)| *page);
            let bit = 1 << field;
            let list = PostingList { conn: self.conn, number: word * 4 + i64::from(field) };
            let is_left =
                if before & bit == 0 { list.write(None, &changes)? } else { list.update(&changes)? };
            fields = if is_left { fields | bit } else { fields & !bit };
        }
        if found.is_none() {
            self.next_word += 1;
        }
        if fields == 0 {
            self.conn.prepare_cached("DELETE FROM words WHERE term = ?1")?.execute([term])?;
        } else if fields != before {
            let sql = "INSERT OR REPLACE INTO words VALUES (?1, ?2, ?3)";
            self.conn.prepare_cached(sql)?.execute(params![term, word, fields])?;
        }
        Ok(())
    }
}

/// The posting list of a word in a field.
struct PostingList<'c> {
    conn: &'c Connection,
    number: i64,
}

impl PostingList<'_> {
    /// Applies changes in the order of their pages. Returns `true` if any posting remains.
    fn update(&self, changes: &[PostingChange]) -> IndexResult<bool> {
        let (Some((first, _)), Some((last, _))) = (changes.first(), changes.last()) else { return Ok(true) };
        let blocks = self.blocks(*first, *last)?;
        let mut is_left = false;
        let mut left = changes;
        for (at, block) in blocks.iter().enumerate() {
            let end = match blocks.get(at + 1) {
                Some((next, _)) => left.partition_point(|(page, _)| page < next),
                None => left.len(),
            };
            let (ours, others) = left.split_at(end);
            left = others;
            is_left |= ours.is_empty() || self.write(Some(block), ours)?;
        }
        if blocks.is_empty() {
            return self.write(None, changes);
        }
        let sql = "SELECT EXISTS (SELECT * FROM postings WHERE list = ?1)";
        Ok(is_left || self.conn.prepare_cached(sql)?.query_row([self.number], |row| row.get(0))?)
    }

    /// Returns the consecutive blocks that contain, or would contain, the pages of this range, in order.
    fn blocks(&self, first: u32, last: u32) -> IndexResult<Vec<(u32, Vec<u8>)>> {
        let sql = "SELECT coalesce(
            (SELECT max(first_page) FROM postings WHERE list = ?1 AND first_page <= ?2),
            (SELECT min(first_page) FROM postings WHERE list = ?1))";
        let from: Option<u32> =
            self.conn.prepare_cached(sql)?.query_row(params![self.number, first], |row| row.get(0))?;
        let Some(from) = from else { return Ok(Vec::new()) };
        let sql = "SELECT first_page, block FROM postings WHERE list = ?1 AND first_page BETWEEN ?2 AND ?3 ORDER BY first_page";
        let mut blocks = self.conn.prepare_cached(sql)?;
        let blocks = blocks
            .query_map(params![self.number, from, last.max(from)], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(blocks.collect::<rusqlite::Result<_>>()?)
    }

    /// Rewrites a block with changes, or writes a new block. Returns `true` if any posting remains.
    fn write(&self, old: Option<&(u32, Vec<u8>)>, changes: &[PostingChange]) -> IndexResult<bool> {
        let (first, block) = old.map_or((None, &[][..]), |(first, block)| (Some(*first), block.as_slice()));
        let blocks = apply_changes(block, changes)?;
        if let Some(first) = first
            && blocks.first().is_none_or(|(new, _)| *new != first)
        {
            let sql = "DELETE FROM postings WHERE list = ?1 AND first_page = ?2";
            self.conn.prepare_cached(sql)?.execute(params![self.number, first])?;
        }
        let mut put = self.conn.prepare_cached("INSERT OR REPLACE INTO postings VALUES (?1, ?2, ?3)")?;
        for (first, block) in &blocks {
            put.execute(params![self.number, first, block])?;
        }
        Ok(!blocks.is_empty())
    }
}

/// Returns the words of a page with their positions, and the number of words in its title.
fn words_of(page: &PageDocument) -> (HashMap<FieldWord, Vec<u8>>, u32) {
    let mut all = HashMap::new();
    let mut title_words = 0;
    for field in Field::ALL {
        let mut words: HashMap<String, PositionEncoder> = HashMap::new();
        page.for_each_token(field, |word, position| {
            title_words += u32::from(field == Field::Title);
            match words.get_mut(word) {
                Some(positions) => positions.push(position),
                None => words.entry(word.to_owned()).or_default().push(position),
            }
        });
        all.extend(words.into_iter().map(|(word, places)| ((word, field as u8), places.into_bytes())));
    }
    (all, title_words)
}

/// Returns the page with this number.
pub(crate) fn document(conn: &Connection, number: u32) -> IndexResult<PageDocument> {
    let mut found = conn.prepare_cached("SELECT document FROM documents WHERE number = ?1")?;
    let mut rows = found.query([number])?;
    let row = rows.next()?.ok_or_else(|| Failure::invalid_content("a page has no document"))?;
    Ok(serde_json::from_str(row.get_ref(0)?.as_str()?)?)
}
