//! The platform over the store in memory.

mod edits;
mod git;
mod spaces;
mod states;
mod support;
mod tidy;
