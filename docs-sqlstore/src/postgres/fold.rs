//! Folding of counters. The value of a counter is the sum of its rows, which are merged into one if there are many.

use std::sync::Arc;

use docs_ports::{Ids as _, RandomIds};
use docs_store::{Key, Op, StoreResult};

use super::{
    session::{Request, TxnFailure},
    state::PostgresState,
    txn_purpose::TxnPurpose,
};

/// On average, one in this many additions triggers a check of its counter, so that frequently used counters are checked
/// often.
const SAMPLE_INTERVAL: u64 = 16;
/// Number of rows above which a counter is folded.
const FOLD_THRESHOLD: i64 = 32;

/// In the background, checks a random sample of the counters that a commit has added to.
pub(super) fn spawn_sample_fold(shared: &Arc<PostgresState>, ops: &[Op]) {
    let adds = ops.iter().filter_map(|op| if let Op::Add(key, _) = op { Some(key) } else { None });
    let drawn: Vec<Key> =
        adds.filter(|_| RandomIds.next().as_u64_pair().1.is_multiple_of(SAMPLE_INTERVAL)).cloned().collect();
    if drawn.is_empty() {
        return;
    }
    // One check at a time is enough. A skipped counter will be sampled again.
    let Ok(turn) = Arc::clone(&shared.folding).try_acquire_owned() else { return };
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        if let Err(error) = fold(&shared, &drawn).await {
            tracing::debug!(%error, "failed to fold counters");
        }
        drop(turn);
    });
}

/// Folds those of the counters that have many rows. Their values do not change.
///
/// The transaction is not serializable, so it does not conflict with transactions that read the counter or add to it.
/// It skips rows that another transaction is deleting. Transactions that read the counter earlier still conflict with
/// later changes, because both additions and deletions insert a row into the range that they read.
pub(super) async fn fold(shared: &PostgresState, counters: &[Key]) -> StoreResult<()> {
    let keys: Vec<String> = counters.iter().map(|key| key.to_string()).collect();
    let sql = "\
        WITH parts AS MATERIALIZED ( \
            SELECT ctid AS at FROM ctr \
            WHERE k = ANY(ARRAY( \
                SELECT k FROM ctr WHERE k = ANY($1::text[]) GROUP BY k HAVING count(*) > $2 \
            )) \
            FOR UPDATE SKIP LOCKED \
        ), gone AS ( \
            DELETE FROM ctr WHERE ctid = ANY(ARRAY(SELECT at FROM parts)) RETURNING k, n \
        ) \
        INSERT INTO ctr (k, n) SELECT k, sum(n)::bigint FROM gone GROUP BY k";
    let session = shared.session(TxnPurpose::Maintenance).await?;
    let request = Request::new(sql, vec![Box::new(keys), Box::new(FOLD_THRESHOLD)]);
    session
        .commit(vec![request])
        .await
        .map(drop)
        .map_err(|refusal: TxnFailure| refusal.into_store_error(TxnPurpose::Maintenance))
}
