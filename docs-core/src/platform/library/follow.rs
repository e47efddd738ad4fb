//! Jobs triggered by a new head of a space: Git synchronization and translations.

pub(in crate::platform) mod git;
pub(in crate::platform) mod translations;
