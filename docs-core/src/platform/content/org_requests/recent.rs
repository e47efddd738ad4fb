//! The change requests of an organization in the order of their last change. Each space has an index in this order; the
//! list merges them.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BinaryHeap, VecDeque},
    sync::Arc,
};

use super::conditions::Conditions;
use crate::{
    Error, Result,
    model::SpaceId,
    platform::{access::AccessResolver, content::change_requests::MAX_LISTED_DESCRIPTION_BYTES},
    store::{
        Batches, Key, MAX_SCANNED, Scan, Tx, Value, ids_of, key,
        records::{ChangeRequestRecord, SpaceRecord},
    },
};

/// Number of spaces and of change requests that are read at a time.
const BATCH: u32 = 100;
/// Number of further rows that are read of a space whose first row was listed.
const REFILL: u32 = 20;

/// A page of the list.
#[derive(Default)]
pub(super) struct RecentRequests {
    pub(super) found: Vec<(Arc<SpaceRecord>, Arc<ChangeRequestRecord>)>,
    /// The last position of the page, unless the list is complete.
    pub(super) last: Option<RecentPosition>,
}

/// A position in the list. The first of the list is the greatest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecentPosition {
    /// The time segment of the index row.
    time: String,
    /// Requests changed at the same time are listed by space, and newest first within a space.
    space: Reverse<SpaceId>,
    number: u64,
}

impl RecentPosition {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '!');
        let (time, number, space) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self {
            time: time.to_owned(),
            space: Reverse(space.parse().ok()?),
            number: number.parse().ok()?,
        })
    }

    /// Parses an index row of the change requests of a space.
    fn from_row(row: &str) -> Result<Self> {
        let corrupt = || Error::internal(format!("the row `{row}` is not one of a change request"));
        let [_, space, time, number] = <[String; 4]>::try_from(key::segments(row)).map_err(|_| corrupt())?;
        Ok(Self {
            time,
            space: Reverse(space.parse().map_err(|_| corrupt())?),
            number: number.parse().map_err(|_| corrupt())?,
        })
    }

    /// Returns a scan of the rows of a space after this position.
    fn scan_after(&self, space: &SpaceId) -> Scan {
        let prefix = ChangeRequestRecord::by_update(space);
        let (from, _) = prefix.prefix_range();
        let same_time = prefix.part(&self.time);
        let to = match space.cmp(&self.space.0) {
            Ordering::Less => same_time.prefix_range().0,
            Ordering::Equal => same_time.number(self.number).key(),
            Ordering::Greater => same_time.prefix_range().1,
        };
        Scan { from, to, rev: true, limit: 1 }
    }
}

impl std::fmt::Display for RecentPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}!{}!{}", self.time, self.number, self.space.0)
    }
}

/// Lists the change requests of the visible spaces, after a position. A page may be short if the filter drops many.
///
/// # Errors
/// `Invalid` for an organization with more than [`MAX_SCANNED`] spaces, unless the filter selects spaces.
pub(super) async fn list(
    tx: &Tx,
    resolver: AccessResolver,
    conditions: &Conditions,
    limit: usize,
    after: Option<&RecentPosition>,
) -> Result<RecentRequests> {
    let mut merge = Merge { tx, resolver, after, sources: BTreeMap::new(), heads: BinaryHeap::new() };
    merge.load(conditions).await?;
    let mut page = RecentRequests::default();
    let (mut scanned, mut bytes) = (0, 0);
    let mut last = None;
    while scanned < MAX_SCANNED {
        let rows = merge.take(limit + 1 - page.found.len()).await?;
        if rows.is_empty() {
            return Ok(page);
        }
        scanned += rows.len();
        let matching = conditions.matching(tx, &rows).await?;
        for ((row, _), request) in rows.iter().zip(matching) {
            let source = request.and_then(|request| Some((merge.sources.get(&request.space)?, request)));
            if let Some((source, request)) = source {
                bytes += request.description.len();
                let is_first = page.found.is_empty();
                if page.found.len() == limit || (!is_first && bytes > MAX_LISTED_DESCRIPTION_BYTES) {
                    return Ok(RecentRequests { last, ..page });
                }
                page.found.push((Arc::clone(&source.space), request));
            }
            last = Some(RecentPosition::from_row(row)?);
        }
    }
    Ok(RecentRequests { last, ..page })
}

