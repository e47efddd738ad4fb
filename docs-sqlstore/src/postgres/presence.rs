//! The advisory lock through which processes on the same schema detect each other.

use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Object, Pool};
use docs_store::{StoreError, StoreResult};
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use super::error::{connection_message, describe};
use crate::{OpenError, Options, SharingMode};

/// SQL expression for the lock id. Advisory locks are per database, so the id includes the schema name.
const LOCK_ID: &str = "hashtextextended('docs-sqlstore in use: ' || coalesce(current_schema(), ''), 0)";

/// Interval between attempts to acquire the lock. PostgreSQL releases it once it detects that its
/// holder has ended.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// A connection that holds the lock. PostgreSQL releases the lock when the connection ends, even after a crash. A lost
/// connection is replaced before the next transaction.
pub(super) struct Presence {
    sharing: SharingMode,
    holder: Mutex<Option<ClientWrapper>>,
    /// Held by the task that replaces a lost connection, so that other tasks wait for it.
    replacing: tokio::sync::Mutex<()>,
}

impl Presence {
    /// Acquires the lock. Retries until the busy timeout, because PostgreSQL detects the end of a process with a delay.
    pub(super) async fn take(pool: &Pool, place: &str, options: &Options) -> Result<Self, OpenError> {
        let sharing = options.sharing_mode();
        let presence = Self { sharing, holder: Mutex::default(), replacing: tokio::sync::Mutex::default() };
        let unusable = |why: String| OpenError::Unusable { place: place.to_owned(), why };
        let until = Instant::now() + options.busy_timeout();
        loop {
            if presence.lock(pool).await.map_err(unusable)? {
                return Ok(presence);
            }
            if Instant::now() >= until {
                return Err(sharing.in_use_error(place.to_owned()));
            }
            sleep(LOCK_RETRY_INTERVAL).await;
        }
    }

    /// Reacquires the lock if its connection was lost.
    ///
    /// # Errors
    /// `Unavailable` while the lock cannot be taken.
    pub(super) async fn ensure_held(&self, pool: &Pool, place: &str) -> StoreResult<()> {
        if self.is_held() {
            return Ok(());
        }
        let _turn = self.replacing.lock().await;
        if self.is_held() {
            return Ok(());
        }
        let unavailable = |why: String| Err(StoreError::Unavailable(why));
        match self.lock(pool).await {
            Ok(true) => Ok(()),
            Ok(false) => unavailable(self.sharing.in_use_error(place.to_owned()).to_string()),
            Err(why) => unavailable(format!("failed to connect to the database {place}: {why}")),
        }
    }

    fn is_held(&self) -> bool {
        self.holder.lock().as_ref().is_some_and(|holder| !holder.is_closed())
    }

    /// Tries to acquire the lock. Returns `false` if others hold it.
    async fn lock(&self, pool: &Pool) -> Result<bool, String> {
        let client = pool.get().await.map_err(|error| connection_message(&error))?;
        let function = match self.sharing {
            SharingMode::Shared => "pg_try_advisory_lock_shared",
            SharingMode::Exclusive => "pg_try_advisory_lock",
        };
        let sql = format!("SELECT {function}({LOCK_ID})");
        let row = client.query_one(&sql, &[]).await.map_err(|error| describe(&error))?;
        let is_taken: bool = row.get(0);
        if is_taken {
            // Removed from the pool, because pooled connections release their advisory locks after use.
            *self.holder.lock() = Some(Object::take(client));
        }
        Ok(is_taken)
    }
}
