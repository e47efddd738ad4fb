//! Paged lists in the order of the tree.
//!
//! A cursor contains the position of the last row that was examined: its rank and id, and those of the enclosing
//! collections. A page continues strictly after that position, so unchanged items appear exactly once despite
//! concurrent changes. A forged cursor can at most select rows of another place; the caller checks the access to each
//! item.

use std::collections::VecDeque;

use crate::{
    Result,
    model::{CollectionId, ContentTarget, MAX_RANK, Rank},
    platform::{
        access::MAX_DEPTH,
        nouns::{
            filters::{Reach, Wanted},
            list_identities,
        },
    },
    store::{
        CursorFingerprint, Key, KeyBuf, MAX_SCAN, MAX_SCANNED, Page, PageRequest, Scan, Tx, Value,
        checked_limit, key, open_cursor,
        records::{Parent, target_of},
        seal_cursor, wrong_cursor,
    },
};

/// The cost of descending into a collection, in rows. Even an empty one takes a read.
const COLLECTION_LOOKUP_COST: usize = 10;
/// Minimum number of rows per read. A list of collections also encounters spaces.
const LEAST_READ: usize = 50;

/// A row of the walk.
#[derive(Debug)]
pub(in crate::platform) struct Met {
    pub(in crate::platform) child: ContentTarget,
    position: String,
}

/// A paged depth-first walk of a parent. The caller reports the item for each row.
#[derive(Debug)]
pub(in crate::platform) struct Walk<T> {
    wanted: Wanted,
    reach: Reach,
    fingerprint: CursorFingerprint,
    limit: usize,
    levels: Vec<Level>,
    items: Vec<T>,
    /// Rows read so far, including the cost of descending into collections.
    work: usize,
    /// The position of the last examined row.
    reached: Option<String>,
    /// The position of the last offered row.
    offered: Option<String>,
    end: End,
}

/// The knowledge about rows after the offered ones.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Unknown,
    More,
    None,
}

/// The remaining rows of one parent.
#[derive(Debug)]
struct Level {
    children: KeyBuf,
    /// The rank and id of the last examined row.
    after: Option<(String, String)>,
    rows: VecDeque<(Key, Value)>,
    is_read: bool,
}

impl<T> Walk<T> {
    /// Starts at the requested page.
    ///
    /// # Errors
    ///
    /// `Invalid` for a limit that is too large, and for a cursor that is malformed or of another list.
    pub(in crate::platform) fn new(
        parent: Parent<'_>,
        wanted: Wanted,
        reach: Reach,
        request: &PageRequest,
    ) -> Result<Self> {
        let limit = checked_limit(request)?;
        let top = Level::of(parent);
        let fingerprint =
            list_identities::tree(wanted, reach).with("rows", top.children.as_str()).fingerprint();
        let mut walk = Self {
            wanted,
            reach,
            fingerprint,
            limit,
            levels: vec![top],
            items: Vec::new(),
            work: 0,
            reached: None,
            offered: None,
            end: if limit == 0 { End::None } else { End::Unknown },
        };
        if let Some(token) = &request.page {
            walk.resume(&open_cursor(token, fingerprint)?)?;
        }
        Ok(walk)
    }

