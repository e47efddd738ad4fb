//! Pagination with opaque cursors over ordered keys.
//!
//! A cursor contains the last scanned key without the prefix of the list. The prefix is rebuilt from the authorized
//! path on each request, so a forged cursor can only move within a list that the caller may read. A page resumes
//! strictly after the key of the cursor, even if that key no longer exists. Rows whose sort key never changes are
//! therefore neither repeated nor skipped while other rows are added or deleted.

use std::{str::FromStr, sync::Arc};

use data_encoding::BASE64URL_NOPAD;
use docs_model::{
    List, NextPage,
    error::{Error, Result},
};

use super::{
    CursorFingerprint, Indexed, Key, KeyBuf, ListIdentity, MAX_SCAN, Scan, StoreResult, Tx, Value, key,
};

/// Number of items in a page if the request has no limit.
pub const DEFAULT_LIMIT: u32 = 50;
/// Maximum number of items in a page.
pub const MAX_LIMIT: u32 = 1_000;
/// Maximum number of rows scanned for a page if a filter drops some. The page is then short and has a `next` cursor.
pub const MAX_SCANNED: usize = 5_000;
/// Version of the cursor format. Cursors of other versions are rejected.
const CURSOR_VERSION: u8 = 1;
/// Maximum length of a row position in bytes. The position and its prefix must form a valid key.
const MAX_CURSOR_POSITION: usize = 700;

/// The requested page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The cursor: `next` of the previous page.
    pub page: Option<String>,
    /// Maximum number of items to return, at most [`MAX_LIMIT`] (1,000); [`DEFAULT_LIMIT`] (50) by default.
    pub limit: Option<u32>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The cursor of the next page; absent on the last page.
    pub next: Option<String>,
    /// The total number of items in the list, if it is known without counting them.
    pub count: Option<u64>,
}

impl<T> Page<T> {
    /// Maps the items of the page.
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(each).collect(), next: self.next, count: self.count }
    }
}

impl<T> From<Page<T>> for List<T> {
    fn from(page: Page<T>) -> Self {
        Self { next: page.next.map(|page| NextPage { page }), count: page.count, items: page.items }
    }
}

/// A list: its rows and its identity for cursors.
#[derive(Clone, Debug)]
pub struct ListSpec {
    /// The common key prefix of the rows.
    pub prefix: KeyBuf,
    /// Descending order.
    pub rev: bool,
    /// The list and all filters of the request. A cursor with a different identity is rejected.
    pub identity: ListIdentity,
}

impl ListSpec {
    /// Creates a list without filters, in key order.
    #[must_use]
    pub fn new(tag: &str, prefix: KeyBuf) -> Self {
        Self { prefix, rev: false, identity: ListIdentity::new(tag) }
    }

    /// Computes the fingerprint for cursors from the identity, the prefix and the order of the list.
    ///
    /// The prefix is included because the position in a cursor is relative to it.
    #[must_use]
    pub fn fingerprint(&self) -> CursorFingerprint {
        let order = if self.rev { "descending" } else { "ascending" };
        self.identity.clone().with_part("rows", self.prefix.as_str()).with_part("order", order).fingerprint()
    }
}

/// Reads one page of a list. The caller maps each row to an item, or drops it.
#[derive(Debug)]
pub struct Lister<T> {
    spec: ListSpec,
    fingerprint: CursorFingerprint,
    from: Key,
    to: Key,
    limit: usize,
    items: Vec<T>,
    scanned: usize,
    last: Option<Key>,
    end: Continuation,
}

/// Creates the cursor of a response that ends before the last item of its page.
#[derive(Clone, Copy, Debug)]
pub struct RowCursors {
    /// The number of bytes of a key before its position in the list.
    prefix: usize,
    fingerprint: CursorFingerprint,
}

impl RowCursors {
    /// Returns the cursor of the next page. `shown` is the number of returned rows from the beginning of `rows`, and
    /// `next` is the cursor after all of them.
    #[must_use]
    pub fn next(&self, rows: &[Key], shown: usize, next: Option<String>) -> Option<String> {
        match shown.checked_sub(1).and_then(|last| rows.get(last)) {
            Some(last) if shown < rows.len() => Some(self.after(last)),
            _ => next,
        }
    }

    fn after(&self, row: &Key) -> String {
        seal_cursor(row.get(self.prefix..).unwrap_or_default(), self.fingerprint)
    }
}

/// The presence of rows after the last one read.
#[derive(Debug, PartialEq, Eq)]
enum Continuation {
    Unknown,
    More,
    None,
}

