//! Links and backlinks of content.
//!
//! A revision stores the status of links within itself. Links to other content are resolved for the caller.

mod frame;
mod listing;
mod outside;

use std::{collections::BTreeSet, sync::Arc};

use docs_macros::boxed;

use self::{
    frame::{Frame, Things},
    listing::{CursorPlace, Listing, Rows},
    outside::Outside,
};
use crate::{
    Error, Result,
    content::{ContentError, Link, LinkRange, LinkSource, LinkTarget, Standing, View},
    model::{
        BrokenContext, BrokenLinks, ContentLocation, ContentRef, LinkList, LinkStats, LinkStatus, LinkUsage,
        List, PageId, RevisionId, SpaceId, VersionContext,
    },
    platform::{
        access,
        content::{change_requests, read::Located},
        kernel::{actor::Actor, content_of::ContentOf, platform::Platform},
        nouns::{ChangeRequestHandle, ContentHandle, RequestRef, SpaceHandle, list_identities},
    },
    store::{
        Key, ListIdentity, MAX_SCANNED, Page, PageRequest, Tx, checked_limit, open_cursor,
        records::{ChangeRequestRecord, RevisionRecord},
        wrong_cursor,
    },
};

/// Maximum number of links that one read of the content returns.
const LINKS_AT_ONCE: usize = 1_000;
/// Maximum number of external links that are resolved for the totals. Further ones count with their stored status,
/// which is never broken.
const MAX_JUDGED: usize = 5_000;

/// Filter of the links of a change request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestLinkFilter {
    /// Only links with this status.
    pub status: Option<LinkStatus>,
    /// Only broken links with this origin.
    pub broken_context: Option<BrokenContext>,
}

impl<'p> SpaceHandle<'p> {
    /// Lists the links in the live content of a space, broken links first. A cursor is bound to the revision of its
    /// first page.
    #[boxed]
    pub async fn list_links(self, status: Option<LinkStatus>, page: &'p PageRequest) -> Result<LinkList> {
        let (platform, ref actor, space) = self.parts();
        let of = ContentOf::space(space.clone());
        let listing = platform.open(actor, &of, list_identities::links(status), page).await?;
        platform.list(actor, listing, None, status).await
    }
}

impl<'p> ContentHandle<'p> {
    /// Lists the links on a page, broken links first. A cursor is bound to the revision of its first page.
    #[boxed]
    pub async fn list_page_links(
        self,
        id: &'p PageId,
        status: Option<LinkStatus>,
        page: &'p PageRequest,
    ) -> Result<LinkList> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_of();
        let listing = platform.open(actor, of, list_identities::page_links(id, status), page).await?;
        listing.require(&LinkTarget::Page(id.clone())).await?;
        platform.list(actor, listing, Some(LinkSource::Page(id.clone())), status).await
    }

    /// Lists the pages and reusable contents that link to a page or file of the same content. Links to itself are
    /// omitted.
    ///
    /// A cursor is bound to the revision of its first page.
    #[boxed]
    pub async fn list_backlinks(
        self,
        target: &'p LinkTarget,
        page: &'p PageRequest,
    ) -> Result<Page<ContentLocation>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_of();
        let listing = platform.open(actor, of, list_identities::backlinks(target), page).await?;
        listing.require(target).await?;
        let after = listing.after.as_deref().map(source_at).transpose()?;
        let found = listing.view.backlinks(target, after.as_ref(), listing.limit + 1).await?;
        let mut found: Vec<LinkSource> = found.into_iter().map(|(source, _)| source).collect();
        let count = listing.view.backlink_count(target).await?;
        let more = found.len() > listing.limit;
        found.truncate(listing.limit);
        let next = found.last().filter(|_| more).map(|last| listing.cursor(&position_of(last)));
        let wanted = found.iter().map(thing_of).collect();
        let things = platform.things(&listing.frame, wanted).await?;
        let items =
            found.iter().filter_map(|source| things.location(&listing.frame, &thing_of(source), None));
        Ok(Page { items: items.collect(), next, count: Some(count) })
    }
}

