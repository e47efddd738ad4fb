//! How a store is opened, and why it cannot be.

use std::{fmt, sync::Arc, time::Duration};

use docs_ports::{Clock, SystemClock};
use docs_store::Blobs;

use crate::layout::{Layout, is_kind};

/// Objects of at most this many bytes lie in the database, larger ones in [`Blobs`] where there are any.
pub const INLINE: usize = 128 * 1024;

/// How long `begin` waits for its turn, unless [`Options::wait`] says otherwise.
pub const WAIT: Duration = Duration::from_secs(2);
/// Longer than this nobody waits for a connection.
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);
/// Read transactions that can be open at the same time, unless [`Options::connections`] says otherwise.
pub const CONNECTIONS: usize = 8;

/// What both stores can be told when they are opened.
#[derive(Clone)]
pub struct Options {
    clock: Arc<dyn Clock>,
    blobs: Option<Arc<dyn Blobs>>,
    kinds: Vec<String>,
    wait: Duration,
    connections: usize,
    durability: Durability,
    sharing: Sharing,
}

/// The programs that may have a store open at the same time. A program that ends, however it ends, gives way at once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sharing {
    /// Any number of programs, unless one has the store [`Alone`](Sharing::Alone).
    #[default]
    Shared,
    /// This program alone, for work on all of the store that nothing else may read or change meanwhile.
    Alone,
}

impl Sharing {
    /// The refusal of a store that other programs have open.
    pub(crate) fn refused(self, place: String) -> OpenError {
        match self {
            Self::Shared => OpenError::Taken { place },
            Self::Alone => OpenError::InUse { place },
        }
    }
}

/// What a commit that was acknowledged survives. Only [`SqliteStore`](crate::SqliteStore) asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Durability {
    /// Everything, a power failure included: each commit waits for the disk.
    #[default]
    Full,
    /// The end of the process, however it ends. After a power failure the last commits may be gone, each as a whole;
    /// the database stays sound. Several times as many commits a second.
    Normal,
}

impl Options {
    /// The clock of the machine, no place for large objects outside the database, the platform's kinds of record.
    #[must_use]
    pub fn new() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            blobs: None,
            kinds: Vec::new(),
            wait: WAIT,
            connections: CONNECTIONS,
            durability: Durability::default(),
            sharing: Sharing::default(),
        }
    }

    /// The programs that may have the store open at the same time: any number by default.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> Self {
        self.sharing = sharing;
        self
    }

    pub(crate) fn the_sharing(&self) -> Sharing {
        self.sharing
    }

    /// A clock of the caller: it says when an object was touched and when a transaction has been open for too long.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Where objects over 128 KiB go; without it they lie in the database like the others.
    ///
    /// Reading goes where the bytes were put, so a database keeps needing the blobs it was once used with.
    #[must_use]
    pub fn blobs(mut self, blobs: Arc<dyn Blobs>) -> Self {
        self.blobs = Some(blobs);
        self
    }

    /// Kinds of record of an extension: each gets a table of its own. Lower-case letters, digits and `_`, at most 30.
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.kinds.extend(kinds.into_iter().map(Into::into));
        self
    }

    /// How long [`begin`](docs_store::Store::begin) waits for a free connection or, where there is one writer at
    /// a time, for its turn, before it answers `Unavailable`: 2 s unless told otherwise, an hour at most.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait.min(LONGEST_WAIT);
        self
    }

    /// Most transactions that are open at the same time: 8 unless told otherwise, 1 at least.
    ///
    /// In SQLite these are the read transactions; there is one write transaction at a time, and it does not count.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// What an acknowledged commit survives. PostgreSQL has settings of its own for this.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    pub(crate) fn busy_timeout(&self) -> Duration {
        self.wait
    }

    pub(crate) fn the_connections(&self) -> usize {
        self.connections
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn the_durability(&self) -> Durability {
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

    pub(crate) fn the_blobs(&self) -> Option<Arc<dyn Blobs>> {
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

/// Why a store cannot be opened.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A newer program has been here.
    #[error(
        "the database {place} has schema {found}, and this program knows schemas up to {known}: start the program \
         that wrote it, or a newer one; nothing was changed"
    )]
    Newer {
        /// The file, or the database and its server.
        place: String,
        /// The schema of the database.
        found: i64,
        /// The last schema this program knows.
        known: i64,
    },
    /// The database cannot be reached, read or written.
    #[error("the database {place} cannot be used: {why}")]
    Unusable {
        /// The file, or the database and its server, without a password.
        place: String,
        /// What the database says, and what to do.
        why: String,
    },
    /// Other programs have the store open, and it was asked for alone.
    #[error("the database {place} is in use: stop all servers and other commands on it, and try again")]
    InUse {
        /// The file, or the database and its server.
        place: String,
    },
    /// A program has the store for itself.
    #[error("the database {place} is being rebuilt by another program: try again when that has ended")]
    Taken {
        /// The file, or the database and its server.
        place: String,
    },
    /// The address of the database is not understood.
    #[error("the address of the database is not understood: {0}")]
    Address(String),
    /// The name of a kind of record cannot be the name of a table.
    #[error("`{0}` cannot name a table: lower-case letters, digits and `_`, 1 to 30 of them")]
    Kind(String),
}
