//! Search within a space, an organization, or a site.
//!
//! Hits from the index are resolved against a snapshot of the store: permissions, titles and paths come from the
//! snapshot, and deleted or inaccessible pages are dropped. Excerpts come from the index, so a page edited since it was
//! indexed has none. A stale index may therefore miss results, but never returns removed content. Searches are rejected
//! until the index has been complete once.

mod follow;
mod found_page;
mod generated;
mod index_batch;
mod index_queue;
mod indexed_text;
mod languages;
mod scope;
mod sections;
mod space_task;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use docs_macros::boxed;

pub(super) use self::follow::{Follower, RoundOutcome};
use self::{
    found_page::{Audience, FoundPage},
    indexed_text::{is_indexed, text_hash},
};
use crate::{
    Error, Result,
    content::{CYCLE_DEPTH, PageEntry, View},
    model::{
        OrgId, PageId, PageUrls, SearchAncestor, SearchPageResult, SearchResultType, SearchSectionResult,
        SearchSite, SearchSpaceResult, SearchSpaceType, SearchText, SiteSearchMode, SiteSearchPart,
        SiteSearchScope, SiteSpaceId, SpaceId,
    },
    platform::{
        access::{self, AccessResolver},
        content::openapi_specs::SpecAudience,
        kernel::{actor::Actor, platform::Platform},
        nouns::{OrgHandle, SiteHandle, SpaceHandle, list_identities},
        publishing::{
            outline::{OutlinePart, SiteOutline},
            visitors::ContentReader,
        },
        sites::view::{Viewer, VisibleSite},
    },
    policy::SpaceAccess,
    ports::search::{Language, PageHit, Query, Rank, Scope, SearchQuery},
    store::{
        CursorFingerprint, Key, ListIdentity, Page, PageRequest, checked_limit, open_cursor,
        records::{SiteSpaceRecord, SpaceRecord},
        seal_cursor, wrong_cursor,
    },
};

/// Maximum number of index queries per page of results. Dropped hits can make a page short.
const MAX_ROUNDS: usize = 8;

impl<'p> SpaceHandle<'p> {
    /// Searches the pages of a space, best match first. A page edited since it was indexed has no excerpt.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Invalid` for an invalid cursor or limit; `Precondition` if the platform has no search index;
    /// `Unavailable` while the index is built for the first time.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::SpaceId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let found = me.space(space).search(&"prices".parse()?, &PageRequest::default()).await?;
    /// for page in found.items {
    ///     println!("{} /{}", page.title, page.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn search(
        self,
        query: &'p SearchText,
        page: &'p PageRequest,
    ) -> Result<Page<SearchPageResult>> {
        let (platform, ref actor, space) = self.parts();
        let tx = platform.read().await?;
        let access = access::space(&tx, actor, space).await?;
        let languages = languages::of_space(&tx, space).await?;
        drop(tx);
        let query = (query, languages.as_slice());
        let scope = Scope::Spaces(BTreeSet::from([space.clone()]));
        let tenant = access.space().organization.as_str();
        let mut walk = SearchPager::new(list_identities::space_search(space), query, scope, tenant, page)?;
        let index = platform.searchable_index().await?;
        let mut items = Vec::new();
        while let Some(ask) = walk.next(items.len()) {
            let hits = index.find_pages(&ask).await?;
            let found: Vec<&PageHit> = hits.iter().collect();
            let shown = platform.resolve_space_hits(access.space(), &found, &Audience::Members).await?;
            let ranks = hits.iter().map(|hit| hit.rank);
            walk.take(&mut items, ranks.zip(shown), hits.len() < ask.limit);
        }
        let first = walk.first_rank();
        items.iter_mut().zip(first..).for_each(|(page, rank)| page.rank = rank);
        Ok(walk.finish(items))
    }
}

