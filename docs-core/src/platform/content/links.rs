//! Links and backlinks of content.
//!
//! A revision stores the status of its internal links. Links to other content are resolved per caller, and anchors are
//! looked up in the text of the target page.

mod anchors;
pub(in crate::platform) mod broken;
mod external;
mod listing;
mod location;

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use docs_macros::boxed;

use self::{
    anchors::PageAnchors,
    external::ExternalTargets,
    listing::{CursorPlace, LinkRows, Listing},
    location::{LinkTargets, LocationContext},
};
use crate::{
    Error, Result,
    content::{ContentError, Link, LinkRange, LinkSource, LinkState, LinkTarget, View},
    model::{
        BrokenContext, BrokenLinks, ContentLocation, ContentRef, LinkList, LinkStats, LinkStatus, LinkUsage,
        List, PageId, RevisionId, SpaceId, VersionContext,
    },
    platform::{
        access,
        content::{change_requests, read::ReadableRevision},
        kernel::{actor::Actor, content_version::ContentVersion, platform::Platform},
        nouns::{ChangeRequestHandle, ContentHandle, RequestRef, SpaceHandle, list_identities},
    },
    store::{
        Key, ListIdentity, MAX_SCANNED, Page, PageRequest, Tx, checked_limit, open_cursor,
        records::{ChangeRequestRecord, RevisionRecord},
        wrong_cursor,
    },
};

/// Maximum number of links per read of the content.
const LINK_BATCH: usize = 1_000;
/// Maximum number of external links, and of anchor links, resolved for the statistics. Further links count with their
/// stored status, which is never broken.
const MAX_RESOLVED_LINKS: usize = 5_000;

/// Filter for the links of a change request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestLinkFilter {
    /// Only links with this status.
    pub status: Option<LinkStatus>,
    /// Only broken links with this origin.
    pub broken_context: Option<BrokenContext>,
}

impl<'p> SpaceHandle<'p> {
    /// Lists the links in the live content of a space, broken links first. A cursor is bound to the revision of its
    /// first page of results.
    #[boxed]
    pub async fn list_links(self, status: Option<LinkStatus>, page: &'p PageRequest) -> Result<LinkList> {
        let (platform, ref actor, space) = self.parts();
        let of = ContentVersion::space(space.clone());
        let listing = platform.open(actor, &of, list_identities::links(status), page).await?;
        platform.list(actor, listing, None, status).await
    }
}

impl<'p> ContentHandle<'p> {
    /// Lists the links on a page, broken links first. A cursor is bound to the revision of its first page of results.
    #[boxed]
    pub async fn list_page_links(
        self,
        id: &'p PageId,
        status: Option<LinkStatus>,
        page: &'p PageRequest,
    ) -> Result<LinkList> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let listing = platform.open(actor, of, list_identities::page_links(id, status), page).await?;
        listing.require(&LinkTarget::Page(id.clone())).await?;
        platform.list(actor, listing, Some(LinkSource::Page(id.clone())), status).await
    }

    /// Lists the pages and reusable content blocks that link to a page or file of the same content, except the target
    /// itself.
    ///
    /// A cursor is bound to the revision of its first page of results.
    #[boxed]
    pub async fn list_backlinks(
        self,
        target: &'p LinkTarget,
        page: &'p PageRequest,
    ) -> Result<Page<ContentLocation>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let listing = platform.open(actor, of, list_identities::backlinks(target), page).await?;
        listing.require(target).await?;
        let after = listing.after.as_deref().map(parse_position).transpose()?;
        let found = listing.view.backlinks(target, after.as_ref(), listing.limit + 1).await?;
        let mut found: Vec<LinkSource> = found.into_iter().map(|(source, _)| source).collect();
        let count = listing.view.backlink_count(target).await?;
        let more = found.len() > listing.limit;
        found.truncate(listing.limit);
        let next = found.last().filter(|_| more).map(|last| listing.cursor(&encode_position(last)));
        let wanted = found.iter().map(source_target).collect();
        let things = platform.link_targets(&listing.frame, wanted).await?;
        let items =
            found.iter().filter_map(|source| things.location(&listing.frame, &source_target(source), None));
        Ok(Page { items: items.collect(), next, count: Some(count) })
    }
}