/// A merge of the index rows of the visible spaces.
struct Merge<'t> {
    tx: &'t Tx,
    resolver: AccessResolver,
    after: Option<&'t RecentPosition>,
    sources: BTreeMap<SpaceId, Source>,
    /// The positions of the first rows of the sources.
    heads: BinaryHeap<RecentPosition>,
}

/// The index rows of a space, from the first that has not been taken.
struct Source {
    space: Arc<SpaceRecord>,
    rows: VecDeque<(Key, Value)>,
}

impl Merge<'_> {
    /// Reads the first row of each visible space that the filter selects.
    async fn load(&mut self, conditions: &Conditions) -> Result<()> {
        let org = self.resolver.org().org().id.clone();
        if let Some(spaces) = &conditions.spaces {
            let keys: Vec<Key> = spaces.iter().map(SpaceRecord::key_for).collect();
            for keys in keys.chunks(BATCH as usize) {
                let is_here =
                    |space: &Arc<SpaceRecord>| space.organization == org && space.deleted_at.is_none();
                let spaces = self.tx.get_many::<SpaceRecord>(keys).await?.into_iter();
                self.add(spaces.map(|space| space.filter(is_here)).collect()).await?;
            }
            return Ok(());
        }
        let mut scanned = 0;
        let mut batches = Batches::of(SpaceRecord::by_org(&org).scan(BATCH));
        while let Some(rows) = batches.next(self.tx).await? {
            scanned += rows.len();
            if scanned > MAX_SCANNED {
                let why = format!(
                    "must be `createdAt` in an organization with more than {MAX_SCANNED} spaces, unless `site` or \
                     `space` is set"
                );
                return Err(Error::invalid("orderBy", why));
            }
            let keys: Vec<Key> = ids_of::<SpaceId>(&rows)?.iter().map(SpaceRecord::key_for).collect();
            self.add(self.tx.get_many::<SpaceRecord>(&keys).await?).await?;
        }
        Ok(())
    }

    /// Adds the visible ones of these spaces.
    async fn add(&mut self, spaces: Vec<Option<Arc<SpaceRecord>>>) -> Result<()> {
        let spaces = self.resolver.spaces(self.tx, spaces).await?;
        let spaces: Vec<_> = spaces.iter().flatten().map(|access| Arc::clone(access.space())).collect();
        let scan = |space: &Arc<SpaceRecord>| match self.after {
            Some(after) => after.scan_after(&space.id),
            None => Scan { rev: true, ..ChangeRequestRecord::by_update(&space.id).scan(1) },
        };
        let scans: Vec<Scan> = spaces.iter().map(scan).collect();
        for (space, rows) in spaces.into_iter().zip(self.tx.scan_many(&scans).await?) {
            if let Some((row, _)) = rows.first() {
                self.heads.push(RecentPosition::from_row(row)?);
                self.sources.insert(space.id.clone(), Source { space, rows: rows.into() });
            }
        }
        Ok(())
    }

    /// Takes the next rows, at most [`BATCH`].
    async fn take(&mut self, most: usize) -> Result<Vec<(Key, Value)>> {
        let mut taken = Vec::new();
        while taken.len() < most.min(BATCH as usize) {
            let Some(head) = self.heads.pop() else { break };
            let source = self.sources.get_mut(&head.space.0);
            let source = source.ok_or_else(|| Error::internal("a row of another space"))?;
            let Some(row) = source.rows.pop_front() else { continue };
            if source.rows.is_empty() {
                let (from, _) = ChangeRequestRecord::by_update(&source.space.id).prefix_range();
                let scan = Scan { from, to: Arc::clone(&row.0), rev: true, limit: REFILL };
                source.rows = self.tx.scan(&scan).await?.into();
            }
            if let Some((next, _)) = source.rows.front() {
                self.heads.push(RecentPosition::from_row(next)?);
            }
            taken.push(row);
        }
        Ok(taken)
    }
}
