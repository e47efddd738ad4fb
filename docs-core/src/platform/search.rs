//! Search in a space, in an organization, and on a site.
//!
//! The index is asked first, and what it answers is then shown as the store has it: rights, titles and paths come from
//! a snapshot, and what is gone there, or may not be seen, is left out. Excerpts are of the text that the index has, so
//! they are shown only of a page that still has this text: one that was edited since the index last followed stands there
//! without. So an index that is behind shows too little, never what was removed.

mod follow;
mod range;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub(super) use follow::{Follower, Round};

use super::{
    Actor, Platform,
    access::{self, Sight},
    sites::{Opened, Part, Viewer},
    visitors::{Eyes, Sighted},
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::{ENDLESS, PageEntry, PageKind, View},
    model::{
        OrgId, PageId, PageUrls, SearchPageResult, SearchSectionResult, SearchSite, SearchSpaceResult,
        SearchText, SiteId, SiteSearchMode, SiteSearchScope, SiteSpaceId, SpaceId,
    },
    policy::SpaceAccess,
    ports::{
        SearchIndex,
        search::{MAX_HITS, PageHit, Query, Rank, Scope, SearchQuery},
    },
    store::{
        Hash, Key, Page, PageRequest, checked_limit, cursor_fingerprint, open_cursor,
        records::{SiteSpaceRecord, SpaceRecord},
        seal_cursor,
    },
};

/// Most pages that are shown of a space when several are searched; a search in the space itself gives them all.
const PAGES_OF_A_SPACE: usize = 50;
/// How often the index is asked for one page of a list: where the store drops what it found, the page is short.
const MAX_ROUNDS: usize = 8;

/// For whom something is found.
#[derive(Clone, Debug)]
enum Audience {
    /// People who work on the content: they see it all.
    Members,
    /// Anybody who comes to a site: what depends on a visitor is for nobody of whom nothing is known.
    Anybody,
    /// A visitor of a site.
    Visitor(Arc<Sighted>),
}

