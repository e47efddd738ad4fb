//! Jobs of a space, visible to users who may edit it.

use std::{collections::BTreeSet, sync::Arc};

use docs_macros::boxed;

use crate::{
    Error, Result,
    model::{Job, JobId, JobObject, JobResult, JobState, OrgId, SpaceId, User, UserId},
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform},
        nouns::{Caller, SpaceHandle, list_identities::tag},
    },
    policy::SpaceAction,
    store::{ListSpec, Lister, Page, PageRequest, Tx, records::JobRecord},
};

impl<'p> SpaceHandle<'p> {
    /// Lists the import and PDF jobs of a space in every state, newest first.
    ///
    /// Finished jobs are retained for a limited time, up to a maximum number per kind; see
    /// [`LIMITS`](crate::platform::LIMITS). Logs are returned only by [`get_job`](Self::get_job). Jobs contain no
    /// credentials.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role.
    #[boxed]
    pub async fn list_jobs(self, page: &'p PageRequest) -> Result<Page<Job>> {
        let (platform, ref actor, space) = self.parts();
        let tx = platform.read().await?;
        let proof = access::space(&tx, actor, space).await?.require(SpaceAction::Edit)?;
        let prefix = JobRecord::by_subject(space.as_str());
        let mut list = Lister::new(ListSpec { rev: true, ..ListSpec::new(tag::JOBS, prefix) }, page)?;
        list.fill(&tx, |_| true).await?;
        let page = list.finish(&tx, None).await?;
        let items = platform.job_views(&tx, actor, &proof.space().organization, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Reads a job of a space with its log.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role.
    #[boxed]
    pub async fn get_job(self, id: &'p JobId) -> Result<Job> {
        let (platform, ref actor, space) = self.parts();
        let tx = platform.read().await?;
        let proof = access::space(&tx, actor, space).await?.require(SpaceAction::Edit)?;
        let job: Option<Arc<JobRecord>> = tx.get(&JobRecord::key_for(id)).await?;
        let job = job.filter(|job| job.listed && job.subject == space.as_str());
        let job = job.ok_or_else(|| Error::not_found("job"))?;
        platform.job_with_log(&tx, actor, Some(&proof.space().organization), &job).await
    }
}

impl<'p> Caller<'p> {
    /// Reads any job, including maintenance jobs. Reserved for the platform itself.
    ///
    /// # Errors
    /// `Forbidden` for users.
    #[boxed]
    pub async fn get_job(self, id: &'p JobId) -> Result<Job> {
        let (platform, actor) = (self.platform, &self.actor());
        actor.require_platform()?;
        let tx = platform.read().await?;
        let job: Option<Arc<JobRecord>> = tx.get(&JobRecord::key_for(id)).await?;
        let job = job.ok_or_else(|| Error::not_found("job"))?;
        platform.job_with_log(&tx, actor, None, &job).await
    }
}

impl Platform {
    async fn job_with_log(
        &self,
        tx: &Tx,
        actor: &Actor,
        org: Option<&OrgId>,
        job: &Arc<JobRecord>,
    ) -> Result<Job> {
        let people: Vec<UserId> = job.by.iter().cloned().collect();
        let users = match org {
            Some(org) => self.visible_users(tx, (actor, org), &people).await?,
            None => self.user_views(tx, &people).await?,
        };
        let log = job.log.clone();
        Ok(Job { log, ..self.job_view(job, users.into_iter().next()) })
    }

    async fn job_views(
        &self,
        tx: &Tx,
        actor: &Actor,
        org: &OrgId,
        jobs: &[Arc<JobRecord>],
    ) -> Result<Vec<Job>> {
        let people: BTreeSet<&UserId> = jobs.iter().filter_map(|job| job.by.as_ref()).collect();
        let people: Vec<UserId> = people.into_iter().cloned().collect();
        let users = self.visible_users(tx, (actor, org), &people).await?;
        let by = |job: &JobRecord| users.iter().find(|user| Some(&user.id) == job.by.as_ref()).cloned();
        Ok(jobs.iter().map(|job| self.job_view(job, by(job))).collect())
    }

    /// Builds the view of a job without its log.
    fn job_view(&self, job: &JobRecord, created_by: Option<User>) -> Job {
        let state = job.state.shown();
        let result = job.outcome.result.as_ref().map(|result| {
            let url = match (job.subject.parse::<SpaceId>(), &result.revision) {
                (Ok(space), Some(revision)) => Some(self.urls().revision(&space, revision)),
                _ => None,
            };
            JobResult { url, ..result.clone() }
        });
        Job {
            object: JobObject::Is,
            id: job.id.clone(),
            kind: job.kind.clone(),
            subject: job.subject.clone(),
            state,
            stage: job.stage,
            progress: job.progress,
            attempt: job.attempt,
            created_by,
            created_at: job.created_at,
            due_at: (state == JobState::Queued).then_some(job.due),
            started_at: job.started_at,
            ended_at: job.ended_at,
            result,
            error: job.error.clone(),
            log: Vec::new(),
        }
    }
}