impl<'p> ChangeRequestHandle<'p> {
    /// Lists the links that a change request adds, and those whose status it changes, for example by removing their
    /// target page or the heading of their anchor.
    ///
    /// With `broken_context`, lists only broken links: those of the request, or those that its content inherits from
    /// the space. The statistics cover all links in the content of the request.
    ///
    /// # Errors
    /// `Invalid` for a broken context combined with a status other than broken.
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
        let of = ContentVersion::request(space.clone(), request);
        let list = list_identities::request_links(status, broken_context);
        let listing = platform.open(actor, &of, list, page).await?;
        let mut outside = ExternalTargets::new(platform, actor, &listing.frame);
        let changed = platform.changed_links(&listing, None).await?;
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
                LinkRows::Inherited(&listing.view, changed)
            }
            _ => LinkRows::Listed(changed),
        };
        let chosen = platform.select_page(&listing, &rows, status, &mut outside).await?;
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
        let mut outside = ExternalTargets::new(self, actor, &listing.frame);
        let changed = self.changed_links(&listing, source.as_ref()).await?;
        let stats = self.stats(&listing, source.as_ref(), &changed, &mut outside).await?;
        let count = match status {
            None => Some(stats.total),
            Some(LinkStatus::Broken) => Some(stats.broken.total),
            Some(LinkStatus::Ok | LinkStatus::InApp) => None,
        };
        let rows = LinkRows::Revision(&listing.view, source);
        let chosen = self.select_page(&listing, &rows, status, &mut outside).await?;
        let items = self.usages(&listing.frame, chosen.links, &outside).await?;
        let next = chosen.next.map(|key| listing.cursor(&key));
        Ok(LinkList::new(List::from(Page { items, next, count }), stats))
    }

    /// Returns the links that are new in the request or have a different status there, in key order. Empty for a space.
    async fn changed_links(
        &self,
        listing: &Listing,
        source: Option<&LinkSource>,
    ) -> Result<Vec<(Key, Link)>> {
        let mut changed = listing.changed_links(self, source).await?;
        let Some((_, base)) = &listing.base else { return Ok(changed) };
        let base = self.content().view(&listing.frame.record.domain, *base);
        let known: HashSet<Key> = changed.iter().map(|(key, _)| Key::clone(key)).collect();
        let range = LinkRange { standing: LinkState::Anchor, source: source.cloned() };
        let (mut before, mut after) = (PageAnchors::default(), PageAnchors::default());
        let mut last: Option<Key> = None;
        for _ in 0..MAX_RESOLVED_LINKS / LINK_BATCH {
            let mut rows = listing.view.links(&range, last.as_deref(), LINK_BATCH).await?;
            last = rows.last().filter(|_| rows.len() == LINK_BATCH).map(|(key, _)| Key::clone(key));
            // Only an edit of the target page changes the status of an anchor.
            let edited = anchors::edited_targets(&base, &listing.view, &rows).await?;
            rows.retain(|(key, link)| {
                !known.contains(key) && link.page_anchor().is_some_and(|(page, _)| edited.contains(page))
            });
            before.load(&base, &rows).await?;
            after.load(&listing.view, &rows).await?;
            changed.extend(rows.into_iter().filter(|(_, link)| before.has(link) != after.has(link)));
            if last.is_none() {
                break;
            }
        }
        changed.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(changed)
    }

    /// Counts the links. The cost is O(log n) plus the resolution of at most [`MAX_RESOLVED_LINKS`] external links and
    /// as many anchor links.
    async fn stats(
        &self,
        listing: &Listing,
        source: Option<&LinkSource>,
        changed: &[(Key, Link)],
        outside: &mut ExternalTargets<'_>,
    ) -> Result<LinkStats> {
        let counts = listing.view.link_counts(source).await?;
        let mut broken = counts.broken;
        for standing in [LinkState::Anchor, LinkState::Outside] {
            let range = LinkRange { standing, source: source.cloned() };
            let mut after: Option<Key> = None;
            for _ in 0..MAX_RESOLVED_LINKS / LINK_BATCH {
                let rows = listing.view.links(&range, after.as_deref(), LINK_BATCH).await?;
                outside.load_all(&rows).await?;
                broken += rows.iter().filter(|(_, link)| !outside.exists(link)).count() as u64;
                match rows.last() {
                    Some((last, _)) if rows.len() == LINK_BATCH => after = Some(Key::clone(last)),
                    _ => break,
                }
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

    fn status(&self, link: &Link, outside: &ExternalTargets<'_>) -> LinkStatus {
        match link.standing {
            LinkState::Broken => LinkStatus::Broken,
            LinkState::Inside => LinkStatus::Ok,
            LinkState::Outside | LinkState::Anchor if !outside.exists(link) => LinkStatus::Broken,
            LinkState::Outside | LinkState::Anchor => LinkStatus::Ok,
            LinkState::Web => match &link.reference {
                ContentRef::Url { url } if self.urls().is_app(url) => LinkStatus::InApp,
                _ => LinkStatus::Ok,
            },
        }
    }

    /// Selects one page of links. If a filter drops many links, the page may be short and still have a next page.
    async fn select_page(
        &self,
        listing: &Listing,
        rows: &LinkRows<'_>,
        status: Option<LinkStatus>,
        outside: &mut ExternalTargets<'_>,
    ) -> Result<LinkSelection> {
        let mut chosen = LinkSelection::default();
        if listing.limit == 0 {
            return Ok(chosen);
        }
        let mut after = listing.after.clone();
        let mut scanned = 0;
        loop {
            let wanted = listing.limit - chosen.links.len() + 1;
            // The filter dropped links of the first read: read larger batches.
            let wanted = if scanned == 0 { wanted } else { (4 * wanted).min(LINK_BATCH) };
            let found = rows.read_after(status, after.as_deref(), wanted).await?;
            outside.load_all(&found).await?;
            let end = found.len() < wanted;
            for (key, link) in found {
                if chosen.links.len() == listing.limit {
                    chosen.next = after;
                    return Ok(chosen);
                }
                scanned += 1;
                let stands = self.status(&link, outside);
                if rows.includes(&key) && status.is_none_or(|status| status == stands) {
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
        frame: &LocationContext,
        links: Vec<(Link, LinkStatus)>,
        outside: &ExternalTargets<'_>,
    ) -> Result<Vec<LinkUsage>> {
        let mut wanted = BTreeSet::new();
        for (link, _) in &links {
            wanted.insert(source_target(&link.source));
            wanted.extend(frame.local_target(link).map(|(target, _)| target));
        }
        let things = self.link_targets(frame, wanted).await?;
        let show = |(link, status): (Link, LinkStatus)| LinkUsage {
            status,
            relation: link.relation,
            target_reference: target_location(&link, frame, &things, outside),
            location_references: things
                .location(frame, &source_target(&link.source), None)
                .into_iter()
                .collect(),
        };
        Ok(links.into_iter().map(show).collect())
    }

    /// Locates the content and the position of the cursor.
    async fn open(
        &self,
        actor: &Actor,
        of: &ContentVersion,
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
        // A cursor can only reference revisions of this space, even if it is forged.
        let revision = read_revision(&tx, &of.space, &place.revision).await?;
        let base = match &place.base {
            None => None,
            Some(id) => Some((id.clone(), read_revision(&tx, &of.space, id).await?.root)),
        };
        let context = self.version_context(&tx, actor, &at, &revision, request.as_ref()).await?;
        let view = self.content().view(&at.space().domain, revision.root);
        let frame = self.location_context(&tx, actor, &at, context, view.clone()).await?;
        // Objects may need the same connection pool as the transaction, so it is ended first.
        drop(tx);
        if page.page.is_some() {
            // The revision of a cursor may have been removed, unlike the current revision of a space or request.
            view.link_counts(None).await.map_err(cursor_error)?;
        }
        Ok(Listing { frame, view, revision: place.revision, base, after: place.after, limit, fingerprint })
    }

    async fn version_context(
        &self,
        tx: &Tx,
        actor: &Actor,
        at: &ReadableRevision,
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

    async fn location_context(
        &self,
        tx: &Tx,
        actor: &Actor,
        at: &ReadableRevision,
        context: VersionContext,
        view: View,
    ) -> Result<LocationContext> {
        let org = access::org(tx, actor, &at.space().organization).await?;
        let organization = self.org_views(tx, actor, &[org]).await?.pop();
        let space = self.space_views(tx, std::slice::from_ref(&at.access)).await?.pop();
        Ok(LocationContext {
            organization: organization.ok_or_else(|| Error::not_found("organization"))?,
            space: space.ok_or_else(|| Error::not_found("space"))?,
            context: Some(context),
            record: Arc::clone(at.access.space()),
            view,
            bearer: at.bearer.clone(),
        })
    }
}

async fn read_revision(tx: &Tx, space: &SpaceId, id: &RevisionId) -> Result<Arc<RevisionRecord>> {
    let found: Option<Arc<RevisionRecord>> = tx.get(&RevisionRecord::key_for(space, id)).await?;
    found.ok_or_else(wrong_cursor)
}

fn cursor_error(error: ContentError) -> Error {
    match error {
        ContentError::NotFound(_) => Error::invalid(
            "page",
            "the revision of this cursor no longer exists; start again from the \
                                    first page",
        ),
        other => other.into(),
    }
}

/// The links on one page of a list, and the position of the last one if more may follow.
#[derive(Default)]
struct LinkSelection {
    links: Vec<(Link, LinkStatus)>,
    next: Option<String>,
}

/// Returns the location of the target if the caller has access to it. Otherwise returns the destination as written in
/// the source, so that a broken link can be found.
fn target_location(
    link: &Link,
    frame: &LocationContext,
    things: &LinkTargets,
    outside: &ExternalTargets<'_>,
) -> Option<ContentLocation> {
    let found = match frame.local_target(link) {
        Some((target, anchor)) => things.location(frame, &target, anchor),
        None => outside.find(&link.reference),
    };
    found.or_else(|| Some(ContentLocation::Url { url: link.destination() }))
}

fn source_target(source: &LinkSource) -> LinkTarget {
    match source {
        LinkSource::Page(id) => LinkTarget::Page(id.clone()),
        LinkSource::Reusable(id) => LinkTarget::Reusable(id.clone()),
    }
}

/// Encodes a link source as a position in a list of backlinks.
fn encode_position(source: &LinkSource) -> String {
    match source {
        LinkSource::Page(id) => format!("p!{id}"),
        LinkSource::Reusable(id) => format!("r!{id}"),
    }
}

fn parse_position(position: &str) -> Result<LinkSource> {
    let source = match position.split_once('!') {
        Some(("p", id)) => id.parse().ok().map(LinkSource::Page),
        Some(("r", id)) => id.parse().ok().map(LinkSource::Reusable),
        _ => None,
    };
    source.ok_or_else(wrong_cursor)
}
