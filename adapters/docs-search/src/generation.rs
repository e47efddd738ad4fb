//! What readers share: connections, and what is known of pages, of one file. A file that is made anew is another
//! generation.

use std::{collections::HashMap, sync::Arc};

use docs_model::feed::FeedPos;
use docs_ports::search::{PageDocument, tie};
use parking_lot::{Mutex, RwLock};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::{
    database::IndexFile,
    failure::{Failure, Outcome},
};

/// What a query is decided by besides the words of a page. Of a number of a page, it never changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageColumns {
    /// Stands for the page: see [`PageDocument::tie`].
    pub(crate) page: u64,
    /// Stands for its space.
    pub(crate) space: u64,
    /// Stands for its organization.
    pub(crate) organization: u64,
    /// How many words its title has.
    pub(crate) title_words: u32,
}

impl PageColumns {
    pub(crate) fn of(page: &PageDocument, title_words: u32) -> Self {
        Self {
            page: page.tie(),
            space: tie(&[page.space.as_str()]),
            organization: tie(&[page.organization.as_str()]),
            title_words,
        }
    }

    /// Reads them from four columns in the order of the table, from one on.
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

/// A file that was opened.
pub(crate) struct Opened {
    /// Writes to it.
    pub(crate) conn: Connection,
    pub(crate) generation: Generation,
    /// That of its last commit.
    pub(crate) position: Option<FeedPos>,
}

impl Opened {
    pub(crate) fn open(file: &IndexFile) -> Outcome<Self> {
        let conn = file.writer()?;
        let position: Option<String> = conn.query_row("SELECT position FROM state", [], |row| row.get(0))?;
        let columns = {
            let mut all = conn.prepare(
                "SELECT number, page_tie, space_tie, org_tie, title_words FROM pages ORDER BY number",
            )?;
            let columns = all.query_map([], |row| Ok((row.get(0)?, PageColumns::read(row, 1)?)))?;
            columns.collect::<rusqlite::Result<HashMap<u32, PageColumns>>>()?
        };
        // A table that is missing, or whose first page is gone, shows here.
        for table in ["documents", "postings", "spaces", "words"] {
            conn.query_row(&format!("SELECT EXISTS (SELECT * FROM {table})"), [], |_| Ok(()))?;
        }
        let generation =
            Generation { file: file.clone(), columns: RwLock::new(columns), state: Mutex::default() };
        Ok(Self { conn, generation, position: position.map(|position| FeedPos(position.into())) })
    }
}

/// A file, from when it was opened or made until it is made anew.
pub(crate) struct Generation {
    file: IndexFile,
    /// Those of the last commit, before or behind by a moment: who misses a page finds it in its snapshot.
    columns: RwLock<HashMap<u32, PageColumns>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Connections that nobody reads by.
    idle: Vec<Connection>,
    /// What was seen that only making the file anew helps against.
    damage: Option<String>,
    is_over: bool,
}

impl Generation {
    /// Reads by a connection that sees one commit.
    pub(crate) fn read<T>(&self, look: impl FnOnce(Snapshot<'_>) -> Outcome<T>) -> Outcome<T> {
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

    fn connection(&self) -> Outcome<Connection> {
        if let Some(conn) = self.state.lock().idle.pop() {
            return Ok(conn);
        }
        let conn = self.file.reader()?;
        // What was opened before the end is the file of this generation.
        if self.state.lock().is_over { Err(Failure::Replaced) } else { Ok(conn) }
    }

    /// Notes a commit.
    pub(crate) fn committed(&self, put: Vec<(u32, PageColumns)>, gone: &[u32]) {
        let mut columns = self.columns.write();
        for number in gone {
            columns.remove(number);
        }
        columns.extend(put);
    }

    /// What was seen that only making the file anew helps against.
    pub(crate) fn damage(&self) -> Option<String> {
        self.state.lock().damage.clone()
    }

    pub(crate) fn note_damage(&self, failure: &Failure) {
        self.state.lock().damage.get_or_insert_with(|| failure.to_string());
    }

    /// Closes what is idle, and has nobody begin to read.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.idle.clear();
    }
}

/// The generation that is read.
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

/// One commit, for as long as something is looked up in it.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot<'s> {
    pub(crate) conn: &'s Connection,
    generation: &'s Generation,
}

impl Snapshot<'_> {
    /// The columns of a page that has postings.
    pub(crate) fn columns(&self, number: u32) -> Outcome<PageColumns> {
        if let Some(columns) = self.generation.columns.read().get(&number) {
            return Ok(*columns);
        }
        let sql = "SELECT page_tie, space_tie, org_tie, title_words FROM pages WHERE number = ?1";
        let mut found = self.conn.prepare_cached(sql)?;
        let columns = found.query_row([number], |row| PageColumns::read(row, 0)).optional()?;
        columns.ok_or_else(|| Failure::damaged("a page that has words is missing"))
    }
}
