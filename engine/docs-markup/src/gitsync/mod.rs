//! The Git format: the mapping between the files of a repository and content.
//!
//! Everything here is a pure function of texts and lists of paths, without I/O. An import has these steps:
//!
//! 1. [`RepoTree::new`] takes the entries of the commit.
//! 2. [`RepoConfig::read`] parses `.gitbook.yaml`, which may be missing; [`RepoConfig::from_mdbook`] and
//!    [`RepoConfig::from_honkit`] parse the configuration of other programs instead.
//! 3. [`ImportPlan::new`] takes both and the table of contents, and determines the pages, files and reusable content
//!    blocks with their order and paths.
//! 4. [`references`] returns the files of the repository that the text of a page needs; [`ImportPlan::refer`] adds
//!    them.
//!
//! An export is the inverse: [`ExportPlan::new`] takes the state of the commit, of the space, and of the space at the
//! last synchronization; it determines the paths and contents of the files to write.
//!
//! A [`FormatError`] stops either of them. A [`Warning`] does not stop an import.

mod book;
mod config;
mod export;
mod file_host;
mod format;
mod infer;
mod inline;
mod lfs;
mod path;
mod plan;
mod refs;
mod report;
mod summary;
mod target;
mod tree;
mod vars;

use crate::syntax::yaml;

pub use book::{HONKIT_FILE, HONKIT_SCRIPT, LANGUAGES_FILE, MAX_BOOK_BYTES, MDBOOK_FILE, link_whole_book};
pub use config::{CONFIG_FILE, MAX_CONFIG_BYTES, Redirect, RepoConfig, content_folder};
pub use export::{
    AdoptablePaths, ExportPlan, FileTemplate, OmittedFile, PageContent, Repository, SpaceFile, SpaceInclude,
    SpaceOutline, SpacePage, SpacePageKind, TemplateOrigin, TitleIn, WrittenPage, is_program, name_problem,
    title_line,
};
pub use file_host::FileHost;
pub use format::BookFormat;
pub use infer::infer;
pub use lfs::{LfsPointer, MAX_POINTER_BYTES};
pub use path::{PathError, RepoPath};
pub use plan::{ImportPlan, MAX_PAGES, PlannedAsset, PlannedInclude, PlannedKind, PlannedPage};
pub use refs::{PageLinks, Reference, ReferenceKind, references};
pub use report::{FormatError, MAX_WARNINGS, Warning};
pub use summary::{MAX_ITEMS, MAX_SUMMARY_BYTES, MAX_SUMMARY_DEPTH, Summary, SummaryItem, SummaryKind};
pub use tree::{CommitEntry, EntryKind, PlannedFile, RepoTree};
pub use vars::variables;
