//! Paged lists in tree order.
//!
//! A cursor contains the position of the last examined row: its rank and id, and those of the enclosing collections. A
//! page continues strictly after that position, so that unchanged items appear exactly once despite concurrent changes.
//! A forged cursor can only select rows elsewhere in the tree; the caller checks access to each item.

use std::collections::VecDeque;

use crate::{
    Result,
    model::{CollectionId, ContentTarget, MAX_RANK, Rank},
    platform::{
        access::MAX_COLLECTION_DEPTH,
        nouns::{
            filters::{ContentKind, Reach},
            list_identities,
        },
    },
    store::{
        CursorFingerprint, Key, KeyBuf, MAX_SCAN, MAX_SCANNED, Page, PageRequest, Scan, Tx, Value,
        checked_limit, key, open_cursor,
        records::{Parent, parse_target},
        seal_cursor, wrong_cursor,
    },
};

/// The cost of descending into a collection, counted in rows. Even an empty collection requires a read.
const COLLECTION_LOOKUP_COST: usize = 10;
/// Minimum number of rows per read. A list of collections also scans rows of spaces.
const MIN_READ_ROWS: usize = 50;

/// A row of the walk.
#[derive(Debug)]
pub(in crate::platform) struct TreeRow {
    pub(in crate::platform) child: ContentTarget,
    position: String,
}

/// A paged depth-first walk below a parent. The caller supplies the item for each row.
#[derive(Debug)]
pub(in crate::platform) struct TreeWalk<T> {
    wanted: ContentKind,
    reach: Reach,
    fingerprint: CursorFingerprint,
    limit: usize,
    levels: Vec<TreeLevel>,
    items: Vec<T>,
    /// Number of rows read so far, plus the cost of descending into collections.
    work: usize,
    /// The position of the last examined row.
    reached: Option<String>,
    /// The position of the last offered row.
    offered: Option<String>,
    end: WalkEnd,
}

/// Indicates if more rows follow the offered ones.
#[derive(Debug, PartialEq, Eq)]
enum WalkEnd {
    Unknown,
    More,
    None,
}

/// The remaining rows at one level of the tree.
#[derive(Debug)]
struct TreeLevel {
    children: KeyBuf,
    /// The rank and id of the last examined row.
    after: Option<(String, String)>,
    rows: VecDeque<(Key, Value)>,
    is_read: bool,
}

