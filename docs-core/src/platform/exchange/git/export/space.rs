//! The content of a space in the form that an export plan needs.

use std::collections::{HashMap, HashSet};

use crate::{
    Result,
    content::{
        FileEntry, PageEntry, PageKind, ReusableEntry, View,
        gitsync::{SpaceFile, SpaceInclude, SpaceOutline, SpacePage, SpacePageKind},
    },
    model::{ContentRef, FileId, GitBlob, JsonText, PageId, ReusableId},
};

/// The records of a revision with their outline.
#[derive(Default)]
pub(super) struct Revision {
    pub(super) outline: SpaceOutline,
    pub(super) pages: HashMap<PageId, PageEntry>,
    pub(super) files: HashMap<FileId, FileEntry>,
    pub(super) reusables: HashMap<ReusableId, ReusableEntry>,
}

impl Revision {
    /// Reads a revision. `before` is the revision that was last in sync with Git: an empty page without a file in it
    /// still needs no file.
    pub(super) async fn read(view: &View, before: Option<&Self>) -> Result<Self> {
        let mut revision = Self::default();
        let mut extra = view.extra_fields().await?;
        for page in view.tree().await?.pages() {
            let extra = extra.remove(&page.id).unwrap_or_default();
            let (id, entry) = (page.id.clone(), PageEntry { extra, ..page.entry.clone() });
            revision.outline.pages.push(space_page(&id, &entry, before));
            revision.pages.insert(id, entry);
        }
        for (id, entry) in view.files(None, usize::MAX).await? {
            let (name, git) = (entry.name.clone(), entry.git.clone());
            revision.outline.files.push(SpaceFile { id: id.clone(), name, git });
            revision.files.insert(id, entry);
        }
        for (id, entry) in view.reusables(None, usize::MAX).await? {
            let (title, git) = (entry.title.clone(), entry.git.clone());
            revision.outline.includes.push(SpaceInclude { id: id.clone(), title, git });
            revision.reusables.insert(id, entry);
        }
        Ok(revision)
    }

    /// Returns the Git paths of all text files in this revision.
    pub(super) fn own_paths(&self) -> HashSet<&str> {
        let pages = self.outline.pages.iter().filter_map(|page| page.git.as_ref());
        let includes = self.outline.includes.iter().filter_map(|include| include.git.as_ref());
        pages.chain(includes).map(|git| git.path.as_str()).collect()
    }

    /// Retains only items with a byte-identical file in the repository. If the space was never in sync with the
    /// repository, only those files belong to it.
    pub(super) fn retain_same(&mut self, oids: &HashMap<String, String>) {
        let is_same =
            |git: &Option<GitBlob>| git.as_ref().is_some_and(|git| oids.get(&git.path) == Some(&git.oid));
        for page in &mut self.outline.pages {
            page.git = page.git.take().filter(|git| oids.get(&git.path) == Some(&git.oid));
        }
        self.outline.files.retain(|file| is_same(&file.git));
        self.outline.includes.retain(|include| is_same(&include.git));
    }
}

fn space_page(id: &PageId, entry: &PageEntry, before: Option<&Revision>) -> SpacePage {
    let kind = match entry.kind {
        PageKind::Document => SpacePageKind::Document,
        PageKind::Group => SpacePageKind::Group,
        PageKind::Link => {
            let nowhere = || ContentRef::Url { url: String::new() };
            SpacePageKind::Link { target: entry.target.clone().unwrap_or_else(nowhere) }
        }
        PageKind::Computed => SpacePageKind::Computed {
            value: entry.computed.as_ref().map(JsonText::value).unwrap_or_default(),
        },
    };
    let was_without = before.and_then(|before| before.pages.get(id)).is_some_and(|page| page.git.is_none());
    let says_something = entry.git.is_some() || !entry.body.is_empty() || has_fields(entry);
    SpacePage {
        id: id.clone(),
        parent: entry.parent.clone(),
        kind,
        title: entry.title.clone(),
        slug: entry.slug.clone(),
        emoji: entry.emoji.clone(),
        git: entry.git.clone(),
        has_file: says_something || !was_without,
    }
}

/// Returns `true` if a page has fields that front matter stores.
fn has_fields(entry: &PageEntry) -> bool {
    let bare = PageEntry {
        parent: entry.parent.clone(),
        slug: entry.slug.clone(),
        created_at: entry.created_at,
        updated_at: entry.updated_at,
        git: entry.git.clone(),
        source: entry.source,
        expansions: entry.expansions,
        clash: entry.clash.clone(),
        ..PageEntry::new(entry.kind, &entry.title, entry.rank.clone())
    };
    *entry != bare
}

/// Returns `true` if the file of a page is unchanged.
pub(super) fn is_same_page(entry: &PageEntry, before: &PageEntry) -> bool {
    entry.git == before.git
        && entry.kind == before.kind
        && entry.fields() == before.fields()
        && entry.body == before.body
}
