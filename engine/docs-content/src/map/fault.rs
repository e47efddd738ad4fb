//! Results of a pass over a map.

use std::collections::BTreeSet;

use docs_store::Hash;

/// The reason a pass over a map ended without a result.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// Nodes must be loaded. Once they are, the same call makes progress.
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

/// The result of a pass over a map.
pub type MapResult<T> = Result<T, Fault>;
