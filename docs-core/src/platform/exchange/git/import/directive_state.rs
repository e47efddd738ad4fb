//! The state of the directives of an import.

use std::collections::{BTreeSet, HashMap};

use crate::{
    content::{
        directives::{Expansions, IncludeBudget, IncludedFile},
        gitsync::RepoPath,
    },
    store::Hash,
};

/// The directives of an import.
#[derive(Default)]
pub(super) struct Directives {
    pub(super) budget: IncludeBudget,
    /// The files that directives include, as far as they are cached, and their total size in bytes.
    pub(super) files: HashMap<RepoPath, IncludedFile>,
    pub(super) cached_bytes: usize,
    /// All files that directives include.
    pub(super) included: BTreeSet<RepoPath>,
    /// The results for each page.
    pub(super) resolved: HashMap<RepoPath, Expansions>,
    /// The results for each page, as stored objects.
    pub(super) stored: HashMap<RepoPath, Hash>,
    /// The bytes that the results add to the texts of all pages. Each result counts each time it is shown.
    pub(super) added_bytes: u64,
    pub(super) warnings: usize,
}
