//! Removing what is kept for a time only.

use std::{collections::VecDeque, sync::Arc};

use async_trait::async_trait;
use chrono::TimeDelta;

use super::super::{Platform, invites};
use crate::{
    BoxFuture, Result,
    store::Entity as _,
    store::{FeedPos, Key, KeyBuf, Operation, Tx, records::JobRecord, topic},
};

/// How long jobs are kept after their end.
pub(in crate::platform) const JOBS_KEPT: TimeDelta = TimeDelta::days(30);
/// How long receipts of operations are kept.
const RECEIPTS_KEPT: TimeDelta = TimeDelta::days(1);
/// News of moved heads that are kept.
const HEADS_KEPT: usize = 10_000;
/// Rows that one transaction of tidying removes.
pub(super) const TIDY_CHUNK: u32 = 500;

impl Platform {
    /// Removes what is kept for a time only: receipts of operations, answers to requests that may be sent again,
    /// invitations that have ended, sessions of single sign-on that ended, jobs that ended, entries of the audit log,
    /// news of jobs that all workers have seen. Enqueues a collection of objects when the last was a day ago.
    ///
    /// # Errors
    /// The store's.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// platform.tidy().await?;
    /// println!("tidy");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tidy<'a>(&'a self) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let before = self.clock().now() - RECEIPTS_KEPT;
            while self.upkeep(&DropReceipts { before }).await? {}
            self.tidy_answers().await?;
            let before = self.clock().now() - JOBS_KEPT;
            while self.upkeep(&DropJobs { before }).await? {}
            while self.upkeep(&invites::DropInvites { now: self.now() }).await? {}
            self.tidy_saml().await?;
            self.tidy_audit_log().await?;
            self.tidy_copy_notes().await?;
            self.schedule_collection().await?;
            // News only wake idle workers, who look for themselves every now and then.
            self.trim(topic::JOBS, 0).await?;
            // Whoever follows the heads and falls further behind than this starts anew from the store.
            self.trim(topic::HEAD, HEADS_KEPT).await
        })
    }

    /// Forgets the news of a topic but for the latest.
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

/// Removes jobs that ended long ago; `Out` tells whether there may be more.
struct DropJobs {
    before: chrono::DateTime<chrono::Utc>,
}

#[async_trait]
impl Operation for DropJobs {
    type Out = bool;
    const NAME: &'static str = "jobs_drop";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let (from, _) = JobRecord::ended().below();
        let to = JobRecord::ended().time(self.before).key();
        let rows = tx.scan(&crate::store::Scan { from, to, rev: false, limit: TIDY_CHUNK / 5 }).await?;
        tx.delete_all::<JobRecord>(&JobRecord::named_by_all(&rows)).await?;
        Ok(rows.len() == (TIDY_CHUNK / 5) as usize)
    }
}

/// Removes old receipts; `Out` tells whether there may be more.
struct DropReceipts {
    before: chrono::DateTime<chrono::Utc>,
}

#[async_trait]
impl Operation for DropReceipts {
    type Out = bool;
    const NAME: &'static str = "receipts_drop";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let (from, _) = KeyBuf::new(crate::store::RECEIPTS).below();
        let to: Key = KeyBuf::new(crate::store::RECEIPTS).time(self.before).key();
        let rows = tx.scan(&crate::store::Scan { from, to, rev: false, limit: TIDY_CHUNK }).await?;
        for (row, _) in &rows {
            tx.delete_value(Arc::clone(row));
        }
        Ok(rows.len() == TIDY_CHUNK as usize)
    }
}
