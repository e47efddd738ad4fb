//! Counters are the sum of what was added: rows that are folded into one when there are many.

use std::sync::Arc;

use docs_ports::{Ids as _, RandomIds};
use docs_store::{Key, Op, StoreResult};

use super::{
    Shared,
    session::{Refusal, Request, Work},
};

/// Of so many additions, one is drawn by lot to have its counter looked at: who adds often is drawn often.
const DRAWN: u64 = 16;
/// A counter of more rows than this is folded.
const MANY: i64 = 32;

/// Has some of the counters looked at that a commit has added to, in the background.
pub(super) fn after(shared: &Arc<Shared>, ops: &[Op]) {
    let adds = ops.iter().filter_map(|op| if let Op::Add(key, _) = op { Some(key) } else { None });
    let drawn: Vec<Key> =
        adds.filter(|_| RandomIds.next().as_u64_pair().1.is_multiple_of(DRAWN)).cloned().collect();
    if drawn.is_empty() {
        return;
    }
    // One at a time is enough; a counter that is passed over is drawn again.
    let Ok(turn) = Arc::clone(&shared.folding).try_acquire_owned() else { return };
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        if let Err(error) = fold(&shared, &drawn).await {
            tracing::debug!(%error, "counters are not folded now");
        }
        drop(turn);
    });
}

/// Folds those of the counters that have many rows. What a reader sees of them does not change.
///
/// This is no serializable transaction, so that it makes none fail that adds to or has read the counter. It takes only
/// rows that nobody else is deleting. Who has read the rows before still depends on the counter: additions and
/// deletions both insert a row, and that meets whoever has read the place where it goes.
pub(super) async fn fold(shared: &Shared, counters: &[Key]) -> StoreResult<()> {
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
    let session = shared.session(Work::Upkeep).await?;
    let request = Request::new(sql, vec![Box::new(keys), Box::new(MANY)]);
    session.commit(vec![request]).await.map(drop).map_err(|refusal: Refusal| refusal.again(Work::Upkeep))
}
