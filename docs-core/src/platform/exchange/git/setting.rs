//! The Git synchronization setting of a space: automatic imports and exports.

mod commit_metadata;
mod conflict;
mod job;
mod merge;
pub(in crate::platform) mod poll;
mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};

pub(in crate::platform) use self::webhook::MAX_DELIVERY;
pub use self::webhook::{GitDelivery, GitHostEvent, GitWebhook, GitWebhookAnswer};
use super::{
    no_git,
    sync::{check_public_url, check_url, git_error, path_error, url_purpose},
};
use crate::{
    Error, Result,
    content::gitsync::RepoPath,
    model::{
        BoundedText, EditMode, GitSyncJob, GitSyncObject, GitSyncProgress, GitSyncSetting, GitSyncWebhook,
        JobId, SetGitSync, SpaceId, Timestamp, UserId, is_full_branch, is_full_ref,
    },
    platform::{
        access,
        jobs::Urgency,
        kernel::{actor::Actor, platform::Platform, request::Right, secret::Secret, write::ready_answer},
        library::follow::git::{self, NewSyncJob, enqueue},
        nouns::SpaceHandle,
    },
    policy::SpaceAction,
    ports::GitAccess,
    store::{
        Operation, Tx, jobs,
        records::{ChangeRequestRecord, GitSyncState, SealedUrl, SpaceRecord},
    },
};

impl<'p> SpaceHandle<'p> {
    /// Reads the synchronization setting of a space and its state.
    ///
    /// # Errors
    /// `NotFound`, also for a space without this setting; `Forbidden` without the `create` role.
    #[boxed]
    pub async fn git_sync(self) -> Result<GitSyncSetting> {
        let (platform, ref actor, space) = self.parts();
        platform.read_git_sync(&platform.read().await?, actor, space).await
    }

    /// Configures continuous synchronization of a space with a repository, replaces a previous setting, and starts a
    /// synchronization immediately. The first setting and a changed URL generate a new webhook secret, which is
    /// returned only once.
    ///
    /// If both sides have content and were never in sync, the merge treats all content as added on both sides. With the
    /// direction `import`, the content of the space is replaced. With `export`, it is added to the files of the
    /// repository.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the `create` role; `Invalid` for an invalid URL or ref, or for a ref that is not
    /// a branch if commits are made; `Conflict` for an import into a space whose live content can be edited;
    /// `Precondition` when this platform does not support Git.
    #[boxed]
    pub async fn set_git_sync(self, setting: SetGitSync) -> Result<GitSyncSetting> {
        let (platform, ref actor, space) = self.parts();
        let (setting, with_credentials) = platform.validate_setting(setting)?;
        let sealed_url = match with_credentials {
            Some(url) => Some(platform.seal_secret(&url_purpose(space), &url)?),
            None => None,
        };
        platform
            .change_git_sync(actor, space, SettingChange::Set { setting: Box::new(setting), sealed_url })
            .await
    }

    /// Replaces the webhook secret of a space. The new secret is returned only once. The previous one becomes invalid
    /// immediately.
    ///
    /// # Errors
    /// As [`git_sync`](Self::git_sync).
    #[boxed]
    pub async fn rotate_git_sync_secret(self) -> Result<GitSyncSetting> {
        let (platform, ref actor, space) = self.parts();
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Manage), async move {
            platform.change_git_sync(actor, space, SettingChange::Secret).await
        });
        done.await
    }

    /// Removes the synchronization setting of a space. Both sides keep their content, and a running job stores no
    /// further results. Returns `false` if there was no setting.
    ///
    /// # Errors
    /// `Forbidden` without the `create` role.
    #[boxed]
    pub async fn remove_git_sync(self) -> Result<bool> {
        let (platform, ref actor, space) = self.parts();
        let operation = remove_git_sync(actor, space);
        let done = platform
            .change(actor, &operation, |seen| Box::pin(platform.read_git_sync(seen.tx, actor, space)));
        Error::ignore_not_found(done.await)
    }

    /// Starts a synchronization and returns the id of its job immediately. A job that is already waiting is reused.
    ///
    /// # Errors
    /// As [`git_sync`](Self::git_sync).
    #[boxed]
    pub async fn run_git_sync(self) -> Result<JobId> {
        let (platform, ref actor, space) = self.parts();
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Manage), async move {
            let (job, now) = (platform.id(), platform.now());
            let operation = run_git_sync(actor, space, &job, now);
            platform.write_and_show(actor, &operation, |done| ready_answer(Ok(done.out))).await
        });
        done.await
    }
}

