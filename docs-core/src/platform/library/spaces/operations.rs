//! The write operations of spaces.

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::trash;
use crate::{
    Error, Result,
    model::{EditMode, JobId, Patch, RevisionId, SpaceId, Timestamp, UpdateSpace, UserId},
    platform::{
        access,
        jobs::Payload,
        kernel::actor::Actor,
        library::{
            follow::{self, git},
            head::{RESTORE_WINDOW, create_in},
            tree::{check_number, room_in},
            views::shown_emoji,
        },
    },
    policy::SpaceAction,
    store::{KeyBuf, Operation, Tx, jobs, records::SpaceRecord, topic},
};

pub(super) struct SpaceCreation {
    pub(super) actor: Actor,
    pub(super) by: UserId,
    pub(super) record: SpaceRecord,
    /// The parent collection, as given in the request.
    pub(super) parent: Option<String>,
}

#[async_trait]
impl Operation for SpaceCreation {
    type Out = RevisionId;
    const NAME: &'static str = "space_create";

    async fn apply(&self, tx: &mut Tx) -> Result<RevisionId> {
        let mut record = self.record.clone();
        let org = &record.organization;
        let parent = room_in(tx, &self.actor, org, self.parent.as_deref()).await?;
        if record.domain != access::org(tx, &self.actor, org).await?.org().domain {
            return Err(Error::conflict("the organization has changed; try again"));
        }
        record.parent = parent.map(|parent| parent.id.clone());
        Ok(create_in(tx, record, &self.by).head.clone())
    }
}

pub(super) struct SpaceUpdate {
    pub(super) actor: Actor,
    pub(super) id: SpaceId,
    pub(super) change: UpdateSpace,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for SpaceUpdate {
    type Out = ();
    const NAME: &'static str = "space_update";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::space(tx, &self.actor, &self.id).await?;
        let proof = access.require(SpaceAction::Manage)?;
        let old = proof.space();
        let change = self.change.clone();
        let imports = old.git_sync.as_ref().is_some_and(|sync| sync.setting.direction.imports());
        if imports && change.edit_mode == Some(EditMode::Live) {
            return Err(Error::conflict(
                "editMode: must be `locked` while the space follows a Git repository; use a change request",
            ));
        }
        let mut new = SpaceRecord::clone(old);
        new.edit_mode = change.edit_mode.unwrap_or(new.edit_mode);
        new.title = change.title.unwrap_or(new.title);
        new.default_level = old.default_level.patched(&change.default_level);
        // Clients send the displayed emoji back when they change other fields. Next to an icon, it is not the space's
        // own.
        let emoji = match change.emoji {
            Patch::Set(emoji) if emoji == shown_emoji(old) => Patch::Keep,
            emoji => emoji,
        };
        // An emoji replaces an icon and vice versa.
        if matches!(emoji, Patch::Set(_)) {
            new.icon = None;
        }
        if matches!(change.icon, Patch::Set(_)) {
            new.emoji = None;
        }
        new.emoji = emoji.apply(new.emoji);
        new.icon = change.icon.apply(new.icon);
        let new_level = new.default_level != old.default_level;
        if new != **old {
            new.updated_at = self.now.later_than(old.updated_at);
            tx.put(&**old, new)?;
        }
        if new_level {
            let after = access::space(tx, &self.actor, &self.id).await;
            access::check_level(access.standing(), after.map(|after| after.standing()))?;
        }
        Ok(())
    }
}

pub(super) struct SpaceDeletion {
    pub(super) actor: Actor,
    pub(super) id: SpaceId,
    pub(super) now: Timestamp,
    pub(super) job: JobId,
    /// The job for records beyond the batch.
    pub(super) mark: JobId,
}

#[async_trait]
impl Operation for SpaceDeletion {
    type Out = ();
    const NAME: &'static str = "space_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::space(tx, &self.actor, &self.id).await?;
        let proof = access.require(SpaceAction::Manage)?;
        let old = proof.space();
        let deleted_at = self.now;
        let updated_at = self.now.later_than(old.updated_at);
        let new = SpaceRecord { deleted_at: Some(deleted_at), updated_at, ..SpaceRecord::clone(old) };
        tx.put(&**old, new)?;
        // The job runs after the end of the window, not exactly at it.
        let due = Timestamp::new(deleted_at.time() + RESTORE_WINDOW + TimeDelta::milliseconds(1));
        let purge = PurgeSpace { space: self.id.clone(), deleted_at }.about(&self.job, &self.id, due)?;
        jobs::enqueue(tx, self.now, purge).await?;
        trash::mark(tx, &self.id, &self.mark, self.now).await?;
        tx.feed(topic::HEAD, KeyBuf::new("head").part(self.id.as_str()).key());
        Ok(())
    }
}

pub(super) struct RestoreSpace {
    pub(super) actor: Actor,
    pub(super) id: SpaceId,
    pub(super) now: Timestamp,
    /// The job for records beyond the batch.
    pub(super) mark: JobId,
    /// The job that synchronizes changes missed by the repository or the space.
    pub(super) sync: JobId,
}

#[async_trait]
impl Operation for RestoreSpace {
    type Out = ();
    const NAME: &'static str = "space_restore";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::any_space(tx, &self.actor, &self.id).await?;
        let proof = access.require(SpaceAction::Manage)?;
        let old = proof.space();
        let Some(deleted_at) = old.deleted_at else {
            return Err(Error::conflict("the space is not deleted"));
        };
        if old.purging || self.now.time() - deleted_at.time() > RESTORE_WINDOW {
            return Err(Error::not_found("space"));
        }
        // If its collection was deleted since, the space was moved to the parent of that collection.
        if let Some(parent) = &old.parent {
            check_number(tx, parent, 1).await?;
        }
        let new = SpaceRecord {
            deleted_at: None,
            updated_at: self.now.later_than(old.updated_at),
            ..SpaceRecord::clone(old)
        };
        let space = tx.put(&**old, new)?;
        git::restored(tx, &space, self.sync.clone(), self.now).await?;
        follow::translations::follow_restored(tx, &self.id, &self.mark, self.now).await?;
        trash::mark(tx, &self.id, &self.mark, self.now).await?;
        tx.feed(topic::HEAD, KeyBuf::new("head").part(self.id.as_str()).key());
        Ok(())
    }
}

/// The payload of the purge job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeSpace {
    pub(in crate::platform) space: SpaceId,
    pub(in crate::platform) deleted_at: Timestamp,
}

impl Payload for PurgeSpace {
    const KIND: &'static str = "space_purge";
}
