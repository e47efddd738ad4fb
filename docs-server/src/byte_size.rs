//! Sizes in bytes with a unit.

use std::{fmt, str::FromStr};

/// A number of bytes: `500MB`, `10 GiB`, or `1000000`.
///
/// The units are B, kB, MB, GB and TB (powers of 1000) and KiB, MiB, GiB and TiB (powers of 1024). They are
/// case-insensitive. A number without a unit is in bytes.
///
/// # Example
/// ```
/// use docs_server::ByteSize;
///
/// assert_eq!("10 GB".parse::<ByteSize>()?.bytes(), 10_000_000_000);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ByteSize(u64);

/// Units with their size in bytes, by lower-case name.
const UNITS: [(&str, u64); 10] = [
    ("", 1),
    ("b", 1),
    ("kb", 1000),
    ("mb", 1000_u64.pow(2)),
    ("gb", 1000_u64.pow(3)),
    ("tb", 1000_u64.pow(4)),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

impl ByteSize {
    /// Creates a size from a number of bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = unit.trim().to_ascii_lowercase();
        let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
        let bytes = factor.and_then(|factor| number.parse::<u64>().ok()?.checked_mul(factor));
        bytes.map(Self).ok_or_else(|| "write a whole number with a unit, like 500MB or 10GiB".to_owned())
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_units() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("17B", 17),
            ("5kb", 5_000),
            (" 500 MB ", 500_000_000),
            ("10GB", 10_000_000_000),
            ("2tb", 2_000_000_000_000),
            ("1KiB", 1024),
            ("3 mib", 3 << 20),
            ("1GiB", 1 << 30),
            ("1TiB", 1 << 40),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(text.parse::<ByteSize>().map(ByteSize::bytes), Ok(bytes), "{text}");
        }
        for text in ["", "GB", "-1", "1.5GB", "1 0", "10XB", "1e9", "18446744073709551616", "20000000TB"] {
            let error = text.parse::<ByteSize>().unwrap_err();
            assert!(error.contains("500MB"), "{text}: {error}");
        }
        let size = ByteSize::new(1 << 40);
        assert_eq!(size.to_string().parse(), Ok(size));
    }
}
