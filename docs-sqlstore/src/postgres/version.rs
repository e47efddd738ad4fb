//! Version of the database content, derived from the visible transactions.

use docs_store::{Hash, StoreError, StoreResult, StoreVersion};

use super::{session::Request, state::PostgresState, txn_purpose::TxnPurpose};

/// Selects the visible transactions of the current snapshot, including those of other databases in the cluster. A
/// server may reuse transaction ids after a failover or restore, but then has a different start time.
const VERSION_SQL: &str = "SELECT pg_current_snapshot()::text || ' ' || pg_postmaster_start_time()::text";

pub(super) async fn current_version(shared: &PostgresState) -> StoreResult<StoreVersion> {
    let session = shared.session(TxnPurpose::Read).await?;
    let rows = session.read_outside_txn(Request::new(VERSION_SQL, Vec::new())).await?;
    let text: Option<String> = rows.first().and_then(|row| row.try_get(0).ok());
    let text =
        text.ok_or_else(|| StoreError::Corrupt("failed to read the snapshot of the database".to_owned()))?;
    let mut number = [0; 16];
    number.copy_from_slice(&Hash::compute(text.as_bytes()).as_bytes()[..16]);
    Ok(StoreVersion::new(u128::from_le_bytes(number)))
}
