//! Pages as text: what is stored is Markdown, and everything here reads or writes it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`document`] | Markdown as a tree of blocks, and the tree as Markdown |
//! | [`markdown`] | front matter, the title of a page, links and where they lead |
//! | [`gitsync`] | the Git format: what the files of a repository mean as content |
//! | [`mod@reference`] | destinations that name things by their ids |
//! | [`syntax`] | tags, HTML and character references: one reader each for all of these |
//! | [`translate`] | the texts of a document as segments for a translator |
//! | [`diff`] | what changed between two texts, line by line |
//!
//! Everything is a pure function: nothing is fetched, stored or changed.

pub mod diff;
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
pub use slug::{MAX_SLUG, numbered, slugify};
pub use unique::UniqueNames;
pub use variables::{NotVariables, check_variables};
