//! Jobs that follow the head of a space: Git and translations.

pub(in crate::platform) mod git;
pub(in crate::platform) mod translations;
