//! Parsers and writers of Markdown, the stored form of pages.
//!
//! | module | contents |
//! |---|---|
//! | [`document`] | Markdown as a tree of blocks, and the tree as Markdown |
//! | [`markdown`] | front matter, the title of a page, links and their targets |
//! | [`gitsync`] | the Git format: the mapping between the files of a repository and content |
//! | [`mod@reference`] | destinations that identify items by id |
//! | [`syntax`] | tags, HTML and character references: the shared parsers |
//! | [`translate`] | the texts of a document as segments for a translator |
//! | [`directives`] | template directives of mdBook and HonKit, and their results |
//! | [`diff`] | line-based differences between two texts |
//!
//! All functions are pure, without I/O.

pub mod diff;
pub mod directives;
pub mod document;
pub mod gitsync;
pub mod markdown;
pub mod reference;
mod slug;
pub mod syntax;
pub mod translate;
mod unique;
mod variables;

pub use docs_model::PagePatch;
pub use slug::{MAX_SLUG, append_number, heading_anchor, slugify};
pub use unique::UniqueNames;
pub use variables::{NotVariables, check_variables};
