//! Building a map from all of its entries in one pass.

use std::{iter::Peekable, sync::Arc};

use bytes::Bytes;
use docs_store::{Hash, Key};

use super::{Child, MapEntry, MapItem, MapNode, NewNode, is_boundary};

/// The result of [`build`].
#[derive(Clone, Debug)]
pub struct BuiltMap {
    pub root: Hash,
    /// All nodes of the map, the root last.
    pub nodes: Vec<NewNode>,
}

/// Returns the empty map.
#[must_use]
pub fn empty() -> NewNode {
    fresh(0, &[])
}

/// Builds a map from sorted entries with unique keys.
#[must_use]
pub fn build(entries: Vec<(Key, Bytes)>) -> BuiltMap {
    let mut nodes = Vec::new();
    let mut above = Vec::new();
    for (entry, leaf) in LeafStream::new(entries) {
        above.push(entry);
        nodes.push(leaf);
    }
    let upper = build_above(above);
    nodes.extend(upper.nodes);
    BuiltMap { root: upper.root, nodes }
}

/// Builds the levels above the leaves of a map from their entries in level 1. Without entries, the result is the empty
/// map.
#[must_use]
pub(crate) fn build_above(leaves: Vec<MapEntry>) -> BuiltMap {
    if leaves.is_empty() {
        let node = empty();
        return BuiltMap { root: node.hash, nodes: vec![node] };
    }
    let mut nodes = Vec::new();
    let root = raise(1, leaves, &mut nodes);
    BuiltMap { root, nodes }
}

/// The leaves of a map in order, each with its entry in the level above. The entries of a leaf are consumed, so that a
/// large map is not in memory twice.
pub(crate) struct LeafStream {
    entries: Peekable<std::vec::IntoIter<(Key, Bytes)>>,
    is_first: bool,
}

impl LeafStream {
    /// Creates the leaves for sorted entries with unique keys.
    pub(crate) fn new(entries: Vec<(Key, Bytes)>) -> Self {
        debug_assert!(entries.windows(2).all(|w| w[0].0 < w[1].0), "the entries are sorted");
        Self { entries: entries.into_iter().peekable(), is_first: true }
    }
}

impl Iterator for LeafStream {
    type Item = (MapEntry, NewNode);

    fn next(&mut self) -> Option<(MapEntry, NewNode)> {
        let (first, value) = self.entries.next()?;
        let key = if std::mem::take(&mut self.is_first) { Key::from("") } else { first.clone() };
        let mut run = vec![(first, MapItem::Value(value))];
        while let Some((key, value)) = self.entries.next_if(|(key, _)| !is_boundary(0, key)) {
            run.push((key, MapItem::Value(value)));
        }
        let leaf = fresh(0, &run);
        let child = Child { hash: leaf.hash, size: leaf.node.size() };
        Some(((key, MapItem::Child(child)), leaf))
    }
}

/// Builds levels above the nodes of a complete level until a single node remains.
pub(super) fn raise(level: u8, children: Vec<MapEntry>, nodes: &mut Vec<NewNode>) -> Hash {
    let (mut level, mut children) = (level, children);
    loop {
        if let [(_, MapItem::Child(only))] = children.as_slice() {
            return only.hash;
        }
        children = split_run(level, &Key::from(""), &children, nodes);
        level = level.saturating_add(1);
    }
}

/// Splits a run of entries into nodes and returns the entries of the level above. `first` is the key of the first node.
pub(super) fn split_run(level: u8, first: &Key, run: &[MapEntry], nodes: &mut Vec<NewNode>) -> Vec<MapEntry> {
    let mut above = Vec::new();
    let mut start = 0;
    for at in 1..=run.len() {
        if at < run.len() && !is_boundary(level, &run[at].0) {
            continue;
        }
        let node = fresh(level, &run[start..at]);
        let key = if start == 0 { first.clone() } else { run[start].0.clone() };
        above.push((key, MapItem::Child(Child { hash: node.hash, size: node.node.size() })));
        nodes.push(node);
        start = at;
    }
    above
}

fn fresh(level: u8, entries: &[MapEntry]) -> NewNode {
    let (node, bytes) = MapNode::from_entries(level, entries);
    NewNode { hash: Hash::compute(&bytes), node: Arc::new(node), bytes }
}
