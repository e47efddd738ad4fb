//! Search.

use docs_core::{
    Platform,
    model::{List, SearchPageResult, SearchSite, SearchSpaceResult, SearchText},
};
use poem_openapi::{OpenApi, param::Path};

use super::{Asks, Auth, Limit, Reader, Tag, id, page};
use crate::wire::{
    error::Answer,
    params::{Query, RequiredQuery},
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
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<SearchPageResult>>> {
        let (space, page) = (id(&space, "space")?, page(cursor.0, limit.0));
        Ok(Reply(self.0.search_space(&auth.0, &space, &query.0, &page).await?.into()))
    }

    /// Search the spaces of an organization
    ///
    /// The spaces that the user may see and that have a page with every word, each with its best pages.
    #[oai(path = "/orgs/:organizationId/search", method = "get", operation_id = "searchOrganizationContent")]
    async fn org(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        /// What to search for.
        query: RequiredQuery<SearchText>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<SearchSpaceResult>>> {
        let (org, page) = (id(&org, "organization")?, page(cursor.0, limit.0));
        Ok(Reply(self.0.search_org(&auth.0, &org, &query.0, &page).await?.into()))
    }

    /// Search a published site
    ///
    /// The spaces of the site, or some of them, that have a page with every word, each with its best pages.
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
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        search: Strict<SearchSite>,
    ) -> Answer<Reply<List<SearchSpaceResult>>> {
        let (org, site) = (id(&org, "organization")?, id(&site, "site")?);
        let page = page(cursor.0, limit.0);
        Ok(Reply(self.0.search_site(&auth.actor(), (&org, &site), &search.0, &page).await?.into()))
    }
}
