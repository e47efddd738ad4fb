//! Operations on the feedback of AI agents about a site.

use docs_core::{
    Platform,
    model::{
        AgentFeedbackInput, AgentFeedbackReceipt, List, OrgId, SiteAgentFeedback, SiteAgentFeedbackInput,
        SiteId,
    },
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Created, Empty, Idempotency, MaybeAuth, NoContent, PageQuery,
    Path, Reply, Strict,
};

#[derive(Debug)]
pub struct AgentFeedback(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/sites/:siteId", tag = "ApiTag::Sites")]
impl AgentFeedback {
    /// List the feedback of AI agents about a site
    ///
    /// Newest first. A site keeps the newest entries; older ones are deleted. Requires the right to manage the site.
    #[oai(path = "/agents/feedback", method = "get", operation_id = "listSiteAgentFeedback")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<SiteAgentFeedback>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).list_agent_feedback(&page.0).await?.into()))
    }

    /// Submit feedback as an AI agent
    ///
    /// Readers of a published site can submit feedback about its pages, and about tools, commands and endpoints. The
    /// caller is not stored. The `Idempotency-Key` of a visitor has no effect. Returns 429 if the site receives too
    /// much feedback.
    #[oai(path = "/agents/feedback", method = "post", operation_id = "submitAgentFeedbackToSite")]
    async fn submit(
        &self,
        auth: MaybeAuth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        feedback: Strict<AgentFeedbackInput>,
    ) -> ApiResult<Created<AgentFeedbackReceipt>> {
        let platform = idempotency.platform(&self.0);
        let site = auth.caller(&platform).org(&org).site(&site);
        Ok(Created::new(site.submit_agent_feedback(feedback.0).await?))
    }

    /// Submit feedback about a page as an AI agent
    ///
    /// Like `submitAgentFeedbackToSite` with the URL of the page as its subject and the category `documentation`. The
    /// platform does not check that the page exists.
    #[oai(path = "/agent-feedback", method = "post", operation_id = "submitSiteAgentFeedback", deprecated)]
    async fn submit_for_page(
        &self,
        auth: MaybeAuth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        feedback: Strict<SiteAgentFeedbackInput>,
    ) -> ApiResult<NoContent> {
        let platform = idempotency.platform(&self.0);
        let site = auth.caller(&platform).org(&org).site(&site);
        site.submit_agent_feedback_for_page(feedback.0).await?;
        Ok(Empty)
    }
}
