//! Content exchange with other systems: Git, imports, PDF files, translations and templates.

pub(super) mod git;
pub(super) mod import;
pub(super) mod pdf;
pub(super) mod templates;
pub(super) mod translations;
