//! How much a fetch may cost.

use std::time::Duration;

/// How much a fetch may cost. What goes beyond is [`TooLarge`](docs_ports::GitError::TooLarge), or
/// [`Unreachable`](docs_ports::GitError::Unreachable) where it is time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most bytes of a file that is read: [`MAX_FILE_BYTES`](docs_ports::MAX_FILE_BYTES).
    pub file_bytes: u64,
    /// Most bytes of a repository that are received, that a cache keeps of it, and that all files of a commit have
    /// together, unpacked: 2 GB.
    pub total_bytes: u64,
    /// Most files and folders of a commit: 200,000.
    pub entries: usize,
    /// How long a fetch may take: five minutes.
    pub time: Duration,
    /// How long a server may say nothing: one minute.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: docs_ports::MAX_FILE_BYTES,
            total_bytes: 2_000_000_000,
            entries: 200_000,
            time: Duration::from_secs(300),
            idle: Duration::from_secs(60),
        }
    }
}
