//! The job that replaces the content of a space with that of a repository.

mod apply;
mod changed;
mod directive_state;
mod directives;
mod files;
mod links;
mod moved;
mod read;

use async_trait::async_trait;

pub(super) use self::read::{CommitContent, MAX_TEXT_BYTES, check_size};
use self::{apply::store_import, read::Importer};
use super::{
    no_git,
    sync::{Attempt, CommitOrigin, ImportPayload, Times, UnexportableFields, git_error, is_set},
};
use crate::{
    Error, Result,
    model::{JobResult, JobStage, RevisionId},
    platform::{
        content::openapi_specs::SpecAudience,
        jobs::{Effect, Job, JobRun, Payload, Progress},
        kernel::{actor::Actor, platform::Platform},
    },
    ports::Checkout,
    store::{
        jobs::{JobClass, JobOutcome},
        records::{GitState, SpaceRecord},
    },
};

impl Payload for ImportPayload {
    const KIND: &'static str = "git_import";
    const CLASS: JobClass = JobClass::Remote;
}

#[async_trait]
impl Job for ImportPayload {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        platform.import_job(self, run).await
    }
}

impl Platform {
    async fn import_job(&self, payload: ImportPayload, run: &mut JobRun) -> Result<Effect> {
        let space = payload.live_space(self).await?;
        if let Some(why) = payload.is_stale(&space, run.job.lane_at) {
            run.append_log(self, why);
            return Ok(Effect::Done);
        }
        let mut progress = run.progress(self);
        progress.stage(JobStage::RepoFetch).await?;
        let git = self.ports().git.as_ref().ok_or_else(no_git)?;
        let wanted = payload.fetch_request(&payload.url(self, run)?, &payload.request.reference);
        let is_wanted_anew = is_set(payload.request.force) || is_set(payload.request.standalone);
        let known = space.git_state_for(&payload.source()).filter(|_| !is_wanted_anew);
        let is_known = |oid: &String| known.is_some_and(|git| git.oid.as_ref() == Some(oid));
        let nothing = "this commit was already imported; no import needed";
        // Resolving the ref needs no fetch.
        if known.is_some() && git.resolve(&wanted).await.map_err(git_error)?.as_ref().is_some_and(is_known) {
            run.append_log(self, nothing.to_owned());
            return Ok(Effect::Done);
        }
        let checkout = git.fetch(&wanted).await.map_err(git_error)?;
        let commit = checkout.commit().clone();
        run.append_log(self, format!("fetched {} at {}", payload.request.reference, commit.oid));
        if is_known(&commit.oid) {
            run.append_log(self, nothing.to_owned());
            return Ok(Effect::Done);
        }
        match self.import_on(payload, &space, &*checkout, run, &mut progress).await? {
            Attempt::Ended(effect) => Ok(effect),
            // A requested import does not depend on the content of the space.
            Attempt::Moved | Attempt::Differs => {
                Err(Error::internal("a requested import does not depend on existing content"))
            }
        }
    }

    /// Replaces the content of a space with that of a commit.
    pub(super) async fn import_on(
        &self,
        payload: ImportPayload,
        space: &SpaceRecord,
        checkout: &dyn Checkout,
        run: &mut JobRun,
        progress: &mut Progress<'_>,
    ) -> Result<Attempt> {
        let commit = checkout.commit().clone();
        let storing = self.begin_write_window();
        progress.stage(JobStage::ConfigCheck).await?;
        let read = self.read_commit(&payload, space, checkout, progress).await?;
        progress.stage(JobStage::Finalize).await?;
        for warning in &read.warnings {
            run.append_log(self, warning.clone());
        }
        let tree = self.content().view(&space.domain, read.root).tree().await?;
        if let Some(warning) =
            self.computed_places(&space.organization, &tree, SpecAudience::Restricted).await?.warning()
        {
            run.append_log(self, warning);
        }
        run.append_log(self, read.what);
        let revision: RevisionId = self.id();
        if is_set(payload.request.standalone) {
            run.append_log(
                self,
                format!("created revision {revision}; the content of the space is unchanged"),
            );
        }
        let result = JobResult { revision: Some(revision.clone()), ..JobResult::default() };
        let finished = run.finish(self, JobOutcome { result: Some(result), object: None });
        let state =
            payload.state(&commit.oid, &revision, Times { event: run.job.lane_at, now: finished.now });
        let git = GitState { layout: read.layout, places: read.places, ..state };
        let commit = payload.commit(&commit, CommitOrigin::External);
        let on = payload.setting.as_ref().map(|_| &space.head);
        let operation = store_import(&payload, &revision, read.root, &commit, &git, on, &finished);
        self.check_write_window(storing)?;
        let outcome = self.write(&Actor::Platform, &operation).await?;
        Ok(self.attempt(outcome, run))
    }

    /// Builds the content of a commit for a space.
    pub(super) async fn read_commit(
        &self,
        payload: &ImportPayload,
        space: &SpaceRecord,
        checkout: &dyn Checkout,
        progress: &mut Progress<'_>,
    ) -> Result<CommitContent> {
        let project = payload.project()?;
        let unsaid = payload.setting.as_ref().map_or(UnexportableFields::Cleared, |setting| setting.unsaid);
        let mut importer = Importer::new(self, space, checkout, unsaid, payload.file_host()).await?;
        let (tree, config, plan) = importer.plan(&project).await?;
        // A forced import reads everything.
        if !is_set(payload.request.force)
            && let Some(read) = importer.read_changed(&project, &tree, &config, &plan).await?
        {
            return Ok(read);
        }
        importer.read(&project, &tree, &config, plan, progress).await
    }
}