impl<'p> OrgHandle<'p> {
    /// Searches the spaces of an organization to which the actor has access. Returns the best pages, grouped by space.
    ///
    /// The limit applies to pages across all spaces. A space can appear again in a later page of results.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member; otherwise same as
    /// [`SpaceHandle::search`](crate::platform::SpaceHandle::search).
    #[boxed]
    pub async fn search(
        self,
        query: &'p SearchText,
        page: &'p PageRequest,
    ) -> Result<Page<SearchSpaceResult>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        let scope = scope::search_scope(&tx, access, actor).await?;
        drop(tx);
        let query = (query, &[Language::English][..]);
        let walk = SearchPager::new(list_identities::org_search(org), query, scope, org.as_str(), page)?;
        platform.search_spaces(actor, org, walk, Audience::Members).await
    }
}

impl<'p> SiteHandle<'p> {
    /// Searches all or some spaces of a published site that are visible to the actor. Returns the best pages, grouped
    /// by space. Conditional pages are omitted.
    ///
    /// The limit applies to pages across all spaces. A space can appear again in a later page of results.
    ///
    /// # Errors
    ///
    /// `NotFound` if the site is not published; `Invalid` for unknown site spaces; otherwise same as
    /// [`SpaceHandle::search`](crate::platform::SpaceHandle::search).
    #[boxed]
    pub async fn search(
        self,
        search: &'p SearchSite,
        page: &'p PageRequest,
    ) -> Result<Page<SearchSpaceResult>> {
        let (platform, ref actor, at, share_key) = self.parts();
        let tx = platform.read().await?;
        let opened = platform.load_visible_site(&tx, actor, at.with_share_key(share_key)).await?;
        let site = &opened.site;
        let languages = languages::of_site(&tx, &site.id).await?;
        drop(tx);
        require_published(&opened)?;
        let spaces = SiteSpaceSelection::from_request(search, &opened.outline)?.spaces(&opened)?;
        let specs = SpecAudience::of_site(site.visibility);
        let audience = match &opened.viewer {
            Viewer::Member(..) => Audience::Public(specs),
            Viewer::Visitor(visitor) => Audience::Visitor(Arc::clone(visitor), specs),
        };
        let list = list_identities::site_search(&site.id, &spaces);
        let scope = Scope::Spaces(spaces.clone());
        let query = (&search.query, languages.as_slice());
        let walk = SearchPager::new(list, query, scope, site.id.as_str(), page)?;
        platform.search_spaces(actor, at.org, walk, audience).await
    }
}

impl<'p> SiteHandle<'p> {
    /// Prepares searches of a published site, so that the first one is as fast as the others: brings the search index
    /// up to date and opens it for the spaces that are visible to the actor.
    ///
    /// # Errors
    ///
    /// `NotFound` if the site is not published; `Unavailable` on timeout; `Precondition` if there is no index.
    #[boxed]
    pub async fn prewarm_search(self) -> Result<()> {
        let (platform, ref actor, at, share_key) = self.parts();
        let tx = platform.read().await?;
        let opened = platform.load_visible_site(&tx, actor, at.with_share_key(share_key)).await?;
        drop(tx);
        require_published(&opened)?;
        let spaces: Vec<SpaceId> = opened.spaces.keys().cloned().collect();
        platform.searchable_index().await?.indexed(&spaces).await?;
        Ok(())
    }
}

/// Rejects searches of a site that is not published.
fn require_published(opened: &VisibleSite) -> Result<()> {
    if opened.is_rendered() {
        return Ok(());
    }
    Err(Error::not_found("published site"))
}

impl Platform {
    async fn search_spaces(
        &self,
        actor: &Actor,
        org: &OrgId,
        mut walk: SearchPager,
        audience: Audience,
    ) -> Result<Page<SearchSpaceResult>> {
        let index = self.searchable_index().await?;
        let mut items = Vec::new();
        while let Some(ask) = walk.next(items.len()) {
            let hits = index.find_pages(&ask).await?;
            let shown = self.resolve_hits(actor, &audience, org, &hits).await?;
            let ranks = hits.iter().map(|hit| hit.rank);
            walk.take(&mut items, ranks.zip(shown), hits.len() < ask.limit);
        }
        let first = walk.first_rank();
        items.iter_mut().zip(first..).for_each(|((_, page), rank)| page.rank = rank);
        let Page { items, next, count } = walk.finish(items);
        Ok(Page { items: group_by_space(items), next, count })
    }

