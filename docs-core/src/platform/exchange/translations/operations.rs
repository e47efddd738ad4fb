//! The write operations of translations, and the jobs they enqueue.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{TranslateSpace, find};
use crate::{
    Error, ErrorKind, Result,
    model::{
        JobId, OrgId, RevisionId, SpaceId, SpaceTitle, Timestamp, TranslationId, TranslationLanguage,
        TranslationStats, UserId,
    },
    platform::{
        Actor, Platform, access,
        jobs::{Effect, Job, Run, Urgency},
        library::{
            spaces::create_in,
            tree::{Gap, check_number, make_room, require_parent},
        },
    },
    policy::{OrgAction, SpaceAccess, SpaceAction},
    store::{
        Entity as _, Hash, Key, Operation, Tx,
        jobs::{self, Audience, NewJob},
        records::{
            GrantRecord, JobRecord, JobState, Parent, RevisionRecord, SpaceRecord, TranslationMemoryRecord,
            TranslationRecord,
        },
    },
};

/// Maximum number of translations of a space.
pub(in crate::platform) const MAX_TRANSLATIONS: u32 = 50;
/// Maximum number of characters of the title of a space.
const MAX_TITLE: usize = 50;
/// Translations that one transaction of the purge of a space deletes.
const DROPPED_AT_ONCE: u32 = 10;
/// Parts of a translation memory that one transaction removes. Each may be large.
const PARTS_AT_ONCE: u32 = 100;

/// The job lane of a translation. Its runs are sequential.
fn lane(id: &TranslationId) -> String {
    format!("translate:{id}")
}

/// Ensures that a run starts after this transaction. A run that is queued already suffices. Returns the translation.
///
/// A run that was delayed after a failure starts at once if a user requests it.
pub(super) async fn want_run(
    tx: &mut Tx,
    record: &Arc<TranslationRecord>,
    (id, now): (JobId, Timestamp),
    urgency: Urgency,
) -> Result<TranslationRecord> {
    let known: Option<Arc<JobRecord>> = match &record.job {
        Some(job) => tx.get(&JobRecord::at(job)).await?,
        None => None,
    };
    if !known.is_some_and(|job| matches!(job.state, JobState::Queued | JobState::Waiting)) {
        enqueue(tx, record, (id.clone(), now)).await?;
        return Ok(TranslationRecord { job: Some(id), ..TranslationRecord::clone(record) });
    }
    if urgency == Urgency::Asked {
        // The run may be queued after another delayed run; both have to start.
        jobs::hasten_lane(tx, &lane(&record.id), now).await?;
    }
    Ok(TranslationRecord::clone(record))
}

async fn enqueue(tx: &mut Tx, record: &TranslationRecord, (id, now): (JobId, Timestamp)) -> Result<()> {
    let job = TranslateSpace { translation: record.id.clone() }.about(&id, &record.target, now)?;
    let audience = Audience::Subject { by: Some(record.created_by.clone()), same: None };
    jobs::enqueue(tx, now, NewJob { audience, lane: Some((lane(&record.id), now)), ..job }).await
}

/// Returns the id of a follow-up job. It is the same in every retry of the transaction.
fn job_after(translation: &TranslationId, what: &str) -> Result<JobId> {
    let name = Hash::of(format!("{translation} {what}").as_bytes()).to_string();
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
    let rows = tx.below(&TranslationRecord::of_source(&space.id), MAX_TRANSLATIONS).await?;
    let found = tx.get_many::<TranslationRecord>(&TranslationRecord::named_by_all(&rows)).await?;
    for record in found.into_iter().flatten() {
        let job = (job_after(&record.id, revision.id.as_str())?, revision.created_at);
        let new = want_run(tx, &record, job, Urgency::Follows).await?;
        if new != *record {
            tx.put(&*record, new)?;
        }
    }
    Ok(())
}

/// Returns up to `limit` translations each from and into a space.
async fn of_space(tx: &Tx, space: &SpaceId, limit: u32) -> Result<Vec<Arc<TranslationRecord>>> {
    let mut rows = tx.below(&TranslationRecord::of_source(space), limit).await?;
    rows.extend(tx.below(&TranslationRecord::of_target(space), limit).await?);
    let found = tx.get_many::<TranslationRecord>(&TranslationRecord::named_by_all(&rows)).await?;
    Ok(found.into_iter().flatten().collect())
}

