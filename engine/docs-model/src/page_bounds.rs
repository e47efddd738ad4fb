//! Bounds of the content of a space. Every way to change content checks them: edits, imports, merges, reverts.

/// Most pages of a space, of every kind. Computed pages count as one each.
pub const MAX_SPACE_PAGES: usize = 25_000;

/// Most files of a space.
pub const MAX_SPACE_FILES: usize = 25_000;

/// Most reusable contents of a space.
pub const MAX_REUSABLES: usize = 5_000;

/// Most pages directly below one page, or at the top level.
pub const MAX_SIBLINGS: usize = 10_000;

/// Most levels of pages.
pub const MAX_PAGE_LEVELS: usize = 33;

/// Most bytes of the path of a page within its space, in UTF-8.
pub const MAX_PATH_BYTES: usize = 1_000;

/// Most characters of the title of a page or of a reusable content.
pub const MAX_TITLE: usize = 1_000;

/// Most pages of a space that are made of OpenAPI specifications, in all places together.
pub const MAX_COMPUTED_PAGES: usize = 2_000;

/// Most places of a space in which such pages are made.
pub const MAX_COMPUTED_PLACES: usize = 200;
