//! The write operations of translations, and the jobs they enqueue.

use std::sync::Arc;

use async_trait::async_trait;

use super::find;
use crate::{
    Error, ErrorKind, Result,
    model::{
        JobId, OrgId, RevisionId, SpaceId, SpaceTitle, Timestamp, TranslationId, TranslationLanguage,
        TranslationStats, UserId,
    },
    platform::{
        access,
        jobs::{Purge, Urgency},
        kernel::{actor::Actor, platform::Platform},
        library::{
            follow::translations::{MAX_TRANSLATIONS, PurgeTranslation, delete, enqueue, want_run},
            head::create_in,
            tree::{Gap, check_number, make_room, require_parent},
        },
    },
    policy::{OrgAction, SpaceAccess, SpaceAction},
    store::{
        Key, Operation, Tx,
        records::{GrantRecord, Parent, SpaceRecord, TranslationMemoryRecord, TranslationRecord},
    },
};

/// Maximum number of characters of the title of a space.
const MAX_TITLE: usize = 50;

/// Parts of a translation memory that one transaction removes. Each may be large.
const PARTS_AT_ONCE: u32 = 100;

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
        enqueue(tx, &record, self.job.clone(), self.now).await?;
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
        delete(tx, &old, self.job.clone(), self.now).await
    }
}

#[async_trait]
impl Purge for PurgeTranslation {
    const LOGGED: bool = false;

    async fn purge_some(&self, tx: &mut Tx) -> Result<bool> {
        let of = TranslationMemoryRecord::of_translation(&self.translation);
        let rows = tx.below(&of, PARTS_AT_ONCE).await?;
        let keys: Vec<Key> = rows.into_iter().map(|(key, _)| key).collect();
        tx.delete_all::<TranslationMemoryRecord>(&keys).await?;
        Ok(!keys.is_empty())
    }
}
