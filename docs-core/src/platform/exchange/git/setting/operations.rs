//! The write operations of the setting.

use async_trait::async_trait;

use super::no_setting;
use crate::{
    Error, Result,
    model::{EditMode, JobId, SetGitSync, SpaceId, Timestamp, UserId},
    platform::{
        access,
        jobs::Urgency,
        kernel::actor::Actor,
        library::follow::git::{Wake, enqueue},
    },
    policy::SpaceAction,
    store::{
        Operation, Tx,
        records::{GitSyncState, SealedUrl, SpaceRecord},
    },
};

/// A change of the setting.
pub(super) enum Change {
    /// Replace the setting.
    Set {
        setting: Box<SetGitSync>,
        /// The URL with credentials, if it has any.
        sealed_url: Option<String>,
    },
    /// Replace the webhook secret.
    Secret,
}

/// Creates or changes the setting of a space.
pub(super) struct ChangeGitSync {
    pub(super) actor: Actor,
    pub(super) by: UserId,
    pub(super) space: SpaceId,
    pub(super) change: Change,
    /// The secret for a setting without one, or the replacement.
    pub(super) sealed_secret: String,
    /// The unique id of the new setting.
    pub(super) generation: String,
    /// The id of a new job.
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for ChangeGitSync {
    type Out = ();
    const NAME: &'static str = "git_sync_change";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let proof = access::space(tx, &self.actor, &self.space).await?.require(SpaceAction::Manage)?;
        let old = proof.space();
        let before = old.git_sync.as_deref();
        let (setting, sealed_url) = match (&self.change, before) {
            (Change::Secret, None) => return Err(no_setting()),
            (Change::Secret, Some(before)) => {
                let git_sync = GitSyncState {
                    sealed_secret: self.sealed_secret.clone(),
                    secret_created_at: self.now,
                    ..before.clone()
                };
                tx.put(
                    &**old,
                    SpaceRecord { git_sync: Some(Box::new(git_sync)), ..SpaceRecord::clone(old) },
                )?;
                return Ok(());
            }
            (Change::Set { setting, sealed_url }, _) => (setting, sealed_url),
        };
        if setting.direction.imports() && old.edit_mode == EditMode::Live {
            return Err(Error::conflict(
                "direction: an import needs locked live content; set `editMode` to `locked` first",
            ));
        }
        let credentials = match sealed_url {
            Some(url) => Some(SealedUrl { url: url.clone(), by: self.by.clone() }),
            None => self.kept_credentials(before, setting)?,
        };
        // The secret of one repository must not authenticate pushes to another.
        let kept = before.filter(|before| before.setting.url == setting.url);
        let mut git_sync = GitSyncState {
            setting: SetGitSync::clone(setting),
            generation: self.generation.clone(),
            credentials,
            sealed_secret: kept.map_or(&self.sealed_secret, |before| &before.sealed_secret).clone(),
            secret_created_at: kept.map_or(self.now, |before| before.secret_created_at),
            by: self.by.clone(),
            updated_at: self.now,
            last_import: None,
            last_export: None,
            conflict: None,
        };
        // The state of one source does not apply to another.
        if let Some(before) = before.filter(|before| before.source() == git_sync.source()) {
            git_sync.last_import.clone_from(&before.last_import);
            git_sync.last_export.clone_from(&before.last_export);
            // An unresolved conflict belongs to the direction it was found in.
            if before.setting.direction == setting.direction {
                git_sync.conflict.clone_from(&before.conflict);
            }
        }
        let new = SpaceRecord { git_sync: Some(Box::new(git_sync)), ..SpaceRecord::clone(old) };
        let space = tx.put(&**old, new)?;
        let by = Some(self.by.clone());
        let wake = Wake { job: self.job.clone(), by, now: self.now, urgency: Urgency::Asked };
        enqueue(tx, &space, wake).await.map(drop)
    }
}

impl ChangeGitSync {
    /// The stored credentials, for a setting with the same URL and without credentials. The user who provided them may
    /// change everything; others must not extend their use to another direction, ref or folder.
    fn kept_credentials(
        &self,
        before: Option<&GitSyncState>,
        setting: &SetGitSync,
    ) -> Result<Option<SealedUrl>> {
        let Some(before) = before.filter(|before| before.setting.url == setting.url) else { return Ok(None) };
        let Some(credentials) = &before.credentials else { return Ok(None) };
        let (old, new) = (before.setting.direction, setting.direction);
        let is_wider = new.imports() && !old.imports() || new.exports() && !old.exports();
        let is_elsewhere = before.setting.reference != setting.reference
            || before.setting.repo_project_directory != setting.repo_project_directory;
        if credentials.by != self.by && (is_wider || is_elsewhere) {
            return Err(Error::invalid(
                "url",
                "must contain your own credentials, because another user set the stored ones",
            ));
        }
        Ok(Some(credentials.clone()))
    }
}

pub(super) struct RemoveGitSync {
    pub(super) actor: Actor,
    pub(super) space: SpaceId,
}

#[async_trait]
impl Operation for RemoveGitSync {
    type Out = ();
    const NAME: &'static str = "git_sync_remove";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let proof = access::space(tx, &self.actor, &self.space).await?.require(SpaceAction::Manage)?;
        let old = proof.space();
        if old.git_sync.is_none() {
            return Err(no_setting());
        }
        tx.put(&**old, SpaceRecord { git_sync: None, ..SpaceRecord::clone(old) })?;
        Ok(())
    }
}

/// Starts a synchronization of a space.
pub(super) struct RunGitSync {
    pub(super) actor: Actor,
    pub(super) space: SpaceId,
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for RunGitSync {
    type Out = JobId;
    const NAME: &'static str = "git_sync_run";

    async fn apply(&self, tx: &mut Tx) -> Result<JobId> {
        let proof = access::space(tx, &self.actor, &self.space).await?.require(SpaceAction::Manage)?;
        if proof.space().git_sync.is_none() {
            return Err(no_setting());
        }
        let by = self.actor.user().cloned();
        let wake = Wake { job: self.job.clone(), by, now: self.now, urgency: Urgency::Asked };
        enqueue(tx, proof.space(), wake).await
    }
}
