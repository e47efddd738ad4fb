//! Location of a server's store.

use std::{fmt, path::PathBuf, str::FromStr, sync::Arc};

use docs_core::store::{Blobs, Objects, Store};
use docs_memstore::{MemObjects, MemStore};

use crate::ServerError;

/// The location of the store: `memory`, `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE`.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum StoreUrl {
    /// In memory; lost when the server exits.
    #[default]
    Memory,
    /// In an SQLite file.
    Sqlite(PathBuf),
    /// In a PostgreSQL database, given by its URL, which may contain a password.
    Postgres(String),
}

/// Omits the URL, which may contain a password.
impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "Memory",
            Self::Sqlite(_) => "Sqlite",
            Self::Postgres(_) => "Postgres",
        })
    }
}

impl FromStr for StoreUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Self::Postgres(text.to_owned()))
            }
            // The message must not repeat the text, which may contain a password.
            _ => {
                Err("must be `memory`, `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`".to_owned())
            }
        }
    }
}

pub(crate) type StoreParts = (Arc<dyn Store>, Arc<dyn Objects>);

impl StoreUrl {
    /// Opens the store and its objects. Large objects are stored in `blobs` if given; the memory store ignores it.
    ///
    /// # Errors
    /// Returns a [`ServerError`] if the database cannot be used.
    pub async fn open(&self, blobs: Option<Arc<dyn Blobs>>) -> Result<StoreParts, ServerError> {
        self.open_for(StoreAccess::Any, blobs).await
    }

    /// Opens the store like [`open`](Self::open), with a restriction on concurrent processes.
    pub(crate) async fn open_for(
        &self,
        users: StoreAccess,
        blobs: Option<Arc<dyn Blobs>>,
    ) -> Result<StoreParts, ServerError> {
        match self {
            Self::Memory => {
                drop(blobs);
                Ok((Arc::new(MemStore::new()), Arc::new(MemObjects::new())))
            }
            Self::Sqlite(path) => sqlite(path, users, blobs).await,
            Self::Postgres(url) => postgres(url, users, blobs).await,
        }
    }
}

/// The processes that may open the store concurrently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreAccess {
    /// Any number of servers and commands.
    Any,
    /// Only this process.
    One,
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn options(users: StoreAccess, blobs: Option<Arc<dyn Blobs>>) -> docs_sqlstore::Options {
    let options = docs_sqlstore::Options::new().sharing(match users {
        StoreAccess::Any => docs_sqlstore::SharingMode::Shared,
        StoreAccess::One => docs_sqlstore::SharingMode::Exclusive,
    });
    match blobs {
        Some(blobs) => options.blobs(blobs),
        None => options,
    }
}

#[cfg(feature = "sqlite")]
async fn sqlite(
    path: &std::path::Path,
    users: StoreAccess,
    blobs: Option<Arc<dyn Blobs>>,
) -> Result<StoreParts, ServerError> {
    let store = docs_sqlstore::SqliteStore::open(path, options(users, blobs)).await;
    let store = store.map_err(|error| ServerError::for_flag("--store", error))?;
    let objects = store.objects();
    Ok((Arc::new(store), Arc::new(objects)))
}

#[cfg(not(feature = "sqlite"))]
async fn sqlite(
    _: &std::path::Path,
    _: StoreAccess,
    _: Option<Arc<dyn Blobs>>,
) -> Result<StoreParts, ServerError> {
    Err(ServerError::Feature { flag: "--store sqlite:PATH", feature: "sqlite" })
}

#[cfg(feature = "postgres")]
async fn postgres(
    url: &str,
    users: StoreAccess,
    blobs: Option<Arc<dyn Blobs>>,
) -> Result<StoreParts, ServerError> {
    let store = docs_sqlstore::PostgresStore::open(url, options(users, blobs)).await;
    let store = store.map_err(|error| ServerError::for_flag("--store", error))?;
    let objects = store.objects();
    Ok((Arc::new(store), Arc::new(objects)))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str, _: StoreAccess, _: Option<Arc<dyn Blobs>>) -> Result<StoreParts, ServerError> {
    Err(ServerError::Feature { flag: "--store postgres://…", feature: "postgres" })
}