    /// Resolves hits in several spaces against the store. A hit that is not visible to the audience becomes `None`.
    async fn resolve_hits(
        &self,
        actor: &Actor,
        audience: &Audience,
        org: &OrgId,
        hits: &[PageHit],
    ) -> Result<Vec<Option<(Arc<SpaceRecord>, SearchPageResult)>>> {
        let mut places: BTreeMap<&SpaceId, Vec<usize>> = BTreeMap::new();
        for (at, hit) in hits.iter().enumerate() {
            places.entry(&hit.space).or_default().push(at);
        }
        let ids: Vec<&SpaceId> = places.keys().copied().collect();
        let seen = self.visible_spaces(actor, audience, org, &ids).await?;
        let mut shown = vec![None; hits.len()];
        for (id, places) in places {
            let Some(space) = seen.get(id).map(SpaceAccess::space) else { continue };
            let found: Vec<&PageHit> = places.iter().map(|at| &hits[*at]).collect();
            for (at, page) in places.into_iter().zip(self.resolve_space_hits(space, &found, audience).await?)
            {
                shown[at] = page.map(|page| (Arc::clone(space), page));
            }
        }
        Ok(shown)
    }

    /// Returns the spaces currently visible to the actor.
    async fn visible_spaces(
        &self,
        actor: &Actor,
        audience: &Audience,
        org: &OrgId,
        ids: &[&SpaceId],
    ) -> Result<BTreeMap<SpaceId, SpaceAccess>> {
        let tx = self.read().await?;
        let keys: Vec<Key> = ids.iter().map(|id| SpaceRecord::key_for(id)).collect();
        let spaces = tx.get_many::<SpaceRecord>(&keys).await?;
        let live = spaces.into_iter().map(|space| space.filter(|space| space.deleted_at.is_none()));
        let seen: Vec<SpaceAccess> = match audience {
            // The visible spaces of a site were computed at the start of the search.
            Audience::Visitor(..) => live.flatten().map(SpaceAccess::for_visitor).collect(),
            Audience::Members | Audience::Public(_) => {
                let access = access::org(&tx, actor, org).await?;
                AccessResolver::new(access, actor)
                    .spaces(&tx, live.collect())
                    .await?
                    .into_iter()
                    .flatten()
                    .collect()
            }
        };
        Ok(seen.into_iter().map(|access| (access.space().id.clone(), access)).collect())
    }

    /// Resolves hits in one space against the store. A page that is missing or not visible to the audience becomes
    /// `None`.
    async fn resolve_space_hits(
        &self,
        space: &SpaceRecord,
        hits: &[&PageHit],
        audience: &Audience,
    ) -> Result<Vec<Option<SearchPageResult>>> {
        let view = self.content().view(&space.domain, space.root);
        let ids: Vec<PageId> = hits.iter().map(|hit| hit.page.clone()).collect();
        let mut pages = lineage(&view, ids).await?;
        let others: Vec<&PageHit> =
            hits.iter().copied().filter(|hit| !pages.contains_key(&hit.page)).collect();
        let generated = self.found_generated_pages(space, &view, &others, audience).await?;
        match audience {
            Audience::Members => {}
            Audience::Public(_) => pages.retain(|_, page| page.condition.is_none()),
            Audience::Visitor(visitor, _) => {
                let filter = ContentReader::Visitor(Arc::clone(visitor)).content_filter(&view).await?;
                let mut meets = filter.meets(&pages).await?.into_iter();
                pages.retain(|_, _| meets.next().unwrap_or_default());
            }
        }
        let result = |hit: &&PageHit| match generated.get(&hit.page) {
            Some(found) => Ok(Some(self.shown_result(space, hit, found))),
            None => self.page_result(space, hit, &pages),
        };
        hits.iter().map(result).collect()
    }

