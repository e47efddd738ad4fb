//! State that readers share for one file: connections and page columns. A rebuilt file is a new generation.

use std::{collections::HashMap, sync::Arc};

use docs_model::feed::FeedPos;
use docs_ports::search::{PageDocument, hash_name};
use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::{
    database::IndexFile,
    failure::{Failure, IndexResult},
};

/// The columns that rank and filter a page, in addition to its words. They are immutable for a page number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageColumns {
    /// The hash of the page, see [`PageDocument::tie_breaker`].
    pub(crate) page: u64,
    /// The hash of its space.
    pub(crate) space: u64,
    /// The hash of its organization.
    pub(crate) organization: u64,
    /// The number of words in its title.
    pub(crate) title_words: u32,
}

impl PageColumns {
    pub(crate) fn new(page: &PageDocument, title_words: u32) -> Self {
        Self {
            page: page.tie_breaker(),
            space: hash_name(&[page.space.as_str()]),
            organization: hash_name(&[page.organization.as_str()]),
            title_words,
        }
    }

    /// Reads them from four consecutive columns.
    pub(crate) fn read(row: &Row<'_>, from: usize) -> rusqlite::Result<Self> {
        let tie = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned);
        Ok(Self {
            page: tie(from)?,
            space: tie(from + 1)?,
            organization: tie(from + 2)?,
            title_words: row.get(from + 3)?,
        })
    }
}

/// An opened file.
pub(crate) struct OpenedIndex {
    /// The writing connection.
    pub(crate) conn: Connection,
    pub(crate) generation: Generation,
    /// The position of the last commit.
    pub(crate) position: Option<FeedPos>,
}

impl OpenedIndex {
    pub(crate) fn open(file: &IndexFile) -> IndexResult<Self> {
        let conn = file.writer()?;
        let position: Option<String> = conn.query_row("SELECT position FROM state", [], |row| row.get(0))?;
        let columns = {
            let mut all = conn.prepare(
                "SELECT number, page_tie, space_tie, org_tie, title_words FROM pages ORDER BY number",
            )?;
            let columns = all.query_map([], |row| Ok((row.get(0)?, PageColumns::read(row, 1)?)))?;
            columns.collect::<rusqlite::Result<HashMap<u32, PageColumns>>>()?
        };
        // Detects a missing table or a damaged first page.
        for table in ["documents", "postings", "spaces", "words"] {
            conn.query_row(&format!("SELECT EXISTS (SELECT * FROM {table})"), [], |_| Ok(()))?;
        }
        let generation =
            Generation { file: file.clone(), columns: RwLock::new(columns), state: Mutex::default() };
        Ok(Self { conn, generation, position: position.map(|position| FeedPos(position.into())) })
    }
}

/// A file, from its opening or creation until it is rebuilt.
pub(crate) struct Generation {
    file: IndexFile,
    /// The columns around the last commit. A reader reads a missing page from its own snapshot.
    columns: RwLock<HashMap<u32, PageColumns>>,
    state: Mutex<ConnectionPool>,
}

#[derive(Default)]
struct ConnectionPool {
    /// Connections without a reader.
    idle: Vec<Connection>,
    /// Detected damage that requires a rebuild.
    damage: Option<String>,
    is_over: bool,
}

impl Generation {
    /// Runs a read on a connection with a snapshot of one commit.
    pub(crate) fn read<T>(&self, look: impl FnOnce(Snapshot<'_>) -> IndexResult<T>) -> IndexResult<T> {
        let looked = self.connection().and_then(|conn| {
            let transaction = conn.unchecked_transaction()?;
            let looked = look(Snapshot { conn: &transaction, generation: self })?;
            transaction.commit()?;
            Ok((conn, looked))
        });
        let mut state = self.state.lock();
        match looked {
            Ok((conn, looked)) => {
                if !state.is_over {
                    state.idle.push(conn);
                }
                Ok(looked)
            }
            Err(_) if state.is_over => Err(Failure::Replaced),
            Err(failure) => {
                if failure.is_damage() {
                    state.damage.get_or_insert_with(|| failure.to_string());
                }
                Err(failure)
            }
        }
    }

    fn connection(&self) -> IndexResult<Connection> {
        if let Some(conn) = self.state.lock().idle.pop() {
            return Ok(conn);
        }
        let conn = self.file.reader()?;
        // A connection opened before the end of the generation belongs to its file.
        if self.state.lock().is_over { Err(Failure::Replaced) } else { Ok(conn) }
    }

    /// Applies a commit to the columns.
    pub(crate) fn apply_commit(&self, put: Vec<(u32, PageColumns)>, gone: &[u32]) {
        let mut columns = self.columns.write();
        for number in gone {
            columns.remove(number);
        }
        columns.extend(put);
    }

    /// Returns detected damage that requires a rebuild.
    pub(crate) fn damage(&self) -> Option<String> {
        self.state.lock().damage.clone()
    }

    pub(crate) fn note_damage(&self, failure: &Failure) {
        self.state.lock().damage.get_or_insert_with(|| failure.to_string());
    }

    /// Closes idle connections and rejects new reads.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.idle.clear();
    }
}

/// The generation that readers use.
pub(crate) struct Current(RwLock<Arc<Generation>>);

impl Current {
    pub(crate) fn new(generation: Generation) -> Self {
        Self(RwLock::new(Arc::new(generation)))
    }

    pub(crate) fn get(&self) -> Arc<Generation> {
        Arc::clone(&self.0.read())
    }

    pub(crate) fn replace(&self, generation: Generation) {
        std::mem::replace(&mut *self.0.write(), Arc::new(generation)).end();
    }
}

/// A snapshot of one commit.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot<'s> {
    pub(crate) conn: &'s Connection,
    generation: &'s Generation,
}

impl Snapshot<'_> {
    /// Returns the columns of a page that has postings.
    pub(crate) fn columns(&self, number: u32) -> IndexResult<PageColumns> {
        if let Some(columns) = self.generation.columns.read().get(&number) {
            return Ok(*columns);
        }
        let sql = "SELECT page_tie, space_tie, org_tie, title_words FROM pages WHERE number = ?1";
        let mut found = self.conn.prepare_cached(sql)?;
        let columns = found.query_row([number], |row| PageColumns::read(row, 0)).optional()?;
        columns.ok_or_else(|| Failure::invalid_content("a page with postings is missing"))
    }
}
