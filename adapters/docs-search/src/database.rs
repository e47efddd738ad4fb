//! The database file of an index: its location, its tables, and how it is opened.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::failure::{Failure, IndexResult};

/// Version of the format: tables, their content, and tokenization. An index with another version is rebuilt.
const FORMAT_VERSION: i64 = 2;

/// The tables. The id of a posting list is the number of the word times four, plus the field.
const TABLES: &str = "
    CREATE TABLE state (
        position TEXT,
        next_page INTEGER NOT NULL,
        next_word INTEGER NOT NULL
    ) STRICT;
    INSERT INTO state VALUES (NULL, 0, 0);
    CREATE TABLE spaces (space TEXT PRIMARY KEY, note TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE pages (
        number INTEGER PRIMARY KEY,
        space TEXT NOT NULL,
        page TEXT NOT NULL,
        page_tie INTEGER NOT NULL,
        space_tie INTEGER NOT NULL,
        org_tie INTEGER NOT NULL,
        title_words INTEGER NOT NULL,
        UNIQUE (space, page)
    ) STRICT;
    CREATE TABLE documents (number INTEGER PRIMARY KEY, document TEXT NOT NULL) STRICT;
    CREATE TABLE words (term TEXT PRIMARY KEY, word INTEGER NOT NULL, fields INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE postings (
        list INTEGER NOT NULL,
        first_page INTEGER NOT NULL,
        block BLOB NOT NULL,
        PRIMARY KEY (list, first_page)
    ) STRICT, WITHOUT ROWID;
";

/// Page cache sizes of the writing connection and of each reading connection, in KiB.
const WRITER_CACHE: i64 = 32 * 1024;
const READER_CACHE: i64 = 16 * 1024;
/// Size of the truncated WAL after a checkpoint, in bytes.
const LOG_BYTES: i64 = 32 << 20;
/// Number of WAL pages that trigger a checkpoint: 16 MB.
const LOG_PAGES: i64 = 4_000;
/// Number of cached prepared statements per connection. It exceeds the number of different statements.
const STATEMENT_CACHE: usize = 64;
/// Time that a connection waits while another one is opening or closing the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Location of an index file.
#[derive(Clone, Debug)]
pub(crate) struct IndexFile {
    path: PathBuf,
}

impl IndexFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the writing connection. Creates missing tables.
    pub(crate) fn writer(&self) -> IndexResult<Connection> {
        self.create();
        let conn = self.connect(OpenFlags::SQLITE_OPEN_CREATE)?;
        conn.pragma_update(None, "cache_size", -WRITER_CACHE)?;
        let log: String = conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        if log != "wal" {
            // Typically a network drive. The error code is the one that SQLite uses for file systems without usable
            // locks.
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_PROTOCOL);
            let why = "the file system has no shared memory between connections; use a local disk".to_owned();
            return Err(rusqlite::Error::SqliteFailure(code, Some(why)).into());
        }
        // Commits lost in a power failure are read from the feed again, and each commit is atomic.
        conn.pragma_update(None, "synchronous", "NORMAL")?;
        conn.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
        conn.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
        let form: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        match (form, tables) {
            (FORMAT_VERSION, 1..) => {}
            (0, 0) => conn
                .execute_batch(&format!("BEGIN; {TABLES} PRAGMA user_version = {FORMAT_VERSION}; COMMIT"))?,
            _ => return Err(Failure::invalid_content("the file has another format")),
        }
        Ok(conn)
    }

    /// Creates a missing file that only its owner can access, since it contains page text. SQLite gives the auxiliary
    /// files the same permissions, and reports errors when it opens the file.
    fn create(&self) {
        drop(docs_disk::create_new_file(&self.path));
    }

    /// Opens a read-only connection to an existing index.
    pub(crate) fn reader(&self) -> IndexResult<Connection> {
        let conn = self.connect(OpenFlags::empty()).map_err(|error| {
            let is_gone = matches!(self.path.try_exists(), Ok(false));
            if is_gone { Failure::invalid_content("the file no longer exists") } else { error }
        })?;
        conn.pragma_update(None, "cache_size", -READER_CACHE)?;
        conn.pragma_update(None, "query_only", true)?;
        Ok(conn)
    }

    fn connect(&self, more: OpenFlags) -> IndexResult<Connection> {
        // A connection is used by only one thread at a time.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let conn = Connection::open_with_flags(&self.path, flags)?;
        conn.busy_timeout(BUSY_TIMEOUT)?;
        conn.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        Ok(conn)
    }

    /// Deletes the file and SQLite's auxiliary files.
    pub(crate) fn remove(&self) -> io::Result<()> {
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut path = self.path.clone().into_os_string();
            path.push(end);
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}
