//! Operations on the jobs of a space.

use docs_core::{
    Platform,
    model::{Job, JobId, List, SpaceId},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, PageQuery, Path, Reply};

#[derive(Debug)]
pub struct Jobs(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/jobs", tag = "ApiTag::Spaces")]
impl Jobs {
    /// List the jobs of a space
    ///
    /// Lists import, export and PDF jobs in any state, newest first. Finished jobs are retained for a limited time, and
    /// only a limited number of each kind.
    #[oai(path = "/", method = "get", operation_id = "listSpaceJobs")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<Job>>> {
        Ok(Reply(auth.caller(&self.0).space(&space).list_jobs(&page.0).await?.into()))
    }

    /// Get a job of a space
    ///
    /// Returns the job with its log, which lists content that was omitted or converted differently than expected.
    #[oai(path = "/:jobId", method = "get", operation_id = "getSpaceJob")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        #[oai(name = "jobId")] job: Path<JobId>,
    ) -> ApiResult<Reply<Job>> {
        Ok(Reply(auth.caller(&self.0).space(&space).get_job(&job).await?))
    }
}