impl<T> Lister<T> {
    /// Starts reading the requested page.
    ///
    /// # Errors
    /// `Invalid` for a limit greater than [`MAX_LIMIT`], and for a cursor that is damaged or belongs to another list.
    pub fn new(spec: ListSpec, request: &PageRequest) -> Result<Self> {
        let limit = checked_limit(request)?;
        let (mut from, mut to) = spec.prefix.prefix_range();
        let fingerprint = spec.fingerprint();
        if let Some(token) = &request.page {
            let position = open_row_cursor(token, fingerprint)?;
            let at: Key = format!("{from}{position}").into();
            if spec.rev {
                to = at;
            } else {
                from = key::successor(&at);
            }
        }
        Ok(Self {
            spec,
            fingerprint,
            from,
            to,
            limit,
            items: Vec::new(),
            scanned: 0,
            last: None,
            end: if limit == 0 { Continuation::None } else { Continuation::Unknown },
        })
    }

    /// Returns the cursors of the list, for a response that ends before the last item of its page.
    pub fn cursors(&self) -> RowCursors {
        RowCursors { prefix: self.spec.prefix.as_str().len() + 1, fingerprint: self.fingerprint }
    }

    /// Ends the page after this number of items, even if the request permits more. For lists of large items.
    pub fn at_most(&mut self, items: usize) {
        self.limit = self.limit.min(items);
    }

    /// Excludes rows before the given key. Only for descending lists.
    pub fn not_below(&mut self, key: &Key) {
        debug_assert!(self.spec.rev, "only descending lists have a lower bound");
        self.from = Key::clone(key).max(Key::clone(&self.from));
    }

    /// Excludes the given key and all rows after it. Only for descending lists.
    pub fn exclude_from(&mut self, key: &Key) {
        debug_assert!(self.spec.rev, "only descending lists have an upper bound");
        self.to = Key::clone(key).min(Key::clone(&self.to));
    }

    /// Reads the next rows, or returns `None` if the page is full or the list has ended.
    ///
    /// The caller must then [offer](Lister::offer) every row, in order.
    ///
    /// # Errors
    /// Any error of the store.
    pub async fn rows(&mut self, tx: &Tx) -> Result<Option<Vec<(Key, Value)>>> {
        if self.items.len() >= self.limit || self.end == Continuation::None {
            return Ok(None);
        }
        if self.scanned >= MAX_SCANNED {
            self.end = Continuation::More;
            return Ok(None);
        }
        let wanted = (self.limit - self.items.len() + 1).min(MAX_SCAN as usize);
        // If the first read did not fill the page, a filter is dropping rows, so read larger chunks.
        let chunk = if self.scanned == 0 { wanted } else { (4 * wanted).min(MAX_SCAN as usize) };
        let limit = u32::try_from(chunk).unwrap_or(MAX_SCAN);
        let rows = tx
            .scan(&Scan { from: self.from.clone(), to: self.to.clone(), rev: self.spec.rev, limit })
            .await?;
        if rows.len() < chunk {
            self.end = Continuation::None;
        }
        self.scanned += rows.len();
        Ok(if rows.is_empty() { None } else { Some(rows) })
    }

    /// Adds the item of a row, or `None` if the item is filtered out. Returns `true` if the page accepts more rows.
    pub fn offer(&mut self, key: &Key, item: Option<T>) -> bool {
        if self.items.len() >= self.limit {
            self.end = Continuation::More;
            return false;
        }
        if self.spec.rev {
            self.to = Key::clone(key);
        } else {
            self.from = key::successor(key);
        }
        self.last = Some(Key::clone(key));
        self.items.extend(item);
        true
    }

    /// Adds the items of rows, in order, until the page is full.
    pub fn offer_all(&mut self, rows: &[(Key, Value)], items: impl IntoIterator<Item = Option<T>>) {
        for ((row, _), item) in rows.iter().zip(items) {
            if !self.offer(row, item) {
                break;
            }
        }
    }

    /// Finishes the page.
    ///
    /// # Errors
    /// Any error of the store.
    pub async fn finish(mut self, tx: &Tx, count: Option<u64>) -> Result<Page<T>> {
        if self.end == Continuation::Unknown {
            let scan = Scan { from: self.from.clone(), to: self.to.clone(), rev: self.spec.rev, limit: 1 };
            self.end = if tx.scan(&scan).await?.is_empty() { Continuation::None } else { Continuation::More };
        }
        Ok(self.page(count))
    }

    /// Builds the page from ordered rows in memory, without reading the list.
    pub fn pick(mut self, rows: impl IntoIterator<Item = (Key, T)>) -> Page<T> {
        let (from, to) = (self.from.clone(), self.to.clone());
        for (row, item) in rows {
            if from <= row && row < to && !self.offer(&row, Some(item)) {
                break;
            }
        }
        self.page(None)
    }

    fn page(self, count: Option<u64>) -> Page<T> {
        let next = match (&self.end, &self.last) {
            (Continuation::More, Some(last)) => Some(self.cursors().after(last)),
            _ => None,
        };
        Page { items: self.items, next, count }
    }
}

impl<R: Indexed> Lister<Arc<R>> {
    /// Fills the page with the records that the rows reference by their last segment and that `fits` accepts.
    ///
    /// # Errors
    /// Any error of the store.
    pub async fn fill(&mut self, tx: &Tx, fits: impl Fn(&R) -> bool + Send + Sync) -> Result<()> {
        while let Some(rows) = self.rows(tx).await? {
            let keys: Vec<Key> = R::named_by_all(&rows);
            let records = tx.get_many::<R>(&keys).await?.into_iter();
            self.offer_all(&rows, records.map(|record| record.filter(|record| fits(record))));
        }
        Ok(())
    }
}

