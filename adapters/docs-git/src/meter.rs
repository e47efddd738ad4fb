//! Accounting of received bytes.

use docs_ports::GitError;

/// Counts bytes up to a limit.
#[derive(Debug)]
pub(crate) struct Meter {
    limit: u64,
    left: u64,
    over: fn(u64) -> GitError,
}

impl Meter {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, left: limit, over: repository_too_large }
    }

    /// Creates a meter that reports exceeding the limit with a custom error.
    pub(crate) fn with_error(limit: u64, over: fn(u64) -> GitError) -> Self {
        Self { limit, left: limit, over }
    }

    /// Adds received bytes.
    pub(crate) fn add(&mut self, bytes: u64) -> Result<(), GitError> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| (self.over)(self.limit))?;
        Ok(())
    }
}

/// A limit of uncompressed bytes that grows with the received bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// The limit before any byte is received.
    pub(crate) start: u64,
    /// The increase of the limit per received byte.
    pub(crate) per_byte: u64,
    /// The maximum of the limit, for any number of received bytes.
    pub(crate) most: u64,
}

/// Counts the uncompressed bytes of a pack while it arrives.
#[derive(Debug)]
pub(crate) struct UnpackedMeter {
    growth: Growth,
    used: u64,
    /// Creates the error from the formatted limit.
    over: fn(&str) -> GitError,
}

impl UnpackedMeter {
    pub(crate) fn new(growth: Growth, over: fn(&str) -> GitError) -> Self {
        Self { growth, used: 0, over }
    }

    /// Counts uncompressed bytes of a pack. `received` is the number of its bytes received so far.
    pub(crate) fn add(&mut self, bytes: u64, received: u64) -> Result<(), GitError> {
        let Growth { start, per_byte, most } = self.growth;
        self.used = self.used.saturating_add(bytes);
        let growing = start.saturating_add(per_byte.saturating_mul(received));
        if self.used <= growing.min(most) {
            return Ok(());
        }
        Err((self.over)(&match growing < most {
            true => format!("{} plus {per_byte} times the received bytes", size(start)),
            false => size(most),
        }))
    }

    #[cfg(test)]
    pub(crate) const fn used(&self) -> u64 {
        self.used
    }
}

pub(crate) fn repository_too_large(limit: u64) -> GitError {
    GitError::TooLarge(format!("a repository must be at most {}", size(limit)))
}

/// Returns the error for an oversized object that must fit in memory.
pub(crate) fn object_too_large(limit: u64) -> GitError {
    GitError::TooLarge(format!(
        "a folder, a commit and a file stored as a delta must be at most {} each",
        size(limit)
    ))
}

/// Returns the error for objects whose total size is too large.
pub(crate) fn objects_too_large(limit: &str) -> GitError {
    GitError::TooLarge(format!(
        "the objects of a repository must be at most {limit} in total, uncompressed; remove large and repetitive \
         files from it"
    ))
}

/// Returns the error for delta chains whose total size is too large.
pub(crate) fn chains_too_large(limit: &str) -> GitError {
    GitError::TooLarge(format!(
        "the objects of a repository, each with the bases of its deltas, must be at most {limit} in total, \
         uncompressed; repack it with a smaller `pack.depth`"
    ))
}

/// Returns the error for folders whose total size is too large.
pub(crate) fn folders_too_large(limit: u64) -> GitError {
    GitError::TooLarge(format!("the folders of a repository must be at most {} in total", size(limit)))
}

/// Returns the error for paths and targets of symbolic links whose total size is too large.
pub(crate) fn paths_too_long(limit: u64) -> GitError {
    GitError::TooLarge(format!(
        "the paths and targets of symbolic links of a repository must be at most {} in total",
        size(limit)
    ))
}

/// Returns the error for a delta chain that is too long.
pub(crate) fn chain_too_long(limit: u32) -> GitError {
    GitError::TooLarge(format!(
        "the repository has a chain of more than {limit} deltas; repack it with a smaller `pack.depth`"
    ))
}

pub(crate) fn file_too_large(path: &str, bytes: u64, limit: u64) -> GitError {
    GitError::TooLarge(format!("{path}: must be at most {}, has {}", size(limit), size(bytes)))
}

fn size(bytes: u64) -> String {
    if bytes >= 1_000_000 { format!("{} MB", bytes.div_ceil(1_000_000)) } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meter_accepts_the_limit_and_rejects_one_byte_more() {
        let mut meter = Meter::new(10);
        assert_eq!(meter.add(4), Ok(()));
        assert_eq!(meter.add(6), Ok(()));
        assert_eq!(meter.add(1).unwrap_err().to_string(), "a repository must be at most 10 bytes");
    }

    #[test]
    fn uncompressed_bytes_are_limited_by_the_received_bytes() {
        let growth = Growth { start: 2_000_000, per_byte: 10, most: 3_000_000 };
        let mut meter = UnpackedMeter::new(growth, objects_too_large);
        assert_eq!(meter.add(2_000_000, 0), Ok(()));
        assert_eq!(meter.add(10, 1), Ok(()));
        let why = meter.add(1, 1).unwrap_err().to_string();
        assert!(why.contains("at most 2 MB plus 10 times the received bytes in total"), "{why}");
        assert_eq!(meter.add(999_989, 1_000_000), Ok(()));
        let why = meter.add(1, u64::MAX).unwrap_err().to_string();
        assert!(why.contains("at most 3 MB in total"), "{why}");
    }

    #[test]
    fn messages_name_the_file_and_the_limit() {
        assert_eq!(
            file_too_large("a/b.mp4", 100_000_001, 100_000_000).to_string(),
            "a/b.mp4: must be at most 100 MB, has 101 MB"
        );
    }
}
