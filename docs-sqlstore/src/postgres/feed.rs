//! The change feed.
//!
//! Items are ordered by the transaction that wrote them. Only settled items are returned: those of transactions older
//! than any running one. Items are therefore never inserted before a position that was already returned.

use std::{str::FromStr, sync::Arc, time::Duration};

use docs_store::{FeedItem, FeedPos, Key, StoreError, StoreResult};
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Row;

use super::{session::Request, state::PostgresState, txn_purpose::TxnPurpose};

/// Initial and maximum polling interval for items from other processes.
const POLL_INTERVALS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// Initial and maximum polling interval for an item that exists but has not settled. Transactions are short.
const SETTLE_POLL_INTERVALS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// Maximum wait for an existing item to settle.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of items trimmed per statement.
const TRIM_BATCH: i64 = 5_000;

/// A position: era, transaction, and sequence number within the transaction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pos {
    era: i32,
    xid: u64,
    seq: i32,
}

impl Pos {
    const START: Self = Self { era: -1, xid: 0, seq: 0 };

    fn parse(topic: u16, pos: Option<&FeedPos>) -> StoreResult<Self> {
        let Some(FeedPos(text)) = pos else { return Ok(Self::START) };
        let parse = || -> Option<Self> {
            let mut parts = text.split('.').skip(1);
            let pos = Self {
                era: number(parts.next()?)?,
                xid: number(parts.next()?)?,
                seq: number(parts.next()?)?,
            };
            // Compare the whole text, so that only the canonical form of a position is accepted.
            (pos.text(topic) == **text).then_some(pos)
        };
        parse().ok_or(StoreError::Misuse("the position is not from this topic of this store"))
    }

    fn text(self, topic: u16) -> String {
        format!("{topic}.{}.{}.{}", self.era, self.xid, self.seq)
    }
}

fn number<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// Builds the statement that inserts the feed items of a commit.
pub(super) fn insert_items(era: i32, items: &[FeedItem]) -> Option<Request> {
    if items.is_empty() {
        return None;
    }
    let (topics, keys): (Vec<i32>, Vec<String>) =
        items.iter().map(|item| (i32::from(item.topic), item.key.to_string())).unzip();
    let sql = "\
        INSERT INTO feed (topic, era, seq, k) SELECT topic, $1, seq, k \
        FROM unnest($2::integer[], $3::text[]) WITH ORDINALITY AS u (topic, k, seq)";
    Some(Request::new(sql, vec![Box::new(era), Box::new(topics), Box::new(keys)]))
}

/// A page of items after a position.
struct FeedPage {
    items: Vec<(FeedPos, Key)>,
    /// Position of the last returned item.
    settled: Pos,
    /// Position of the last row examined.
    last: Pos,
    unsettled: bool,
}

async fn read_page(shared: &PostgresState, topic: u16, after: Pos, max: u32) -> StoreResult<FeedPage> {
    let sql = "\
        SELECT era, xid::text, seq, k, era < $2 OR xid < pg_snapshot_xmin(pg_current_snapshot()) \
        FROM feed WHERE topic = $1 AND (era, xid, seq) > ($3, $4::text::xid8, $5) \
        ORDER BY feed.era, feed.xid, feed.seq LIMIT $6";
    let request = Request::new(
        sql,
        vec![
            Box::new(i32::from(topic)),
            Box::new(shared.era),
            Box::new(after.era),
            Box::new(after.xid.to_string()),
            Box::new(after.seq),
            Box::new(i64::from(max)),
        ],
    );
    let rows = shared.session(TxnPurpose::Read).await?.read_outside_txn(request).await?;
    let mut found =
        FeedPage { items: Vec::with_capacity(rows.len()), settled: after, last: after, unsettled: false };
    for row in rows {
        let (pos, key, settled) =
            item(&row).ok_or_else(|| StoreError::Corrupt("a row of the feed is malformed".into()))?;
        found.last = pos;
        found.unsettled |= !settled;
        if !found.unsettled {
            found.settled = pos;
            found.items.push((FeedPos(pos.text(topic).into()), key));
        }
    }
    Ok(found)
}

