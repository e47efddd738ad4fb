//! Link resolution: destinations within the repository become ids, which remain valid when files move.

use std::sync::Arc;

use super::read::Importer;
use crate::content::{
    gitsync::{BookFormat, ImportPlan, PageLinks, Reference, ReferenceKind, RepoConfig, RepoPath, RepoTree},
    markdown::Resolution,
    reference::parse_exact,
};

/// Maximum number of parsed links that are cached between the two passes. Each takes a few hundred bytes.
const MAX_CACHED_LINKS: usize = 200_000;

impl Importer<'_> {
    /// Assigns an id to every reusable content block, and reuses the previous id of the same path.
    pub(super) fn name_reusables(&mut self, plan: &ImportPlan) {
        for include in &plan.includes {
            let before = self.before.reusables.get(include.file.path.as_str());
            let id = before.map(|(id, _)| id.clone());
            let id = id.unwrap_or_else(|| self.platform.id());
            self.reusables.insert(include.file.path.clone(), id);
        }
    }

    /// Replaces links to pages, files and reusable content blocks in the repository with links to their ids, and links
    /// to other Markdown files with URLs at the Git host. Links to anything else that is not imported are left
    /// unchanged. The ids must have been assigned.
    pub(super) fn link_texts(&mut self, tree: &RepoTree, config: &RepoConfig) {
        let mut links = std::mem::take(&mut self.links);
        let texts = std::mem::take(&mut self.texts);
        self.texts = texts
            .into_iter()
            .map(|(path, text)| {
                let links =
                    links.remove(&path).unwrap_or_else(|| PageLinks::read(&text, &path, &config.root));
                let linked = self.linked(&text, &links, (tree, config));
                (path, Arc::from(linked))
            })
            .collect();
    }

    /// Returns a text with permanent destinations in its links.
    pub(super) fn linked(
        &self,
        text: &str,
        links: &PageLinks,
        (tree, config): (&RepoTree, &RepoConfig),
    ) -> String {
        links.rewritten(text, |destination, reference| {
            // Exports mark broken links with this prefix, so that they are visible.
            let broken = destination.strip_prefix("/broken").filter(|it| parse_exact(it).is_some());
            // The includes of HonKit are directives, which are resolved by their path.
            let reference = reference.filter(|reference| {
                config.format != BookFormat::HonKit || reference.kind != ReferenceKind::Include
            });
            let lasting = match broken {
                Some(broken) => Some(broken.to_owned()),
                None => reference.and_then(|reference| self.permanent_destination(reference, tree)),
            };
            lasting.map_or(Resolution::Keep, Resolution::To)
        })
    }

    /// Caches the links of a file for [`link_texts`](Self::link_texts). Links beyond the limit are parsed again later.
    pub(super) fn cache_links(&mut self, path: &RepoPath, links: PageLinks) {
        self.link_count += links.count();
        if self.link_count <= MAX_CACHED_LINKS {
            self.links.insert(path.clone(), links);
        }
    }

    /// Returns the permanent destination of a reference: a link with the id, or a URL at the Git host.
    fn permanent_destination(&self, reference: &Reference, tree: &RepoTree) -> Option<String> {
        // A file that is too large has already caused an error if it matters for the import.
        let file = tree.locate_linked(&reference.path).ok().flatten()?;
        let anchor = reference.anchor.as_ref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
        if let Some(id) = self.pages.get(&file.path) {
            return Some(format!("/pages/{id}{anchor}"));
        }
        if let Some(id) = self.reusables.get(&file.path) {
            return Some(format!("/reusable-content/{id}"));
        }
        if let Some(id) = self.files.get(&file.path) {
            return Some(format!("/files/{id}"));
        }
        let host = self.host.as_ref().filter(|_| file.path.is_markdown() && reference.kind.is_link());
        host.map(|host| host.view(&file.path, reference.anchor.as_deref()))
    }
}