    /// Returns the next rows, `None` if the page is full or the list has ended.
    ///
    /// Each row has to be [offered](Walk::offer), in order.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub(in crate::platform) async fn next(&mut self, tx: &Tx) -> Result<Option<Vec<Met>>> {
        if self.items.len() >= self.limit || self.end != End::Unknown {
            return Ok(None);
        }
        let wanted = self.limit - self.items.len() + 1;
        // Rows were hidden by access checks, so larger batches are read.
        let wanted = if self.work == 0 { wanted } else { 4 * wanted };
        let met = self.go(tx, wanted.min(MAX_SCAN as usize)).await?;
        Ok(if met.is_empty() { None } else { Some(met) })
    }

    /// Adds the item of a row, if it has one. Returns `false` if the page is full.
    pub(in crate::platform) fn offer(&mut self, met: &Met, item: Option<T>) -> bool {
        if self.items.len() >= self.limit {
            self.end = End::More;
            return false;
        }
        self.offered = Some(met.position.clone());
        self.items.extend(item);
        true
    }

    /// Returns the page.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub(in crate::platform) async fn finish(mut self, tx: &Tx, count: Option<u64>) -> Result<Page<T>> {
        let is_full = self.items.len() >= self.limit;
        if self.end == End::Unknown && !self.go(tx, 1).await?.is_empty() {
            self.end = End::More;
        }
        // A short page ends at the last examined row.
        let last = if is_full { self.offered } else { self.reached };
        let next = last.filter(|_| self.end == End::More).map(|at| seal_cursor(&at, self.fingerprint));
        Ok(Page { items: self.items, next, count })
    }

    /// Advances until it has found enough rows.
    async fn go(&mut self, tx: &Tx, wanted: usize) -> Result<Vec<Met>> {
        let mut met = Vec::new();
        while met.len() < wanted {
            let Some(level) = self.levels.last_mut() else {
                self.end = End::None;
                break;
            };
            let Some(row) = level.rows.pop_front() else {
                if level.is_read {
                    self.levels.pop();
                } else if self.work >= MAX_SCANNED {
                    self.end = End::More;
                    break;
                } else {
                    self.work += COLLECTION_LOOKUP_COST + level.read(tx, wanted).await?;
                }
                continue;
            };
            let child = target_of(&row)?;
            level.after = Some(step(&row.0)?);
            let position = self.position(&child);
            if let (ContentTarget::Collection(id), Reach::Nested) = (&child, self.reach)
                && self.levels.len() <= MAX_DEPTH
            {
                self.levels.push(Level::of(Parent::In(id)));
            }
            self.reached = Some(position.clone());
            if matches!(child, ContentTarget::Space(_)) == (self.wanted == Wanted::Spaces) {
                met.push(Met { child, position });
            }
        }
        Ok(met)
    }

    /// Returns the position at a row of the innermost level.
    fn position(&self, at: &ContentTarget) -> String {
        let mut text = match at {
            ContentTarget::Collection(_) => "c".to_owned(),
            ContentTarget::Space(_) => "s".to_owned(),
        };
        for (rank, id) in self.levels.iter().filter_map(|level| level.after.as_ref()) {
            text.extend(["!", rank, "!", id]);
        }
        text
    }

    /// Continues after a position.
    fn resume(&mut self, position: &str) -> Result<()> {
        let mut parts = position.split('!');
        let into_last = match parts.next() {
            Some("c") => self.reach == Reach::Nested,
            Some("s") => false,
            _ => return Err(wrong_cursor()),
        };
        let parts: Vec<&str> = parts.collect();
        let (steps, rest) = parts.as_chunks::<2>();
        if steps.is_empty() || !rest.is_empty() || steps.len() > MAX_DEPTH + 1 {
            return Err(wrong_cursor());
        }
        for (at, [rank, id]) in steps.iter().enumerate() {
            let is_rank = rank.len() <= MAX_RANK && rank.parse::<Rank>().is_ok();
            let collection: CollectionId = id.parse().map_err(|_| wrong_cursor())?;
            let (Some(level), true) = (self.levels.last_mut(), is_rank) else { return Err(wrong_cursor()) };
            level.after = Some(((*rank).to_owned(), (*id).to_owned()));
            let is_last = at + 1 == steps.len();
            if !is_last || (into_last && self.levels.len() <= MAX_DEPTH) {
                self.levels.push(Level::of(Parent::In(&collection)));
            }
        }
        self.reached = Some(position.to_owned());
        Ok(())
    }
}

impl Level {
    fn of(parent: Parent<'_>) -> Self {
        Self { children: parent.children(), after: None, rows: VecDeque::new(), is_read: false }
    }

    /// Reads the next rows and returns their number.
    async fn read(&mut self, tx: &Tx, wanted: usize) -> Result<usize> {
        let (mut from, to) = self.children.below();
        if let Some((rank, id)) = &self.after {
            from = key::after(&self.children.clone().part(rank).part(id).key());
        }
        let chunk = wanted.clamp(LEAST_READ, MAX_SCAN as usize);
        let limit = u32::try_from(chunk).unwrap_or(MAX_SCAN);
        self.rows = tx.scan(&Scan { from, to, rev: false, limit }).await?.into();
        self.is_read = self.rows.len() < chunk;
        Ok(self.rows.len())
    }
}

/// Parses the rank and id of a row of [`Parent::children`].
fn step(row: &Key) -> Result<(String, String)> {
    let mut parts = key::segments(row);
    match (parts.pop(), parts.pop()) {
        (Some(id), Some(rank)) => Ok((rank, id)),
        _ => Err(crate::Error::internal(format!("the row `{row}` is not a position"))),
    }
}
