//! Lists in pages: opaque cursors over ordered keys.
//!
//! A cursor holds the part of the last scanned key that follows the list's prefix. The prefix itself is made anew
//! from the authorised path at each request, so a forged cursor can only move inside a list its user may read.
//! Resuming is strictly after that key, whether or not it still exists: rows whose sort key never changes are neither
//! repeated nor skipped while others come and go.

use std::{str::FromStr, sync::Arc};

use data_encoding::BASE64URL_NOPAD;
use docs_model::{
    List, NextPage,
    error::{Error, Result},
};

use super::{
    CursorFingerprint, Indexed, Key, KeyBuf, ListIdentity, MAX_SCAN, Scan, StoreResult, Tx, Value, key,
};

/// Items in a page when the request does not say.
pub const DEFAULT_LIMIT: u32 = 50;
/// Most items in a page.
pub const MAX_LIMIT: u32 = 1_000;
/// Most rows a page looks at when a filter drops some; the page is then short and has a `next`.
pub const MAX_SCANNED: usize = 5_000;
/// The form of cursors: one of another form is refused.
const CURSOR_VERSION: u8 = 1;
/// Most bytes of the position of a row: with its prefix it has to be a key.
const MAX_CURSOR_POSITION: usize = 700;

/// Which page of a list is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The cursor that the page before gave as `next`.
    pub page: Option<String>,
    /// Most items to return, 0 to [`MAX_LIMIT`]; [`DEFAULT_LIMIT`] when absent.
    pub limit: Option<u32>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page; absent on the last one.
    pub next: Option<String>,
    /// How many items the list has, where that is known without counting.
    pub count: Option<u64>,
}

impl<T> Page<T> {
    /// The same page with other items.
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(each).collect(), next: self.next, count: self.count }
    }
}

impl<T> From<Page<T>> for List<T> {
    fn from(page: Page<T>) -> Self {
        Self { next: page.next.map(|page| NextPage { page }), count: page.count, items: page.items }
    }
}

/// A list: where its rows are, and what makes its cursors its own.
#[derive(Clone, Debug)]
pub struct ListSpec {
    /// What all the rows' keys start with.
    pub prefix: KeyBuf,
    /// Last row first.
    pub rev: bool,
    /// What list it is, with all filters of the request: a cursor that was made under others is refused.
    pub identity: ListIdentity,
}

impl ListSpec {
    /// A list without filters, in the order of its keys.
    #[must_use]
    pub fn new(tag: &str, prefix: KeyBuf) -> Self {
        Self { prefix, rev: false, identity: ListIdentity::new(tag) }
    }

    /// What cursors of the list keep: its identity, where its rows are, and which way it goes.
    ///
    /// The prefix is in it because the position of a cursor is what follows the prefix in a key.
    #[must_use]
    pub fn fingerprint(&self) -> CursorFingerprint {
        let order = if self.rev { "descending" } else { "ascending" };
        self.identity.clone().with("rows", self.prefix.as_str()).with("order", order).fingerprint()
    }
}

/// Walks a list page by page: feed it what each row became.
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
    end: End,
}

/// What is known of the rows behind those already seen.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Unknown,
    More,
    None,
}

impl<T> Lister<T> {
    /// Starts at the page asked for.
    ///
    /// # Errors
    /// `Invalid` for a limit over [`MAX_LIMIT`], and for a cursor that is damaged or of another list.
    pub fn new(spec: ListSpec, request: &PageRequest) -> Result<Self> {
        let limit = checked_limit(request)?;
        let (mut from, mut to) = spec.prefix.below();
        let fingerprint = spec.fingerprint();
        if let Some(token) = &request.page {
            let position = open_row_cursor(token, fingerprint)?;
            let at: Key = format!("{from}{position}").into();
            if spec.rev {
                to = at;
            } else {
                from = key::after(&at);
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
            end: if limit == 0 { End::None } else { End::Unknown },
        })
    }

    /// Leaves out the rows below a key. Only for a list that goes from the last row to the first.
    pub fn not_below(&mut self, key: &Key) {
        debug_assert!(self.spec.rev, "a list in order would go on from its cursor");
        self.from = Key::clone(key).max(Key::clone(&self.from));
    }

    /// Leaves out the rows from a key on. Only for a list that goes from the last row to the first.
    pub fn below(&mut self, key: &Key) {
        debug_assert!(self.spec.rev, "a list in order would go on beyond its end");
        self.to = Key::clone(key).min(Key::clone(&self.to));
    }

    /// Reads the next rows; `None` when the page is full or the list is at its end.
    ///
    /// Every row must then be [offered](Lister::offer), in order.
    ///
    /// # Errors
    /// The store's.
    pub async fn rows(&mut self, tx: &Tx) -> Result<Option<Vec<(Key, Value)>>> {
        if self.items.len() >= self.limit || self.end == End::None {
            return Ok(None);
        }
        if self.scanned >= MAX_SCANNED {
            self.end = End::More;
            return Ok(None);
        }
        let wanted = (self.limit - self.items.len() + 1).min(MAX_SCAN as usize);
        // After a page of misses a filter is at work: read more at once.
        let chunk = if self.scanned == 0 { wanted } else { (4 * wanted).min(MAX_SCAN as usize) };
        let limit = u32::try_from(chunk).unwrap_or(MAX_SCAN);
        let rows = tx
            .scan(&Scan { from: self.from.clone(), to: self.to.clone(), rev: self.spec.rev, limit })
            .await?;
        if rows.len() < chunk {
            self.end = End::None;
        }
        self.scanned += rows.len();
        Ok(if rows.is_empty() { None } else { Some(rows) })
    }

