//! How keys are written: segments joined by `!`, in an order-preserving encoding.
//!
//! Inside a segment every character up to `"` (0x22) is written as `"` and that character, so the separator never
//! appears in a segment and `a!` sorts before `ab!`. A prefix `P` covers the range from `P!` to `P"`.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use super::{Key, Scan};

/// Class of the counters that records keep: the only keys that are [added to](super::Op::Add).
pub const COUNTERS: &str = "ctr";
const KEY_SEPARATOR: char = '!';
const KEY_ESCAPE: char = '"';
/// Longest text, in bytes before encoding, that goes into a sort segment; an id always follows it.
const MAX_SORT_TEXT: usize = 200;

/// Writes keys segment by segment.
///
/// ```
/// use docs_store::KeyBuf;
/// assert_eq!(&*KeyBuf::new("spc").part("a!b").key(), "spc!a\"!b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBuf(String);

impl KeyBuf {
    /// Starts a key with its class, for example `spc` or `mem.j`.
    #[must_use]
    pub fn new(class: &str) -> Self {
        debug_assert!(class.bytes().all(|b| b > KEY_ESCAPE as u8), "a class is plain text");
        Self(class.to_owned())
    }

    /// Adds a segment of text.
    #[must_use]
    pub fn part(mut self, text: &str) -> Self {
        self.0.push(KEY_SEPARATOR);
        for c in text.chars() {
            if c <= KEY_ESCAPE {
                self.0.push(KEY_ESCAPE);
            }
            self.0.push(c);
        }
        self
    }

    /// Adds a point in time: 11 characters that sort by time. Times before 1970 sort as 1970.
    #[must_use]
    pub fn time(mut self, at: DateTime<Utc>) -> Self {
        let ms = u64::try_from(at.timestamp_millis()).unwrap_or(0);
        self.0.push(KEY_SEPARATOR);
        for group in (0..11).rev() {
            let digit = ((ms >> (group * 5)) & 31) as usize;
            self.0.push(char::from(b"0123456789abcdefghijklmnopqrstuv"[digit]));
        }
        self
    }

    /// Adds a number: 20 digits that sort by value.
    #[must_use]
    pub fn number(mut self, n: u64) -> Self {
        let _ = write!(self.0, "{KEY_SEPARATOR}{n:020}");
        self
    }

    /// Adds a title for sorting: lower case and cut to a bound; follow it by an id.
    #[must_use]
    pub fn sort_text(self, title: &str) -> Self {
        let mut folded: String = title.to_lowercase();
        let mut cut = MAX_SORT_TEXT.min(folded.len());
        while !folded.is_char_boundary(cut) {
            cut -= 1;
        }
        folded.truncate(cut);
        self.part(&folded)
    }

    /// The key.
    #[must_use]
    pub fn key(self) -> Key {
        self.0.into()
    }

    /// Everything below this prefix, the prefix itself excluded.
    #[must_use]
    pub fn below(&self) -> (Key, Key) {
        (format!("{}{KEY_SEPARATOR}", self.0).into(), format!("{}{KEY_ESCAPE}", self.0).into())
    }

    /// A scan of everything below this prefix, in ascending order.
    #[must_use]
    pub fn scan(&self, limit: u32) -> Scan {
        let (from, to) = self.below();
        Scan { from, to, rev: false, limit }
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The segments of a key, decoded.
#[must_use]
pub fn segments(key: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = key.chars();
    while let Some(c) = chars.next() {
        match c {
            KEY_SEPARATOR => parts.push(String::new()),
            KEY_ESCAPE => {
                if let (Some(c), Some(last)) = (chars.next(), parts.last_mut()) {
                    last.push(c);
                }
            }
            _ => {
                if let Some(last) = parts.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    parts
}

/// The last segment of a key, decoded: in an index, the id of what it leads to.
#[must_use]
pub fn last_segment(key: &str) -> String {
    segments(key).pop().unwrap_or_default()
}

/// The smallest key after `key`.
#[must_use]
pub fn after(key: &str) -> Key {
    // NUL never occurs in a key, so 0x01 is the lowest character that can follow.
    format!("{key}\u{1}").into()
}
