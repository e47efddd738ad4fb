//! Changing a map: rewrites only the nodes on the paths to the changes.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use bytes::Bytes;
use docs_store::{Hash, Key};

use super::{
    Child, Entry, Fault, Fresh, Item, Node, Nodes, Pass,
    build::{cut, empty, raise},
    load,
};

/// One change of a map: a new value, or `None` to remove the key.
pub type Change = Option<Bytes>;

/// The result of [`apply`].
#[derive(Clone, Debug)]
pub struct Applied {
    /// The new root, or the old one if nothing changed.
    pub root: Hash,
    /// The new nodes on the paths to the changes.
    pub nodes: Vec<Fresh>,
}

type Changes = BTreeMap<Key, Option<Item>>;

/// A node that changes of its level affect, with those changes.
struct Touched {
    node: Arc<Node>,
    changes: Vec<(Key, Option<Item>)>,
}

/// A run of adjacent nodes to be split again.
struct Run {
    /// The keys, in the level above, of the nodes that it replaces.
    old: Vec<(Key, Hash)>,
    entries: Vec<Entry>,
}

/// Applies changes to a map.
///
/// Works bottom-up. On each level, the nodes with a changed key are split again, together with the left neighbour of
/// a node that lost its first key; the resulting differences are the changes of the level above.
///
/// # Errors
/// See [`Fault`].
pub fn apply(nodes: &dyn Nodes, root: &Hash, changes: &BTreeMap<Key, Change>) -> Pass<Applied> {
    let top = load(nodes, root, None)?;
    let mut made = Vec::new();
    let mut changes: Changes =
        changes.iter().map(|(key, value)| (key.clone(), value.clone().map(Item::Value))).collect();
    for level in 0..=top.level() {
        if changes.is_empty() {
            return Ok(Applied { root: *root, nodes: Vec::new() });
        }
        let tree = Tree { nodes, root: *root, level };
        let runs = tree.runs(tree.touched(changes)?)?;
        if level < top.level() {
            changes = recut(level, runs, &mut made);
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

/// Splits runs into nodes, and returns the changes of the level above.
fn recut(level: u8, runs: Vec<Run>, made: &mut Vec<Fresh>) -> Changes {
    let mut above = Changes::new();
    for run in runs {
        let new = cut_run(level, &run, made);
        let old: BTreeMap<Key, Hash> = run.old.into_iter().collect();
        for key in old.keys() {
            above.insert(key.clone(), None);
        }
        for (key, item) in new {
            let same = matches!(&item, Item::Child(child) if old.get(&key) == Some(&child.hash));
            if same {
                above.remove(&key);
            } else {
                above.insert(key, Some(item));
            }
        }
    }
    above
}

fn cut_run(level: u8, run: &Run, made: &mut Vec<Fresh>) -> Vec<Entry> {
    match run.old.first() {
        Some((first, _)) if !run.entries.is_empty() => cut(level, first, &run.entries, made),
        _ => Vec::new(),
    }
}

/// Returns the lowest node that contains the whole map: a root with a single child is not canonical.
fn collapse(nodes: &dyn Nodes, root: Hash, made: &[Fresh]) -> Pass<Hash> {
    let fresh: HashMap<Hash, &Arc<Node>> = made.iter().map(|f| (f.hash, &f.node)).collect();
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

/// Retains the new nodes that the new root reaches.
///
/// A node that is already stored remains among them: storing it again marks it as in use.
fn finish(root: Hash, made: Vec<Fresh>) -> Applied {
    let mut fresh: HashMap<Hash, Fresh> = made.into_iter().map(|f| (f.hash, f)).collect();
    let mut out = Vec::new();
    let mut stack = vec![root];
    while let Some(hash) = stack.pop() {
        if let Some(node) = fresh.remove(&hash) {
            stack.extend(node.node.children());
            out.push(node);
        }
    }
    out.reverse();
    Applied { root, nodes: out }
}

struct Tree<'a> {
    nodes: &'a dyn Nodes,
    root: Hash,
    level: u8,
}

/// A node of the level: its key in the level above, its hash, its content.
struct LocatedNode {
    key: Key,
    hash: Hash,
    node: Arc<Node>,
}

impl Tree<'_> {
    /// Returns the nodes with changed keys, and the left neighbours of those that lose their first key.
    fn touched(&self, changes: Changes) -> Pass<BTreeMap<Key, (Hash, Touched)>> {
        let mut missing = BTreeSet::new();
        let mut touched: BTreeMap<Key, (Hash, Touched)> = BTreeMap::new();
        let lost: Vec<Key> = changes.iter().filter(|(_, v)| v.is_none()).map(|(k, _)| k.clone()).collect();
        for (key, item) in changes {
            match self.locate(&key) {
                Ok(located) => {
                    let node = located.node;
                    let entry = touched
                        .entry(located.key)
                        .or_insert_with(|| (located.hash, Touched { node, changes: Vec::new() }));
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
            match self.before(key) {
                Ok(located) => {
                    let node = located.node;
                    touched
                        .entry(located.key)
                        .or_insert_with(|| (located.hash, Touched { node, changes: Vec::new() }));
                }
                Err(Fault::Missing(hashes)) => missing.extend(hashes),
                Err(fault) => return Err(fault),
            }
        }
        if missing.is_empty() { Ok(touched) } else { Err(Fault::Missing(missing)) }
    }

    /// Joins adjacent nodes whose separating key was removed.
    fn runs(&self, touched: BTreeMap<Key, (Hash, Touched)>) -> Pass<Vec<Run>> {
        let mut runs: Vec<Run> = Vec::new();
        for (key, (hash, part)) in touched {
            let lost_start =
                !key.is_empty() && part.changes.iter().any(|(k, item)| *k == key && item.is_none());
            let entries = merged(&part.node, part.changes);
            match runs.last_mut() {
                Some(run) if lost_start || run.entries.is_empty() && self.follows(run, &key)? => {
                    run.old.push((key, hash));
                    run.entries.extend(entries);
                }
                _ => runs.push(Run { old: vec![(key, hash)], entries }),
            }
        }
        // The leftmost node lost all entries: the next node takes over its key.
        if let Some(run) = runs.first_mut()
            && run.entries.is_empty()
            && let Some((last, _)) = run.old.last()
            && let Some(located) = self.after(last)?
        {
            run.entries.extend(located.node.entries());
            run.old.push((located.key, located.hash));
        }
        Ok(runs)
    }

    /// Returns `true` if a key starts the node directly after a run.
    fn follows(&self, run: &Run, key: &Key) -> Pass<bool> {
        let Some((last, _)) = run.old.last() else { return Ok(false) };
        Ok(self.after(last)?.is_some_and(|located| located.key == *key))
    }

    /// Returns the node whose key range includes a key.
    fn locate(&self, key: &str) -> Pass<LocatedNode> {
        self.descend(|node| node.child_for(key))
    }

    /// Returns the node before the one that starts with `key`.
    fn before(&self, key: &str) -> Pass<LocatedNode> {
        self.descend(|node| node.lower_bound(key).saturating_sub(1))
    }

    fn descend(&self, choose: impl Fn(&Node) -> usize) -> Pass<LocatedNode> {
        let mut located =
            LocatedNode { key: Key::from(""), hash: self.root, node: load(self.nodes, &self.root, None)? };
        while located.node.level() > self.level {
            let at = choose(&located.node);
            located = child(self.nodes, &located.node, at)?;
        }
        Ok(located)
    }

    /// Returns the node after the one that starts with `key`.
    fn after(&self, key: &str) -> Pass<Option<LocatedNode>> {
        let mut node = load(self.nodes, &self.root, None)?;
        let mut next: Option<(Arc<Node>, usize)> = None;
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

fn child(nodes: &dyn Nodes, node: &Arc<Node>, at: usize) -> Pass<LocatedNode> {
    let Child { hash, .. } = node.refs().get(at).copied().ok_or(Fault::Corrupt("a child is missing"))?;
    let below = load(nodes, &hash, Some(node.level() - 1))?;
    Ok(LocatedNode { key: Key::from(node.key(at)), hash, node: below })
}

/// Returns the entries of a node after applying changes in key order.
fn merged(node: &Node, changes: Vec<(Key, Option<Item>)>) -> Vec<Entry> {
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
