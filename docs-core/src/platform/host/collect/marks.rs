//! The set of objects that a collection must retain.

use std::collections::HashSet;

use crate::{content::Marks, store::Hash};

/// Size of the filter in bits: 16 MiB. The false-positive rate is below one in a million for a million objects, and one
/// in thirty for ten million.
const MARK_BITS: u64 = 1 << 27;
/// Number of bits set per object.
const MARK_PROBES: usize = 4;
/// Maximum number of nodes remembered as walked, about 64 MiB.
const MAX_WALKED_NODES: usize = 1_000_000;

/// A set of referenced objects that uses a bounded amount of memory for any number of objects.
///
/// The Bloom filter can report an unmarked object as marked, but never the reverse. Such an object is retained until a
/// later collection, whose filter has a different salt. Walked nodes are tracked exactly, so no descendant is missed.
/// Above [`MAX_WALKED_NODES`], the record of walked nodes is cleared, and some are walked again.
pub(super) struct MarkSet {
    bits: Vec<u64>,
    salt: [u64; MARK_PROBES],
    walked: HashSet<(u32, Hash)>,
    /// Number of the selected storage domain.
    domain: u32,
}

impl MarkSet {
    pub(super) fn new(salt: uuid::Uuid) -> Self {
        let (a, b) = salt.as_u64_pair();
        let words = usize::try_from(MARK_BITS / 64).unwrap_or(usize::MAX);
        Self {
            bits: vec![0; words],
            salt: [a, b, a.rotate_left(21) ^ b, b.rotate_left(43) ^ a],
            walked: HashSet::new(),
            domain: 0,
        }
    }

    /// Selects a storage domain. The same object in two domains counts as two objects.
    pub(super) const fn select_domain(&mut self, domain: u32) -> &mut Self {
        self.domain = domain;
        self
    }

    /// Returns `true` if an object is marked. False positives are possible.
    pub(super) fn has(&self, hash: Hash) -> bool {
        self.probes(hash)
            .into_iter()
            .all(|(word, bit)| self.bits.get(word).is_some_and(|bits| bits & bit != 0))
    }

    /// Returns the filter positions of an object. A hash is uniformly distributed, and so are its parts.
    fn probes(&self, hash: Hash) -> [(usize, u64); MARK_PROBES] {
        let bytes = hash.as_bytes();
        std::array::from_fn(|n| {
            let mut part = [0; 8];
            part.copy_from_slice(&bytes[n * 8..n * 8 + 8]);
            let part = u64::from_le_bytes(part)
                ^ self.salt[n]
                ^ u64::from(self.domain).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let at = part.wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29) % MARK_BITS;
            (usize::try_from(at / 64).unwrap_or(usize::MAX), 1 << (at % 64))
        })
    }
}

impl Marks for MarkSet {
    fn enter(&mut self, node: Hash) -> bool {
        if self.walked.len() >= MAX_WALKED_NODES {
            self.walked.clear();
        }
        self.mark(node);
        self.walked.insert((self.domain, node))
    }

    fn mark(&mut self, object: Hash) {
        for (word, bit) in self.probes(object) {
            if let Some(bits) = self.bits.get_mut(word) {
                *bits |= bit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use docs_memstore::SeededIds;

    use super::*;
    use crate::ports::Ids as _;

    fn hash(n: u32) -> Hash {
        Hash::compute(&n.to_le_bytes())
    }

    #[test]
    fn mark_set_has_no_false_negatives_and_few_false_positives() {
        let mut marks = MarkSet::new(SeededIds::new(3).next());
        for n in 0..100_000 {
            marks.select_domain(n % 2).mark(hash(n));
        }
        for n in 0..100_000 {
            assert!(marks.select_domain(n % 2).has(hash(n)), "{n}");
        }
        let wrong = (0..100_000).filter(|n| marks.select_domain(1 - n % 2).has(hash(*n))).count();
        assert!(wrong < 5, "{wrong} of 100,000 that are not marked look like it");
    }

    #[test]
    fn a_node_is_entered_once_in_each_domain() {
        let mut marks = MarkSet::new(SeededIds::new(3).next());
        assert!(marks.select_domain(1).enter(hash(1)));
        assert!(!marks.select_domain(1).enter(hash(1)));
        assert!(marks.select_domain(2).enter(hash(1)));
        assert!(marks.has(hash(1)));
    }
}
