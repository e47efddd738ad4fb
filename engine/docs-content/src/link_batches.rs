//! The sizes of batches of links.

/// The sizes of the batches in which links are derived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkBatches {
    /// The number of links that an import derives before it stores its records.
    pub(crate) first: usize,
    /// The number of links that a batch reads and writes. A source is never split.
    pub(crate) links: usize,
    /// The number of sources whose texts are loaded together, and of targets whose backlinks are loaded together.
    pub(crate) records: usize,
    /// Memory for changes to backlinks, in bytes. The backlinks of a target have adjacent keys, so their changes are
    /// collected over many sources and applied in key order.
    pub(crate) backlink_bytes: usize,
    /// Memory for new nodes, in bytes, before they are stored.
    pub(crate) node_bytes: usize,
}

impl Default for LinkBatches {
    fn default() -> Self {
        Self { first: 10_000, links: 4_000, records: 64, backlink_bytes: 8 << 20, node_bytes: 4 << 20 }
    }
}

impl LinkBatches {
    /// The smallest batches.
    #[cfg(test)]
    pub(crate) const SMALLEST: Self =
        Self { first: 0, links: 1, records: 1, backlink_bytes: 0, node_bytes: 0 };
}
