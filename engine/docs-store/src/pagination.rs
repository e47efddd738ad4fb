//! Pagination: opaque cursors over ordered keys.
//!
//! A cursor contains the part of the last scanned key after the list's prefix. The prefix is rebuilt from the
//! authorized path on each request, so a forged cursor can only move within a list that its user may read. A page
//! resumes strictly after the cursor's key, regardless of its existence: rows whose sort key never changes are neither
//! repeated nor skipped while other rows are added or deleted.

use std::{str::FromStr, sync::Arc};

use data_encoding::BASE64URL_NOPAD;
use docs_model::{
    List, NextPage,
    error::{Error, Result},
};

use super::{
    CursorFingerprint, Indexed, Key, KeyBuf, ListIdentity, MAX_SCAN, Scan, StoreResult, Tx, Value, key,
};

/// Items in a page if the request has no limit.
pub const DEFAULT_LIMIT: u32 = 50;
/// Maximum number of items in a page.
pub const MAX_LIMIT: u32 = 1_000;
/// Maximum number of rows that a page scans if a filter drops some. The page is then short and has a `next`.
pub const MAX_SCANNED: usize = 5_000;
/// Version of the cursor format. Cursors of other versions are rejected.
const CURSOR_VERSION: u8 = 1;
/// Maximum length of the position of a row in bytes: with its prefix it has to be a valid key.
const MAX_CURSOR_POSITION: usize = 700;

/// The page of a list that a request selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The cursor from `next` of the previous page.
    pub page: Option<String>,
    /// Maximum number of items to return, 0 to [`MAX_LIMIT`] (1,000); [`DEFAULT_LIMIT`] (50) when absent.
    pub limit: Option<u32>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The cursor of the next page; absent on the last one.
    pub next: Option<String>,
    /// The total number of items in the list, if it is known without counting.
    pub count: Option<u64>,
}

impl<T> Page<T> {
    /// Maps the items and keeps the rest of the page.
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(each).collect(), next: self.next, count: self.count }
    }
}

impl<T> From<Page<T>> for List<T> {
    fn from(page: Page<T>) -> Self {
        Self { next: page.next.map(|page| NextPage { page }), count: page.count, items: page.items }
    }
}

/// A list: its rows and the identity of its cursors.
#[derive(Clone, Debug)]
pub struct ListSpec {
    /// The common prefix of the rows' keys.
    pub prefix: KeyBuf,
    /// Descending order.
    pub rev: bool,
    /// The list and all filters of the request. A cursor created with another identity is rejected.
    pub identity: ListIdentity,
}

impl ListSpec {
    /// Creates a list without filters, in key order.
    #[must_use]
    pub fn new(tag: &str, prefix: KeyBuf) -> Self {
        Self { prefix, rev: false, identity: ListIdentity::new(tag) }
    }

    /// Computes the fingerprint of the list's cursors from its identity, its prefix and its order.
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

/// Knowledge about the rows after those already read.
#[derive(Debug, PartialEq, Eq)]
enum Continuation {
    Unknown,
    More,
    None,
}

impl<T> Lister<T> {
    /// Starts at the requested page.
    ///
    /// # Errors
    /// `Invalid` for a limit over [`MAX_LIMIT`], and for a cursor that is damaged or of another list.
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

    /// Excludes rows before a key. Only for descending lists.
    pub fn not_below(&mut self, key: &Key) {
        debug_assert!(self.spec.rev, "only descending lists have a lower bound");
        self.from = Key::clone(key).max(Key::clone(&self.from));
    }

    /// Excludes rows from a key on. Only for descending lists.
    pub fn exclude_from(&mut self, key: &Key) {
        debug_assert!(self.spec.rev, "only descending lists have an upper bound");
        self.to = Key::clone(key).min(Key::clone(&self.to));
    }

    /// Reads the next rows; `None` if the page is full or the list has ended.
    ///
    /// Every row must then be [offered](Lister::offer), in order.
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
        // If the first read did not fill the page, a filter is dropping rows: read larger chunks.
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

    /// Adds the item of a row, or `None` if it is filtered out. Returns `true` if the page accepts more rows.
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

    /// Finishes the page from rows already in memory, in order. Does not read the list.
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
            (Continuation::More, Some(last)) => {
                let prefix = self.spec.prefix.as_str().len() + 1;
                Some(seal_cursor(last.get(prefix..).unwrap_or_default(), self.fingerprint))
            }
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
    /// Starts with an ascending scan. Its limit is the batch size.
    #[must_use]
    pub const fn of(scan: Scan) -> Self {
        Self(Some(scan))
    }

    /// Returns the next rows; `None` after the last batch.
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

/// Parses the ids at the end of rows.
///
/// # Errors
/// `Internal` for a row that does not end in an id.
pub fn ids_of<T: FromStr>(rows: &[(Key, Value)]) -> Result<Vec<T>> {
    rows.iter().map(|(row, _)| id_of(row)).collect()
}

/// Parses the id at the end of a row.
///
/// # Errors
/// `Internal` for a row that does not end in an id.
pub fn id_of<T: FromStr>(row: &str) -> Result<T> {
    key::last_segment(row).parse().map_err(|_| {
        Error::internal(format!(
            "the row `{row}` does not end with \
                                                                        an id"
        ))
    })
}

/// Returns the number of items to return.
///
/// # Errors
/// `Invalid` over [`MAX_LIMIT`].
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
/// `Invalid` when it is damaged or of another list.
pub fn open_cursor(token: &str, expected: CursorFingerprint) -> Result<String> {
    // No position is longer: it is part of a key, or a path through the maximum number of nested collections.
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

/// Decodes a cursor whose position is that of a row, so that a prefix and the position form a key.
///
/// # Errors
/// `Invalid` when it is damaged or of another list.
pub fn open_row_cursor(token: &str, expected: CursorFingerprint) -> Result<String> {
    // A position that does not fit into a key was not created by this server.
    open_cursor(token, expected).and_then(|position| {
        if position.len() > MAX_CURSOR_POSITION { Err(wrong_cursor()) } else { Ok(position) }
    })
}

/// Returns the error for a cursor that is damaged or of another list.
#[must_use]
pub fn wrong_cursor() -> Error {
    Error::invalid("page", "must be a cursor of this list; send the `next.page` of the previous page")
}

fn first8(bytes: &[u8; 32]) -> [u8; 8] {
    let mut out = [0; 8];
    out.copy_from_slice(&bytes[..8]);
    out
}