/// Reads a range to its end in batches.
///
/// ```
/// # use docs_store::{Batches, KeyBuf, StoreResult, Tx};
/// # async fn count(tx: &Tx) -> StoreResult<usize> {
/// let mut count = 0;
/// let mut batches = Batches::of(KeyBuf::new("spc").scan(100));
/// while let Some(rows) = batches.next(tx).await? {
///     count += rows.len();
/// }
/// # Ok(count)
/// # }
/// ```
#[derive(Debug)]
pub struct Batches(Option<Scan>);

impl Batches {
    /// Creates batches of an ascending scan. The limit of the scan is the batch size.
    #[must_use]
    pub const fn of(scan: Scan) -> Self {
        Self(Some(scan))
    }

    /// Returns the next rows, or `None` after the last batch.
    ///
    /// # Errors
    /// See [`Tx::scan`].
    pub async fn next(&mut self, tx: &Tx) -> StoreResult<Option<Vec<(Key, Value)>>> {
        let Some(scan) = self.0.take() else { return Ok(None) };
        let rows = tx.scan(&scan).await?;
        if let Some((last, _)) = rows.last().filter(|_| rows.len() == scan.limit as usize) {
            self.0 = Some(Scan { from: key::successor(last), ..scan });
        }
        Ok(Some(rows))
    }
}

/// Parses the ids in the last segments of rows.
///
/// # Errors
/// `Internal` for a row whose last segment is not an id.
pub fn ids_of<T: FromStr>(rows: &[(Key, Value)]) -> Result<Vec<T>> {
    rows.iter().map(|(row, _)| id_of(row)).collect()
}

/// Parses the id in the last segment of a row.
///
/// # Errors
/// `Internal` for a row whose last segment is not an id.
pub fn id_of<T: FromStr>(row: &str) -> Result<T> {
    key::last_segment(row).parse().map_err(|_| {
        Error::internal(format!(
            "the row `{row}` does not end with \
                                                                        an id"
        ))
    })
}

/// Returns the page size that the request selects.
///
/// # Errors
/// `Invalid` if it is greater than [`MAX_LIMIT`].
pub fn checked_limit(request: &PageRequest) -> Result<usize> {
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
    if limit > MAX_LIMIT {
        return Err(Error::invalid("limit", format_args!("must be at most {MAX_LIMIT}")));
    }
    Ok(limit as usize)
}

/// Encodes a cursor.
#[must_use]
pub fn seal_cursor(position: &str, fingerprint: CursorFingerprint) -> String {
    let mut bytes = vec![CURSOR_VERSION];
    bytes.extend(fingerprint.as_bytes());
    bytes.extend(position.as_bytes());
    let sum = first8(blake3::hash(&bytes).as_bytes());
    bytes.extend(&sum[..4]);
    BASE64URL_NOPAD.encode(&bytes)
}

/// Decodes a cursor and returns its position.
///
/// # Errors
/// `Invalid` if the cursor is damaged or belongs to another list.
pub fn open_cursor(token: &str, expected: CursorFingerprint) -> Result<String> {
    // Upper bound for every position: part of a key, or a path through the maximum number of nested collections.
    if token.len() > 2_048 {
        return Err(wrong_cursor());
    }
    let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).map_err(|_| wrong_cursor())?;
    let (body, sum) = bytes.split_at_checked(bytes.len().saturating_sub(4)).ok_or_else(wrong_cursor)?;
    let fits = body.len() >= 9
        && body[0] == CURSOR_VERSION
        && body[1..9] == *expected.as_bytes()
        && first8(blake3::hash(body).as_bytes())[..4] == *sum;
    if !fits {
        return Err(wrong_cursor());
    }
    let position = String::from_utf8(body[9..].to_vec()).map_err(|_| wrong_cursor())?;
    if position.contains('\0') { Err(wrong_cursor()) } else { Ok(position) }
}

/// Decodes a cursor whose position belongs to a row, so that a prefix and the position form a key.
///
/// # Errors
/// `Invalid` if the cursor is damaged or belongs to another list.
pub fn open_row_cursor(token: &str, expected: CursorFingerprint) -> Result<String> {
    // The server never creates a position that does not fit into a key.
    open_cursor(token, expected).and_then(|position| {
        if position.len() > MAX_CURSOR_POSITION { Err(wrong_cursor()) } else { Ok(position) }
    })
}

/// Returns the error for a cursor that is damaged or belongs to another list.
#[must_use]
pub fn wrong_cursor() -> Error {
    Error::invalid("page", "must be a cursor of this list; send the `next.page` of the previous page")
}

fn first8(bytes: &[u8; 32]) -> [u8; 8] {
    let mut out = [0; 8];
    out.copy_from_slice(&bytes[..8]);
    out
}
