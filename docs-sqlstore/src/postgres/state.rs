//! State shared by the store, its transactions and its objects.

use std::sync::Arc;

use deadpool_postgres::Pool;
use docs_ports::Clock;
use docs_store::{Hash, Key, StoreError, StoreResult};
use tokio::sync::{Semaphore, watch};

use super::{error, presence::Presence, session::PostgresSession, txn_purpose::TxnPurpose};
use crate::{layout::Layout, options::Options};

pub(super) struct PostgresState {
    pub(super) pool: Pool,
    pub(super) layout: Layout,
    pub(super) options: Options,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) place: String,
    pub(super) schema: String,
    pub(super) era: i32,
    /// Changes when this process publishes a feed item.
    pub(super) news: watch::Sender<u64>,
    /// Permit to fold counters.
    pub(super) folding: Arc<Semaphore>,
    pub(super) presence: Presence,
}

impl PostgresState {
    /// Returns a connection whose transaction has not begun.
    pub(super) async fn session(&self, work: TxnPurpose) -> StoreResult<PostgresSession> {
        let wait = self.options.busy_timeout();
        let connected = async {
            self.presence.ensure_held(&self.pool, &self.place).await?;
            Ok(self.pool.get().await)
        };
        match tokio::time::timeout(wait, connected).await {
            Ok(Err(refused)) => Err(refused),
            Ok(Ok(Ok(client))) => Ok(PostgresSession::new(client, work)),
            Ok(Ok(Err(error))) => {
                let why = error::connection_message(&error);
                Err(StoreError::Unavailable(format!(
                    "failed to connect to the database {}: {why}",
                    self.place
                )))
            }
            Err(_) => Err(StoreError::Unavailable(format!(
                "no connection to the database {} within {} ms, {} of {} are in use; try again, or open the \
                 store with more connections",
                self.place,
                wait.as_millis(),
                self.pool.status().size.saturating_sub(self.pool.status().available),
                self.pool.status().max_size
            ))),
        }
    }

    /// Returns the advisory lock id of a hot key. Locks are per database, keys per schema.
    pub(super) fn lock_id(&self, key: &Key) -> i64 {
        let hash = Hash::compute(format!("{}/{key}", self.schema).as_bytes());
        let mut id = [0; 8];
        id.copy_from_slice(&hash.as_bytes()[..8]);
        i64::from_le_bytes(id)
    }
}
