//! Removal of expired data.

use std::collections::VecDeque;

use chrono::{DateTime, TimeDelta, Utc};
use docs_macros::{boxed, operation};

use crate::{
    Result,
    platform::kernel::{audit_log::AuditLog, idempotency::IDEMPOTENCY_WINDOW, platform::Platform},
    store::{
        FeedPos, Indexed, KeyBuf, RECEIPTS, Scan, Tx, decode,
        records::{
            AuditRecord, EmailInviteRecord, IdempotencyRecord, JobRecord, SamlAssertionRecord, TokenRecord,
            UploadRecord,
        },
        topic,
    },
};

/// Retention period of finished jobs.
pub(in crate::platform) const JOB_RETENTION: TimeDelta = TimeDelta::days(30);
/// Retention period of operation receipts.
const RECEIPT_RETENTION: TimeDelta = TimeDelta::days(1);
/// Number of head notifications that are retained.
const MAX_RETAINED_HEADS: usize = 10_000;
/// Number of rows removed per housekeeping transaction.
pub(in crate::platform) const TIDY_CHUNK: u32 = 500;
/// Number of records, with their index rows, removed per housekeeping transaction.
const RECORDS_CHUNK: u32 = 100;
/// Number of audit log entries removed per transaction. Each has an index row per organization and record it names.
const ENTRIES_CHUNK: u32 = 50;

impl Platform {
    /// Removes expired data and enqueues the daily garbage collection once it is due.
    ///
    /// Expired data are operation receipts, responses to idempotent requests, invitations, single sign-on sessions,
    /// finished jobs, uploads to storage, audit log entries, and job notifications.
    #[boxed('a)]
    pub async fn tidy<'a>(&'a self) -> Result<()> {
        let now = self.clock().now();
        self.drain(&drop_receipts(now - RECEIPT_RETENTION)).await?;
        self.drain(&drop_answers(now - IDEMPOTENCY_WINDOW)).await?;
        self.drain(&drop_jobs(now - JOB_RETENTION)).await?;
        self.drain(&drop_invites(now)).await?;
        self.drain(&drop_saml(now)).await?;
        self.drain(&drop_uploads(now)).await?;
        if let AuditLog::Retained(kept) = self.audit() {
            self.drain(&drop_entries(now - kept)).await?;
        }
        self.tidy_copy_notes().await?;
        self.schedule_collection().await?;
        // These notifications only wake idle workers, which also poll.
        self.trim(topic::JOBS, 0).await?;
        // A subscriber that falls further behind rereads the store.
        self.trim(topic::HEAD, MAX_RETAINED_HEADS).await
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

// These operations return `true` if more may remain.

#[operation("receipts_drop")]
async fn drop_receipts(tx: &mut Tx, before: DateTime<Utc>) -> Result<bool> {
    let rows = tx.scan(&until(&KeyBuf::new(RECEIPTS), before, TIDY_CHUNK)).await?;
    let is_full = rows.len() == TIDY_CHUNK as usize;
    for (row, _) in rows {
        tx.delete_value(row);
    }
    Ok(is_full)
}

#[operation("idempotency_drop")]
async fn drop_answers(tx: &mut Tx, before: DateTime<Utc>) -> Result<bool> {
    drop_until::<IdempotencyRecord>(tx, &IdempotencyRecord::by_time(), before).await
}

#[operation("jobs_drop")]
async fn drop_jobs(tx: &mut Tx, before: DateTime<Utc>) -> Result<bool> {
    drop_until::<JobRecord>(tx, &JobRecord::by_end_time(), before).await
}

#[operation("invites_drop")]
async fn drop_invites(tx: &mut Tx, now: DateTime<Utc>) -> Result<bool> {
    drop_until::<EmailInviteRecord>(tx, &EmailInviteRecord::by_expiry(), now).await
}

/// Removes expired sessions and expired consumed assertions.
#[operation("saml_drop")]
async fn drop_saml(tx: &mut Tx, now: DateTime<Utc>) -> Result<bool> {
    let sessions = drop_until::<TokenRecord>(tx, &TokenRecord::sessions_by_expiry(), now).await?;
    let assertions = drop_until::<SamlAssertionRecord>(tx, &SamlAssertionRecord::by_expiry(), now).await?;
    Ok(sessions | assertions)
}

/// Removes the records of expired uploads. Their content is garbage-collected.
#[operation("uploads_drop")]
async fn drop_uploads(tx: &mut Tx, now: DateTime<Utc>) -> Result<bool> {
    drop_until::<UploadRecord>(tx, &UploadRecord::by_expiry(), now).await
}

#[operation("audit_drop")]
async fn drop_entries(tx: &mut Tx, before: DateTime<Utc>) -> Result<bool> {
    let rows = tx.scan(&until(&AuditRecord::by_time(), before, ENTRIES_CHUNK)).await?;
    let is_full = rows.len() == ENTRIES_CHUNK as usize;
    for (_, value) in rows {
        tx.delete(&*decode::<AuditRecord>(value)?);
    }
    Ok(is_full)
}

/// Removes a batch of records whose row in a time index is before `end`.
async fn drop_until<R: Indexed>(tx: &mut Tx, by_time: &KeyBuf, end: DateTime<Utc>) -> Result<bool> {
    let rows = tx.scan(&until(by_time, end, RECORDS_CHUNK)).await?;
    tx.delete_all::<R>(&R::named_by_all(&rows)).await?;
    Ok(rows.len() == RECORDS_CHUNK as usize)
}

/// Returns a scan of the rows before `end` in a time index.
fn until(by_time: &KeyBuf, end: DateTime<Utc>, limit: u32) -> Scan {
    Scan { to: by_time.clone().time(end).key(), ..by_time.scan(limit) }
}
