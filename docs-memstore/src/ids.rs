//! Deterministic ids.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use docs_ports::Ids;
use uuid::Uuid;

use crate::rng::splitmix;

/// Reproducible [`Ids`] derived from a seed. Clones draw from the same sequence.
///
/// ```
/// use docs_ports::Ids;
/// use docs_memstore::SeededIds;
/// assert_eq!(SeededIds::new(7).next(), SeededIds::new(7).next());
/// ```
#[derive(Clone, Debug)]
pub struct SeededIds {
    seed: u64,
    drawn: Arc<AtomicU64>,
}

impl SeededIds {
    /// Starts the sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, drawn: Arc::default() }
    }
}

impl Ids for SeededIds {
    fn next(&self) -> Uuid {
        let n = self.drawn.fetch_add(1, Ordering::Relaxed);
        let [high, low] = [2 * n, 2 * n + 1].map(|n| splitmix(self.seed, n));
        let bytes = ((u128::from(high) << 64) | u128::from(low)).to_be_bytes();
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn seeded_ids_are_distinct_and_version_4() {
        let ids = SeededIds::new(1);
        let drawn: HashSet<Uuid> = (0..10_000).map(|_| ids.clone().next()).collect();
        assert_eq!(drawn.len(), 10_000);
        assert!(drawn.iter().all(|id| id.get_version_num() == 4));
        assert!(!drawn.contains(&SeededIds::new(2).next()));
    }
}
