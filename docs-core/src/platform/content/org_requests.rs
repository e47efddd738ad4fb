//! The list of the change requests of an organization.

use std::{collections::BTreeSet, sync::Arc};

use docs_macros::boxed;

use crate::{
    Error, ErrorKind, Result,
    model::{ChangeRequest, ChangeRequestOrder, ChangeRequestStatus, SiteId, SpaceId, UserId},
    platform::{
        access::{self, AccessResolver, require_site},
        content::change_requests::{MAX_LISTED_DESCRIPTION_BYTES, keep_waiting_for, request_key},
        kernel::actor::Actor,
        nouns::{OrgHandle, SiteRef, filters::OrgRequestFilter, list_identities},
    },
    policy::{OrgAccess, SiteAction, SpaceAccess},
    store::{
        Batches, Key, MAX_SCAN, MAX_SCANNED, Page, PageRequest, Scan, Tx, checked_limit, id_of, ids_of,
        open_cursor,
        records::{ChangeRequestRecord, SiteSpaceRecord, SpaceRecord},
        seal_cursor, wrong_cursor,
    },
};

/// Number of spaces and of change requests that are read at a time.
const BATCH: u32 = 100;

impl<'p> OrgHandle<'p> {
    /// Lists the change requests of the spaces that the actor may see: space by space in the order of their creation,
    /// and newest first within a space. A page may be short and have a `next` if the filter drops many.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member; `Invalid` for another order than that of creation.
    #[boxed]
    pub async fn list_change_requests(
        self,
        filter: &'p OrgRequestFilter,
        page: &'p PageRequest,
    ) -> Result<Page<ChangeRequest>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        let limit = checked_limit(page)?;
        let fingerprint = list_identities::org_change_requests(filter).fingerprint();
        let start = match &page.page {
            Some(token) => Some(Position::parse(&open_cursor(token, fingerprint)?).ok_or_else(wrong_cursor)?),
            None => None,
        };
        let conditions = Conditions::new(&tx, actor, &access, filter).await?;
        let Some(conditions) = conditions.filter(|_| limit > 0) else {
            return Ok(Page { items: Vec::new(), next: None, count: None });
        };
        let mut walk =
            Walk { tx: &tx, conditions, limit, scanned: 0, bytes: 0, found: Vec::new(), next: None };
        walk.spaces(AccessResolver::new(access, actor), start).await?;
        let mut items = Vec::new();
        for (space, requests) in &walk.found {
            items.extend(platform.request_views(&tx, actor, space, requests).await?);
        }
        let next = walk.next.map(|next| seal_cursor(&next.to_string(), fingerprint));
        Ok(Page { items, next, count: None })
    }
}

/// A position in the list: after the change request with this number of a space, or before all of its change requests.
struct Position {
    space: SpaceId,
    below: Option<u64>,
}

impl Position {
    fn parse(text: &str) -> Option<Self> {
        let (space, number) = text.split_once('!')?;
        let below = match number {
            "" => None,
            number => Some(number.parse().ok()?),
        };
        Some(Self { space: space.parse().ok()?, below })
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}!{}", self.space, self.below.map(|number| number.to_string()).unwrap_or_default())
    }
}

/// The parsed filter of a list.
struct Conditions {
    statuses: Vec<ChangeRequestStatus>,
    creator: Option<UserId>,
    contributor: Option<UserId>,
    reviewer: Option<UserId>,
    /// The only spaces whose change requests are listed.
    spaces: Option<BTreeSet<SpaceId>>,
}

impl Conditions {
    /// Parses a filter. Returns `None` if it matches nothing.
    async fn new(
        tx: &Tx,
        actor: &Actor,
        access: &OrgAccess,
        filter: &OrgRequestFilter,
    ) -> Result<Option<Self>> {
        let user = |name: &Option<String>| name.as_ref().map(|name| name.parse::<UserId>()).transpose();
        let users = (user(&filter.creator), user(&filter.contributor), user(&filter.requested_reviewer));
        // A string that is not a valid id matches nothing.
        let (Ok(creator), Ok(contributor), Ok(reviewer)) = users else { return Ok(None) };
        if filter.order == ChangeRequestOrder::UpdatedAt {
            return Err(Error::invalid(
                "orderBy",
                "must be `createdAt` in the list of an organization; `updatedAt` is available in the list of a space",
            ));
        }
        if filter.topic.is_some() {
            return Ok(None);
        }
        let mut spaces = match filter.site.as_deref().map(str::parse::<SiteId>) {
            Some(Ok(site)) => Some(spaces_of_site(tx, actor, access, &site).await?.unwrap_or_default()),
            Some(Err(_)) => return Ok(None),
            None => None,
        };
        if let Some(space) = &filter.space {
            let Ok(space) = space.parse::<SpaceId>() else { return Ok(None) };
            let is_on_site = spaces.as_ref().is_none_or(|spaces| spaces.contains(&space));
            spaces = Some(is_on_site.then_some(space).into_iter().collect());
        }
        let statuses = filter.statuses.clone();
        Ok(Some(Self { statuses, creator, contributor, reviewer, spaces }))
    }

    fn fits(&self, request: &ChangeRequestRecord) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&request.status))
            && self.creator.as_ref().is_none_or(|user| request.created_by == *user)
            && self.contributor.as_ref().is_none_or(|user| request.contributors.contains(user))
    }
}