impl Platform {
    /// Searches the pages of a space (SPEC 4.7), the best first. Of a page that was edited since the index last
    /// followed, no text is shown.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit; `Precondition` where the platform has no search index.
    pub fn search_space<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        query: &'a SearchText,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<SearchPageResult>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let access = access::space(&tx, actor, space).await?;
            drop(tx);
            let scope = Scope::Spaces(BTreeSet::from([space.clone()]));
            let mut walk = Walk::new(&["space", space.as_str()], (query, scope), page)?;
            let index = self.index()?;
            let mut items = Vec::new();
            while let Some(ask) = walk.next(items.len()) {
                let hits = index.find_pages(&ask).await?;
                let shown = self.shown(access.space(), &hits, &Audience::Members).await?;
                let ranks = hits.iter().map(|hit| hit.rank);
                walk.take(&mut items, ranks.zip(shown), hits.len() < ask.limit);
            }
            Ok(walk.finish(items))
        })
    }

    /// Searches the spaces of an organization that the actor may see (SPEC 4.10), those with the best pages first: up to
    /// 50 pages of each. A page of the list ends where its spaces have about [`MAX_HITS`] pages, and the next goes on.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member; otherwise as [`search_space`](Platform::search_space).
    pub fn search_org<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        query: &'a SearchText,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<SearchSpaceResult>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let access = access::org(&tx, actor, org).await?;
            let scope = range::spaces_of(&tx, access, actor).await?;
            drop(tx);
            let walk = Walk::new(&["org", org.as_str()], (query, scope), page)?;
            self.search_spaces(actor, org, walk, Audience::Members).await
        })
    }

    /// Searches the spaces of a published site, or some of them, that the actor may see. Pages with a condition are
    /// for those only who meet it, and are left out.
    ///
    /// # Errors
    /// `NotFound` while the site is not published; `Invalid` for site spaces that it does not have; otherwise as
    /// [`search_space`](Platform::search_space).
    pub fn search_site<'a>(
        &'a self,
        actor: &'a Actor,
        (org, site): (&'a OrgId, &'a SiteId),
        search: &'a SearchSite,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<SearchSpaceResult>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let opened = self.opened(&tx, actor, (org, site).into()).await?;
            drop(tx);
            let site = &opened.site;
            if !site.published {
                return Err(Error::not_found("published site"));
            }
            let default = opened.outline.default_place().map(|place| &place.id);
            let spaces = Wanted::of(search, default)?.spaces(&opened)?;
            let audience = match &opened.viewer {
                Viewer::Member(..) => Audience::Anybody,
                Viewer::Visitor(visitor) => Audience::Visitor(Arc::clone(visitor)),
            };
            let names: Vec<&str> = spaces.iter().map(SpaceId::as_str).collect();
            let list = ["site", site.id.as_str(), &names.join(",")];
            let walk = Walk::new(&list, (&search.query, Scope::Spaces(spaces.clone())), page)?;
            self.search_spaces(actor, org, walk, audience).await
        })
    }

    async fn search_spaces(
        &self,
        actor: &Actor,
        org: &OrgId,
        mut walk: Walk,
        audience: Audience,
    ) -> Result<Page<SearchSpaceResult>> {
        let index = self.index()?;
        let (mut items, mut read) = (Vec::new(), 0);
        while let Some(ask) = walk.next(items.len()) {
            let hits = index.find_spaces(&ask, PAGES_OF_A_SPACE).await?;
            let ids: Vec<&SpaceId> = hits.iter().filter_map(|hit| Some(&hit.pages.first()?.space)).collect();
            let seen = self.still_seen((actor, &audience), org, &ids).await?;
            let mut shown = Vec::with_capacity(hits.len());
            for hit in &hits {
                let space = hit.pages.first().and_then(|page| seen.get(&page.space));
                let Some(space) = space else {
                    shown.push((hit.rank, None));
                    continue;
                };
                let pages = self.shown(space.space(), &hit.pages, &audience).await?;
                let pages: Vec<SearchPageResult> = pages.into_iter().flatten().collect();
                let found = (!pages.is_empty()).then(|| SearchSpaceResult {
                    id: space.space().id.clone(),
                    title: space.space().title.clone(),
                    pages,
                });
                shown.push((hit.rank, found));
            }
            let pages: usize = hits.iter().map(|hit| hit.pages.len()).sum();
            walk.take(&mut items, shown, hits.len() < ask.limit && pages < MAX_HITS);
            read += pages;
            if read >= MAX_HITS {
                walk.is_enough();
            }
        }
        Ok(walk.finish(items))
    }

    /// The search index.
    fn index(&self) -> Result<&dyn SearchIndex> {
        let missing = || Error::new(ErrorKind::Precondition, "this server has no search index");
        self.follower().map(Follower::index).ok_or_else(missing)
    }

    /// Those of these spaces that the actor may see now.
    async fn still_seen(
        &self,
        (actor, audience): (&Actor, &Audience),
        org: &OrgId,
        ids: &[&SpaceId],
    ) -> Result<BTreeMap<SpaceId, SpaceAccess>> {
        let tx = self.read().await?;
        let keys: Vec<Key> = ids.iter().map(|id| SpaceRecord::at(id)).collect();
        let spaces = tx.get_many::<SpaceRecord>(&keys).await?;
        let live = spaces.into_iter().map(|space| space.filter(|space| space.deleted_at.is_none()));
        let seen: Vec<SpaceAccess> = match audience {
            // What the site shows the visitor was found out when the search began.
            Audience::Visitor(_) => live.flatten().map(SpaceAccess::of_visitor).collect(),
            Audience::Members | Audience::Anybody => {
                let access = access::org(&tx, actor, org).await?;
                Sight::new(access, actor).spaces(&tx, live.collect()).await?.into_iter().flatten().collect()
            }
        };
        Ok(seen.into_iter().map(|access| (access.space().id.clone(), access)).collect())
    }

    /// What was found, as the space has it now; `None` for what it does not have, or not for this audience.
    async fn shown(
        &self,
        space: &SpaceRecord,
        hits: &[PageHit],
        audience: &Audience,
    ) -> Result<Vec<Option<SearchPageResult>>> {
        let view = self.content().view(&space.domain, space.root);
        let ids: Vec<PageId> = hits.iter().map(|hit| hit.page.clone()).collect();
        let mut pages = lineage(&view, ids).await?;
        match audience {
            Audience::Members => {}
            Audience::Anybody => pages.retain(|_, page| page.condition.is_none()),
            Audience::Visitor(visitor) => {
                let lens = Eyes::Visitor(Arc::clone(visitor)).lens(&view).await?;
                pages.retain(|id, page| lens.meets(id, page));
            }
        }
        hits.iter().map(|hit| self.page_result(space, hit, &pages)).collect()
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
        let line: Vec<&PageEntry> = std::iter::successors(Some(entry), above).take(ENDLESS).collect();
        // A page that is not for the audience hides what stands below it.
        let is_whole = line.last().is_none_or(|top| top.parent.is_none());
        if !is_whole || line.iter().any(|entry| entry.no_index) {
            return Ok(None);
        }
        let slugs: Vec<&str> = line.iter().rev().map(|entry| entry.slug.as_str()).collect();
        let path = slugs.join("/");
        let app = self.urls().page(&space.id, &path);
        let found = if hit.text == text_of(entry)? { hit.excerpts.as_slice() } else { &[] };
        let sections = found.iter().map(|section| {
            let anchor = section.anchor.as_ref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
            SearchSectionResult {
                id: format!("{id}/{}", section.index),
                title: section.heading.clone().unwrap_or_else(|| entry.title.clone()),
                path: format!("{path}{anchor}"),
                body: section.body.clone(),
                urls: PageUrls { app: format!("{app}{anchor}") },
            }
        });
        Ok(Some(SearchPageResult {
            id: id.clone(),
            title: entry.title.clone(),
            sections: sections.collect(),
            path,
            urls: PageUrls { app },
        }))
    }
}

