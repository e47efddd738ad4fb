//! The file of a database: how it is opened, and what must be in it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use docs_store::Mode;
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, OpenFlags, OptionalExtension as _, config::DbConfig};

use super::error::advice;
use crate::{Durability, OpenError, Options, layout::Layout};

/// The migrations, in order: the schema is as new as the last that was applied.
const MIGRATIONS: &[&str] =
    &[include_str!("../../migrations/sqlite/0001.sql"), include_str!("../../migrations/sqlite/0002.sql")];

/// Statements that a connection keeps prepared: about six for each of the tables of the platform.
const STATEMENTS: usize = 128;
/// The log is cut to this size once its content is in the file.
const LOG_BYTES: i64 = 64 << 20;

/// Where a database is, and how it is written.
#[derive(Clone, Debug)]
pub(super) struct File {
    path: PathBuf,
    durability: Durability,
    wait: Duration,
}

/// Why the file cannot be opened yet, or at all.
#[derive(Debug)]
pub(super) enum NotOpen {
    /// Another program is just opening or closing it.
    Busy(OpenError),
    /// It stays so.
    Refused(OpenError),
}

impl File {
    /// A path is fixed when the store is opened, so that connections opened later lead to the same file.
    pub(super) fn new(path: &Path, options: &Options) -> Result<Self, OpenError> {
        let path = std::path::absolute(path)
            .map_err(|error| unusable(path, format!("{error}: name a file in a folder")))?;
        Ok(Self { path, durability: options.the_durability(), wait: options.busy_timeout() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a connection to the database, which must be there: a file that was removed does not come back empty.
    pub(super) fn connect(&self, mode: Mode) -> Result<Connection, Error> {
        let conn = self.plain(OpenFlags::empty())?;
        conn.pragma_update(None, "query_only", mode == Mode::Read)?;
        Ok(conn)
    }

    fn plain(&self, more: OpenFlags) -> Result<Connection, Error> {
        // A connection is used by one thread at a time.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let conn = Connection::open_with_flags(&self.path, flags)?;
        conn.busy_timeout(self.wait)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        let synchronous = match self.durability {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        };
        conn.pragma_update(None, "synchronous", synchronous)?;
        conn.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
        Ok(conn)
    }

    /// Opens the file, makes it where there is none, and brings its tables up to date; answers a connection that
    /// writes.
    pub(super) fn open(&self, layout: &Layout) -> Result<Connection, NotOpen> {
        self.create();
        let conn = self.plain(OpenFlags::SQLITE_OPEN_CREATE).map_err(|error| self.refused(&error))?;
        self.prepare(&conn, layout)?;
        Ok(conn)
    }

    /// Makes the file, where there is none, for its owner only: it holds the key that credentials are sealed with.
    /// SQLite gives the files beside it the same rights. What goes wrong here, SQLite tells in a moment.
    fn create(&self) {
        drop(docs_disk::create_new_file(&self.path));
    }

    pub(super) fn prepare(&self, conn: &Connection, layout: &Layout) -> Result<(), NotOpen> {
        if conn.is_readonly(MAIN_DB).map_err(|error| self.refused(&error))? {
            let why = "it is read-only; the program needs to write to the file and to its folder, so make both writable";
            return Err(NotOpen::Refused(unusable(&self.path, why.to_owned())));
        }
        // Before anything is written: a database of somebody else stays as it is.
        self.check(conn)?;
        let log: String = conn
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
            .map_err(|error| self.refused(&error))?;
        if log != "wal" {
            let why =
                "its file system cannot share memory between programs, as a network drive; use a local disk";
            return Err(NotOpen::Refused(unusable(&self.path, why.to_owned())));
        }
        self.migrate(conn, layout)
    }

    fn migrate(&self, conn: &Connection, layout: &Layout) -> Result<(), NotOpen> {
        let sqlite = |error| self.refused(&error);
        conn.execute_batch("BEGIN IMMEDIATE").map_err(sqlite)?;
        // Again, now that nobody else can change it. What fails from here on is rolled back with the connection.
        let applied = self.check(conn)?;
        conn.execute_batch(
            "CREATE TABLE IF NOT EXISTS docs_schema (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL) STRICT",
        )
        .map_err(sqlite)?;
        for (version, sql) in (1_i64..).zip(MIGRATIONS).filter(|(version, _)| *version > applied) {
            conn.execute_batch(sql).map_err(sqlite)?;
            conn.execute(
                "INSERT INTO docs_schema VALUES (?1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
                [version],
            )
            .map_err(sqlite)?;
        }
        for kind in layout.kinds() {
            let sql = format!(
                "CREATE TABLE IF NOT EXISTS r_{kind} (k TEXT PRIMARY KEY NOT NULL, doc TEXT NOT NULL) STRICT"
            );
            conn.execute_batch(&sql).map_err(sqlite)?;
        }
        conn.execute_batch("COMMIT").map_err(sqlite)
    }

    /// The version of the schema: 0 in an empty file.
    fn check(&self, conn: &Connection) -> Result<i64, NotOpen> {
        let sqlite = |error| self.refused(&error);
        let count = |sql| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(sqlite);
        if count("SELECT count(*) FROM sqlite_schema WHERE name = 'docs_schema'")? == 0 {
            return match count("SELECT count(*) FROM sqlite_schema")? {
                0 => Ok(0),
                _ => Err(NotOpen::Refused(unusable(
                    &self.path,
                    "it holds tables of another program; name another file".to_owned(),
                ))),
            };
        }
        let found: Option<i64> = conn
            .query_row("SELECT max(version) FROM docs_schema", [], |row| row.get(0))
            .optional()
            .map_err(sqlite)?
            .flatten();
        let (found, known) = (found.unwrap_or(0), i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX));
        if found > known {
            let place = self.path.display().to_string();
            return Err(NotOpen::Refused(OpenError::Newer { place, found, known }));
        }
        Ok(found)
    }

    fn refused(&self, error: &Error) -> NotOpen {
        let code = error.sqlite_error_code();
        let advice = match code {
            Some(ErrorCode::NotADatabase) => {
                "it is no SQLite database, or an encrypted one; name another file"
            }
            Some(ErrorCode::CannotOpen) if self.path.is_dir() => "it is a folder; name a file in it",
            Some(ErrorCode::CannotOpen) if !self.path.parent().is_some_and(Path::is_dir) => {
                "its folder does not exist; make it first"
            }
            Some(code) => advice(code).unwrap_or("the file is not what the program wrote; restore a backup"),
            None => "the file is not what the program wrote; restore a backup",
        };
        let refused = unusable(&self.path, format!("{error}: {advice}"));
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => NotOpen::Busy(refused),
            _ => NotOpen::Refused(refused),
        }
    }
}

fn unusable(path: &Path, why: String) -> OpenError {
    OpenError::Unusable { place: path.display().to_string(), why }
}
