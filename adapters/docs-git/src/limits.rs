//! How much a fetch or a push may cost.

use std::time::Duration;

/// How much a fetch or a push may cost. What goes beyond is [`TooLarge`](docs_ports::GitError::TooLarge), or
/// [`Unreachable`](docs_ports::GitError::Unreachable) where it is time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most bytes of a file that is read or pushed: [`MAX_FILE_BYTES`](docs_ports::MAX_FILE_BYTES).
    pub file_bytes: u64,
    /// Most bytes of a repository that are received, that a cache keeps of it, that all files of a commit have
    /// together, unpacked, and that the files of one push have: 2 GB.
    pub total_bytes: u64,
    /// Most files and folders of a commit, and most files of one push: 200,000.
    pub entries: usize,
    /// How long a fetch may take, and each half of a push, before and after the files are read: five minutes.
    pub time: Duration,
    /// How long it may take to tell where a ref points, which is asked for many repositories in turn: a quarter of a
    /// minute.
    pub look: Duration,
    /// How long a server may say nothing, and take nothing of what is pushed: one minute.
    pub idle: Duration,
}

impl Limits {
    /// Most bytes of an object that has to be in memory as a whole: one that is a folder or a commit, and one that is
    /// stored as a difference.
    pub(crate) fn object_bytes(&self) -> u64 {
        self.file_bytes.max(1_000_000)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: docs_ports::MAX_FILE_BYTES,
            total_bytes: 2_000_000_000,
            entries: 200_000,
            time: Duration::from_secs(300),
            look: Duration::from_secs(15),
            idle: Duration::from_secs(60),
        }
    }
}