/// Resumes the translations from and into a restored space if both of their spaces exist.
///
/// # Errors
///
/// Errors of the store.
pub(in crate::platform) async fn follow_restored(
    tx: &mut Tx,
    space: &SpaceId,
    (restoring, now): (&JobId, Timestamp),
) -> Result<()> {
    for record in of_space(tx, space, MAX_TRANSLATIONS).await? {
        let both = [SpaceRecord::at(&record.source), SpaceRecord::at(&record.target)];
        let both = tx.get_many::<SpaceRecord>(&both).await?;
        if !both.iter().all(|space| space.as_ref().is_some_and(|space| space.deleted_at.is_none())) {
            continue;
        }
        let job = (job_after(&record.id, restoring.as_str())?, now);
        let new = want_run(tx, &record, job, Urgency::Follows).await?;
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
pub(in crate::platform) async fn drop_some(tx: &mut Tx, space: &SpaceId, now: Timestamp) -> Result<bool> {
    let found = of_space(tx, space, DROPPED_AT_ONCE).await?;
    for record in &found {
        delete(tx, record, (job_after(&record.id, "purge")?, now)).await?;
    }
    Ok(!found.is_empty())
}

/// Deletes a translation. A job removes its memory.
async fn delete(tx: &mut Tx, old: &TranslationRecord, (job, now): (JobId, Timestamp)) -> Result<()> {
    let source: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(&old.source)).await?;
    if let Some(source) = source {
        let translations = source.translations.saturating_sub(1);
        tx.put(&*source, SpaceRecord { translations, ..SpaceRecord::clone(&source) })?;
    }
    let purge = PurgeTranslation { translation: old.id.clone() };
    jobs::enqueue(tx, now, purge.about(&job, &old.id, now)?).await?;
    tx.delete(old);
    Ok(())
}

/// Creates a translation and its target space.
pub(super) struct TranslationCreation {
    pub(super) actor: Actor,
    pub(super) by: UserId,
    pub(super) org: OrgId,
    pub(super) source: SpaceId,
    pub(super) source_language: TranslationLanguage,
    pub(super) language: TranslationLanguage,
    pub(super) instructions: String,
    pub(super) id: TranslationId,
    pub(super) target: SpaceId,
    /// The first revision of the target.
    pub(super) head: RevisionId,
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

impl TranslationCreation {
    /// Stores the empty content in the storage area of the source.
    pub(super) async fn prepare(&self, platform: &Platform) -> Result<()> {
        let tx = platform.read().await?;
        let source = self.source(&tx).await?;
        platform.content().empty_root(&source.space().domain).await?;
        Ok(())
    }

    /// Returns the source if the actor may translate it.
    async fn source(&self, tx: &Tx) -> Result<SpaceAccess> {
        access::org(tx, &self.actor, &self.org).await?.require(OrgAction::CreateContent)?;
        let no_space = || Error::invalid("source.space", "the organization has no such space");
        let access =
            access::space(tx, &self.actor, &self.source).await.map_err(|error| match error.kind() {
                ErrorKind::NotFound => no_space(),
                _ => error,
            })?;
        if access.space().organization != self.org {
            return Err(no_space());
        }
        access.require(SpaceAction::Manage)?;
        Ok(access)
    }

    /// Creates the target space directly after its source.
    async fn target(&self, tx: &mut Tx, source: &SpaceRecord) -> Result<SpaceRecord> {
        require_parent(tx, &self.actor, &source.organization, source.parent.as_ref()).await?;
        if let Some(parent) = &source.parent {
            check_number(tx, parent, 1).await?;
        }
        let parent = Parent::of(&source.organization, source.parent.as_ref());
        let gap = Gap::after(parent, &source.rank(), source.id.as_str());
        let suffix = format!(" ({})", self.language.english_name());
        let room = MAX_TITLE.saturating_sub(suffix.chars().count());
        let title: String = source.title.chars().take(room).collect();
        Ok(SpaceRecord {
            id: self.target.clone(),
            title: SpaceTitle::cut(&format!("{}{suffix}", title.trim_end()))
                .unwrap_or_else(|| source.title.clone()),
            created_by: self.by.clone(),
            created_at: self.now,
            updated_at: self.now,
            rank: make_room(tx, &gap, 1, self.now).await?.pop(),
            head: self.head.clone(),
            root: crate::content::Content::nothing(),
            git: None,
            git_sync: None,
            language: Some(self.language),
            translations: 0,
            ..SpaceRecord::clone(source)
        })
    }

    /// Grants the actor the role they have on the source, unless they have it on the target anyway.
    async fn keep_role(&self, tx: &mut Tx, source: &SpaceAccess) -> Result<()> {
        let content = crate::model::ContentTarget::Space(self.target.clone());
        if access::role_on(tx, &self.actor, &content).await? >= Some(source.role()) {
            return Ok(());
        }
        tx.create(GrantRecord {
            organization: self.org.clone(),
            content,
            grantee: crate::model::Grantee::User(self.by.clone()),
            role: source.role(),
            granted_at: self.now,
            space_deleted: false,
        });
        Ok(())
    }
}

#[async_trait]
impl Operation for TranslationCreation {
    type Out = ();
    const NAME: &'static str = "translation_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let seen = self.source(tx).await?;
        let source = seen.space();
        if source.translations >= MAX_TRANSLATIONS {
            return Err(Error::conflict(format!(
                "a space must have at most {MAX_TRANSLATIONS} translations; delete one first"
            )));
        }
        let target = self.target(tx, source).await?;
        create_in(tx, target, &self.by);
        // If there was no gap after it, the source has a new rank.
        let source: Arc<SpaceRecord> = tx.get(&SpaceRecord::at(&source.id)).await?.ok_or_else(|| {
            Error::internal(format!("space {} disappeared within a transaction", self.source))
        })?;
        let new = SpaceRecord {
            translations: source.translations + 1,
            language: source.language.or(Some(self.source_language)),
            ..SpaceRecord::clone(&source)
        };
        tx.put(&*source, new)?;
        let record = TranslationRecord {
            id: self.id.clone(),
            organization: self.org.clone(),
            source: self.source.clone(),
            source_language: self.source_language,
            target: self.target.clone(),
            language: self.language,
            instructions: self.instructions.clone(),
            created_by: self.by.clone(),
            created_at: self.now,
            updated_at: self.now,
            asked: 0,
            job: Some(self.job.clone()),
            done: None,
            stats: TranslationStats::default(),
            spent_words: 0,
        };
        enqueue(tx, &record, (self.job.clone(), self.now)).await?;
        tx.create(record);
        self.keep_role(tx, &seen).await
    }
}

/// Changes the instructions of the translator.
pub(super) struct TranslationUpdate {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: TranslationId,
    pub(super) instructions: String,
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for TranslationUpdate {
    type Out = ();
    const NAME: &'static str = "translation_update";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (old, access) = find(tx, &self.actor, (&self.org, &self.id)).await?;
        access.require_edit()?;
        if old.instructions == self.instructions {
            return Ok(());
        }
        let new = want_run(tx, &old, (self.job.clone(), self.now), Urgency::Asked).await?;
        let updated_at = self.now.later_than(old.updated_at);
        tx.put(&*old, TranslationRecord { instructions: self.instructions.clone(), updated_at, ..new })?;
        Ok(())
    }
}

/// Runs a translation over the whole source.
pub(super) struct TranslationRun {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: TranslationId,
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for TranslationRun {
    type Out = ();
    const NAME: &'static str = "translation_run";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (old, access) = find(tx, &self.actor, (&self.org, &self.id)).await?;
        access.require_edit()?;
        let new = want_run(tx, &old, (self.job.clone(), self.now), Urgency::Asked).await?;
        tx.put(&*old, TranslationRecord { asked: old.asked + 1, ..new })?;
        Ok(())
    }
}

/// Deletes a translation. Its target space stays.
pub(super) struct TranslationDeletion {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: TranslationId,
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for TranslationDeletion {
    type Out = ();
    const NAME: &'static str = "translation_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (old, access) = find(tx, &self.actor, (&self.org, &self.id)).await?;
        access.require_edit()?;
        delete(tx, &old, (self.job.clone(), self.now)).await
    }
}

/// Removes the memory of a deleted translation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeTranslation {
    translation: TranslationId,
}

#[async_trait]
impl Job for PurgeTranslation {
    const KIND: &'static str = "translation_purge";

    async fn run(self, platform: &Platform, _: &mut Run) -> Result<Effect> {
        while platform.upkeep(&DropMemory(self.translation.clone())).await? {}
        Ok(Effect::Done)
    }
}

/// Removes a batch of a translation memory. `Out` is `true` if there was any.
struct DropMemory(TranslationId);

#[async_trait]
impl Operation for DropMemory {
    type Out = bool;
    const NAME: &'static str = "translation_purge";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let rows = tx.below(&TranslationMemoryRecord::of_translation(&self.0), PARTS_AT_ONCE).await?;
        let keys: Vec<Key> = rows.into_iter().map(|(key, _)| key).collect();
        tx.delete_all::<TranslationMemoryRecord>(&keys).await?;
        Ok(!keys.is_empty())
    }
}
