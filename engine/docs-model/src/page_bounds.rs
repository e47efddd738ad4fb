//! Limits for the content of a space. Every change checks them: edits, imports, merges and reverts.

use crate::BoundedText;

/// Maximum number of pages per space, including groups and links. A computed page counts as one.
pub const MAX_SPACE_PAGES: usize = 25_000;

/// Maximum number of files per space.
pub const MAX_SPACE_FILES: usize = 25_000;

/// Maximum number of reusable content blocks per space.
pub const MAX_REUSABLES: usize = 5_000;
/// Maximum total size of the records of a space's pages, in bytes: titles, descriptions, variables and other front
/// matter, without texts. The records of files and those of reusable content blocks have the same bound.
pub const MAX_RECORD_BYTES: u64 = 32 << 20;

/// Maximum number of children of a page, and of pages at the top level.
pub const MAX_SIBLINGS: usize = 10_000;

/// Maximum depth of the page tree.
pub const MAX_PAGE_LEVELS: usize = 33;

/// Maximum length of a page path within its space, in UTF-8 bytes.
pub const MAX_PATH_BYTES: usize = 1_000;

/// Maximum length of the title of a page or a reusable content block, in characters.
pub const MAX_TITLE: usize = 1_000;

/// Maximum length of the description of a page in a request, in characters.
pub const MAX_DESCRIPTION: usize = 1_000;

/// The title of a page or a reusable content block.
pub type Title = BoundedText<1, MAX_TITLE>;

/// Maximum number of pages per space that are generated from OpenAPI specifications, over all computed pages.
pub const MAX_COMPUTED_PAGES: usize = 2_000;

/// Maximum number of computed pages per space that generate pages from OpenAPI specifications.
pub const MAX_COMPUTED_PLACES: usize = 200;