    fn page_result(
        &self,
        space: &SpaceRecord,
        hit: &PageHit,
        pages: &BTreeMap<PageId, PageEntry>,
    ) -> Result<Option<SearchPageResult>> {
        let id = &hit.page;
        let Some(entry) = pages.get(id).filter(|entry| is_indexed(entry)) else { return Ok(None) };
        let above = |entry: &&PageEntry| entry.parent.as_ref().and_then(|parent| pages.get(parent));
        let line: Vec<&PageEntry> = std::iter::successors(Some(entry), above).take(CYCLE_DEPTH).collect();
        // A page hidden from the audience also hides its descendants.
        let is_whole = line.last().is_none_or(|top| top.parent.is_none());
        if !is_whole || line.iter().any(|entry| entry.no_index) {
            return Ok(None);
        }
        let slugs: Vec<&str> = line.iter().rev().map(|entry| entry.slug.as_str()).collect();
        let above = line.get(1..).unwrap_or_default().iter().rev();
        let found = FoundPage {
            title: entry.title.clone(),
            description: entry.description.clone().unwrap_or_default(),
            ancestors: above.map(|above| SearchAncestor { title: above.title.clone() }).collect(),
            path: slugs.join("/"),
            text: text_hash(entry)?,
        };
        Ok(Some(self.shown_result(space, hit, &found)))
    }

    /// Returns the result for a visible page. Excerpts of a text that has changed since are not shown.
    fn shown_result(&self, space: &SpaceRecord, hit: &PageHit, page: &FoundPage) -> SearchPageResult {
        let FoundPage { title, path, .. } = page;
        let id = &hit.page;
        let app = self.urls().page(&space.id, path);
        let found = if hit.text == page.text { hit.excerpts.as_slice() } else { &[] };
        let sections = found.iter().map(|section| {
            let anchor = section.anchor.as_ref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
            SearchSectionResult {
                id: format!("{id}/{}", section.index),
                title: section.heading.clone().unwrap_or_else(|| title.clone()),
                path: format!("{path}{anchor}"),
                score: hit.rank.score,
                result_type: SearchResultType::Section,
                body: section.body.clone(),
                urls: PageUrls { app: format!("{app}{anchor}") },
            }
        });
        SearchPageResult {
            id: id.clone(),
            title: title.clone(),
            description: page.description.clone(),
            score: hit.rank.score,
            // Set when the page of results is complete.
            rank: 0,
            result_type: if found.is_empty() { SearchResultType::Page } else { SearchResultType::Section },
            ancestors: page.ancestors.clone(),
            sections: sections.collect(),
            path: path.clone(),
            urls: PageUrls { app },
        }
    }
}

/// Groups pages by space. Spaces are ordered by their best page.
fn group_by_space(pages: Vec<(Arc<SpaceRecord>, SearchPageResult)>) -> Vec<SearchSpaceResult> {
    let mut spaces: Vec<SearchSpaceResult> = Vec::new();
    let mut places: HashMap<SpaceId, usize> = HashMap::new();
    for (space, page) in pages {
        let at = *places.entry(space.id.clone()).or_insert_with(|| {
            spaces.push(SearchSpaceResult {
                kind: SearchSpaceType::Is,
                id: space.id.clone(),
                title: space.title.clone(),
                score: page.score,
                pages: Vec::new(),
            });
            spaces.len() - 1
        });
        spaces[at].pages.push(page);
    }
    spaces
}

/// Reads pages and all their ancestors, level by level.
async fn lineage(view: &View, ids: Vec<PageId>) -> Result<BTreeMap<PageId, PageEntry>> {
    let mut pages = BTreeMap::new();
    let mut level: BTreeSet<PageId> = ids.into_iter().collect();
    while !level.is_empty() {
        let ids: Vec<PageId> = level.into_iter().collect();
        let found = view.pages(&ids).await?;
        pages.extend(ids.into_iter().zip(found).filter_map(|(id, entry)| Some((id, entry?))));
        let parents = pages.values().filter_map(|entry: &PageEntry| entry.parent.as_ref());
        level = parents.filter(|id| !pages.contains_key(*id)).cloned().collect();
    }
    Ok(pages)
}

/// The site spaces of a search request.
enum SiteSpaceSelection {
    All,
    /// The given spaces, each with the request field that contains it.
    Listed(Vec<(String, SiteSpaceId)>),
}

