//! Results of map operations.

use std::collections::BTreeSet;

use docs_store::Hash;

/// The reason a map operation did not return a result.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// Nodes must be loaded first. After that, the same call makes progress.
    #[error("{} nodes are not loaded", .0.len())]
    Missing(BTreeSet<Hash>),
    /// A node violates the invariants of a map.
    #[error("a node of the map is damaged: {0}")]
    Corrupt(&'static str),
}

impl Fault {
    pub(super) fn missing(hash: Hash) -> Self {
        Self::Missing(BTreeSet::from([hash]))
    }
}

/// The result of a map operation.
pub type MapResult<T> = Result<T, Fault>;
