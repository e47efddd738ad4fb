//! Search.

use docs_core::{
    Platform,
    model::{List, SearchPageResult, SearchSite, SearchSpaceResult, SearchText},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Reader, Tag, id};
use crate::wire::{
    error::Answer,
    params::{PageQuery, RequiredQuery},
    payload::Strict,
    reply::Reply,
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Search(pub(super) Platform);

#[OpenApi(tag = "Tag::Search")]
impl Search {
    /// Search the pages of a space
    ///
    /// A page is found when it has every word: in its title, its description, its headings or its text. Case and
    /// diacritics do not matter, the last word may be the beginning of one, and longer words may have typos. Words
    /// between quotation marks are found one after the other only.
    #[oai(path = "/spaces/:spaceId/search", method = "get", operation_id = "searchSpaceContent")]
    async fn space(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        /// What to search for.
        query: RequiredQuery<SearchText>,
        page: PageQuery,
    ) -> Answer<Reply<List<SearchPageResult>>> {
        let space = id(&space, "space")?;
        Ok(Reply(auth.caller(&self.0).space(&space).search(&query.0, &page.0).await?.into()))
    }

    /// Search the spaces of an organization
    ///
    /// The best pages with every word, by the spaces that the user may see. The limit counts pages, of all spaces
    /// together: a space with more of them comes again on a later page of the list.
    #[oai(path = "/orgs/:organizationId/search", method = "get", operation_id = "searchOrganizationContent")]
    async fn org(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        /// What to search for.
        query: RequiredQuery<SearchText>,
        page: PageQuery,
    ) -> Answer<Reply<List<SearchSpaceResult>>> {
        let org = id(&org, "organization")?;
        Ok(Reply(auth.caller(&self.0).org(&org).search(&query.0, &page.0).await?.into()))
    }

    /// Search a published site
    ///
    /// The best pages with every word, by the spaces of the site or some of them. The limit counts pages, of all spaces
    /// together: a space with more of them comes again on a later page of the list.
    #[oai(
        path = "/orgs/:organizationId/sites/:siteId/search",
        method = "post",
        operation_id = "searchSiteContent"
    )]
    async fn site(
        &self,
        auth: Reader,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "siteId")] site: Path<String>,
        page: PageQuery,
        search: Strict<SearchSite>,
    ) -> Answer<Reply<List<SearchSpaceResult>>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        Ok(Reply(auth.caller(&self.0).org(&org).site(&site).search(&search.0, &page.0).await?.into()))
    }
}
