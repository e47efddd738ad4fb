//! State that readers share for one index file: connections and page columns. A rebuilt file starts a new generation.

use std::{collections::HashMap, sync::Arc};

use docs_model::feed::FeedPos;
use docs_ports::search::{PageDocument, hash_name};
use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::{
    database::IndexFile,
    failure::{Failure, IndexResult},
};

/// The columns used to rank and filter a page, in addition to its words. They never change for a given page number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageColumns {
    /// Hash of the page, see [`PageDocument::tie_breaker`].
    pub(crate) page: u64,
    /// Hash of the space.
    pub(crate) space: u64,
    /// Hash of the organization.
    pub(crate) organization: u64,
    /// Number of words in the title.
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

    /// Reads the values from four consecutive columns.
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

/// An opened index file.
pub(crate) struct OpenedIndex {
    /// The writing connection.
    pub(crate) conn: Connection,
    pub(crate) generation: Generation,
    /// Feed position of the last commit.
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
        // Detects missing tables and a damaged first page.
        for table in ["documents", "postings", "spaces", "words"] {
            conn.query_row(&format!("SELECT EXISTS (SELECT * FROM {table})"), [], |_| Ok(()))?;
        }
        let generation =
            Generation { file: file.clone(), columns: RwLock::new(columns), state: Mutex::default() };
        Ok(Self { conn, generation, position: position.map(|position| FeedPos(position.into())) })
    }
}

/// An index file from its opening or creation until it is rebuilt.
pub(crate) struct Generation {
    file: IndexFile,
    /// Page columns, approximately as of the last commit. Readers load missing ones from their own snapshot.
    columns: RwLock<HashMap<u32, PageColumns>>,
    state: Mutex<ConnectionPool>,
}

#[derive(Default)]
struct ConnectionPool {
    /// Connections that no reader is using.
    idle: Vec<Connection>,
    /// Detected damage, which requires a rebuild.
    damage: Option<String>,
    is_over: bool,
}

impl Generation {
    /// Runs a read on a connection that sees a snapshot of one commit.
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
        // A connection opened before the generation ended belongs to the generation's file.
        if self.state.lock().is_over { Err(Failure::Replaced) } else { Ok(conn) }
    }

    /// Applies the changes of a commit to the page columns.
    pub(crate) fn apply_commit(&self, put: Vec<(u32, PageColumns)>, gone: &[u32]) {
        let mut columns = self.columns.write();
        for number in gone {
            columns.remove(number);
        }
        columns.extend(put);
    }

    /// Returns the detected damage, which requires a rebuild.
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

/// The generation currently in use.
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

/// A consistent view of one commit.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot<'s> {
    pub(crate) conn: &'s Connection,
    generation: &'s Generation,
}

impl Snapshot<'_> {
    /// Returns the columns of a page, which must have postings.
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
