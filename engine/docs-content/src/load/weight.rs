//! Keys and weights for the caches of decoded content.

use std::sync::Arc;

use docs_store::Hash;
use quick_cache::{Equivalent, Weighter};

use crate::{PageTree, SharedDocument, map::MapNode};

/// The key of a cached object. The domain keeps the objects of different tenants apart.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) domain: Arc<str>,
    pub(super) hash: Hash,
}

#[derive(PartialEq, Eq, Hash)]
pub(super) struct IdRef<'a> {
    pub(super) domain: &'a str,
    pub(super) hash: &'a Hash,
}

impl Equivalent<Id> for IdRef<'_> {
    fn equivalent(&self, id: &Id) -> bool {
        *self.domain == *id.domain && *self.hash == id.hash
    }
}

#[derive(Clone)]
pub(super) struct CacheWeight;

impl Weighter<Id, Arc<MapNode>> for CacheWeight {
    fn weight(&self, _: &Id, node: &Arc<MapNode>) -> u64 {
        node.weight() as u64 + 64
    }
}

impl Weighter<Id, Arc<str>> for CacheWeight {
    fn weight(&self, _: &Id, text: &Arc<str>) -> u64 {
        text.len() as u64 + 64
    }
}

impl Weighter<Id, Arc<PageTree>> for CacheWeight {
    fn weight(&self, _: &Id, tree: &Arc<PageTree>) -> u64 {
        tree.memory() + 64
    }
}

/// A document and its weight in bytes.
#[derive(Clone)]
pub(super) struct WeighedDocument {
    pub(super) document: SharedDocument,
    pub(super) bytes: u64,
}

impl Weighter<Id, WeighedDocument> for CacheWeight {
    fn weight(&self, _: &Id, document: &WeighedDocument) -> u64 {
        document.bytes + 64
    }
}
