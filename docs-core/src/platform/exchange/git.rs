//! Git import and export: requests, and the repository state of a space.

mod commit_files;
mod export;
mod import;
pub(in crate::platform) mod setting;
pub(in crate::platform) mod sync;

use docs_macros::{boxed, operation};

pub use self::setting::{GitDelivery, GitHostEvent, GitWebhook, GitWebhookAnswer};
use self::sync::{
    EnqueueGitSync, SyncPayload, SyncRequest, check_public_url, check_url, git_error, path_error,
};
pub(in crate::platform) use self::{
    setting::MAX_DELIVERY,
    sync::{ExportPayload, ImportPayload},
};
use crate::{
    Error, ErrorKind, Result,
    content::gitsync::RepoPath,
    model::{ExportGitRepository, GitSync, ImportGitRepository, JobId, SpaceId, is_full_branch, is_full_ref},
    platform::{
        access,
        jobs::Payload,
        kernel::{actor::Actor, request::Right, write::ready_answer},
        nouns::SpaceHandle,
    },
    policy::SpaceAction,
    store::{
        Tx,
        records::{GitInfo, GitState, SpaceRecord},
    },
};

impl<'p> SpaceHandle<'p> {
    /// Starts importing a Git repository into a space and returns the id of the job immediately.
    ///
    /// The job replaces the content of the space with that of the repository. A failure is recorded on the job, see
    /// [`get_job`](Self::get_job), and leaves the space unchanged. Imports and exports of one space run one at a time,
    /// in the order of their `timestamp`.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the `create` role; `Invalid` for an invalid URL or ref; `Conflict` when too many
    /// imports of the space are waiting; `Precondition` when this platform does not support Git.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let request = serde_json::json!({ "url": "https://example.com/docs.git", "ref": "refs/heads/main" });
    /// let job = me.space(space).import_git(serde_json::from_value(request)?).await?;
    /// println!("job {job} imports the repository");
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn import_git(self, request: ImportGitRepository) -> Result<JobId> {
        if !is_full_ref(&request.reference) {
            return Err(Error::invalid("ref", "must be a full ref, like refs/heads/main"));
        }
        self.sync_git(request).await
    }

    /// Starts exporting a space to a Git repository and returns the id of the job immediately.
    ///
    /// The job pushes one commit with all changes that the repository lacks. If it lacks none, no commit is made. The
    /// files of unedited pages stay identical byte for byte, and files that do not belong to the space are left
    /// unchanged. The author of the commit is the user who requested the export. A failure is recorded on the job, see
    /// [`get_job`](Self::get_job). Content that is already in sync with a commit is only exported again with `force`.
    ///
    /// # Errors
    /// As [`import_git`](Self::import_git); `Invalid` also for a ref that is not a branch and for a blank message.
    #[boxed]
    pub async fn export_git(self, request: ExportGitRepository) -> Result<JobId> {
        if !is_full_branch(&request.reference) {
            return Err(Error::invalid("ref", "must be a full branch ref, like refs/heads/main"));
        }
        if request.commit_message.trim().is_empty() {
            return Err(Error::invalid("commitMessage", "must not be blank"));
        }
        self.sync_git(request).await
    }

    /// Validates the common fields of imports and exports, and enqueues the job.
    async fn sync_git<R: SyncRequest>(self, request: R) -> Result<JobId>
    where
        SyncPayload<R>: Payload,
    {
        let Self { caller, space } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Manage), async move {
            let git = platform.ports().git.as_ref().ok_or_else(no_git)?;
            let wanted = request.fields();
            let clean = check_url(wanted.url)?;
            check_public_url("repoTreeURL", wanted.tree_url)?;
            check_public_url("repoCommitURL", wanted.commit_url)?;
            check_public_url("gitInfo.url", wanted.info.and_then(|info| info.url.as_deref()))?;
            // Errors that can be detected immediately are returned to the caller; the job reports the rest.
            git.check(wanted.url, wanted.reference, R::ACCESS).map_err(git_error)?;
            RepoPath::new(wanted.directory).map_err(|error| path_error(&error))?;
            let by = actor.require_user()?.clone();
            let id: JobId = platform.id();
            let sealed_url = match clean == wanted.url {
                true => None,
                false => {
                    let sealed = platform.secrets().seal(id.as_str(), wanted.url, platform.ids().next());
                    Some(sealed.map_err(Error::internal)?)
                }
            };
            let request = request.with_url(clean)?;
            let now = platform.now();
            let payload = SyncPayload { space: space.clone(), by, request, sealed_url, setting: None };
            let enqueue = EnqueueGitSync { actor: actor.clone(), id, payload, now };
            platform.write_and_show(actor, &enqueue, |_| ready_answer(Ok(enqueue.id.clone()))).await
        });
        done.await
    }

    /// Returns the state of the Git repository that a space is in sync with.
    ///
    /// # Errors
    /// `NotFound`, also for a space that was never in sync with a repository.
    #[boxed]
    pub async fn git_info(self) -> Result<GitSync> {
        let (platform, ref actor, space) = self.parts();
        let tx = platform.read().await?;
        let access = access::space(&tx, actor, space).await?;
        access.space().git_view().ok_or_else(|| Error::not_found("Git repository of this space"))
    }

    /// Removes the legacy Git installation of a space: the host of its repository is no longer shown. Nothing else
    /// changes. Succeeds if the space has no installation or does not exist.
    ///
    /// # Errors
    /// `Forbidden` without the `create` role.
    #[boxed]
    pub async fn remove_legacy_git_installation(self) -> Result<()> {
        let (platform, ref actor, space) = self.parts();
        let operation = remove_legacy_installation(actor, space);
        platform.write(actor, &operation).await
    }
}

#[operation("git_legacy_installation_removed")]
async fn remove_legacy_installation(tx: &mut Tx, actor: &Actor, space: &SpaceId) -> Result<()> {
    // A missing space has no installation.
    let access = match access::space(tx, actor, space).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        access => access?,
    };
    let proof = access.require(SpaceAction::Manage)?;
    let Some(git) = proof.space().git.as_ref().filter(|git| git.info.installation_provider.is_some()) else {
        return Ok(());
    };
    let info = GitInfo { installation_provider: None, ..git.info.clone() };
    let git = Some(GitState { info, ..git.clone() });
    tx.put(&**proof.space(), SpaceRecord { git, ..SpaceRecord::clone(proof.space()) })?;
    Ok(())
}

fn no_git() -> Error {
    Error::new(ErrorKind::Precondition, "this server does not access Git repositories")
}
