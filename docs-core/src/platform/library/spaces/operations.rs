//! Write operations on spaces.

use chrono::TimeDelta;
use docs_macros::operation;
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
            head::{RESTORE_WINDOW, create_space},
            tree::{check_capacity, resolve_parent},
            views::space_emoji,
        },
        people::members::require_rule_members,
    },
    policy::SpaceAction,
    store::{KeyBuf, Tx, jobs, records::SpaceRecord, topic},
};

#[operation("space_create")]
pub(super) async fn space_creation(
    tx: &mut Tx,
    actor: &Actor,
    by: &UserId,
    record: &SpaceRecord,
    parent: Option<&str>,
) -> Result<RevisionId> {
    let mut record = record.clone();
    let org = &record.organization;
    let parent = resolve_parent(tx, actor, org, parent).await?;
    if record.domain != access::org(tx, actor, org).await?.org().domain {
        return Err(Error::conflict("the organization has changed; try again"));
    }
    record.parent = parent.map(|parent| parent.id.clone());
    Ok(create_space(tx, record, by).head.clone())
}

#[operation("space_update")]
pub(super) async fn space_update(
    tx: &mut Tx,
    actor: &Actor,
    id: &SpaceId,
    change: &UpdateSpace,
    now: Timestamp,
) -> Result<()> {
    let access = access::space(tx, actor, id).await?;
    let proof = access.require(SpaceAction::Manage)?;
    let old = proof.space();
    let change = change.clone();
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
    // Clients echo the displayed emoji when they change other fields. If the space has an icon, that emoji is not its
    // own.
    let emoji = match change.emoji {
        Patch::Set(emoji) if emoji == space_emoji(old) => Patch::Keep,
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
    new.language = change.language.or(new.language);
    new.merge_rules = change.merge_rules.unwrap_or(new.merge_rules);
    require_rule_members(tx, &old.organization, old.merge_rules.rules(), new.merge_rules.rules()).await?;
    let new_level = new.default_level != old.default_level;
    if new != **old {
        new.updated_at = now.later_than(old.updated_at);
        tx.put(&**old, new)?;
    }
    if new_level {
        let after = access::space(tx, actor, id).await;
        access::check_level(access.effective_role(), after.map(|after| after.effective_role()))?;
    }
    Ok(())
}

#[operation("space_delete")]
pub(super) async fn space_deletion(
    tx: &mut Tx,
    actor: &Actor,
    id: &SpaceId,
    now: Timestamp,
    job: &JobId,
    mark: &JobId,
) -> Result<()> {
    let access = access::space(tx, actor, id).await?;
    let proof = access.require(SpaceAction::Manage)?;
    let old = proof.space();
    let deleted_at = now;
    let updated_at = now.later_than(old.updated_at);
    let new = SpaceRecord { deleted_at: Some(deleted_at), updated_at, ..SpaceRecord::clone(old) };
    tx.put(&**old, new)?;
    // The job runs just after the end of the window.
    let due = Timestamp::new(deleted_at.time() + RESTORE_WINDOW + TimeDelta::milliseconds(1));
    let purge = PurgeSpace { space: id.clone(), deleted_at }.to_new_job(job, id, due)?;
    jobs::enqueue(tx, now, purge).await?;
    trash::mark(tx, id, mark, now).await?;
    tx.feed(topic::HEAD, KeyBuf::new("head").part(id.as_str()).key());
    Ok(())
}

#[operation("space_restore")]
pub(super) async fn restore_space(
    tx: &mut Tx,
    actor: &Actor,
    id: &SpaceId,
    now: Timestamp,
    mark: &JobId,
    sync: &JobId,
) -> Result<()> {
    let access = access::any_space(tx, actor, id).await?;
    let proof = access.require(SpaceAction::Manage)?;
    let old = proof.space();
    let Some(deleted_at) = old.deleted_at else {
        return Err(Error::conflict("the space is not deleted"));
    };
    if old.purging || now.time() - deleted_at.time() > RESTORE_WINDOW {
        return Err(Error::not_found("space"));
    }
    // If its collection was deleted in the meantime, the space was moved to that collection's parent.
    if let Some(parent) = &old.parent {
        check_capacity(tx, parent, 1).await?;
    }
    let new = SpaceRecord {
        deleted_at: None,
        updated_at: now.later_than(old.updated_at),
        ..SpaceRecord::clone(old)
    };
    let space = tx.put(&**old, new)?;
    git::resume_restored(tx, &space, sync.clone(), now).await?;
    follow::translations::resume_restored(tx, id, mark, now).await?;
    trash::mark(tx, id, mark, now).await?;
    tx.feed(topic::HEAD, KeyBuf::new("head").part(id.as_str()).key());
    Ok(())
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
