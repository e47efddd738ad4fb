//! Removal of expired data.

use std::{collections::VecDeque, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use docs_macros::{boxed, operation};

use crate::{
    Result,
    platform::{
        kernel::{platform::Platform, request::IDEMPOTENCY_WINDOW},
        people::joining,
    },
    store::{
        Entity as _, FeedPos, Key, KeyBuf, Scan, Tx,
        records::{IdempotencyRecord, JobRecord},
        topic,
    },
};

/// Retention of finished jobs.
pub(in crate::platform) const JOBS_KEPT: TimeDelta = TimeDelta::days(30);
/// Retention of receipts of operations.
const RECEIPTS_KEPT: TimeDelta = TimeDelta::days(1);
/// Number of notifications of moved heads that are retained.
const HEADS_KEPT: usize = 10_000;
/// Number of rows that one housekeeping transaction removes.
pub(in crate::platform) const TIDY_CHUNK: u32 = 500;

impl Platform {
    /// Removes expired data and enqueues the daily garbage collection once it is due.
    ///
    /// Removed are receipts of operations, responses to idempotent requests, expired invitations and single sign-on
    /// sessions, finished jobs, entries of the audit log, and notifications of jobs.
    #[boxed('a)]
    pub async fn tidy<'a>(&'a self) -> Result<()> {
        let before = self.clock().now() - RECEIPTS_KEPT;
        while self.upkeep(&drop_receipts(before)).await? {}
        self.tidy_answers().await?;
        let before = self.clock().now() - JOBS_KEPT;
        while self.upkeep(&drop_jobs(before)).await? {}
        while self.upkeep(&joining::drop_invites(self.now())).await? {}
        self.tidy_saml().await?;
        self.tidy_audit_log().await?;
        self.tidy_copy_notes().await?;
        self.schedule_collection().await?;
        // These notifications only wake idle workers, which also poll.
        self.trim(topic::JOBS, 0).await?;
        // A follower that falls further behind restarts from the store.
        self.trim(topic::HEAD, HEADS_KEPT).await
    }

    /// Removes all but the latest `kept` notifications of a topic.
    async fn trim(&self, topic: u16, kept: usize) -> Result<()> {
        let mut latest: VecDeque<FeedPos> = VecDeque::new();
        let (mut at, mut trimmed) = (None, None);
        loop {
            let news = self.store().changes(topic, at.clone(), TIDY_CHUNK).await?;
            let Some((last, _)) = news.last() else { break };
            at = Some(last.clone());
            latest.extend(news.into_iter().map(|(position, _)| position));
            while latest.len() > kept {
                trimmed = latest.pop_front();
            }
        }
        match trimmed {
            Some(upto) => Ok(self.store().trim(topic, &upto).await?),
            None => Ok(()),
        }
    }
}

/// Removes jobs past their retention; `Out` is `true` if there may be more.
#[operation("jobs_drop")]
async fn drop_jobs(tx: &mut Tx, before: chrono::DateTime<chrono::Utc>) -> Result<bool> {
    let (from, _) = JobRecord::ended().below();
    let to = JobRecord::ended().time(before).key();
    let rows = tx.scan(&crate::store::Scan { from, to, rev: false, limit: TIDY_CHUNK / 5 }).await?;
    tx.delete_all::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
    Ok(rows.len() == (TIDY_CHUNK / 5) as usize)
}

/// Removes receipts past their retention; `Out` is `true` if there may be more.
#[operation("receipts_drop")]
async fn drop_receipts(tx: &mut Tx, before: chrono::DateTime<chrono::Utc>) -> Result<bool> {
    let (from, _) = KeyBuf::new(crate::store::RECEIPTS).below();
    let to: Key = KeyBuf::new(crate::store::RECEIPTS).time(before).key();
    let rows = tx.scan(&crate::store::Scan { from, to, rev: false, limit: TIDY_CHUNK }).await?;
    for (row, _) in &rows {
        tx.delete_value(Arc::clone(row));
    }
    Ok(rows.len() == TIDY_CHUNK as usize)
}

impl Platform {
    /// Removes responses past their retention.
    pub(in crate::platform) async fn tidy_answers(&self) -> Result<()> {
        let before = self.clock().now() - IDEMPOTENCY_WINDOW;
        while self.upkeep(&drop_answers(before)).await? {}
        Ok(())
    }
}

/// Removes expired responses; `Out` is `true` if there may be more.
#[operation("idempotency_drop")]
async fn drop_answers(tx: &mut Tx, before: DateTime<Utc>) -> Result<bool> {
    let (from, _) = IdempotencyRecord::by_time().below();
    let to = IdempotencyRecord::by_time().time(before).key();
    let rows = tx.scan(&Scan { from, to, rev: false, limit: DROP_CHUNK }).await?;
    tx.delete_all::<IdempotencyRecord>(&IdempotencyRecord::named_by_all(&rows)).await?;
    Ok(rows.len() == DROP_CHUNK as usize)
}

/// Number of responses that one transaction removes.
const DROP_CHUNK: u32 = 100;
