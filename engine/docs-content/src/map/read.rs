//! Reading: single keys, ranges, counts and positions.

use std::collections::BTreeSet;

use bytes::Bytes;
use docs_store::{Hash, Key};

use super::{Fault, Nodes, Pass, load};

/// A range of keys, `from <= key < to`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first key, included.
    pub from: Key,
    /// The end, excluded; none for the end of the map.
    pub to: Option<Key>,
    /// Starts at the end.
    pub rev: bool,
    /// Most entries to return.
    pub limit: usize,
}

impl Range {
    /// Everything from one key up to another.
    #[must_use]
    pub const fn new(from: Key, to: Key) -> Self {
        Self { from, to: Some(to), rev: false, limit: usize::MAX }
    }

    /// The same range, with at most this many entries.
    #[must_use]
    pub const fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The same range from its end.
    #[must_use]
    pub const fn reversed(mut self) -> Self {
        self.rev = true;
        self
    }

    fn holds(&self, key: &str) -> bool {
        *self.from <= *key && self.to.as_ref().is_none_or(|to| *key < **to)
    }
}

/// The value of a key.
///
/// # Errors
/// See [`Fault`].
pub fn get(nodes: &dyn Nodes, root: &Hash, key: &str) -> Pass<Option<Bytes>> {
    let mut node = load(nodes, root, None)?;
    while node.level() > 0 {
        let child = node.refs()[node.child_for(key)];
        node = load(nodes, &child.hash, Some(node.level() - 1))?;
    }
    Ok(node.find(key).and_then(|at| node.value(at)).cloned())
}

/// The values of keys, in the order asked; reports all missing nodes of one level at once.
///
/// # Errors
/// See [`Fault`].
pub fn get_many<K: AsRef<str>>(nodes: &dyn Nodes, root: &Hash, keys: &[K]) -> Pass<Vec<Option<Bytes>>> {
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

/// A subtree still to be read.
struct Pending {
    hash: Hash,
    level: Option<u8>,
    /// How many entries it holds at most, for guessing how far to look ahead.
    count: u64,
}

/// The entries of a range, in its direction.
///
/// # Errors
/// See [`Fault`].
pub fn range(nodes: &dyn Nodes, root: &Hash, range: &Range) -> Pass<Vec<(Key, Bytes)>> {
    let mut out = Vec::new();
    let mut missing = BTreeSet::new();
    let mut expected: u64 = 0;
    let mut stack = vec![Pending { hash: *root, level: None, count: 0 }];
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
                if let Some(value) = node.value(at).filter(|_| range.holds(node.key(at))) {
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
            stack.push(Pending { hash: child.hash, level: Some(node.level() - 1), count: child.count });
        };
        // The stack gives back the last one first.
        if range.rev { (first..end).for_each(&mut push) } else { (first..end).rev().for_each(&mut push) }
    }
    if !missing.is_empty() {
        return Err(Fault::Missing(missing));
    }
    out.truncate(range.limit);
    Ok(out)
}

/// How many keys of the map are below this one.
///
/// # Errors
/// See [`Fault`].
pub fn rank(nodes: &dyn Nodes, root: &Hash, key: &str) -> Pass<u64> {
    let mut node = load(nodes, root, None)?;
    let mut before: u64 = 0;
    while node.level() > 0 {
        let at = node.child_for(key);
        before += node.refs()[..at].iter().map(|c| c.count).sum::<u64>();
        node = load(nodes, &node.refs()[at].hash, Some(node.level() - 1))?;
    }
    Ok(before + node.lower_bound(key) as u64)
}

/// How many keys are in `from <= key < to`.
///
/// # Errors
/// See [`Fault`].
pub fn count(nodes: &dyn Nodes, root: &Hash, from: &str, to: &str) -> Pass<u64> {
    match (rank(nodes, root, from), rank(nodes, root, to)) {
        (Ok(low), Ok(high)) => Ok(high.saturating_sub(low)),
        (Err(Fault::Missing(mut a)), Err(Fault::Missing(b))) => {
            a.extend(b);
            Err(Fault::Missing(a))
        }
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
    }
}

/// The entry at a position of the whole map, counted from 0.
///
/// # Errors
/// See [`Fault`].
pub fn nth(nodes: &dyn Nodes, root: &Hash, position: u64) -> Pass<Option<(Key, Bytes)>> {
    let mut node = load(nodes, root, None)?;
    let mut rest = position;
    if rest >= node.count() {
        return Ok(None);
    }
    while node.level() > 0 {
        let mut found = None;
        for child in node.refs() {
            if rest < child.count {
                found = Some(*child);
                break;
            }
            rest -= child.count;
        }
        let child = found.ok_or(Fault::Corrupt("the counts do not add up"))?;
        node = load(nodes, &child.hash, Some(node.level() - 1))?;
        if node.count() != child.count {
            return Err(Fault::Corrupt("a child holds another number of entries than its parent says"));
        }
    }
    let at = usize::try_from(rest).map_err(|_| Fault::Corrupt("the counts do not add up"))?;
    Ok(node.value(at).map(|value| (Key::from(node.key(at)), value.clone())))
}