impl<'p> ChangeRequestHandle<'p> {
    /// Lists the links that a change request adds, and links whose status it changes, for example by removing their
    /// target.
    ///
    /// With `broken_context`, lists only broken links: those of the request, or those that its content inherits from
    /// the space. The statistics cover all links in the content of the request.
    ///
    /// # Errors
    /// `Invalid` for a broken context together with another status.
    #[boxed]
    pub async fn list_links(self, filter: RequestLinkFilter, page: &'p PageRequest) -> Result<LinkList> {
        let Self { caller, at: RequestRef { space, request } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let RequestLinkFilter { status, broken_context } = filter;
        let status = match (status, broken_context) {
            (Some(LinkStatus::Ok | LinkStatus::InApp), Some(_)) => {
                return Err(Error::invalid("brokenContext", "is allowed only with the status `broken`"));
            }
            (status, None) => status,
            (_, Some(_)) => Some(LinkStatus::Broken),
        };
        let of = ContentOf::request(space.clone(), request);
        let list = list_identities::request_links(status, broken_context);
        let listing = platform.open(actor, &of, list, page).await?;
        let mut outside = Outside::new(platform, actor, &listing.frame);
        let changed = listing.changed(platform, None).await?;
        let stats = platform.stats(&listing, None, &changed, &mut outside).await?;
        let request_broken = stats.broken.change_request.unwrap_or_default();
        let count = match (status, broken_context) {
            (None, _) => Some(changed.len() as u64),
            (Some(LinkStatus::Broken), Some(BrokenContext::Space)) => {
                Some(stats.broken.total.saturating_sub(request_broken))
            }
            (Some(LinkStatus::Broken), _) => Some(request_broken),
            _ => None,
        };
        let rows = match broken_context {
            Some(BrokenContext::Space) => {
                let changed = changed.into_iter().map(|(key, _)| key).collect();
                Rows::Inherited(&listing.view, changed)
            }
            _ => Rows::Listed(changed),
        };
        let chosen = platform.choose(&listing, &rows, status, &mut outside).await?;
        let items = platform.usages(&listing.frame, chosen.links, &outside).await?;
        let next = chosen.next.map(|key| listing.cursor(&key));
        Ok(LinkList::new(List::from(Page { items, next, count }), stats))
    }
}

impl Platform {
    async fn list(
        &self,
        actor: &Actor,
        listing: Listing,
        source: Option<LinkSource>,
        status: Option<LinkStatus>,
    ) -> Result<LinkList> {
        let mut outside = Outside::new(self, actor, &listing.frame);
        let changed = listing.changed(self, source.as_ref()).await?;
        let stats = self.stats(&listing, source.as_ref(), &changed, &mut outside).await?;
        let count = match status {
            None => Some(stats.total),
            Some(LinkStatus::Broken) => Some(stats.broken.total),
            Some(LinkStatus::Ok | LinkStatus::InApp) => None,
        };
        let rows = Rows::Of(&listing.view, source);
        let chosen = self.choose(&listing, &rows, status, &mut outside).await?;
        let items = self.usages(&listing.frame, chosen.links, &outside).await?;
        let next = chosen.next.map(|key| listing.cursor(&key));
        Ok(LinkList::new(List::from(Page { items, next, count }), stats))
    }

    /// Counts the links. Costs O(log n) plus the resolution of external links, at most [`MAX_JUDGED`].
    async fn stats(
        &self,
        listing: &Listing,
        source: Option<&LinkSource>,
        changed: &[(Key, Link)],
        outside: &mut Outside<'_>,
    ) -> Result<LinkStats> {
        let counts = listing.view.link_counts(source).await?;
        let mut broken = counts.broken;
        let range = LinkRange { standing: Standing::Outside, source: source.cloned() };
        let mut after: Option<Key> = None;
        for _ in 0..MAX_JUDGED / LINKS_AT_ONCE {
            let rows = listing.view.links(&range, after.as_deref(), LINKS_AT_ONCE).await?;
            outside.load_all(&rows).await?;
            let missing = rows.iter().filter(|(_, link)| !outside.is_there(&link.reference)).count();
            broken += missing as u64;
            match rows.last() {
                Some((last, _)) if rows.len() == LINKS_AT_ONCE => after = Some(Key::clone(last)),
                _ => break,
            }
        }
        let change_request = match &listing.base {
            None => None,
            Some(_) => {
                let broken = |link: &Link| self.status(link, outside) == LinkStatus::Broken;
                Some(changed.iter().filter(|(_, link)| broken(link)).count() as u64)
            }
        };
        Ok(LinkStats { total: counts.total, broken: BrokenLinks { total: broken, change_request } })
    }

