//! Key encoding: segments joined by `!`, in a form that preserves order.
//!
//! Within a segment, every character up to `"` (0x22) is escaped with a preceding `"`. The separator therefore never
//! occurs in a segment, and `a!` sorts before `ab!`. The keys with prefix `P` are the range from `P!` to `P"`.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use super::{Key, Scan};

/// Class of the counters derived from records. Only these keys accept [`Add`](super::Op::Add).
pub const COUNTERS: &str = "ctr";
const KEY_SEPARATOR: char = '!';
const KEY_ESCAPE: char = '"';
/// Maximum length of a sort segment in bytes before encoding. It must be followed by an id.
const MAX_SORT_TEXT: usize = 200;

/// A builder for keys.
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
        debug_assert!(class.bytes().all(|b| b > KEY_ESCAPE as u8), "a class consists of plain text");
        Self(class.to_owned())
    }

    /// Appends a text segment.
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

    /// Appends a timestamp segment of 11 characters that sorts by time. Times before 1970 sort as 1970.
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

    /// Appends a number segment of 20 digits that sorts by value.
    #[must_use]
    pub fn number(mut self, n: u64) -> Self {
        let _ = write!(self.0, "{KEY_SEPARATOR}{n:020}");
        self
    }

    /// Appends a title as a sort segment: lowercased and truncated. It must be followed by an id.
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

    /// Finishes the key.
    #[must_use]
    pub fn key(self) -> Key {
        self.0.into()
    }

    /// Returns the range of all keys with this prefix, excluding the prefix itself.
    #[must_use]
    pub fn prefix_range(&self) -> (Key, Key) {
        (format!("{}{KEY_SEPARATOR}", self.0).into(), format!("{}{KEY_ESCAPE}", self.0).into())
    }

    /// Returns an ascending scan of all keys with this prefix.
    #[must_use]
    pub fn scan(&self, limit: u32) -> Scan {
        let (from, to) = self.prefix_range();
        Scan { from, to, rev: false, limit }
    }

    /// Returns the key as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Splits a key into its decoded segments.
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

/// Returns the last segment of a key, decoded. In an index row, it is the id of the record.
#[must_use]
pub fn last_segment(key: &str) -> String {
    segments(key).pop().unwrap_or_default()
}

/// Returns the smallest key greater than `key`.
#[must_use]
pub fn successor(key: &str) -> Key {
    // NUL never occurs in a key, so 0x01 is the lowest possible next character.
    format!("{key}\u{1}").into()
}
