//! Folding of counters. A counter is the sum of its rows, which are merged into one when there are many.

use std::sync::Arc;

use docs_ports::{Ids as _, RandomIds};
use docs_store::{Key, Op, StoreResult};

use super::{
    session::{Request, TxnFailure},
    state::PostgresState,
    txn_purpose::TxnPurpose,
};

/// One in this many additions, chosen at random, has its counter checked. Frequently used counters are checked often.
const SAMPLE_INTERVAL: u64 = 16;
/// Number of rows above which a counter is folded.
const FOLD_THRESHOLD: i64 = 32;

/// Checks a random sample of the counters that a commit has added to, in the background.
pub(super) fn spawn_sample_fold(shared: &Arc<PostgresState>, ops: &[Op]) {
    let adds = ops.iter().filter_map(|op| if let Op::Add(key, _) = op { Some(key) } else { None });
    let drawn: Vec<Key> =
        adds.filter(|_| RandomIds.next().as_u64_pair().1.is_multiple_of(SAMPLE_INTERVAL)).cloned().collect();
    if drawn.is_empty() {
        return;
    }
    // One check at a time suffices; a skipped counter is sampled again.
    let Ok(turn) = Arc::clone(&shared.folding).try_acquire_owned() else { return };
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        if let Err(error) = fold(&shared, &drawn).await {
            tracing::debug!(%error, "failed to fold counters");
        }
        drop(turn);
    });
}

/// Folds the given counters that have many rows. Their values do not change.
///
/// The transaction is not serializable, so it does not conflict with transactions that add to or read the counter. It
/// skips rows that another transaction is deleting. A transaction that read the rows before still conflicts on the
/// counter: additions and deletions both insert a row, into the range that it has read.
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