impl Platform {
    /// Validates a setting. Returns it without credentials, and the URL with credentials if it has any.
    fn validate_setting(&self, setting: SetGitSync) -> Result<(SetGitSync, Option<String>)> {
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        let clean = check_url(&setting.url)?;
        if !is_full_ref(&setting.reference) {
            return Err(Error::invalid("ref", "must be a full ref, like refs/heads/main"));
        }
        let exports = setting.direction.exports();
        if exports && !is_full_branch(&setting.reference) {
            return Err(Error::invalid("ref", "must be a full branch ref, like refs/heads/main"));
        }
        if setting.commit_message.as_ref().is_some_and(|message| message.trim().is_empty()) {
            return Err(Error::invalid("commitMessage", "must not be blank"));
        }
        check_public_url("repoTreeURL", setting.repo_tree_url.as_deref())?;
        check_public_url("repoCommitURL", setting.repo_commit_url.as_deref())?;
        RepoPath::new(setting.repo_project_directory.as_deref().unwrap_or_default())
            .map_err(|error| path_error(&error))?;
        if setting.direction.imports() {
            git.check(&setting.url, &setting.reference, GitAccess::Fetch).map_err(git_error)?;
        }
        if exports {
            git.check(&setting.url, &setting.reference, GitAccess::Push).map_err(git_error)?;
        }
        let with_credentials = (clean != *setting.url).then(|| setting.url.to_string());
        let url = BoundedText::new(clean).map_err(|error| Error::invalid("url", error))?;
        Ok((SetGitSync { url, ..setting }, with_credentials))
    }

    fn seal_secret(&self, purpose: &str, secret: &str) -> Result<String> {
        self.secrets().seal(purpose, secret, self.ids().next()).map_err(Error::internal)
    }

    async fn change_git_sync(
        &self,
        actor: &Actor,
        space: &SpaceId,
        change: SettingChange,
    ) -> Result<GitSyncSetting> {
        let secret = Secret::draw(self.ids(), "docs-platform secret of a webhook").as_hex();
        let operation = ChangeGitSync {
            actor: actor.clone(),
            by: actor.require_user()?.clone(),
            space: space.clone(),
            change,
            sealed_secret: self.seal_secret(&secret_purpose(space), &secret)?,
            generation: self.id::<JobId>().to_string(),
            job: self.id(),
            now: self.now(),
        };
        let made = WebhookSecret { sealed: &operation.sealed_secret, secret: &secret };
        let shown = self.change_and_show(actor, &operation, |done| {
            Box::pin(self.git_sync_with_secret(done.tx, actor, space, made))
        });
        shown.await
    }

    /// Returns the setting of a space, with the webhook secret if this change has generated it. No other response
    /// contains the secret.
    async fn git_sync_with_secret(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceId,
        made: WebhookSecret<'_>,
    ) -> Result<GitSyncSetting> {
        let mut shown = self.read_git_sync(tx, actor, space).await?;
        let record: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(space)).await?;
        let sync = record.as_ref().and_then(|space| space.git_sync.as_ref());
        let is_made = sync.is_some_and(|sync| sync.sealed_secret == made.sealed);
        shown.webhook.secret = is_made.then(|| made.secret.to_owned());
        Ok(shown)
    }

    /// Returns the setting of a space as of a transaction.
    async fn read_git_sync(&self, tx: &Tx, actor: &Actor, space: &SpaceId) -> Result<GitSyncSetting> {
        let proof = access::space(tx, actor, space).await?.require(SpaceAction::Manage)?;
        let space = proof.space();
        let sync = space.git_sync.as_ref().ok_or_else(no_setting)?;
        let people = [sync.by.clone()];
        let set_by = self.visible_users(tx, (actor, &space.organization), &people).await?.into_iter().next();
        Ok(GitSyncSetting {
            object: GitSyncObject::Is,
            setting: sync.setting.clone(),
            has_credentials: sync.credentials.is_some(),
            webhook: GitSyncWebhook {
                url: self.urls().git_webhook(&space.id),
                secret: None,
                secret_created_at: sync.secret_created_at,
            },
            state: sync_progress(tx, space, sync).await?,
            set_by,
            updated_at: sync.updated_at,
        })
    }
}

/// A newly generated secret in plain and sealed form.
#[derive(Clone, Copy)]
struct WebhookSecret<'s> {
    sealed: &'s str,
    secret: &'s str,
}

/// Returns the synchronization state of a space.
async fn sync_progress(tx: &Tx, space: &SpaceRecord, sync: &GitSyncState) -> Result<GitSyncProgress> {
    let job = jobs::for_the_same(tx, space.id.as_str(), git::SYNC_JOB_GROUP).await?;
    let job = job.map(|job| GitSyncJob {
        id: job.id.clone(),
        state: job.state.shown(),
        ended_at: job.ended_at,
        error: job.error.clone(),
    });
    let change_request = match &sync.conflict {
        Some(conflict) => {
            let request: Option<Arc<ChangeRequestRecord>> =
                tx.get(&ChangeRequestRecord::key_for(&conflict.request)).await?;
            request.filter(|request| conflict::is_open(space, conflict, request)).map(|it| it.id.clone())
        }
        None => None,
    };
    let known = space.git_state_for(&sync.source());
    Ok(GitSyncProgress {
        in_step: space.is_in_sync(),
        commit: known.and_then(|git| git.oid.clone()),
        last_import: sync.last_import.clone(),
        last_export: sync.last_export.clone(),
        job,
        change_request,
    })
}

