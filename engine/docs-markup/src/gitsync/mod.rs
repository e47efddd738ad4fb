//! The Git format: what the files of a repository mean as content.
//!
//! Everything here is a pure function of texts and lists of paths; nothing is fetched, stored or changed. An import
//! goes through these steps:
//!
//! 1. [`RepoTree::new`] takes what the commit contains.
//! 2. [`RepoConfig::read`] takes `.gitbook.yaml`, which may be missing.
//! 3. [`ImportPlan::new`] takes both and the table of contents, and says what becomes a page, a file or a reusable
//!    content, where, and in which order.
//! 4. [`references`] tells, for the text of each page, which files of the repository it needs;
//!    [`ImportPlan::refer`] adds them.
//!
//! An export goes the other way: [`ExportPlan::new`] takes what the commit and the space have, and what the space had
//! when both were in sync; it says which files are written where, and what is in them.
//!
//! What stops either is a [`FormatError`]. What an import can go on without is a [`Warning`].

mod config;
mod export;
mod infer;
mod inline;
mod path;
mod plan;
mod refs;
mod report;
mod summary;
mod target;
mod tree;
mod vars;
pub(crate) mod yaml;

pub use config::{CONFIG_FILE, MAX_CONFIG_BYTES, Redirect, RepoConfig, content_folder};
pub use export::{
    Claims, ExportPlan, PageContent, Repository, SpaceFile, SpaceInclude, SpaceOutline, SpacePage,
    SpacePageKind, Template, TemplateOrigin, TitleIn, WrittenPage,
};
pub use infer::infer;
pub use path::{PathError, RepoPath};
pub use plan::{ImportPlan, MAX_PAGES, PlannedAsset, PlannedInclude, PlannedKind, PlannedPage};
pub use refs::{PageLinks, Reference, ReferenceKind, references};
pub use report::{FormatError, MAX_WARNINGS, Warning};
pub use summary::{MAX_DEPTH, MAX_ITEMS, MAX_SUMMARY_BYTES, Summary, SummaryItem, SummaryKind};
pub use tree::{Entry, EntryKind, PlannedFile, RepoTree};
pub use vars::variables;
