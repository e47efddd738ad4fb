//! Options for opening a store, and its errors.

use std::{fmt, sync::Arc, time::Duration};

use docs_ports::{Clock, SystemClock};
use docs_store::Blobs;

use crate::layout::{Layout, MAX_KIND, is_kind};

/// Maximum size of an object stored in the database, in bytes. Larger objects are stored in [`Blobs`] if configured.
pub const INLINE_BYTES: usize = 128 * 1024;

/// Default of [`Options::wait`]: the maximum time that `begin` waits.
pub const DEFAULT_BEGIN_WAIT: Duration = Duration::from_secs(2);
/// Upper bound of [`Options::wait`].
const MAX_BEGIN_WAIT: Duration = Duration::from_secs(3_600);
/// Default of [`Options::connections`]: the connections of the pool. PostgreSQL also writes with them, SQLite only
/// reads.
pub const DEFAULT_CONNECTIONS: usize = 8;

/// Options for opening a store.
#[derive(Clone)]
pub struct Options {
    clock: Arc<dyn Clock>,
    blobs: Option<Arc<dyn Blobs>>,
    kinds: Vec<String>,
    wait: Duration,
    connections: usize,
    durability: Durability,
    sharing: SharingMode,
}

/// The processes that may have a store open at the same time. The lock is released when a process ends, even if it
/// crashes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum SharingMode {
    /// Any number of processes, unless one has opened the store as [`Exclusive`](SharingMode::Exclusive).
    #[default]
    Shared,
    /// Only this process, for maintenance during which no other process may read or write.
    Exclusive,
}

impl SharingMode {
    /// Returns the error for a store that other processes have open.
    pub(crate) fn in_use_error(self, place: String) -> OpenError {
        match self {
            Self::Shared => OpenError::Taken { place },
            Self::Exclusive => OpenError::InUse { place },
        }
    }
}

/// Failures that an acknowledged commit survives. Only used by [`SqliteStore`](crate::SqliteStore).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Durability {
    /// Any failure, including a power failure: each commit waits until it is on the disk.
    #[default]
    Full,
    /// The end of the process, including a crash. A power failure may lose the last commits, each of them completely;
    /// the database stays consistent. Permits several times as many commits per second.
    Normal,
}

impl Options {
    /// Creates options with the system clock, no blob storage, and the platform's record kinds.
    #[must_use]
    pub fn new() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            blobs: None,
            kinds: Vec::new(),
            wait: DEFAULT_BEGIN_WAIT,
            connections: DEFAULT_CONNECTIONS,
            durability: Durability::default(),
            sharing: SharingMode::default(),
        }
    }

    /// Sets which processes may have the store open at the same time. Default: any number.
    #[must_use]
    pub fn sharing(mut self, sharing: SharingMode) -> Self {
        self.sharing = sharing;
        self
    }

    pub(crate) fn sharing_mode(&self) -> SharingMode {
        self.sharing
    }

    /// Sets the clock, which determines the touch times of objects and the age of transactions. Default: the system
    /// clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the storage for objects over 128 KiB. Default: all objects are stored in the database.
    ///
    /// Existing objects are read from where they were stored, so a database that was once used with blobs always
    /// requires them.
    #[must_use]
    pub fn blobs(mut self, blobs: Arc<dyn Blobs>) -> Self {
        self.blobs = Some(blobs);
        self
    }

    /// Adds record kinds of an extension, each of which gets a table. A kind consists of at most 30 lower-case letters,
    /// digits or `_`.
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.kinds.extend(kinds.into_iter().map(Into::into));
        self
    }

    /// Sets how long [`begin`](docs_store::Store::begin) waits for a free connection or for the end of earlier writers
    /// before it returns `Unavailable`. Default: 2 s; maximum: one hour.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait.min(MAX_BEGIN_WAIT);
        self
    }

    /// Sets the maximum number of concurrent transactions. Default: 8; minimum: 1.
    ///
    /// For SQLite, this counts only read transactions. There is a single write transaction at a time.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets which failures an acknowledged commit survives. PostgreSQL has its own settings for this.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    pub(crate) fn busy_timeout(&self) -> Duration {
        self.wait
    }

    pub(crate) fn max_connections(&self) -> usize {
        self.connections
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn durability_level(&self) -> Durability {
        self.durability
    }

    pub(crate) fn layout(&self) -> Result<Layout, OpenError> {
        match self.kinds.iter().find(|kind| !is_kind(kind)) {
            Some(wrong) => Err(OpenError::Kind(wrong.clone())),
            None => Ok(Layout::new(&self.kinds)),
        }
    }

    pub(crate) fn time_source(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    pub(crate) fn blob_store(&self) -> Option<Arc<dyn Blobs>> {
        self.blobs.clone()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("blobs", &self.blobs.is_some())
            .field("kinds", &self.kinds)
            .field("wait", &self.wait)
            .field("connections", &self.connections)
            .field("durability", &self.durability)
            .field("sharing", &self.sharing)
            .finish_non_exhaustive()
    }
}

/// The error of opening a store.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer program version has migrated the database.
    #[error(
        "the database {place} has schema {found}, and this program supports up to {known}; start a newer \
         program (nothing was changed)"
    )]
    Newer {
        /// The file, or the database and its server.
        place: String,
        /// Schema version of the database.
        found: i64,
        /// Newest schema version that this program supports.
        known: i64,
    },
    /// The database cannot be reached, read or written.
    #[error("the database {place} is unusable: {why}")]
    Unusable {
        /// The file, or the database and its server, without a password.
        place: String,
        /// The database's message, and the remedy.
        why: String,
    },
    /// Other processes have the store open, so it cannot be opened as [`SharingMode::Exclusive`].
    #[error("the database {place} is in use; stop all servers and other commands on it, then try again")]
    InUse {
        /// The file, or the database and its server.
        place: String,
    },
    /// Another process has opened the store as [`SharingMode::Exclusive`].
    #[error("the database {place} is being rebuilt by another program; try again when it has finished")]
    Taken {
        /// The file, or the database and its server.
        place: String,
    },
    /// The database URL is malformed.
    #[error("the address of the database is invalid: {0}")]
    Address(String),
    /// The name of a record kind cannot be part of a table name.
    #[error("`{0}` must have 1 to {MAX_KIND} lower-case letters, digits and `_` to be part of a table name")]
    Kind(String),
}
