//! Where the texts of a repository lead: destinations in it become ids, which last when files move.

use super::read::Importer;
use crate::content::{
    gitsync::{ImportPlan, PageLinks, Reference, RepoPath, RepoTree},
    markdown::Resolution,
    reference::exactly,
};

/// Most links that are kept between two looks at the texts, some hundred bytes each.
const MOST_LINKS_KEPT: usize = 200_000;

impl Importer<'_> {
    /// Gives every reusable content its id: the one that the same path had before.
    pub(super) fn name_reusables(&mut self, plan: &ImportPlan) {
        for include in &plan.includes {
            let before = self.before.reusables.get(include.file.path.as_str());
            let id = before.map(|(id, _)| id.clone());
            let id = id.unwrap_or_else(|| self.platform.id());
            self.reusables.insert(include.file.path.clone(), id);
        }
    }

    /// Writes ids where the texts lead to pages, files and reusable contents of the repository. What leads to nothing
    /// that is imported stays as it is written. The pages, files and reusable contents have their ids.
    pub(super) fn link_texts(&mut self, tree: &RepoTree, root: &RepoPath) {
        let mut links = std::mem::take(&mut self.links);
        let texts = std::mem::take(&mut self.texts);
        self.texts = texts
            .into_iter()
            .map(|(path, text)| {
                let links = links.remove(&path).unwrap_or_else(|| PageLinks::read(&text, &path, root));
                let linked = links.rewritten(&text, |destination, reference| {
                    // An export writes what leads to nothing so that everybody sees it.
                    let broken = destination.strip_prefix("/broken").filter(|it| exactly(it).is_some());
                    let lasting = match broken {
                        Some(broken) => Some(broken.to_owned()),
                        None => reference.and_then(|reference| self.lasting(reference, tree)),
                    };
                    lasting.map_or(Resolution::Keep, Resolution::To)
                });
                (path, linked)
            })
            .collect();
    }

    /// Keeps where a text leads until [`link_texts`](Self::link_texts) wants to know it. Of too many links those that
    /// come last are read once more instead.
    pub(super) fn keep_links(&mut self, path: &RepoPath, links: PageLinks) {
        self.link_count += links.count();
        if self.link_count <= MOST_LINKS_KEPT {
            self.links.insert(path.clone(), links);
        }
    }

    /// The destination by id of what a reference leads to.
    fn lasting(&self, reference: &Reference, tree: &RepoTree) -> Option<String> {
        // A link out of the repository by way of a symbolic link was refused before, where it mattered.
        let file = tree.locate_linked(&reference.path).ok().flatten()?;
        let anchor = reference.anchor.as_ref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
        if let Some(id) = self.pages.get(&file.path) {
            return Some(format!("/pages/{id}{anchor}"));
        }
        if let Some(id) = self.reusables.get(&file.path) {
            return Some(format!("/reusable-content/{id}"));
        }
        self.files.get(&file.path).map(|id| format!("/files/{id}"))
    }
}
