//! The change feed: a table, and notifications within this process.

use std::{collections::BTreeMap, sync::Arc};

use docs_store::{FeedPos, Key, StoreError};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::watch;

use super::{error::ConnectionResult, rows::FeedEnds};

/// Number of items trimmed per transaction, so that writers can run in between.
const TRIM_BATCH: u32 = 5_000;

/// The last number of each topic that this process has published to or waits for.
#[derive(Default, Debug)]
pub(super) struct Topics(Mutex<BTreeMap<u16, watch::Sender<i64>>>);

impl Topics {
    /// Notifies waiters for the topics of a commit.
    pub(super) fn notify(&self, fed: &FeedEnds) {
        let topics = self.0.lock();
        for (topic, seq) in fed {
            if let Some(last) = topics.get(topic) {
                // Commits may send notifications in a different order than they were committed.
                last.send_if_modified(|last| {
                    let grows = *last < *seq;
                    *last = (*last).max(*seq);
                    grows
                });
            }
        }
    }

    pub(super) fn watch(&self, topic: u16) -> watch::Receiver<i64> {
        self.0.lock().entry(topic).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }
}

/// Decodes the number of a position. Rejects positions that the store never returned.
pub(super) fn number(conn: &Connection, topic: u16, pos: Option<&FeedPos>) -> ConnectionResult<i64> {
    let Some(FeedPos(text)) = pos else { return Ok(0) };
    let last = "SELECT seq FROM sqlite_sequence WHERE name = 'feed'";
    let last: i64 = conn.prepare_cached(last)?.query_row([], |row| row.get(0)).optional()?.unwrap_or(0);
    let number = text
        .split_once('.')
        .and_then(|(_, n)| n.parse().ok())
        .filter(|n| (1..=last).contains(n) && *position(topic, *n).0 == **text);
    Ok(number.ok_or(StoreError::Misuse("the position is not from this topic of this store"))?)
}

/// Returns up to `max` items with a greater number.
pub(super) fn items_after(
    conn: &Connection,
    topic: u16,
    after: i64,
    max: u32,
) -> ConnectionResult<Vec<(FeedPos, Key)>> {
    let sql = "SELECT seq, k FROM feed WHERE topic = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut select = conn.prepare_cached(sql)?;
    let item = |row: &rusqlite::Row<'_>| {
        Ok((
            position(topic, row.get(0)?),
            Key::from(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?),
        ))
    };
    Ok(select.query_map(params![topic, after, max], item)?.collect::<Result<_, _>>()?)
}

/// Returns `true` if there is an item with a greater number.
pub(super) fn has_items_after(conn: &Connection, topic: u16, after: i64) -> ConnectionResult<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM feed WHERE topic = ?1 AND seq > ?2)";
    Ok(conn.prepare_cached(sql)?.query_row(params![topic, after], |row| row.get(0))?)
}

/// Deletes a batch of the items up to a number. Returns `true` if there may be more.
pub(super) fn trim(conn: &Connection, topic: u16, upto: i64) -> ConnectionResult<bool> {
    let sql = "DELETE FROM feed WHERE seq IN \
               (SELECT seq FROM feed WHERE topic = ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3)";
    let removed = conn.prepare_cached(sql)?.execute(params![topic, upto, TRIM_BATCH])?;
    Ok(u32::try_from(removed).is_ok_and(|removed| removed == TRIM_BATCH))
}

fn position(topic: u16, n: i64) -> FeedPos {
    FeedPos(Arc::from(format!("{topic}.{n}")))
}