/// Returns the sealing purpose of the webhook secret.
fn secret_purpose(space: &SpaceId) -> String {
    format!("git-webhook {space}")
}

fn no_setting() -> Error {
    Error::not_found("Git synchronization of this space")
}

enum SettingChange {
    /// Replace the setting.
    Set {
        setting: Box<SetGitSync>,
        /// The sealed URL with credentials, if the URL has any.
        sealed_url: Option<String>,
    },
    /// Replace the webhook secret.
    Secret,
}

/// Creates or changes the setting of a space.
struct ChangeGitSync {
    actor: Actor,
    by: UserId,
    space: SpaceId,
    change: SettingChange,
    /// The secret to store if the setting has none, or if the secret is replaced.
    sealed_secret: String,
    /// The unique id of the new setting.
    generation: String,
    /// The id of a new job.
    job: JobId,
    now: Timestamp,
}

#[async_trait]
impl Operation for ChangeGitSync {
    type Output = ();
    const NAME: &'static str = "git_sync_change";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let proof = access::space(tx, &self.actor, &self.space).await?.require(SpaceAction::Manage)?;
        let old = proof.space();
        let before = old.git_sync.as_deref();
        let (setting, sealed_url) = match (&self.change, before) {
            (SettingChange::Secret, None) => return Err(no_setting()),
            (SettingChange::Secret, Some(before)) => {
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
            (SettingChange::Set { setting, sealed_url }, _) => (setting, sealed_url),
        };
        if setting.direction.imports() && old.edit_mode == EditMode::Live {
            return Err(Error::conflict(
                "direction: an import needs locked live content; set `editMode` to `locked` first",
            ));
        }
        let credentials = match sealed_url {
            Some(url) => Some(SealedUrl { url: url.clone(), by: self.by.clone() }),
            None => self.stored_credentials(before, setting)?,
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
            created_at: Some(
                before.map_or(self.now, |before| before.created_at.unwrap_or(before.secret_created_at)),
            ),
            updated_at: self.now,
            last_import: None,
            last_export: None,
            conflict: None,
        };
        // The state of one source does not apply to another.
        if let Some(before) = before.filter(|before| before.source() == git_sync.source()) {
            git_sync.last_import.clone_from(&before.last_import);
            git_sync.last_export.clone_from(&before.last_export);
            // An unresolved conflict only applies to the direction where it was found.
            if before.setting.direction == setting.direction {
                git_sync.conflict.clone_from(&before.conflict);
            }
        }
        let new = SpaceRecord { git_sync: Some(Box::new(git_sync)), ..SpaceRecord::clone(old) };
        let space = tx.put(&**old, new)?;
        let by = Some(self.by.clone());
        let wake = NewSyncJob { job: self.job.clone(), by, now: self.now, urgency: Urgency::Requested };
        enqueue(tx, &space, wake).await.map(drop)
    }
}

impl ChangeGitSync {
    /// Returns the stored credentials if the new setting has the same URL and no credentials of its own. The user who
    /// provided them may change every field. Other users must not extend their use to another direction, ref or folder.
    fn stored_credentials(
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

#[operation("git_sync_remove")]
async fn remove_git_sync(tx: &mut Tx, actor: &Actor, space: &SpaceId) -> Result<()> {
    let proof = access::space(tx, actor, space).await?.require(SpaceAction::Manage)?;
    let old = proof.space();
    if old.git_sync.is_none() {
        return Err(no_setting());
    }
    tx.put(&**old, SpaceRecord { git_sync: None, ..SpaceRecord::clone(old) })?;
    Ok(())
}

/// Starts a synchronization of a space.
#[operation("git_sync_run")]
async fn run_git_sync(
    tx: &mut Tx,
    actor: &Actor,
    space: &SpaceId,
    job: &JobId,
    now: Timestamp,
) -> Result<JobId> {
    let proof = access::space(tx, actor, space).await?.require(SpaceAction::Manage)?;
    if proof.space().git_sync.is_none() {
        return Err(no_setting());
    }
    let by = actor.user().cloned();
    let wake = NewSyncJob { job: job.clone(), by, now, urgency: Urgency::Requested };
    enqueue(tx, proof.space(), wake).await
}