impl<T> TreeWalk<T> {
    /// Starts at the requested page.
    ///
    /// # Errors
    ///
    /// `Invalid` for a limit that is too large, or for a cursor that is malformed or belongs to another list.
    pub(in crate::platform) fn new(
        parent: Parent<'_>,
        wanted: ContentKind,
        reach: Reach,
        request: &PageRequest,
    ) -> Result<Self> {
        let limit = checked_limit(request)?;
        let top = TreeLevel::new(parent);
        let fingerprint =
            list_identities::tree(wanted, reach).with_part("rows", top.children.as_str()).fingerprint();
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
            end: if limit == 0 { WalkEnd::None } else { WalkEnd::Unknown },
        };
        if let Some(token) = &request.page {
            walk.resume(&open_cursor(token, fingerprint)?)?;
        }
        Ok(walk)
    }

    /// Returns the next rows, or `None` if the page is full or the list has ended.
    ///
    /// Each row must be [offered](TreeWalk::offer), in order.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub(in crate::platform) async fn next(&mut self, tx: &Tx) -> Result<Option<Vec<TreeRow>>> {
        if self.items.len() >= self.limit || self.end != WalkEnd::Unknown {
            return Ok(None);
        }
        let wanted = self.limit - self.items.len() + 1;
        // Access checks have hidden rows, so read larger batches.
        let wanted = if self.work == 0 { wanted } else { 4 * wanted };
        let met = self.advance(tx, wanted.min(MAX_SCAN as usize)).await?;
        Ok(if met.is_empty() { None } else { Some(met) })
    }

    /// Adds the item of a row, if it has one. Returns `false` if the page is full.
    pub(in crate::platform) fn offer(&mut self, met: &TreeRow, item: Option<T>) -> bool {
        if self.items.len() >= self.limit {
            self.end = WalkEnd::More;
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
        if self.end == WalkEnd::Unknown && !self.advance(tx, 1).await?.is_empty() {
            self.end = WalkEnd::More;
        }
        // A short page ends at the last examined row.
        let last = if is_full { self.offered } else { self.reached };
        let next = last.filter(|_| self.end == WalkEnd::More).map(|at| seal_cursor(&at, self.fingerprint));
        Ok(Page { items: self.items, next, count })
    }

    /// Advances until enough rows are found.
    async fn advance(&mut self, tx: &Tx, wanted: usize) -> Result<Vec<TreeRow>> {
        let mut met = Vec::new();
        while met.len() < wanted {
            let Some(level) = self.levels.last_mut() else {
                self.end = WalkEnd::None;
                break;
            };
            let Some(row) = level.rows.pop_front() else {
                if level.is_read {
                    self.levels.pop();
                } else if self.work >= MAX_SCANNED {
                    self.end = WalkEnd::More;
                    break;
                } else {
                    self.work += COLLECTION_LOOKUP_COST + level.read(tx, wanted).await?;
                }
                continue;
            };
            let child = parse_target(&row)?;
            level.after = Some(parse_position(&row.0)?);
            let position = self.position(&child);
            if let (ContentTarget::Collection(id), Reach::Nested) = (&child, self.reach)
                && self.levels.len() <= MAX_COLLECTION_DEPTH
            {
                self.levels.push(TreeLevel::new(Parent::In(id)));
            }
            self.reached = Some(position.clone());
            if matches!(child, ContentTarget::Space(_)) == (self.wanted == ContentKind::Spaces) {
                met.push(TreeRow { child, position });
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

    /// Resumes after a position.
    fn resume(&mut self, position: &str) -> Result<()> {
        let mut parts = position.split('!');
        let into_last = match parts.next() {
            Some("c") => self.reach == Reach::Nested,
            Some("s") => false,
            _ => return Err(wrong_cursor()),
        };
        let parts: Vec<&str> = parts.collect();
        let (steps, rest) = parts.as_chunks::<2>();
        if steps.is_empty() || !rest.is_empty() || steps.len() > MAX_COLLECTION_DEPTH + 1 {
            return Err(wrong_cursor());
        }
        for (at, [rank, id]) in steps.iter().enumerate() {
            let is_rank = rank.len() <= MAX_RANK && rank.parse::<Rank>().is_ok();
            let collection: CollectionId = id.parse().map_err(|_| wrong_cursor())?;
            let (Some(level), true) = (self.levels.last_mut(), is_rank) else { return Err(wrong_cursor()) };
            level.after = Some(((*rank).to_owned(), (*id).to_owned()));
            let is_last = at + 1 == steps.len();
            if !is_last || (into_last && self.levels.len() <= MAX_COLLECTION_DEPTH) {
                self.levels.push(TreeLevel::new(Parent::In(&collection)));
            }
        }
        self.reached = Some(position.to_owned());
        Ok(())
    }
}

impl TreeLevel {
    fn new(parent: Parent<'_>) -> Self {
        Self { children: parent.children(), after: None, rows: VecDeque::new(), is_read: false }
    }

    /// Reads the next rows and returns how many were read.
    async fn read(&mut self, tx: &Tx, wanted: usize) -> Result<usize> {
        let (mut from, to) = self.children.prefix_range();
        if let Some((rank, id)) = &self.after {
            from = key::successor(&self.children.clone().part(rank).part(id).key());
        }
        let chunk = wanted.clamp(MIN_READ_ROWS, MAX_SCAN as usize);
        let limit = u32::try_from(chunk).unwrap_or(MAX_SCAN);
        self.rows = tx.scan(&Scan { from, to, rev: false, limit }).await?.into();
        self.is_read = self.rows.len() < chunk;
        Ok(self.rows.len())
    }
}

/// Parses the rank and id of a row of [`Parent::children`].
fn parse_position(row: &Key) -> Result<(String, String)> {
    let mut parts = key::segments(row);
    match (parts.pop(), parts.pop()) {
        (Some(id), Some(rank)) => Ok((rank, id)),
        _ => Err(crate::Error::internal(format!("the row `{row}` is not a position"))),
    }
}