impl SiteSpaceSelection {
    fn from_request(search: &SearchSite, outline: &SiteOutline) -> Result<Self> {
        let named = |field: &str, ids: &[String]| -> Result<Vec<(String, SiteSpaceId)>> {
            let each = ids.iter().enumerate().map(|(at, id)| {
                let field = format!("{field}[{at}]");
                id.parse().map(|id| (field.clone(), id)).map_err(|_| unknown_site_space(&field))
            });
            each.collect()
        };
        let some = |field: &str, ids: &[String]| match ids {
            [] => Err(Error::invalid(field, "must have at least one site space")),
            ids => named(field, ids).map(Self::Listed),
        };
        match (&search.scope, search.mode) {
            (Some(SiteSearchScope::All), _) | (None, Some(SiteSearchMode::All)) => Ok(Self::All),
            (Some(SiteSearchScope::Specific { site_space_ids }), _) => {
                some("scope.siteSpaceIds", site_space_ids)
            }
            (Some(SiteSearchScope::Default { included_site_spaces, current_site_space, restrict_to }), _) => {
                let listed = named("scope.includedSiteSpaces", included_site_spaces)?;
                let field = "scope.currentSiteSpace";
                let current = current_site_space.as_deref().map(|id| find_current(outline, field, id));
                let scope = listed.into_iter().chain(default_scope(outline));
                restricted(scope.collect(), current.transpose()?, *restrict_to).map(Self::Listed)
            }
            (None, Some(SiteSearchMode::Current)) => {
                let missing = || Error::invalid("siteSpaceId", "is required for the mode `current`");
                let id = search.site_space_id.as_ref().ok_or_else(missing)?;
                let current = find_current(outline, "siteSpaceId", id)?;
                restricted(default_scope(outline), Some(current), None).map(Self::Listed)
            }
            (None, Some(SiteSearchMode::Specific)) => {
                some("siteSpaceIds", search.site_space_ids.as_deref().unwrap_or_default())
            }
            (None, None) => match &search.site_space_ids {
                Some(ids) => some("siteSpaceIds", ids),
                None => Ok(Self::All),
            },
        }
    }

    /// Returns the spaces at these placements on a site. For members, who are not visitors, only published and
    /// unconditional placements count.
    fn spaces(self, opened: &VisibleSite) -> Result<BTreeSet<SpaceId>> {
        let outline = &opened.outline;
        let is_visitor = matches!(opened.viewer, Viewer::Visitor(_));
        let open = outline.filter(|part| {
            let condition = match part {
                OutlinePart::Section(section) => &section.condition,
                OutlinePart::SiteSpace(place) => &place.condition,
                OutlinePart::Link(link) => &link.condition,
            };
            is_visitor || (condition.is_none() && !outline.is_draft(part))
        });
        let space = |place: &Arc<SiteSpaceRecord>| place.space.clone();
        let Self::Listed(wanted) = self else {
            return Ok(open.all_places().into_iter().map(space).collect());
        };
        for (field, id) in &wanted {
            outline.place(id).ok_or_else(|| unknown_site_space(field))?;
        }
        Ok(wanted.iter().filter_map(|(_, id)| open.place(id)).map(space).collect())
    }
}

/// Returns the default site space of each section, or that of a site without sections.
fn default_scope(outline: &SiteOutline) -> Vec<(String, SiteSpaceId)> {
    let sections = outline.sections().into_iter().map(|section| Some(&section.id));
    let places = sections.chain([None]).filter_map(|section| outline.default_place_in(section));
    places.map(|place| ("scope".to_owned(), place.id.clone())).collect()
}

/// Returns the site space that the visitor is viewing, with the request field that contains it.
fn find_current(outline: &SiteOutline, field: &str, id: &str) -> Result<(String, SiteSpaceId)> {
    let place = id.parse().ok().filter(|id| outline.place(id).is_some());
    place.map(|id| (field.to_owned(), id)).ok_or_else(|| unknown_site_space(field))
}

/// Returns the searched part of a scope that always includes the current site space.
fn restricted(
    mut scope: Vec<(String, SiteSpaceId)>,
    current: Option<(String, SiteSpaceId)>,
    part: Option<SiteSearchPart>,
) -> Result<Vec<(String, SiteSpaceId)>> {
    match (part, current) {
        (None, current) => scope.extend(current),
        (Some(_), None) => {
            let message = "is required with `scope.restrictTo`";
            return Err(Error::invalid("scope.currentSiteSpace", message));
        }
        (Some(SiteSearchPart::CurrentSiteSpace), Some(current)) => scope = vec![current],
        (Some(SiteSearchPart::OtherSiteSpaces), Some((_, current))) => scope.retain(|(_, id)| *id != current),
    }
    Ok(scope)
}

