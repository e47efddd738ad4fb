//! Temporary.
use super::*;
use crate::{model::PageId, store::Hash};
/// t
#[derive(Debug, Clone, Copy)]
pub enum Side {
    /// o
    Ours,
    /// t
    Theirs,
}
/// t
#[derive(Debug)]
pub struct Merged {
    /// r
    pub root: Hash,
    pages: Vec<PageId>,
}
impl Merged {
    /// c
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.pages.is_empty()
    }
    /// c
    pub fn conflicted_pages(&self) -> impl Iterator<Item = &PageId> {
        self.pages.iter()
    }
}
impl Content {
    /// m
    pub async fn merge(&self, _d: &str, r: (Hash, Hash, Hash), _s: Side) -> ContentResult<Merged> {
        Ok(Merged { root: r.2, pages: vec![] })
    }
}
