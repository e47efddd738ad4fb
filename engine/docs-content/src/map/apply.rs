//! Changes to a map. Only the nodes on the paths to the changes are rewritten.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use bytes::Bytes;
use docs_store::{Hash, Key};

use super::{
    Child, Fault, MapEntry, MapItem, MapNode, MapResult, NewNode, Nodes,
    build::{empty, raise, split_run},
    load,
};

/// A change to a map: a new value, or `None` to remove the key.
pub type ValueChange = Option<Bytes>;

/// The result of [`apply`].
#[derive(Clone, Debug)]
pub struct MapUpdate {
    /// The new root, or the old one if nothing changed.
    pub root: Hash,
    /// The new nodes on the paths to the changes.
    pub nodes: Vec<NewNode>,
}

type ItemChanges = BTreeMap<Key, Option<MapItem>>;

/// A node affected by changes at its level, and these changes.
struct TouchedNode {
    node: Arc<MapNode>,
    changes: Vec<(Key, Option<MapItem>)>,
}

/// A run of adjacent nodes to be split again.
struct NodeRun {
    /// The keys in the level above, and the hashes, of the nodes that the run replaces.
    old: Vec<(Key, Hash)>,
    entries: Vec<MapEntry>,
}

/// Applies changes to a map.
///
/// Works bottom-up. On each level, the nodes with changed keys are split again, together with the left neighbour of
/// each node that lost its first key. The resulting differences are the changes for the level above.
///
/// # Errors
/// See [`Fault`].
pub fn apply(nodes: &dyn Nodes, root: &Hash, changes: &BTreeMap<Key, ValueChange>) -> MapResult<MapUpdate> {
    let top = load(nodes, root, None)?;
    let mut made = Vec::new();
    let mut changes: ItemChanges =
        changes.iter().map(|(key, value)| (key.clone(), value.clone().map(MapItem::Value))).collect();
    for level in 0..=top.level() {
        if changes.is_empty() {
            return Ok(MapUpdate { root: *root, nodes: Vec::new() });
        }
        let tree = Tree { nodes, root: *root, level };
        let runs = tree.runs(tree.touched_nodes(changes)?)?;
        if level < top.level() {
            changes = split_runs(level, runs, &mut made);
            continue;
        }
        let mut above = Vec::new();
        for run in &runs {
            above.extend(cut_run(level, run, &mut made));
        }
        if above.is_empty() {
            let node = empty();
            return Ok(finish(node.hash, vec![node]));
        }
        let raised = raise(level + 1, above, &mut made);
        let root = collapse(nodes, raised, &made)?;
        return Ok(finish(root, made));
    }
    Err(Fault::Corrupt("a map without a root"))
}

/// Splits runs into nodes and returns the changes for the level above.
fn split_runs(level: u8, runs: Vec<NodeRun>, made: &mut Vec<NewNode>) -> ItemChanges {
    let mut above = ItemChanges::new();
    for run in runs {
        let new = cut_run(level, &run, made);
        let old: BTreeMap<Key, Hash> = run.old.into_iter().collect();
        for key in old.keys() {
            above.insert(key.clone(), None);
        }
        for (key, item) in new {
            let same = matches!(&item, MapItem::Child(child) if old.get(&key) == Some(&child.hash));
            if same {
                above.remove(&key);
            } else {
                above.insert(key, Some(item));
            }
        }
    }
    above
}

fn cut_run(level: u8, run: &NodeRun, made: &mut Vec<NewNode>) -> Vec<MapEntry> {
    match run.old.first() {
        Some((first, _)) if !run.entries.is_empty() => split_run(level, first, &run.entries, made),
        _ => Vec::new(),
    }
}

/// Returns the lowest node that contains the whole map, because a root with a single child is not canonical.
fn collapse(nodes: &dyn Nodes, root: Hash, made: &[NewNode]) -> MapResult<Hash> {
    let fresh: HashMap<Hash, &Arc<MapNode>> = made.iter().map(|f| (f.hash, &f.node)).collect();
    let mut root = root;
    loop {
        let node = match fresh.get(&root) {
            Some(node) => Arc::clone(node),
            None => load(nodes, &root, None)?,
        };
        match node.refs() {
            [only] => root = only.hash,
            _ => return Ok(root),
        }
    }
}

/// Retains the new nodes that are reachable from the new root.
///
/// This includes nodes that are already stored: storing them again marks them as in use.
fn finish(root: Hash, made: Vec<NewNode>) -> MapUpdate {
    let mut fresh: HashMap<Hash, NewNode> = made.into_iter().map(|f| (f.hash, f)).collect();
    let mut out = Vec::new();
    let mut stack = vec![root];
    while let Some(hash) = stack.pop() {
        if let Some(node) = fresh.remove(&hash) {
            stack.extend(node.node.children());
            out.push(node);
        }
    }
    out.reverse();
    MapUpdate { root, nodes: out }
}

struct Tree<'a> {
    nodes: &'a dyn Nodes,
    root: Hash,
    level: u8,
}

/// A node of the current level: its key in the level above, its hash and its content.
struct LocatedNode {
    key: Key,
    hash: Hash,
    node: Arc<MapNode>,
}

