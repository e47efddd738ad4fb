//! Limits of fetches and pushes.

use std::time::Duration;

use crate::meter::Growth;

/// Maximum uncompressed bytes of a pack: a base amount, and an amount per received byte. The pack of the whole history
/// of Git itself contains 27 bytes per received byte.
const MAX_UNPACKED: u64 = 200_000_000;
const MAX_UNPACKED_PER_BYTE: u64 = 200;

/// The same limits for the total size of all objects in a pack, where each object counts with the bases of its delta
/// chain. A chain of the maximum length has 2.1 GB even if all its objects are small. The pack of Git contains 239
/// bytes per received byte.
const MAX_CHAINS: u64 = 3_000_000_000;
const MAX_CHAINS_PER_BYTE: u64 = 1_000;

/// Limits of a fetch or a push. Exceeding one fails with [`TooLarge`](docs_ports::GitError::TooLarge), or with
/// [`Unreachable`](docs_ports::GitError::Unreachable) for a time limit other than that of a fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum size in bytes of a file that is read or pushed, [`MAX_FILE_BYTES`](docs_ports::MAX_FILE_BYTES) by
    /// default.
    pub file_bytes: u64,
    /// Maximum size in bytes of a received repository, of a cached repository, of all files of a commit (uncompressed),
    /// and of the files of one push. 2 GB by default.
    pub total_bytes: u64,
    /// Maximum total size in bytes of all objects and deltas of a received pack, uncompressed. 4 GB by default. A pack
    /// is in addition limited to 200 MB and 200 bytes per received byte.
    pub unpacked_bytes: u64,
    /// Maximum total size in bytes of all objects of a received pack, uncompressed, where each delta counts with all
    /// its bases, and each object as at least 256 bytes. 50 GB by default, which is 25 times `total_bytes`: the mean
    /// depth of a delta chain that Git creates by default. A pack is in addition limited to 3 GB and 1,000 bytes per
    /// received byte.
    pub chain_bytes: u64,
    /// Maximum number of files and folders of a commit, and of files of one push. 200,000 by default.
    pub entries: usize,
    /// Maximum duration of a fetch, of reading all files of a fetched commit, and of each part of a push: before and
    /// after the files are read. 5 minutes by default. Also that of downloading one large object; all of an import have
    /// four times as long.
    pub time: Duration,
    /// Maximum duration of resolving a ref, which is done for many repositories in turn. 15 seconds by default.
    pub look: Duration,
    /// Maximum time without received data, and without progress in sending a push. In each period of this length, a
    /// fetch or a push transfers at least 1,000 bytes per second on average. Waits between the packets of a response do
    /// not count, because servers send small keep-alive packets while they work. 1 minute by default.
    pub idle: Duration,
}

impl Limits {
    /// Maximum size in bytes of an object that must fit in memory: a folder, a commit, or a delta object.
    pub(crate) fn object_bytes(&self) -> u64 {
        self.file_bytes.max(1_000_000)
    }

    /// Maximum uncompressed bytes of a pack.
    pub(crate) const fn unpacked(&self) -> Growth {
        Growth { start: MAX_UNPACKED, per_byte: MAX_UNPACKED_PER_BYTE, most: self.unpacked_bytes }
    }

    /// Maximum uncompressed bytes of a pack, where each object counts with the bases of its delta chain.
    pub(crate) const fn chains(&self) -> Growth {
        Growth { start: MAX_CHAINS, per_byte: MAX_CHAINS_PER_BYTE, most: self.chain_bytes }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: docs_ports::MAX_FILE_BYTES,
            total_bytes: 2_000_000_000,
            unpacked_bytes: 4_000_000_000,
            chain_bytes: 50_000_000_000,
            entries: 200_000,
            time: Duration::from_secs(300),
            look: Duration::from_secs(15),
            idle: Duration::from_secs(60),
        }
    }
}
