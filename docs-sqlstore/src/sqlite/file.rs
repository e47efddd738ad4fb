//! The database file: opening, checks and migrations.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use docs_store::Mode;
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, OpenFlags, OptionalExtension as _, config::DbConfig};

use super::error::advice;
use crate::{Durability, OpenError, Options, layout::Layout};

/// Migrations in order. The schema version is that of the last applied one.
const MIGRATIONS: &[&str] =
    &[include_str!("../../migrations/sqlite/0001.sql"), include_str!("../../migrations/sqlite/0002.sql")];

/// Number of cached prepared statements per connection: about six for each table of the platform.
const STATEMENT_CACHE_SIZE: usize = 128;
/// Size of the truncated log once its content is in the main file.
const LOG_BYTES: i64 = 64 << 20;

/// Path and settings of a database file.
#[derive(Clone, Debug)]
pub(super) struct File {
    path: PathBuf,
    durability: Durability,
    wait: Duration,
}

/// The error of an attempt to open the file.
#[derive(Debug)]
pub(super) enum OpenFailure {
    /// Transient: another process is opening or closing the file.
    Busy(OpenError),
    /// Permanent.
    Refused(OpenError),
}

impl File {
    /// Creates the settings with an absolute path, so that connections opened later use the same file.
    pub(super) fn new(path: &Path, options: &Options) -> Result<Self, OpenError> {
        let path = std::path::absolute(path)
            .map_err(|error| unusable_error(path, format!("{error}; use a file in a folder")))?;
        Ok(Self { path, durability: options.durability_level(), wait: options.busy_timeout() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a connection to an existing database. A deleted file is not recreated.
    pub(super) fn connect(&self, mode: Mode) -> Result<Connection, Error> {
        let conn = self.connect_with_flags(OpenFlags::empty())?;
        conn.pragma_update(None, "query_only", mode == Mode::Read)?;
        Ok(conn)
    }

    fn connect_with_flags(&self, more: OpenFlags) -> Result<Connection, Error> {
        // A connection is used by only one thread at a time.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let conn = Connection::open_with_flags(&self.path, flags)?;
        conn.busy_timeout(self.wait)?;
        conn.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
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

    /// Opens or creates the file, migrates its tables, and returns a write connection.
    pub(super) fn open(&self, layout: &Layout) -> Result<Connection, OpenFailure> {
        self.create();
        let conn = self
            .connect_with_flags(OpenFlags::SQLITE_OPEN_CREATE)
            .map_err(|error| self.open_failure(&error))?;
        self.prepare(&conn, layout)?;
        Ok(conn)
    }

    /// Creates a missing file that only its owner can access, because it contains the key that seals credentials.
    ///
    /// SQLite gives the companion files the same permissions. Errors are ignored, because SQLite will report them.
    fn create(&self) {
        drop(docs_disk::create_new_file(&self.path));
    }

    pub(super) fn prepare(&self, conn: &Connection, layout: &Layout) -> Result<(), OpenFailure> {
        if conn.is_readonly(MAIN_DB).map_err(|error| self.open_failure(&error))? {
            let why = "it is read-only; the program needs write access to the file and to its folder";
            return Err(OpenFailure::Refused(unusable_error(&self.path, why.to_owned())));
        }
        // Checked before anything is written, because another program's database must not be changed.
        self.check(conn)?;
        let log: String = conn
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
            .map_err(|error| self.open_failure(&error))?;
        if log != "wal" {
            let why = "its file system has no shared memory between programs; use a local disk";
            return Err(OpenFailure::Refused(unusable_error(&self.path, why.to_owned())));
        }
        self.migrate(conn, layout)
    }

    fn migrate(&self, conn: &Connection, layout: &Layout) -> Result<(), OpenFailure> {
        let sqlite = |error| self.open_failure(&error);
        conn.execute_batch("BEGIN IMMEDIATE").map_err(sqlite)?;
        // Checked again, now that no other process can change it. Later errors roll back when the connection is
        // dropped.
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

    /// Returns the schema version, or 0 for an empty file.
    fn check(&self, conn: &Connection) -> Result<i64, OpenFailure> {
        let sqlite = |error| self.open_failure(&error);
        let count = |sql| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(sqlite);
        if count("SELECT count(*) FROM sqlite_schema WHERE name = 'docs_schema'")? == 0 {
            return match count("SELECT count(*) FROM sqlite_schema")? {
                0 => Ok(0),
                _ => Err(OpenFailure::Refused(unusable_error(
                    &self.path,
                    "it contains tables of another program; use another file".to_owned(),
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
            return Err(OpenFailure::Refused(OpenError::Newer { place, found, known }));
        }
        Ok(found)
    }

    fn open_failure(&self, error: &Error) -> OpenFailure {
        let code = error.sqlite_error_code();
        let advice = match code {
            Some(ErrorCode::NotADatabase) => {
                "it is not an SQLite database, or it is encrypted; use another file"
            }
            Some(ErrorCode::CannotOpen) if self.path.is_dir() => "it is a folder; use a file in it",
            Some(ErrorCode::CannotOpen) if !self.path.parent().is_some_and(Path::is_dir) => {
                "its folder does not exist; create the folder first"
            }
            Some(code) => advice(code).unwrap_or(
                "the file was altered by another program or is damaged; \
                                                  restore a backup",
            ),
            None => "the file was altered by another program or is damaged; restore a backup",
        };
        let refused = unusable_error(&self.path, format!("{error}: {advice}"));
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => OpenFailure::Busy(refused),
            _ => OpenFailure::Refused(refused),
        }
    }
}

fn unusable_error(path: &Path, why: String) -> OpenError {
    OpenError::Unusable { place: path.display().to_string(), why }
}
