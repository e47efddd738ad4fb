//! Code shared by all caches.
//!
//! Each cache has a size limit in bytes. Entries never become stale: each is stored under a key that covers all its
//! inputs, or together with the [`AnonymousViewVersion`] of its computation. Entries of an outdated site are no longer
//! requested and are evicted when a cache is full.

use docs_core::platform::AnonymousViewVersion;

/// The expected number of entries, which sets the initial size of the cache tables.
pub(crate) const EXPECTED_ENTRIES: usize = 512;
/// The expected number of large entries. Caches for them have a single shard, because an entry must fit into its shard.
pub(crate) const EXPECTED_LARGE_ENTRIES: usize = 32;

/// A lookup result that is valid as long as the [`AnonymousViewVersion`] is current.
#[derive(Clone, Debug)]
pub(crate) struct Versioned<T> {
    pub(crate) moment: AnonymousViewVersion,
    pub(crate) found: T,
}

/// Computes the weight of cache entries in bytes.
#[derive(Clone, Debug)]
pub(crate) struct EntryWeigher;