    fn status(&self, link: &Link, outside: &Outside<'_>) -> LinkStatus {
        match link.standing {
            Standing::Broken => LinkStatus::Broken,
            Standing::Inside => LinkStatus::Ok,
            Standing::Outside if !outside.is_there(&link.reference) => LinkStatus::Broken,
            Standing::Outside => LinkStatus::Ok,
            Standing::Web => match &link.reference {
                ContentRef::Url { url } if self.urls().is_app(url) => LinkStatus::InApp,
                _ => LinkStatus::Ok,
            },
        }
    }

    /// Selects the links of one page. A page may be short and have a next one if a filter drops many links.
    async fn choose(
        &self,
        listing: &Listing,
        rows: &Rows<'_>,
        status: Option<LinkStatus>,
        outside: &mut Outside<'_>,
    ) -> Result<Chosen> {
        let mut chosen = Chosen::default();
        if listing.limit == 0 {
            return Ok(chosen);
        }
        let mut after = listing.after.clone();
        let mut scanned = 0;
        loop {
            let wanted = listing.limit - chosen.links.len() + 1;
            // The first page had misses, so the filter is selective: read larger batches.
            let wanted = if scanned == 0 { wanted } else { (4 * wanted).min(LINKS_AT_ONCE) };
            let found = rows.after(status, after.as_deref(), wanted).await?;
            outside.load_all(&found).await?;
            let end = found.len() < wanted;
            for (key, link) in found {
                if chosen.links.len() == listing.limit {
                    chosen.next = after;
                    return Ok(chosen);
                }
                scanned += 1;
                let stands = self.status(&link, outside);
                if rows.takes(&key) && status.is_none_or(|status| status == stands) {
                    chosen.links.push((link, stands));
                }
                after = Some(key.to_string());
            }
            if end {
                return Ok(chosen);
            }
            if scanned >= MAX_SCANNED {
                chosen.next = after;
                return Ok(chosen);
            }
        }
    }

    /// Builds the views of links. All sources and targets are read in batches.
    async fn usages(
        &self,
        frame: &Frame,
        links: Vec<(Link, LinkStatus)>,
        outside: &Outside<'_>,
    ) -> Result<Vec<LinkUsage>> {
        let mut wanted = BTreeSet::new();
        for (link, _) in &links {
            wanted.insert(thing_of(&link.source));
            wanted.extend(frame.target_of(link).map(|(target, _)| target));
        }
        let things = self.things(frame, wanted).await?;
        let show = |(link, status): (Link, LinkStatus)| LinkUsage {
            status,
            relation: link.relation,
            target_reference: target_location(&link, frame, &things, outside),
            location_references: things.location(frame, &thing_of(&link.source), None).into_iter().collect(),
        };
        Ok(links.into_iter().map(show).collect())
    }

    /// Locates the content and the position of the cursor.
    async fn open(
        &self,
        actor: &Actor,
        of: &ContentOf,
        list: ListIdentity,
        page: &PageRequest,
    ) -> Result<Listing> {
        let tx = self.read().await?;
        let at = self.locate(&tx, actor, of).await?;
        let limit = checked_limit(page)?;
        let fingerprint = of.identify(list).fingerprint();
        let request = match of.request_name() {
            None => None,
            Some(name) => Some(change_requests::find(&tx, &of.space, name).await?),
        };
        let place = match &page.page {
            None => CursorPlace {
                revision: at.revision.clone(),
                base: request.as_ref().map(|request| request.base().clone()),
                after: None,
            },
            Some(token) => CursorPlace::read(&open_cursor(token, fingerprint)?, request.as_deref())?,
        };
        // A cursor can only name revisions of this space, even a forged one.
        let revision = revision_of(&tx, &of.space, &place.revision).await?;
        let base = match &place.base {
            None => None,
            Some(id) => Some((id.clone(), revision_of(&tx, &of.space, id).await?.root)),
        };
        let context = self.context(&tx, actor, &at, &revision, request.as_ref()).await?;
        let view = self.content().view(&at.space().domain, revision.root);
        let frame = self.frame(&tx, actor, &at, context, view.clone()).await?;
        // Objects may need the same connection pool as the transaction, so it is ended first.
        drop(tx);
        if page.page.is_some() {
            // The revision of a cursor may be removed; the current revision of a space or request is not.
            view.link_counts(None).await.map_err(gone)?;
        }
        Ok(Listing { frame, view, revision: place.revision, base, after: place.after, limit, fingerprint })
    }

