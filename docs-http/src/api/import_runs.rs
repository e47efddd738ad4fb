//! Operations on the import runs of an organization.

use docs_core::{
    Platform,
    model::{ContentImportRun, ImportRunSelection, JobId, List, OrgId, StartImportRun},
    platform::ImportRunFilter,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Created, Idempotency, PageQuery, Path, Query, Reply, Strict,
};

#[derive(Debug)]
pub struct ImportRuns(pub(super) Platform);

#[OpenApi(prefix_path = "/org/:organizationId/imports", tag = "ApiTag::Content")]
impl ImportRuns {
    /// List the import runs of an organization
    ///
    /// Returns the imports of documents into the spaces that the caller can edit, most recent first. A run is also a
    /// job of its space, and is retained like other jobs. Imports into a space that was transferred from another
    /// organization are listed only with the jobs of the space.
    #[oai(path = "/", method = "get", operation_id = "listImportRuns")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// Restricts the list to runs into this space.
        space: Query<String>,
        /// Restricts the list to runs into the change request with this id.
        #[oai(name = "changeRequest")]
        change_request: Query<String>,
        /// Restricts the list to runs for this site, and to runs into its spaces.
        site: Query<String>,
        /// Restricts the list to runs with this status. `active` selects `pending` and `in-progress`.
        status: Query<ImportRunSelection>,
    ) -> ApiResult<Reply<List<ContentImportRun>>> {
        let filter = ImportRunFilter {
            space: space.0,
            change_request: change_request.0,
            site: site.0,
            status: status.0,
        };
        Ok(Reply(auth.caller(&self.0).org(&org).list_imports(&filter, &page.0).await?.into()))
    }

    /// Start an import run
    ///
    /// Imports a website or uploaded files into a space or a change request, in the background. The new pages are
    /// appended to the existing pages at the top level, or below `target.page`. Live content must be editable
    /// (`editMode` is `live`). The number of fetched pages and files is limited.
    #[oai(path = "/", method = "post", operation_id = "startImportRun")]
    async fn start(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        request: Strict<StartImportRun>,
    ) -> ApiResult<Created<ContentImportRun>> {
        let run = auth.caller(&idempotency.platform(&self.0)).org(&org).start_import(request.0).await?;
        let location = run.urls.location.clone();
        Ok(Created::new(run).with_location(location))
    }

    /// Get an import run
    ///
    /// Returns the status, the source and the target of a run into a space that the caller can edit.
    #[oai(path = "/:importRunId", method = "get", operation_id = "getImportRun")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "importRunId")] run: Path<JobId>,
    ) -> ApiResult<Reply<ContentImportRun>> {
        Ok(Reply(auth.caller(&self.0).org(&org).get_import(&run).await?))
    }

    /// Cancel an import run
    ///
    /// A cancelled run stores no pages, even if it was in progress. Succeeds if the run is cancelled already. A
    /// completed or failed run cannot be cancelled.
    #[oai(path = "/:importRunId/cancel", method = "post", operation_id = "cancelImportRun")]
    async fn cancel(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "importRunId")] run: Path<JobId>,
    ) -> ApiResult<Reply<ContentImportRun>> {
        Ok(Reply(auth.caller(&self.0).org(&org).cancel_import(&run).await?))
    }
}
