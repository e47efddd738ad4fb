//! Map queries: single keys, ranges, counts and positions.

use std::collections::BTreeSet;

use bytes::Bytes;
use docs_store::{Hash, Key};

use super::{Fault, MapResult, MapSize, Nodes, load};

/// A range of keys, `from <= key < to`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// The lower bound, inclusive.
    pub from: Key,
    /// The upper bound, exclusive; `None` for the end of the map.
    pub to: Option<Key>,
    /// Descending order, starting at the upper bound.
    pub rev: bool,
    /// Maximum number of entries to return.
    pub limit: usize,
}

impl Range {
    /// Creates a range from `from` (inclusive) to `to` (exclusive).
    #[must_use]
    pub const fn new(from: Key, to: Key) -> Self {
        Self { from, to: Some(to), rev: false, limit: usize::MAX }
    }

    /// Limits the number of entries.
    #[must_use]
    pub const fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Reverses the order.
    #[must_use]
    pub const fn reversed(mut self) -> Self {
        self.rev = true;
        self
    }

    fn contains(&self, key: &str) -> bool {
        *self.from <= *key && self.to.as_ref().is_none_or(|to| *key < **to)
    }
}

/// Returns the value of a key.
///
/// # Errors
/// See [`Fault`].
pub fn get(nodes: &dyn Nodes, root: &Hash, key: &str) -> MapResult<Option<Bytes>> {
    let mut node = load(nodes, root, None)?;
    while node.level() > 0 {
        let child = node.refs()[node.child_for(key)];
        node = load(nodes, &child.hash, Some(node.level() - 1))?;
    }
    Ok(node.find(key).and_then(|at| node.value(at)).cloned())
}

/// Returns the values of keys in the order of `keys`. Reports all missing nodes of a level together.
///
/// # Errors
/// See [`Fault`].
pub fn get_many<K: AsRef<str>>(nodes: &dyn Nodes, root: &Hash, keys: &[K]) -> MapResult<Vec<Option<Bytes>>> {
    let mut missing = BTreeSet::new();
    let mut out = Vec::with_capacity(keys.len());
    for key in keys {
        match get(nodes, root, key.as_ref()) {
            Ok(value) => out.push(value),
            Err(Fault::Missing(hashes)) => missing.extend(hashes),
            Err(fault) => return Err(fault),
        }
    }
    if missing.is_empty() { Ok(out) } else { Err(Fault::Missing(missing)) }
}

/// A subtree that has not been read.
struct PendingSubtree {
    hash: Hash,
    level: Option<u8>,
    /// Upper bound for the number of its entries, from which the read-ahead is estimated.
    count: u64,
}

/// Returns the entries of a range in the requested order.
///
/// # Errors
/// See [`Fault`].
pub fn range(nodes: &dyn Nodes, root: &Hash, range: &Range) -> MapResult<Vec<(Key, Bytes)>> {
    let mut out = Vec::new();
    let mut missing = BTreeSet::new();
    let mut expected: u64 = 0;
    let mut stack = vec![PendingSubtree { hash: *root, level: None, count: 0 }];
    while let Some(next) = stack.pop() {
        if out.len() as u64 + expected >= range.limit as u64 {
            break;
        }
        let node = match load(nodes, &next.hash, next.level) {
            Ok(node) => node,
            Err(Fault::Missing(hashes)) => {
                missing.extend(hashes);
                expected = expected.saturating_add(next.count);
                continue;
            }
            Err(fault) => return Err(fault),
        };
        if node.level() == 0 {
            let mut take = |at: usize| {
                if let Some(value) = node.value(at).filter(|_| range.contains(node.key(at))) {
                    out.push((Key::from(node.key(at)), value.clone()));
                }
            };
            if range.rev {
                (0..node.len()).rev().for_each(&mut take);
            } else {
                (0..node.len()).for_each(&mut take);
            }
            continue;
        }
        let first = node.child_for(&range.from);
        let end = range.to.as_ref().map_or(node.len(), |to| node.lower_bound(to).max(first + 1));
        let mut push = |at: usize| {
            let child = node.refs()[at];
            stack.push(PendingSubtree {
                hash: child.hash,
                level: Some(node.level() - 1),
                count: child.size.count,
            });
        };
        // The stack is last-in, first-out.
        if range.rev { (first..end).for_each(&mut push) } else { (first..end).rev().for_each(&mut push) }
    }
    if !missing.is_empty() {
        return Err(Fault::Missing(missing));
    }
    out.truncate(range.limit);
    Ok(out)
}

/// Returns the number of keys less than `key`.
///
/// # Errors
/// See [`Fault`].
pub fn rank(nodes: &dyn Nodes, root: &Hash, key: &str) -> MapResult<u64> {
    Ok(size_before(nodes, root, key)?.count)
}

/// Returns the size of the entries whose keys are less than `key`.
fn size_before(nodes: &dyn Nodes, root: &Hash, key: &str) -> MapResult<MapSize> {
    let mut node = load(nodes, root, None)?;
    let mut before = MapSize::default();
    while node.level() > 0 {
        let at = node.child_for(key);
        for child in &node.refs()[..at] {
            before += child.size;
        }
        node = load(nodes, &node.refs()[at].hash, Some(node.level() - 1))?;
    }
    for (_, value) in node.values().take(node.lower_bound(key)) {
        before += MapSize { count: 1, bytes: value.len() as u64 };
    }
    Ok(before)
}

/// Returns the number of keys in `from <= key < to`.
///
/// # Errors
/// See [`Fault`].
pub fn count(nodes: &dyn Nodes, root: &Hash, from: &str, to: &str) -> MapResult<u64> {
    Ok(size(nodes, root, from, to)?.count)
}

/// Returns the size of the entries in `from <= key < to`.
///
/// # Errors
/// See [`Fault`].
pub fn size(nodes: &dyn Nodes, root: &Hash, from: &str, to: &str) -> MapResult<MapSize> {
    match (size_before(nodes, root, from), size_before(nodes, root, to)) {
        (Ok(low), Ok(high)) => Ok(high.saturating_sub(low)),
        (Err(Fault::Missing(mut a)), Err(Fault::Missing(b))) => {
            a.extend(b);
            Err(Fault::Missing(a))
        }
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
    }
}

/// Returns the entry at a zero-based position in the whole map.
///
/// # Errors
/// See [`Fault`].
pub fn nth(nodes: &dyn Nodes, root: &Hash, position: u64) -> MapResult<Option<(Key, Bytes)>> {
    let mut node = load(nodes, root, None)?;
    let mut rest = position;
    if rest >= node.count() {
        return Ok(None);
    }
    while node.level() > 0 {
        let mut found = None;
        for child in node.refs() {
            if rest < child.size.count {
                found = Some(*child);
                break;
            }
            rest -= child.size.count;
        }
        let child = found.ok_or(Fault::Corrupt("the counts of children do not match"))?;
        node = load(nodes, &child.hash, Some(node.level() - 1))?;
        if node.count() != child.size.count {
            return Err(Fault::Corrupt("the count of a child differs from the count in its parent"));
        }
    }
    let at = usize::try_from(rest).map_err(|_| Fault::Corrupt("the counts of children do not match"))?;
    Ok(node.value(at).map(|value| (Key::from(node.key(at)), value.clone())))
}
