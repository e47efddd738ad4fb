//! The parts that all caches share.
//!
//! Each cache is bounded in bytes. Entries never become stale: each is stored under a key that covers all its inputs,
//! or together with the [`Moment`] of its computation. Entries of an outdated site are no longer requested and are
//! evicted when a cache is full.

use docs_core::platform::Moment;

/// The expected number of entries, which sets the initial size of the cache tables.
pub(crate) const EXPECTED: usize = 512;
/// The expected number of large entries. These caches have a single shard, because an entry must fit into its
/// shard.
pub(crate) const LARGE: usize = 32;

/// A lookup result that is valid as long as the [`Moment`] is current.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) moment: Moment,
    pub(crate) found: T,
}

/// Computes the weight of cache entries in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Weigh;
