//! The lists of the change requests of an organization.

mod conditions;
mod recent;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use docs_macros::boxed;

pub(in crate::platform) use self::conditions::{sees_site, spaces_of_site};
use self::{conditions::Conditions, recent::RecentPosition};
use crate::{
    Error, Result,
    model::{ChangeRequest, ChangeRequestId, ChangeRequestOrder, SpaceId},
    platform::{
        access::{self, AccessResolver},
        content::change_requests::MAX_LISTED_DESCRIPTION_BYTES,
        kernel::{actor::Actor, platform::Platform},
        nouns::{OrgHandle, filters::OrgRequestFilter, list_identities},
    },
    policy::SpaceAccess,
    store::{
        Batches, Key, MAX_SCANNED, Page, PageRequest, Scan, Tx, checked_limit, id_of, ids_of, open_cursor,
        records::{ChangeRequestRecord, SpaceRecord},
        seal_cursor, wrong_cursor,
    },
};

/// Number of spaces and of change requests that are read at a time.
const BATCH: u32 = 100;

impl<'p> OrgHandle<'p> {
    /// Lists the change requests of the spaces that the actor may see: space by space in the order of their creation,
    /// and newest first within a space, or those changed most recently first. A page may be short and have a `next` if
    /// the filter drops many.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member; `Invalid` for the order by change in an organization with more than
    /// [`MAX_SCANNED`] spaces, unless the filter has a site or a space.
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
        let start = page.page.as_ref().map(|token| open_cursor(token, fingerprint)).transpose()?;
        let conditions = Conditions::new(&tx, actor, &access, filter).await?;
        let Some(conditions) = conditions.filter(|_| limit > 0) else {
            return Ok(Page { items: Vec::new(), next: None, count: None });
        };
        let resolver = AccessResolver::new(access, actor);
        let (items, next) = match filter.order {
            ChangeRequestOrder::CreatedAt => {
                let start = start.map(|text| Position::parse(&text).ok_or_else(wrong_cursor)).transpose()?;
                let mut walk = Walk::new(&tx, conditions, limit);
                walk.spaces(resolver, start).await?;
                let mut items = Vec::new();
                for (space, requests) in &walk.found {
                    items.extend(platform.request_views(&tx, actor, space, requests).await?);
                }
                (items, walk.next.map(|next| next.to_string()))
            }
            ChangeRequestOrder::UpdatedAt => {
                let after =
                    start.map(|text| RecentPosition::parse(&text).ok_or_else(wrong_cursor)).transpose()?;
                let page = recent::list(&tx, resolver, &conditions, limit, after.as_ref()).await?;
                let items = platform.mixed_request_views(&tx, actor, page.found).await?;
                (items, page.last.map(|last| last.to_string()))
            }
        };
        let next = next.map(|next| seal_cursor(&next, fingerprint));
        Ok(Page { items, next, count: None })
    }
}

impl Platform {
    /// Returns the views of change requests of several spaces, in their order.
    async fn mixed_request_views(
        &self,
        tx: &Tx,
        actor: &Actor,
        requests: Vec<(Arc<SpaceRecord>, Arc<ChangeRequestRecord>)>,
    ) -> Result<Vec<ChangeRequest>> {
        let order: Vec<ChangeRequestId> = requests.iter().map(|(_, request)| request.id.clone()).collect();
        let mut by_space: BTreeMap<SpaceId, (Arc<SpaceRecord>, Vec<_>)> = BTreeMap::new();
        for (space, request) in requests {
            by_space.entry(space.id.clone()).or_insert_with(|| (space, Vec::new())).1.push(request);
        }
        let mut views = HashMap::new();
        for (space, requests) in by_space.into_values() {
            for view in self.request_views(tx, actor, &space, &requests).await? {
                views.insert(view.id.clone(), view);
            }
        }
        Ok(order.iter().filter_map(|id| views.remove(id)).collect())
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

impl<'t> Walk<'t> {
    fn new(tx: &'t Tx, conditions: Conditions, limit: usize) -> Self {
        Self { tx, conditions, limit, scanned: 0, bytes: 0, found: Vec::new(), next: None }
    }

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
            let last = rows.last().map(|(row, _)| id_of::<u64>(row)).transpose()?;
            for request in self.conditions.matching(self.tx, &rows).await?.into_iter().flatten() {
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