fn unknown_site_space(field: &str) -> Error {
    Error::invalid(field, "the site has no such site space")
}

/// The state of building one page of results.
struct SearchPager {
    query: Query,
    scope: Scope,
    tenant: Box<str>,
    fingerprint: CursorFingerprint,
    limit: usize,
    /// The rank of the last result on the page, and of the last examined hit.
    shown: Option<Rank>,
    after: Option<Rank>,
    /// The number of results on earlier pages.
    before: u64,
    rounds: usize,
    end: PagerState,
}

#[derive(PartialEq, Eq)]
enum PagerState {
    Open,
    /// The page is full, and another one follows.
    Full,
    /// All results have been examined.
    Reached,
}

impl SearchPager {
    /// Begins a search. The languages determine the inflections that match.
    fn new(
        list: ListIdentity,
        (text, languages): (&SearchText, &[Language]),
        scope: Scope,
        tenant: &str,
        page: &PageRequest,
    ) -> Result<Self> {
        let limit = checked_limit(page)?;
        let fingerprint = list.with_part("text", text.as_str()).fingerprint();
        let query = Query::parse_in(text, languages);
        let nowhere = matches!(&scope, Scope::Spaces(spaces) if spaces.is_empty());
        let position =
            page.page.as_ref().map(|token| parse_position(&open_cursor(token, fingerprint)?)).transpose()?;
        let (after, before) = position.unzip();
        let before = before.unwrap_or_default();
        let end =
            if limit == 0 || nowhere || query.is_empty() { PagerState::Reached } else { PagerState::Open };
        let tenant = tenant.into();
        Ok(Self { query, scope, tenant, fingerprint, limit, shown: None, after, before, rounds: 0, end })
    }

    /// Returns the next index query for a page that has `items` results, or `None` if the page is complete.
    fn next(&mut self, items: usize) -> Option<SearchQuery> {
        if self.end == PagerState::Open && self.rounds == MAX_ROUNDS {
            // Few of the hits are visible: end the page here and continue on the next one.
            self.end = PagerState::Full;
            self.shown = self.after;
        }
        if self.end != PagerState::Open {
            return None;
        }
        self.rounds += 1;
        // One more than the page holds, to detect a next page.
        let limit = self.limit - items + 1;
        Some(SearchQuery {
            query: self.query.clone(),
            scope: self.scope.clone(),
            after: self.after,
            limit,
            tenant: self.tenant.clone(),
        })
    }

    /// Adds visible hits to the page.
    fn take<T>(
        &mut self,
        items: &mut Vec<T>,
        found: impl IntoIterator<Item = (Rank, Option<T>)>,
        is_last: bool,
    ) {
        for (rank, item) in found {
            if item.is_some() && items.len() == self.limit {
                self.end = PagerState::Full;
                return;
            }
            self.after = Some(rank);
            if let Some(item) = item {
                items.push(item);
                self.shown = Some(rank);
            }
        }
        if is_last {
            self.end = PagerState::Reached;
        }
    }

    /// Returns the position of the first result of the page among all results.
    const fn first_rank(&self) -> u64 {
        self.before + 1
    }

    fn finish<T>(self, items: Vec<T>) -> Page<T> {
        let shown = self.before + items.len() as u64;
        let position = |rank: Rank| format!("{}!{}!{shown}", rank.score, rank.tie);
        let next = self.shown.filter(|_| self.end == PagerState::Full);
        Page { items, next: next.map(|rank| seal_cursor(&position(rank), self.fingerprint)), count: None }
    }
}

/// Parses the position contained in a cursor: a rank, and the number of results up to it.
fn parse_position(position: &str) -> Result<(Rank, u64)> {
    let mut parts = position.splitn(3, '!');
    let mut read = || {
        let rank = Rank { score: parts.next()?.parse().ok()?, tie: parts.next()?.parse().ok()? };
        Some((rank, parts.next()?.parse().ok()?))
    };
    read().ok_or_else(wrong_cursor)
}
