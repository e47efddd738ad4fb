//! Limits of the content of a space. Every kind of change checks them: edits, imports, merges, reverts.

/// Maximum number of pages of a space, of every kind. Computed pages count as one each.
pub const MAX_SPACE_PAGES: usize = 25_000;

/// Maximum number of files of a space.
pub const MAX_SPACE_FILES: usize = 25_000;

/// Maximum number of reusable contents of a space.
pub const MAX_REUSABLES: usize = 5_000;

/// Maximum number of children of a page, or of pages at the top level.
pub const MAX_SIBLINGS: usize = 10_000;

/// Maximum number of levels of pages.
pub const MAX_PAGE_LEVELS: usize = 33;

/// Maximum length of the path of a page within its space, in bytes of UTF-8.
pub const MAX_PATH_BYTES: usize = 1_000;

/// Maximum length of the title of a page or of a reusable content, in characters.
pub const MAX_TITLE: usize = 1_000;

/// Maximum number of pages of a space that are generated from OpenAPI specifications, for all placeholders together.
pub const MAX_COMPUTED_PAGES: usize = 2_000;

/// Maximum number of placeholders of a space for such pages.
pub const MAX_COMPUTED_PLACES: usize = 200;