    /// Tells what a row became: an item, or nothing. Answers whether the page takes more.
    pub fn offer(&mut self, key: &Key, item: Option<T>) -> bool {
        if self.items.len() >= self.limit {
            self.end = End::More;
            return false;
        }
        if self.spec.rev {
            self.to = Key::clone(key);
        } else {
            self.from = key::after(key);
        }
        self.last = Some(Key::clone(key));
        self.items.extend(item);
        true
    }

    /// Tells what rows became, in their order, until the page takes no more.
    pub fn offer_all(&mut self, rows: &[(Key, Value)], items: impl IntoIterator<Item = Option<T>>) {
        for ((row, _), item) in rows.iter().zip(items) {
            if !self.offer(row, item) {
                break;
            }
        }
    }

    /// The page.
    ///
    /// # Errors
    /// The store's.
    pub async fn finish(mut self, tx: &Tx, count: Option<u64>) -> Result<Page<T>> {
        if self.end == End::Unknown {
            let scan = Scan { from: self.from.clone(), to: self.to.clone(), rev: self.spec.rev, limit: 1 };
            self.end = if tx.scan(&scan).await?.is_empty() { End::None } else { End::More };
        }
        Ok(self.page(count))
    }

    /// The page of a list of which all that is asked for is at hand: its rows, in order. The list itself is not read.
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
            (End::More, Some(last)) => {
                let prefix = self.spec.prefix.as_str().len() + 1;
                Some(seal_cursor(last.get(prefix..).unwrap_or_default(), self.fingerprint))
            }
            _ => None,
        };
        Page { items: self.items, next, count }
    }
}

impl<R: Indexed> Lister<Arc<R>> {
    /// Fills the page with the records that the rows name by their last segment, as far as they fit.
    ///
    /// # Errors
    /// The store's.
    pub async fn fill(&mut self, tx: &Tx, fits: impl Fn(&R) -> bool + Send + Sync) -> Result<()> {
        while let Some(rows) = self.rows(tx).await? {
            let keys: Vec<Key> = R::named_by_all(&rows);
            let records = tx.get_many::<R>(&keys).await?.into_iter();
            self.offer_all(&rows, records.map(|record| record.filter(|record| fits(record))));
        }
        Ok(())
    }
}

/// A range read to its end, a scan at a time.
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
    /// Begins with a scan, which has to ascend; its limit is that of each.
    #[must_use]
    pub const fn of(scan: Scan) -> Self {
        Self(Some(scan))
    }

    /// The next rows; `None` behind the last.
    ///
    /// # Errors
    /// As [`Tx::scan`].
    pub async fn next(&mut self, tx: &Tx) -> StoreResult<Option<Vec<(Key, Value)>>> {
        let Some(scan) = self.0.take() else { return Ok(None) };
        let rows = tx.scan(&scan).await?;
        if let Some((last, _)) = rows.last().filter(|_| rows.len() == scan.limit as usize) {
            self.0 = Some(Scan { from: key::after(last), ..scan });
        }
        Ok(Some(rows))
    }
}

/// The ids that rows end in.
///
/// # Errors
/// `Internal` for a row that ends in something else.
pub fn ids_of<T: FromStr>(rows: &[(Key, Value)]) -> Result<Vec<T>> {
    rows.iter().map(|(row, _)| id_of(row)).collect()
}

/// The id that a row ends in.
///
/// # Errors
/// `Internal` for a row that ends in something else.
pub fn id_of<T: FromStr>(row: &str) -> Result<T> {
    key::last_segment(row).parse().map_err(|_| Error::internal(format!("`{row}` ends in no id")))
}

/// The number of items to return.
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

/// Writes a cursor.
#[must_use]
pub fn seal_cursor(position: &str, fingerprint: CursorFingerprint) -> String {
    let mut bytes = vec![CURSOR_VERSION];
    bytes.extend(fingerprint.as_bytes());
    bytes.extend(position.as_bytes());
    let sum = first8(blake3::hash(&bytes).as_bytes());
    bytes.extend(&sum[..4]);
    BASE64URL_NOPAD.encode(&bytes)
}

/// Reads a cursor.
///
/// # Errors
/// `Invalid` when it is damaged or of another list.
pub fn open_cursor(token: &str, expected: CursorFingerprint) -> Result<String> {
    // No position is longer than this: it is in a key, or leads through all the collections that lie in each other.
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

/// Reads a cursor whose position is that of a row: below a prefix it makes a key.
///
/// # Errors
/// `Invalid` when it is damaged or of another list.
pub fn open_row_cursor(token: &str, expected: CursorFingerprint) -> Result<String> {
    // Longer than any key, it was made by somebody else.
    open_cursor(token, expected).and_then(|position| {
        if position.len() > MAX_CURSOR_POSITION { Err(wrong_cursor()) } else { Ok(position) }
    })
}

/// The refusal of a cursor that is damaged or of another list.
#[must_use]
pub fn wrong_cursor() -> Error {
    Error::invalid("page", "not a cursor of this list; send the `next.page` of the page before")
}

fn first8(bytes: &[u8; 32]) -> [u8; 8] {
    let mut out = [0; 8];
    out.copy_from_slice(&bytes[..8]);
    out
}
