//! The input of an export: the commit that it is based on, and the content of the space.

use std::collections::{BTreeSet, HashMap};

use docs_model::{ContentRef, FileId, GitBlob, PageId, ReusableId};
use serde_json::Value;

use crate::gitsync::{FileHost, RepoConfig, RepoPath, RepoTree};

/// The commit that an export is based on. Every field may be empty.
#[derive(Clone, Debug)]
pub struct Repository {
    pub tree: RepoTree,
    /// The object ids of the files, by path.
    pub oids: HashMap<String, String>,
    pub config: RepoConfig,
    pub summary: Option<String>,
    /// The host that shows its files.
    pub host: Option<FileHost>,
}

impl Repository {
    /// Returns `true` if the repository has neither a configuration nor a table of contents. An export then writes the
    /// configuration of the space.
    pub(super) fn is_bare(&self) -> bool {
        self.summary.is_none() && !self.tree.has(&self.config.file)
    }
}

/// A file of a space that is not exported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OmittedFile {
    pub name: String,
    /// The reason and the remedy.
    pub problem: &'static str,
}

/// The content of a space, without text.
#[derive(Clone, Debug, Default)]
pub struct SpaceOutline {
    /// The pages in reading order: a page precedes its descendants.
    pub pages: Vec<SpacePage>,
    pub files: Vec<SpaceFile>,
    pub includes: Vec<SpaceInclude>,
}

#[derive(Clone, Debug)]
pub struct SpacePage {
    pub id: PageId,
    pub parent: Option<PageId>,
    pub kind: SpacePageKind,
    pub title: String,
    /// The slug. It is empty for links and generated pages.
    pub slug: String,
    pub emoji: Option<String>,
    /// The file in the Git repository.
    pub git: Option<GitBlob>,
    /// `true` if a document needs a file. A document without text that is only defined in the table of contents needs
    /// none.
    pub has_file: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum SpacePageKind {
    /// A page with text.
    Document,
    /// A heading for a group of pages.
    Group,
    Link {
        /// The target of the link.
        target: ContentRef,
    },
    /// A placeholder for generated pages.
    Computed {
        /// The source of the pages.
        value: Value,
    },
}

#[derive(Clone, Debug)]
pub struct SpaceFile {
    pub id: FileId,
    pub name: String,
    /// The file in the Git repository.
    pub git: Option<GitBlob>,
}

#[derive(Clone, Debug)]
pub struct SpaceInclude {
    pub id: ReusableId,
    pub title: String,
    /// The file in the Git repository.
    pub git: Option<GitBlob>,
}

/// The existing text of a file. Parts with unchanged content keep their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileTemplate<'t> {
    pub text: &'t str,
    pub origin: TemplateOrigin,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TemplateOrigin {
    /// A file of the repository.
    Repository,
    /// The file at the last synchronization of the space, which may be missing from the repository.
    Space,
}

/// The location of a page's title.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TitleIn {
    /// In the file of the page.
    File,
    /// Only in the table of contents.
    Summary,
    /// Not determined, because the page and its entry in the table of contents are unchanged.
    Unread,
}

/// The files of the repository that an export may adopt although they are not recorded in the space.
///
/// An export that is repeated because its completion was not recorded encounters its own files: at the path of a new
/// file, there is a file with the same content. The caller first permits all paths, then rejects those whose content
/// differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AdoptablePaths {
    /// All paths except these.
    AllBut(BTreeSet<RepoPath>),
    NoPath,
}

impl AdoptablePaths {
    pub(super) fn allow(&self, path: &RepoPath) -> bool {
        matches!(self, Self::AllBut(refused) if !refused.contains(path))
    }
}
