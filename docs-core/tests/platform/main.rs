//! The platform over the store in memory.

mod edits;
mod faults;
mod git;
mod imports;
mod jobs;
mod lists;
mod setup;
mod spaces;
mod states;
mod support;
mod tidy;