    async fn context(
        &self,
        tx: &Tx,
        actor: &Actor,
        at: &Located,
        revision: &RevisionRecord,
        request: Option<&Arc<ChangeRequestRecord>>,
    ) -> Result<VersionContext> {
        if let Some(request) = request {
            let shown = self.request_views(tx, actor, at.space(), std::slice::from_ref(request)).await?;
            let shown = shown.into_iter().next().ok_or_else(|| Error::not_found("change request"))?;
            return Ok(VersionContext::ChangeRequest { change_request: Box::new(shown) });
        }
        let revision = self.bare_revision(tx, actor, at.space(), revision).await?;
        Ok(VersionContext::Revision { revision: Box::new(revision) })
    }

    async fn frame(
        &self,
        tx: &Tx,
        actor: &Actor,
        at: &Located,
        context: VersionContext,
        view: View,
    ) -> Result<Frame> {
        let org = access::org(tx, actor, &at.space().organization).await?;
        let organization = self.org_views(tx, actor, &[org]).await?.pop();
        let space = self.space_views(tx, std::slice::from_ref(&at.access)).await?.pop();
        Ok(Frame {
            organization: organization.ok_or_else(|| Error::not_found("organization"))?,
            space: space.ok_or_else(|| Error::not_found("space"))?,
            context: Some(context),
            record: Arc::clone(at.access.space()),
            view,
            bearer: at.bearer.clone(),
        })
    }
}

/// Reads the revision of a cursor or the current one.
async fn revision_of(tx: &Tx, space: &SpaceId, id: &RevisionId) -> Result<Arc<RevisionRecord>> {
    let found: Option<Arc<RevisionRecord>> = tx.get(&RevisionRecord::at(space, id)).await?;
    found.ok_or_else(wrong_cursor)
}

fn gone(error: ContentError) -> Error {
    match error {
        ContentError::NotFound(_) => Error::invalid(
            "page",
            "the revision of this cursor no longer exists; start again from the \
                                    first page",
        ),
        other => other.into(),
    }
}

/// The links on a page of a list, and the position of the last one if there may be more.
#[derive(Default)]
struct Chosen {
    links: Vec<(Link, LinkStatus)>,
    next: Option<String>,
}

/// Location of the target if the caller may see it. Otherwise the destination in the source, so that a broken link can
/// be found.
fn target_location(
    link: &Link,
    frame: &Frame,
    things: &Things,
    outside: &Outside<'_>,
) -> Option<ContentLocation> {
    let found = match frame.target_of(link) {
        Some((target, anchor)) => things.location(frame, &target, anchor),
        None => outside.find(&link.reference),
    };
    found.or_else(|| Some(ContentLocation::Url { url: link.destination() }))
}

fn thing_of(source: &LinkSource) -> LinkTarget {
    match source {
        LinkSource::Page(id) => LinkTarget::Page(id.clone()),
        LinkSource::Reusable(id) => LinkTarget::Reusable(id.clone()),
    }
}

/// Encodes a source as a position in a list of backlinks.
fn position_of(source: &LinkSource) -> String {
    match source {
        LinkSource::Page(id) => format!("p!{id}"),
        LinkSource::Reusable(id) => format!("r!{id}"),
    }
}

fn source_at(position: &str) -> Result<LinkSource> {
    let source = match position.split_once('!') {
        Some(("p", id)) => id.parse().ok().map(LinkSource::Page),
        Some(("r", id)) => id.parse().ok().map(LinkSource::Reusable),
        _ => None,
    };
    source.ok_or_else(wrong_cursor)
}
