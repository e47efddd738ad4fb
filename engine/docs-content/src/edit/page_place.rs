//! Places of pages in the tree.

/// The level of a page, counted from 1, and the bytes of its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PagePlace {
    pub(crate) level: usize,
    pub(crate) path_bytes: usize,
}

impl PagePlace {
    /// Returns the place of a child with a slug. The top level is the default place.
    pub(crate) const fn below(self, slug: &str) -> Self {
        let slash = if self.path_bytes == 0 { 0 } else { 1 };
        let path_bytes = if slug.is_empty() { 0 } else { self.path_bytes + slash + slug.len() };
        Self { level: self.level + 1, path_bytes }
    }
}
