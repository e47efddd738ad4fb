//! Operations on the jobs of a space.

use docs_core::{
    Platform,
    model::{Job, List},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::wire::{error::Answer, params::PageQuery, reply::Reply};

#[derive(Debug)]
pub struct Jobs(pub(super) Platform);

#[OpenApi(prefix_path = "/spaces/:spaceId/jobs", tag = "Tag::Spaces")]
impl Jobs {
    /// List the jobs of a space
    ///
    /// Lists import, export and PDF jobs in any state, newest first. Finished jobs are retained for a limited time, and
    /// up to a limited number per kind.
    #[oai(path = "/", method = "get", operation_id = "listSpaceJobs")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<Job>>> {
        Ok(Reply(auth.caller(&self.0).space(&id(&space, "space")?).list_jobs(&page.0).await?.into()))
    }

    /// Get a job of a space
    ///
    /// Returns the job with its log, which lists content that was omitted or interpreted in an unexpected way.
    #[oai(path = "/:jobId", method = "get", operation_id = "getSpaceJob")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "jobId")] job: Path<String>,
    ) -> Answer<Reply<Job>> {
        let space = id(&space, "space")?;
        Ok(Reply(auth.caller(&self.0).space(&space).get_job(&id(&job, "job")?).await?))
    }
}
