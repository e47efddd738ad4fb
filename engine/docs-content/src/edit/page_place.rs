//! Levels and path lengths of pages.

/// The level of a page, starting at 1, and the length of its path in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PagePlace {
    pub(crate) level: usize,
    pub(crate) path_bytes: usize,
}

impl PagePlace {
    /// Returns the level and path length of a child with the given slug. The default value represents the top level.
    pub(crate) const fn below(self, slug: &str) -> Self {
        let slash = if self.path_bytes == 0 { 0 } else { 1 };
        let path_bytes = if slug.is_empty() { 0 } else { self.path_bytes + slash + slug.len() };
        Self { level: self.level + 1, path_bytes }
    }
}
