//! How a store is opened, and why it cannot be.

use std::{fmt, sync::Arc};

use docs_core::{
    ports::{Clock, SystemClock},
    store::Blobs,
};

use crate::layout::{Layout, is_kind};

/// Objects of at most this many bytes lie in the database, larger ones in [`Blobs`] where there are any.
pub const INLINE: usize = 128 * 1024;

/// What both stores can be told when they are opened.
#[derive(Clone)]
pub struct Options {
    clock: Arc<dyn Clock>,
    blobs: Option<Arc<dyn Blobs>>,
    kinds: Vec<String>,
}

impl Options {
    /// The clock of the machine, no place for large objects outside the database, the platform's kinds of record.
    #[must_use]
    pub fn new() -> Self {
        Self { clock: Arc::new(SystemClock), blobs: None, kinds: Vec::new() }
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

    pub(crate) fn layout(&self) -> Result<Layout, OpenError> {
        match self.kinds.iter().find(|kind| !is_kind(kind)) {
            Some(wrong) => Err(OpenError::Kind(wrong.clone())),
            None => Ok(Layout::new(&self.kinds)),
        }
    }

    pub(crate) fn the_clock(&self) -> Arc<dyn Clock> {
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
    /// The address of the database is not understood.
    #[error("the address of the database is not understood: {0}")]
    Address(String),
    /// The name of a kind of record cannot be the name of a table.
    #[error("`{0}` cannot name a table: lower-case letters, digits and `_`, 1 to 30 of them")]
    Kind(String),
}
