//! Comparison of two maps. The cost is proportional to the differences.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use docs_store::{Hash, Key};

use super::{Fault, MapResult, Nodes, load};

/// A key with different values in two maps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub key: Key,
    /// The value in the first map.
    pub before: Option<Bytes>,
    /// The value in the second map.
    pub after: Option<Bytes>,
}

/// A subtree that may contain differences. `from` is its first possible key, and `to` is its upper bound.
#[derive(Clone)]
struct SubtreeRange {
    hash: Hash,
    level: u8,
    from: Key,
    to: Option<Key>,
}

/// Returns the differing keys within `ranges`, in key order. The ranges must be sorted, half-open and disjoint.
///
/// Walks both maps level by level. A node that occurs in both maps is skipped with its subtree: equal hashes mean equal
/// content, and keys are unique in a map, so the subtree contains no differences.
///
/// # Errors
/// See [`Fault`].
pub fn diff(
    nodes: &dyn Nodes,
    before: &Hash,
    after: &Hash,
    ranges: &[(Key, Key)],
) -> MapResult<Vec<Difference>> {
    if before == after {
        return Ok(Vec::new());
    }
    let (first, second) = (top(nodes, before), top(nodes, after));
    let (mut left, mut right) = zip_results(first, second)?;
    let mut level = left.iter().chain(&right).map(|p| p.level).max().unwrap_or(0);
    while level > 0 {
        let (a, b) = (expand_level(nodes, left, level, ranges), expand_level(nodes, right, level, ranges));
        (left, right) = zip_results(a, b)?;
        without_common(&mut left, &mut right);
        level -= 1;
    }
    let (a, b) = (read_leaves(nodes, &left, ranges), read_leaves(nodes, &right, ranges));
    let (old, new) = zip_results(a, b)?;
    Ok(compare(old, new))
}

fn top(nodes: &dyn Nodes, hash: &Hash) -> MapResult<Vec<SubtreeRange>> {
    let node = load(nodes, hash, None)?;
    Ok(vec![SubtreeRange { hash: *hash, level: node.level(), from: Key::from(""), to: None }])
}

/// Returns both results, or the missing nodes of both.
fn zip_results<A, B>(a: MapResult<A>, b: MapResult<B>) -> MapResult<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(Fault::Missing(mut a)), Err(Fault::Missing(b))) => {
            a.extend(b);
            Err(Fault::Missing(a))
        }
        (Err(fault @ Fault::Corrupt(_)), _) | (_, Err(fault @ Fault::Corrupt(_))) => Err(fault),
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
    }
}

/// Replaces the subtrees of a level by their children.
fn expand_level(
    nodes: &dyn Nodes,
    parts: Vec<SubtreeRange>,
    level: u8,
    ranges: &[(Key, Key)],
) -> MapResult<Vec<SubtreeRange>> {
    let mut out = Vec::new();
    let mut missing = BTreeSet::new();
    for part in parts {
        if part.level < level {
            out.push(part);
            continue;
        }
        let node = match load(nodes, &part.hash, Some(level)) {
            Ok(node) => node,
            Err(Fault::Missing(hashes)) => {
                missing.extend(hashes);
                continue;
            }
            Err(fault) => return Err(fault),
        };
        for (at, child) in node.refs().iter().enumerate() {
            let from = if at == 0 { part.from.clone() } else { Key::from(node.key(at)) };
            let to = if at + 1 < node.len() { Some(Key::from(node.key(at + 1))) } else { part.to.clone() };
            if overlaps(&from, to.as_deref(), ranges) {
                out.push(SubtreeRange { hash: child.hash, level: level - 1, from, to });
            }
        }
    }
    if missing.is_empty() { Ok(out) } else { Err(Fault::Missing(missing)) }
}

fn overlaps(from: &str, to: Option<&str>, ranges: &[(Key, Key)]) -> bool {
    ranges.iter().any(|(low, high)| *from < **high && to.is_none_or(|to| **low < *to))
}

fn without_common(left: &mut Vec<SubtreeRange>, right: &mut Vec<SubtreeRange>) {
    let ours: HashSet<Hash> = left.iter().map(|p| p.hash).collect();
    let common: HashSet<Hash> = right.iter().map(|p| p.hash).filter(|h| ours.contains(h)).collect();
    left.retain(|p| !common.contains(&p.hash));
    right.retain(|p| !common.contains(&p.hash));
}

fn read_leaves(
    nodes: &dyn Nodes,
    parts: &[SubtreeRange],
    ranges: &[(Key, Key)],
) -> MapResult<Vec<(Key, Bytes)>> {
    let mut out = Vec::new();
    let mut missing = BTreeSet::new();
    for part in parts {
        match load(nodes, &part.hash, Some(0)) {
            Ok(node) => out.extend(
                node.values()
                    .filter(|(key, _)| ranges.iter().any(|(low, high)| **low <= **key && **key < **high))
                    .map(|(key, value)| (Key::from(key), value.clone())),
            ),
            Err(Fault::Missing(hashes)) => missing.extend(hashes),
            Err(fault) => return Err(fault),
        }
    }
    if missing.is_empty() { Ok(out) } else { Err(Fault::Missing(missing)) }
}

/// Compares two lists in key order.
fn compare(old: Vec<(Key, Bytes)>, new: Vec<(Key, Bytes)>) -> Vec<Difference> {
    let mut out = Vec::new();
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return out,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((a, _)), Some((b, _))) => a.cmp(b),
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        let Some(key) = before.as_ref().or(after.as_ref()).map(|(key, _)| key.clone()) else { return out };
        let (before, after) = (before.map(|(_, v)| v), after.map(|(_, v)| v));
        if before != after {
            out.push(Difference { key, before, after });
        }
    }
}
