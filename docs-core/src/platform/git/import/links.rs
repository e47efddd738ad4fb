//! Where the texts of a repository lead: destinations in it become ids, which last when files move.

use std::{collections::HashMap, ops::Range};

use super::read::Importer;
use crate::content::{
    gitsync::{ImportPlan, Reference, RepoPath, RepoTree, references},
    markdown::{Resolution, rewrite_links, split_front},
    reference::exactly,
};

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
        let texts = std::mem::take(&mut self.texts);
        self.texts = texts
            .into_iter()
            .map(|(path, text)| {
                let (_, rest) = split_front(&text);
                let head = text.len() - rest.len();
                let linked = self.linked(rest, (&path, root), tree);
                let text = format!("{}{linked}", &text[..head]);
                (path, text)
            })
            .collect();
    }

    fn linked(&self, text: &str, (path, root): (&RepoPath, &RepoPath), tree: &RepoTree) -> String {
        let found: HashMap<Range<usize>, Reference> =
            references(text, path, root).into_iter().map(|it| (it.range.clone(), it)).collect();
        let new = rewrite_links(text, |site| {
            // An export writes what leads to nothing so that everybody sees it.
            let broken = site.destination.strip_prefix("/broken").filter(|it| exactly(it).is_some());
            let lasting = match broken {
                Some(broken) => Some(broken.to_owned()),
                None => found.get(&site.range).and_then(|reference| self.lasting(reference, tree)),
            };
            lasting.map_or(Resolution::Keep, Resolution::To)
        });
        new.into_owned()
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
