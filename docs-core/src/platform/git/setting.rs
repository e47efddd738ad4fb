//! Synchronization with a repository as a setting of a space: nobody has to ask for imports and exports.

mod conflict;
mod credit;
mod enqueue;
mod job;
mod look;
mod operations;
mod unite;
mod webhook;

use std::sync::Arc;

use self::operations::{Change, ChangeGitSync, RemoveGitSync, RunGitSync};
pub use self::webhook::{GitDelivery, GitHostEvent, GitWebhook, GitWebhookAnswer};
pub(in crate::platform) use self::{
    enqueue::{SyncRun, follow, restored, settled},
    look::RepositoryLook,
    webhook::MAX_DELIVERY,
};
use super::{
    no_git,
    sync::{check_shown, check_url, git_error, path_error, url_purpose},
};
use crate::{
    BoxFuture, Error, Result,
    content::gitsync::RepoPath,
    model::{
        BoundedText, GitSyncJob, GitSyncObject, GitSyncProgress, GitSyncSetting, GitSyncWebhook, JobId,
        SetGitSync, SpaceId, is_full_ref,
    },
    platform::{Actor, Platform, Right, access, at_once, nouns::SpaceHandle, secret::Secret},
    policy::SpaceAction,
    ports::GitAccess,
    store::{
        Tx, jobs,
        records::{ChangeRequestRecord, GitSyncState, SpaceRecord},
    },
};

impl<'p> SpaceHandle<'p> {
    /// Reads how a space and a repository are kept in step, and how far they are.
    ///
    /// # Errors
    /// `NotFound`, also for a space without this setting; `Forbidden` without the role `create`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let sync = me.space(space).git_sync().await?;
    /// println!("{} is in step: {}", sync.setting.url, sync.state.in_step);
    /// # Ok(())
    /// # }
    /// ```
    pub fn git_sync(self) -> BoxFuture<'p, Result<GitSyncSetting>> {
        Box::pin(async move {
            let Self { caller, space } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            platform.git_sync_seen(&platform.read().await?, actor, space).await
        })
    }

    /// Keeps a space and a repository in step from now on: what was set before is replaced, and they are brought in
    /// step at once. The first time, and for another address, there is a new secret for the webhook, which no later
    /// answer shows.
    ///
    /// Where both sides were never in sync and both have content, the content is merged as if all of it was new on
    /// either side; with the direction `import` it becomes the repository's, and `export` writes beside what is there.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create`; `Invalid` for a text that is no URL, no ref, or no branch
    /// where commits are made; `Conflict` for an import into a space whose live content may be edited; `Precondition`
    /// when this platform reads no repositories.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let setting = serde_json::json!({
    ///     "url": "https://me:token@example.com/docs.git", "ref": "refs/heads/main", "direction": "both",
    /// });
    /// let sync = me.space(space).set_git_sync(serde_json::from_value(setting)?).await?;
    /// println!("tell {} of pushes, signed with {:?}", sync.webhook.url, sync.webhook.secret);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_git_sync(self, setting: SetGitSync) -> BoxFuture<'p, Result<GitSyncSetting>> {
        Box::pin(async move {
            let Self { caller, space } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let (setting, with_credentials) = platform.checked_setting(setting)?;
            let sealed_url = match with_credentials {
                Some(url) => Some(platform.sealed(&url_purpose(space), &url)?),
                None => None,
            };
            platform
                .change_git_sync((actor, space), Change::Set { setting: Box::new(setting), sealed_url })
                .await
        })
    }

    /// Gives the webhook of a space another secret, which no later answer shows. The one before is void at once.
    ///
    /// # Errors
    /// As [`git_sync`](Self::git_sync).
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let sync = me.space(space).rotate_git_sync_secret().await?;
    /// assert!(sync.webhook.secret.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn rotate_git_sync_secret(self) -> BoxFuture<'p, Result<GitSyncSetting>> {
        Box::pin(async move {
            let Self { caller, space } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let done = platform.once(actor, Right::Space(space.clone(), SpaceAction::Manage), async move {
                platform.change_git_sync((actor, space), Change::Secret).await
            });
            done.await
        })
    }

    /// Stops keeping a space and a repository in step. Both keep what they have; what runs stores nothing more.
    /// Answers whether they were kept in step.
    ///
    /// # Errors
    /// `Forbidden` without the role `create`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// if me.space(space).remove_git_sync().await? {
    ///     println!("nothing is imported or exported any more unless somebody asks for it");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove_git_sync(self) -> BoxFuture<'p, Result<bool>> {
        Box::pin(async move {
            let Self { caller, space } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let operation = RemoveGitSync { actor: actor.clone(), space: space.clone() };
            let done = platform
                .change(actor, &operation, |seen| Box::pin(platform.git_sync_seen(seen.tx, actor, space)));
            Error::existed(done.await)
        })
    }

    /// Brings a space and its repository in step now: answers at once with the job that does it, which may have been
    /// waiting already.
    ///
    /// # Errors
    /// As [`git_sync`](Self::git_sync).
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// println!("job {} brings them in step", me.space(space).run_git_sync().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_git_sync(self) -> BoxFuture<'p, Result<JobId>> {
        Box::pin(async move {
            let Self { caller, space } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let done = platform.once(actor, Right::Space(space.clone(), SpaceAction::Manage), async move {
                let operation = RunGitSync {
                    actor: actor.clone(),
                    space: space.clone(),
                    job: platform.id(),
                    now: platform.now(),
                };
                platform.write_and_show(actor, &operation, |done| at_once(Ok(done.out))).await
            });
            done.await
        })
    }
}

