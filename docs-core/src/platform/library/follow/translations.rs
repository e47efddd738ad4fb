//! Translations triggered by a new head of their source.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    model::{JobId, SpaceId, Timestamp, TranslationId},
    platform::jobs::{Payload, Urgency},
    store::{
        Entity as _, Hash, Tx,
        jobs::{self, Audience, NewJob},
        records::{JobRecord, JobState, RevisionRecord, SpaceRecord, TranslationRecord},
    },
};

/// Maximum number of translations per space.
pub(in crate::platform) const MAX_TRANSLATIONS: u32 = 50;

/// Number of translations deleted per purge transaction.
const PURGE_BATCH: u32 = 10;

/// Returns the job lane of a translation. Its runs are sequential.
fn lane(id: &TranslationId) -> String {
    format!("translate:{id}")
}

/// Ensures that a run starts after this transaction. An already queued run suffices. Returns the translation.
///
/// A run delayed after a failure starts at once if a user requests it.
pub(in crate::platform) async fn request_run(
    tx: &mut Tx,
    record: &Arc<TranslationRecord>,
    (id, now): (JobId, Timestamp),
    urgency: Urgency,
) -> Result<TranslationRecord> {
    let known: Option<Arc<JobRecord>> = match &record.job {
        Some(job) => tx.get(&JobRecord::key_for(job)).await?,
        None => None,
    };
    if !known.is_some_and(|job| matches!(job.state, JobState::Queued | JobState::Waiting)) {
        enqueue(tx, record, id.clone(), now).await?;
        return Ok(TranslationRecord { job: Some(id), ..TranslationRecord::clone(record) });
    }
    if urgency == Urgency::Requested {
        // The run may be queued behind another delayed run; both must start.
        jobs::hasten_lane(tx, &lane(&record.id), now).await?;
    }
    Ok(TranslationRecord::clone(record))
}

pub(in crate::platform) async fn enqueue(
    tx: &mut Tx,
    record: &TranslationRecord,
    id: JobId,
    now: Timestamp,
) -> Result<()> {
    let job = TranslateSpace { translation: record.id.clone() }.to_new_job(&id, &record.target, now)?;
    let audience = Audience::Subject { by: Some(record.created_by.clone()), same: None };
    let owner = Some(record.organization.to_string());
    jobs::enqueue(tx, now, NewJob { owner, audience, lane: Some((lane(&record.id), now)), ..job }).await
}

/// Returns the id of a follow-up job. It is the same in every retry of the transaction.
fn follow_up_job_id(translation: &TranslationId, what: &str) -> Result<JobId> {
    let name = Hash::compute(format!("{translation} {what}").as_bytes()).to_string();
    name[..26].parse().map_err(Error::internal)
}

/// Enqueues the translations of a space after a content change.
///
/// # Errors
///
/// Errors of the store.
pub(in crate::platform) async fn follow_source(
    tx: &mut Tx,
    space: &SpaceRecord,
    revision: &RevisionRecord,
) -> Result<()> {
    if space.translations == 0 {
        return Ok(());
    }
    let rows = tx.scan_prefix(&TranslationRecord::by_source(&space.id), MAX_TRANSLATIONS).await?;
    let found = tx.get_many::<TranslationRecord>(&TranslationRecord::named_by_all(&rows)).await?;
    for record in found.into_iter().flatten() {
        let job = (follow_up_job_id(&record.id, revision.id.as_str())?, revision.created_at);
        let new = request_run(tx, &record, job, Urgency::FollowUp).await?;
        if new != *record {
            tx.put(&*record, new)?;
        }
    }
    Ok(())
}

/// Returns up to `limit` translations from a space and up to `limit` into it.
async fn list_for_space(tx: &Tx, space: &SpaceId, limit: u32) -> Result<Vec<Arc<TranslationRecord>>> {
    let mut rows = tx.scan_prefix(&TranslationRecord::by_source(space), limit).await?;
    rows.extend(tx.scan_prefix(&TranslationRecord::by_target(space), limit).await?);
    let found = tx.get_many::<TranslationRecord>(&TranslationRecord::named_by_all(&rows)).await?;
    Ok(found.into_iter().flatten().collect())
}

/// Resumes the translations from and into a restored space, if both spaces of the translation exist.
///
/// # Errors
///
/// Errors of the store.
pub(in crate::platform) async fn resume_restored(
    tx: &mut Tx,
    space: &SpaceId,
    restoring: &JobId,
    now: Timestamp,
) -> Result<()> {
    for record in list_for_space(tx, space, MAX_TRANSLATIONS).await? {
        let both = [SpaceRecord::key_for(&record.source), SpaceRecord::key_for(&record.target)];
        let both = tx.get_many::<SpaceRecord>(&both).await?;
        if !both.iter().all(|space| space.as_ref().is_some_and(|space| space.deleted_at.is_none())) {
            continue;
        }
        let job = (follow_up_job_id(&record.id, restoring.as_str())?, now);
        let new = request_run(tx, &record, job, Urgency::FollowUp).await?;
        if new != *record {
            tx.put(&*record, new)?;
        }
    }
    Ok(())
}

/// Deletes a batch of translations from and into a space. Returns `true` if there were any.
///
/// # Errors
///
/// Errors of the store.
pub(in crate::platform) async fn delete_batch(tx: &mut Tx, space: &SpaceId, now: Timestamp) -> Result<bool> {
    let found = list_for_space(tx, space, PURGE_BATCH).await?;
    for record in &found {
        delete(tx, record, follow_up_job_id(&record.id, "purge")?, now).await?;
    }
    Ok(!found.is_empty())
}

/// Deletes a translation. A job removes its translation memory.
pub(in crate::platform) async fn delete(
    tx: &mut Tx,
    old: &TranslationRecord,
    job: JobId,
    now: Timestamp,
) -> Result<()> {
    let source: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&old.source)).await?;
    if let Some(source) = source {
        let translations = source.translations.saturating_sub(1);
        tx.put(&*source, SpaceRecord { translations, ..SpaceRecord::clone(&source) })?;
    }
    let purge = PurgeTranslation { translation: old.id.clone() };
    jobs::enqueue(tx, now, purge.to_new_job(&job, &old.id, now)?).await?;
    tx.delete(old);
    Ok(())
}

/// Job that removes the translation memory of a deleted translation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeTranslation {
    pub(in crate::platform) translation: TranslationId,
}

impl Payload for PurgeTranslation {
    const KIND: &'static str = "translation_purge";
}

/// The payload of the translation job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct TranslateSpace {
    pub(in crate::platform) translation: TranslationId,
}

impl Payload for TranslateSpace {
    const KIND: &'static str = "space_translate";
}
