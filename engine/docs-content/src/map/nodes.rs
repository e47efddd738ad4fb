//! The source of loaded nodes, and new nodes.

use std::sync::Arc;

use bytes::Bytes;
use docs_store::Hash;

use super::{Fault, MapNode, MapResult};

/// A source of loaded nodes.
pub trait Nodes {
    /// Returns the node with the given hash, or `None` if it must be loaded first.
    fn node(&self, hash: &Hash) -> Option<Arc<MapNode>>;
}

/// A new node created by a build or a change.
#[derive(Clone, Debug)]
pub struct NewNode {
    pub hash: Hash,
    pub node: Arc<MapNode>,
    /// The serialized form to store.
    pub bytes: Bytes,
}

/// Returns `true` if a key starts a new node on a level.
pub(crate) fn is_boundary(level: u8, key: &str) -> bool {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[level]);
    hasher.update(key.as_bytes());
    let low = hasher.finalize().as_bytes()[0];
    let mask = if level == 0 { 0x0f } else { 0x1f };
    low & mask == 0
}

/// Returns a node after checking its level.
pub(crate) fn load(nodes: &dyn Nodes, hash: &Hash, level: Option<u8>) -> MapResult<Arc<MapNode>> {
    let node = nodes.node(hash).ok_or_else(|| Fault::missing(*hash))?;
    if level.is_some_and(|l| l != node.level()) {
        return Err(Fault::Corrupt("the level of a child differs from the level in its parent"));
    }
    Ok(node)
}