impl Platform {
    /// Checks a setting; answers it without credentials, and the URL with them where it has some.
    fn checked_setting(&self, setting: SetGitSync) -> Result<(SetGitSync, Option<String>)> {
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        let clean = check_url(&setting.url)?;
        if !is_full_ref(&setting.reference) {
            return Err(Error::invalid("ref", "must be a ref in full, like refs/heads/main"));
        }
        let exports = setting.direction.exports();
        if exports && !setting.reference.starts_with("refs/heads/") {
            return Err(Error::invalid("ref", "must be a branch in full, like refs/heads/main"));
        }
        if setting.commit_message.as_ref().is_some_and(|message| message.trim().is_empty()) {
            return Err(Error::invalid("commitMessage", "must say something"));
        }
        check_shown("repoTreeURL", setting.repo_tree_url.as_deref())?;
        check_shown("repoCommitURL", setting.repo_commit_url.as_deref())?;
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

    fn sealed(&self, purpose: &str, secret: &str) -> Result<String> {
        self.secrets().seal(purpose, secret, self.ids().next()).map_err(Error::internal)
    }

    async fn change_git_sync(
        &self,
        (actor, space): (&Actor, &SpaceId),
        change: Change,
    ) -> Result<GitSyncSetting> {
        let secret = Secret::draw(self.ids(), "docs-platform secret of a webhook").as_hex();
        let operation = ChangeGitSync {
            actor: actor.clone(),
            by: actor.require_user()?.clone(),
            space: space.clone(),
            change,
            sealed_secret: self.sealed(&secret_purpose(space), &secret)?,
            generation: self.id::<JobId>().to_string(),
            job: self.id(),
            now: self.now(),
        };
        let made = Made { sealed: &operation.sealed_secret, secret: &secret };
        let shown = self.change_and_show(actor, &operation, |done| {
            Box::pin(self.git_sync_made(done.tx, actor, space, made))
        });
        shown.await
    }

    /// The setting of a space with the secret of its webhook, where this change has made it: no other answer shows it.
    async fn git_sync_made(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceId,
        made: Made<'_>,
    ) -> Result<GitSyncSetting> {
        let mut shown = self.git_sync_seen(tx, actor, space).await?;
        let record: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(space)).await?;
        let sync = record.as_ref().and_then(|space| space.git_sync.as_ref());
        let is_made = sync.is_some_and(|sync| sync.sealed_secret == made.sealed);
        shown.webhook.secret = is_made.then(|| made.secret.to_owned());
        Ok(shown)
    }

    /// The setting of a space, as a transaction sees it.
    async fn git_sync_seen(&self, tx: &Tx, actor: &Actor, space: &SpaceId) -> Result<GitSyncSetting> {
        let proof = access::space(tx, actor, space).await?.require(SpaceAction::Manage)?;
        let space = proof.space();
        let sync = space.git_sync.as_ref().ok_or_else(no_setting)?;
        let people = [sync.by.clone()];
        let set_by = self.users_named(tx, (actor, &space.organization), &people).await?.into_iter().next();
        Ok(GitSyncSetting {
            object: GitSyncObject::Is,
            setting: sync.setting.clone(),
            has_credentials: sync.credentials.is_some(),
            webhook: GitSyncWebhook {
                url: self.urls().git_webhook(&space.id),
                secret: None,
                secret_created_at: sync.secret_created_at,
            },
            state: state_of(tx, space, sync).await?,
            set_by,
            updated_at: sync.updated_at,
        })
    }
}

/// A secret that a change may make, and how it lies in the store.
#[derive(Clone, Copy)]
struct Made<'s> {
    sealed: &'s str,
    secret: &'s str,
}

/// How far a space and its repository are in step.
async fn state_of(tx: &Tx, space: &SpaceRecord, sync: &GitSyncState) -> Result<GitSyncProgress> {
    let job = jobs::for_the_same(tx, space.id.as_str(), enqueue::SAME).await?;
    let job = job.map(|job| GitSyncJob {
        id: job.id.clone(),
        state: job.state.shown(),
        ended_at: job.ended_at,
        error: job.error.clone(),
    });
    let change_request = match &sync.conflict {
        Some(conflict) => {
            let request: Option<Arc<ChangeRequestRecord>> =
                tx.get(&ChangeRequestRecord::at(&conflict.request)).await?;
            request.filter(|request| conflict::is_open(space, conflict, request)).map(|it| it.id.clone())
        }
        None => None,
    };
    let known = space.git_of(&sync.source());
    Ok(GitSyncProgress {
        in_step: space.is_in_step(),
        commit: known.and_then(|git| git.oid.clone()),
        last_import: sync.last_import.clone(),
        last_export: sync.last_export.clone(),
        job,
        change_request,
    })
}

/// What the secret of a webhook is sealed for.
fn secret_purpose(space: &SpaceId) -> String {
    format!("git-webhook {space}")
}

fn no_setting() -> Error {
    Error::not_found("Git synchronization of this space")
}
