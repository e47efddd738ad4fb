//! The platform over the store in memory.

mod edits;
mod git;
mod lists;
mod spaces;
mod states;
mod support;
mod tidy;
