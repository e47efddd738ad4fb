//! Locations of items in the repository: conversion of id-based destinations to paths.

use std::collections::HashMap;

use docs_model::{ContentRef, FileId, PageId, ReusableId};

use super::{
    super::{
        FileHost, RepoPath, RepoTree,
        refs::place,
        target::{self, DestinationKind},
    },
    Repository,
};
use crate::reference::destination;

/// An item with a file in the repository.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum ExportItem {
    Page(PageId),
    File(FileId),
    Include(ReusableId),
}

impl ExportItem {
    /// Returns the item that a reference within the space points to, and the anchor.
    pub(super) fn from_ref(target: &ContentRef) -> Option<(Self, Option<&str>)> {
        match target {
            ContentRef::Page { page, space: None } => Some((Self::Page(page.clone()), None)),
            ContentRef::Anchor { page: Some(page), anchor, space: None } => {
                Some((Self::Page(page.clone()), Some(anchor)))
            }
            ContentRef::File { file } => Some((Self::File(file.clone()), None)),
            ContentRef::ReusableContent { reusable_content, space: None } => {
                Some((Self::Include(reusable_content.clone()), None))
            }
            _ => None,
        }
    }

    fn reference(self, anchor: Option<String>) -> ContentRef {
        match (self, anchor) {
            (Self::Page(page), None) => ContentRef::Page { page, space: None },
            (Self::Page(page), Some(anchor)) => ContentRef::Anchor { anchor, page: Some(page), space: None },
            (Self::File(file), _) => ContentRef::File { file },
            (Self::Include(reusable_content), _) => {
                ContentRef::ReusableContent { reusable_content, space: None }
            }
        }
    }
}

/// The item for each file of a commit.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemPaths {
    pub(super) tree: RepoTree,
    pub(super) root: RepoPath,
    pub(super) things: HashMap<RepoPath, ExportItem>,
    pub(super) paths: HashMap<ExportItem, RepoPath>,
    host: Option<FileHost>,
}

impl ItemPaths {
    /// Creates the item locations in the tree of a commit.
    pub(super) fn new(tree: RepoTree, repository: &Repository) -> Self {
        let (root, host) = (repository.config.root.clone(), repository.host.clone());
        Self { tree, root, host, ..Self::default() }
    }

    pub(super) fn put(&mut self, thing: ExportItem, path: RepoPath) {
        self.things.insert(path.clone(), thing.clone());
        self.paths.insert(thing, path);
    }

    /// Resolves a destination in a file of a folder.
    pub(super) fn find(&self, destination: &str, folder: &RepoPath) -> Option<ContentRef> {
        let (path, anchor) = place(destination, folder, &self.root)?;
        let file = self.tree.locate_linked(&path).ok().flatten()?;
        Some(self.things.get(&file.path)?.clone().reference(anchor))
    }

    /// Returns the id-based destination that an import writes for a destination in a file of the space.
    pub(super) fn stored_destination(&self, written: &str, folder: &RepoPath) -> Option<String> {
        self.find(written, folder).map(|found| destination(&found))
    }

    /// Returns the URL on the Git host that an import writes for a link to a Markdown file that is not a page.
    pub(super) fn hosted_destination(&self, written: &str, folder: &RepoPath) -> Option<String> {
        let host = self.host.as_ref()?;
        let (path, anchor) = place(written, folder, &self.root)?;
        let file = self.tree.locate_linked(&path).ok().flatten()?;
        let is_unlisted = file.path.is_markdown() && !self.things.contains_key(&file.path);
        is_unlisted.then(|| host.view(&file.path, anchor.as_deref()))
    }

    /// Returns the relative path from a folder to the target of a reference.
    pub(super) fn relative_path(&self, target: &ContentRef, folder: &RepoPath) -> Option<String> {
        let (thing, anchor) = ExportItem::from_ref(target)?;
        let path = relative(folder, self.paths.get(&thing)?);
        Some(anchor.map_or_else(|| path.clone(), |anchor| format!("{path}#{anchor}")))
    }
}

/// Returns the relative path from a folder to a file as a destination. Characters that would end the path are escaped.
pub(super) fn relative(folder: &RepoPath, to: &RepoPath) -> String {
    let (count, rest) = to.seen_from(folder);
    let rest = rest.replace('%', "%25").replace('#', "%23").replace('?', "%3F");
    let out = "../".repeat(count) + &rest;
    // A colon in the first segment would make it a URL scheme.
    if matches!(target::read(&out), DestinationKind::Local(_)) { out } else { format!("./{out}") }
}

/// Returns the relative path of a cover in the front matter. Nothing is escaped, because it is not a destination.
pub(super) fn plain_relative(folder: &RepoPath, to: &RepoPath) -> String {
    let (count, rest) = to.seen_from(folder);
    "../".repeat(count) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_resolve_from_the_folder_to_the_file() {
        for (folder, to, path) in [
            ("", "a.md", "a.md"),
            ("docs", "docs/a/b.md", "a/b.md"),
            ("docs/x", "docs/a.md", "../a.md"),
            ("docs/x", "a.md", "../../a.md"),
            ("doc", "docs/a.md", "../docs/a.md"),
            ("", "50% #1?.png", "50%25 %231%3F.png"),
            ("", "ab:c.md", "./ab:c.md"),
        ] {
            let (folder, to) = (RepoPath::new(folder).unwrap(), RepoPath::new(to).unwrap());
            let written = relative(&folder, &to);
            assert_eq!(written, path);
            assert_eq!(place(&written, &folder, &RepoPath::default()), Some((to.clone(), None)));
            assert_eq!(folder.join(&plain_relative(&folder, &to)), Ok(to));
        }
    }
}