impl Tree<'_> {
    /// Returns the nodes with changed keys, and the left neighbour of each node that loses its first key.
    fn touched_nodes(&self, changes: ItemChanges) -> MapResult<BTreeMap<Key, (Hash, TouchedNode)>> {
        let mut missing = BTreeSet::new();
        let mut touched: BTreeMap<Key, (Hash, TouchedNode)> = BTreeMap::new();
        let lost: Vec<Key> = changes.iter().filter(|(_, v)| v.is_none()).map(|(k, _)| k.clone()).collect();
        for (key, item) in changes {
            match self.locate(&key) {
                Ok(located) => {
                    let node = located.node;
                    let entry = touched
                        .entry(located.key)
                        .or_insert_with(|| (located.hash, TouchedNode { node, changes: Vec::new() }));
                    entry.1.changes.push((key, item));
                }
                Err(Fault::Missing(hashes)) => missing.extend(hashes),
                Err(fault) => return Err(fault),
            }
        }
        for key in lost.iter().filter(|key| !key.is_empty()) {
            if !touched.contains_key(key) {
                continue;
            }
            match self.previous_node(key) {
                Ok(located) => {
                    let node = located.node;
                    touched
                        .entry(located.key)
                        .or_insert_with(|| (located.hash, TouchedNode { node, changes: Vec::new() }));
                }
                Err(Fault::Missing(hashes)) => missing.extend(hashes),
                Err(fault) => return Err(fault),
            }
        }
        if missing.is_empty() { Ok(touched) } else { Err(Fault::Missing(missing)) }
    }

    /// Joins adjacent nodes if the key that separates them was removed.
    fn runs(&self, touched: BTreeMap<Key, (Hash, TouchedNode)>) -> MapResult<Vec<NodeRun>> {
        let mut runs: Vec<NodeRun> = Vec::new();
        for (key, (hash, part)) in touched {
            let lost_start =
                !key.is_empty() && part.changes.iter().any(|(k, item)| *k == key && item.is_none());
            let entries = merged(&part.node, part.changes);
            match runs.last_mut() {
                Some(run) if lost_start || run.entries.is_empty() && self.follows(run, &key)? => {
                    run.old.push((key, hash));
                    run.entries.extend(entries);
                }
                _ => runs.push(NodeRun { old: vec![(key, hash)], entries }),
            }
        }
        // If the leftmost node lost all entries, the next node takes over its key.
        if let Some(run) = runs.first_mut()
            && run.entries.is_empty()
            && let Some((last, _)) = run.old.last()
            && let Some(located) = self.next_node(last)?
        {
            run.entries.extend(located.node.entries());
            run.old.push((located.key, located.hash));
        }
        Ok(runs)
    }

    /// Returns `true` if the node directly after a run starts with the given key.
    fn follows(&self, run: &NodeRun, key: &Key) -> MapResult<bool> {
        let Some((last, _)) = run.old.last() else { return Ok(false) };
        Ok(self.next_node(last)?.is_some_and(|located| located.key == *key))
    }

    /// Returns the node whose key range includes the given key.
    fn locate(&self, key: &str) -> MapResult<LocatedNode> {
        self.descend(|node| node.child_for(key))
    }

    /// Returns the node before the one that starts with `key`.
    fn previous_node(&self, key: &str) -> MapResult<LocatedNode> {
        self.descend(|node| node.lower_bound(key).saturating_sub(1))
    }

    fn descend(&self, choose: impl Fn(&MapNode) -> usize) -> MapResult<LocatedNode> {
        let mut located =
            LocatedNode { key: Key::from(""), hash: self.root, node: load(self.nodes, &self.root, None)? };
        while located.node.level() > self.level {
            let at = choose(&located.node);
            located = child(self.nodes, &located.node, at)?;
        }
        Ok(located)
    }

    /// Returns the node after the one that starts with `key`.
    fn next_node(&self, key: &str) -> MapResult<Option<LocatedNode>> {
        let mut node = load(self.nodes, &self.root, None)?;
        let mut next: Option<(Arc<MapNode>, usize)> = None;
        while node.level() > self.level {
            let at = node.child_for(key);
            if at + 1 < node.len() {
                next = Some((Arc::clone(&node), at + 1));
            }
            node = child(self.nodes, &node, at)?.node;
        }
        let Some((parent, at)) = next else { return Ok(None) };
        let mut located = child(self.nodes, &parent, at)?;
        let key = located.key.clone();
        while located.node.level() > self.level {
            located = child(self.nodes, &located.node, 0)?;
        }
        located.key = key;
        Ok(Some(located))
    }
}

fn child(nodes: &dyn Nodes, node: &Arc<MapNode>, at: usize) -> MapResult<LocatedNode> {
    let Child { hash, .. } = node.refs().get(at).copied().ok_or(Fault::Corrupt("a child is missing"))?;
    let below = load(nodes, &hash, Some(node.level() - 1))?;
    Ok(LocatedNode { key: Key::from(node.key(at)), hash, node: below })
}

/// Returns the entries of a node after applying ordered changes.
fn merged(node: &MapNode, changes: Vec<(Key, Option<MapItem>)>) -> Vec<MapEntry> {
    let mut out = Vec::with_capacity(node.len() + changes.len());
    let mut changes = changes.into_iter().peekable();
    for entry in node.entries() {
        while let Some((key, item)) = changes.next_if(|(key, _)| *key < entry.0) {
            out.extend(item.map(|item| (key, item)));
        }
        match changes.next_if(|(key, _)| *key == entry.0) {
            Some((key, item)) => out.extend(item.map(|item| (key, item))),
            None => out.push(entry),
        }
    }
    out.extend(changes.filter_map(|(key, item)| item.map(|item| (key, item))));
    out
}
