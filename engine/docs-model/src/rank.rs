//! Ranks: sort keys of siblings. A new rank can be created between any two ranks.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Timestamp;

/// Maximum length of a rank in characters. If a longer rank would be required, all siblings receive new ranks.
pub const MAX_RANK: usize = 64;

const RANK_DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Number of digits of the counter prefix, sufficient for millions of appended siblings.
const HEAD_DIGITS: usize = 4;
/// Number of digits of a time in milliseconds, sufficient until the year 8900.
const TIME_DIGITS: usize = 8;
/// Initial counter prefix, in the middle of the range to leave room at both ends.
const FIRST_HEAD: u64 = 31 * 62 * 62 * 62;

/// The position of a page among its siblings. Ranks are compared bytewise; pages with equal ranks are ordered by id.
///
/// A rank is a base-62 fraction that does not end in the lowest digit, so another rank exists between any two.
/// Appending increments a prefix of four digits, which keeps ranks short.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rank(Box<str>);

impl Rank {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the rank for position `position` in a list of new siblings. These ranks are short, ascending and evenly
    /// spaced.
    #[must_use]
    pub fn nth(position: usize) -> Self {
        // One in 62 numbers ends in the lowest digit and is skipped.
        let position = position as u64;
        Self::counted(FIRST_HEAD + position / 61 * 62 + position % 61 + 1)
            .unwrap_or_else(|| Self(format!("zzzz{position:020}V").into()))
    }

    /// Returns the rank of a sibling created at the given time. It sorts after all siblings created earlier without
    /// reading them.
    #[must_use]
    pub fn from_time(at: Timestamp) -> Self {
        let mut rest = u64::try_from(at.time().timestamp_millis()).unwrap_or_default();
        let mut digits = [b'0'; TIME_DIGITS];
        for digit in digits.iter_mut().rev() {
            *digit = RANK_DIGITS[(rest % 62) as usize];
            rest /= 62;
        }
        // The constant last digit ensures that the rank does not end in the lowest digit.
        let digits: String = digits.iter().map(|b| char::from(*b)).chain(['V']).collect();
        Self(digits.into())
    }

    /// Returns a rank between two others, or `None` if there is none or it would exceed [`MAX_RANK`]. The siblings then
    /// need new ranks from [`Rank::nth`] or [`Rank::arrange`].
    #[must_use]
    pub fn between(low: Option<&Self>, high: Option<&Self>) -> Option<Self> {
        let rank = match (low, high) {
            (None, None) => Some(Self::nth(0)),
            (Some(low), None) => low.step(1).or_else(|| Some(Self(middle(low.as_str(), None)))),
            (None, Some(high)) => high.step(-1).or_else(|| Some(Self(middle("", Some(high.as_str()))))),
            (Some(low), Some(high)) if low < high => Some(Self(middle(low.as_str(), Some(high.as_str())))),
            _ => None,
        }?;
        let fits =
            rank.0.len() <= MAX_RANK && low.is_none_or(|l| *l < rank) && high.is_none_or(|h| rank < *h);
        fits.then_some(rank)
    }

    /// Assigns ascending ranks to siblings in the given order, retaining as many previous ranks as possible.
    ///
    /// The longest ascending subsequence of the previous ranks is retained, so that an import with few changes moves
    /// few pages.
    #[must_use]
    pub fn arrange(previous: &[Option<Self>]) -> Vec<Self> {
        let kept = longest_ascending(previous);
        let mut ranks: Vec<Self> = Vec::with_capacity(previous.len());
        let mut next_kept = kept.iter().peekable();
        for position in 0..previous.len() {
            while next_kept.next_if(|k| **k < position).is_some() {}
            let bound = next_kept.peek().map(|k| **k);
            if bound == Some(position)
                && let Some(rank) = &previous[position]
            {
                ranks.push(rank.clone());
                continue;
            }
            match Self::between(ranks.last(), bound.and_then(|b| previous[b].as_ref())) {
                Some(rank) => ranks.push(rank),
                None => return (0..previous.len()).map(Self::nth).collect(),
            }
        }
        ranks
    }

    /// Returns the rank with its counter prefix changed by `by`, or `None` at the end of the range.
    fn step(&self, by: i64) -> Option<Self> {
        let mut number: u64 = 0;
        for position in 0..HEAD_DIGITS {
            let digit = self.0.as_bytes().get(position).map_or(0, |b| value(*b));
            number = number * 62 + digit as u64;
        }
        let mut next = number.checked_add_signed(by)?;
        if next % 62 == 0 {
            next = next.checked_add_signed(by)?;
        }
        Self::counted(next)
    }

    fn counted(number: u64) -> Option<Self> {
        let mut digits = [b'0'; HEAD_DIGITS];
        let mut rest = number;
        for digit in digits.iter_mut().rev() {
            *digit = RANK_DIGITS[(rest % 62) as usize];
            rest /= 62;
        }
        if rest > 0 || number == 0 {
            return None;
        }
        Some(Self(digits.iter().map(|b| char::from(*b)).collect::<String>().into()))
    }
}

/// The error for a string that is not a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be a rank of letters and digits that does not end with 0")]
pub struct NotARank;

impl std::str::FromStr for Rank {
    type Err = NotARank;
    fn from_str(text: &str) -> Result<Self, NotARank> {
        let fits =
            text.bytes().all(|b| b.is_ascii_alphanumeric()) && text.bytes().last().is_some_and(|b| b != b'0');
        if fits { Ok(Self(text.into())) } else { Err(NotARank) }
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Rank {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Rank {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

fn value(digit: u8) -> usize {
    RANK_DIGITS.iter().position(|d| *d == digit).unwrap_or(0)
}

/// Returns a fraction strictly between `low` and `high`. Requires `low < high`.
fn middle(low: &str, high: Option<&str>) -> Box<str> {
    let (low, mut high) = (low.as_bytes(), high.map(str::as_bytes));
    let mut out = String::new();
    let mut position = 0;
    loop {
        let l = low.get(position).map_or(0, |b| value(*b));
        let h = match high {
            Some(high) => high.get(position).map_or(0, |b| value(*b)),
            None => RANK_DIGITS.len(),
        };
        if h > l + 1 {
            out.push(char::from(RANK_DIGITS[l.midpoint(h)]));
            return out.into();
        }
        out.push(char::from(RANK_DIGITS[l]));
        if h > l {
            // The digits differ by one, so any continuation greater than the rest of `low` fits.
            high = None;
        }
        position += 1;
        if position > 4 * MAX_RANK {
            // Reached only if the bounds are out of order. The caller compares the result with them.
            return out.into();
        }
    }
}

/// Returns the positions of a longest strictly ascending subsequence, ignoring absent ranks.
fn longest_ascending(ranks: &[Option<Rank>]) -> Vec<usize> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; ranks.len()];
    for (position, rank) in ranks.iter().enumerate() {
        let Some(rank) = rank else { continue };
        let at = ends.partition_point(|end| ranks[*end].as_ref() < Some(rank));
        before[position] = at.checked_sub(1).map(|p| ends[p]);
        if at == ends.len() {
            ends.push(position);
        } else {
            ends[at] = position;
        }
    }
    let mut chain = Vec::with_capacity(ends.len());
    let mut cursor = ends.last().copied();
    while let Some(position) = cursor {
        chain.push(position);
        cursor = before[position];
    }
    chain.reverse();
    chain
}