/// Whether a page is in the index at all.
fn is_indexed(entry: &PageEntry) -> bool {
    entry.kind == PageKind::Document && !entry.no_index
}

/// Which text a page has: equal for equal texts.
fn text_of(entry: &PageEntry) -> Result<Hash> {
    Ok(Hash::of(&serde_json::to_vec(&entry.body).map_err(Error::internal)?))
}

/// Pages and all pages above them, read level by level.
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

/// Which site spaces a search is about.
enum Wanted {
    All,
    /// These, each with the field that names it.
    Some(Vec<(String, SiteSpaceId)>),
}

impl Wanted {
    fn of(search: &SearchSite, default: Option<&SiteSpaceId>) -> Result<Self> {
        let named = |field: &str, ids: &[String]| -> Result<Vec<(String, SiteSpaceId)>> {
            let each = ids.iter().enumerate().map(|(at, id)| {
                let field = format!("{field}[{at}]");
                id.parse().map(|id| (field.clone(), id)).map_err(|_| unknown(&field))
            });
            each.collect()
        };
        let some = |field: &str, ids: &[String]| match ids {
            [] => Err(Error::invalid(field, "must name at least one site space")),
            ids => named(field, ids).map(Self::Some),
        };
        match (&search.scope, search.mode) {
            (Some(SiteSearchScope::All), _) | (None, Some(SiteSearchMode::All)) => Ok(Self::All),
            (Some(SiteSearchScope::Specific { site_space_ids }), _) => {
                some("scope.siteSpaceIds", site_space_ids)
            }
            (Some(SiteSearchScope::Default { included_site_spaces }), _) => {
                let mut wanted = named("scope.includedSiteSpaces", included_site_spaces)?;
                wanted.extend(default.map(|default| ("scope".to_owned(), default.clone())));
                Ok(Self::Some(wanted))
            }
            (None, Some(SiteSearchMode::Current)) => {
                let missing = || Error::invalid("siteSpaceId", "is required with the mode `current`");
                let id = search.site_space_id.as_ref().ok_or_else(missing)?;
                let id = id.parse().map_err(|_| unknown("siteSpaceId"))?;
                Ok(Self::Some(vec![("siteSpaceId".to_owned(), id)]))
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

    /// The spaces in these places of a site. For a member, who is no visitor, those that depend on nothing.
    fn spaces(self, opened: &Opened) -> Result<BTreeSet<SpaceId>> {
        let outline = &opened.outline;
        let is_visitor = matches!(opened.viewer, Viewer::Visitor(_));
        let open = outline.filter(|part| {
            is_visitor
                || match part {
                    Part::Section(section) => section.condition.is_none(),
                    Part::Place(place) => place.condition.is_none(),
                }
        });
        let space = |place: &Arc<SiteSpaceRecord>| place.space.clone();
        let Self::Some(wanted) = self else {
            return Ok(open.all_places().into_iter().map(space).collect());
        };
        for (field, id) in &wanted {
            outline.place(id).ok_or_else(|| unknown(field))?;
        }
        Ok(wanted.iter().filter_map(|(_, id)| open.place(id)).map(space).collect())
    }
}

fn unknown(field: &str) -> Error {
    Error::invalid(field, "the site has no such site space")
}

/// A walk along what was found: one page of a list.
struct Walk {
    query: Query,
    scope: Scope,
    fingerprint: [u8; 8],
    limit: usize,
    /// The last item of the page, and the last that was looked at.
    shown: Option<Rank>,
    after: Option<Rank>,
    rounds: usize,
    end: End,
}

#[derive(PartialEq, Eq)]
enum End {
    Open,
    /// There is more.
    Full,
    /// There is no more.
    Reached,
}

impl Walk {
    fn new(list: &[&str], (text, scope): (&SearchText, Scope), page: &PageRequest) -> Result<Self> {
        let limit = checked_limit(page)?;
        let parts: Vec<&str> = ["search", text.as_str()].into_iter().chain(list.iter().copied()).collect();
        let fingerprint = cursor_fingerprint(&parts, false);
        let query = Query::parse(text);
        let nowhere = matches!(&scope, Scope::Spaces(spaces) if spaces.is_empty());
        let after = page.page.as_ref().map(|token| rank(&open_cursor(token, fingerprint)?)).transpose()?;
        let end = if limit == 0 || nowhere || query.is_empty() { End::Reached } else { End::Open };
        Ok(Self { query, scope, fingerprint, limit, shown: None, after, rounds: 0, end })
    }

    /// Ends the page of the list with what it has: the next page goes on from here.
    fn is_enough(&mut self) {
        self.rounds = MAX_ROUNDS;
    }

    /// What to ask the index next, given how many items the page has; `None` when it is done.
    fn next(&mut self, items: usize) -> Option<SearchQuery> {
        if self.end == End::Open && self.rounds == MAX_ROUNDS {
            // Too little of what was found may be shown: the next page goes on from here.
            self.end = End::Full;
            self.shown = self.after;
        }
        if self.end != End::Open {
            return None;
        }
        self.rounds += 1;
        // One more than fits tells whether there is a next page.
        let limit = self.limit - items + 1;
        Some(SearchQuery { query: self.query.clone(), scope: self.scope.clone(), after: self.after, limit })
    }

    /// Takes what was found: what may be shown goes onto the page.
    fn take<T>(
        &mut self,
        items: &mut Vec<T>,
        found: impl IntoIterator<Item = (Rank, Option<T>)>,
        is_last: bool,
    ) {
        for (rank, item) in found {
            if item.is_some() && items.len() == self.limit {
                self.end = End::Full;
                return;
            }
            self.after = Some(rank);
            if let Some(item) = item {
                items.push(item);
                self.shown = Some(rank);
            }
        }
        if is_last {
            self.end = End::Reached;
        }
    }

    fn finish<T>(self, items: Vec<T>) -> Page<T> {
        let position = |rank: Rank| format!("{}!{}", rank.score, rank.tie);
        let next = self.shown.filter(|_| self.end == End::Full);
        Page { items, next: next.map(|rank| seal_cursor(&position(rank), self.fingerprint)), count: None }
    }
}

/// The place that a cursor names.
fn rank(position: &str) -> Result<Rank> {
    let read = |(score, tie): (&str, &str)| Some(Rank { score: score.parse().ok()?, tie: tie.parse().ok()? });
    let wrong = || Error::invalid("page", "not a cursor of this list");
    position.split_once('!').and_then(read).ok_or_else(wrong)
}
