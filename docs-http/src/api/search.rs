//! Full-text search.

use docs_core::{
    Platform,
    model::{List, OrgId, SearchPageResult, SearchSite, SearchSpaceResult, SearchText, SiteId, SpaceId},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Empty, MaybeAuth, NoContent, PageQuery, Path, Reply,
    RequiredQuery, Strict,
};

#[derive(Debug)]
pub struct Search(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Search")]
impl Search {
    /// Search the pages of a space
    ///
    /// A page matches if its title, description, headings and text together contain all words. Case and diacritics are
    /// ignored, words match their inflections, such as plurals, the last word can be a prefix, and longer words
    /// tolerate typos. Words in quotation marks match only as a phrase.
    #[oai(path = "/spaces/:spaceId/search", method = "get", operation_id = "searchSpaceContent")]
    async fn space(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        /// The text to search for.
        query: RequiredQuery<SearchText>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<SearchPageResult>>> {
        Ok(Reply(auth.caller(&self.0).space(&space).search(&query.0, &page.0).await?.into()))
    }

    /// Search the spaces of an organization
    ///
    /// Returns the best matching pages, grouped by space. Only spaces that the user can see are searched. The limit
    /// applies to the total number of pages; a space with more matches reappears on later pages of the list.
    #[oai(path = "/orgs/:organizationId/search", method = "get", operation_id = "searchOrganizationContent")]
    async fn org(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        /// The text to search for.
        query: RequiredQuery<SearchText>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<SearchSpaceResult>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).search(&query.0, &page.0).await?.into()))
    }

    /// Search a published site
    ///
    /// Returns the best matching pages, grouped by space of the site. The limit applies to the total number of pages; a
    /// space with more matches reappears on later pages of the list.
    #[oai(
        path = "/orgs/:organizationId/sites/:siteId/search",
        method = "post",
        operation_id = "searchSiteContent"
    )]
    async fn site(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
        search: Strict<SearchSite>,
    ) -> ApiResult<Reply<List<SearchSpaceResult>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).search(&search.0, &page.0).await?.into()))
    }

    /// Prepare searches of a published site
    ///
    /// Opens the search index of the site, so that the first search is as fast as the others.
    #[oai(
        path = "/orgs/:organizationId/sites/:siteId/search/prewarm",
        method = "post",
        operation_id = "prewarmSiteSearch"
    )]
    async fn prewarm(
        &self,
        auth: MaybeAuth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).site(&site).prewarm_search().await?;
        Ok(Empty)
    }
}
