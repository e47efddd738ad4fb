//! Operations on the findings about the content of sites.

use docs_core::{
    Platform,
    model::{
        BoundedText, ChangeRequest, ContextRecord, List, OrgId, SiteFinding, SiteFindingId, SiteFindingList,
        SiteFindingOrder, SiteFindingPage, SiteFindingSeverity, SiteFindingSource, SiteFindingStats,
        SiteFindingStatus, SiteFindingType, SiteId, SiteQuestion, Timestamp, UpdateSiteFinding,
    },
    platform::SiteFindingFilter,
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Condition, PageQuery, Path, Query, Reply, Strict};

#[derive(Debug)]
pub struct SiteFindings(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/sites/:siteId", tag = "ApiTag::Sites")]
impl SiteFindings {
    /// List the findings of a site
    ///
    /// Returns the broken targets of the links in the spaces of the site: one finding for each space and target, with
    /// the number of pages that link to it. Findings are derived from the current content of the spaces that the caller
    /// can read, except drafts. Requires the right to manage the site. If the site has more links than one request
    /// examines, `complete` is `false`.
    #[oai(path = "/findings", method = "get", operation_id = "listSiteFindings")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
        /// Restricts the list to findings of this topic. The platform has no topics, so the list is empty.
        topic: Query<BoundedText<1, 200>>,
        /// Restricts the list to findings with this question of readers as evidence. The platform has no questions, so
        /// the list is empty.
        question: Query<BoundedText<1, 200>>,
        /// Restricts the list to findings with this status. No finding is a `candidate`.
        status: Query<SiteFindingStatus>,
        /// Restricts the list to findings of these types. All findings are of the type `broken-link`.
        #[oai(name = "type")]
        kind: Query<Vec<SiteFindingType>>,
        /// Restricts the list to findings with this severity.
        severity: Query<SiteFindingSeverity>,
        /// `true` restricts the list to findings with change requests, so it is empty.
        #[oai(name = "hasChangeRequests")]
        has_change_requests: Query<bool>,
        /// Restricts the list to findings with evidence from these sources. The platform has none, so the list is
        /// empty.
        source: Query<Vec<SiteFindingSource>>,
        /// Restricts the list to findings updated at or after this time, for example `2030-12-31T00:00:00Z`.
        #[oai(name = "updatedAfter")]
        updated_after: Query<Timestamp>,
        /// Restricts the list to findings updated before this time.
        #[oai(name = "updatedBefore")]
        updated_before: Query<Timestamp>,
        /// `updatedAt`: most recently updated first. `severity`: most severe first. `sources`: like `updatedAt`,
        /// because no finding has sources.
        #[oai(name = "orderBy")]
        order: Query<SiteFindingOrder>,
    ) -> ApiResult<Reply<SiteFindingList>> {
        let filter = SiteFindingFilter {
            status: status.0,
            types: kind.0.unwrap_or_default(),
            severity: severity.0,
            has_change_requests: has_change_requests.0,
            topic: topic.0.map(|topic| topic.to_string()),
            question: question.0.map(|question| question.to_string()),
            sources: source.0.unwrap_or_default(),
            updated_after: updated_after.0,
            updated_before: updated_before.0,
            order: order.0.unwrap_or_default(),
        };
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).findings().list(&filter, &page.0).await?))
    }

    /// Count the findings of a site
    ///
    /// Returns the number of findings that match the filters, by status and by severity. Requires the right to manage
    /// the site. If the site has more links than one request examines, `complete` is `false`.
    #[oai(path = "/stats/findings", method = "get", operation_id = "getSiteFindingStats")]
    async fn stats(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        /// Counts the findings of this topic. The platform has no topics, so there are none.
        topic: Query<BoundedText<1, 200>>,
        /// Counts the findings with this status.
        status: Query<SiteFindingStatus>,
        /// Counts the findings of these types.
        #[oai(name = "type")]
        kind: Query<Vec<SiteFindingType>>,
        /// Counts the findings with this severity.
        severity: Query<SiteFindingSeverity>,
        /// `true` counts the findings with change requests. There are none.
        #[oai(name = "hasChangeRequests")]
        has_change_requests: Query<bool>,
        /// Counts the findings with evidence from these sources. There are none.
        source: Query<Vec<SiteFindingSource>>,
    ) -> ApiResult<Reply<SiteFindingStats>> {
        let filter = SiteFindingFilter {
            status: status.0,
            types: kind.0.unwrap_or_default(),
            severity: severity.0,
            has_change_requests: has_change_requests.0,
            topic: topic.0.map(|topic| topic.to_string()),
            sources: source.0.unwrap_or_default(),
            ..SiteFindingFilter::default()
        };
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).findings().stats(&filter).await?))
    }

    /// Get a finding of a site
    ///
    /// After its links were repaired or deleted, a finding is not found.
    #[oai(path = "/findings/:siteFindingId", method = "get", operation_id = "getSiteFindingById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteFindingId")] finding: Path<SiteFindingId>,
    ) -> ApiResult<Reply<SiteFinding>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).finding(&finding).get().await?))
    }

    /// Set the status of a finding of a site
    ///
    /// The status does not change the content. The statuses of findings that no longer exist are removed.
    #[oai(path = "/findings/:siteFindingId", method = "patch", operation_id = "updateSiteFindingById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteFindingId")] finding: Path<SiteFindingId>,
        change: Strict<UpdateSiteFinding>,
    ) -> ApiResult<Reply<SiteFinding>> {
        let platform = condition.platform(&self.0);
        Ok(Reply(auth.caller(&platform).org(&org).site(&site).finding(&finding).update(change.0).await?))
    }

    /// List the pages of a finding of a site
    ///
    /// Returns the pages that link to the target of the finding, in their own text or in reusable content, by id.
    #[oai(path = "/findings/:siteFindingId/pages", method = "get", operation_id = "listPagesForSiteFinding")]
    async fn pages(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteFindingId")] finding: Path<SiteFindingId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<SiteFindingPage>>> {
        let finding = auth.caller(&self.0).org(&org).site(&site).finding(&finding);
        Ok(Reply(finding.list_pages(&page.0).await?.into()))
    }

    /// List the questions of a finding of a site
    ///
    /// The list is empty, because the platform has no AI model that answers questions of readers.
    #[oai(
        path = "/findings/:siteFindingId/questions",
        method = "get",
        operation_id = "listQuestionsForSiteFinding"
    )]
    async fn questions(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteFindingId")] finding: Path<SiteFindingId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<SiteQuestion>>> {
        let finding = auth.caller(&self.0).org(&org).site(&site).finding(&finding);
        Ok(Reply(finding.list_questions(&page.0).await?.into()))
    }

    /// List the records of a finding of a site
    ///
    /// The list is empty, because the evidence for a broken link is the content itself.
    #[oai(
        path = "/findings/:siteFindingId/records",
        method = "get",
        operation_id = "listRecordsForSiteFinding"
    )]
    async fn records(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteFindingId")] finding: Path<SiteFindingId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<ContextRecord>>> {
        let finding = auth.caller(&self.0).org(&org).site(&site).finding(&finding);
        Ok(Reply(finding.list_records(&page.0).await?.into()))
    }

    /// List the change requests of a finding of a site
    ///
    /// The list is empty, because the platform has no AI model that creates change requests for findings.
    #[oai(
        path = "/findings/:siteFindingId/change-requests",
        method = "get",
        operation_id = "listChangeRequestsForSiteFinding"
    )]
    async fn change_requests(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        #[oai(name = "siteFindingId")] finding: Path<SiteFindingId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<ChangeRequest>>> {
        let finding = auth.caller(&self.0).org(&org).site(&site).finding(&finding);
        Ok(Reply(finding.list_change_requests(&page.0).await?.into()))
    }
}