/// Returns `true` if the actor may see a site of the organization.
pub(in crate::platform) async fn sees_site(
    tx: &Tx,
    actor: &Actor,
    access: &OrgAccess,
    site: &SiteId,
) -> Result<bool> {
    let at = SiteRef { org: &access.org().id, site };
    match require_site(tx, actor, at, SiteAction::View).await {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the spaces of a site of the organization, or `None` if the actor may not see it.
pub(in crate::platform) async fn spaces_of_site(
    tx: &Tx,
    actor: &Actor,
    access: &OrgAccess,
    site: &SiteId,
) -> Result<Option<BTreeSet<SpaceId>>> {
    if !sees_site(tx, actor, access, site).await? {
        return Ok(None);
    }
    let rows = tx.scan_prefix(&SiteSpaceRecord::by_site(site), MAX_SCAN).await?;
    let keys = rows.iter().map(|(row, _)| Ok(SiteSpaceRecord::key_for(&id_of(row)?)));
    let places = tx.get_many::<SiteSpaceRecord>(&keys.collect::<Result<Vec<Key>>>()?).await?;
    Ok(Some(places.into_iter().flatten().map(|place| place.space.clone()).collect()))
}

/// The collection of a page of the list.
struct Walk<'t> {
    tx: &'t Tx,
    conditions: Conditions,
    limit: usize,
    /// The number of examined rows.
    scanned: usize,
    /// The total size of the descriptions found.
    bytes: usize,
    found: Vec<(Arc<SpaceRecord>, Vec<Arc<ChangeRequestRecord>>)>,
    /// The start of the next page.
    next: Option<Position>,
}

impl Walk<'_> {
    /// Walks over the visible spaces until the page is full.
    async fn spaces(&mut self, mut resolver: AccessResolver, start: Option<Position>) -> Result<()> {
        let prefix = SpaceRecord::by_org(&resolver.org().org().id);
        let mut scan = prefix.scan(BATCH);
        let mut below = None;
        if let Some(Position { space, below: number }) = start {
            let record: Option<Arc<SpaceRecord>> = self.tx.get(&SpaceRecord::key_for(&space)).await?;
            let record = record.filter(|record| record.organization == resolver.org().org().id);
            let record = record.ok_or_else(|| {
                Error::invalid(
                    "page",
                    "the space of this cursor no longer exists; start again from the first page",
                )
            })?;
            let row = SpaceRecord::by_org(&record.organization).time(record.created_at.time());
            scan.from = row.part(record.id.as_str()).key();
            below = number.map(|number| (space, number));
        }
        let mut batches = Batches::of(scan);
        while let Some(rows) = batches.next(self.tx).await? {
            self.scanned += rows.len();
            let ids = ids_of::<SpaceId>(&rows)?;
            let wanted =
                |id: &&SpaceId| self.conditions.spaces.as_ref().is_none_or(|spaces| spaces.contains(*id));
            let keys: Vec<Key> = ids.iter().filter(wanted).map(SpaceRecord::key_for).collect();
            let spaces = resolver.spaces(self.tx, self.tx.get_many::<SpaceRecord>(&keys).await?).await?;
            for access in spaces.into_iter().flatten() {
                let id = &access.space().id;
                let number = below.take().filter(|(space, _)| space == id).map(|(_, number)| number);
                if !self.requests(&access, number).await? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Collects the change requests of a space below a number. Returns `false` if the page is complete.
    async fn requests(&mut self, access: &SpaceAccess, mut below: Option<u64>) -> Result<bool> {
        let space = access.space();
        let prefix = match self.conditions.statuses.as_slice() {
            [status] => ChangeRequestRecord::by_status(&space.id, *status),
            _ => ChangeRequestRecord::by_space(&space.id),
        };
        let (from, end) = prefix.prefix_range();
        let mut requests = Vec::new();
        let mut is_complete = false;
        while !is_complete {
            let before = below.map(|number| prefix.clone().number(number).key());
            let to = before.unwrap_or_else(|| end.clone());
            let rows = self.tx.scan(&Scan { from: from.clone(), to, rev: true, limit: BATCH }).await?;
            self.scanned += rows.len() + 1;
            let keys = rows.iter().map(|(_, value)| request_key(value)).collect::<Result<Vec<Key>>>()?;
            let records = self.tx.get_many::<ChangeRequestRecord>(&keys).await?;
            let last = records.iter().flatten().last().map(|request| request.number);
            let records = keep_waiting_for(self.tx, records, self.conditions.reviewer.as_ref()).await?;
            for request in records.into_iter().flatten().filter(|request| self.conditions.fits(request)) {
                let found = self.count() + requests.len();
                let bytes = self.bytes + request.description.len();
                if found == self.limit || (found > 0 && bytes > MAX_LISTED_DESCRIPTION_BYTES) {
                    self.next = Some(Position { space: space.id.clone(), below: Some(request.number + 1) });
                    self.found.push((Arc::clone(space), requests));
                    return Ok(false);
                }
                self.bytes = bytes;
                requests.push(request);
            }
            is_complete = rows.len() < BATCH as usize;
            below = last.or(below);
            if self.scanned >= MAX_SCANNED && !is_complete {
                self.next = Some(Position { space: space.id.clone(), below });
                self.found.push((Arc::clone(space), requests));
                return Ok(false);
            }
        }
        if !requests.is_empty() {
            self.found.push((Arc::clone(space), requests));
        }
        // The cursor is at the end of this space, so the next page begins with the space after it.
        if self.scanned >= MAX_SCANNED {
            self.next = Some(Position { space: space.id.clone(), below: Some(0) });
            return Ok(false);
        }
        Ok(true)
    }

    fn count(&self) -> usize {
        self.found.iter().map(|(_, requests)| requests.len()).sum()
    }
}