/// Decodes a row into the position, the key, and `true` if the item has settled.
fn item(row: &Row) -> Option<(Pos, Key, bool)> {
    let xid = number(row.try_get(1).ok()?)?;
    let pos = Pos { era: row.try_get(0).ok()?, xid, seq: row.try_get(2).ok()? };
    let key: &str = row.try_get(3).ok()?;
    Some((pos, key.into(), row.try_get(4).ok()?))
}

/// Returns the items after a position.
///
/// An item of an acknowledged commit has not settled while a transaction that started to write earlier is running.
/// Transactions of the store are short, so this waits until all items seen by the first query have settled. A
/// transaction of another program may take long; in that case, only the items before it are returned.
pub(super) async fn changes(
    shared: &PostgresState,
    topic: u16,
    after: Option<&FeedPos>,
    max: u32,
) -> StoreResult<Vec<(FeedPos, Key)>> {
    let after = Pos::parse(topic, after)?;
    let end = Instant::now() + SETTLE_TIMEOUT;
    let mut pause = SETTLE_POLL_INTERVALS.0;
    let mut wanted = None;
    loop {
        let found = read_page(shared, topic, after, max).await?;
        if found.settled >= *wanted.get_or_insert(found.last) {
            return Ok(found.items);
        }
        if Instant::now() >= end {
            tracing::warn!(topic, "feed waits for long-running transaction, see pg_stat_activity");
            return Ok(found.items);
        }
        sleep(pause).await;
        pause = (pause * 2).min(SETTLE_POLL_INTERVALS.1);
    }
}

/// Waits for a settled item after a position. Commits of this process are noticed immediately, those of other processes
/// by polling.
pub(super) async fn changed(
    shared: &Arc<PostgresState>,
    topic: u16,
    after: Option<&FeedPos>,
    wait: Duration,
) -> StoreResult<bool> {
    let after = Pos::parse(topic, after)?;
    let mut news = shared.news.subscribe();
    let end = Instant::now().checked_add(wait);
    let (mut settle, mut poll) = (SETTLE_POLL_INTERVALS.0, POLL_INTERVALS.0);
    loop {
        // Items published from here on end the wait below.
        news.borrow_and_update();
        let found = read_page(shared, topic, after, 1).await?;
        if !found.items.is_empty() {
            return Ok(true);
        }
        let (pause, longest) = if found.unsettled {
            (&mut settle, SETTLE_POLL_INTERVALS.1)
        } else {
            (&mut poll, POLL_INTERVALS.1)
        };
        let left = end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return Ok(false);
        }
        // After a notification or a timeout, the loop checks again. `shared` owns the sender.
        let _ = timeout(left.min(*pause), news.changed()).await;
        *pause = (*pause * 2).min(longest);
    }
}

/// Deletes items up to a position, in batches so that no statement takes long.
pub(super) async fn trim(shared: &PostgresState, topic: u16, upto: &FeedPos) -> StoreResult<()> {
    let upto = Pos::parse(topic, Some(upto))?;
    let note = "UPDATE feed_era SET upto = $2::text::xid8 WHERE era = $1 AND upto < $2::text::xid8";
    let trim = "\
        WITH gone AS (DELETE FROM feed WHERE ctid = ANY(ARRAY( \
            SELECT ctid FROM feed WHERE topic = $1 AND (era, xid, seq) <= ($2, $3::text::xid8, $4) \
            ORDER BY era, xid, seq LIMIT $5 \
        )) RETURNING 1) SELECT count(*) FROM gone";
    loop {
        let session = shared.session(TxnPurpose::Maintenance).await?;
        let xid = upto.xid.to_string();
        let note = Request::new(note, vec![Box::new(upto.era), Box::new(xid.clone())]);
        let trim = Request::new(
            trim,
            vec![
                Box::new(i32::from(topic)),
                Box::new(upto.era),
                Box::new(xid),
                Box::new(upto.seq),
                Box::new(TRIM_BATCH),
            ],
        );
        let answers = session
            .commit(vec![note, trim])
            .await
            .map_err(|refusal| refusal.into_store_error(TxnPurpose::Maintenance))?;
        let gone: Option<i64> = answers.last().and_then(|rows| rows.first()?.try_get(0).ok());
        if gone.is_none_or(|gone| gone < TRIM_BATCH) {
            return Ok(());
        }
    }
}
